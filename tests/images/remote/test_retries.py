"""Patience: what passes is tried again, a bounded number of times, as slowly as the registry asks."""

from __future__ import annotations

import errno
import http.client
import os
from collections.abc import Callable

import pytest

from everpath.errors import Unreachable
from everpath.oci.references import Reference
from everpath.oci.registry import ClientOptions, push_image, resolve_image
from everpath.oci.registry.http_client import ConnectionFailed, ConnectionPool, Request, Response, retry_after
from everpath.oci.registry.options import RetryPolicy
from registry_server import Registry, Reply
from small_images import single

Made = Callable[..., ClientOptions]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_passes_is_tried_again(
    server: Registry, options: Made, reference: Reference, slept: list[float], status: int
) -> None:
    push_image(single(), reference, options())
    server.fail("GET", "manifests", Reply(status), Reply(status))
    assert resolve_image(reference, options()).root == single().root
    assert slept == [1, 2]


@pytest.mark.parametrize("status", [400, 403, 404, 405])
def test_what_lasts_is_not(
    server: Registry, options: Made, reference: Reference, slept: list[float], status: int
) -> None:
    server.fail("GET", "manifests", Reply(status))
    with pytest.raises(Unreachable):
        resolve_image(reference, options())
    assert slept == []


def test_patience_ends(server: Registry, options: Made, reference: Reference, slept: list[float]) -> None:
    server.faults.append(lambda asked: Reply(503) if "manifests" in asked.path else None)
    with pytest.raises(Unreachable, match="503"):
        resolve_image(reference, options())
    assert slept == [1, 2, 4, 8]
    assert len(server.said("GET")) == 5


def test_a_registry_says_how_long_to_wait(
    server: Registry, options: Made, reference: Reference, slept: list[float]
) -> None:
    push_image(single(), reference, options())
    server.fail("GET", "manifests", Reply(429, b"", {"Retry-After": "7"}))
    resolve_image(reference, options())
    assert slept == [7]


def test_nobody_waits_for_an_hour(
    server: Registry, options: Made, reference: Reference, slept: list[float]
) -> None:
    server.fail("GET", "manifests", Reply(429, b"", {"Retry-After": "3600"}))
    with pytest.raises(Unreachable) as caught:
        resolve_image(reference, options())
    assert slept == []
    assert "3600 seconds" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ("Fri, 13 Nov 2099 10:00:00 GMT", "wait until Fri, 13 Nov 2099 10:00:00 GMT, or"),
        ("when pigs fly", "wait, or log in"),
    ],
)
def test_a_date_to_wait_for_is_told_as_one(
    server: Registry, options: Made, reference: Reference, stated: str, words: str
) -> None:
    server.faults.append(lambda _: Reply(429, b"", {"Retry-After": stated}))
    with pytest.raises(Unreachable) as caught:
        resolve_image(reference, options())
    assert words in (caught.value.hint or "")


@pytest.mark.parametrize("drops", [1, 2, 3, 4, 5])
def test_connections_dropped_at_first_contact_do_not_decide_for_tls(
    server: Registry, options: Made, reference: Reference, slept: list[float], drops: int
) -> None:
    push_image(single(), reference, options())
    wire = _Dropping(drops)
    assert resolve_image(reference, options(http_client=wire)).root == single().root
    # Each look is at both: an even number of drops is one look in vain for every two.
    assert slept == [1, 2, 4][: drops // 2]


def test_who_never_answers_is_given_up_without_advice_that_was_followed(
    options: Made, reference: Reference, slept: list[float]
) -> None:
    with pytest.raises(Unreachable, match="hung up") as caught:
        resolve_image(reference, options(http_client=_Dropping(1000)))
    assert slept == [1, 2, 4, 8]
    assert "--insecure" not in (caught.value.hint or "")


@pytest.mark.parametrize("number", [errno.EBADF, errno.ENOTCONN])
def test_a_handshake_that_was_hung_up_on_is_told_as_that(
    options: Made, reference: Reference, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def hung_up(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(http.client.HTTPSConnection, "connect", hung_up)
    with pytest.raises(Unreachable, match="closed the connection without a response"):
        resolve_image(reference, options(insecure=False))


class _Dropping:
    """The real thing, but for the first connections, which are dropped."""

    def __init__(self, drops: int) -> None:
        self._left = drops
        self._behind = ConnectionPool(verify=False, cacert=None, timeout=60.0)

    def send(self, request: Request) -> Response:
        self._left -= 1
        if self._left >= 0:
            raise ConnectionFailed("it hung up")
        return self._behind.send(request)


def test_a_dropped_connection_is_made_again(
    server: Registry, options: Made, reference: Reference, slept: list[float]
) -> None:
    image = single()
    server.fail("POST", "uploads", Reply(0))
    server.fail("PUT", "manifests", Reply(0))
    push_image(image, reference, options())
    assert server.tag("team/catalog", "v1") is not None
    assert slept == [1, 1]


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
def test_retry_after_is_a_number_or_a_date(text: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": text}, 1_000_000 - 400) == seconds


def test_pauses_double_and_are_bounded() -> None:
    assert list(RetryPolicy(attempts=8).delays()) == [1, 2, 4, 8, 16, 30, 30]
