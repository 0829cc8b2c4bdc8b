"""The published counts over all three-entry graphs come out of the real code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.everpath.conformance.oracle import Answer, Oracle
from tests.everpath.conformance.small_graphs import SmallGraph, as_catalog, as_channel, three_entry_graphs

pytestmark = pytest.mark.conformance


def test_of_4096_graphs_opm_accepts_1146_of_which_414_strand_users_and_72_fail_with_a_cycle(
    oracle: Oracle, record_property: Callable[[str, object], None]
) -> None:
    graphs = list(three_entry_graphs())
    verdicts = oracle.ask_many({"ask": "opm", "catalog": as_catalog(graph)} for graph in graphs)
    accepted = [graph for graph, verdict in zip(graphs, verdicts, strict=True) if verdict["accepts"]]
    answers = oracle.ask_many(
        {"ask": "v0", "channel": as_channel(graph), "installed": graph.names} for graph in accepted
    )
    fates = Counter(fate(graph, answer) for graph, answer in zip(accepted, answers, strict=True))

    counts = {"graphs": len(graphs), "accepted": len(accepted), **fates}
    record_property("counted", f"three-entry graphs, the oracle alone: {counts}")
    assert counts == {
        "graphs": 4096,
        "accepted": 1146,
        "stranding": 414,
        "cycle": 72,
        "all are upgraded": 660,
    }


def fate(graph: SmallGraph, answer: Answer) -> str:
    """Return whether the resolver fails, an entry below the head stays, or all entries are upgraded."""
    outcomes = [answer["fresh"], *answer["installed"]]
    errors = {outcome["error"] for outcome in outcomes}
    if errors != {None}:
        assert len(errors) == 1, f"some installed versions fail and some do not:\n{graph}"
        return "cycle" if "a cycle exists" in errors.pop() else "another error"
    head = answer["fresh"]["pick"]
    stays = [n for n, o in zip(graph.names, answer["installed"], strict=True) if o["pick"] is None]
    return "stranding" if set(stays) - {head} else "all are upgraded"
