"""The tar reader agrees with the standard library, and rejects malicious archives."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.errors import UnreadableInput
from everpath.oci.tar_reader import ChunkSource, InvalidTar, TarFile, TarReader
from everpath.oci.unpack import unpack_image
from tests.support.everpath.small_images import small_image

FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
KINDS = {
    tarfile.REGTYPE: "file",
    tarfile.DIRTYPE: "folder",
    tarfile.SYMTYPE: "symlink",
    tarfile.LNKTYPE: "hardlink",
    tarfile.FIFOTYPE: "other",
}
END = bytes(1024)

words = st.text(st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="/"), min_size=1)
paths = st.lists(words, min_size=1, max_size=4).map("/".join).filter(lambda path: len(path) > 0)
members = st.tuples(paths, st.sampled_from(sorted(KINDS)), paths, st.binary(max_size=1200))


def header(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE) -> bytes:
    made = tarfile.TarInfo(name)
    made.size, made.type = size, kind
    return made.tobuf(tarfile.GNU_FORMAT)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


def file(name: str, data: bytes = b"x") -> bytes:
    return header(name, len(data)) + padded(data)


def pax(key: bytes, value: bytes) -> bytes:
    body = b" " + key + b"=" + value + b"\n"
    size = next(n for n in range(len(body), len(body) + 9) if len(str(n)) + len(body) == n)
    data = str(size).encode() + body
    return header("pax", len(data), tarfile.XHDTYPE) + padded(data)


def written(listed: list[tuple[str, bytes, str, bytes]], form: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, kind, link, data in listed:
            made = tarfile.TarInfo(name)
            made.type, made.linkname = kind, link if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
            made.size = len(data) if kind == tarfile.REGTYPE else 0
            archive.addfile(made, io.BytesIO(data))
    return out.getvalue()


def read(data: bytes, piece: int = 700) -> list[tuple[str, str, str, bytes]]:
    reader = TarReader(ChunkSource(data[at : at + piece] for at in range(0, len(data), piece)))
    return [(each.name.rstrip("/"), each.kind, each.link, b"".join(reader.content())) for each in reader]


@given(st.lists(members, min_size=1, max_size=5), st.sampled_from(FORMATS), st.integers(1, 3000))
def test_archives_of_tarfile_are_read(
    listed: list[tuple[str, bytes, str, bytes]], form: int, piece: int
) -> None:
    try:
        data = written(listed, form)
    except ValueError:
        # Names that this format has no room for.
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        expected = [
            (each.name, KINDS[each.type], each.linkname, (archive.extractfile(each) or io.BytesIO()).read())
            if each.isreg()
            else (each.name, KINDS[each.type], each.linkname, b"")
            for each in archive
        ]
    assert read(data, piece) == expected


@given(st.data())
def test_arbitrary_bytes_raise_only_invalid_tar(data: st.DataObject) -> None:
    whole = bytearray(pax(b"path", b"configs/a") + file("a", b"y" * 600) + file("b"))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        read(bytes(whole[: data.draw(st.integers(0, len(whole)))]))
    except InvalidTar:
        return


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (pax(b"comment", b"a") * 2000 + file("configs/a") + END, "extended headers"),
        ((header("x", 2, tarfile.GNUTYPE_LONGNAME) + padded(b"a\0")) * 2000 + END, "extended headers"),
        (header("pax", 1 << 30, tarfile.XHDTYPE), "claims 1,073,741,824 bytes"),
        (header("x", 1 << 30, tarfile.GNUTYPE_LONGNAME), "claims 1,073,741,824 bytes"),
        (pax(b"size", b"-1024") + file("configs/a") + END, "the size '-1024'"),
        (pax(b"size", b"9" * 5000) + file("configs/a") + END, "the size '999"),
        (pax(b"size", b"100000000000") + file("configs/a") + END, "in the middle of a file"),
        (header("configs/a", 1000) + b"short", "in the middle of a file"),
        (header("configs/a")[:100], "in the middle of a header"),
        (b"", "it is empty"),
        (b"no archive" * 100, "a header"),
    ],
)
def test_malicious_archives_are_rejected(archive: bytes, words: str) -> None:
    with pytest.raises(InvalidTar, match=words):
        read(archive)


def test_map_of_gnu_sparse_file_is_skipped() -> None:
    sparse = bytearray(header("holes", 512, b"S"))
    sparse[482] = 1
    sparse[148:156] = b" " * 8
    sparse[148:156] = b"%06o\0 " % sum(sparse)
    more = bytearray(512)
    more[504] = 1
    archive = bytes(sparse) + bytes(more) + bytes(512) + padded(b"data" * 128) + file("configs/a") + END
    assert [(name, kind) for name, kind, *_ in read(archive)] == [("holes", "other"), ("configs/a", "file")]


def test_pax_sparse_file_has_its_real_name() -> None:
    archive = pax(b"GNU.sparse.name", b"configs/holes") + file("GNUSparseFile.0/holes") + END
    assert [(name, kind) for name, kind, *_ in read(archive)] == [("configs/holes", "other")]


def test_global_pax_header_is_ignored() -> None:
    record = b"19 path=../../evil\n"
    said = header("g", len(record), tarfile.XGLTYPE) + padded(record)
    assert [name for name, *_ in read(said + file("configs/a") + END)] == ["configs/a"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (b"configs/" + b"a/" * 20_000 + b"f", "path is too long"),
        (b"configs/" + b"a/" * 200 + b"f", "path is too long"),
        (b"configs/" + b"a" * 300, "name is too long"),
    ],
)
def test_too_long_paths_are_rejected(tmp_path: Path, path: bytes, words: str) -> None:
    with pytest.raises(UnreadableInput, match=words):
        unpack_image(small_image(pax(b"path", path) + file("x") + END), str(tmp_path / "out"))
    assert not list(tmp_path.iterdir())


def test_total_length_of_names_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everpath.oci.unpack._MAX_TOTAL_NAME_LENGTH", 100)
    layer = b"".join(file(f"configs/folder{number}/file") for number in range(9)) + END
    with pytest.raises(UnreadableInput, match="names of the image's files"):
        unpack_image(small_image(layer), str(tmp_path / "out"))


def test_implied_folders_count_as_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everpath.oci.unpack._MAX_MEMBERS", 10)
    with pytest.raises(UnreadableInput, match="more than 10 files"):
        unpack_image(small_image(file("/".join("abcdefghijkl")) + END), str(tmp_path / "out"))


@pytest.mark.parametrize("cut", [lambda whole: whole[:-600], lambda whole: whole[:100]])
def test_truncated_tar_file_is_rejected(tmp_path: Path, cut: Callable[[bytes], bytes]) -> None:
    (tmp_path / "a.tar").write_bytes(cut(file("a") + file("b", b"y" * 700) + file("c", b"y" * 700)))
    with pytest.raises(UnreadableInput, match="is not a tar archive"):
        TarFile(str(tmp_path / "a.tar"))
