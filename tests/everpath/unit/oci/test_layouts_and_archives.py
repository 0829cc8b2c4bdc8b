"""Layouts and archives: images round-trip, and a failed write changes nothing."""

from __future__ import annotations

import errno
import json
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from everpath.errors import UnreadableInput, UsageError
from everpath.oci.blobs import read_blob
from everpath.oci.build import ImageSpec, build_image
from everpath.oci.configs import load_labels
from everpath.oci.descriptors import Descriptor, Image, Platform
from everpath.oci.docker_archives import image_id, open_docker_archive, write_docker_archive
from everpath.oci.layouts import open_layout, write_layout
from everpath.oci.manifests import push_order
from everpath.oci.oci_archives import open_oci_archive, write_oci_archive
from everpath.oci.platforms import select_manifest
from everpath.oci.tar_writer import TarMember
from everpath.oci.unpack import unpack_image
from tests.support.everpath.image_samples import files_in

Write = Callable[..., None]
Open = Callable[..., Image]

KINDS: dict[str, tuple[Write, Open]] = {
    "oci": (write_layout, open_layout),
    "oci-archive": (write_oci_archive, open_oci_archive),
    "docker-archive": (write_docker_archive, open_docker_archive),
}
WHOLE = ("oci", "oci-archive")


def image_of(text: str, *platforms: Platform) -> Image:
    return build_image(
        ImageSpec([TarMember("configs/a.yaml", text.encode())], {"label": text}, platforms=platforms)
    )


@pytest.mark.parametrize("kind", WHOLE)
def test_written_blobs_can_be_read(kind: str, tmp_path: Path) -> None:
    write, opened = KINDS[kind]
    image = image_of("a")
    write(image, str(tmp_path / "x"), "v1")
    again = opened(str(tmp_path / "x"), "v1")
    assert again.root.digest == image.root.digest
    blobs = [descriptor.digest for descriptor in push_order(again)]
    assert blobs == [descriptor.digest for descriptor in push_order(image)]
    assert len(blobs) == 1 + 4 + 4 + 1  # a layer, four configs, four manifests, an index
    for descriptor in push_order(again):
        assert read_blob(again.blobs, descriptor) == read_blob(image.blobs, descriptor)


@pytest.mark.parametrize("kind", KINDS)
def test_written_files_can_be_unpacked(kind: str, tmp_path: Path) -> None:
    write, opened = KINDS[kind]
    write(image_of("a"), str(tmp_path / "x"), None)
    again = opened(str(tmp_path / "x"))
    assert load_labels(again, select_manifest(again)) == {"label": "a"}
    unpack_image(again, str(tmp_path / "out"))
    assert files_in(tmp_path / "out") == {"configs/a.yaml": b"a"}


@pytest.mark.parametrize("kind", ["oci-archive", "docker-archive"])
def test_archive_bytes_are_reproducible(kind: str, tmp_path: Path) -> None:
    write, _ = KINDS[kind]
    for name in ("x", "y"):
        write(image_of("a"), str(tmp_path / name), "op:v1")
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()


def test_layout_holds_several_images_by_tag(tmp_path: Path) -> None:
    old, new, other = image_of("old"), image_of("new"), image_of("other")
    for image, tag in ((old, "v1"), (other, "v2"), (new, "v1")):
        write_layout(image, str(tmp_path / "x"), tag)
    assert open_layout(str(tmp_path / "x"), "v1").root.digest == new.root.digest
    assert open_layout(str(tmp_path / "x"), "v2").root.digest == other.root.digest
    with pytest.raises(UnreadableInput) as refused:
        open_layout(str(tmp_path / "x"))
    assert refused.value.hint == "name a tag; it has v1, v2"
    with pytest.raises(UnreadableInput, match="no image with the tag 'v3'"):
        open_layout(str(tmp_path / "x"), "v3")


def test_untagged_image_replaces_untagged_image(tmp_path: Path) -> None:
    write_layout(image_of("old"), str(tmp_path / "x"))
    write_layout(new := image_of("new"), str(tmp_path / "x"))
    assert open_layout(str(tmp_path / "x")).root.digest == new.root.digest


def test_truncated_blob_in_layout_is_rewritten(tmp_path: Path) -> None:
    image = image_of("a")
    write_layout(image, str(tmp_path / "x"))
    broken = tmp_path / "x" / "blobs" / "sha256" / image.root.digest.removeprefix("sha256:")
    broken.write_bytes(b"{")
    write_layout(image, str(tmp_path / "x"))
    assert len(broken.read_bytes()) == image.root.size


def test_modified_blob_in_layout_is_rewritten(tmp_path: Path) -> None:
    image = image_of("a")
    write_layout(image, str(tmp_path / "x"), "v1")
    blob = max((tmp_path / "x/blobs/sha256").iterdir(), key=lambda path: path.name)
    blob.write_bytes(bytes(blob.stat().st_size))
    write_layout(image, str(tmp_path / "x"), "v2")
    again = open_layout(str(tmp_path / "x"), "v1")
    assert all(read_blob(again.blobs, each) for each in push_order(again))


