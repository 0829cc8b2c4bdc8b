"""Strongly connected components and their order."""

from __future__ import annotations

import pytest

from everpath.scc import Condensation, strongly_connected_components
from tests.support.everpath.operation_counts import lines_run


def test_component_comes_after_all_it_leads_to() -> None:
    edges = {"e": "d", "d": "ca", "c": "b", "b": "c", "a": ""}
    assert [sorted(component) for component in strongly_connected_components(edges)] == [
        ["b", "c"],
        ["a"],
        ["d"],
        ["e"],
    ]


def test_first_name_of_a_cycle_is_topmost() -> None:
    graph = Condensation({"a": "b", "b": "c", "c": "a", "d": "a"})
    assert graph.topmost("cab") == ("c",)
    assert graph.topmost("bd") == ("d",)


def test_edge_to_itself_is_ignored() -> None:
    assert Condensation({"a": "a", "b": "b"}).topmost("ba") == ("b", "a")


def test_short_path_to_the_bottom_does_not_hide_a_longer_one() -> None:
    edges = {"top": ["fork"], "fork": ["low", "x"], "low": "c", "c": "b", "b": "a", "a": "", "x": ""}
    assert Condensation(edges).topmost(["top", "low"]) == ("top",)


def test_no_names_have_no_topmost() -> None:
    assert Condensation({"a": ""}).topmost("") == ()


def test_component_with_exponentially_many_paths_is_visited_once() -> None:
    """Each rung of the ladder doubles the number of paths."""
    ladder = {f"{side}{i}": [f"l{i - 1}", f"r{i - 1}"] if i else ["end"] for i in range(50) for side in "lr"}
    assert Condensation({**ladder, "end": []}).topmost(["l49", "r49", "end"]) == ("l49", "r49")


def _chain(length: int, bottom: str) -> dict[str, list[str]]:
    edges = {f"b{i}": [f"b{i - 1}" if i else bottom] for i in range(length)}
    return {**edges, bottom: [bottom], "one": [f"b{length - 1}"], "two": [f"b{length - 1}"]}


@pytest.mark.parametrize("bottom", ["end", "b9"])
def test_cost_for_names_at_the_top_does_not_depend_on_the_length_below(bottom: str) -> None:
    short, long = (Condensation(_chain(length, bottom)) for length in (20, 2000))
    assert long.topmost(["one", "two"]) == ("one", "two")
    costs = [lines_run(lambda graph=graph: graph.topmost(["one", "two"])) for graph in (short, long)]  # type: ignore[misc]
    assert costs[0] == costs[1]


def test_two_cycles_without_a_path_back_are_two_components() -> None:
    edges = {"a": "b", "b": "ac", "c": "d", "d": "c"}
    assert [sorted(component) for component in strongly_connected_components(edges)] == [
        ["c", "d"],
        ["a", "b"],
    ]


@pytest.mark.exhaustive
def test_chain_longer_than_the_stack_is_followed_to_its_end() -> None:
    length = 50_000
    edges = {f"b{i}": [f"b{i + 1}"] for i in range(length)} | {f"b{length}": []}
    components = list(strongly_connected_components(edges))
    assert len(components) == length + 1
    assert components[0] == [f"b{length}"]
