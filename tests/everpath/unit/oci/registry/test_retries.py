"""Retries: which failures are retried, how often, and with which delays."""

from __future__ import annotations

import errno
import http.client
import os
from collections.abc import Callable

import pytest

from everpath.errors import Unreachable
from everpath.oci.references import Reference
from everpath.oci.registry import RegistryOptions, push_image, resolve_image
from everpath.oci.registry.http_client import (
    ConnectionFailed,
    ConnectionPool,
    RegistryRequest,
    RegistryResponse,
    retry_after,
)
from everpath.oci.registry.options import RetryPolicy
from tests.support.everpath.registry_server import FakeRegistry, Reply
from tests.support.everpath.small_images import small_image

OptionsFactory = Callable[..., RegistryOptions]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_retryable_status_is_retried(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, sleeps: list[float], status: int
) -> None:
    push_image(small_image(), reference, options())
    server.fail_next("GET", "manifests", Reply(status), Reply(status))
    assert resolve_image(reference, options()).root == small_image().root
    assert sleeps == [1, 2]


@pytest.mark.parametrize("status", [400, 403, 404, 405])
def test_permanent_status_is_not_retried(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, sleeps: list[float], status: int
) -> None:
    server.fail_next("GET", "manifests", Reply(status))
    with pytest.raises(Unreachable):
        resolve_image(reference, options())
    assert sleeps == []


def test_retries_are_limited(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, sleeps: list[float]
) -> None:
    server.faults.append(lambda request: Reply(503) if "manifests" in request.path else None)
    with pytest.raises(Unreachable, match="503"):
        resolve_image(reference, options())
    assert sleeps == [1, 2, 4, 8]
    assert len(server.paths("GET")) == 5


def test_retry_after_is_respected(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, sleeps: list[float]
) -> None:
    push_image(small_image(), reference, options())
    server.fail_next("GET", "manifests", Reply(429, b"", {"Retry-After": "7"}))
    resolve_image(reference, options())
    assert sleeps == [7]


def test_too_long_retry_after_is_reported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, sleeps: list[float]
) -> None:
    server.fail_next("GET", "manifests", Reply(429, b"", {"Retry-After": "3600"}))
    with pytest.raises(Unreachable) as caught:
        resolve_image(reference, options())
    assert sleeps == []
    assert "3600 seconds" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ("Fri, 13 Nov 2099 10:00:00 GMT", "wait until Fri, 13 Nov 2099 10:00:00 GMT, or"),
        ("when pigs fly", "wait, or log in"),
    ],
)
def test_retry_after_date_is_in_hint(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, stated: str, words: str
) -> None:
    server.faults.append(lambda _: Reply(429, b"", {"Retry-After": stated}))
    with pytest.raises(Unreachable) as caught:
        resolve_image(reference, options())
    assert words in (caught.value.hint or "")


@pytest.mark.parametrize("drops", [1, 2, 3, 4, 5])
def test_dropped_connections_do_not_select_scheme(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, sleeps: list[float], drops: int
) -> None:
    push_image(small_image(), reference, options())
    wire = _Dropping(drops)
    assert resolve_image(reference, options(http_client=wire)).root == small_image().root
    # Each attempt probes HTTPS and HTTP: two drops are one failed attempt.
    assert sleeps == [1, 2, 4][: drops // 2]


def test_silent_host_is_reported_without_insecure_hint(
    options: OptionsFactory, reference: Reference, sleeps: list[float]
) -> None:
    with pytest.raises(Unreachable, match="connection closed") as caught:
        resolve_image(reference, options(http_client=_Dropping(1000)))
    assert sleeps == [1, 2, 4, 8]
    assert "--insecure" not in (caught.value.hint or "")


@pytest.mark.parametrize("number", [errno.EBADF, errno.ENOTCONN])
def test_closed_handshake_is_reported(
    options: OptionsFactory, reference: Reference, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def close_connection(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(http.client.HTTPSConnection, "connect", close_connection)
    with pytest.raises(Unreachable, match="closed the connection without a response"):
        resolve_image(reference, options(insecure=False))


class _Dropping:
    """A connection pool that drops the first connections."""

    def __init__(self, drops: int) -> None:
        self._left = drops
        self._pool = ConnectionPool(verify=False, cacert=None, timeout=60.0)

    def send(self, request: RegistryRequest) -> RegistryResponse:
        self._left -= 1
        if self._left >= 0:
            raise ConnectionFailed("connection closed")
        return self._pool.send(request)


def test_dropped_connection_is_retried(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, sleeps: list[float]
) -> None:
    image = small_image()
    server.fail_next("POST", "uploads", Reply(0))
    server.fail_next("PUT", "manifests", Reply(0))
    push_image(image, reference, options())
    assert server.tag("team/catalog", "v1") is not None
    assert sleeps == [1, 1]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        ("Mon, 12 Jan 1970 13:48:20 GMT", 500),
        ("Mon Jan 12 13:48:20 1970", 500),
        ("Monday, 12-Jan-70 13:48:20 GMT", 500),
        ("yesterday", None),
        ("-5", None),
        ("", None),
    ],
)
def test_retry_after_is_number_or_date(text: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": text}, 1_000_000 - 400) == seconds


def test_delays_double_up_to_maximum() -> None:
    assert list(RetryPolicy(attempts=8).delays()) == [1, 2, 4, 8, 16, 30, 30]
