"""Every twentieth bundle of OperatorHub, linted with every rule about bundle folders.

docs/corpus.md has the figures for all bundles. The corpus has no CRDs, so every owned CRD is missing.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from everpath.loaders.bundle.bundle_folder import (
    ValidationTarget,
    find_bundle_folders,
    load_bundle_for_validation,
)
from everpath.rules.bundle.validators import OPTIONAL
from everpath.rules.findings import Severity
from everpath.rules.lint import BUNDLE_SUBJECTS, Report, SelectedRules, Selection, build_report, lint_bundle

pytestmark = pytest.mark.corpus

WARNINGS_AND_ERRORS = {
    "EP410": 1,
    "EP431": 2,
    "EP623": 1,
    "EP626": 6,
    "EP627": 641,
    "EP632": 242,
    "EP633": 3,
    "EP636": 6,
    "EP637": 5,
    "EP659": 1,
    "EP665": 2,
    "EP668": 3,
    "EP669": 17,
    "EP671": 117,
    "EP672": 209,
    "EP673": 282,
    "EP674": 33,
    "EP675": 2,
}


@pytest.fixture(scope="module")
def report(operatorhub: Path) -> Report:
    paths = [path for _, path in find_bundle_folders(str(operatorhub)).folders][::20]
    selection = Selection(subjects=BUNDLE_SUBJECTS, validators=frozenset(OPTIONAL))
    rules = SelectedRules(selection)
    results = [lint_bundle(load_bundle_for_validation(path, ValidationTarget()), rules) for path in paths]
    return build_report(results, selection)


def test_every_bundle_is_loaded(operatorhub: Path, report: Report) -> None:
    found = find_bundle_folders(str(operatorhub))
    assert len(found.folders) == 7722
    assert [Path(file).name for file in found.package_files] == ["litmuschaos.package.yaml"]
    assert report.bundles == 387
    assert not any(finding.unreadable for finding in report.findings)


def test_findings_have_the_expected_counts(report: Report) -> None:
    spoken = Counter(f.rule for f in report.findings if f.severity >= Severity.WARNING)
    del spoken["EP654"]
    assert spoken == WARNINGS_AND_ERRORS
