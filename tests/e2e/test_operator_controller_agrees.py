"""everpath.policies.extensions against the real operator-controller, a process beside a real API server."""

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

from conformance.v1_questions import Question, random_question, smaller
from conformance.v1_verdicts import kind_of
from documents import bundle, channel, package, text
from e2e.extension_fates import Fate, ask, by_everpath, by_process, possible, staged
from e2e.servers.binaries import Binaries
from e2e.servers.control_plane import ControlPlane
from e2e.servers.operator_controller import ExtensionRequest, ExtensionStatus, OperatorController
from everpath.policies.admission import LONGEST_VERSION, VERSION_PATTERN, version_refusal

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
    "refused by the API server",
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


def test_the_parts_have_the_versions_that_everpath_mirrors(binaries: Binaries, plane: ControlPlane) -> None:
    command = [str(binaries.operator_controller), "version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith('version: "v1.2.0"')
    assert plane.api.get("/version")["gitVersion"] == "v1.36.2"


def test_the_pattern_of_the_version_is_the_one_of_the_definition(binaries: Binaries) -> None:
    [file] = binaries.olm_v1_crds.glob("*clusterextensions*")
    [version] = yaml.safe_load(file.read_text())["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    checked = spec["source"]["properties"]["catalog"]["properties"]["version"]
    [rule] = checked["x-kubernetes-validations"]
    assert checked["maxLength"] == LONGEST_VERSION
    assert rule["rule"] == f"self.matches({json.dumps(VERSION_PATTERN)})"


def test_everpath_warns_of_the_versions_that_the_api_server_refuses(
    operator_controller: OperatorController,
) -> None:
    asked = {
        f"version-{index}": ExtensionRequest("nowhere", "p", version=text)
        for index, text in enumerate(VERSIONS)
    }
    refused = {
        asked[name].version: bool(answer.rejected) for name, answer in operator_controller.resolve_all(asked)
    }
    assert refused == {text: version_refusal(text) is not None for text in VERSIONS}
    assert {*refused.values()} == {True, False}


def test_what_a_user_reads_in_the_status(operator_controller: OperatorController) -> None:
    documents = (
        package("p"),
        channel("p.v1.0.0", "p.v1.1.0", "p.v1.2.0", package="p"),
        *(bundle(f"p.v{version}", package="p", image="none") for version in ("1.0.0", "1.1.0", "1.2.0")),
    )
    operator_controller.add_catalog("status", text(documents), catalog_label="status")
    operator_controller.wait_for_catalogs()
    oldest = ("p.v1.0.0", "1.0.0")
    asked = {
        "fresh": ExtensionRequest("status", "p"),
        "next": ExtensionRequest("status", "p", installed=oldest),
        "pinned-too-far": ExtensionRequest("status", "p", version="1.2.0", installed=oldest),
        "jump": ExtensionRequest("status", "p", version="1.2.0", self_certified=True, installed=oldest),
        "head": ExtensionRequest("status", "p", installed=("p.v1.2.0", "1.2.0")),
        "stranger": ExtensionRequest("status", "p", installed=("p.v0.9.0", "0.9.0")),
    }
    said = {
        name: answer.progressing.partition(" for resolved ")[2] or answer.progressing
        for name, answer in operator_controller.resolve_all(asked)
    }
    assert said == {
        "fresh": 'bundle "p.v1.2.0" with version "1.2.0"',
        "next": 'bundle "p.v1.1.0" with version "1.1.0"',
        "pinned-too-far": 'error upgrading from currently installed version "1.0.0": '
        'no bundles found for package "p" matching version "1.2.0"',
        "jump": 'bundle "p.v1.2.0" with version "1.2.0"',
        "head": 'bundle "p.v1.2.0" with version "1.2.0"',
        "stranger": 'error upgrading from currently installed version "0.9.0": '
        'no bundles found for package "p"',
    }


def test_random_questions(
    operator_controller: OperatorController, record_property: Callable[[str, object], None]
) -> None:
    """Graphs, ranges, pre-releases, deprecations, pins, policies and up to three catalogs, all by chance."""
    random = Random(4)
    questions = [some(random, random_question(random)) for _ in range(QUESTIONS)]
    counts: Counter[str] = Counter()
    disagreements: list[tuple[Question, str]] = []
    for question, answer in asked(operator_controller, "q", questions):
        warned = bool(question.version) and version_refusal(question.version) is not None
        assert warned == bool(answer.rejected), f"{question.version!r}: {answer.rejected or 'taken'}"
        if answer.rejected:
            assert "spec.source.catalog.version" in answer.rejected
            counts["refused by the API server"] += 1
            continue
        count(counts, question, by_process(answer))
        if (said := disagreement(question, answer)) is not None:
            disagreements.append((question, said))
        elif by_process(answer) != by_everpath(question):
            counts["by chance"] += 1
    counts["disagreements"] = len(disagreements)
    record_property("counted", f"operator-controller 1.2.0: {shown(counts)}")
    if disagreements:
        pytest.fail(shrunk(operator_controller, *disagreements[0]))
    # A generator that only makes nonsense would agree about nothing worth knowing.
    assert min(counts[kind] for kind in KINDS) > 2, counts
    assert counts["questions"] >= 500


def some(random: Random, question: Question) -> Question:
    """Not about every version that is installed: other graphs tell more."""
    count = min(INSTALLATIONS, len(question.installed))
    return replace(question, installed=tuple(random.sample(question.installed, count)))


def asked(
    operator_controller: OperatorController, prefix: str, questions: Iterable[Question]
) -> Iterator[tuple[Question, ExtensionStatus]]:
    """The questions, each about one installation now, with what operator-controller makes of them."""
    put: dict[str, ExtensionRequest] = {}
    single: dict[str, Question] = {}
    for number, plain in enumerate(questions):
        catalog_label = f"{prefix}{number}"
        question = staged(catalog_label, plain)
        for catalog in question.shelves:
            operator_controller.add_catalog(
                catalog.name, text(catalog.documents), catalog_label=catalog_label, priority=catalog.priority
            )
        for index, installed in enumerate(question.installed):
            single[f"{catalog_label}-{index}"] = replace(question, installed=(installed,))
            put[f"{catalog_label}-{index}"] = ask(catalog_label, question, installed)
    operator_controller.wait_for_catalogs()
    for name, answer in operator_controller.resolve_all(put):
        yield single[name], answer


def disagreement(question: Question, answer: ExtensionStatus) -> str | None:
    """What operator-controller answers and everpath says that it cannot."""
    theirs, ours = by_process(answer), by_everpath(question)
    if answer.rejected or theirs == ours or theirs in possible(question):
        return None
    return f"{question}\noperator-controller: {theirs}\neverpath: {ours}"


def shrunk(operator_controller: OperatorController, question: Question, said: str) -> str:
    """The disagreement about the smallest question that still has it."""
    for depth in itertools.count():
        less = [
            (small, found)
            for small, answer in asked(operator_controller, f"s{depth}-", smaller(question))
            if (found := disagreement(small, answer)) is not None
        ]
        if not less:
            break
        question, said = less[0]
    return said


def count(counts: Counter[str], question: Question, fate: Fate) -> None:
    (installed,) = question.installed
    counts["questions"] += 1
    counts[kind_of(fate.name, fate.failure, installed.name if installed else None)] += 1
    counts["deprecated"] += bool(fate.deprecated)
    counts["pinned"] += bool(question.version)
    counts["self-certified"] += question.self_certified
    counts["pre-release"] += "-" in fate.version
    counts["from several catalogs"] += bool(fate.name and len(question.shelves) > 1)


def shown(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in counts.items())
