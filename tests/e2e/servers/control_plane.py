"""A Kubernetes control plane without nodes: etcd and kube-apiserver, on the loopback address."""

from __future__ import annotations

__all__ = ["AUDITED", "ControlPlane", "control_plane"]

import base64
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from e2e.servers.api import Api
from e2e.servers.binaries import Parts
from e2e.servers.loopback import HOST, free_ports
from e2e.servers.probes import answered
from e2e.servers.processes import Workshop, running

# The one account whose deeds are written down.
AUDITED: Final = "system:serviceaccount:searchkeeper:searchkeeper"
# RFC 5915: an elliptic curve key is its number and the name of the curve, here P-256; the rest is optional.
_KEY_BEGINNING: Final = bytes.fromhex("30310201010420")
_KEY_CURVE: Final = bytes.fromhex("a00a06082a8648ce3d030107")


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """A running API server: a connection of the tests' own, and the way in for other programs."""

    api: Api
    kubeconfig: Path
    port: int
    authority: Path
    audit: Path
    """What AUDITED asked for, a JSON object a line: changes with all that was sent and answered."""

    def kubeconfig_for(self, token: str) -> str:
        """The way in for whoever has that token."""
        return json.dumps(_kubeconfig(self.port, token, self.authority))


@contextmanager
def control_plane(parts: Parts, place: Workshop) -> Iterator[ControlPlane]:
    with _etcd(parts, place) as etcd, _kube_apiserver(parts, place, etcd) as plane:
        yield plane


@contextmanager
def _etcd(parts: Parts, place: Workshop) -> Iterator[str]:
    clients, peers = (f"http://{HOST}:{port}" for port in free_ports(2))
    command = (
        parts.etcd,
        f"--data-dir={place.home('etcd') / 'data'}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        # Nothing here outlives the run.
        "--unsafe-no-fsync",
    )
    with running(place, "etcd", command, ready=lambda: _is_healthy(f"{clients}/health")):
        yield clients


def _is_healthy(url: str) -> bool:
    health = answered(url)
    return health is not None and json.loads(health)["health"] == "true"


@contextmanager
def _kube_apiserver(parts: Parts, place: Workshop, etcd: str) -> Iterator[ControlPlane]:
    home, (port,), token = place.home("kube-apiserver"), free_ports(1), secrets.token_urlsafe()
    (home / "tokens.csv").write_text(f"{token},admin,admin,system:masters\n")
    (home / "accounts.key").write_text(_signing_key())
    (home / "audit.json").write_text(json.dumps(_audit_policy()))
    api = Api(HOST, port, token, home / "apiserver.crt")
    command = (
        parts.kube_apiserver,
        f"--etcd-servers={etcd}",
        f"--bind-address={HOST}",
        # Where nobody is: it must not be the loopback address, and a network without a route offers no other.
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
        # Nothing waits in memory for somebody to write it down.
        "--audit-log-mode=blocking",
        # Nobody makes a `default` account in new namespaces: that is kube-controller-manager's work.
        "--disable-admission-plugins=ServiceAccount",
    )
    # A quarter of its time went into collecting garbage, and it lives for minutes.
    with running(place, "kube-apiserver", command, ready=api.is_ready, environment={"GOGC": "400"}):
        kubeconfig = place.folder / "kubeconfig"
        kubeconfig.write_text(json.dumps(_kubeconfig(port, token, home / "apiserver.crt")))
        try:
            yield ControlPlane(api, kubeconfig, port, home / "apiserver.crt", home / "audit.log")
        finally:
            api.close()


def _audit_policy() -> object:
    account: dict[str, object] = {"users": [AUDITED]}
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
    """A new key for the tokens of service accounts, as PEM."""
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
