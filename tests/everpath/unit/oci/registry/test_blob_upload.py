"""Upload of blobs in chunks, and its resumption."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from everpath.errors import Unreachable
from everpath.oci.references import Reference
from everpath.oci.registry import RegistryOptions, TransferProgress, push_image
from tests.support.everpath.registry_server import FakeRegistry, ReceivedRequest, Reply
from tests.support.everpath.small_images import last_layer, small_image

OptionsFactory = Callable[..., RegistryOptions]
DATA = os.urandom(3500)
BROKEN = Reply(0)


def patch_ranges(server: FakeRegistry) -> list[str]:
    return [a.headers["content-range"] for a in server.requests if a.method == "PATCH"]


def stored_layer(server: FakeRegistry) -> bytes | None:
    return server.blobs["team/catalog"].get(last_layer(small_image(DATA)).digest)


def test_large_blob_is_sent_in_chunks(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    steps: list[TransferProgress] = []
    push_image(small_image(DATA), reference, options(chunk_size=1000), steps.append)
    assert patch_ranges(server) == ["0-999", "1000-1999", "2000-2999", "3000-3499"]
    assert [step.transferred for step in steps if step.state == "sending"] == [1000, 2000, 3000, 3500]
    assert stored_layer(server) == DATA


def test_small_blob_is_sent_in_one_request(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    push_image(small_image(DATA), reference, options(chunk_size=3500))
    assert patch_ranges(server) == []
    assert stored_layer(server) == DATA


def test_minimum_chunk_length_is_respected(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    def require_large_chunks(request: ReceivedRequest) -> Reply | None:
        if request.method != "POST":
            return None
        started = server._post_uploads(request, "team/catalog", "")
        return Reply(202, b"", {**started.headers, "OCI-Chunk-Min-Length": "2000"})

    server.faults.append(require_large_chunks)
    push_image(small_image(DATA), reference, options(chunk_size=1000))
    assert patch_ranges(server) == ["0-1999", "2000-3499"]


def test_upload_resumes_after_dropped_connection(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, sleeps: list[float]
) -> None:
    server.fail_next("PATCH", "uploads", None, BROKEN)
    push_image(small_image(DATA), reference, options(chunk_size=1000))
    assert patch_ranges(server) == ["0-999", "1000-1999", "1000-1999", "2000-2999", "3000-3499"]
    assert stored_layer(server) == DATA
    assert len(sleeps) == 1


def test_chunk_with_lost_response_is_not_sent_again(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    lost = [True]

    def lose_response(request: ReceivedRequest) -> Reply | None:
        if request.method == "PATCH" and request.headers["content-range"].startswith("1000-") and lost.pop():
            lost.append(False)
            server._patch_uploads(request, "team/catalog", request.path.rpartition("/")[2])
            return BROKEN
        return None

    server.faults.append(lose_response)
    push_image(small_image(DATA), reference, options(chunk_size=1000))
    assert patch_ranges(server) == ["0-999", "1000-1999", "2000-2999", "3000-3499"]
    assert stored_layer(server) == DATA


def test_unknown_upload_is_restarted(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    def forget_upload(request: ReceivedRequest) -> Reply | None:
        if request.method == "PATCH" and request.headers["content-range"].startswith("2000-"):
            server.faults.clear()
            server.uploads.clear()
        return None

    server.faults.append(forget_upload)
    push_image(small_image(DATA), reference, options(chunk_size=1000))
    assert patch_ranges(server)[2:5] == ["2000-2999", "0-999", "1000-1999"]
    assert stored_layer(server) == DATA


def test_offset_is_requested_after_416(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.fail_next("PATCH", "uploads", None, Reply(416))
    push_image(small_image(DATA), reference, options(chunk_size=1000))
    assert stored_layer(server) == DATA


@pytest.mark.parametrize("status", [400, 405, 413, 416, 501])
def test_blob_is_sent_whole_if_chunks_are_not_supported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, status: int
) -> None:
    server.faults.append(lambda request: Reply(status) if request.method == "PATCH" else None)
    push_image(small_image(DATA), reference, options(chunk_size=1000))
    assert stored_layer(server) == DATA
    assert len(patch_ranges(server)) == 1


def test_repeated_failure_at_one_offset_ends_upload(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, sleeps: list[float]
) -> None:
    server.faults.append(
        lambda a: BROKEN if a.method == "PATCH" and a.headers["content-range"].startswith("1000-") else None
    )
    with pytest.raises(Unreachable, match="closed the connection"):
        push_image(small_image(DATA), reference, options(chunk_size=1000))
    assert sleeps == [1, 2, 4, 8]


def test_repeated_restarts_end_upload(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    def forget_upload(request: ReceivedRequest) -> Reply | None:
        if request.method == "PATCH" and request.headers["content-range"].startswith("1000-"):
            server.uploads.clear()
        return None

    server.faults.append(forget_upload)
    with pytest.raises(Unreachable, match="404"):
        push_image(small_image(DATA), reference, options(chunk_size=1000))
    assert len(patch_ranges(server)) == 2 * 5


def test_upload_with_progress_is_not_given_up(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.fail_next("PATCH", "uploads", *[None, BROKEN] * 35)
    push_image(small_image(DATA), reference, options(chunk_size=100))
    assert stored_layer(server) == DATA


def test_lost_last_request_is_sent_again(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.fail_next("PUT", "uploads", None, BROKEN)
    push_image(small_image(DATA), reference, options(chunk_size=1000))
    assert stored_layer(server) == DATA


def test_stored_blob_with_lost_response_is_not_sent_again(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    def lose_response(request: ReceivedRequest) -> Reply | None:
        if (
            request.method == "PUT"
            and "/uploads/" in request.path
            and request.query["digest"] == last_layer(image).digest
        ):
            server.faults.clear()
            server._put_uploads(request, "team/catalog", request.path.rpartition("/")[2])
            return BROKEN
        return None

    image = small_image(DATA)
    server.faults.append(lose_response)
    push_image(image, reference, options(chunk_size=1000))
    assert len(patch_ranges(server)) == 4


@pytest.mark.parametrize(("header", "delays"), [("7", [7]), ("3600", [])])
def test_upload_respects_retry_after(
    server: FakeRegistry,
    options: OptionsFactory,
    reference: Reference,
    sleeps: list[float],
    header: str,
    delays: list[float],
) -> None:
    server.fail_next("PATCH", "uploads", None, Reply(429, b"", {"Retry-After": header}))
    if delays:
        push_image(small_image(DATA), reference, options(chunk_size=1000))
    else:
        with pytest.raises(Unreachable, match="too many requests"):
            push_image(small_image(DATA), reference, options(chunk_size=1000))
    assert sleeps == delays


def test_blob_is_streamed_if_minimum_chunk_is_too_large(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    def require_large_chunks(request: ReceivedRequest) -> Reply | None:
        if request.method != "POST":
            return None
        started = server._post_uploads(request, "team/catalog", "")
        return Reply(202, b"", {**started.headers, "OCI-Chunk-Min-Length": str(1 << 30)})

    server.faults.append(require_large_chunks)
    push_image(small_image(DATA), reference, options(chunk_size=1000))
    assert patch_ranges(server) == []
    assert stored_layer(server) == DATA


def test_upload_without_location_is_reported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.fail_next("POST", "uploads", Reply(202))
    with pytest.raises(Unreachable, match="without a Location header"):
        push_image(small_image(DATA), reference, options())
