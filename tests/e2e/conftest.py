"""Fixtures for the real programs, which start once a run. Their logs are shown when a test fails."""

from __future__ import annotations

import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.e2e.operator_sandbox import OperatorSandbox, apply_crds_and_rbac, operator_sandbox
from tests.e2e.servers.binaries import Binaries, NotAvailableError
from tests.e2e.servers.containers import NoProcess
from tests.e2e.servers.control_plane import ControlPlane, control_plane
from tests.e2e.servers.controller_manager import kube_controller_manager
from tests.e2e.servers.node_agent import NodeAgent, node_agent
from tests.e2e.servers.olm_v0 import OlmV0, run_olm_v0
from tests.e2e.servers.opensearch import DownloadOpenSearch, download_opensearch
from tests.e2e.servers.operator_controller import OperatorController, run_operator_controller
from tests.e2e.servers.processes import WorkDir, create_work_dir, log_tail
from tests.support.commandline import ROOT

WORK_DIR = pytest.StashKey[WorkDir]()


@pytest.fixture(scope="session")
def binaries() -> Binaries:
    """The real programs. Skips the test if EVERPATH_REAL is not set."""
    try:
        return Binaries.locate()
    except NotAvailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def opensearch(binaries: Binaries) -> DownloadOpenSearch:
    """A function that downloads OpenSearch. It uses `binaries` so that only `make e2e` downloads 500 MB."""

    def download(*versions: str) -> Path:
        try:
            return download_opensearch(*versions)
        except NotAvailableError as error:
            pytest.skip(str(error))

    return download


@pytest.fixture(scope="session")
def work_dir(
    binaries: Binaries, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WorkDir]:
    """A folder for all programs. SIGTERM raises KeyboardInterrupt, so that it cleans up as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    with create_work_dir(tmp_path_factory.mktemp("logs")) as created:
        request.config.stash[WORK_DIR] = created
        yield created
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def plane(binaries: Binaries, work_dir: WorkDir) -> Iterator[ControlPlane]:
    """An API server with its etcd."""
    with control_plane(binaries, work_dir) as started:
        yield started


@pytest.fixture(scope="session")
def operator_controller(
    binaries: Binaries, work_dir: WorkDir, plane: ControlPlane
) -> Iterator[OperatorController]:
    """operator-controller of OLM v1 with a server of catalogs. It installs nothing."""
    with run_operator_controller(binaries, work_dir, plane) as started:
        yield started


@pytest.fixture(scope="session")
def agent(binaries: Binaries, work_dir: WorkDir, plane: ControlPlane) -> Iterator[NodeAgent]:
    """A node for every pod, and the controllers that create pods for Deployments and Jobs."""
    with kube_controller_manager(binaries, work_dir, plane), node_agent(plane, work_dir) as started:
        yield started
        started.check_running()


@pytest.fixture(scope="session")
def olm_v0(binaries: Binaries, work_dir: WorkDir, plane: ControlPlane, agent: NodeAgent) -> Iterator[OlmV0]:
    """OLM v0 with the bundles of searchkeeper. Pods of the operator are ready, but run no process."""
    with run_olm_v0(binaries, work_dir, plane, agent) as started:
        for folder in sorted((ROOT / "bundles" / "searchkeeper").glob("*/manifests")):
            started.register_bundle(f"*/searchkeeper-bundle:v{folder.parent.name}", folder.parent)
        agent.images.register("*/searchkeeper:v*", NoProcess())
        yield started


@pytest.fixture(scope="module")
def operator_prerequisites(plane: ControlPlane, agent: NodeAgent) -> None:
    """The CRDs, ServiceAccount and RBAC of searchkeeper. Pods of OpenSearch are ready, but run no process."""
    apply_crds_and_rbac(plane)
    agent.images.register("docker.io/opensearchproject/*", NoProcess())


@pytest.fixture
def sandbox(
    request: pytest.FixtureRequest, plane: ControlPlane, work_dir: WorkDir, operator_prerequisites: None
) -> Iterator[OperatorSandbox]:
    """A namespace with the name of the test."""
    name = request.node.name.partition("[")[0].replace("_", "-")[-50:].strip("-")
    with operator_sandbox(plane, work_dir, name) as created:
        yield created


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    work_dir = item.config.stash.get(WORK_DIR, None)
    if report.failed and work_dir is not None and "work_dir" in getattr(item, "fixturenames", ()):
        report.sections += [(f"{log.stem}", log_tail(log)) for log in sorted(work_dir.logs.glob("*.log"))]
    return report
