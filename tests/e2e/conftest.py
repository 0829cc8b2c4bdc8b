"""The real parts, started once a run; and their logs where a test fails."""

from __future__ import annotations

import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from commandline import ROOT
from e2e.searchkeeper_stage import Stage, set_up, staged
from e2e.stand.containers import Feigned
from e2e.stand.control_plane import ControlPlane, control_plane
from e2e.stand.controllers import kube_controller_manager
from e2e.stand.node_agent import NodeAgent, node_agent
from e2e.stand.olm_v0 import OlmV0
from e2e.stand.olm_v0 import olm_v0 as real_olm_v0
from e2e.stand.olm_v1 import OlmV1, olm_v1
from e2e.stand.opensearch import Fetched, opensearch_folder
from e2e.stand.parts import AbsentError, Parts
from e2e.stand.processes import Workshop, log_end, workshop

LOGS = pytest.StashKey[Workshop]()


@pytest.fixture(scope="session")
def parts() -> Parts:
    try:
        return Parts.found()
    except AbsentError as absent:
        pytest.skip(str(absent))


@pytest.fixture(scope="session")
def opensearch(parts: Parts) -> Fetched:
    """Only where all else is real, too: whoever runs the other tests has not asked for half a gigabyte."""

    def fetched(*versions: str) -> Path:
        try:
            return opensearch_folder(*versions)
        except AbsentError as absent:
            pytest.skip(str(absent))

    return fetched


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


@pytest.fixture(scope="session")
def agent(parts: Parts, place: Workshop, plane: ControlPlane) -> Iterator[NodeAgent]:
    """A node that takes every pod, and the controllers that make pods out of Deployments and Jobs."""
    with kube_controller_manager(parts, place, plane), node_agent(plane, place) as started:
        yield started
        started.must_run()


@pytest.fixture(scope="session")
def olm_v0(parts: Parts, place: Workshop, plane: ControlPlane, agent: NodeAgent) -> Iterator[OlmV0]:
    """OLM v0, and everything that searchkeeper's bundles need: their content, and pods that pretend."""
    with real_olm_v0(parts, place, plane, agent) as started:
        for folder in sorted((ROOT / "bundles" / "searchkeeper").glob("*/manifests")):
            started.offer_bundle(f"*/searchkeeper-bundle:v{folder.parent.name}", folder.parent)
        agent.images.offer("*/searchkeeper:v*", Feigned())
        yield started


@pytest.fixture(scope="module")
def account(plane: ControlPlane, agent: NodeAgent) -> None:
    """Where searchkeeper may work: its definitions, its account, and images of an engine that pretend."""
    set_up(plane)
    agent.images.offer("docker.io/opensearchproject/*", Feigned())


@pytest.fixture
def stage(
    request: pytest.FixtureRequest, plane: ControlPlane, place: Workshop, account: None
) -> Iterator[Stage]:
    """For each test a namespace of its own, called as the test is."""
    name = request.node.name.partition("[")[0].replace("_", "-")[-50:].strip("-")
    with staged(plane, place, name) as made:
        yield made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    made = item.config.stash.get(LOGS, None)
    if report.failed and made is not None and "place" in getattr(item, "fixturenames", ()):
        report.sections += [(f"{log.stem}", log_end(log)) for log in sorted(made.logs.glob("*.log"))]
    return report
