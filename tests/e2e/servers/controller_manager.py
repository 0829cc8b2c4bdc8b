"""kube-controller-manager: real Deployments, StatefulSets, Jobs, ServiceAccounts and garbage collection."""

from __future__ import annotations

__all__ = ["kube_controller_manager"]

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.e2e.servers.binaries import Binaries
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.processes import Process, WorkDir, run_process

_NAMESPACE: Final = "controllers-ready"


@contextmanager
def kube_controller_manager(binaries: Binaries, work_dir: WorkDir, plane: ControlPlane) -> Iterator[Process]:
    command = (
        binaries.kube_controller_manager,
        f"--kubeconfig={plane.kubeconfig}",
        # The only node sends no heartbeats.
        "--controllers=*,-nodeipam,-nodelifecycle,-cloud-node-lifecycle",
        "--use-service-account-credentials=false",
        "--leader-elect=false",
        "--secure-port=0",
        f"--root-ca-file={plane.authority}",
        # Tests install many operators at the same time.
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    )
    plane.api.create("/api/v1/namespaces", {"metadata": {"name": _NAMESPACE}})
    with run_process(
        work_dir, "kube-controller-manager", command, ready=lambda: _creates_service_accounts(plane)
    ) as process:
        yield process


def _creates_service_accounts(plane: ControlPlane) -> bool:
    """Whether a namespace has its default ServiceAccount. There is no port to probe."""
    return bool(plane.api.items(f"/api/v1/namespaces/{_NAMESPACE}/serviceaccounts"))
