"""Digests of Secrets that pods mount: pods with another digest are outdated, because nodes read at start."""

from __future__ import annotations

__all__ = ["SecretDigests"]

from collections.abc import Mapping
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
        entries = self._tls_entries
        return self._in_force("StatefulSet", None if entries is None else digest(entries))

    @property
    def ca_certificate(self) -> str | None:
        """The digest of the CA certificate, which is all that Dashboards mount."""
        return self._in_force("Deployment", (self._tls_entries or {}).get(_CA_CERTIFICATE))

    @property
    def _tls_entries(self) -> Mapping[str, str] | None:
        secret = self.snapshot.cluster.spec.security.tls_secret
        return None if secret is None else self.snapshot.secret_digests.get(secret)

    def _in_force(self, kind: str, current: str | None) -> str | None:
        """The digest of the Secret as it is, or the one in the deployed templates."""
        if self.snapshot.cluster.spec.security.tls_secret is None:
            return None
        templates = (
            manifest["spec"]["template"]
            for key, manifest in self.snapshot.objects.items()
            if key.kind == kind
        )
        annotations = (template["metadata"].get("annotations") or {} for template in templates)
        deployed = {
            each[names.CERTIFICATES_DIGEST] for each in annotations if names.CERTIFICATES_DIGEST in each
        }
        keeps_deployed = current is None or (self.is_locked and len(deployed) == 1)
        return min(deployed, default=current) if keeps_deployed else current
