"""A SOCKS5 proxy that connects `NAME.NAMESPACE.svc` to the process of a pod, in place of kube-proxy and DNS.

Cluster IPs do not work here, and pods have no network. OLM connects to catalogs through the proxy in
GRPC_PROXY, which resolves the host names. The proxy implements CONNECT without authentication (RFC 1928).
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

from tests.e2e.servers.api import Api, ApiError
from tests.e2e.servers.loopback import HOST
from tests.e2e.servers.node_agent import NodeAgent

_VERSION: Final = 5
_CONNECT: Final = 1
_DOMAIN_NAME: Final = 3
_SUCCEEDED: Final = bytes((_VERSION, 0, 0, 1, 0, 0, 0, 0, 0, 0))
_UNREACHABLE: Final = bytes((_VERSION, 4, 0, 1, 0, 0, 0, 0, 0, 0))
_CHUNK: Final = 65536


@contextmanager
def service_proxy(api: Api, agent: NodeAgent) -> Iterator[str]:
    """Run the proxy, and yield its URL for GRPC_PROXY."""

    def port_of(host: str) -> int | None:
        name, namespace, *_ = host.split(".")
        connection = api.new_connection()
        try:
            service = connection.get(f"/api/v1/namespaces/{namespace}/services/{name}")
        except ApiError:
            return None
        finally:
            connection.close()
        return agent.port_of(service["spec"].get("selector") or {"": ""}, namespace)

    with socks_server(port_of) as port:
        yield f"socks5://{HOST}:{port}"


@contextmanager
def socks_server(port_of: Callable[[str], int | None]) -> Iterator[int]:
    """Run a SOCKS5 server that connects a host to the loopback port `port_of(host)`; yield its own port."""

    class SocksHandler(StreamRequestHandler):
        def handle(self) -> None:
            host = self._read_host()
            port = port_of(host) if host else None
            try:
                upstream = socket.create_connection((HOST, port or 0), timeout=5)
            except OSError:
                self.wfile.write(_UNREACHABLE)
                return
            with upstream:
                upstream.settimeout(None)
                self.wfile.write(_SUCCEEDED)
                _forward(self.connection, upstream)

        def _read_host(self) -> str | None:
            _, methods = self.rfile.read(2)
            self.rfile.read(methods)
            self.wfile.write(bytes((_VERSION, 0)))
            _, command, _, kind = self.rfile.read(4)
            if command != _CONNECT or kind != _DOMAIN_NAME:
                return None
            (length,) = self.rfile.read(1)
            host = self.rfile.read(length).decode()
            self.rfile.read(2)
            return host

    with _Server((HOST, 0), SocksHandler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingTCPServer):
    """Does not wait for open connections when it is closed."""

    daemon_threads = True
    block_on_close = False


def _forward(one: socket.socket, other: socket.socket) -> None:
    """Copy data in both directions until one side closes its connection."""
    opposite = {one: other, other: one}
    with selectors.DefaultSelector() as selector:
        for end in opposite:
            selector.register(end, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                end = one if key.fileobj is one else other
                try:
                    data = end.recv(_CHUNK)
                    opposite[end].sendall(data)
                except OSError:
                    return
                if not data:
                    return
