"""Fixtures for the real programs, which start once a run. Their logs are shown when a test fails."""

from __future__ import annotations

import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from commandline import ROOT
from e2e.operator_sandbox import OperatorSandbox, apply_crds_and_rbac, operator_sandbox
from e2e.servers.binaries import AbsentError, Parts
from e2e.servers.containers import Feigned
from e2e.servers.control_plane import ControlPlane, control_plane
from e2e.servers.controller_manager import kube_controller_manager
from e2e.servers.node_agent import NodeAgent, node_agent
from e2e.servers.olm_v0 import OlmV0
from e2e.servers.olm_v0 import olm_v0 as real_olm_v0
from e2e.servers.opensearch import Fetched, opensearch_folder
from e2e.servers.operator_controller import OlmV1, olm_v1
from e2e.servers.processes import Workshop, log_end, workshop

LOGS = pytest.StashKey[Workshop]()


@pytest.fixture(scope="session")
def parts() -> Parts:
    """The real programs. Skips the test if EVERPATH_REAL is not set."""
    try:
        return Parts.found()
    except AbsentError as absent:
        pytest.skip(str(absent))


@pytest.fixture(scope="session")
def opensearch(parts: Parts) -> Fetched:
    """A function that downloads OpenSearch. It requires `parts` so that only `make e2e` downloads 500 MB."""

    def download(*versions: str) -> Path:
        try:
            return opensearch_folder(*versions)
        except AbsentError as absent:
            pytest.skip(str(absent))

    return download


@pytest.fixture(scope="session")
def place(
    parts: Parts, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workshop]:
    """A folder for all programs. SIGTERM raises KeyboardInterrupt, so that it cleans up as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    with workshop(tmp_path_factory.mktemp("logs")) as created:
        request.config.stash[LOGS] = created
        yield created
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def plane(parts: Parts, place: Workshop) -> Iterator[ControlPlane]:
    """An API server with its etcd."""
    with control_plane(parts, place) as started:
        yield started


@pytest.fixture(scope="session")
def olm(parts: Parts, place: Workshop, plane: ControlPlane) -> Iterator[OlmV1]:
    """The controllers of OLM v1."""
    with olm_v1(parts, place, plane) as started:
        yield started


@pytest.fixture(scope="session")
def agent(parts: Parts, place: Workshop, plane: ControlPlane) -> Iterator[NodeAgent]:
    """A node for every pod, and the controllers that create pods for Deployments and Jobs."""
    with kube_controller_manager(parts, place, plane), node_agent(plane, place) as started:
        yield started
        started.must_run()


@pytest.fixture(scope="session")
def olm_v0(parts: Parts, place: Workshop, plane: ControlPlane, agent: NodeAgent) -> Iterator[OlmV0]:
    """OLM v0 with the bundles of searchkeeper. Pods of the operator are ready, but run no process."""
    with real_olm_v0(parts, place, plane, agent) as started:
        for folder in sorted((ROOT / "bundles" / "searchkeeper").glob("*/manifests")):
            started.offer_bundle(f"*/searchkeeper-bundle:v{folder.parent.name}", folder.parent)
        agent.images.offer("*/searchkeeper:v*", Feigned())
        yield started


@pytest.fixture(scope="module")
def operator_prerequisites(plane: ControlPlane, agent: NodeAgent) -> None:
    """The CRDs, ServiceAccount and RBAC of searchkeeper. Pods of OpenSearch are ready, but run no process."""
    apply_crds_and_rbac(plane)
    agent.images.offer("docker.io/opensearchproject/*", Feigned())


@pytest.fixture
def sandbox(
    request: pytest.FixtureRequest, plane: ControlPlane, place: Workshop, operator_prerequisites: None
) -> Iterator[OperatorSandbox]:
    """A namespace with the name of the test."""
    name = request.node.name.partition("[")[0].replace("_", "-")[-50:].strip("-")
    with operator_sandbox(plane, place, name) as created:
        yield created


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    place = item.config.stash.get(LOGS, None)
    if report.failed and place is not None and "place" in getattr(item, "fixturenames", ()):
        report.sections += [(f"{log.stem}", log_end(log)) for log in sorted(place.logs.glob("*.log"))]
    return report
