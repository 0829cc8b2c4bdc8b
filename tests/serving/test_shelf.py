"""Manifests are parsed once."""

from __future__ import annotations

import errno
import os

import pytest

from everpath.server.catalog.shelf import Shelf


def test_what_was_made_once_is_not_made_again() -> None:
    shelf = Shelf()
    made = []

    def make(text: str) -> tuple[str, tuple[str, ...]]:
        made.append(text)
        return text, (text, "é")

    for _ in range(3):
        assert shelf.get(("p", "a"), lambda: make("a")) == ("a", ("a", "é"))
        assert shelf.get(("p", "b"), lambda: make("")) == ("", ("", "é"))
    assert made == ["a", ""]


def test_without_room_it_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    shelf = Shelf()
    for text in ("one", "two"):
        assert shelf.get(("p", "a"), lambda text=text: (text, ())) == (text, ())  # type: ignore[misc]


def test_what_cannot_be_made_is_not_kept() -> None:
    def broken() -> tuple[str, tuple[str, ...]]:
        raise ValueError("no manifest")

    shelf = Shelf()
    with pytest.raises(ValueError, match="no manifest"):
        shelf.get(("p", "a"), broken)
    assert shelf.get(("p", "a"), lambda: ("a", ())) == ("a", ())
