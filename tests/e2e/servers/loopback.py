"""Free ports on the loopback address, for programs that need their port on the command line."""

from __future__ import annotations

__all__ = ["HOST", "free_ports"]

import socket
from contextlib import ExitStack
from random import SystemRandom
from typing import Final

HOST: Final = "127.0.0.1"

# Below the range from which the kernel takes the local port of an outgoing connection: no connection can
# occupy such a port between this check and the start of the program.
_PORTS: Final = range(20_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Return distinct ports on which no program listens."""
    ports: list[int] = []
    with ExitStack() as sockets:
        for port in SystemRandom().sample(_PORTS, len(_PORTS)):
            if len(ports) == count:
                break
            if _is_free(sockets.enter_context(socket.socket()), port):
                ports.append(port)
    return ports


def _is_free(probe: socket.socket, port: int) -> bool:
    try:
        probe.bind((HOST, port))
    except OSError:
        return False
    return True
