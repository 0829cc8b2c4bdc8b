"""Everpath, operator-framework/api and opm have the same findings for the same bundles.

A finding of only one side must be in `bundle_verdicts.EXPLAINED`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from everpath.loaders.bundle.bundle_folder import find_bundle_folders
from everpath.manifest_access import Pointer
from everpath.model import Place
from everpath.model.bundle_contents import PackageManifest
from everpath.rules.registry import rules_for_subjects
from tests.everpath.conformance.bundle_verdicts import EXPLAINED, said_upstream, unexplained
from tests.everpath.conformance.oracle import Oracle
from tests.everpath.unit.rules.bundle.test_package_manifests import GOOD
from tests.support.commandline import ROOT
from tests.support.everpath.bundle_faults import FAULTS
from tests.support.everpath.bundle_folders import (
    ANNOTATIONS,
    Files,
    good_bundle,
    lay_out,
    lint_folder,
    rich_bundle,
)

pytestmark = pytest.mark.conformance


def test_findings_agree_for_every_fault(oracle: Oracle, tmp_path: Path) -> None:
    folders = []
    for number, fault in enumerate(FAULTS):
        files = good_bundle()
        fault.edit(files)
        folders.append(lay_out(files, tmp_path / str(number)))
    answers = oracle.ask_many({"ask": "bundle", "folder": str(folder)} for folder in folders)
    compared = zip(FAULTS, folders, answers, strict=True)
    differing = {fault.name: unexplained(answer, lint_folder(folder)) for fault, folder, answer in compared}
    assert {name: lines for name, lines in differing.items() if lines} == {}


#: Replacements of a value; `_GONE` removes it.
_GONE = object()
_OTHERS: tuple[object, ...] = (None, "", 0, 1.5, [], {}, "x", "X y", True, ["a"], {"a": "b"}, _GONE)


def changes(files: Files) -> Iterator[tuple[str, Pointer, object]]:
    """Yield the bundle with one value replaced, for every value outside of schemas."""
    for file, content in files.items():
        ways = [way for way in _ways(content) if way and "openAPIV3Schema" not in way]
        yield from ((file, way, other) for way in ways for other in _OTHERS)


def _ways(value: Any, way: Pointer = ()) -> Iterator[Pointer]:
    yield way
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for step, below in inner:
            yield from _ways(below, (*way, step))


def changed(files: Files, file: str, way: Pointer, other: object) -> Files:
    files = deepcopy(files)
    place = files[file]
    for step in way[:-1]:
        place = place[step]
    if other is _GONE:
        del place[way[-1]]
    else:
        place[way[-1]] = other
    return files


# Every third change of the rich bundle, and none of its annotations: if upstream cannot decode them, it uses
# the decoded part as soon as it has read another file.
@pytest.mark.parametrize(("bundle", "step"), [(good_bundle, 1), (rich_bundle, 3)], ids=["good", "rich"])
def test_findings_agree_for_every_changed_value(
    oracle: Oracle, tmp_path: Path, record_property: Any, bundle: Callable[[], Files], step: int
) -> None:
    files = bundle()
    some = {name: content for name, content in files.items() if step == 1 or name != ANNOTATIONS}
    cases = list(changes(some))[::step]
    folders = [lay_out(changed(files, *case), tmp_path / str(number)) for number, case in enumerate(cases)]
    answers = oracle.ask_many({"ask": "bundle", "folder": str(folder)} for folder in folders)
    differing = [
        (*case, lines)
        for case, folder, answer in zip(cases, folders, answers, strict=True)
        if (lines := unexplained(answer, lint_folder(folder)))
    ]
    record_property("counted", f"bundles with a value changed, asked of operator-framework/api: {len(cases)}")
    assert differing == []


@pytest.mark.parametrize("bundle", [good_bundle, rich_bundle])
def test_upstream_has_no_errors_for_a_valid_bundle(
    oracle: Oracle, tmp_path: Path, bundle: Callable[[], Files]
) -> None:
    folder = lay_out(bundle(), tmp_path)
    assert said_upstream(oracle.ask({"ask": "bundle", "folder": str(folder)})) == set()


@pytest.mark.corpus
def test_findings_agree_for_every_twentieth_bundle_of_operatorhub(
    oracle: Oracle, operatorhub: Path, record_property: Any
) -> None:
    folders = [path for _, path in find_bundle_folders(str(operatorhub)).folders][::20]
    counts: Counter[str] = Counter()
    answers = oracle.ask_many({"ask": "bundle", "folder": folder} for folder in folders)
    for folder, answer in zip(folders, answers, strict=True):
        counts.update(unexplained(answer, lint_folder(Path(folder))))
    record_property("counted", f"bundles of OperatorHub asked of operator-framework/api: {len(folders)}")
    assert counts == {}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"packageName": ""},
        {"channels": []},
        {"channels": [{"name": "stable"}]},
        {"channels": [{"currentCSV": "a"}]},
        {"defaultChannel": ""},
        {"defaultChannel": "new"},
    ],
)
def test_findings_agree_for_package_files(oracle: Oracle, tmp_path: Path, change: dict[str, Any]) -> None:
    file = lay_out({"p.package.yaml": GOOD | change}, tmp_path) / "p.package.yaml"
    theirs = said_upstream(oracle.ask({"ask": "packageManifest", "file": str(file)}))
    body = PackageManifest(Place("p"), GOOD | change)
    ours = {(rule.id, "error") for rule in rules_for_subjects({"package file"}) if any(rule.check(body))}
    assert set(theirs) == ours


def test_every_difference_is_documented() -> None:
    page = (ROOT / "docs" / "bundle-validators.md").read_text(encoding="utf-8")
    section = page.partition("## Differences")[2]
    assert [e for e in EXPLAINED if not all(rule in section for rule in e.rules)] == []
