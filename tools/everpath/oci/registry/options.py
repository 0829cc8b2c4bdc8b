"""Options of the registry client."""

from __future__ import annotations

__all__ = ["RegistryOptions", "RetryPolicy"]

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from everpath.oci.registry.credentials import Credential, CredentialHelper, run_helper
from everpath.oci.registry.http_client import HttpClient


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Number of attempts, and the delays between them in seconds, which double up to a maximum."""

    attempts: int = 5
    first_delay: float = 1.0
    max_delay: float = 30.0
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time

    def delays(self) -> Iterator[float]:
        """Yield the delay before each retry."""
        return (min(self.first_delay * 2**number, self.max_delay) for number in range(self.attempts - 1))


@dataclass(frozen=True, slots=True)
class RegistryOptions:
    """How to connect to registries, and with which credentials.

    `insecure` allows plain HTTP and untrusted certificates for every host; the variable EVERPATH_INSECURE
    allows them for the hosts that it lists. `credential` is used for every registry.
    """

    insecure: bool = False
    cacert: str | None = None
    authfile: str | None = None
    credential: Credential | None = field(default=None, repr=False)
    mount_from: tuple[str, ...] = ()
    timeout: float = 60.0
    #: The largest body of a request in bytes, which is the limit of ghcr.io. Larger blobs are sent in chunks.
    chunk_size: int = 4 << 20
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    credential_helper: CredentialHelper = run_helper
    #: Replaces the connection pool.
    http_client: HttpClient | None = None

    def allows_insecure(self, host: str) -> bool:
        """True if plain HTTP and untrusted certificates are allowed for a host."""
        hosts = self.environment.get("EVERPATH_INSECURE", "").split(",")
        return self.insecure or host in (entry.strip() for entry in hosts)
