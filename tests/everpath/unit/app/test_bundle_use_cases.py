"""Linting of bundles and package manifests, called from Python: it returns a report, and prints nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from everpath.app.lint_bundles import (
    find_all_bundles,
    lint_bundles,
    lint_package_manifests,
    validation_target,
)
from everpath.errors import UsageError
from everpath.rules.lint import BUNDLE_SUBJECTS, Selection
from everpath.rules.registry import find_rules
from tests.support.commandline import ROOT
from tests.support.everpath.bundles import write
from tests.support.everpath.image_samples import BUNDLE

PACKAGE_MANIFESTS = ROOT / "examples" / "10-package-manifests" / "manifests"


@pytest.fixture(autouse=True)
def _prints_nothing(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    assert capfd.readouterr() == ("", "")


def test_findings_of_a_bundle_have_rule_and_file(tmp_path: Path) -> None:
    annotations = BUNDLE["metadata/annotations.yaml"].replace(": manifests/", ": deploy/")
    bundle = write(tmp_path / "acme" / "1.0.0", {**BUNDLE, "metadata/annotations.yaml": annotations})
    selection = Selection(rules=find_rules(["annotation-folders"]), subjects=BUNDLE_SUBJECTS)
    steps: list[tuple[int, int, str]] = []
    report = lint_bundles(
        find_all_bundles([str(tmp_path)]),
        validation_target(),
        selection,
        progress=lambda *step: steps.append(step),
    )
    assert [(finding.name, finding.place.file) for finding in report.findings] == [
        ("annotation-folders", str(bundle / "metadata" / "annotations.yaml"))
    ]
    assert steps == [(0, 1, "acme")]


def test_unknown_package_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "acme" / "1.0.0", BUNDLE)
    with pytest.raises(UsageError, match="there is no package 'acne'"):
        find_all_bundles([str(tmp_path)], ["acne"])


def test_package_manifests_need_no_annotations() -> None:
    report = lint_package_manifests([str(PACKAGE_MANIFESTS)], Selection())
    assert not report.findings


def test_package_file_is_linted(tmp_path: Path) -> None:
    for file in PACKAGE_MANIFESTS.rglob("*.yaml"):
        text = file.read_text().replace("defaultChannel: ", "defaultChannel: no-")
        write(tmp_path, {str(file.relative_to(PACKAGE_MANIFESTS)): text})
    report = lint_package_manifests([str(tmp_path)], Selection())
    assert "package-file-default" in {finding.name for finding in report.findings}
