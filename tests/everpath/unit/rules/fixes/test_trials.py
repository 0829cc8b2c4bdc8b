"""Trials of edits: regressions of installed versions, and the cost of a trial."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from everpath.graph import ChannelGraph
from everpath.model import Place, Property
from everpath.rules.findings import Flaw, Severity
from everpath.rules.fixes.edits import add_skips
from everpath.rules.fixes.trials import FixTrials
from everpath.rules.registry import Rule
from tests.support.everpath.graphs import channel_graph

#: Two heads, of which OLM v0 makes nothing at all.
TWO_HEADS = "b3: b1\nb2\nb1"

#: OLM v0 goes no further than b2.
WITHDRAWN = "b3: b2\nb2: b1\nb1{}\n%prohibited b3"


def harm(before: str, after: str, needy: str = "") -> str | None:
    """Return the regressions of a change from one graph to another; OLM v1 refuses the bundle of `needy`."""
    return FixTrials(needing(before, needy)).regression_in(needing(after, needy))


def needing(drawing: str, needy: str) -> ChannelGraph:
    """A channel in which one bundle depends on something."""
    graph = channel_graph(drawing)
    need = Property("olm.package.required", {"packageName": "q", "versionRange": "1.x"}, Place("f"))
    bundles = (b._replace(properties=(need,)) if b.name == needy else b for b in graph.package.bundles)
    return ChannelGraph(graph.channel, graph.package._replace(bundles=tuple(bundles)))


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (
            "b3: b2 / b1\nb2\nb1: b0\nb0",
            "b3: - / b1\nb2\nb1: b0\nb0",
            "OLM v0 would fail for b3",
        ),
        (
            "b3: b2\nb2: b1\nb1",
            "b3: b2 / - / >=2.0.0 || || >=9.0.0\nb2: b1\nb1",
            "OLM v0 would fail for b1",
        ),
        (
            "b3: b2\nb2: b1 / - / >=3.0.0\nb1",
            "b3: b2\nb2: b1 / - / >=3.0.0 || || >=9.0.0\nb1",
            "OLM v0 would fail for b3",
        ),
        (WITHDRAWN.format(""), WITHDRAWN.format(": - / - / =2.0.0"), "OLM v0 would update b2 without end"),
        (TWO_HEADS, "b3: b2\nb2\nb1", "OLM v1 would not update b1"),
    ],
    ids=["a second head", "a range that crashes", "out of a circle", "into a circle", "left behind"],
)
def test_regression_names_versions_with_a_worse_end(before: str, after: str, found: str) -> None:
    assert harm(before, after) == found


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("b3: b2 / b1\nb2: b1\nb1", "b3: b2\nb2: b1\nb1", "OLM v1 would fail for b1"),
        ("b3: b2\nb2\nb1", TWO_HEADS, "OLM v1 would fail for b2"),
    ],
    ids=["on the way to it", "with it installed"],
)
def test_version_that_would_get_a_rejected_bundle_fails(before: str, after: str, found: str) -> None:
    assert harm(before, after, needy="b2") == found


def test_rejected_bundle_is_no_regression_for_other_versions() -> None:
    before = "b3: b2\nb2: b1\nb1"
    assert harm(before, "b3: b2 / b1\nb2: b1\nb1", needy="b2") is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TWO_HEADS, "b3: b1 / b2\nb2\nb1"),
        (TWO_HEADS, "b3: b1 / - / =0.5.0\nb2\nb1"),
        (WITHDRAWN.format(": - / - / =2.0.0"), WITHDRAWN.format("")),
        ("b4: b3 / b2\nb3: b1\nb2: b1\nb1", "b4: b3 / b2, b1\nb3: b1\nb2: b1\nb1"),
        ("b3: b1 / b2\nb2\nb1", "b3: b1 / b2\nb2: b1\nb1"),
    ],
    ids=["from a failure", "a failure as before", "out of a circle", "a fork as before", "one line"],
)
def test_version_with_the_same_or_a_better_end_is_no_regression(before: str, after: str) -> None:
    assert harm(before, after) is None


def test_new_fork_is_a_regression_beside_an_existing_one() -> None:
    drawing = "b6: b5 / b4, b2\nb5: b3\nb4: b3\nb3: b1\nb2{}\nb1"
    assert harm(drawing.format(""), drawing.format(": b1")) == "several entries would replace b1"


def recording(id: str, asked: list[ChannelGraph]) -> Rule:  # noqa: A002 - the word users know
    """A rule that notes what it is asked about, and finds nothing."""

    def check(graph: ChannelGraph) -> Iterator[Flaw]:
        asked.append(graph)
        return iter(())

    return Rule(id, id.lower(), Severity.ERROR, "channel", "A law.", check=check)


def test_edit_is_tried_on_one_copy_and_each_rule_runs_once() -> None:
    graph, asked = channel_graph("b2: b1\nb1"), list[ChannelGraph]()
    trials = FixTrials(graph)
    for _ in range(2):
        for name in ("EP1", "EP2"):
            trials.flaws_after(recording(name, asked), add_skips(graph, "b2", ["b0"]))
    first, second = asked
    assert first is second
    assert first.skips == {"b2": {"b0"}}
