"""Conformance runs need the oracle."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.everpath.conformance.oracle import Oracle


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """The oracle of opm, OLM v0 and blang."""
    with Oracle(_program("EVERPATH_ORACLE", "tests/everpath/conformance/oracle/build.sh")) as running:
        yield running


@pytest.fixture(scope="session")
def oracle_v1() -> Iterator[Oracle]:
    """The oracle of OLM v1 and Masterminds."""
    with Oracle(_program("EVERPATH_ORACLE_V1", "tests/everpath/conformance/oracle_v1/build.sh")) as running:
        yield running


def _program(variable: str, build: str) -> str:
    """Return the program of a variable. Skip without the variable; fail if the program is missing."""
    program = os.environ.get(variable)
    if not program:
        pytest.skip(f"{variable} is not set; `make conformance` builds the oracle and sets it (needs Go)")
    if not Path(program).is_file():
        pytest.fail(f"{variable} names {program}, which is not there; {build} builds it")
    return program
