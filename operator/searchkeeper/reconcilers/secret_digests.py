"""Digests of Secrets that pods mount: pods with another digest are outdated, because nodes read at start."""

from __future__ import annotations

__all__ = ["SecretDigests"]

from dataclasses import dataclass

from searchkeeper.api.spec import CA_CERTIFICATE
from searchkeeper.desired import names
from searchkeeper.desired.cluster import digest
from searchkeeper.snapshot import ClusterSnapshot


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
        secret = self.snapshot.cluster.spec.security.tls_secret
        return self._in_force("StatefulSet", names.CERTIFICATES_DIGEST, secret, self._whole(secret))

    @property
    def ca_certificate(self) -> str | None:
        """The digest of the CA certificate, which is all that Dashboards mount."""
        secret = self.snapshot.cluster.spec.security.tls_secret
        entries = self.snapshot.secret_digests.get(secret or "", {})
        return self._in_force("Deployment", names.CERTIFICATES_DIGEST, secret, entries.get(CA_CERTIFICATE))

    @property
    def keystore(self) -> str | None:
        """The digest of the Secret with entries of the keystore."""
        secret = self.snapshot.cluster.spec.keystore_secret
        return self._in_force("StatefulSet", names.KEYSTORE_DIGEST, secret, self._whole(secret))

    def _whole(self, secret: str | None) -> str | None:
        entries = self.snapshot.secret_digests.get(secret or "")
        return None if entries is None else digest(entries)

    def _in_force(self, kind: str, annotation: str, secret: str | None, current: str | None) -> str | None:
        """The digest of the Secret as it is, or the one in the deployed templates."""
        if secret is None:
            return None
        templates = (
            manifest["spec"]["template"]
            for key, manifest in self.snapshot.objects.items()
            if key.kind == kind
        )
        annotations = (template["metadata"].get("annotations") or {} for template in templates)
        deployed = {each[annotation] for each in annotations if annotation in each}
        keeps_deployed = current is None or (self.is_locked and len(deployed) == 1)
        return min(deployed, default=current) if keeps_deployed else current
