"""Layers: what is in the archive, and that nothing else is."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import tarfile
from pathlib import Path

import pytest

from bundles import write
from everpath.errors import UnreadableInput
from everpath.oci.layers import Layer, build_layer
from everpath.oci.tar_writer import TarMember, file_chunks


def unpacked(layer: Layer) -> bytes:
    return gzip.decompress(layer.data) if layer.media_type.endswith("gzip") else layer.data


def members(layer: Layer) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(unpacked(layer))) as archive:
        return {member.name: member for member in archive}


def test_folders_come_before_what_is_in_them_and_names_in_the_order_of_their_bytes() -> None:
    layer = build_layer([TarMember(f"configs/{name}", b"") for name in ("b/x", "é", "a.yaml", "B", "a/y")])
    assert list(members(layer)) == [
        *("configs", "configs/B", "configs/a", "configs/a/y", "configs/a.yaml"),
        *("configs/b", "configs/b/x", "configs/é"),
    ]


def test_everything_is_roots_and_has_safe_modes_and_one_time(tmp_path: Path) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text("a: b\n")
    file.chmod(0o777)
    layer = build_layer([TarMember("configs/secret.yaml", str(file))], mtime=1700000000)
    for info in members(layer).values():
        assert (info.uid, info.gid, info.uname, info.gname) == (0, 0, "", "")
        assert info.mtime == 1700000000
        assert stat.S_IMODE(info.mode) == (0o755 if info.isdir() else 0o644)


def test_the_diff_id_is_that_of_the_archive_inside() -> None:
    packed, plain = (build_layer([TarMember("a", b"b")], compression=c) for c in ("gzip", "none"))
    assert packed.diff_id == plain.diff_id == f"sha256:{hashlib.sha256(plain.data).hexdigest()}"
    assert gzip.decompress(packed.data) == plain.data


def test_the_gzip_header_tells_no_time_no_name_and_no_system() -> None:
    assert build_layer([TarMember("a", b"b")]).data[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff"


@pytest.mark.parametrize(
    "name",
    [
        "x" * 100,
        f"{'d' * 90}/{'f' * 90}",
        f"{'d' * 155}/{'f' * 100}",
        "x" * 101,
        f"{'d' * 156}/{'f' * 100}",
        f"{'d' * 120}/{'e' * 120}/{'f' * 120}",
        "é/ü/日本語.yaml",
    ],
)
def test_any_name_comes_back(name: str) -> None:
    found = members(build_layer([TarMember(name, b"content")]))
    assert found[name].size == len(b"content")
    assert list(found)[-1] == name


def test_files_of_any_length_come_back(tmp_path: Path) -> None:
    lengths = [0, 1, 511, 512, 513, 1 << 18, (1 << 18) + 1]
    files = {f"f{length}": os.urandom(length) for length in lengths}
    write(tmp_path, files)
    layer = build_layer([TarMember(name, str(tmp_path / name)) for name in files])
    with tarfile.open(fileobj=io.BytesIO(unpacked(layer))) as archive:
        for name, content in files.items():
            kept = archive.extractfile(name)
            assert kept is not None
            assert kept.read() == content


def test_a_file_that_is_longer_or_shorter_than_it_said_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, {"a": b"12345"}) / "a"
    actual = os.fstat
    for lie in (4, 6):

        def told(descriptor: int, lie: int = lie) -> os.stat_result:
            fields = list(actual(descriptor))
            fields[stat.ST_SIZE] = lie
            return os.stat_result(fields)

        monkeypatch.setattr(os, "fstat", told)
        with pytest.raises(UnreadableInput, match="changed while it was read"):
            build_layer([TarMember("a", str(file))])


def test_a_pipe_is_refused_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableInput, match="not a regular file"):
        build_layer([TarMember("pipe", str(tmp_path / "pipe"))])


def test_a_name_that_is_no_utf8_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="not UTF-8"):
        build_layer([TarMember("a\udcff", b"")])


def test_a_missing_file_is_told() -> None:
    with pytest.raises(UnreadableInput, match="No such file"):
        build_layer([TarMember("a", "/nonexistent/a")])


def test_a_file_of_more_than_eight_gigabytes_has_its_size_in_full() -> None:
    header = next(file_chunks("large", 9 << 30, []))
    with tarfile.open(fileobj=io.BytesIO(header + bytes(1024)), mode="r|") as archive:
        found = archive.next()
    assert found is not None
    assert (found.name, found.size) == ("large", 9 << 30)


def test_of_two_members_of_a_name_the_last_counts() -> None:
    assert build_layer([TarMember("a", b"old"), TarMember("a", b"new")]) == build_layer(
        [TarMember("a", b"new")]
    )
