"""What a user may choose about talking to registries."""

from __future__ import annotations

__all__ = ["Options"]

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from everpath.oci.registry.credentials import Credential, Helper, run_helper
from everpath.oci.registry.retries import Patience
from everpath.oci.registry.transport import Wire


@dataclass(frozen=True, slots=True)
class Options:
    """`insecure` allows plain HTTP and certificates of anybody, for every host; EVERPATH_INSECURE for those
    it lists. A credential given here is used for every registry that asks.
    """

    insecure: bool = False
    cacert: str | None = None
    authfile: str | None = None
    credential: Credential | None = field(default=None, repr=False)
    mount_from: tuple[str, ...] = ()
    timeout: float = 60.0
    #: The longest body of one request: larger blobs go in several. ghcr.io takes no longer ones.
    chunk: int = 4 << 20
    patience: Patience = field(default_factory=Patience)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    helper: Helper = run_helper
    #: Instead of connections of the standard library.
    wire: Wire | None = None

    def trusts(self, host: str) -> bool:
        """Whether a host may be talked to in the open."""
        listed = self.environment.get("EVERPATH_INSECURE", "").split(",")
        return self.insecure or host in (entry.strip() for entry in listed)
