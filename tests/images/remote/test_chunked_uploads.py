"""Large blobs: sent in chunks, and from where it broke off."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from everpath.errors import Unreachable
from everpath.oci.references import Reference
from everpath.oci.registry import ClientOptions, TransferProgress, push_image
from registry_server import Asked, Registry, Reply
from small_images import layer_of, single

Made = Callable[..., ClientOptions]
DATA = os.urandom(3500)
BROKEN = Reply(0)


def patched(server: Registry) -> list[str]:
    return [a.headers["content-range"] for a in server.asked if a.method == "PATCH"]


def stored(server: Registry) -> bytes | None:
    return server.blobs["team/catalog"].get(layer_of(single(DATA)).digest)


def test_a_large_blob_goes_in_chunks(server: Registry, options: Made, reference: Reference) -> None:
    steps: list[TransferProgress] = []
    push_image(single(DATA), reference, options(chunk_size=1000), steps.append)
    assert patched(server) == ["0-999", "1000-1999", "2000-2999", "3000-3499"]
    assert [step.transferred for step in steps if step.state == "sending"] == [1000, 2000, 3000, 3500]
    assert stored(server) == DATA


def test_a_small_one_goes_whole(server: Registry, options: Made, reference: Reference) -> None:
    push_image(single(DATA), reference, options(chunk_size=3500))
    assert patched(server) == []
    assert stored(server) == DATA


def test_the_least_chunk_of_a_registry_is_respected(
    server: Registry, options: Made, reference: Reference
) -> None:
    def demanding(asked: Asked) -> Reply | None:
        if asked.method != "POST":
            return None
        started = server._post_uploads(asked, "team/catalog", "")
        return Reply(202, b"", {**started.headers, "OCI-Chunk-Min-Length": "2000"})

    server.faults.append(demanding)
    push_image(single(DATA), reference, options(chunk_size=1000))
    assert patched(server) == ["0-1999", "2000-3499"]


def test_after_a_dropped_connection_it_goes_on_where_the_registry_is(
    server: Registry, options: Made, reference: Reference, slept: list[float]
) -> None:
    server.fail("PATCH", "uploads", None, BROKEN)
    push_image(single(DATA), reference, options(chunk_size=1000))
    assert patched(server) == ["0-999", "1000-1999", "1000-1999", "2000-2999", "3000-3499"]
    assert stored(server) == DATA
    assert len(slept) == 1


def test_a_chunk_that_arrived_though_its_answer_did_not_is_not_sent_again(
    server: Registry, options: Made, reference: Reference
) -> None:
    lost = [True]

    def losing(asked: Asked) -> Reply | None:
        if asked.method == "PATCH" and asked.headers["content-range"].startswith("1000-") and lost.pop():
            lost.append(False)
            server._patch_uploads(asked, "team/catalog", asked.path.rpartition("/")[2])
            return BROKEN
        return None

    server.faults.append(losing)
    push_image(single(DATA), reference, options(chunk_size=1000))
    assert patched(server) == ["0-999", "1000-1999", "2000-2999", "3000-3499"]
    assert stored(server) == DATA


def test_an_upload_that_is_gone_is_started_again(
    server: Registry, options: Made, reference: Reference
) -> None:
    def forgetting(asked: Asked) -> Reply | None:
        if asked.method == "PATCH" and asked.headers["content-range"].startswith("2000-"):
            server.faults.clear()
            server.uploads.clear()
        return None

    server.faults.append(forgetting)
    push_image(single(DATA), reference, options(chunk_size=1000))
    assert patched(server)[2:5] == ["2000-2999", "0-999", "1000-1999"]
    assert stored(server) == DATA


def test_a_registry_that_is_confused_of_the_offset_is_asked_for_it(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.fail("PATCH", "uploads", None, Reply(416))
    push_image(single(DATA), reference, options(chunk_size=1000))
    assert stored(server) == DATA


@pytest.mark.parametrize("status", [400, 405, 413, 416, 501])
def test_a_registry_without_chunks_gets_the_blob_whole(
    server: Registry, options: Made, reference: Reference, status: int
) -> None:
    server.faults.append(lambda asked: Reply(status) if asked.method == "PATCH" else None)
    push_image(single(DATA), reference, options(chunk_size=1000))
    assert stored(server) == DATA
    assert len(patched(server)) == 1


def test_failing_at_the_same_place_is_given_up(
    server: Registry, options: Made, reference: Reference, slept: list[float]
) -> None:
    server.faults.append(
        lambda a: BROKEN if a.method == "PATCH" and a.headers["content-range"].startswith("1000-") else None
    )
    with pytest.raises(Unreachable, match="closed the connection"):
        push_image(single(DATA), reference, options(chunk_size=1000))
    assert slept == [1, 2, 4, 8]


def test_starting_again_and_again_is_given_up(server: Registry, options: Made, reference: Reference) -> None:
    def forgetful(asked: Asked) -> Reply | None:
        if asked.method == "PATCH" and asked.headers["content-range"].startswith("1000-"):
            server.uploads.clear()
        return None

    server.faults.append(forgetful)
    with pytest.raises(Unreachable, match="404"):
        push_image(single(DATA), reference, options(chunk_size=1000))
    assert len(patched(server)) == 2 * 5


def test_who_gets_further_each_time_is_not_given_up(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.fail("PATCH", "uploads", *[None, BROKEN] * 35)
    push_image(single(DATA), reference, options(chunk_size=100))
    assert stored(server) == DATA


def test_the_end_of_an_upload_that_is_lost_is_asked_for_again(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.fail("PUT", "uploads", None, BROKEN)
    push_image(single(DATA), reference, options(chunk_size=1000))
    assert stored(server) == DATA


def test_a_blob_whose_last_answer_was_lost_is_not_sent_again(
    server: Registry, options: Made, reference: Reference
) -> None:
    def losing(asked: Asked) -> Reply | None:
        if (
            asked.method == "PUT"
            and "/uploads/" in asked.path
            and asked.query["digest"] == layer_of(image).digest
        ):
            server.faults.clear()
            server._put_uploads(asked, "team/catalog", asked.path.rpartition("/")[2])
            return BROKEN
        return None

    image = single(DATA)
    server.faults.append(losing)
    push_image(image, reference, options(chunk_size=1000))
    assert len(patched(server)) == 4


@pytest.mark.parametrize(("asked", "pauses"), [("7", [7]), ("3600", [])])
def test_an_upload_waits_as_long_as_it_is_asked_to(
    server: Registry, options: Made, reference: Reference, slept: list[float], asked: str, pauses: list[float]
) -> None:
    server.fail("PATCH", "uploads", None, Reply(429, b"", {"Retry-After": asked}))
    if pauses:
        push_image(single(DATA), reference, options(chunk_size=1000))
    else:
        with pytest.raises(Unreachable, match="too many requests"):
            push_image(single(DATA), reference, options(chunk_size=1000))
    assert slept == pauses


def test_chunks_beyond_all_size_become_a_stream(
    server: Registry, options: Made, reference: Reference
) -> None:
    def demanding(asked: Asked) -> Reply | None:
        if asked.method != "POST":
            return None
        started = server._post_uploads(asked, "team/catalog", "")
        return Reply(202, b"", {**started.headers, "OCI-Chunk-Min-Length": str(1 << 30)})

    server.faults.append(demanding)
    push_image(single(DATA), reference, options(chunk_size=1000))
    assert patched(server) == []
    assert stored(server) == DATA


def test_a_registry_that_does_not_say_where_to_is_told(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.fail("POST", "uploads", Reply(202))
    with pytest.raises(Unreachable, match="without a Location header"):
        push_image(single(DATA), reference, options())
