"""Digests of Secrets that pods mount: pods with another digest are outdated, because nodes read at start."""

from __future__ import annotations

__all__ = ["SecretDigests"]

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from searchkeeper.desired import names
from searchkeeper.desired.cluster import digest
from searchkeeper.snapshot import ClusterSnapshot

_CA_CERTIFICATE: Final = "ca.crt"


@dataclass(frozen=True)
class SecretDigests:
    """Digests for the annotations of one cluster's pods. `is_locked` is whether an upgrade holds the lock.

    Pods keep the digest that they have while the Secret is missing, because new pods could not mount it, and
    during an upgrade, which replaces every pod once already.
    """

    snapshot: ClusterSnapshot
    is_locked: bool

    @property
    def certificates(self) -> str | None:
        """The digest of the TLS Secret; None if none was ever seen."""
        entries = self._entries(self.snapshot.cluster.spec.security.tls_secret)
        return self._in_force("StatefulSet", names.CERTIFICATES_DIGEST, entries and digest(entries))

    @property
    def ca_certificate(self) -> str | None:
        """The digest of the CA certificate, which is all that Dashboards mount."""
        entries = self._entries(self.snapshot.cluster.spec.security.tls_secret) or {}
        return self._in_force("Deployment", names.CERTIFICATES_DIGEST, entries.get(_CA_CERTIFICATE))

    def _entries(self, secret: str | None) -> Mapping[str, str] | None:
        return None if secret is None else self.snapshot.secret_digests.get(secret)

    def _in_force(self, kind: str, annotation: str, current: str | None) -> str | None:
        deployed = self._deployed(kind, annotation)
        keeps_deployed = current is None or (self.is_locked and len(deployed) == 1)
        return min(deployed, default=current) if keeps_deployed else current

    def _deployed(self, kind: str, annotation: str) -> set[str]:
        objects: Iterable[Mapping[str, str]] = (
            manifest["spec"]["template"]["metadata"].get("annotations") or {}
            for key, manifest in self.snapshot.objects.items()
            if key.kind == kind
        )
        return {annotations[annotation] for annotations in objects if annotation in annotations}
