"""Fixes that are harmful or without effect are replaced by another one, or by advice."""

from __future__ import annotations

import pytest

from everpath.rules.fixes.edits import next_release_advice, remove_replaces
from everpath.rules.fixes.trials import FixTrials
from tests.support.everpath.graphs import channel_graph, parse_report

#: Both ranges cover everything: the head's own keeps it from going down.
OPEN = "b2: b1 / - / >=1.0.0\nb1: - / - / >=1.0.0"


def fixes(drawing: str, *rules: str) -> dict[tuple[str, str | None], str | None]:
    return {(finding.rule, finding.entry): finding.fix for finding in parse_report(drawing, *rules)}


@pytest.mark.parametrize("rule", ["EP304", "EP309"])
def test_range_of_the_head_is_capped_together_with_the_older_range(rule: str) -> None:
    assert fixes(OPEN, rule) == {
        (rule, "b1"): "remove the skipRange of b1",
        (rule, "b2"): "remove the skipRange of b1 and give b2 the skipRange '>=1.0.0 <2.0.0'",
    }


def test_edit_that_needs_all_other_fixes_is_suggested_after_them() -> None:
    found = fixes("b3: b2 / - / >=1.0.0\nb2: b1 / - / >=1.0.0\nb1: - / - / >=1.0.0", "EP304")
    assert found["EP304", "b3"] == (
        "give b3 the skipRange '>=1.0.0 <3.0.0', after all other fixes: EP304 (b2) and EP304 (b1)"
    )


def test_edit_is_combined_with_one_of_three_or_comes_after_all() -> None:
    harmless = "b4: b3 / - / =4.0.0\nb3: b2 / - / =3.0.0\nb2: b1 / - / =2.0.0"
    found = fixes(f"b9: b4 / - / >=1.0.0\n{harmless}\nb1: - / - / >=9.0.0 || =1.0.0", "EP304")
    assert found["EP304", "b9"] == (
        "give b9 the skipRange '>=1.0.0 <9.0.0', after all other fixes: "
        "EP304 (b4), EP304 (b3), EP304 (b2) and 1 more"
    )


def test_range_is_not_widened_if_that_closes_a_cycle() -> None:
    found = fixes("op.v1.1.0\nop.v2.0.0: op.v1.1.0\nop.v1.1.0-beta: op.v2.0.0", "EP231")
    assert found == {("EP231", "op.v1.1.0"): "publish a patch above 1.1.0 that skips op.v1.1.0-beta"}


def test_skip_is_removed_together_with_the_range_it_hides() -> None:
    found = fixes("b3: b1 / b1\nb1: - / - / >=2.0.0", "EP216", "EP305")
    assert found["EP216", "b3"] == (
        "remove the skipRange of b1 and remove b1 from the skips of b3, unless it was withdrawn on purpose"
    )
    alone = fixes("b3: b1 / b1\nb1: - / - / >=2.0.0", "EP216")
    assert alone["EP216", "b3"] == (
        "no single edit of the channel fixes this without side effects (OLM v0 would update b3 without end): "
        "publish a release above 3.0.0 that replaces b3, with a skipRange from 3.0.0"
    )


@pytest.mark.parametrize(
    ("drawing", "entry"),
    [
        ("b1: - / - / >=1.0.0\nb2: - / b2", "b2"),
        ("b4\nb1: b4\nb2: b1\nb3: b2 / - / >=4.0.0", "b4"),
    ],
    ids=["it would be stranded", "it would still go down"],
)
def test_only_edge_of_a_version_is_not_removed_because_it_is_a_downgrade(drawing: str, entry: str) -> None:
    [fix] = fixes(drawing, "EP218").values()
    assert fix is not None
    assert fix.startswith("publish a release above")
    assert entry in {finding.entry for finding in parse_report(drawing, "EP218")}


def test_self_skip_is_moved_to_an_entry_that_can_have_it() -> None:
    below = fixes("b1\nb2: b1 / b2\nb3", "EP211", "EP206", "EP208")
    assert below["EP211", "b2"] == "move b2 from its own skips to the skips of b3"
    assert not any("EP211" in (fix or "") for (rule, _), fix in below.items() if rule != "EP211")
    above = "remove b2 from its own skips and set replaces: b1 on b2"
    assert fixes("b1\nb2: - / b2", "EP211", "EP206") == {
        ("EP211", "b2"): above,
        ("EP206", "b2"): f"fixed together with EP211 (b2): {above}",
    }


def test_second_head_above_a_cycle_is_joined_at_the_cycle() -> None:
    [finding] = parse_report("b1\nb2: b2\nb3: b2", "EP202")
    assert finding.because == ("b2 replaces b2", "b2 closes a cycle")
    assert finding.fix == "set replaces: b1 on b2"


def test_finding_that_remains_as_a_note_is_not_fixed() -> None:
    found = fixes("op.v2.0.0-rc.1\nop.v1.1.0: op.v2.0.0-rc.1\nop.v2.0.0", "EP202", "EP231")
    assert found["EP231", "op.v2.0.0"] == "give op.v2.0.0 the skipRange '>=2.0.0-rc.1 <2.0.0'"


def test_several_successors_without_a_followed_edge_need_no_action() -> None:
    twins = "b0@1.2.0: - / b2\nb1@1.2.0+1: b0\nb2@1.2.0+2: b1\nb4@2.0.0: - / b0 / =1.2.0"
    found = fixes(f"{twins}\n%deprecated b0: old\n%deprecated b2: old\n%deprecated b4: old", "EP209")
    assert found["EP209", "b2"] == "no action if this is intended"


@pytest.mark.parametrize(
    ("drawing", "release"),
    [
        ("b2: b1\nb1", "publish a release above 2.0.0 that replaces b2, with a skipRange from 1.0.0"),
        (
            "b3\nb2: b1\nb1",
            "publish a release above 3.0.0 that replaces b3 and skips b2, with a skipRange from 1.0.0",
        ),
        (
            "b2: b1\nb1: b2",
            "publish a release above 2.0.0 that replaces b2, with a skipRange from 1.0.0",
        ),
        (
            "b3: b2\nb2: b1\nb1: b3",
            "publish a release above 3.0.0 that replaces b3, with a skipRange from 1.0.0",
        ),
        ("b2: b1\nb1@-", "publish a release above 2.0.0 that replaces b2 and skips b1"),
        ("b1@-", "publish a release that replaces b1"),
    ],
    ids=["a head", "two heads", "no head", "no head of three", "no version", "a head without a version"],
)
def test_suggested_release_replaces_every_head(drawing: str, release: str) -> None:
    assert next_release_advice(channel_graph(drawing), "b1") == release


def test_edit_that_exposes_a_panicking_range_is_harmful() -> None:
    # OLM v1 asks for the range of an entry only where it neither replaces nor skips what is installed.
    graph = channel_graph("b1@1.0.0: b1 / - / >=2.0.0 || || <0.1.0")
    assert FixTrials(graph).regression(remove_replaces(graph, "b1")) == "OLM v1 would fail for b1"
