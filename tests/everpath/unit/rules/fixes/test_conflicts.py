"""Fixes of a report that are compatible, and the order of those that are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from everpath.graph import ChannelGraph
from everpath.rules.findings import Flaw, Severity
from everpath.rules.fixes.edits import (
    ChannelEdit,
    DeferredFix,
    FixedWith,
    add_skips,
    merge_edits,
    remove_replaces,
    remove_skip,
    set_range,
    set_replaces,
)
from everpath.rules.fixes.verify import Violation, verify_fixes
from everpath.rules.lint import Selection, channel_violations
from everpath.rules.registry import _RULES, Rule
from tests.support.everpath.graphs import channel_graph, parse_report

#: A patch outside of the chain: a skip would fix the fork, and also the second head.
PATCH = "b5: b3\nb4: b2\nb3: b2\nb2: b1\nb1"

GRAPH = channel_graph("h: g / f, e / <1.0.0\ng: - / e\nf\ne")


def fixes(drawing: str, *rules: str) -> dict[tuple[str, str | None], str | None]:
    return {(finding.rule, finding.entry): finding.fix for finding in parse_report(drawing, *rules)}


def test_fork_and_second_head_have_compatible_edits() -> None:
    found = fixes(PATCH)
    assert found["EP202", "b4"] == "add b4 to the skips of b5"
    assert found["EP203", "b2"] == "set replaces: b3 on b4, after EP202 (b4)"
    followed = "b5: b3 / b4\nb4: b3\nb3: b2\nb2: b1\nb1"
    assert [f for f in parse_report(followed) if f.severity > Severity.NOTE] == []


def test_fork_is_fixed_by_a_skip() -> None:
    assert fixes(PATCH, "EP203") == {("EP203", "b2"): "add b3 to the skips of b4"}


def test_conflicting_edits_refer_to_the_first_one() -> None:
    found = fixes("b0@1.0.0\nb1@1.0.0-rc.1: b0 / b1")
    assert found["EP201", "b0"] == "remove b0 from replaces of b1"
    assert found["EP211", "b1"] == "fix EP201 (b0) first, then validate again"
    assert found["EP207", "b1"] == "same cause as EP211 (b1): fix EP201 (b0) first, then validate again"


def test_two_findings_of_one_entry_have_two_edits() -> None:
    found = parse_report("b2: b1\nb1: b1 / b1", "EP211")
    assert [f.fix for f in found] == [
        "remove b1 from its own replaces",
        "move b1 from its own skips to the skips of b2",
    ]


@pytest.mark.parametrize(
    ("first", "second", "after"),
    [
        (
            add_skips(GRAPH, "h", ["d", "b"]),
            add_skips(GRAPH, "h", ["d", "c"]),
            "h: g / f, e, d, b, c / <1.0.0",
        ),
        (remove_skip(GRAPH, "f", ["h"]), add_skips(GRAPH, "h", ["d"]), "h: g / e, d / <1.0.0"),
        (remove_skip(GRAPH, "f", ["h"]), remove_skip(GRAPH, "e", ["h"]), "h: g / - / <1.0.0"),
        (set_replaces(GRAPH, "h", "f"), add_skips(GRAPH, "h", ["d"]), "h: f / f, e, d / <1.0.0"),
        (add_skips(GRAPH, "h", ["d"]), remove_replaces(GRAPH, "h"), "h: - / f, e, d / <1.0.0"),
        (set_range(GRAPH.entries["h"], "<2.0.0"), set_replaces(GRAPH, "h", "f"), "h: f / f, e / <2.0.0"),
        (set_replaces(GRAPH, "h", "f"), set_range(GRAPH.entries["h"], "<2.0.0"), "h: f / f, e / <2.0.0"),
        (set_replaces(GRAPH, "h", "f"), set_replaces(GRAPH, "h", "f"), "h: f / f, e / <1.0.0"),
    ],
)
def test_edits_of_one_entry_are_merged(first: ChannelEdit, second: ChannelEdit, after: str) -> None:
    both = merge_edits(GRAPH, first, second)
    assert both is not None
    [entry], [wanted] = both.entries, channel_graph(after).entries.values()
    assert (entry.replaces, entry.skips, entry.skip_range) == (
        wanted.replaces,
        wanted.skips,
        wanted.skip_range,
    )
    assert both.text == f"{first.text} and {second.text}"


def test_edits_of_several_entries_are_merged() -> None:
    both = merge_edits(GRAPH, remove_skip(GRAPH, "e", ["h", "g"]), remove_skip(GRAPH, "f", ["h"]))
    assert both is not None
    assert {entry.name: entry.skips for entry in both.entries} == {"h": (), "g": ()}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (set_replaces(GRAPH, "h", "f"), set_replaces(GRAPH, "h", "e")),
        (set_replaces(GRAPH, "h", "f"), remove_replaces(GRAPH, "h")),
        (set_range(GRAPH.entries["h"], "<2.0.0"), set_range(GRAPH.entries["h"], "<3.0.0")),
    ],
)
def test_contradicting_edits_are_not_merged(first: ChannelEdit, second: ChannelEdit) -> None:
    assert merge_edits(GRAPH, first, second) is None


def test_new_entries_of_one_name_are_merged_only_if_equal() -> None:
    new = GRAPH.entries["h"]._replace(name="new")
    one, other = (
        ChannelEdit("put new there", (new,)),
        ChannelEdit("put new here", (new._replace(replaces="e"),)),
    )
    assert merge_edits(GRAPH, one, other) is None
    assert merge_edits(GRAPH, one, one) is not None


ROW = channel_graph("h")


def wrong(
    name: str, target: str, instead: ChannelEdit | None = None, otherwise: ChannelEdit | None = None
) -> Flaw:
    """A fault that is there until h replaces a name, or skips the fault's."""
    edit = set_replaces(ROW, "h", target)._replace(fallback=instead, alternative=otherwise)
    return Flaw(ROW.entries["h"].place.at(name), target, fix=edit, entry=name)


