"""The real parts, started once a run; and their logs where a test fails."""

from __future__ import annotations

import signal
from collections.abc import Generator, Iterator

import pytest

from real.control_plane import ControlPlane, control_plane
from real.olm_v1 import OlmV1, olm_v1
from real.parts import AbsentError, Parts
from real.processes import Workshop, log_end, workshop

LOGS = pytest.StashKey[Workshop]()


@pytest.fixture(scope="session")
def parts() -> Parts:
    try:
        return Parts.found()
    except AbsentError as absent:
        pytest.skip(str(absent))


@pytest.fixture(scope="session")
def place(
    parts: Parts, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workshop]:
    """A folder for all of them. Whoever is told to terminate cleans up as after Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    with workshop(tmp_path_factory.mktemp("logs")) as made:
        request.config.stash[LOGS] = made
        yield made
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def plane(parts: Parts, place: Workshop) -> Iterator[ControlPlane]:
    with control_plane(parts, place) as started:
        yield started


@pytest.fixture(scope="session")
def olm(parts: Parts, place: Workshop, plane: ControlPlane) -> Iterator[OlmV1]:
    with olm_v1(parts, place, plane) as started:
        yield started


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and (made := item.config.stash.get(LOGS, None)) is not None:
        report.sections += [(f"{log.stem}", log_end(log)) for log in sorted(made.logs.glob("*.log"))]
    return report
