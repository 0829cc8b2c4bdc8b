"""Unpacking what strangers made: files come out inside of the folder, or nothing does."""

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
from images_made import files_in, hostile, layered, special, tar_of


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "sandbox" / "out"


@pytest.fixture(autouse=True)
def _sandbox(target: Path) -> None:
    target.parent.mkdir()


def nothing_is_left(target: Path) -> bool:
    return not list(target.parent.iterdir())


@pytest.mark.parametrize("compress", [False, True])
def test_files_come_out(target: Path, compress: bool) -> None:
    image = layered(tar_of({"a/b": b"1", "c": b"2", "empty": None}), compress=compress)
    assert unpack_image(image, str(target)) == ("a/b", "c")
    assert files_in(target) == {"a/b": b"1", "c": b"2"}
    assert (target / "empty").is_dir()


def test_only_what_is_wanted_comes_out(target: Path) -> None:
    image = layered(tar_of({"configs/a": b"1", "configs-not/a": b"2", "metadata": b"3"}))
    assert unpack_image(image, str(target), prefixes=["/configs", "metadata/"]) == ("configs/a", "metadata")


def test_leading_dots_are_dropped(target: Path) -> None:
    assert unpack_image(layered(tar_of({"./configs/./a": b"1"})), str(target)) == ("configs/a",)


def test_an_upper_layer_replaces_and_hides(target: Path) -> None:
    lower = tar_of({"a": b"old", "b": b"gone", "d/x": b"gone", "d/y": b"gone", "e/x": b"gone", "f": b"1"})
    # A whiteout takes away what is below, also where it stands behind what the layer brings.
    upper = tar_of({"a": b"new", ".wh.b": b"", "d/z": b"here", "d/.wh..wh..opq": b"", ".wh.e": b""})
    unpack_image(layered(lower, upper), str(target))
    assert files_in(target) == {"a": b"new", "d/z": b"here", "f": b"1"}


def test_a_whiteout_does_not_hide_what_its_own_layer_brings(target: Path) -> None:
    upper = tar_of({"a": b"new", ".wh.a": b""})
    unpack_image(layered(tar_of({"a": b"old"}), upper), str(target))
    assert files_in(target) == {"a": b"new"}


def test_a_file_takes_the_place_of_a_folder_and_the_other_way_round(target: Path) -> None:
    lower = tar_of({"a/b": b"1", "c": b"2"})
    unpack_image(layered(lower, tar_of({"a": b"file", "c/": None, "c/d": b"3"})), str(target))
    assert files_in(target) == {"a": b"file", "c/d": b"3"}


def test_a_root_that_is_emptied_is_empty(target: Path) -> None:
    unpack_image(
        layered(tar_of({"a": b"1", "b/c": b"1"}), tar_of({".wh..wh..opq": b"", "d": b"2"})), str(target)
    )
    assert files_in(target) == {"d": b"2"}


def test_links_inside_become_copies(target: Path) -> None:
    file = (tarfile.TarInfo("d/a"), b"")
    file[0].size = 1
    layer = hostile(
        [
            (file[0], b"1"),
            special("hard", tarfile.LNKTYPE, "d/a"),
            special("d/soft", tarfile.SYMTYPE, "a"),
            special("absolute", tarfile.SYMTYPE, "/d/soft"),
            special("up", tarfile.SYMTYPE, "./d/../d/a"),
        ]
    )
    unpack_image(layered(layer), str(target))
    assert files_in(target) == dict.fromkeys(("absolute", "d/a", "d/soft", "hard", "up"), b"1")
    assert not any(path.is_symlink() for path in target.rglob("*"))