def test_concurrent_writes_to_layout_preserve_all_tags(tmp_path: Path) -> None:
    tags = [f"v{number}" for number in range(12)]
    threads = [
        threading.Thread(target=write_layout, args=(image_of(tag), str(tmp_path / "x"), tag)) for tag in tags
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for tag in tags:
        image = open_layout(str(tmp_path / "x"), tag)
        assert load_labels(image, select_manifest(image)) == {"label": tag}


def test_layout_created_concurrently_gets_image_added(tmp_path: Path) -> None:
    late = image_of("late")

    class SlowBlobs:
        is_first = True

        def open(self, descriptor: Descriptor) -> BinaryIO:
            if self.is_first:
                self.is_first = False
                write_layout(image_of("early"), str(tmp_path / "x"), "early")
            return late.blobs.open(descriptor)

    write_layout(Image(late.root, SlowBlobs()), str(tmp_path / "x"), "late")
    for tag in ("early", "late"):
        image = open_layout(str(tmp_path / "x"), tag)
        assert load_labels(image, select_manifest(image)) == {"label": tag}


def test_write_layout_rejects_other_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "mine").write_text("1")
    (tmp_path / "file").write_text("1")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("x", "file", "link"):
        with pytest.raises(UsageError, match="not an OCI layout"):
            write_layout(image_of("a"), str(tmp_path / name))
    assert files_in(tmp_path) == {"x/mine": b"1", "file": b"1"}


def test_write_layout_uses_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    write_layout(image_of("a"), str(tmp_path / "x"))
    assert open_layout(str(tmp_path / "x")).root.digest == image_of("a").root.digest


class _FailingBlobs:
    """Blobs of an image that fail after a number of them."""

    def __init__(self, image: Image, after: int, error: Exception) -> None:
        self.image, self.left, self.error = image, after, error

    def open(self, descriptor: Descriptor) -> BinaryIO:
        self.left -= 1
        if self.left < 0:
            raise self.error
        return self.image.blobs.open(descriptor)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", range(3))
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), UsageError),
        (UnreadableInput("gone"), UnreadableInput),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_failed_write_leaves_no_files(
    kind: str, after: int, error: Exception, expected: type[BaseException], tmp_path: Path
) -> None:
    write, _ = KINDS[kind]
    image = image_of("a", Platform("linux", "amd64"))
    failing = Image(image.root, _FailingBlobs(image, after, error))
    with pytest.raises(expected):
        write(failing, str(tmp_path / "x"), "op:v1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("after", range(6))
def test_failed_write_leaves_existing_layout_unchanged(after: int, tmp_path: Path) -> None:
    write_layout(image_of("old"), str(tmp_path / "x"), "v1")
    before = files_in(tmp_path)
    image = image_of("new")
    failing = Image(image.root, _FailingBlobs(image, after, OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(UsageError, match="No space left on device"):
        write_layout(failing, str(tmp_path / "x"), "v1")
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("kind", KINDS)
def test_unwritable_target_is_reported(kind: str, tmp_path: Path) -> None:
    write, _ = KINDS[kind]
    with pytest.raises(UsageError, match=r"cannot write .*: No such file or directory"):
        write(image_of("a"), str(tmp_path / "no" / "where"), None)


def test_docker_archive_has_format_of_docker_load(tmp_path: Path) -> None:
    image = image_of("a")
    write_docker_archive(image, str(tmp_path / "x"), "op:v1", Platform("linux", "arm64"))
    with tarfile.open(tmp_path / "x") as archive:
        names = archive.getnames()
        document = archive.extractfile("manifest.json")
        assert document is not None
        [listed] = json.loads(document.read())
    assert listed["RepoTags"] == ["op:v1"]
    wanted = image_id(image, Platform("linux", "arm64"))
    assert listed["Config"] == f"{wanted.removeprefix('sha256:')}.json"
    assert names == [listed["Config"], *listed["Layers"], "manifest.json"]


def test_docker_archive_with_several_images_selects_by_name(tmp_path: Path) -> None:
    write_docker_archive(image_of("a"), str(tmp_path / "x"), "op:v1")
    # Podman and skopeo write the same name with its registry.
    for name in ("op:v1", "docker.io/library/op:v1"):
        assert open_docker_archive(str(tmp_path / "x"), name).root
    with pytest.raises(UnreadableInput, match="holds 0 images named 'op:v2'"):
        open_docker_archive(str(tmp_path / "x"), "op:v2")


def test_archive_replaces_target_of_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_oci_archive(image_of("a"), str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert open_oci_archive(str(tmp_path / "target")).root.digest == image_of("a").root.digest


def test_unknown_fields_of_layout_index_are_preserved(tmp_path: Path) -> None:
    write_layout(other := image_of("other"), str(tmp_path / "x"), "v2")
    index = tmp_path / "x" / "index.json"
    document = json.loads(index.read_bytes())
    document["annotations"] = {"mine": "kept"}
    document["manifests"][0]["artifactType"] = "mine"
    index.write_text(json.dumps(document))
    write_layout(image_of("new"), str(tmp_path / "x"), "v1")
    again = json.loads(index.read_bytes())
    assert again["annotations"] == {"mine": "kept"}
    assert again["manifests"][0] == document["manifests"][0]
    assert open_layout(str(tmp_path / "x"), "v2").root.digest == other.root.digest