def flaw_fixes(*faults: Flaw, graph: ChannelGraph = ROW) -> dict[str, str]:
    """The fix of each fault."""

    def check(graph: ChannelGraph) -> Iterator[Flaw]:
        head = graph.entries["h"]
        yield from (f for f in faults if f.message != head.replaces and f.entry not in head.skips)

    return fixes_of(check, graph)


def fixes_of(check: Callable[[ChannelGraph], Iterator[Flaw]], graph: ChannelGraph = ROW) -> dict[str, str]:
    """The fix of each fault that a rule finds."""
    rule = Rule("EP1", "ep1", Severity.ERROR, "channel", "A law.", check=check)
    found = verify_fixes(graph, [Violation(rule, flaw) for flaw in check(graph)])
    return {str(j.flaw.entry): str(j.flaw.fix) for j in found}


def test_second_of_two_contradicting_edits_is_deferred() -> None:
    assert flaw_fixes(wrong("x", "a"), wrong("y", "b")) == {
        "x": "set replaces: a on h",
        "y": "fix EP1 (x) first, then validate again",
    }


@pytest.mark.parametrize(
    ("drawing", "rule", "is_other"),
    [
        ("b0@1.0.0\nb1@1.0.0-rc.1: b0 / b1", "EP211", True),
        ("b0@1.0.0\nb1@1.0.0-rc.1: b0 / b1", "EP201", False),
        ("b?\na", "EP202", False),
    ],
)
def test_only_a_fix_that_waits_for_other_fixes_is_deferred(drawing: str, rule: str, is_other: bool) -> None:
    """To add a bundle first is something to do."""
    violations = channel_violations(channel_graph(drawing), Selection())
    [flaw] = [violation.flaw for violation in violations if violation.rule.id == rule]
    assert isinstance(flaw.fix, DeferredFix) is is_other


def test_finding_that_another_fix_removes_refers_to_it() -> None:
    violations = channel_violations(channel_graph("b0@1.0.0\nb1@1.0.0-rc.1: b0 / b1"), Selection())
    [flaw] = [violation.flaw for violation in violations if violation.rule_and_entry == ("EP207", "b1")]
    assert flaw.fix == FixedWith("EP211", "b1", DeferredFix("fix EP201 (b0) first, then validate again"))


def test_reference_to_a_finding_without_an_entry_names_the_rule() -> None:
    assert str(FixedWith("EP211", None)) == "fixed together with EP211"


def test_finding_without_an_entry_is_named_by_its_rule() -> None:
    whole = wrong("x", "a")._replace(entry=None)
    assert flaw_fixes(whole, wrong("y", "b"))["y"] == "fix EP1 first, then validate again"


def skipped(name: str) -> Flaw:
    """A fault that is there until h skips its name."""
    return wrong(name, name)._replace(fix=add_skips(ROW, "h", [name]))


def test_edit_that_undoes_another_fix_is_deferred() -> None:
    """z goes with x, and comes back with y."""

    def check(graph: ChannelGraph) -> Iterator[Flaw]:
        skips = graph.entries["h"].skips
        yield from (skipped(name) for name in "xy" if name not in skips)
        if "x" not in skips or "y" in skips:
            yield skipped("z")._replace(fix="leave it")

    assert fixes_of(check) == {
        "x": "add x to the skips of h",
        "y": "fix EP1 (x) first, then validate again",
        "z": "fixed together with EP1 (x): add x to the skips of h",
    }


