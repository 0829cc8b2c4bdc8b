"""Free ports on the loopback address, for programs that must be told theirs before they start."""

from __future__ import annotations

__all__ = ["HOST", "free_ports"]

import socket
from contextlib import ExitStack
from random import SystemRandom
from typing import Final

HOST: Final = "127.0.0.1"

# Below the range out of which the kernel serves whoever connects to something: a port found free here is
# not lent to a passing connection before its program binds it.
_PORTS: Final = range(20_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Distinct ports that nobody listens on."""
    ports: list[int] = []
    with ExitStack() as held:
        for port in SystemRandom().sample(_PORTS, len(_PORTS)):
            if len(ports) == count:
                break
            if _is_free(held.enter_context(socket.socket()), port):
                ports.append(port)
    return ports


def _is_free(probe: socket.socket, port: int) -> bool:
    try:
        probe.bind((HOST, port))
    except OSError:
        return False
    return True
