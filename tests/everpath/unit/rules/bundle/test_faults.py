"""One fault at a time: its rule reports it, with the position and a fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.rules.lint import BUNDLE_SUBJECTS
from everpath.rules.registry import rules_for_subjects
from tests.support.everpath.bundle_faults import FAULTS, Fault
from tests.support.everpath.bundle_folders import good_bundle, lay_out, lint_folder, rich_bundle

every_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.rule} {fault.name}")


def broken(fault: Fault, folder: Path) -> Path:
    files = good_bundle()
    fault.edit(files)
    return lay_out(files, folder)


def test_valid_bundle_has_no_findings(tmp_path: Path) -> None:
    assert lint_folder(lay_out(good_bundle(), tmp_path / "good")) == ()
    assert lint_folder(lay_out(rich_bundle(), tmp_path / "rich")) == ()


@every_fault
def test_every_fault_is_reported_with_its_position_and_a_fix(fault: Fault, tmp_path: Path) -> None:
    found = lint_folder(broken(fault, tmp_path))
    assert fault.rule in {finding.rule for finding in found}
    assert [finding for finding in found if not finding.fix] == []
    assert [f for f in found if not Path(f.place.file).is_relative_to(tmp_path)] == []


def test_every_rule_about_folders_has_a_fault() -> None:
    rules = {rule.id for rule in rules_for_subjects(BUNDLE_SUBJECTS) if rule.subject == "bundle folder"}
    assert rules == {fault.rule for fault in FAULTS}