def test_of_two_contradicting_edits_the_one_that_fixes_more_is_first() -> None:
    faults = {"x": "a", "y": "b", "z": "b"}

    def check(graph: ChannelGraph) -> Iterator[Flaw]:
        yield from (wrong(n, to) for n, to in faults.items() if to != graph.entries["h"].replaces)

    found = fixes_of(check)
    assert found["y"] == "set replaces: b on h"
    assert found["x"] == "fix EP1 (y) first, then validate again"


def test_edit_of_a_higher_severity_is_first() -> None:
    mild = wrong("x", "a")._replace(severity=Severity.WARNING)
    assert flaw_fixes(mild, wrong("y", "b"))["x"] == "fix EP1 (y) first, then validate again"


def test_deferred_fix_names_up_to_three_findings() -> None:
    skips = [wrong(name, name)._replace(fix=add_skips(ROW, "h", [name])) for name in "uvwx"]
    found = flaw_fixes(*skips, wrong("y", "a"), wrong("z", "b"))
    assert found["y"] == "set replaces: a on h"
    assert found["z"] == "fix EP1 (u), EP1 (v), EP1 (w) and 2 more first, then validate again"


@pytest.mark.parametrize("field", ["instead", "otherwise"])
def test_conflicting_edit_is_replaced_by_its_alternative(field: str) -> None:
    alternative = {field: add_skips(ROW, "h", ["y"])}
    found = flaw_fixes(wrong("x", "a"), wrong("y", "b", **alternative))
    assert found == {"x": "set replaces: a on h", "y": "add y to the skips of h"}


@pytest.mark.parametrize("alternative", [add_skips(ROW, "h", ["v"]), add_skips(ROW, "h", ["h", "y"])])
def test_alternative_without_effect_or_with_harm_is_not_used(alternative: ChannelEdit) -> None:
    found = flaw_fixes(wrong("x", "a"), wrong("y", "b", alternative))
    assert found["y"] == "fix EP1 (x) first, then validate again"


def test_compatible_edits_keep_their_alternatives() -> None:
    both = wrong("x", "a", otherwise=add_skips(ROW, "h", ["x"]))
    other = wrong("y", "b")._replace(fix=add_skips(ROW, "h", ["y"]))
    assert flaw_fixes(both, other)["x"] == "set replaces: a on h, or add x to the skips of h"


def test_compatible_edit_beside_conflicting_ones_loses_untried_alternatives() -> None:
    both = wrong("z", "z")._replace(
        fix=add_skips(ROW, "h", ["z"])._replace(alternative=add_skips(ROW, "h", ["z", "v"]))
    )
    found = flaw_fixes(wrong("x", "a"), wrong("y", "b"), both)
    assert found["z"] == "add z to the skips of h"


def test_at_most_eight_edits_of_a_long_channel_are_combined() -> None:
    long = channel_graph("\n".join(["h@9.0.0: s1", *(f"s{n}@1.0.{n}: s{n + 1}" for n in range(1, 1300))]))
    names = "abcdefgij"
    faults = [wrong(name, name)._replace(fix=add_skips(long, "h", [name])) for name in names]
    clash = ChannelEdit(
        "skip k, and give h a range", (long.entries["h"]._replace(skips=("k",), skip_range="<1.0.0"),)
    )
    other = ChannelEdit(
        "skip l, and give h another", (long.entries["h"]._replace(skips=("l",), skip_range="<0.9.0"),)
    )
    found = flaw_fixes(
        *(wrong(name, name)._replace(fix=fix) for name, fix in (("k", clash), ("l", other))),
        *faults,
        graph=long,
    )
    assert found["k"] == clash.text
    assert found["f"] == "add f to the skips of h"
    assert [n for n, fix in found.items() if fix.endswith("first, then validate again")] == [
        "l",
        "g",
        "i",
        "j",
    ]


@pytest.mark.parametrize(
    ("severity", "is_deferred"),
    [(None, True), (Severity.ERROR, True), (Severity.WARNING, False), (Severity.NOTE, False)],
)
def test_only_new_errors_defer_an_edit(
    monkeypatch: pytest.MonkeyPatch, severity: Severity | None, is_deferred: bool
) -> None:
    def check(graph: ChannelGraph) -> Iterator[Flaw]:
        if {"x", "y"} <= graph.skips.get("h", set()):
            yield Flaw(graph.entries["h"].place, "both", entry="h", severity=severity)

    rule = Rule("EP9", "ep9", Severity.ERROR, "channel", "A law.", check=check)
    monkeypatch.setitem(_RULES, "EP9", rule)
    faults = [wrong(name, name)._replace(fix=add_skips(ROW, "h", [name])) for name in "xy"]
    assert ("validate again" in flaw_fixes(*faults)["y"]) is is_deferred
