"""Images read from a registry, with verification of digests."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from everpath.errors import Unreachable, UnreadableInput
from everpath.oci.blobs import digest_of
from everpath.oci.descriptors import Image
from everpath.oci.manifests import push_order
from everpath.oci.references import Reference
from everpath.oci.registry import RegistryOptions, push_image, resolve_image
from tests.support.everpath.registry_server import FakeRegistry, ReceivedRequest, Reply
from tests.support.everpath.small_images import last_layer, small_image, small_index

OptionsFactory = Callable[..., RegistryOptions]


def read(image: Image) -> dict[str, bytes]:
    found = {}
    for descriptor in push_order(image):
        with image.blobs.open(descriptor) as stream:
            found[descriptor.digest] = stream.read()
    return found


def test_pushed_image_is_read_back(options: OptionsFactory, reference: Reference) -> None:
    image = small_index("amd64", "arm64")
    push_image(image, reference, options())
    resolved = resolve_image(reference, options())
    assert resolved.root == image.root
    assert read(resolved) == read(image)


def test_image_is_resolved_by_digest(options: OptionsFactory, reference: Reference) -> None:
    image = small_image()
    push_image(image, reference, options())
    by_digest = Reference(reference.registry, reference.repository, None, image.root.digest)
    assert resolve_image(by_digest, options()).root == image.root


def test_digest_wins_over_tag(options: OptionsFactory, reference: Reference) -> None:
    old = small_image(b"old")
    push_image(old, reference, options())
    push_image(small_image(b"new"), reference, options())
    both = Reference(reference.registry, reference.repository, "v1", old.root.digest)
    assert resolve_image(both, options()).root == old.root


def test_manifest_is_requested_once(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    push_image(small_image(), reference, options())
    server.requests.clear()
    resolved = resolve_image(reference, options())
    read(resolved)
    read(resolved)
    assert len([path for path in server.paths("GET") if "/manifests/" in path]) == 1


def test_manifest_with_other_digest_than_requested_is_rejected(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image()
    push_image(image, reference, options())
    other = server.manifests["team/catalog"]["v1"]
    wanted = "sha256:" + "0" * 64
    server.manifests["team/catalog"][wanted] = other
    with pytest.raises(UnreadableInput, match=r"but sha256:0+ was requested"):
        resolve_image(Reference(reference.registry, "team/catalog", None, wanted), options())


def test_manifest_with_other_digest_than_header_is_rejected(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    push_image(small_image(), reference, options())
    kind, data = server.manifests["team/catalog"]["v1"]
    headers = {"Content-Type": kind, "Docker-Content-Digest": "sha256:" + "1" * 64}
    server.faults.append(lambda _: Reply(200, data, headers))
    with pytest.raises(UnreadableInput, match=r"but sha256:1+ is stated by the registry"):
        resolve_image(reference, options())


def test_blob_with_wrong_digest_is_rejected(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image(b"layer")
    push_image(image, reference, options())
    server.blobs["team/catalog"][last_layer(image).digest] = b"LAYER"
    resolved = resolve_image(reference, options())
    with (
        resolved.blobs.open(last_layer(image)) as stream,
        pytest.raises(UnreadableInput, match="wrong content"),
    ):
        stream.read()


@pytest.mark.parametrize("data", [b"lay", b"layer and more"])
def test_blob_with_wrong_size_is_rejected(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, data: bytes
) -> None:
    image = small_image(b"layer")
    push_image(image, reference, options())
    server.blobs["team/catalog"][last_layer(image).digest] = data
    resolved = resolve_image(reference, options())
    with (
        resolved.blobs.open(last_layer(image)) as stream,
        pytest.raises(UnreadableInput, match="instead of 5 bytes"),
    ):
        stream.read()


def test_digest_is_checked_without_reading_past_the_end(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image(b"layer")
    push_image(image, reference, options())
    server.blobs["team/catalog"][last_layer(image).digest] = b"LAYER"
    with (
        resolve_image(reference, options()).blobs.open(last_layer(image)) as stream,
        pytest.raises(UnreadableInput),
    ):
        stream.read(5)


def test_download_resumes_after_dropped_connection(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, sleeps: list[float]
) -> None:
    data = bytes(range(256)) * 1000
    image = small_image(data)
    push_image(image, reference, options())
    cuts = [100_000, 90_000]

    def cut_connection(request: ReceivedRequest) -> Reply | None:
        if "/blobs/" not in request.path or not cuts:
            return None
        whole = server._get_blobs(request, "team/catalog", last_layer(image).digest)
        return Reply(whole.status, whole.body, cut=cuts.pop(0))

    server.requests.clear()
    server.faults.append(cut_connection)
    with resolve_image(reference, options()).blobs.open(last_layer(image)) as stream:
        assert stream.read() == data
    ranges = [request.headers.get("range") for request in server.requests if "/blobs/" in request.path]
    assert len(ranges) == 3
    assert ranges[0] is None
    assert len(sleeps) == 2


def test_download_restarts_if_ranges_are_not_supported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    data = bytes(range(256)) * 1000
    image = small_image(data)
    push_image(image, reference, options())
    server.fail_next("GET", "blobs", Reply(200, data, cut=100_000), Reply(200, data))
    with resolve_image(reference, options()).blobs.open(last_layer(image)) as stream:
        assert stream.read() == data


def test_download_ends_after_repeated_failures(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image(b"layer")
    push_image(image, reference, options())
    server.faults.append(lambda request: Reply(200, b"layer", cut=0) if "/blobs/" in request.path else None)
    resolved = resolve_image(reference, options())
    with resolved.blobs.open(last_layer(image)) as stream, pytest.raises(Unreachable, match="5 bytes early"):
        stream.read()


def test_truncated_manifest_is_requested_again(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image()
    push_image(image, reference, options())
    kind, data = server.manifests["team/catalog"]["v1"]
    server.fail_next("GET", "manifests", Reply(200, data, {"Content-Type": kind}, cut=10))
    assert resolve_image(reference, options()).root == image.root


def test_oversized_manifest_is_rejected(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.faults.append(lambda _: Reply(200, b" " * (4 << 20) + b"{}"))
    with pytest.raises(UnreadableInput, match="more than 4 MiB"):
        resolve_image(reference, options())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b"[" * 100_000,
        b'{"schemaVersion": 1, "fsLayers": []}',
        b'{"layers": []}',
        b'{"layers": 3}',
    ],
)
def test_invalid_manifest_of_registry_is_rejected(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, body: bytes
) -> None:
    server.faults.append(lambda _: Reply(200, body, {"Content-Type": "application/json"}))
    with pytest.raises(UnreadableInput, match="team/catalog:v1"):
        resolve_image(reference, options())


@pytest.mark.parametrize("key", ["mediaType", None])
def test_media_type_comes_from_header_or_structure(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, key: str | None
) -> None:
    image = small_index("amd64")
    push_image(image, reference, options())
    _, data = server.manifests["team/catalog"]["v1"]
    bare = json.dumps({k: v for k, v in json.loads(data).items() if k != "mediaType"}).encode()
    headers = {"Content-Type": image.root.media_type if key else "application/json"}
    server.faults.append(
        lambda request: Reply(200, bare, headers) if "manifests/v1" in request.path else None
    )
    root = resolve_image(reference, options()).root
    assert root.is_index
    assert root.digest == digest_of(bare)


def test_web_page_is_not_an_image(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.faults.append(lambda _: Reply(200, b"<!DOCTYPE html><title>Log in</title>"))
    with pytest.raises(Unreachable, match="responds with a web page"):
        resolve_image(reference, options())


def test_web_page_is_not_a_blob(server: FakeRegistry, options: OptionsFactory, reference: Reference) -> None:
    image = small_image()
    push_image(image, reference, options())

    def page(request: ReceivedRequest) -> Reply | None:
        return Reply(200, b"<html>", {"Content-Type": "text/html"}) if "/blobs/" in request.path else None

    server.faults.append(page)
    with pytest.raises(Unreachable, match="web page"):
        resolve_image(reference, options()).blobs.open(last_layer(image))
