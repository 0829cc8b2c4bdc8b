"""Conformance runs need the oracle, and end with what they counted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.oracle import Oracle

COUNTED = "counted"


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """The oracle named by EVERPATH_ORACLE. Not named: skipped. Named and absent: an error, not a skip."""
    program = os.environ.get("EVERPATH_ORACLE")
    if not program:
        pytest.skip("EVERPATH_ORACLE is not set; `make conformance` builds the oracle and sets it (needs Go)")
    if not Path(program).is_file():
        pytest.fail(f"EVERPATH_ORACLE names {program}, which is not there; tests/oracle/build.sh builds it")
    with Oracle(program) as running:
        yield running


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the counts that tests left with `record_property("counted", …)`; under xdist too."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    lines = [str(value) for r in reports for key, value in r.user_properties if key == COUNTED]
    if lines:
        terminalreporter.section("conformance")
        for line in sorted(lines):
            terminalreporter.line(line)
