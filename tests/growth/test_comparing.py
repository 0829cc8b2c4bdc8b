"""Ten times the entries, or channels, cost a comparison at most twelve times as much."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from everpath.compare import compare
from everpath.loaders.notation import parse
from everpath.model import Catalog
from work import lines_run

Drawn = Callable[[int, int], str]


def _entry(i: int, lost: int) -> str:
    """An entry that replaces the one below it, unless that edge is lost."""
    return f"b{i}@1.{i}.0: {f'b{i - 1}' if i and i != lost else '-'}"


def _chain(size: int, lost: int) -> str:
    return "\n".join(_entry(i, lost) for i in reversed(range(size)))


def _handed_on(size: int, lost: int) -> str:
    """A channel for every entry, as for minor versions each of which takes over from the last."""
    return "\n".join(f"[c{i}]\n{_entry(i, lost)}" for i in range(size))


def _twice(size: int, lost: int) -> str:
    return f"[x]\n{_chain(size, lost)}\n[y]\n{_chain(size, lost)}"


SHAPES: dict[str, Drawn] = {"a chain": _chain, "channels that hand on": _handed_on, "two channels": _twice}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("is_cut", [False, True], ids=["as it is", "cut"])
def test_comparing_ten_times_as_much_is_ten_times_the_work(shape: str, is_cut: bool) -> None:
    draw = SHAPES[shape]
    little, much = (
        _work(parse(draw(size, 0)), parse(draw(size, size // 2 if is_cut else 0))) for size in (40, 400)
    )
    assert much <= 12 * little


def _work(old: Catalog, new: Catalog) -> int:
    """Of the second time, because texts of ranges and versions are read only once."""
    compare(old, new)
    return lines_run(lambda: compare(old, new))
