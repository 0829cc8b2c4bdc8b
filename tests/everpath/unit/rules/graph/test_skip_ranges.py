"""Rules about skip ranges."""

from __future__ import annotations

import pytest

from everpath.model import Catalog
from tests.support.everpath.documents import catalog, channel, package
from tests.support.everpath.graphs import findings, parse_report


def test_a_range_that_does_not_parse_shows_where_and_how_to_write_it() -> None:
    [finding] = parse_report("b2: b1 / - / >=1.0.0 <v2.0.0\nb1", "EP301")
    assert finding.message.startswith("OLM ignores the skipRange of b2, because it is invalid: ")
    assert str(finding.fix).endswith("the skipRange '>=1.0.0 <2.0.0'")
    assert finding.place.pointer[-1] == "skipRange"


def test_fix_removes_an_empty_arm() -> None:
    [finding] = parse_report("b2: b1 / - / <1.0.0 || || >2.0.0\nb1", "EP302")
    assert str(finding.fix).endswith("the skipRange '<1.0.0 || >2.0.0'")
    assert finding.because == ("the resolver dereferences nil when it evaluates b1 and b2",)


def test_a_plain_range_has_no_hazard() -> None:
    assert findings("b2: b1 / - / >=1.0.0 <2.0.0\nb1", "EP303") == []


def test_a_range_over_its_own_version_is_reported() -> None:
    assert findings("b2: b1 / - / >=1.0.0 <2.0.1\nb1", "EP304") == [
        "EP304 b2: the skipRange of b2 covers its own version 2.0.0"
    ]


def test_a_prerelease_lies_inside_the_range_below_its_release() -> None:
    assert findings("a@0.0.5-rc.1: - / - / >=0.0.0 <0.0.5", "EP304") != []


def test_a_range_over_newer_versions_counts_them() -> None:
    assert findings("b4: b3\nb3: b2\nb2: b1 / - / >=1.0.0\nb1", "EP305") == [
        "EP305 b2: the skipRange of b2 covers 2 newer versions: b3 and b4"
    ]


def test_a_range_that_ends_where_it_begins_is_empty() -> None:
    assert findings("b2: b1 / - / >=1.7.0 <1.7.0\nb1", "EP306") == [
        "EP306 b2: the skipRange of b2 matches no version: '>=1.7.0 <1.7.0'"
    ]


def test_range_that_is_empty_by_a_hazard_is_reported_as_a_hazard() -> None:
    [finding] = parse_report("b2: b1 / - / 1.0.0 - 2.0.0\nb1", "EP303", "EP306")
    assert (finding.rule, finding.fix) == ("EP303", "give b2 the skipRange '>=1.0.0 <=2.0.0'")


def test_corrected_range_that_causes_a_loop_is_capped() -> None:
    [finding] = parse_report("1.0.3: 1.0.1\n1.0.1: - / - / 1.0.1 - 1.0.3", "EP303")
    assert finding.fix == "remove the skipRange of 1.0.1"
    [finding] = parse_report("1.0.3: 1.0.1\n1.0.1: - / - / 0.5.0 - 1.0.3", "EP303")
    assert finding.fix == "give 1.0.1 the skipRange '>=0.5.0 <1.0.1'"


def test_corrected_syntax_that_causes_a_loop_is_capped() -> None:
    [finding] = parse_report("1.0.3: 1.0.1\n1.0.1: - / - / >=0.5.0 <=v1.0.3", "EP301")
    assert finding.fix == "give 1.0.1 the skipRange '>=0.5.0 <1.0.1'"


def test_range_with_a_hazard_without_fix_has_no_suggestion() -> None:
    [finding] = parse_report("b2: b1 / - / 1.x.x a\nb1", "EP303")
    assert finding.fix == "`everpath range explain '1.x.x a'` shows what it matches"


def test_range_that_covers_no_entry_is_a_note() -> None:
    assert findings("b3: b2 / - / <1.0.0\nb2", "EP307") == [
        "EP307 b3: the skipRange of b3 covers no other entry of the channel: '<1.0.0'"
    ]


def test_an_empty_range_is_not_reported_twice() -> None:
    assert findings("b2: b1 / - / >=1.7.0 <1.7.0\nb1", "EP307") == []


