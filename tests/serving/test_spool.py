"""The copy of a catalog that a server reads from."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from everpath.errors import UnreadableInput
from everpath.server.catalog.temporary_files import CatalogCopy


def test_a_file_stays_what_it_was_when_it_was_first_read(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"before")
    spool = CatalogCopy()
    spool.open(str(file)).close()
    file.write_bytes(b"after, and longer")
    with spool.open(str(file)) as stream:
        assert stream.read() == b"before"
    assert spool.size(str(file)) == 6
    assert spool.read_range(str(file), 2, 4) == b"fo"
    assert spool.read_range(str(file), 4, 2**62) == b"re"


def test_files_do_not_run_into_one_another() -> None:
    spool = CatalogCopy()
    spool.keep("a", b"aaa")
    spool.keep("b", b"bb")
    with spool.open("a") as first, spool.open("b") as second:
        assert (second.read(1), first.read(), second.read()) == (b"b", b"aaa", b"b")
        first.seek(-1, os.SEEK_END)
        assert (first.tell(), first.read(), first.read()) == (2, b"a", b"")
    assert (spool.files, spool.total_size) == (("a", "b"), 5)


def test_the_digest_knows_names_contents_and_where_one_ends() -> None:
    def digest(*files: tuple[str, bytes]) -> str:
        spool = CatalogCopy()
        for name, content in files:
            spool.keep(name, content)
        return spool.digest

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


def test_no_room_is_told_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    spool = CatalogCopy()
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(UnreadableInput, match="cannot copy a to a temporary file: No space") as raised:
        spool.keep("a", b"x")
    assert raised.value.hint is not None
    assert "TMPDIR" in raised.value.hint


def test_nothing_stays_open_when_it_is_let_go() -> None:
    spool = CatalogCopy()
    spool.keep("a", b"x")
    descriptor, file = spool._file, os.fstat(spool._file)

    def is_open() -> bool:
        """By the file, not by the number alone: other threads may have taken that at once."""
        try:
            found = os.fstat(descriptor)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (file.st_dev, file.st_ino)

    assert is_open()
    del spool
    assert not is_open()
