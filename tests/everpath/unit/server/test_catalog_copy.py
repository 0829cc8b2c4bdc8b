"""The copy of a catalog's files."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from everpath.errors import UnreadableInput
from everpath.server.catalog.temporary_files import CatalogCopy


def test_a_copy_does_not_change_when_the_file_does(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"before")
    copy = CatalogCopy()
    copy.open(str(file)).close()
    file.write_bytes(b"after, and longer")
    with copy.open(str(file)) as stream:
        assert stream.read() == b"before"
    assert copy.size(str(file)) == 6
    assert copy.read_range(str(file), 2, 4) == b"fo"
    assert copy.read_range(str(file), 4, 2**62) == b"re"


def test_several_files_are_read_independently() -> None:
    copy = CatalogCopy()
    copy.keep("a", b"aaa")
    copy.keep("b", b"bb")
    with copy.open("a") as first, copy.open("b") as second:
        assert (second.read(1), first.read(), second.read()) == (b"b", b"aaa", b"b")
        first.seek(-1, os.SEEK_END)
        assert (first.tell(), first.read(), first.read()) == (2, b"a", b"")
    assert (copy.files, copy.total_size) == (("a", "b"), 5)


def test_the_digest_depends_on_names_contents_and_lengths() -> None:
    def digest(*files: tuple[str, bytes]) -> str:
        copy = CatalogCopy()
        for name, content in files:
            copy.keep(name, content)
        return copy.digest

    different = [
        (("a", b"1"),),
        (("b", b"1"),),
        (("a", b"2"),),
        (("a", b"1"), ("b", b"")),
        (("a", b"12"),),
        (("a", b"1"), ("2", b"")),
        (("a1", b""),),
    ]
    assert len({digest(*files) for files in different}) == len(different)
    assert digest(("a", b"1")) == digest(("a", b"1"))


def test_a_full_disk_is_reported_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    copy = CatalogCopy()
    monkeypatch.setattr(os, "pwrite", fail)
    with pytest.raises(UnreadableInput, match="cannot copy a to a temporary file: No space") as raised:
        copy.keep("a", b"x")
    assert raised.value.hint is not None
    assert "TMPDIR" in raised.value.hint


def test_the_temporary_file_is_closed_with_the_copy() -> None:
    copy = CatalogCopy()
    copy.keep("a", b"x")
    descriptor, file = copy._file, os.fstat(copy._file)

    def is_open() -> bool:
        """Compare the file too: another thread may have reused the descriptor."""
        try:
            found = os.fstat(descriptor)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (file.st_dev, file.st_ino)

    assert is_open()
    del copy
    assert not is_open()
