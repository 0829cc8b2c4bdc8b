"""When a catalog counts as changed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from everpath.server.catalog import file_watch
from everpath.server.catalog.file_watch import file_state, watch_changes


def test_whatever_changes_changes_the_stamps(tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    seen = [file_state(str(folder))]

    def changed() -> bool:
        seen.append(file_state(str(folder)))
        return seen[-1] not in seen[:-1]

    folder.mkdir()
    assert changed()
    (folder / "a").write_text("one")
    assert changed()
    (folder / "a").write_text("three")
    assert changed()
    (folder / "sub").mkdir()
    (folder / "sub/b").write_text("")
    assert changed()
    (folder / "sub/b").rename(folder / "sub/c")
    assert changed()
    (tmp_path / "elsewhere").write_text("linked")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    assert changed()
    (tmp_path / "elsewhere").write_text("linked to another text")
    assert changed()
    assert not changed()


def test_a_catalog_is_given_time_to_come_to_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody writes one file after the other: that is one change, told when two looks see the same."""
    looks = iter([b"a", b"a", b"b", b"c", b"d", b"d", b"d", b"e", b"e", b"e"])
    taken: list[bytes] = []

    async def look(_: str) -> tuple[bytes, float]:
        taken.append(next(looks))
        return taken[-1], 0.0

    async def told() -> list[int]:
        found = []
        async for _ in watch_changes("", 0.0, b"a"):
            found.append(len(taken))
            if len(found) == 2:
                break
        return found

    monkeypatch.setattr(file_watch, "_poll", look)
    assert asyncio.run(told()) == [6, 9]


def test_what_changed_before_the_first_look_is_told_too(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("")
    seen = file_state(str(file))
    file.write_text("changed")

    async def first() -> None:
        async for _ in watch_changes(str(file), 0.01, seen):
            return

    asyncio.run(asyncio.wait_for(first(), 20))
