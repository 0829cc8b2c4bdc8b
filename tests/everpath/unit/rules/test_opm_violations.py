"""A rule reports an error for each requirement of `opm validate`."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from everpath.rules.findings import Severity
from everpath.rules.lint import lint
from tests.support.everpath.documents import Document, catalog
from tests.support.everpath.opm_refusals import ACCEPTED, REFUSALS


def errors(documents: Iterable[Document]) -> set[str]:
    findings = lint(catalog(*documents)).findings
    return {finding.rule for finding in findings if finding.severity is Severity.ERROR}


@pytest.mark.parametrize("law", REFUSALS)
def test_violation_is_an_error(law: str) -> None:
    rule, documents = REFUSALS[law]
    assert rule in errors(documents)


@pytest.mark.parametrize("name", ACCEPTED)
def test_valid_input_is_no_error(name: str) -> None:
    assert errors(ACCEPTED[name]) == set()


def test_every_phase_of_opm_is_covered() -> None:
    """P packages, C channels, B bundles, E entries, D deprecations, M the model."""
    laws = {law.split()[0] for law in REFUSALS}
    fast = {
        f"{phase}{n}"
        for phase, most in (("P", 3), ("C", 4), ("B", 9), ("E", 1), ("D", 4))
        for n in range(1, most + 1)
    }
    assert laws == fast | {"M"}


def test_every_violation_has_a_fix() -> None:
    for rule, documents in REFUSALS.values():
        found = [f for f in lint(catalog(*documents)).findings if f.rule == rule]
        assert all(f.because for f in found)
        # A property of a wrong type has no single fix.
        assert rule == "EP423" or all(f.fix for f in found)
