"""Layers and their tar archives."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import tarfile
from pathlib import Path

import pytest

from everpath.errors import UnreadableInput
from everpath.oci.layers import Layer, build_layer
from everpath.oci.tar_writer import TarMember, file_chunks
from tests.support.everpath.bundles import write


def tar_bytes(layer: Layer) -> bytes:
    return gzip.decompress(layer.data) if layer.media_type.endswith("gzip") else layer.data


def members(layer: Layer) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(tar_bytes(layer))) as archive:
        return {member.name: member for member in archive}


def test_folders_precede_contents_and_names_are_sorted_by_bytes() -> None:
    layer = build_layer([TarMember(f"configs/{name}", b"") for name in ("b/x", "é", "a.yaml", "B", "a/y")])
    assert list(members(layer)) == [
        *("configs", "configs/B", "configs/a", "configs/a/y", "configs/a.yaml"),
        *("configs/b", "configs/b/x", "configs/é"),
    ]


def test_members_have_root_owner_fixed_mode_and_mtime(tmp_path: Path) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text("a: b\n")
    file.chmod(0o777)
    layer = build_layer([TarMember("configs/secret.yaml", str(file))], mtime=1700000000)
    for info in members(layer).values():
        assert (info.uid, info.gid, info.uname, info.gname) == (0, 0, "", "")
        assert info.mtime == 1700000000
        assert stat.S_IMODE(info.mode) == (0o755 if info.isdir() else 0o644)


def test_diff_id_is_digest_of_uncompressed_archive() -> None:
    packed, plain = (build_layer([TarMember("a", b"b")], compression=c) for c in ("gzip", "none"))
    assert packed.diff_id == plain.diff_id == f"sha256:{hashlib.sha256(plain.data).hexdigest()}"
    assert gzip.decompress(packed.data) == plain.data


def test_gzip_header_has_no_time_name_or_operating_system() -> None:
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
def test_any_name_round_trips(name: str) -> None:
    found = members(build_layer([TarMember(name, b"content")]))
    assert found[name].size == len(b"content")
    assert list(found)[-1] == name


def test_files_of_any_size_round_trip(tmp_path: Path) -> None:
    lengths = [0, 1, 511, 512, 513, 1 << 18, (1 << 18) + 1]
    files = {f"f{length}": os.urandom(length) for length in lengths}
    write(tmp_path, files)
    layer = build_layer([TarMember(name, str(tmp_path / name)) for name in files])
    with tarfile.open(fileobj=io.BytesIO(tar_bytes(layer))) as archive:
        for name, content in files.items():
            stream = archive.extractfile(name)
            assert stream is not None
            assert stream.read() == content


def test_file_that_changes_size_while_read_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, {"a": b"12345"}) / "a"
    actual = os.fstat
    for size in (4, 6):

        def fstat_with_wrong_size(descriptor: int, size: int = size) -> os.stat_result:
            fields = list(actual(descriptor))
            fields[stat.ST_SIZE] = size
            return os.stat_result(fields)

        monkeypatch.setattr(os, "fstat", fstat_with_wrong_size)
        with pytest.raises(UnreadableInput, match="changed while it was read"):
            build_layer([TarMember("a", str(file))])


def test_named_pipe_is_rejected_without_blocking(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableInput, match="not a regular file"):
        build_layer([TarMember("pipe", str(tmp_path / "pipe"))])


def test_name_that_is_not_utf8_is_rejected() -> None:
    with pytest.raises(UnreadableInput, match="not UTF-8"):
        build_layer([TarMember("a\udcff", b"")])


def test_missing_file_is_reported() -> None:
    with pytest.raises(UnreadableInput, match="No such file"):
        build_layer([TarMember("a", "/nonexistent/a")])


def test_file_over_eight_gibibytes_has_size_in_pax_header() -> None:
    header = next(file_chunks("large", 9 << 30, []))
    with tarfile.open(fileobj=io.BytesIO(header + bytes(1024)), mode="r|") as archive:
        found = archive.next()
    assert found is not None
    assert (found.name, found.size) == ("large", 9 << 30)


def test_last_member_of_a_name_wins() -> None:
    assert build_layer([TarMember("a", b"old"), TarMember("a", b"new")]) == build_layer(
        [TarMember("a", b"new")]
    )
