"""everpath.resolvers.cluster_extension resolves like the real operator-controller."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from random import Random
from typing import Final

import pytest
import yaml

from everpath.resolvers.cluster_extension_crd import MAX_VERSION_LENGTH, VERSION_PATTERN, version_range_error
from tests.e2e.extension_resolution import (
    ClusterResolution,
    everpath_resolution,
    extension_request,
    possible_resolutions,
    resolution_from_status,
    with_unique_catalogs,
)
from tests.e2e.servers.binaries import Binaries
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.operator_controller import ExtensionRequest, ExtensionStatus, OperatorController
from tests.everpath.conformance.v1_questions import Question, random_question, smaller
from tests.everpath.conformance.v1_verdicts import kind_of
from tests.support.everpath.documents import bundle, channel, package, text

pytestmark = pytest.mark.e2e

QUESTIONS: Final = 260
INSTALLATIONS: Final = 4
KINDS: Final = (
    "moves",
    "stays",
    "no bundles",
    "several catalogs",
    "dependencies",
    "panic",
    "unreadable version",
    "deprecated",
    "pinned",
    "self-certified",
    "pre-release",
    "from several catalogs",
    "rejected by the API server",
)

VERSIONS: Final = (
    *("1.2.3", "1.x", "1.*", "*", "x", "1.*.1", "1.*.*", "1.x.1", "v1.2.3", "01.2.3", "1.2.3.4", " 1.2.3 "),
    *(
        ">=1.0.0 <2.0.0",
        ">=1.0.0, <2.0.0",
        "^1 || ^3",
        "1.0.0 - 2.0.0",
        "1 - 2",
        "1.2.3-a.1+b",
        ">1 ||",
        "==1",
    ),
    *("1.2.3\n", "1.2.3\v", "1\t<2", "1.*]", ">1,*]", "1,\n2", "٣.0.0", "é", "1" * 64, "1" * 65, "é" * 33),
)


def test_programs_have_the_versions_that_everpath_mirrors(binaries: Binaries, plane: ControlPlane) -> None:
    command = [str(binaries.operator_controller), "version"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.startswith('version: "v1.2.0"')
    assert plane.api.get("/version")["gitVersion"] == "v1.36.2"


def test_version_pattern_is_that_of_the_crd(binaries: Binaries) -> None:
    [file] = binaries.olm_v1_crds.glob("*clusterextensions*")
    [version] = yaml.safe_load(file.read_text())["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    version_schema = spec["source"]["properties"]["catalog"]["properties"]["version"]
    [rule] = version_schema["x-kubernetes-validations"]
    assert version_schema["maxLength"] == MAX_VERSION_LENGTH
    assert rule["rule"] == f"self.matches({json.dumps(VERSION_PATTERN)})"


def test_everpath_warns_of_versions_that_the_api_server_rejects(
    operator_controller: OperatorController,
) -> None:
    requests = {
        f"version-{index}": ExtensionRequest("nowhere", "p", version=text)
        for index, text in enumerate(VERSIONS)
    }
    is_rejected = {
        requests[name].version: bool(status.rejected)
        for name, status in operator_controller.resolve_all(requests)
    }
    assert is_rejected == {text: version_range_error(text) is not None for text in VERSIONS}
    assert {*is_rejected.values()} == {True, False}


def test_status_messages(operator_controller: OperatorController) -> None:
    documents = (
        package("p"),
        channel("p.v1.0.0", "p.v1.1.0", "p.v1.2.0", package="p"),
        *(bundle(f"p.v{version}", package="p", image="none") for version in ("1.0.0", "1.1.0", "1.2.0")),
    )
    operator_controller.add_catalog("status", text(documents), catalog_label="status")
    operator_controller.wait_for_catalogs()
    oldest = ("p.v1.0.0", "1.0.0")
    requests = {
        "fresh": ExtensionRequest("status", "p"),
        "next": ExtensionRequest("status", "p", installed=oldest),
        "pinned-too-far": ExtensionRequest("status", "p", version="1.2.0", installed=oldest),
        "jump": ExtensionRequest("status", "p", version="1.2.0", self_certified=True, installed=oldest),
        "head": ExtensionRequest("status", "p", installed=("p.v1.2.0", "1.2.0")),
        "not-in-catalog": ExtensionRequest("status", "p", installed=("p.v0.9.0", "0.9.0")),
    }
    messages = {
        name: status.progressing.partition(" for resolved ")[2] or status.progressing
        for name, status in operator_controller.resolve_all(requests)
    }
    assert messages == {
        "fresh": 'bundle "p.v1.2.0" with version "1.2.0"',
        "next": 'bundle "p.v1.1.0" with version "1.1.0"',
        "pinned-too-far": 'error upgrading from currently installed version "1.0.0": '
        'no bundles found for package "p" matching version "1.2.0"',
        "jump": 'bundle "p.v1.2.0" with version "1.2.0"',
        "head": 'bundle "p.v1.2.0" with version "1.2.0"',
        "not-in-catalog": 'error upgrading from currently installed version "0.9.0": '
        'no bundles found for package "p"',
    }


def test_random_questions(
    operator_controller: OperatorController, record_property: Callable[[str, object], None]
) -> None:
    """Random graphs, ranges, pre-releases, deprecations, pins, policies and up to three catalogs."""
    random = Random(4)
    questions = [with_few_installations(random, random_question(random)) for _ in range(QUESTIONS)]
    counts: Counter[str] = Counter()
    disagreements: list[tuple[Question, str]] = []
    for question, status in resolve_questions(operator_controller, "q", questions):
        has_warning = bool(question.version) and version_range_error(question.version) is not None
        assert has_warning == bool(status.rejected), f"{question.version!r}: {status.rejected or 'accepted'}"
        if status.rejected:
            assert "spec.source.catalog.version" in status.rejected
            counts["rejected by the API server"] += 1
            continue
        count(counts, question, resolution_from_status(status))
        if (message := disagreement(question, status)) is not None:
            disagreements.append((question, message))
        elif resolution_from_status(status) != everpath_resolution(question):
            counts["random choice"] += 1
    counts["disagreements"] = len(disagreements)
    record_property("counted", f"operator-controller 1.2.0: {format_counts(counts)}")
    if disagreements:
        pytest.fail(shrink(operator_controller, *disagreements[0]))
    # Every kind must occur: invalid catalogs alone would prove nothing.
    assert min(counts[kind] for kind in KINDS) > 2, counts
    assert counts["questions"] >= 500


def with_few_installations(random: Random, question: Question) -> Question:
    """Limit the installed versions of a question: more graphs find more errors."""
    count = min(INSTALLATIONS, len(question.installed))
    return replace(question, installed=tuple(random.sample(question.installed, count)))


def resolve_questions(
    operator_controller: OperatorController, prefix: str, questions: Iterable[Question]
) -> Iterator[tuple[Question, ExtensionStatus]]:
    """Yield the questions, each with one installation, and their statuses."""
    requests: dict[str, ExtensionRequest] = {}
    single: dict[str, Question] = {}
    for number, plain in enumerate(questions):
        catalog_label = f"{prefix}{number}"
        question = with_unique_catalogs(catalog_label, plain)
        for catalog in question.shelves:
            operator_controller.add_catalog(
                catalog.name, text(catalog.documents), catalog_label=catalog_label, priority=catalog.priority
            )
        for index, installed in enumerate(question.installed):
            single[f"{catalog_label}-{index}"] = replace(question, installed=(installed,))
            requests[f"{catalog_label}-{index}"] = extension_request(catalog_label, question, installed)
    operator_controller.wait_for_catalogs()
    for name, status in operator_controller.resolve_all(requests):
        yield single[name], status


def disagreement(question: Question, status: ExtensionStatus) -> str | None:
    """Return a message if everpath does not allow the resolution of operator-controller."""
    expected, found = resolution_from_status(status), everpath_resolution(question)
    if status.rejected or expected == found or expected in possible_resolutions(question):
        return None
    return f"{question}\noperator-controller: {expected}\neverpath: {found}"


def shrink(operator_controller: OperatorController, question: Question, message: str) -> str:
    """Return the disagreement of the smallest question that still has one."""
    for depth in itertools.count():
        smaller_questions = [
            (small, found)
            for small, status in resolve_questions(operator_controller, f"s{depth}-", smaller(question))
            if (found := disagreement(small, status)) is not None
        ]
        if not smaller_questions:
            break
        question, message = smaller_questions[0]
    return message


def count(counts: Counter[str], question: Question, resolution: ClusterResolution) -> None:
    (installed,) = question.installed
    counts["questions"] += 1
    counts[kind_of(resolution.name, resolution.failure, installed.name if installed else None)] += 1
    counts["deprecated"] += bool(resolution.deprecated)
    counts["pinned"] += bool(question.version)
    counts["self-certified"] += question.self_certified
    counts["pre-release"] += "-" in resolution.version
    counts["from several catalogs"] += bool(resolution.name and len(question.shelves) > 1)


def format_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in counts.items())
