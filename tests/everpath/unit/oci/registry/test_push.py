"""Push of images: what is sent, and in which order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from everpath.errors import Unreachable, UnreadableInput, UsageError
from everpath.oci.blobs import MemoryBlobs
from everpath.oci.descriptors import Descriptor, Image
from everpath.oci.manifests import push_order
from everpath.oci.references import Reference
from everpath.oci.registry import RegistryOptions, TransferProgress, push_image
from tests.support.everpath.registry_server import FakeRegistry, ReceivedRequest, Reply
from tests.support.everpath.small_images import last_layer, small_image, small_index

OptionsFactory = Callable[..., RegistryOptions]


def test_push_stores_all_blobs_and_manifests(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_index("amd64", "arm64")
    assert push_image(image, reference, options()) == image.root
    stored = {*server.blobs["team/catalog"], *server.manifests["team/catalog"]}
    assert {each.digest for each in push_order(image)} <= stored
    assert server.tag("team/catalog", "v1") is not None


def test_push_sends_blobs_then_manifests_then_tag(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    push_image(small_index("amd64", "arm64"), reference, options())
    puts = server.paths("PUT")
    kinds = ["blob" if "/blobs/" in path else "manifest" for path in puts]
    assert kinds == ["blob"] * 3 + ["manifest"] * 3
    assert puts[-1].endswith("/manifests/v1")
    assert all("sha256:" in path for path in puts[3:-1])


def test_second_push_sends_nothing(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_index("amd64", "arm64")
    push_image(image, reference, options())
    server.requests.clear()
    steps: list[TransferProgress] = []
    push_image(image, reference, options(), steps.append)
    assert {request.method for request in server.requests} == {"HEAD"}
    assert {step.state for step in steps} == {"exists"}


def test_push_replaces_tag(server: FakeRegistry, options: OptionsFactory, reference: Reference) -> None:
    push_image(small_image(b"old"), reference, options())
    new = small_image(b"new")
    push_image(new, reference, options())
    assert server.manifests["team/catalog"]["v1"] == server.manifests["team/catalog"][new.root.digest]


def test_blob_of_other_repository_is_mounted(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image(b"layer")
    push_image(image, Reference(reference.registry, "team/base", "v1"), options())
    server.requests.clear()
    steps: list[TransferProgress] = []
    push_image(image, reference, options(mount_from=("team/none", "team/base")), steps.append)
    assert [step.state for step in steps] == ["mounted", "mounted", "sent"]
    assert [path for path in server.paths("PUT") if "/blobs/" in path] == []


def test_blob_is_sent_if_mount_starts_upload(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    push_image(small_image(b"layer"), Reference(reference.registry, "team/base", "v1"), options())
    server.mounts = False
    push_image(small_image(b"layer"), reference, options(mount_from=("team/base",)))
    assert server.tag("team/catalog", "v1") is not None
    # The upload that was started instead of the mount is the one that is used.
    posts = [
        request for request in server.requests if request.method == "POST" and "team/catalog" in request.path
    ]
    assert len(posts) == 2


def test_blob_is_sent_if_mount_is_refused(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.faults.append(lambda request: Reply(405) if request.query.get("mount") else None)
    push_image(small_image(b"layer"), reference, options(mount_from=("team/base",)))
    assert server.tag("team/catalog", "v1") is not None


def test_interrupted_push_leaves_no_tag(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.faults.append(
        lambda request: Reply(500) if request.method == "PUT" and "manifests/v1" in request.path else None
    )
    with pytest.raises(Unreachable, match="server error"):
        push_image(small_image(b"layer"), reference, options())
    assert server.tag("team/catalog", "v1") is None
    server.faults.clear()
    steps: list[TransferProgress] = []
    push_image(small_image(b"layer"), reference, options(), steps.append)
    assert [step.state for step in steps] == ["exists", "exists", "sent"]


def test_push_to_digest_of_other_image_is_rejected(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    wrong = Reference(reference.registry, "team/catalog", None, "sha256:" + "0" * 64)
    with pytest.raises(UsageError, match="the image is sha256:"):
        push_image(small_image(), wrong, options())
    assert server.requests == []


def test_push_by_digest(server: FakeRegistry, options: OptionsFactory, reference: Reference) -> None:
    image = small_image()
    push_image(image, Reference(reference.registry, "team/catalog", None, image.root.digest), options())
    assert list(server.manifests["team/catalog"]) == [image.root.digest]


@pytest.mark.parametrize("size", [5, 5000])
def test_damaged_blob_is_not_sent(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, size: int
) -> None:
    image = small_image(b"x" * size)
    damaged = Image(image.root, _Damaged(image.blobs, last_layer(image)))  # type: ignore[arg-type]
    with pytest.raises(UnreadableInput, match="is damaged"):
        push_image(damaged, reference, options(chunk_size=1000))
    assert server.tag("team/catalog", "v1") is None
    assert last_layer(image).digest not in server.blobs["team/catalog"]


class _Damaged(MemoryBlobs):
    def __init__(self, fallback: MemoryBlobs, layer: Descriptor) -> None:
        super().__init__(fallback)
        self._data[layer.digest] = b"y" * layer.size


def test_wrong_digest_of_stored_manifest_is_reported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.fail_next("PUT", "manifests", Reply(201, b"", {"Docker-Content-Digest": "sha256:" + "1" * 64}))
    with pytest.raises(Unreachable, match="stored sha256:1111"):
        push_image(small_image(), reference, options())


def test_web_page_is_not_an_existing_blob(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.faults.append(lambda _: Reply(200, b"<html>", {"Content-Type": "text/html"}))
    with pytest.raises(Unreachable, match="web page"):
        push_image(small_image(), reference, options())


def test_truncated_blob_is_sent_again(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image(b"a whole layer")
    push_image(image, reference, options())
    server.blobs["team/catalog"][last_layer(image).digest] = b"a whole"
    steps: list[TransferProgress] = []
    push_image(image, reference, options(), steps.append)
    assert [step.state for step in steps] == ["exists", "sent", "exists"]
    assert server.blobs["team/catalog"][last_layer(image).digest] == b"a whole layer"


def test_truncated_blob_is_not_mounted(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image(b"a whole layer")
    for repository in ("team/base", "team/catalog"):
        push_image(image, Reference(reference.registry, repository, "v1"), options())
        server.blobs[repository][last_layer(image).digest] = b"a whole"
    push_image(image, reference, options(mount_from=("team/base",)))
    assert server.blobs["team/catalog"][last_layer(image).digest] == b"a whole layer"


def test_registry_that_keeps_truncated_blob_is_reported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image(b"a whole layer")
    name = last_layer(image).digest
    server.faults.append(
        lambda request: Reply(200, b"a whole") if request.method == "HEAD" and name in request.path else None
    )
    with pytest.raises(Unreachable, match=f"has a damaged copy of {name}"):
        push_image(image, reference, options())
    assert server.tag("team/catalog", "v1") is None


def test_blob_with_other_digest_is_sent_again(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image(b"layer")
    push_image(image, reference, options())
    other = Reply(200, b"layer", {"Docker-Content-Digest": "sha256:" + "1" * 64})
    server.fail_next("HEAD", last_layer(image).digest, other)
    steps: list[TransferProgress] = []
    push_image(image, reference, options(), steps.append)
    assert [step.state for step in steps] == ["exists", "sent", "exists"]


def test_truncated_manifest_is_sent_again(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image(b"layer")
    push_image(image, reference, options())
    cut = Reply(200, b"{", {"Docker-Content-Digest": image.root.digest})
    server.fail_next("HEAD", "manifests/v1", cut)
    push_image(image, reference, options())
    assert len([path for path in server.paths("PUT") if "manifests/v1" in path]) == 2


@pytest.mark.parametrize("body", [b"{}", b""])
def test_server_that_accepts_everything_is_reported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, body: bytes
) -> None:
    def accept_everything(request: ReceivedRequest) -> Reply:
        if request.method == "POST":
            return Reply(202, b"", {"Location": "/somewhere"})
        return Reply(201 if request.path == "/somewhere" else 200, body)

    server.faults.append(accept_everything)
    with pytest.raises(Unreachable):
        push_image(small_image(b"layer"), reference, options())


@pytest.mark.parametrize("status", [200, 202])
def test_manifest_accepted_without_digest_is_read_back(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, status: int
) -> None:
    server.fail_next("PUT", "manifests/v1", Reply(status))
    image = small_image(b"layer")
    with pytest.raises(Unreachable, match="return v1 of"):
        push_image(image, reference, options())
    push_image(image, reference, options())
    server.fail_next("HEAD", "manifests/v1", Reply(404))
    server.fail_next("PUT", "manifests/v1", Reply(status))
    push_image(image, reference, options())


def test_manifest_that_reads_back_differently_is_reported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.fail_next("PUT", "manifests/v1", Reply(200))
    server.fail_next("GET", "manifests/v1", Reply(200, b"{}"))
    with pytest.raises(Unreachable, match="returns something else"):
        push_image(small_image(b"layer"), reference, options())
