"""The operators of OLM v0 as processes: `catalog` resolves Subscriptions, `olm` installs CSVs."""

from __future__ import annotations

__all__ = ["GLOBAL_NAMESPACE", "GROUP", "OlmV0", "catalog_copy_program", "copy_bundle", "run_olm_v0"]

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tests.e2e.servers.api import Api, Object
from tests.e2e.servers.binaries import Binaries
from tests.e2e.servers.containers import Container, Execution, Exited, Program
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.crds import create_crds
from tests.e2e.servers.grpc_catalogs import is_listening
from tests.e2e.servers.loopback import free_ports
from tests.e2e.servers.node_agent import NodeAgent
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.processes import Process, WorkDir, run_process
from tests.e2e.servers.service_proxy import service_proxy

GLOBAL_NAMESPACE: Final = "olm"
"""The namespace whose CatalogSources are visible in all namespaces."""
GROUP: Final = "/apis/operators.coreos.com"
"""The path of the API group, without a version."""

_OPM_IMAGE: Final = "quay.io/operator-framework/opm:latest"
_UTIL_IMAGE: Final = "quay.io/operator-framework/olm:latest"
_TIMEOUT: Final = 300.0


@dataclass(frozen=True, slots=True)
class OlmV0:
    """The running operators."""

    api: Api
    agent: NodeAgent
    catalog: Process
    olm: Process

    def check_running(self) -> None:
        """Raise an error if an operator or the node agent has failed."""
        self.catalog.check_running()
        self.olm.check_running()
        self.agent.check_running()

    def register_bundle(self, image: str, folder: Path) -> None:
        """Register a bundle image: OLM starts a pod of it to copy the manifests and metadata."""
        self.agent.images.register(image, partial(copy_bundle, folder))

    def register_catalog(self, image: str, root: Path) -> None:
        """Register a catalog image with the files below `root`: OLM starts a pod of it to copy them."""
        self.agent.images.register(image, partial(catalog_copy_program, root))

    @contextmanager
    def catalog_source(self, name: str, spec: Object, namespace: str = GLOBAL_NAMESPACE) -> Iterator[None]:
        """Create a CatalogSource, wait until OLM is connected to it, and delete it at the end of the block.

        Delete it before its server stops: OLM resolves no Subscription while a catalog is unreachable.
        """
        path = f"{GROUP}/v1alpha1/namespaces/{namespace}/catalogsources"
        self.api.create(path, _object("CatalogSource", name, {"sourceType": "grpc", **spec}))
        try:
            wait_until(f"OLM is connected to {name}", lambda: self._is_connected(f"{path}/{name}"), _TIMEOUT)
            yield
        finally:
            self.api.delete(f"{path}/{name}")

    def _is_connected(self, path: str) -> bool:
        self.check_running()
        state = self.api.get(path).get("status", {}).get("connectionState", {})
        return bool(state.get("lastObservedState") == "READY")


@contextmanager
def run_olm_v0(
    binaries: Binaries, work_dir: WorkDir, plane: ControlPlane, agent: NodeAgent
) -> Iterator[OlmV0]:
    """Run OLM v0, and register the images that its own pods use."""
    create_crds(plane.api, binaries.olm_v0_crds)
    plane.api.create("/api/v1/namespaces", {"metadata": {"name": GLOBAL_NAMESPACE}})
    agent.images.register(_UTIL_IMAGE, partial(_copy_utility, binaries))
    agent.images.register(_OPM_IMAGE, partial(_run_opm, binaries))
    with (
        service_proxy(plane.api, agent) as proxy,
        _catalog(binaries, work_dir, plane, proxy) as catalog,
        _olm(binaries, work_dir, plane) as olm,
    ):
        yield OlmV0(plane.api, agent, catalog, olm)


@contextmanager
def _catalog(binaries: Binaries, work_dir: WorkDir, plane: ControlPlane, proxy: str) -> Iterator[Process]:
    command = (
        binaries.catalog,
        f"--namespace={GLOBAL_NAMESPACE}",
        f"--kubeconfig={plane.kubeconfig}",
        f"--opmImage={_OPM_IMAGE}",
        f"--util-image={_UTIL_IMAGE}",
        "--writeStatusName=",
        # Parallel installations of one operator conflict in its cluster-wide objects. OLM retries for this
        # time; the default is one minute.
        "--install-plan-retry-timeout=30m",
    )
    path = f"{GROUP}/v1alpha1/namespaces/default/catalogsources"
    plane.api.create(path, _object("CatalogSource", "readiness-check", {"sourceType": "none"}))
    is_ready = lambda: "reason" in plane.api.get(f"{path}/readiness-check").get("status", {})  # noqa: E731
    with run_process(
        work_dir, "catalog", command, ready=is_ready, environment={"GRPC_PROXY": proxy}
    ) as process:
        plane.api.delete(f"{path}/readiness-check")
        yield process


@contextmanager
def _olm(binaries: Binaries, work_dir: WorkDir, plane: ControlPlane) -> Iterator[Process]:
    path = f"{GROUP}/v1/namespaces/default/operatorgroups"
    group = {"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "spec": {}}
    plane.api.create(path, {**group, "metadata": {"name": "readiness-check"}})
    is_ready = lambda: "namespaces" in plane.api.get(f"{path}/readiness-check").get("status", {})  # noqa: E731
    environment = {"KUBECONFIG": str(plane.kubeconfig)}
    with run_process(work_dir, "olm", (binaries.olm,), ready=is_ready, environment=environment) as process:
        plane.api.delete(f"{path}/readiness-check")
        yield process


def _object(kind: str, name: str, spec: Object) -> Object:
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def _copy_utility(binaries: Binaries, container: Container) -> Execution:
    """Do what the image of OLM does in an init container: copy the program copy-content to a volume."""
    *_, target = container.arguments
    shutil.copy(binaries.copy_content, target)
    return Exited()


def _run_opm(binaries: Binaries, container: Container) -> Execution:
    _, *arguments = container.arguments
    if arguments[0] == "serve":
        return _run_opm_serve(binaries, container, *arguments)
    return Program((binaries.opm, *arguments), {"KUBECONFIG": str(container.credentials())})


def _run_opm_serve(binaries: Binaries, container: Container, *arguments: str) -> Execution:
    """Use a free port: all pods share the loopback address, so 50051 would conflict."""
    (port,) = free_ports(1)
    options = ("--port", str(port), "--termination-log", container.home / "termination-log", "--pprof-addr=")
    return Program((binaries.opm, *arguments, *options), ready=partial(is_listening, port), port=port)


def copy_bundle(folder: Path, container: Container) -> Execution:
    """Copy the content of a bundle image to a volume."""
    *_, target = container.arguments
    shutil.copytree(folder, target, dirs_exist_ok=True)
    return Exited()


def catalog_copy_program(root: Path, container: Container) -> Execution:
    """Return the program that copies the content of a catalog image: OLM has put it into the volume."""
    program, *arguments = container.arguments
    return Program((program, *(each.replace(".from=/", f".from={root}/") for each in arguments)))
