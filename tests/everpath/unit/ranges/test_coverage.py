"""Coverage: which of many sets contain a version."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.ranges import Coverage, IntervalSet, Range
from everpath.versions import Key, Version, parse


def _coverage(**texts: str) -> Coverage:
    return Coverage({name: Range.parse(text).intervals for name, text in texts.items()})


SOME = _coverage(all=">=0.0.0-0", low="<1.0.0", two="<1.0.0 || >=2.0.0", one="=1.5.0", none="<1.0.0 >1.0.0")


@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("0.5.0", ("all", "low", "two")),
        ("1.0.0", ("all",)),
        ("1.5.0", ("all", "one")),
        ("2.0.0", ("all", "two")),
        ("1.0.0-rc.1", ("all", "low", "two")),
    ],
)
def test_covering_sets_are_in_the_given_order(version: str, names: tuple[str, ...]) -> None:
    assert SOME.covering(parse(version)) == names
    assert SOME.count(parse(version)) == len(names)


def test_coverage_without_sets() -> None:
    assert Coverage({}).covering(parse("1.0.0")) == ()
    assert Coverage({}).count(parse("1.0.0")) == 0
    assert Coverage({}).chooser({})(parse("1.0.0")) is None


def test_lowest_covering_prefers_sets_with_the_lowest_start() -> None:
    many = _coverage(c=">=0.3.0", b=">=0.2.0", d=">=9.0.0", a=">=0.1.0")
    assert many.lowest_covering(parse("1.0.0"), 2) == ("b", "a")
    assert many.lowest_covering(parse("1.0.0"), 9) == ("c", "b", "a")


def test_chooser_returns_the_set_with_the_lowest_rank() -> None:
    chosen = SOME.chooser({"two": 0, "one": 1, "all": 2})
    assert [chosen(parse(v)) for v in ("0.5.0", "1.0.0", "1.5.0", "2.0.0")] == ["two", "all", "one", "two"]
    assert SOME.chooser({"low": 0})(parse("3.0.0")) is None


class _CountingKey(tuple[Any, ...]):
    """A key that counts comparisons."""

    compared = 0

    def __lt__(self, other: Key) -> bool:
        type(self).compared += 1
        return tuple(self) < tuple(other)


def _version_with_counting_key(version: str) -> Version:
    parsed = parse(version)
    _CountingKey.compared = 0
    numbers = (parsed.major, parsed.minor, parsed.patch)
    return Version(numbers, parsed.prerelease, parsed.build, parsed.text, _CountingKey(parsed.key))


def test_query_over_a_thousand_ranges_takes_ten_comparisons() -> None:
    many = Coverage({f"b{i}": IntervalSet.from_comparison("<", parse(f"1.{i}.0")) for i in range(1000)})
    assert many.count(_version_with_counting_key("1.500.0")) == 499
    assert _CountingKey.compared <= 11
    assert many.chooser({f"b{i}": i for i in range(1000)})(_version_with_counting_key("1.500.0")) == "b501"
    assert _CountingKey.compared <= 11
    assert len(many.covering(_version_with_counting_key("1.500.0"))) == 499
    assert _CountingKey.compared <= 11
