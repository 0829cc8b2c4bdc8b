"""Secrets that every new pod mounts: without one of them no node starts."""

from __future__ import annotations

__all__ = ["missing_secret"]

from searchkeeper.api.spec import TLS_ENTRIES
from searchkeeper.snapshot import ClusterSnapshot


def missing_secret(snapshot: ClusterSnapshot) -> str | None:
    """Name the first Secret, or entry of one, that the spec names and that does not exist.

    The credentials are not among them: nodes mount a copy of the operator.
    """
    spec = snapshot.cluster.spec
    wanted = {
        "spec.security.tlsSecret": (spec.security.tls_secret, TLS_ENTRIES),
        "spec.keystoreSecret": (spec.keystore_secret, ()),
    }
    for field, (name, entries) in wanted.items():
        if name is None:
            continue
        secret = f"Secret {name}, named by {field},"
        found = snapshot.secret_digests.get(name)
        if found is None:
            return f"{secret} does not exist: create it"
        missing = [entry for entry in entries if entry not in found]
        if missing:
            return f"{secret} has no {' and no '.join(missing)}: add it"
    return None
