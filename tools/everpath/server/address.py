"""Addresses to listen on."""

from __future__ import annotations

__all__ = ["Address", "find_free_address", "listen"]

import errno
import os
import socket
from typing import Any, Final, NamedTuple

from everpath.errors import UsageError

_ALL_INTERFACES: Final = ("", "*")


class Address(NamedTuple):
    """A host, empty for all interfaces, and a port, 0 for any free one."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse `HOST:PORT`, `[HOST]:PORT`, `:PORT` or `PORT`. Raises UsageError."""
        host, _, port = text.rpartition(":")
        if not port.isascii() or not port.isdigit() or int(port) > 65535:
            raise UsageError(f"{text!r} is not an address to listen on", hint="write HOST:PORT or PORT")
        return cls(host.strip("[]"), int(port))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def listen(address: Address) -> socket.socket:
    """Open a listening socket. Raises UsageError."""
    try:
        server_socket = _bind(address)
    except OSError as error:
        raise _listen_error(address, error) from error
    server_socket.listen(128)
    return server_socket


def find_free_address(address: Address) -> Address:
    """Return the numeric address and a port that are free now. Raises UsageError.

    For gRPC, which binds by itself and does not report why that failed.
    """
    try:
        # The socket does not listen: a client that connected to it would be disconnected.
        with _bind(address) as probe:
            host, port = probe.getsockname()[:2]
    except OSError as error:
        raise _listen_error(address, error) from error
    return Address(host, port)


def _bind(address: Address) -> socket.socket:
    """Bind a socket; without a host, to IPv6 and IPv4 together if the machine has both."""
    if address.host not in _ALL_INTERFACES:
        found = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        return _bind_to(found[0][0], found[0][4])
    if socket.has_dualstack_ipv6():
        try:
            return _bind_to(socket.AF_INET6, ("::", address.port))
        except OSError as error:
            if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
                raise
    return _bind_to(socket.AF_INET, ("0.0.0.0", address.port))


def _bind_to(family: int, socket_address: tuple[Any, ...]) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        # A restarted server gets its port back at once. On Windows the option would share the port.
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        bound.bind(socket_address)
    except OSError:
        bound.close()
        raise
    return bound


def _listen_error(address: Address, error: OSError) -> UsageError:
    match error.errno:
        case errno.EADDRINUSE:
            hint = "stop the process that uses it, or choose another port (0: any free one)"
            return UsageError(f"port {address.port} is in use", hint=hint)
        case errno.EACCES:
            hint = "ports below 1024 need privileges that a server should not have; choose a higher port"
            return UsageError(f"no permission to listen on port {address.port}", hint=hint)
    reason = error.strerror or str(error)
    return UsageError(f"cannot listen on {address}: {reason}", hint="use an address of this machine")
