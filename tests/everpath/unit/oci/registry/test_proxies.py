"""Proxies from the environment."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest

from everpath.errors import Unreachable, UsageError
from everpath.oci.references import Reference
from everpath.oci.registry import RegistryOptions, resolve_image
from everpath.oci.registry.options import RetryPolicy

OptionsFactory = Callable[..., RegistryOptions]


def test_proxy_gets_connect_with_its_credentials(
    options: OptionsFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            connection, _ = listening.accept()
            with connection:
                received.append(connection.recv(65536))
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=refuse)
        thread.start()
        monkeypatch.setenv("HTTPS_PROXY", f"http://ann:s%40fe@127.0.0.1:{listening.getsockname()[1]}")
        with pytest.raises(Unreachable, match=r"cannot reach the registry r\.example"):
            resolve_image(
                Reference("r.example", "a", "v1"), options(insecure=False, retry=RetryPolicy(attempts=1))
            )
        thread.join()
    first, *headers = received[0].decode().split("\r\n")
    assert first.startswith("CONNECT r.example:443 ")
    assert "Proxy-Authorization: Basic YW5uOnNAZmU=" in headers


def test_no_proxy_hosts_are_reached_directly(
    options: OptionsFactory, server: object, reference: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(Unreachable, match="404"):
        resolve_image(reference, options())


@pytest.mark.parametrize(
    "proxy",
    ["http://proxy:abc", "http://[bad", "socks5://127.0.0.1:1", "https://127.0.0.1:1", "x y", "http://"],
)
def test_invalid_proxy_is_rejected_without_its_value(
    options: OptionsFactory, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(UsageError, match="HTTPS_PROXY is not a supported proxy"):
        resolve_image(Reference("registry.test", "me/catalog", "v1"), options(insecure=False))


def test_unreachable_proxy_is_named(options: OptionsFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@127.0.0.1:1")
    with pytest.raises(Unreachable, match=r"refused, through the proxy 127\.0\.0\.1:1$"):
        resolve_image(Reference("registry.test", "me/catalog", "v1"), options(insecure=False))