def test_range_that_covers_only_its_entry_is_a_note() -> None:
    assert findings("b3: b2 / - / =3.0.0\nb2", "EP307") != []


def test_a_range_without_an_upper_end_is_reported() -> None:
    [finding] = parse_report("b2: b1 / - / >=1.0.0\nb1", "EP309")
    assert finding.fix == "give b2 the skipRange '>=1.0.0 <2.0.0'"


def written(*ranges: str | None) -> Catalog:
    """A channel whose entries have these ranges, b1 the first; for what a drawing cannot draw."""
    entries = [{"name": f"b{n}", "skipRange": span} for n, span in enumerate(ranges, start=1)]
    return catalog(package(), channel(*entries))


def summaries(subject: str | Catalog, rule: str) -> list[tuple[str | None, tuple[str, ...], str | None]]:
    """Entry, because and fix of what a rule finds; each must be where the range is written."""
    found = parse_report(subject, rule)
    assert all(f.place.pointer[-1] == "skipRange" for f in found)
    return [(f.entry, f.because, f.fix) for f in found]


def test_every_range_that_does_not_parse_is_reported_with_its_consequence() -> None:
    found = summaries(written("", None, "<v2", "  ", "<1.0.0", "<<"), "EP301")
    assert [entry for entry, _, _ in found] == ["b3", "b4", "b6"]
    assert [because[0] for _, because, _ in found] == ["<v2", "  ", "<<"]
    assert [because[-1] for _, because, _ in found] == [
        "no version updates to b3 by this range",
        "no version updates to b4 by this range",
        "no version updates to b6 by this range",
    ]
    assert found[2][2] == "write a range such as '>=1.0.0 <1.2.0'"


def test_empty_range_is_reported() -> None:
    fix = "remove it, or write a range"
    assert summaries(written("", None, "<1.0.0", " \t"), "EP308") == [("b1", (), fix)]


def test_every_panicking_range_is_reported_with_the_affected_versions() -> None:
    drawing = "b4: b3 / - / <2.0.0 || || >9.0.0\nb3: b2 / - / <3.0.0\nb2: b1 / - / <9.0.0 || || >9.0.0\nb1"
    assert summaries(drawing, "EP302") == [
        ("b2", (), "give b2 the skipRange '<9.0.0 || >9.0.0'"),
        (
            "b4",
            ("the resolver dereferences nil when it evaluates b2, b3 and b4",),
            "give b4 the skipRange '<2.0.0 || >9.0.0'",
        ),
    ]


def test_fix_removes_a_bar_at_the_end() -> None:
    [(_, _, fix)] = summaries("b3: b1 / - / >=1.0.0 <3.0.0 |\nb1", "EP303")
    assert fix == "give b3 the skipRange '>=1.0.0 <3.0.0'"


def test_every_misleading_range_is_reported_with_all_hazards() -> None:
    drawing = "b3: - / - / ! 1.0.0 || 1.x.x\nb2: - / - / a 1.x.x\nb1"
    assert summaries(drawing, "EP303") == [
        (
            "b2",
            ("the first x is read as 0: 1.x.x means >=1.0.0 <1.1.0",),
            "`everpath range explain 'a 1.x.x'` shows what it matches",
        ),
        (
            "b3",
            ("the first x is read as 0: 1.x.x means >=1.0.0 <1.1.0",),
            "give b3 the skipRange '!=1.0.0 || 1.x'",
        ),
    ]
    assert "the ! is separated from the version and ignored" in findings(drawing, "EP303")[1]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("<1.0.0 || || >2.0.0", []),  # crashes: EP302
        (">2.0.0 <2.0.0", ["EP306"]),
        (">2.0.0 <2.0.0 || || >3.0.0", ["EP306"]),  # empty up to where it crashes
        (">2.0.0 <2.0.0 || 1.0.0", ["EP303"]),  # one arm can never hold
        ("!=1.2.x", ["EP303"]),  # empty, because misread
        ("<2.0.0", []),
    ],
)
def test_range_is_reported_as_misleading_or_as_empty(text: str, rules: list[str]) -> None:
    assert [f.rule for f in parse_report(f"b2: - / - / {text}\nb1", "EP303", "EP306")] == rules


