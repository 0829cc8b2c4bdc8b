"""One fix for all findings with the same cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from everpath.graph import ChannelGraph
from everpath.rules.findings import Flaw, Severity
from everpath.rules.fixes.edits import ChannelEdit, add_skips, set_replaces
from everpath.rules.fixes.verify import Violation, verify_fixes
from everpath.rules.registry import Rule
from tests.support.everpath.graphs import channel_graph, parse_report

TYPO = "acme.v1.2.0: acme.v1.1.O\nacme.v1.1.0: acme.v1.0.0\nacme.v1.0.0"


def fixes(drawing: str, *rules: str) -> dict[str, str | None]:
    return {finding.rule: finding.fix for finding in parse_report(drawing, *rules)}


def test_misspelled_name_that_makes_a_second_head_has_one_fix() -> None:
    edit = "set replaces: acme.v1.1.0 on acme.v1.2.0"
    with_it = f"fixed together with EP202 (acme.v1.1.0): {edit}"
    found = fixes(TYPO, "EP202", "EP207", "EP212")
    assert found == {"EP202": edit, "EP207": with_it, "EP212": with_it}


def test_a_finding_alone_keeps_its_own_fix() -> None:
    assert fixes(TYPO, "EP207") == {"EP207": "give acme.v1.2.0 the skipRange '>=1.1.0 <1.2.0'"}


def test_findings_of_opm_and_v0_with_one_cause_have_one_fix() -> None:
    found = fixes("b4: b3 / b2\nb3: b2\nb2: b1\nb1", "EP206", "EP208", "EP232")
    edit = "remove b2 from the skips of b4"
    assert found["EP208"] == f"{edit}, or add b1 to the skips of b4"
    assert found["EP206"] == f"fixed together with EP208 (b1): {edit}"
    assert found["EP232"] == found["EP206"]


def test_edit_that_fixes_most_findings_is_suggested() -> None:
    found = {f.entry: f.fix for f in parse_report("b3\nb2\nb1", "EP207")}
    assert found["b2"] == "give b3 the skipRange '>=1.0.0 <3.0.0'"
    assert found["b1"] == f"fixed together with EP207 (b2): {found['b2']}"


def test_two_causes_have_two_fixes() -> None:
    found = parse_report("b9: b7\nb6: b4\nb3", "EP202", "EP207")
    assert [f.fix for f in found if f.rule == "EP202"] == [
        "set replaces: b3 on b6",
        "set replaces: b6 on b9",
    ]


def test_warnings_without_errors_have_no_common_cause() -> None:
    found = fixes("b2: b1 / - / >=1.0.0\nb1", "EP304", "EP309")
    assert found == dict.fromkeys(("EP304", "EP309"), "give b2 the skipRange '>=1.0.0 <2.0.0'")


def test_a_long_edit_is_not_repeated() -> None:
    names = [f"acme-operator-number-{n}" for n in range(9)]
    circle = "\n".join(f"{a}@1.0.0: {b}" for a, b in zip(names, names[1:] + names[:1], strict=True))
    found = fixes(f"h@3.0.0\n{circle}", "EP207", "EP208")
    assert len(found["EP208"] or "") > 200
    assert found["EP207"] == "fixed together with EP208 (acme-operator-number-0)"


@pytest.mark.parametrize(("head", "count"), [("h@9.0.0", 100), ("h@9.0.0: gone", 101)])
def test_channel_with_more_than_100_findings_has_no_common_causes(head: str, count: int) -> None:
    drawing = "\n".join([head, *(f"s{n}@1.{n}.0" for n in range(50))])
    found = parse_report(drawing, "EP202", "EP207", "EP212")
    assert len(found) == count
    assert any("fixed together" in (f.fix or "") for f in found) is (count == 100)


@pytest.mark.parametrize(
    ("severity", "is_traced"), [(Severity.NOTE, True), (Severity.WARNING, False), (Severity.ERROR, False)]
)
def test_findings_that_are_more_than_notes_count_towards_the_hundred(
    severity: Severity, is_traced: bool
) -> None:
    others = (fault(f"w{n}", severity=severity) for n in range(99))
    found = flaw_fixes(law("EP1", fault("x", "xa"), fault("a"), *others))
    assert found["a"].startswith("fixed together with EP1 (x)") is is_traced


GRAPH = channel_graph("h")


def fault(name: str | None, fixed: str = "", severity: Severity | None = None, text: str = "") -> Flaw:
    """Something that is wrong until the entry h skips its name, and an edit by which h skips some."""
    edit = add_skips(GRAPH, "h", fixed)._replace(text=text or f"fix {fixed}")
    fix: str | ChannelEdit = edit if fixed else "no edit"
    return Flaw(GRAPH.entries["h"].place, str(name), fix=fix, entry=name, severity=severity)


def law(
    id: str,  # noqa: A002 - the word users know
    *faults: Flaw,
    severity: Severity = Severity.ERROR,
    follows: Callable[[frozenset[str]], Iterator[Flaw]] = lambda _: iter(()),
    asked: list[ChannelGraph] | None = None,
) -> Rule:
    """Finds faults as long as h does not skip them, and whatever follows from what h skips."""

    def check(graph: ChannelGraph) -> Iterator[Flaw]:
        if asked is not None:
            asked.append(graph)
        skipped = graph.skips.get("h", frozenset())
        yield from (flaw for flaw in faults if flaw.message not in skipped)
        yield from follows(skipped)

    return Rule(id, id.lower(), severity, "channel", "A law.", check=check)


def flaw_fixes(*rules: Rule) -> dict[str, str]:
    """The fix of each fault after tracing, by its name."""
    found = [Violation(rule, flaw) for rule in rules for flaw in rule.check(GRAPH)]
    return {j.flaw.message: str(j.flaw.fix) for j in verify_fixes(GRAPH, found)}


def test_findings_refer_to_their_own_cause() -> None:
    assert flaw_fixes(law("EP1", fault("x", "xa"), fault("a"), fault("y", "yb"), fault("b"))) == {
        "x": "fix xa",
        "a": "fixed together with EP1 (x): fix xa",
        "y": "fix yb",
        "b": "fixed together with EP1 (y): fix yb",
    }


def test_notes_have_no_cause_and_do_not_prevent_an_edit() -> None:
    def follows(skipped: frozenset[str]) -> Iterator[Flaw]:
        yield from [fault("n", severity=Severity.NOTE)] if skipped else []

    aside = fault("m", severity=Severity.NOTE)
    found = flaw_fixes(law("EP1", fault("x", "xam"), fault("a"), aside, follows=follows))
    assert found["m"] == "no edit"
    assert found["a"] == "fixed together with EP1 (x): fix xam"


def test_warning_that_remains_after_an_edit_is_not_fixed_by_it() -> None:
    left = law("EP2", fault("w"), severity=Severity.WARNING)
    assert flaw_fixes(law("EP1", fault("x", "xa"), fault("a")), left)["w"] == "no edit"


def test_equal_edits_are_sorted_by_severity_then_rule() -> None:
    faults = fault("x", "xy"), fault("y", "xy")
    mild = flaw_fixes(law("EP1", faults[0], severity=Severity.WARNING), law("EP2", faults[1]))
    assert mild["x"].startswith("fixed together with EP2 (y)")
    alike = flaw_fixes(law("EP2", faults[0]), law("EP1", faults[1]))
    assert alike["x"].startswith("fixed together with EP1 (y)")


def test_finding_with_a_cause_is_not_a_cause() -> None:
    found = flaw_fixes(law("EP1", fault("x", "xyz"), fault("y", "yw"), fault("z"), fault("w")))
    assert found["w"] == "no edit"


def test_finding_refers_to_the_edit_that_fixes_more() -> None:
    found = flaw_fixes(law("EP1", fault("w", "wy"), fault("x", "xyz"), fault("y"), fault("z")))
    assert found["y"].startswith("fixed together with EP1 (x)")


def test_edit_that_does_not_fix_its_finding_is_not_a_cause() -> None:
    assert flaw_fixes(law("EP1", fault("x", "y"), fault("y")))["y"] == "no edit"


@pytest.mark.parametrize("severity", [Severity.ERROR, Severity.WARNING])
def test_edit_that_causes_a_new_finding_of_a_rule_does_not_fix_the_rule(severity: Severity) -> None:
    def follows(skipped: frozenset[str]) -> Iterator[Flaw]:
        yield from [fault("new", severity=severity)] if skipped else []

    found = flaw_fixes(law("EP1", fault("x", "xab"), fault("b")), law("EP2", fault("a"), follows=follows))
    assert found["a"] == "no edit"
    assert found["b"].startswith("fixed together with EP1 (x)")


def test_edit_that_causes_a_new_finding_of_its_rule_is_not_a_cause() -> None:
    def follows(skipped: frozenset[str]) -> Iterator[Flaw]:
        yield from [fault("new")] if skipped else []

    found = flaw_fixes(law("EP1", fault("x", "xa"), follows=follows), law("EP2", fault("a")))
    assert found == {"x": "fix xa", "a": "no edit"}


def test_cause_without_an_entry_is_named_by_its_rule() -> None:
    whole = fault(None, "a")._replace(message="a")
    assert flaw_fixes(law("EP1", whole, fault("a")._replace(message="a", entry="b")))["a"] == (
        "fixed together with EP1: fix a"
    )


@pytest.mark.parametrize(("length", "is_repeated"), [(200, True), (201, False)])
def test_edit_of_up_to_200_characters_is_repeated(length: int, is_repeated: bool) -> None:
    text = "x" * length
    found = flaw_fixes(law("EP1", fault("x", "xa", text=text), fault("a")))
    assert found["a"].endswith(text) is is_repeated


@pytest.mark.parametrize(("count", "judgements"), [(1, 1), (2, 3), (8, 9), (9, 9)])
def test_at_most_eight_edits_are_tried_as_common_causes(count: int, judgements: int) -> None:
    asked: list[ChannelGraph] = []
    faults = [fault(name, name) for name in "abcdefgij"[:count]]
    other = law("EP2", *[fault("w")] * (count > 1), asked=asked)
    flaw_fixes(law("EP1", *faults), other)
    assert len(asked) == judgements


def test_the_edits_of_the_worst_findings_are_tried_first() -> None:
    mild = law("EP1", *(fault(name, name) for name in "abcdefgi"), severity=Severity.WARNING)
    found = flaw_fixes(mild, law("EP2", fault("x", "xy"), fault("y")))
    assert found["y"] == "fixed together with EP2 (x): fix xy"


def long_channel(entries: int) -> ChannelGraph:
    return channel_graph("\n".join(["h@9.0.0: s1", *(f"s{n}@1.0.{n}: s{n + 1}" for n in range(1, entries))]))


@pytest.mark.parametrize(("entries", "judgements"), [(137, 74), (500, 22), (2000, 10)])
def test_tried_edits_of_a_long_channel_copy_at_most_10000_entries(entries: int, judgements: int) -> None:
    graph = long_channel(entries)
    asked: list[ChannelGraph] = []
    names = [f"x{n}" for n in range(90)]
    faults = [
        fault(name)._replace(fix=add_skips(graph, "h", [name]), severity=Severity.WARNING) for name in names
    ]
    rule = law("EP1", *faults, asked=asked)
    verify_fixes(graph, [Violation(rule, flaw) for flaw in rule.check(graph)])
    assert len(asked) == judgements


def test_untried_edit_that_is_harmful_is_not_a_cause() -> None:
    graph = long_channel(1300)
    ineffective = [fault(name)._replace(fix=add_skips(graph, "h", ["unknown"])) for name in "abcdefgi"]
    harmful = add_skips(graph, "h", "xy").entries[0]._replace(replaces="s2")
    rule = law(
        "EP1", *ineffective, fault("x")._replace(fix=ChannelEdit("leave s1 out", (harmful,))), fault("y")
    )
    found = verify_fixes(graph, [Violation(rule, flaw) for flaw in rule.check(graph)])
    assert [str(j.flaw.fix) for j in found][-2:] == ["leave s1 out", "no edit"]


@pytest.mark.parametrize(
    ("drawing", "on", "target", "harm"),
    [
        ("b4: b3\nb3: b2\nb2: b1\nb1", "b4", "b2", "opm would reject the channel"),
        ("b4: b3 / b2\nb3: b1\nb2\nb1", "b2", "b1", "several entries would replace b1"),
    ],
    ids=["refused", "forked"],
)
def test_harmful_edit_is_not_suggested(drawing: str, on: str, target: str, harm: str) -> None:
    graph = channel_graph(drawing)
    flaw = Flaw(GRAPH.entries["h"].place, "x", fix=set_replaces(graph, on, target), entry="b1")
    [violation] = verify_fixes(graph, [Violation(law("EP1", flaw), flaw)])
    assert str(violation.flaw.fix).startswith(
        f"no single edit of the channel fixes this without side effects ({harm})"
    )


def test_edit_without_effect_is_replaced_by_a_release() -> None:
    release = "publish a release above 8.0.0 that replaces h and skips x"
    assert (
        flaw_fixes(law("EP1", fault("x", "y")))["x"] == f"no single edit of the channel fixes this: {release}"
    )


LINE = channel_graph("s: r\nr: q\nq: p\np")


def edit(on: str) -> ChannelEdit:
    """By it an entry skips its own name in capitals, of which no rule of OLM's knows anything."""
    return add_skips(LINE, on, [on.upper()])._replace(text=f"change {on}")


