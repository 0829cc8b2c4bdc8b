"""`everpath.resolvers` and the code it mirrors agree on all small and on many random channels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from random import Random
from typing import Final

import pytest

from tests.everpath.conformance.oracle import Answer, Oracle, Question
from tests.everpath.conformance.random_graphs import random_graph, shrunk
from tests.everpath.conformance.small_graphs import SmallGraph, three_entry_graphs
from tests.everpath.conformance.verdicts import (
    opm_by_everpath,
    opm_by_oracle,
    questions,
    v0_by_everpath,
    v0_by_oracle,
)

pytestmark = pytest.mark.conformance

Counted = Callable[[str, object], None]

#: The version of an installed CSV outside of the channel, in the middle of the versions of `random_graph`.
OUTSIDER: Final = "1.1.0"

SHARDS: Final = 10
GRAPHS_A_SHARD: Final = 2_000


def test_all_three_entry_graphs(oracle: Oracle, record_property: Counted) -> None:
    counts = compared(oracle, three_entry_graphs())
    record_property("counted", f"three-entry graphs, everpath beside the oracle: {shown(counts)}")
    assert (counts["graphs"], counts["accepted"]) == (4096, 1146)


@pytest.mark.parametrize("doubled", ["b1", "b2", "b3"])
def test_three_entry_graphs_where_one_entry_provides_an_api_twice(oracle: Oracle, doubled: str) -> None:
    """That entry is not used as an installed version: OLM does not install it."""
    moves: Counter[str | None] = Counter()
    for plain in three_entry_graphs():
        graph = SmallGraph(tuple(replace(e, doubled=e.name == doubled) for e in plain.entries))
        theirs = v0_by_oracle(graph, oracle.ask(questions(graph, OUTSIDER)[1]))
        ours = v0_by_everpath(graph, OUTSIDER)
        assert {**theirs, doubled: None} == {**ours, doubled: None}, (
            f"{doubled} provides an API twice:\n{graph}"
        )
        moves.update(ours.values())
    assert doubled not in moves
    assert len(moves) > 3  # other entries are chosen, and some channels fail


@pytest.mark.parametrize("seed", range(SHARDS))
def test_random_graphs(oracle: Oracle, seed: int, record_property: Counted) -> None:
    random = Random(seed)
    counts = compared(oracle, (random_graph(random) for _ in range(GRAPHS_A_SHARD)))
    record_property("counted", f"random graphs, seed {seed}: {shown(counts)}")
    # The random channels must include valid ones.
    assert min(counts["accepted"], counts["moves"], counts["panics"], counts["cycles"]) > 10


def compared(oracle: Oracle, graphs: Iterable[SmallGraph]) -> Counter[str]:
    """Compare the results of opm and OLM v0; fail with the smallest graph for which they differ."""
    counts: Counter[str] = Counter()
    for graph, verdict, picks in answered(oracle, graphs):
        if said := disagreement(graph, verdict, picks):
            pytest.fail(explained(oracle, graph, said))
        count(counts, graph, verdict, picks)
    return counts


def answered(oracle: Oracle, graphs: Iterable[SmallGraph]) -> Iterator[tuple[SmallGraph, Answer, Answer]]:
    """Yield each graph with the answers of opm and OLM, which are requested far ahead."""
    asked: list[SmallGraph] = []

    def stream() -> Iterator[Question]:
        for graph in graphs:
            asked.append(graph)
            yield from questions(graph, OUTSIDER)

    answers = oracle.ask_many(stream())
    for place, verdict in enumerate(answers):
        yield asked[place], verdict, next(answers)


def disagreement(graph: SmallGraph, verdict: Answer, picks: Answer) -> str | None:
    pairs = [
        ("opm", opm_by_oracle(verdict), opm_by_everpath(graph)),
        ("OLM v0", v0_by_oracle(graph, picks), v0_by_everpath(graph, OUTSIDER)),
    ]
    for who, theirs, ours in pairs:
        if theirs != ours:
            return f"{who}: {theirs}\neverpath: {ours}"
    return None


def explained(oracle: Oracle, graph: SmallGraph, said: str) -> str:
    def differs(smaller: SmallGraph) -> str | None:
        return next((disagreement(*answer) for answer in answered(oracle, [smaller])), None)

    smallest = shrunk(graph, lambda smaller: differs(smaller) is not None)
    return f"{smallest}\n{differs(smallest)}\n\nshrunk from\n{graph}\n{said}"


def count(counts: Counter[str], graph: SmallGraph, verdict: Answer, picks: Answer) -> None:
    outcomes = [picks["fresh"], *picks["installed"]]
    counts["graphs"] += 1
    counts["accepted"] += verdict["accepts"]
    counts["v0 questions"] += len(outcomes)
    counts["moves"] += sum(o["pick"] is not None for o in outcomes)
    counts["panics"] += sum(o.get("panicked", False) for o in outcomes)
    counts["cycles"] += sum("a cycle exists" in (o["error"] or "") for o in outcomes)


def shown(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in counts.items()) + ", 0 disagreements"