HOSTILE: dict[str, Callable[[Path], list[tuple[tarfile.TarInfo, bytes]]]] = {
    "a path that climbs out": lambda _: [special("../evil", tarfile.REGTYPE)],
    "a path that climbs out later": lambda _: [special("a/../../evil", tarfile.REGTYPE)],
    "an absolute path": lambda out: [special(f"{out}/evil", tarfile.REGTYPE)],
    "a link out": lambda _: [special("a", tarfile.SYMTYPE, "../../evil")],
    "a link to the machine's files": lambda _: [special("a", tarfile.SYMTYPE, "/etc/passwd")],
    "a link in a circle": lambda _: [special("a", tarfile.SYMTYPE, "b"), special("b", tarfile.SYMTYPE, "a")],
    "a link to a folder": lambda _: [special("d", tarfile.DIRTYPE), special("a", tarfile.SYMTYPE, "d")],
    "a path through a link": lambda out: [
        special("a", tarfile.SYMTYPE, str(out)),
        special("a/evil", tarfile.REGTYPE),
    ],
    "a hard link out": lambda _: [special("a", tarfile.LNKTYPE, "../../evil")],
    "a hard link to the machine's files": lambda _: [special("a", tarfile.LNKTYPE, "/etc/passwd")],
    "a hard link to nothing": lambda _: [special("a", tarfile.LNKTYPE, "b")],
    "a hard link to a symbolic one": lambda _: [
        special("b", tarfile.SYMTYPE, "/etc/passwd"),
        special("a", tarfile.LNKTYPE, "b"),
    ],
    "a character device": lambda _: [special("a", tarfile.CHRTYPE)],
    "a block device": lambda _: [special("a", tarfile.BLKTYPE)],
    "a named pipe": lambda _: [special("a", tarfile.FIFOTYPE)],
    "a whiteout that climbs out": lambda _: [special("../.wh.evil", tarfile.REGTYPE)],
    "a file that is a folder, too": lambda _: [
        special("a/b", tarfile.REGTYPE),
        special("a", tarfile.REGTYPE),
    ],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_hostile_is_refused_and_nothing_is_left(what: str, target: Path) -> None:
    good = tar_of({"good": b"1"})
    bystander = target.parent.parent / "evil"
    bystander.write_bytes(b"mine")
    image = layered(good, hostile(HOSTILE[what](target.parent)))
    with pytest.raises(UnreadableInput, match="the image contains"):
        unpack_image(image, str(target))
    assert nothing_is_left(target)
    assert bystander.read_bytes() == b"mine"


def test_a_path_through_a_link_of_a_lower_layer_is_refused(target: Path) -> None:
    lower = hostile([special("a", tarfile.SYMTYPE, str(target.parent))])
    with pytest.raises(UnreadableInput, match="a is not a folder"):
        unpack_image(layered(lower, tar_of({"a/evil": b"1"})), str(target))
    assert nothing_is_left(target)


def test_devices_of_a_base_are_no_matter_where_nobody_wants_them(target: Path) -> None:
    base = hostile([special("dev/null", tarfile.CHRTYPE), special("bin/sh", tarfile.SYMTYPE, "/bin/busybox")])
    image = layered(base, tar_of({"configs/a": b"1"}))
    assert unpack_image(image, str(target), prefixes=["configs"]) == ("configs/a",)


def test_a_bomb_is_stopped(target: Path) -> None:
    image = layered(tar_of({"zeros": bytes(8 << 20)}), compress=True)
    with pytest.raises(UnreadableInput, match="unpacks to more than 4 MiB"):
        unpack_image(image, str(target), max_size=4 << 20)
    assert nothing_is_left(target)


def test_copies_of_links_count_too(target: Path) -> None:
    info = tarfile.TarInfo("a")
    info.size = 1 << 20
    links = [special(f"l{number}", tarfile.LNKTYPE, "a") for number in range(8)]
    with pytest.raises(UnreadableInput, match="unpacks to more than"):
        unpack_image(layered(hostile([(info, bytes(1 << 20)), *links])), str(target), max_size=4 << 20)
    assert nothing_is_left(target)


def test_gzip_in_several_members_is_read(target: Path) -> None:
    whole = tar_of({"a": b"1" * 5000})
    image = layered(gzip.compress(whole[:3000]) + gzip.compress(whole[3000:]))
    assert unpack_image(image, str(target)) == ("a",)


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (b"\x28\xb5\x2f\xfd" + bytes(100), "zstd"),
        (gzip.compress(tar_of({"a": b"1"}), mtime=0)[:-10], "is truncated"),
        (b"\x1f\x8b" + b"nonsense" * 10, "not valid gzip"),
        (b"no archive at all" * 100, "not a tar archive"),
        (tar_of({"a": b"1" * 2000})[:1000], "not a tar archive"),
    ],
    ids=["zstd", "truncated gzip", "no gzip", "no tar", "truncated tar"],
)
def test_a_layer_that_cannot_be_read_is_told(layer: bytes, words: str, target: Path) -> None:
    with pytest.raises(UnreadableInput, match=words):
        unpack_image(layered(layer), str(target))
    assert nothing_is_left(target)


