"""The detection of changes on disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from everpath.server.catalog import file_watch
from everpath.server.catalog.file_watch import file_state, watch_changes


def test_every_kind_of_change_changes_the_state(tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    states = [file_state(str(folder))]

    def has_changed() -> bool:
        states.append(file_state(str(folder)))
        return states[-1] not in states[:-1]

    folder.mkdir()
    assert has_changed()
    (folder / "a").write_text("one")
    assert has_changed()
    (folder / "a").write_text("three")
    assert has_changed()
    (folder / "sub").mkdir()
    (folder / "sub/b").write_text("")
    assert has_changed()
    (folder / "sub/b").rename(folder / "sub/c")
    assert has_changed()
    (tmp_path / "elsewhere").write_text("linked")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    assert has_changed()
    (tmp_path / "elsewhere").write_text("linked to another text")
    assert has_changed()
    assert not has_changed()


def test_a_change_is_reported_when_two_polls_find_the_same_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are written one after the other are one change."""
    states = iter([b"a", b"a", b"b", b"c", b"d", b"d", b"d", b"e", b"e", b"e"])
    polled: list[bytes] = []

    async def poll(_: str) -> tuple[bytes, float]:
        polled.append(next(states))
        return polled[-1], 0.0

    async def polls_before_changes() -> list[int]:
        found = []
        async for _ in watch_changes("", 0.0, b"a"):
            found.append(len(polled))
            if len(found) == 2:
                break
        return found

    monkeypatch.setattr(file_watch, "_poll", poll)
    assert asyncio.run(polls_before_changes()) == [6, 9]


def test_a_change_before_the_first_poll_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("")
    state = file_state(str(file))
    file.write_text("changed")

    async def first() -> None:
        async for _ in watch_changes(str(file), 0.01, state):
            return

    asyncio.run(asyncio.wait_for(first(), 20))
