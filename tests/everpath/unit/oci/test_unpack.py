"""Unpacking of untrusted images: files inside of the folder, or nothing."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from everpath.errors import EverpathError, UnreadableInput, UsageError
from everpath.oci.build import ImageSpec, build_image
from everpath.oci.descriptors import Descriptor, Image, Platform
from everpath.oci.tar_writer import TarMember
from everpath.oci.unpack import unpack_image
from tests.support.everpath.image_samples import (
    files_in,
    image_with_layers,
    special_member,
    tar_with_files,
    tar_with_members,
)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "sandbox" / "out"


@pytest.fixture(autouse=True)
def _sandbox(target: Path) -> None:
    target.parent.mkdir()


def is_nothing_left(target: Path) -> bool:
    return not list(target.parent.iterdir())


@pytest.mark.parametrize("compress", [False, True])
def test_files_are_unpacked(target: Path, compress: bool) -> None:
    image = image_with_layers(tar_with_files({"a/b": b"1", "c": b"2", "empty": None}), compress=compress)
    assert unpack_image(image, str(target)) == ("a/b", "c")
    assert files_in(target) == {"a/b": b"1", "c": b"2"}
    assert (target / "empty").is_dir()


def test_only_prefixes_are_unpacked(target: Path) -> None:
    image = image_with_layers(tar_with_files({"configs/a": b"1", "configs-not/a": b"2", "metadata": b"3"}))
    assert unpack_image(image, str(target), prefixes=["/configs", "metadata/"]) == ("configs/a", "metadata")


def test_dot_components_are_dropped(target: Path) -> None:
    assert unpack_image(image_with_layers(tar_with_files({"./configs/./a": b"1"})), str(target)) == (
        "configs/a",
    )


def test_upper_layer_replaces_and_hides_files(target: Path) -> None:
    lower = tar_with_files(
        {"a": b"old", "b": b"gone", "d/x": b"gone", "d/y": b"gone", "e/x": b"gone", "f": b"1"}
    )
    # A whiteout hides files of lower layers even if it follows files of its own layer.
    upper = tar_with_files({"a": b"new", ".wh.b": b"", "d/z": b"here", "d/.wh..wh..opq": b"", ".wh.e": b""})
    unpack_image(image_with_layers(lower, upper), str(target))
    assert files_in(target) == {"a": b"new", "d/z": b"here", "f": b"1"}


def test_whiteout_does_not_hide_files_of_its_own_layer(target: Path) -> None:
    upper = tar_with_files({"a": b"new", ".wh.a": b""})
    unpack_image(image_with_layers(tar_with_files({"a": b"old"}), upper), str(target))
    assert files_in(target) == {"a": b"new"}


def test_file_replaces_folder_and_folder_replaces_file(target: Path) -> None:
    lower = tar_with_files({"a/b": b"1", "c": b"2"})
    unpack_image(
        image_with_layers(lower, tar_with_files({"a": b"file", "c/": None, "c/d": b"3"})), str(target)
    )
    assert files_in(target) == {"a": b"file", "c/d": b"3"}


def test_opaque_whiteout_of_root_hides_everything(target: Path) -> None:
    unpack_image(
        image_with_layers(
            tar_with_files({"a": b"1", "b/c": b"1"}), tar_with_files({".wh..wh..opq": b"", "d": b"2"})
        ),
        str(target),
    )
    assert files_in(target) == {"d": b"2"}


def test_links_to_files_of_image_become_copies(target: Path) -> None:
    file = (tarfile.TarInfo("d/a"), b"")
    file[0].size = 1
    layer = tar_with_members(
        [
            (file[0], b"1"),
            special_member("hard", tarfile.LNKTYPE, "d/a"),
            special_member("d/soft", tarfile.SYMTYPE, "a"),
            special_member("absolute", tarfile.SYMTYPE, "/d/soft"),
            special_member("up", tarfile.SYMTYPE, "./d/../d/a"),
        ]
    )
    unpack_image(image_with_layers(layer), str(target))
    assert files_in(target) == dict.fromkeys(("absolute", "d/a", "d/soft", "hard", "up"), b"1")
    assert not any(path.is_symlink() for path in target.rglob("*"))


HOSTILE: dict[str, Callable[[Path], list[tuple[tarfile.TarInfo, bytes]]]] = {
    "a path that climbs out": lambda _: [special_member("../evil", tarfile.REGTYPE)],
    "a path that climbs out later": lambda _: [special_member("a/../../evil", tarfile.REGTYPE)],
    "an absolute path": lambda out: [special_member(f"{out}/evil", tarfile.REGTYPE)],
    "a link out": lambda _: [special_member("a", tarfile.SYMTYPE, "../../evil")],
    "a link to the machine's files": lambda _: [special_member("a", tarfile.SYMTYPE, "/etc/passwd")],
    "a link in a circle": lambda _: [
        special_member("a", tarfile.SYMTYPE, "b"),
        special_member("b", tarfile.SYMTYPE, "a"),
    ],
    "a link to a folder": lambda _: [
        special_member("d", tarfile.DIRTYPE),
        special_member("a", tarfile.SYMTYPE, "d"),
    ],
    "a path through a link": lambda out: [
        special_member("a", tarfile.SYMTYPE, str(out)),
        special_member("a/evil", tarfile.REGTYPE),
    ],
    "a hard link out": lambda _: [special_member("a", tarfile.LNKTYPE, "../../evil")],
    "a hard link to the machine's files": lambda _: [special_member("a", tarfile.LNKTYPE, "/etc/passwd")],
    "a hard link to nothing": lambda _: [special_member("a", tarfile.LNKTYPE, "b")],
    "a hard link to a symbolic one": lambda _: [
        special_member("b", tarfile.SYMTYPE, "/etc/passwd"),
        special_member("a", tarfile.LNKTYPE, "b"),
    ],
    "a character device": lambda _: [special_member("a", tarfile.CHRTYPE)],
    "a block device": lambda _: [special_member("a", tarfile.BLKTYPE)],
    "a named pipe": lambda _: [special_member("a", tarfile.FIFOTYPE)],
    "a whiteout that climbs out": lambda _: [special_member("../.wh.evil", tarfile.REGTYPE)],
    "a file that is a folder, too": lambda _: [
        special_member("a/b", tarfile.REGTYPE),
        special_member("a", tarfile.REGTYPE),
    ],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_member_is_rejected_and_nothing_is_written(what: str, target: Path) -> None:
    good = tar_with_files({"good": b"1"})
    bystander = target.parent.parent / "evil"
    bystander.write_bytes(b"mine")
    image = image_with_layers(good, tar_with_members(HOSTILE[what](target.parent)))
    with pytest.raises(UnreadableInput, match="the image contains"):
        unpack_image(image, str(target))
    assert is_nothing_left(target)
    assert bystander.read_bytes() == b"mine"


def test_path_through_link_of_lower_layer_is_rejected(target: Path) -> None:
    lower = tar_with_members([special_member("a", tarfile.SYMTYPE, str(target.parent))])
    with pytest.raises(UnreadableInput, match="a is not a folder"):
        unpack_image(image_with_layers(lower, tar_with_files({"a/evil": b"1"})), str(target))
    assert is_nothing_left(target)


def test_devices_outside_of_prefixes_are_ignored(target: Path) -> None:
    base = tar_with_members(
        [
            special_member("dev/null", tarfile.CHRTYPE),
            special_member("bin/sh", tarfile.SYMTYPE, "/bin/busybox"),
        ]
    )
    image = image_with_layers(base, tar_with_files({"configs/a": b"1"}))
    assert unpack_image(image, str(target), prefixes=["configs"]) == ("configs/a",)


def test_compression_bomb_is_rejected(target: Path) -> None:
    image = image_with_layers(tar_with_files({"zeros": bytes(8 << 20)}), compress=True)
    with pytest.raises(UnreadableInput, match="unpacks to more than 4 MiB"):
        unpack_image(image, str(target), max_size=4 << 20)
    assert is_nothing_left(target)


def test_copies_of_links_count_for_size_limit(target: Path) -> None:
    info = tarfile.TarInfo("a")
    info.size = 1 << 20
    links = [special_member(f"l{number}", tarfile.LNKTYPE, "a") for number in range(8)]
    with pytest.raises(UnreadableInput, match="unpacks to more than"):
        unpack_image(
            image_with_layers(tar_with_members([(info, bytes(1 << 20)), *links])),
            str(target),
            max_size=4 << 20,
        )
    assert is_nothing_left(target)


def test_multi_member_gzip_is_read(target: Path) -> None:
    whole = tar_with_files({"a": b"1" * 5000})
    image = image_with_layers(gzip.compress(whole[:3000]) + gzip.compress(whole[3000:]))
    assert unpack_image(image, str(target)) == ("a",)


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (b"\x28\xb5\x2f\xfd" + bytes(100), "zstd"),
        (gzip.compress(tar_with_files({"a": b"1"}), mtime=0)[:-10], "is truncated"),
        (b"\x1f\x8b" + b"nonsense" * 10, "not valid gzip"),
        (b"no archive at all" * 100, "not a tar archive"),
        (tar_with_files({"a": b"1" * 2000})[:1000], "not a tar archive"),
    ],
    ids=["zstd", "truncated gzip", "no gzip", "no tar", "truncated tar"],
)
def test_unreadable_layer_is_rejected(layer: bytes, words: str, target: Path) -> None:
    with pytest.raises(UnreadableInput, match=words):
        unpack_image(image_with_layers(layer), str(target))
    assert is_nothing_left(target)


class _Tampered:
    """Blobs of an image with modified layers."""

    def __init__(self, image: Image, change: Callable[[bytes], bytes]) -> None:
        self._image, self._change = image, change

    def open(self, descriptor: Descriptor) -> io.BytesIO:
        data = self._image.blobs.open(descriptor).read()
        return io.BytesIO(self._change(data) if "layer" in descriptor.media_type else data)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[:-512], "bytes are missing"),
        (lambda data: data + b"more", "it has more than"),
        (lambda data: data[:-1] + b"x", "its digest is"),
    ],
)
def test_layer_with_wrong_digest_is_rejected(
    change: Callable[[bytes], bytes], words: str, target: Path
) -> None:
    image = image_with_layers(tar_with_files({"a": b"1"}))
    with pytest.raises(UnreadableInput, match=words):
        unpack_image(Image(image.root, _Tampered(image, change)), str(target))
    assert is_nothing_left(target)


@pytest.mark.parametrize("compress", [False, True])
def test_layer_with_wrong_diff_id_is_rejected(target: Path, compress: bool) -> None:
    lower, upper = tar_with_files({"a": b"1"}), tar_with_files({"b": b"2"})
    true = [f"sha256:{hashlib.sha256(each).hexdigest()}" for each in (lower, upper)]
    assert unpack_image(image_with_layers(lower, upper, compress=compress, diff_ids=true), str(target)) == (
        "a",
        "b",
    )
    swapped = image_with_layers(lower, upper, compress=compress, diff_ids=true[::-1])
    with pytest.raises(UnreadableInput, match="does not have the diff_id of the image's config"):
        unpack_image(swapped, str(target.with_name("other")))
    assert not target.with_name("other").exists()


@pytest.mark.parametrize("stated", [[], [7], ["sha512:00"], ["sha256:00", "sha256:00"]])
def test_unusable_diff_ids_are_ignored(target: Path, stated: list[object]) -> None:
    assert unpack_image(image_with_layers(tar_with_files({"a": b"1"}), diff_ids=stated), str(target)) == (
        "a",
    )


def test_manifest_of_platform_is_unpacked(target: Path) -> None:
    image = build_image(ImageSpec([TarMember("a", b"1")]))
    assert unpack_image(image, str(target), platform=Platform("linux", "s390x")) == ("a",)
    with pytest.raises(UnreadableInput, match="no manifest for linux/riscv64"):
        unpack_image(image, f"{target}2", platform=Platform("linux", "riscv64"))


def test_non_empty_folder_is_rejected(target: Path) -> None:
    target.mkdir()
    (target / "mine").write_text("1")
    with pytest.raises(UsageError, match="is not empty"):
        unpack_image(image_with_layers(tar_with_files({"a": b"1"})), str(target))
    assert files_in(target) == {"mine": b"1"}


def test_folder_that_cannot_be_created_is_reported(target: Path) -> None:
    with pytest.raises(EverpathError, match="cannot write"):
        unpack_image(image_with_layers(tar_with_files({"a": b"1"})), str(target / "no" / "where"))


def test_number_of_files_is_limited(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everpath.oci.unpack._MAX_MEMBERS", 3)
    image = image_with_layers(tar_with_files({"a": b"1", "b": b"1"}), tar_with_files({"c": b"1", "d": b"1"}))
    with pytest.raises(UnreadableInput, match="more than 3 files"):
        unpack_image(image, str(target), prefixes=["a"])
    assert is_nothing_left(target)


def test_modes_are_normalized_and_executables_stay_executable(target: Path) -> None:
    wide, tool = tarfile.TarInfo("wide"), tarfile.TarInfo("tool")
    wide.mode, tool.mode = 0o6666, 0o4777
    unpack_image(image_with_layers(tar_with_members([(wide, b""), (tool, b"")])), str(target))
    assert (target / "wide").stat().st_mode & 0o7777 == 0o644
    assert (target / "tool").stat().st_mode & 0o7777 == 0o755
