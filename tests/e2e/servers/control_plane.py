"""A Kubernetes control plane without nodes: etcd and kube-apiserver, on the loopback address."""

from __future__ import annotations

__all__ = ["AUDITED_USER", "ControlPlane", "control_plane"]

import base64
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.e2e.servers.api import Api
from tests.e2e.servers.binaries import Binaries
from tests.e2e.servers.loopback import HOST, free_ports
from tests.e2e.servers.probes import http_get
from tests.e2e.servers.processes import WorkDir, run_process

# The only user in the audit log.
AUDITED_USER: Final = "system:serviceaccount:searchkeeper:searchkeeper"
# RFC 5915: an elliptic curve key is a number and the name of the curve (P-256); other fields are optional.
_KEY_BEGINNING: Final = bytes.fromhex("30310201010420")
_KEY_CURVE: Final = bytes.fromhex("a00a06082a8648ce3d030107")


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """A running API server: a connection for the tests, and a kubeconfig file for other programs."""

    api: Api
    kubeconfig: Path
    port: int
    authority: Path
    audit: Path
    """Requests of AUDITED_USER, one JSON object per line; writes include the request and the response."""

    def kubeconfig_for(self, token: str) -> str:
        """Return the text of a kubeconfig with this token."""
        return json.dumps(_kubeconfig(self.port, token, self.authority))


@contextmanager
def control_plane(binaries: Binaries, work_dir: WorkDir) -> Iterator[ControlPlane]:
    with _etcd(binaries, work_dir) as etcd, _kube_apiserver(binaries, work_dir, etcd) as plane:
        yield plane


@contextmanager
def _etcd(binaries: Binaries, work_dir: WorkDir) -> Iterator[str]:
    clients, peers = (f"http://{HOST}:{port}" for port in free_ports(2))
    command = (
        binaries.etcd,
        f"--data-dir={work_dir.home('etcd') / 'data'}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        # The data is deleted after the run.
        "--unsafe-no-fsync",
    )
    with run_process(work_dir, "etcd", command, ready=lambda: _is_healthy(f"{clients}/health")):
        yield clients


def _is_healthy(url: str) -> bool:
    health = http_get(url)
    return health is not None and json.loads(health)["health"] == "true"


@contextmanager
def _kube_apiserver(binaries: Binaries, work_dir: WorkDir, etcd: str) -> Iterator[ControlPlane]:
    home, (port,), token = work_dir.home("kube-apiserver"), free_ports(1), secrets.token_urlsafe()
    (home / "tokens.csv").write_text(f"{token},admin,admin,system:masters\n")
    (home / "accounts.key").write_text(_signing_key())
    (home / "audit.json").write_text(json.dumps(_audit_policy()))
    api = Api(HOST, port, token, home / "apiserver.crt")
    command = (
        binaries.kube_apiserver,
        f"--etcd-servers={etcd}",
        f"--bind-address={HOST}",
        # An unused address (TEST-NET-1). The API server does not accept a loopback address here, and finds no
        # other one in a network without a route.
        "--advertise-address=192.0.2.1",
        f"--secure-port={port}",
        f"--cert-dir={home}",
        f"--token-auth-file={home / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={home / 'accounts.key'}",
        f"--service-account-signing-key-file={home / 'accounts.key'}",
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--audit-policy-file={home / 'audit.json'}",
        f"--audit-log-path={home / 'audit.log'}",
        # A request is in the log before its response is sent.
        "--audit-log-mode=blocking",
        # Without kube-controller-manager no namespace has a `default` ServiceAccount.
        "--disable-admission-plugins=ServiceAccount",
    )
    # With the default of 100 the garbage collector takes a quarter of the processor time.
    with run_process(work_dir, "kube-apiserver", command, ready=api.is_ready, environment={"GOGC": "400"}):
        kubeconfig = work_dir.folder / "kubeconfig"
        kubeconfig.write_text(json.dumps(_kubeconfig(port, token, home / "apiserver.crt")))
        try:
            yield ControlPlane(api, kubeconfig, port, home / "apiserver.crt", home / "audit.log")
        finally:
            api.close()


def _audit_policy() -> object:
    account: dict[str, object] = {"users": [AUDITED_USER]}
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived", "ResponseStarted"],
        "omitManagedFields": True,
        "rules": [
            {"level": "Metadata", "verbs": ["get", "list", "watch"], **account},
            {"level": "RequestResponse", **account},
            {"level": "None"},
        ],
    }


def _signing_key() -> str:
    """Create a key for the tokens of ServiceAccounts, as PEM."""
    key = _KEY_BEGINNING + secrets.token_bytes(32) + _KEY_CURVE
    text = base64.encodebytes(key).decode()
    return f"-----BEGIN EC PRIVATE KEY-----\n{text}-----END EC PRIVATE KEY-----\n"


def _kubeconfig(port: int, token: str, authority: Path) -> object:
    cluster = {"server": f"https://{HOST}:{port}", "certificate-authority": str(authority)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "real", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": "admin"}}],
        "current-context": "real",
    }
