"""Addresses to listen on, and what to say where nobody can."""

from __future__ import annotations

__all__ = ["Address", "bound", "listening"]

import errno
import os
import socket
from typing import Any, Final, NamedTuple

from everpath.errors import UsageError

_EVERYWHERE: Final = ("", "*")


class Address(NamedTuple):
    """A host, empty for every one of this machine, and a port, 0 for any that is free."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str, default_host: str = "") -> Address:
        """`HOST:PORT`, `[HOST]:PORT`, `:PORT` or `PORT`. Raises UsageError."""
        host, colon, port = text.rpartition(":")
        if not port.isascii() or not port.isdigit() or int(port) > 65535:
            raise UsageError(f"{text!r} is no address to listen on", hint="write HOST:PORT, or PORT alone")
        return cls(host.strip("[]") if colon else default_host, int(port))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def listening(address: Address) -> socket.socket:
    """A socket that listens. Raises UsageError."""
    try:
        found = _bound(address)
    except OSError as error:
        raise _impossible(address, error) from error
    found.listen(128)
    return found


def bound(address: Address) -> Address:
    """The address as another may bind it, free at this moment. Raises UsageError."""
    try:
        with _bound(address) as found:
            host, port = found.getsockname()[:2]
    except OSError as error:
        raise _impossible(address, error) from error
    return Address(host, port)


def _bound(address: Address) -> socket.socket:
    """Bound, and not listening: whoever connected to it would be let down.

    On every address of the machine by IPv6 and IPv4 at once, if it has both.
    """
    if address.host not in _EVERYWHERE:
        found = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        return _bound_to(found[0][0], found[0][4])
    if socket.has_dualstack_ipv6():
        try:
            return _bound_to(socket.AF_INET6, ("::", address.port))
        except OSError as error:
            if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
                raise
    return _bound_to(socket.AF_INET, ("0.0.0.0", address.port))


def _bound_to(family: int, where: tuple[Any, ...]) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        # So that a server may start again where one has just ended; Windows means something else by it.
        if os.name == "posix":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        made.bind(where)
    except OSError:
        made.close()
        raise
    return made


def _impossible(address: Address, error: OSError) -> UsageError:
    match error.errno:
        case errno.EADDRINUSE:
            hint = "end the one that has it, or choose another port (0: any that is free)"
            return UsageError(f"port {address.port} is in use", hint=hint)
        case errno.EACCES:
            hint = "ports below 1024 need rights that a server should not have; choose another one"
            return UsageError(f"may not listen on port {address.port}", hint=hint)
    reason = error.strerror or str(error)
    return UsageError(f"cannot listen on {address}: {reason}", hint="name an address of this machine")