def test_every_range_that_covers_its_entry_has_a_fix() -> None:
    drawing = "b3: - / - / <=3.0.0\nb2: - / - / =2.0.0\nb1: - / - / <1.0.0\nx?: - / - / <9.0.0"
    assert summaries(drawing, "EP304") == [
        ("b2", ("2.0.0 is in '=2.0.0'",), "remove the skipRange of b2"),
        ("b3", ("3.0.0 is in '<=3.0.0'",), "give b3 the skipRange '<3.0.0'"),
    ]


def test_every_range_that_covers_newer_versions_has_a_fix() -> None:
    drawing = "b3: - / - / <3.0.0\nb2: - / - / <1.5.0 || >2.5.0\nb1: - / - / =2.0.0\nx?: - / - / <9.0.0"
    assert summaries(drawing, "EP305") == [
        ("b1", ("2.0.0 is in '=2.0.0'",), "remove the skipRange of b1"),
        ("b2", ("3.0.0 is in '<1.5.0 || >2.5.0'",), "give b2 the skipRange '<1.5.0'"),
    ]
    assert findings(drawing, "EP305") == [
        "EP305 b1: the skipRange of b1 covers 1 newer version: b2",
        "EP305 b2: the skipRange of b2 covers 1 newer version: b3",
    ]


@pytest.mark.parametrize(("count", "shown"), [(5, "b2, b3, b4, b5 and b6"), (6, "b2, b3, b4, b5 and b6 …")])
def test_at_most_five_newer_versions_are_listed(count: int, shown: str) -> None:
    drawing = "\n".join(["b1: - / - / >=1.0.0", *(f"b{n}" for n in range(2, count + 2))])
    [finding] = parse_report(drawing, "EP305")
    assert finding.message == f"the skipRange of b1 covers {count} newer versions: {shown}"
    assert len(finding.because) == 5


def test_every_empty_range_has_a_fix() -> None:
    fix = "remove the skipRange of {}, or start it at a lower version"
    drawing = "b3: - / - / >1.0.0 <1.0.0\nb2: - / - / <2.0.0\nb1: - / - / <0.1.0 >0.1.0"
    assert summaries(drawing, "EP306") == [("b1", (), fix.format("b1")), ("b3", (), fix.format("b3"))]


def test_only_ranges_that_cover_no_other_entry_are_reported() -> None:
    drawing = "b3: - / - / <1.0.0\nb2: - / - / >=1.0.0 <3.0.0\nb1: - / - / =1.0.0"
    assert summaries(drawing, "EP307") == [
        (
            "b1",
            (),
            "no action if clusters run releases it covers, pruned or of another channel; else remove it",
        ),
        ("b3", (), "end it with <3.0.0, or remove it; no action if clusters run releases it covers"),
    ]


def test_every_range_without_an_upper_end_is_given_one() -> None:
    drawing = "b3: - / - / >1.0.0\nb2: - / - / <2.0.0\nx?: - / - / !=1.0.0"
    assert summaries(drawing, "EP309") == [
        ("b3", (), "give b3 the skipRange '>1.0.0 <3.0.0'"),
        ("x", (), "end it with < and the version of x"),
    ]


@pytest.mark.parametrize(("count", "more"), [(8, ""), (9, " and 1 more"), (10, " and 2 more")])
def test_at_most_eight_affected_versions_are_listed(count: int, more: str) -> None:
    lines = [f"b{n}@1.{n}.0" for n in range(count)]
    drawing = "\n".join(["z@0.1.0: - / - / <1.0.0 || || >9.0.0", *lines])
    names = [f"b{n}" for n in range(8)]
    named = ", ".join(names) if more else f"{', '.join(names[:-1])} and {names[-1]}"
    [(_, because, _)] = summaries(drawing, "EP302")
    assert because == (f"the resolver dereferences nil when it evaluates {named}{more}",)


def test_hazard_that_does_not_change_the_meaning_is_not_reported() -> None:
    assert findings("b2: b1 / - / >=1.0.0-x.1 <2.0.0\nb1", "EP303") == []


def test_unused_range_of_an_entry_without_a_version_needs_no_action() -> None:
    fix = "no action if clusters run releases it covers, pruned or of another channel; else remove it"
    assert summaries("x?: - / - / <1.0.0\nb2", "EP307") == [("x", (), fix)]