class _Tampered:
    """Content in which the bytes of one media type are others."""

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
def test_bytes_that_are_not_those_of_the_digest_are_refused(
    change: Callable[[bytes], bytes], words: str, target: Path
) -> None:
    image = layered(tar_of({"a": b"1"}))
    with pytest.raises(UnreadableInput, match=words):
        unpack_image(Image(image.root, _Tampered(image, change)), str(target))
    assert nothing_is_left(target)


@pytest.mark.parametrize("compress", [False, True])
def test_an_archive_that_is_not_the_one_of_the_config_is_refused(target: Path, compress: bool) -> None:
    lower, upper = tar_of({"a": b"1"}), tar_of({"b": b"2"})
    true = [f"sha256:{hashlib.sha256(each).hexdigest()}" for each in (lower, upper)]
    assert unpack_image(layered(lower, upper, compress=compress, diff_ids=true), str(target)) == ("a", "b")
    swapped = layered(lower, upper, compress=compress, diff_ids=true[::-1])
    with pytest.raises(UnreadableInput, match="does not have the diff_id of the image's config"):
        unpack_image(swapped, str(target.with_name("other")))
    assert not target.with_name("other").exists()


@pytest.mark.parametrize("stated", [[], [7], ["sha512:00"], ["sha256:00", "sha256:00"]])
def test_a_config_that_says_nothing_usable_of_its_layers_is_passed_over(
    target: Path, stated: list[object]
) -> None:
    assert unpack_image(layered(tar_of({"a": b"1"}), diff_ids=stated), str(target)) == ("a",)


def test_the_manifest_of_a_platform_is_taken(target: Path) -> None:
    image = build_image(ImageSpec([TarMember("a", b"1")]))
    assert unpack_image(image, str(target), platform=Platform("linux", "s390x")) == ("a",)
    with pytest.raises(UnreadableInput, match="no manifest for linux/riscv64"):
        unpack_image(image, f"{target}2", platform=Platform("linux", "riscv64"))


def test_a_folder_with_something_in_it_is_left_alone(target: Path) -> None:
    target.mkdir()
    (target / "mine").write_text("1")
    with pytest.raises(UsageError, match="is not empty"):
        unpack_image(layered(tar_of({"a": b"1"})), str(target))
    assert files_in(target) == {"mine": b"1"}


def test_a_folder_that_cannot_be_made_is_told(target: Path) -> None:
    with pytest.raises(EverpathError, match="cannot write"):
        unpack_image(layered(tar_of({"a": b"1"})), str(target / "no" / "where"))


def test_more_files_than_any_image_has_are_refused(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everpath.oci.unpack._MAX_MEMBERS", 3)
    image = layered(tar_of({"a": b"1", "b": b"1"}), tar_of({"c": b"1", "d": b"1"}))
    with pytest.raises(UnreadableInput, match="more than 3 files"):
        unpack_image(image, str(target), prefixes=["a"])
    assert nothing_is_left(target)


def test_modes_are_safe_and_programs_stay_programs(target: Path) -> None:
    wide, tool = tarfile.TarInfo("wide"), tarfile.TarInfo("tool")
    wide.mode, tool.mode = 0o6666, 0o4777
    unpack_image(layered(hostile([(wide, b""), (tool, b"")])), str(target))
    assert (target / "wide").stat().st_mode & 0o7777 == 0o644
    assert (target / "tool").stat().st_mode & 0o7777 == 0o755
