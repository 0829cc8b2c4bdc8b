"""Credentials of the engine's user: the Secret that the spec names, and the operator's own copies of it."""

from __future__ import annotations

__all__ = ["Credentials"]

from collections.abc import Mapping
from dataclasses import dataclass

from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import Key
from searchkeeper.redaction import missing_entries
from searchkeeper.snapshot import ClusterSnapshot


@dataclass(frozen=True)
class Credentials:
    """Credentials of one cluster. `is_locked` is whether an upgrade holds the spec lock."""

    snapshot: ClusterSnapshot
    is_locked: bool

    @property
    def secret(self) -> Key | None:
        """The Secret that `spec.security.credentialsSecret` names."""
        name = self.snapshot.cluster.spec.security.credentials_secret
        return None if name is None else self._secret_key(name)

    @property
    def own_secrets(self) -> tuple[Key, ...]:
        """The operator's copies: of the current configuration versions, and of version 1."""
        cluster = self.snapshot.cluster.key.name
        return (
            self._secret_key(names.credentials_secret(cluster)),
            self._secret_key(names.old_config_secret(cluster)),
        )

    @property
    def missing_secret(self) -> Key | None:
        """The Secret that the spec names, while it does not exist or is incomplete."""
        secret = self.secret
        return None if secret in self.snapshot.objects and not self.missing_entries else secret

    @property
    def missing_entries(self) -> tuple[str, ...]:
        """Entries that the Secret lacks. Nodes read it only where TLS is on."""
        secret = self.secret
        manifest = None if secret is None else self.snapshot.objects.get(secret)
        has_tls = self.snapshot.cluster.spec.security.tls_secret is not None
        return () if manifest is None or not has_tls else missing_entries(manifest, names.CREDENTIALS)

    @property
    def has_own_copy(self) -> bool:
        """Whether nodes were deployed with credentials, or with an empty copy where the spec names none."""
        return any(secret in self.snapshot.objects for secret in self.own_secrets)

    @property
    def data(self) -> Mapping[str, str]:
        """The entries to deploy: those of the named Secret, or of the own copy while that is missing.

        During an upgrade nodes keep the credentials that they have.
        """
        secret = self.secret
        if secret is None:
            return {}
        named = () if self.missing_secret is not None else (secret,)
        candidates = (*self.own_secrets, *named) if self.is_locked else (*named, *self.own_secrets)
        manifests = (self.snapshot.objects.get(candidate) for candidate in candidates)
        manifest = next((manifest for manifest in manifests if manifest is not None), {})
        data: Mapping[str, str] = manifest.get("data") or {}
        return {entry: data[entry] for entry in names.CREDENTIALS if entry in data}

    def _secret_key(self, name: str) -> Key:
        return Key("v1", "Secret", self.snapshot.cluster.key.namespace, name)
