"""Where bytes come from, and what is said when they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.errors import UnreadableInput
from everpath.loaders.sources import Sources


def test_a_file_is_read_again_from_the_disk(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"one")
    sources = Sources()
    assert sources.read(str(file)) == b"one"
    file.write_bytes(b"two")
    assert sources.read(str(file)) == b"two"


def test_what_was_kept_is_given_out_again() -> None:
    sources = Sources()
    sources.add_content("-", b"kept")
    assert sources.read("-") == b"kept"
    with sources.open("-") as stream:
        assert stream.read(2) == b"ke"


def test_a_size_is_known_without_reading(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"four")
    sources = Sources()
    sources.add_content("-", b"two")
    assert (sources.size("-"), sources.size(str(tmp_path / "a"))) == (3, 4)
    with pytest.raises(UnreadableInput):
        sources.size(str(tmp_path / "gone"))


def test_more_than_the_limit_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x" * (1 << 20))
    assert len(Sources().read(str(file), 1 << 20)) == 1 << 20
    with file.open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(UnreadableInput, match="is larger than 1 MiB"):
        Sources().read(str(file), 1 << 20)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="it is a folder, not a file") as caught:
        Sources().read(str(tmp_path))
    assert caught.value.file == str(tmp_path)


def test_what_is_not_there_is_said_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="No such file or directory") as caught:
        Sources().open(str(tmp_path / "gone"))
    assert caught.value.hint == "check the path; a catalog is a folder, a file, or - for standard input"
