"""Comparing ten times as many entries or channels costs at most twelve times as much."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from everpath.comparison import compare
from everpath.loaders.notation import parse
from everpath.model import Catalog
from tests.support.everpath.operation_counts import lines_run

Drawn = Callable[[int, int], str]


def _entry(i: int, lost: int) -> str:
    """Return an entry that replaces the one below it, unless that edge is removed."""
    return f"b{i}@1.{i}.0: {f'b{i - 1}' if i and i != lost else '-'}"


def _chain(size: int, lost: int) -> str:
    return "\n".join(_entry(i, lost) for i in reversed(range(size)))


def _handed_on(size: int, lost: int) -> str:
    """Return a channel for every entry, like minor versions that replace one another."""
    return "\n".join(f"[c{i}]\n{_entry(i, lost)}" for i in range(size))


def _twice(size: int, lost: int) -> str:
    return f"[x]\n{_chain(size, lost)}\n[y]\n{_chain(size, lost)}"


SHAPES: dict[str, Drawn] = {"a chain": _chain, "channels that hand on": _handed_on, "two channels": _twice}


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("is_cut", [False, True], ids=["as it is", "cut"])
def test_comparing_is_linear(shape: str, is_cut: bool) -> None:
    draw = SHAPES[shape]
    little, much = (
        _work(parse(draw(size, 0)), parse(draw(size, size // 2 if is_cut else 0))) for size in (40, 400)
    )
    assert much <= 12 * little


def _work(old: Catalog, new: Catalog) -> int:
    """Return the lines of the second run, because ranges and versions are parsed only once."""
    compare(old, new)
    return lines_run(lambda: compare(old, new))