def needs(id: str, wanted: str, fix: ChannelEdit) -> Rule:  # noqa: A002 - the word users know
    """Finds a fault until the changes of one of the words are all made, and offers a fix for it."""

    def check(graph: ChannelGraph) -> Iterator[Flaw]:
        made = {name for name in graph.entries if name.upper() in graph.skips.get(name, ())}
        if not any(made.issuperset(word) for word in wanted.split()):
            yield Flaw(graph.entries["p"].place, id, fix=fix, entry=id)

    return Rule(id, id.lower(), Severity.WARNING, "channel", "A law.", check=check)


def advised(*rules: Rule) -> dict[str, str]:
    found = [Violation(rule, flaw) for rule in rules for flaw in rule.check(LINE)]
    return {j.rule.id: str(j.flaw.fix) for j in verify_fixes(LINE, found)}


def test_edit_is_combined_only_with_the_one_it_needs() -> None:
    either = edit("p")._replace(alternative=edit("q"))
    assert advised(needs("EP1", "p q", either)) == {"EP1": "change p, or change q"}
    assert advised(needs("EP1", "p", either)) == {"EP1": "change p"}
    assert advised(needs("EP1", "q", either)) == {"EP1": "change q"}


def test_edit_is_combined_with_the_first_suggested_one() -> None:
    first = needs("EP1", "p q", edit("p")._replace(alternative=edit("q")))
    assert advised(first, needs("EP2", "pr", edit("r")))["EP2"] == "change p and change r"
    beside = advised(first, needs("EP2", "qr", edit("r")))["EP2"]
    assert beside.startswith("no single edit of the channel fixes this: ")


def test_two_edits_can_be_combined_with_the_same_one() -> None:
    third = edit("r")
    rules = (needs(f"EP{n}", "p q r", edit(on)._replace(alternative=third)) for n, on in enumerate("pq"))
    assert advised(*rules, needs("EP2", "qr", third))["EP2"] == "change q and change r"


def test_edit_is_combined_with_one_of_the_first_three() -> None:
    rules = [needs(f"EP{n}", on, edit(on)) for n, on in enumerate("pqr")]
    assert advised(*rules, needs("EP3", "rs", edit("s")))["EP3"] == "change r and change s"
