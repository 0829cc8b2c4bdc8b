"""kube-controller-manager: what makes Deployments, Jobs, ServiceAccounts and the rest behave for real."""

from __future__ import annotations

__all__ = ["kube_controller_manager"]

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from e2e.servers.binaries import Parts
from e2e.servers.control_plane import ControlPlane
from e2e.servers.processes import Process, Workshop, running

_NAMESPACE: Final = "controllers-ready"


@contextmanager
def kube_controller_manager(parts: Parts, place: Workshop, plane: ControlPlane) -> Iterator[Process]:
    command = (
        parts.kube_controller_manager,
        f"--kubeconfig={plane.kubeconfig}",
        # There is one node, which never sends a heartbeat.
        "--controllers=*,-nodeipam,-nodelifecycle,-cloud-node-lifecycle",
        "--use-service-account-credentials=false",
        "--leader-elect=false",
        "--secure-port=0",
        f"--root-ca-file={plane.authority}",
        # A hundred operators are installed at the same time.
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    )
    plane.api.create("/api/v1/namespaces", {"metadata": {"name": _NAMESPACE}})
    with running(place, "kube-controller-manager", command, ready=lambda: _makes_accounts(plane)) as process:
        yield process


def _makes_accounts(plane: ControlPlane) -> bool:
    """It listens nowhere; a namespace that gets its default account shows that its controllers work."""
    return bool(plane.api.items(f"/api/v1/namespaces/{_NAMESPACE}/serviceaccounts"))
