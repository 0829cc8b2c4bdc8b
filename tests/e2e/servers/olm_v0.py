"""OLM v0's operators as processes: `catalog` resolves Subscriptions, `olm` installs what they come to."""

from __future__ import annotations

__all__ = ["GLOBAL", "GROUP", "OlmV0", "copied", "copying", "olm_v0"]

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from e2e.servers.api import Api, Object
from e2e.servers.binaries import Parts
from e2e.servers.containers import Container, Ended, Fate, Program
from e2e.servers.control_plane import ControlPlane
from e2e.servers.crds import define
from e2e.servers.grpc_catalogs import answers
from e2e.servers.loopback import free_ports
from e2e.servers.node_agent import NodeAgent
from e2e.servers.polling import until
from e2e.servers.processes import Process, Workshop, running
from e2e.servers.service_proxy import service_proxy

GLOBAL: Final = "olm"
"""The namespace whose CatalogSources every namespace sees."""
GROUP: Final = "/apis/operators.coreos.com"

_OPM_IMAGE: Final = "quay.io/operator-framework/opm:latest"
_UTIL_IMAGE: Final = "quay.io/operator-framework/olm:latest"
_DEADLINE: Final = 300.0


@dataclass(frozen=True, slots=True)
class OlmV0:
    """The running operators."""

    api: Api
    agent: NodeAgent
    catalog: Process
    olm: Process

    def must_run(self) -> None:
        self.catalog.must_run()
        self.olm.must_run()
        self.agent.must_run()

    def offer_bundle(self, image: str, folder: Path) -> None:
        """Lets pods be made of a bundle image: OLM copies its manifests and metadata out of one."""
        self.agent.images.offer(image, partial(copied, folder))

    def offer_catalog(self, image: str, root: Path) -> None:
        """Lets pods be made of a catalog image with the files below `root`: OLM copies configs out of one."""
        self.agent.images.offer(image, partial(copying, root))

    @contextmanager
    def source(self, name: str, spec: Object, namespace: str = GLOBAL) -> Iterator[None]:
        """A CatalogSource, from when OLM is connected to it. It must not outlive what serves it: OLM resolves
        nothing at all where one of the catalogs does not answer.
        """
        path = f"{GROUP}/v1alpha1/namespaces/{namespace}/catalogsources"
        self.api.create(path, _object("CatalogSource", name, {"sourceType": "grpc", **spec}))
        try:
            until(f"OLM is connected to {name}", lambda: self._is_connected(f"{path}/{name}"), _DEADLINE)
            yield
        finally:
            self.api.delete(f"{path}/{name}")

    def _is_connected(self, path: str) -> bool:
        self.must_run()
        state = self.api.get(path).get("status", {}).get("connectionState", {})
        return bool(state.get("lastObservedState") == "READY")


@contextmanager
def olm_v0(parts: Parts, place: Workshop, plane: ControlPlane, agent: NodeAgent) -> Iterator[OlmV0]:
    """OLM beside a control plane with controllers and a node, and the images of its own that it uses."""
    define(plane.api, parts.olm_v0_crds)
    plane.api.create("/api/v1/namespaces", {"metadata": {"name": GLOBAL}})
    agent.images.offer(_UTIL_IMAGE, partial(_utilities, parts))
    agent.images.offer(_OPM_IMAGE, partial(_opm, parts))
    with (
        service_proxy(plane.api, agent) as proxy,
        _catalog(parts, place, plane, proxy) as catalog,
        _olm(parts, place, plane) as olm,
    ):
        yield OlmV0(plane.api, agent, catalog, olm)


@contextmanager
def _catalog(parts: Parts, place: Workshop, plane: ControlPlane, proxy: str) -> Iterator[Process]:
    command = (
        parts.catalog,
        f"--namespace={GLOBAL}",
        f"--kubeconfig={plane.kubeconfig}",
        f"--opmImage={_OPM_IMAGE}",
        f"--util-image={_UTIL_IMAGE}",
        "--writeStatusName=",
        # Whoever installs many operators of one kind at once has them meet at their cluster-wide objects; a
        # conflict is tried again, but not for longer than this. The default is a minute.
        "--install-plan-retry-timeout=30m",
    )
    path = f"{GROUP}/v1alpha1/namespaces/default/catalogsources"
    plane.api.create(path, _object("CatalogSource", "is-anybody-there", {"sourceType": "none"}))
    said = lambda: "reason" in plane.api.get(f"{path}/is-anybody-there").get("status", {})  # noqa: E731
    with running(place, "catalog", command, ready=said, environment={"GRPC_PROXY": proxy}) as process:
        plane.api.delete(f"{path}/is-anybody-there")
        yield process


@contextmanager
def _olm(parts: Parts, place: Workshop, plane: ControlPlane) -> Iterator[Process]:
    path = f"{GROUP}/v1/namespaces/default/operatorgroups"
    group = {"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "spec": {}}
    plane.api.create(path, {**group, "metadata": {"name": "is-anybody-there"}})
    said = lambda: "namespaces" in plane.api.get(f"{path}/is-anybody-there").get("status", {})  # noqa: E731
    environment = {"KUBECONFIG": str(plane.kubeconfig)}
    with running(place, "olm", (parts.olm,), ready=said, environment=environment) as process:
        plane.api.delete(f"{path}/is-anybody-there")
        yield process


def _object(kind: str, name: str, spec: Object) -> Object:
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def _utilities(parts: Parts, container: Container) -> Fate:
    """What OLM's own image is for in other people's pods: to copy a program that copies."""
    *_, goal = container.arguments
    shutil.copy(parts.copy_content, goal)
    return Ended()


def _opm(parts: Parts, container: Container) -> Fate:
    _, *arguments = container.arguments
    if arguments[0] == "serve":
        return _served(parts, container, *arguments)
    return Program((parts.opm, *arguments), {"KUBECONFIG": str(container.credentials())})


def _served(parts: Parts, container: Container, *arguments: str) -> Fate:
    """Every pod has port 50051 of its own in a cluster; here each has another."""
    (port,) = free_ports(1)
    own = ("--port", str(port), "--termination-log", container.home / "termination-log", "--pprof-addr=")
    return Program((parts.opm, *arguments, *own), ready=partial(answers, port), port=port)


def copied(folder: Path, container: Container) -> Fate:
    """A bundle image's only use: its content, copied into a volume."""
    *_, goal = container.arguments
    shutil.copytree(folder, goal, dirs_exist_ok=True)
    return Ended()


def copying(root: Path, container: Container) -> Fate:
    """A catalog image's content, copied by the program that OLM has put beside it."""
    program, *arguments = container.arguments
    return Program((program, *(said.replace(".from=/", f".from={root}/") for said in arguments)))
