"""Services without a kube-proxy or a DNS: a SOCKS5 proxy that leads `NAME.NAMESPACE.svc` to a pod's program.

Cluster IPs are dead here, and pods have no network; but OLM goes to catalogs through the proxy that
GRPC_PROXY names, and leaves names to it. RFC 1928, as much of it as that takes: CONNECT, no authentication.
"""

from __future__ import annotations

__all__ = ["service_proxy"]

import selectors
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Final

from e2e.servers.api import Api, RefusedError
from e2e.servers.loopback import HOST
from e2e.servers.node_agent import NodeAgent

_VERSION: Final = 5
_CONNECT: Final = 1
_NAME: Final = 3
_DONE: Final = bytes((_VERSION, 0, 0, 1, 0, 0, 0, 0, 0, 0))
_UNREACHABLE: Final = bytes((_VERSION, 4, 0, 1, 0, 0, 0, 0, 0, 0))
_CHUNK: Final = 65536


@contextmanager
def service_proxy(api: Api, agent: NodeAgent) -> Iterator[str]:
    """The address for GRPC_PROXY."""

    def port_of(host: str) -> int | None:
        name, namespace, *_ = host.split(".")
        own = api.another()
        try:
            service = own.get(f"/api/v1/namespaces/{namespace}/services/{name}")
        except RefusedError:
            return None
        finally:
            own.close()
        return agent.port_of(service["spec"].get("selector") or {"": ""}, namespace)

    with socks_server(port_of) as port:
        yield f"socks5://{HOST}:{port}"


@contextmanager
def socks_server(port_of: Callable[[str], int | None]) -> Iterator[int]:
    """Leads whoever asks for a host to the port on the loopback address that `port_of` gives for it."""

    class Leads(StreamRequestHandler):
        def handle(self) -> None:
            host = self._asked()
            port = port_of(host) if host else None
            try:
                there = socket.create_connection((HOST, port or 0), timeout=5)
            except OSError:
                self.wfile.write(_UNREACHABLE)
                return
            with there:
                there.settimeout(None)
                self.wfile.write(_DONE)
                _join(self.connection, there)

        def _asked(self) -> str | None:
            _, methods = self.rfile.read(2)
            self.rfile.read(methods)
            self.wfile.write(bytes((_VERSION, 0)))
            _, command, _, kind = self.rfile.read(4)
            if command != _CONNECT or kind != _NAME:
                return None
            (length,) = self.rfile.read(1)
            host = self.rfile.read(length).decode()
            self.rfile.read(2)
            return host

    with _Server((HOST, 0), Leads) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingTCPServer):
    """Connections end with those who use them, not with the server."""

    daemon_threads = True
    block_on_close = False


def _join(one: socket.socket, other: socket.socket) -> None:
    """Passes on what either says, until one of them has no more to say."""
    opposite = {one: other, other: one}
    with selectors.DefaultSelector() as waiting:
        for end in opposite:
            waiting.register(end, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                end = one if key.fileobj is one else other
                try:
                    said = end.recv(_CHUNK)
                    opposite[end].sendall(said)
                except OSError:
                    return
                if not said:
                    return
