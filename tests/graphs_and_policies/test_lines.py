"""Lines are looked through no further down than the question asks for."""

from __future__ import annotations

import pytest

from everpath.scc import Condensation, strongly_connected_components
from work import lines_run


def test_a_group_comes_behind_all_it_leads_to() -> None:
    ahead = {"e": "d", "d": "ca", "c": "b", "b": "c", "a": ""}
    assert [sorted(group) for group in strongly_connected_components(ahead)] == [
        ["b", "c"],
        ["a"],
        ["d"],
        ["e"],
    ]


def test_of_one_circle_the_first_rival_stands_for_all() -> None:
    lines = Condensation({"a": "b", "b": "c", "c": "a", "d": "a"})
    assert lines.topmost("cab") == ("c",)
    assert lines.topmost("bd") == ("d",)


def test_an_entry_that_leads_to_itself_is_in_no_other_s_line() -> None:
    assert Condensation({"a": "a", "b": "b"}).topmost("ba") == ("b", "a")


def test_a_line_goes_on_through_an_entry_that_also_leads_straight_to_the_bottom() -> None:
    below = {"top": ["fork"], "fork": ["low", "x"], "low": "c", "c": "b", "b": "a", "a": "", "x": ""}
    assert Condensation(below).topmost(["top", "low"]) == ("top",)


def test_without_rivals_none_is_unrelated() -> None:
    assert Condensation({"a": ""}).topmost("") == ()


def test_what_many_ways_lead_to_is_looked_at_once() -> None:
    """A ladder of forks that join again has twice as many ways with each rung."""
    ladder = {f"{side}{i}": [f"l{i - 1}", f"r{i - 1}"] if i else ["end"] for i in range(50) for side in "lr"}
    assert Condensation({**ladder, "end": []}).topmost(["l49", "r49", "end"]) == ("l49", "r49")


def _chain(length: int, bottom: str) -> dict[str, list[str]]:
    below = {f"b{i}": [f"b{i - 1}" if i else bottom] for i in range(length)}
    return {**below, bottom: [bottom], "one": [f"b{length - 1}"], "two": [f"b{length - 1}"]}


@pytest.mark.parametrize("bottom", ["end", "b9"])
def test_two_rivals_at_the_top_cost_the_same_over_any_length(bottom: str) -> None:
    short, long = (Condensation(_chain(length, bottom)) for length in (20, 2000))
    assert long.topmost(["one", "two"]) == ("one", "two")
    ask = [lines_run(lambda lines=lines: lines.topmost(["one", "two"])) for lines in (short, long)]  # type: ignore[misc]
    assert ask[0] == ask[1]
