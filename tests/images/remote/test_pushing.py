"""Sending images: what is sent, in which order, and what is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from everpath.errors import Unreachable, UnreadableInput, UsageError
from everpath.oci.blobs import MemoryBlobs
from everpath.oci.descriptors import Descriptor, Image
from everpath.oci.manifests import push_order
from everpath.oci.references import Reference
from everpath.oci.registry import ClientOptions, TransferProgress, push_image
from registry_server import Asked, Registry, Reply
from small_images import index, layer_of, single

Made = Callable[..., ClientOptions]


def test_an_image_arrives_whole(server: Registry, options: Made, reference: Reference) -> None:
    image = index("amd64", "arm64")
    assert push_image(image, reference, options()) == image.root
    stored = {*server.blobs["team/catalog"], *server.manifests["team/catalog"]}
    assert {each.digest for each in push_order(image)} <= stored
    assert server.tag("team/catalog", "v1") is not None


def test_blobs_come_before_manifests_and_the_tag_comes_last(
    server: Registry, options: Made, reference: Reference
) -> None:
    push_image(index("amd64", "arm64"), reference, options())
    puts = server.said("PUT")
    kinds = ["blob" if "/blobs/" in path else "manifest" for path in puts]
    assert kinds == ["blob"] * 3 + ["manifest"] * 3
    assert puts[-1].endswith("/manifests/v1")
    assert all("sha256:" in path for path in puts[3:-1])


def test_a_second_push_sends_nothing(server: Registry, options: Made, reference: Reference) -> None:
    image = index("amd64", "arm64")
    push_image(image, reference, options())
    server.asked.clear()
    steps: list[TransferProgress] = []
    push_image(image, reference, options(), steps.append)
    assert {asked.method for asked in server.asked} == {"HEAD"}
    assert {step.state for step in steps} == {"exists"}


def test_another_image_of_the_same_tag_takes_its_place(
    server: Registry, options: Made, reference: Reference
) -> None:
    push_image(single(b"old"), reference, options())
    new = single(b"new")
    push_image(new, reference, options())
    assert server.manifests["team/catalog"]["v1"] == server.manifests["team/catalog"][new.root.digest]


def test_a_blob_of_another_repository_is_mounted(
    server: Registry, options: Made, reference: Reference
) -> None:
    image = single(b"layer")
    push_image(image, Reference(reference.registry, "team/base", "v1"), options())
    server.asked.clear()
    steps: list[TransferProgress] = []
    push_image(image, reference, options(mount_from=("team/none", "team/base")), steps.append)
    assert [step.state for step in steps] == ["mounted", "mounted", "sent"]
    assert [path for path in server.said("PUT") if "/blobs/" in path] == []


def test_a_registry_that_does_not_mount_gets_the_bytes(
    server: Registry, options: Made, reference: Reference
) -> None:
    push_image(single(b"layer"), Reference(reference.registry, "team/base", "v1"), options())
    server.mounts = False
    push_image(single(b"layer"), reference, options(mount_from=("team/base",)))
    assert server.tag("team/catalog", "v1") is not None
    # The upload that was started instead of the mount is the one that is used.
    posts = [asked for asked in server.asked if asked.method == "POST" and "team/catalog" in asked.path]
    assert len(posts) == 2


def test_a_registry_that_refuses_to_talk_of_mounts_gets_the_bytes(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.faults.append(lambda asked: Reply(405) if asked.query.get("mount") else None)
    push_image(single(b"layer"), reference, options(mount_from=("team/base",)))
    assert server.tag("team/catalog", "v1") is not None


def test_a_push_that_breaks_off_leaves_no_tag(server: Registry, options: Made, reference: Reference) -> None:
    server.faults.append(
        lambda asked: Reply(500) if asked.method == "PUT" and "manifests/v1" in asked.path else None
    )
    with pytest.raises(Unreachable, match="server error"):
        push_image(single(b"layer"), reference, options())
    assert server.tag("team/catalog", "v1") is None
    server.faults.clear()
    steps: list[TransferProgress] = []
    push_image(single(b"layer"), reference, options(), steps.append)
    assert [step.state for step in steps] == ["exists", "exists", "sent"]


def test_a_digest_that_is_not_the_images_is_refused_before_anything_is_sent(
    server: Registry, options: Made, reference: Reference
) -> None:
    wrong = Reference(reference.registry, "team/catalog", None, "sha256:" + "0" * 64)
    with pytest.raises(UsageError, match="the image is sha256:"):
        push_image(single(), wrong, options())
    assert server.asked == []


def test_an_image_can_be_pushed_by_its_digest_alone(
    server: Registry, options: Made, reference: Reference
) -> None:
    image = single()
    push_image(image, Reference(reference.registry, "team/catalog", None, image.root.digest), options())
    assert list(server.manifests["team/catalog"]) == [image.root.digest]


@pytest.mark.parametrize("size", [5, 5000])
def test_a_damaged_blob_is_not_sent(server: Registry, options: Made, reference: Reference, size: int) -> None:
    image = single(b"x" * size)
    damaged = Image(image.root, _Damaged(image.blobs, layer_of(image)))  # type: ignore[arg-type]
    with pytest.raises(UnreadableInput, match="is damaged"):
        push_image(damaged, reference, options(chunk_size=1000))
    assert server.tag("team/catalog", "v1") is None
    assert layer_of(image).digest not in server.blobs["team/catalog"]


class _Damaged(MemoryBlobs):
    def __init__(self, fallback: MemoryBlobs, layer: Descriptor) -> None:
        super().__init__(fallback)
        self._data[layer.digest] = b"y" * layer.size


def test_a_registry_that_stores_something_else_is_told(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.fail("PUT", "manifests", Reply(201, b"", {"Docker-Content-Digest": "sha256:" + "1" * 64}))
    with pytest.raises(Unreachable, match="stored sha256:1111"):
        push_image(single(), reference, options())


def test_a_web_page_where_a_blob_should_be_is_no_blob(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.faults.append(lambda _: Reply(200, b"<html>", {"Content-Type": "text/html"}))
    with pytest.raises(Unreachable, match="web page"):
        push_image(single(), reference, options())


def test_a_truncated_copy_of_a_blob_is_sent_again(
    server: Registry, options: Made, reference: Reference
) -> None:
    image = single(b"a whole layer")
    push_image(image, reference, options())
    server.blobs["team/catalog"][layer_of(image).digest] = b"a whole"
    steps: list[TransferProgress] = []
    push_image(image, reference, options(), steps.append)
    assert [step.state for step in steps] == ["exists", "sent", "exists"]
    assert server.blobs["team/catalog"][layer_of(image).digest] == b"a whole layer"


def test_a_truncated_copy_is_not_mounted_from_another_repository(
    server: Registry, options: Made, reference: Reference
) -> None:
    image = single(b"a whole layer")
    for repository in ("team/base", "team/catalog"):
        push_image(image, Reference(reference.registry, repository, "v1"), options())
        server.blobs[repository][layer_of(image).digest] = b"a whole"
    push_image(image, reference, options(mount_from=("team/base",)))
    assert server.blobs["team/catalog"][layer_of(image).digest] == b"a whole layer"


def test_a_registry_that_keeps_its_truncated_copy_is_told(
    server: Registry, options: Made, reference: Reference
) -> None:
    image = single(b"a whole layer")
    name = layer_of(image).digest
    server.faults.append(
        lambda asked: Reply(200, b"a whole") if asked.method == "HEAD" and name in asked.path else None
    )
    with pytest.raises(Unreachable, match=f"has a damaged copy of {name}"):
        push_image(image, reference, options())
    assert server.tag("team/catalog", "v1") is None


def test_a_blob_by_another_digest_is_no_copy(server: Registry, options: Made, reference: Reference) -> None:
    image = single(b"layer")
    push_image(image, reference, options())
    other = Reply(200, b"layer", {"Docker-Content-Digest": "sha256:" + "1" * 64})
    server.fail("HEAD", layer_of(image).digest, other)
    steps: list[TransferProgress] = []
    push_image(image, reference, options(), steps.append)
    assert [step.state for step in steps] == ["exists", "sent", "exists"]


def test_a_truncated_manifest_is_sent_again(server: Registry, options: Made, reference: Reference) -> None:
    image = single(b"layer")
    push_image(image, reference, options())
    cut = Reply(200, b"{", {"Docker-Content-Digest": image.root.digest})
    server.fail("HEAD", "manifests/v1", cut)
    push_image(image, reference, options())
    assert len([path for path in server.said("PUT") if "manifests/v1" in path]) == 2


@pytest.mark.parametrize("body", [b"{}", b""])
def test_a_server_that_says_yes_to_everything_is_no_registry(
    server: Registry, options: Made, reference: Reference, body: bytes
) -> None:
    def yes(asked: Asked) -> Reply:
        if asked.method == "POST":
            return Reply(202, b"", {"Location": "/somewhere"})
        return Reply(201 if asked.path == "/somewhere" else 200, body)

    server.faults.append(yes)
    with pytest.raises(Unreachable):
        push_image(single(b"layer"), reference, options())


@pytest.mark.parametrize("status", [200, 202])
def test_a_manifest_that_is_taken_without_a_receipt_is_asked_for(
    server: Registry, options: Made, reference: Reference, status: int
) -> None:
    server.fail("PUT", "manifests/v1", Reply(status))
    image = single(b"layer")
    with pytest.raises(Unreachable, match="return v1 of"):
        push_image(image, reference, options())
    push_image(image, reference, options())
    server.fail("HEAD", "manifests/v1", Reply(404))
    server.fail("PUT", "manifests/v1", Reply(status))
    push_image(image, reference, options())


def test_a_manifest_that_comes_back_as_another_is_told(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.fail("PUT", "manifests/v1", Reply(200))
    server.fail("GET", "manifests/v1", Reply(200, b"{}"))
    with pytest.raises(Unreachable, match="returns something else"):
        push_image(single(b"layer"), reference, options())
