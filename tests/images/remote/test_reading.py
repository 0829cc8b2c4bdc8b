"""Images read from a registry: nothing is believed that does not hash to its digest."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from everpath.errors import Unreachable, UnreadableInput
from everpath.oci.blobs import digest_of
from everpath.oci.descriptors import Image
from everpath.oci.manifests import push_order
from everpath.oci.references import Reference
from everpath.oci.registry import ClientOptions, push_image, resolve_image
from registry_server import Asked, Registry, Reply
from small_images import index, layer_of, single

Made = Callable[..., ClientOptions]


def read(image: Image) -> dict[str, bytes]:
    found = {}
    for descriptor in push_order(image):
        with image.blobs.open(descriptor) as stream:
            found[descriptor.digest] = stream.read()
    return found


def test_what_was_pushed_is_read_back(options: Made, reference: Reference) -> None:
    image = index("amd64", "arm64")
    push_image(image, reference, options())
    got = resolve_image(reference, options())
    assert got.root == image.root
    assert read(got) == read(image)


def test_an_image_is_found_by_its_digest(options: Made, reference: Reference) -> None:
    image = single()
    push_image(image, reference, options())
    by_digest = Reference(reference.registry, reference.repository, None, image.root.digest)
    assert resolve_image(by_digest, options()).root == image.root


def test_a_digest_wins_over_a_tag(options: Made, reference: Reference) -> None:
    old = single(b"old")
    push_image(old, reference, options())
    push_image(single(b"new"), reference, options())
    both = Reference(reference.registry, reference.repository, "v1", old.root.digest)
    assert resolve_image(both, options()).root == old.root


def test_a_manifest_is_asked_for_once(server: Registry, options: Made, reference: Reference) -> None:
    push_image(single(), reference, options())
    server.asked.clear()
    got = resolve_image(reference, options())
    read(got)
    read(got)
    assert len([path for path in server.said("GET") if "/manifests/" in path]) == 1


def test_a_manifest_other_than_the_digest_is_refused(
    server: Registry, options: Made, reference: Reference
) -> None:
    image = single()
    push_image(image, reference, options())
    other = server.manifests["team/catalog"]["v1"]
    wanted = "sha256:" + "0" * 64
    server.manifests["team/catalog"][wanted] = other
    with pytest.raises(UnreadableInput, match=r"but sha256:0+ was requested"):
        resolve_image(Reference(reference.registry, "team/catalog", None, wanted), options())


def test_a_manifest_other_than_the_registry_says_is_refused(
    server: Registry, options: Made, reference: Reference
) -> None:
    push_image(single(), reference, options())
    kind, data = server.manifests["team/catalog"]["v1"]
    headers = {"Content-Type": kind, "Docker-Content-Digest": "sha256:" + "1" * 64}
    server.faults.append(lambda _: Reply(200, data, headers))
    with pytest.raises(UnreadableInput, match=r"but sha256:1+ is stated by the registry"):
        resolve_image(reference, options())


def test_a_blob_with_other_bytes_is_refused(server: Registry, options: Made, reference: Reference) -> None:
    image = single(b"layer")
    push_image(image, reference, options())
    server.blobs["team/catalog"][layer_of(image).digest] = b"LAYER"
    got = resolve_image(reference, options())
    with (
        got.blobs.open(layer_of(image)) as stream,
        pytest.raises(UnreadableInput, match="wrong content"),
    ):
        stream.read()


@pytest.mark.parametrize("data", [b"lay", b"layer and more"])
def test_a_blob_of_another_length_is_refused(
    server: Registry, options: Made, reference: Reference, data: bytes
) -> None:
    image = single(b"layer")
    push_image(image, reference, options())
    server.blobs["team/catalog"][layer_of(image).digest] = data
    got = resolve_image(reference, options())
    with (
        got.blobs.open(layer_of(image)) as stream,
        pytest.raises(UnreadableInput, match="instead of 5 bytes"),
    ):
        stream.read()


def test_the_check_needs_nobody_to_read_past_the_end(
    server: Registry, options: Made, reference: Reference
) -> None:
    image = single(b"layer")
    push_image(image, reference, options())
    server.blobs["team/catalog"][layer_of(image).digest] = b"LAYER"
    with (
        resolve_image(reference, options()).blobs.open(layer_of(image)) as stream,
        pytest.raises(UnreadableInput),
    ):
        stream.read(5)


def test_a_blob_that_breaks_off_is_read_on_from_there(
    server: Registry, options: Made, reference: Reference, slept: list[float]
) -> None:
    data = bytes(range(256)) * 1000
    image = single(data)
    push_image(image, reference, options())
    cuts = [100_000, 90_000]

    def cutting(asked: Asked) -> Reply | None:
        if "/blobs/" not in asked.path or not cuts:
            return None
        whole = server._get_blobs(asked, "team/catalog", layer_of(image).digest)
        return Reply(whole.status, whole.body, cut=cuts.pop(0))

    server.asked.clear()
    server.faults.append(cutting)
    with resolve_image(reference, options()).blobs.open(layer_of(image)) as stream:
        assert stream.read() == data
    ranges = [asked.headers.get("range") for asked in server.asked if "/blobs/" in asked.path]
    assert len(ranges) == 3
    assert ranges[0] is None
    assert len(slept) == 2


def test_a_registry_without_ranges_gives_it_all_again(
    server: Registry, options: Made, reference: Reference
) -> None:
    data = bytes(range(256)) * 1000
    image = single(data)
    push_image(image, reference, options())
    server.fail("GET", "blobs", Reply(200, data, cut=100_000), Reply(200, data))
    with resolve_image(reference, options()).blobs.open(layer_of(image)) as stream:
        assert stream.read() == data


def test_a_blob_that_always_breaks_off_is_given_up(
    server: Registry, options: Made, reference: Reference
) -> None:
    image = single(b"layer")
    push_image(image, reference, options())
    server.faults.append(lambda asked: Reply(200, b"layer", cut=0) if "/blobs/" in asked.path else None)
    got = resolve_image(reference, options())
    with got.blobs.open(layer_of(image)) as stream, pytest.raises(Unreachable, match="5 bytes early"):
        stream.read()


def test_a_manifest_that_breaks_off_is_asked_for_again(
    server: Registry, options: Made, reference: Reference
) -> None:
    image = single()
    push_image(image, reference, options())
    kind, data = server.manifests["team/catalog"]["v1"]
    server.fail("GET", "manifests", Reply(200, data, {"Content-Type": kind}, cut=10))
    assert resolve_image(reference, options()).root == image.root


def test_a_manifest_beyond_all_size_is_refused(server: Registry, options: Made, reference: Reference) -> None:
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
def test_what_is_no_manifest_is_refused(
    server: Registry, options: Made, reference: Reference, body: bytes
) -> None:
    server.faults.append(lambda _: Reply(200, body, {"Content-Type": "application/json"}))
    with pytest.raises(UnreadableInput, match="team/catalog:v1"):
        resolve_image(reference, options())


@pytest.mark.parametrize("key", ["mediaType", None])
def test_a_manifest_without_a_media_type_goes_by_its_header_and_then_by_its_shape(
    server: Registry, options: Made, reference: Reference, key: str | None
) -> None:
    image = index("amd64")
    push_image(image, reference, options())
    _, data = server.manifests["team/catalog"]["v1"]
    bare = json.dumps({k: v for k, v in json.loads(data).items() if k != "mediaType"}).encode()
    headers = {"Content-Type": image.root.media_type if key else "application/json"}
    server.faults.append(lambda asked: Reply(200, bare, headers) if "manifests/v1" in asked.path else None)
    root = resolve_image(reference, options()).root
    assert root.is_index
    assert root.digest == digest_of(bare)


def test_a_web_page_is_no_image(server: Registry, options: Made, reference: Reference) -> None:
    server.faults.append(lambda _: Reply(200, b"<!DOCTYPE html><title>Log in</title>"))
    with pytest.raises(Unreachable, match="responds with a web page"):
        resolve_image(reference, options())


def test_a_web_page_is_no_blob(server: Registry, options: Made, reference: Reference) -> None:
    image = single()
    push_image(image, reference, options())

    def page(asked: Asked) -> Reply | None:
        return Reply(200, b"<html>", {"Content-Type": "text/html"}) if "/blobs/" in asked.path else None

    server.faults.append(page)
    with pytest.raises(Unreachable, match="web page"):
        resolve_image(reference, options()).blobs.open(layer_of(image))
