"""Linting ten times as many entries costs at most twelve times as much, for channels of any shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from everpath.loaders.notation import parse
from everpath.model import Catalog, Place
from everpath.rules.lint import lint
from everpath.rules.waivers import Waiver
from tests.support.everpath.operation_counts import lines_run


def _drawn(size: int, draw: Callable[[int], str]) -> str:
    return "\n".join(draw(i) for i in reversed(range(size)))


def _channels(size: int) -> str:
    return "\n".join(f"[c{i}]\nb{i}@1.0.{i}: - / - / <0.0.{i}" for i in range(size))


def _below(i: int) -> str:
    return f"b{i - 1}" if i else "-"


SHAPES: dict[str, Callable[[int], str]] = {
    "a chain": lambda n: _drawn(n, lambda i: f"b{i}@1.{i}.0: {_below(i)}"),
    "ranges over all below": lambda n: _drawn(n, lambda i: f"b{i}@1.{i}.0: {_below(i)} / - / <1.{i}.0"),
    "ranges over everything": lambda n: _drawn(n, lambda i: f"b{i}@1.{i}.0: {_below(i)} / - / >=0.0.1"),
    "heads without edges": lambda n: _drawn(n, lambda i: f"b{i}@1.{i}.0"),
    "heads over all below": lambda n: _drawn(n, lambda i: f"b{i}@1.{i}.0: - / - / <1.{i}.0"),
    "heads over the one below": lambda n: _drawn(
        n, lambda i: f"b{i}@1.{i}.0: - / - / >=1.{i - 1}.0 <1.{i}.0"
    ),
    "heads over one chain": lambda n: _drawn(
        n, lambda i: f"b{i}@1.{i}.0: b{i - 2 - i % 2}" if i > 3 else f"b{i}"
    ),
    "patches over the one below": lambda n: _drawn(
        n, lambda i: f"b{i}@1.0.{i}: {_below(i)} / - / {f'>=1.0.{i - 1} <1.0.{i}' if i else '-'}"
    ),
    "rivals": lambda n: _drawn(n, lambda i: f"b{i}@1.{i}.0: {'b0' if i else '-'}"),
    "forks": lambda n: _drawn(n, lambda i: f"b{i}@1.{i}.0: {f'b{(i - 1) // 2}' if i else '-'}"),
    "dangling edges": lambda n: _drawn(n, lambda i: f"b{i}@1.{i}.0: gone.v7.{i}.0 / lost.v8.{i}.0"),
    "each skips the one below": lambda n: _drawn(n, lambda i: f"b{i}@1.{i}.0: {_below(i)} / {_below(i)}"),
    "each skips itself": lambda n: _drawn(n, lambda i: f"b{i}@1.{i}.0: - / b{i} / <1.{i}.0") + "\nhead@2.0.0",
    "ranges that crash": lambda n: _drawn(
        n, lambda i: f"b{i}@1.{i}.0: {_below(i)} / - / <1.{i}.0 || || >9.0.0"
    ),
    "one skips all": lambda n: (
        f"head@2.0.0: - / {', '.join(f'b{i}' for i in range(n))}\n" + _drawn(n, lambda i: f"b{i}@1.{i}.0")
    ),
    "one skips what is not there": lambda n: f"head: - / {', '.join(f'gone{i}' for i in range(n))}",
    "a circle with a head over each": lambda n: _drawn(
        n, lambda i: f"h{i}@2.{i}.0: b{i}\nb{i}@1.{i}.0: b{(i or n) - 1}"
    ),
    "channels of one entry": _channels,
}


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("shape", SHAPES)
def test_linting_is_linear_in_the_entries(shape: str) -> None:
    little, much = (parse(SHAPES[shape](size)) for size in (60, 600))
    assert _work(much) <= 12 * _work(little)


def _work(catalog: Catalog, waivers: tuple[Waiver, ...] = ()) -> int:
    """Return the lines of the second run, because ranges and versions are parsed only once."""
    lint(catalog, waivers=waivers)
    return lines_run(lambda: lint(catalog, waivers=waivers))


def _waivers(size: int, pattern: str) -> Iterator[Waiver]:
    return (Waiver("EP202", "known", Place("f"), entry=pattern.format(i)) for i in range(size))


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("pattern", ["b{}", "b{}?", "gone{}", "gone{}*"])
def test_waivers_are_linear_in_findings_and_waivers(pattern: str) -> None:
    little, much = (
        _work(parse(SHAPES["heads without edges"](size)), tuple(_waivers(size, pattern)))
        for size in (60, 600)
    )
    assert much <= 12 * little
