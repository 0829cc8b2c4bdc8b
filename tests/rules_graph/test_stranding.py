"""Users from whom nothing leads on."""

from __future__ import annotations

from pathlib import Path

import pytest

import everpath
from documents import bundle, catalog, channel, package
from everpath.graph import ChannelGraph
from everpath.model import Csv, Place
from everpath.rules.graph.stranding import stranded_opm, stranded_v1
from graphs import channel_graph, findings, parse_report


def test_the_edge_that_does_not_count_is_told_with_its_reason() -> None:
    [finding] = parse_report("b3: - / b2\nb2: - / b1\nb1", "EP206")
    assert finding.because == ("b2 skips b1, but b3 skips b2, so OLM v0 never installs it",)
    assert finding.fix == "add b1 to the skips of b3"


def test_what_nobody_skips_is_taken_in_by_a_range() -> None:
    [finding] = parse_report("b3\nb2: b1\nb1", "EP207")
    assert finding.fix == "give b3 the skipRange '>=2.0.0 <3.0.0'"


def test_a_range_that_does_not_parse_is_not_built_upon() -> None:
    [finding] = parse_report("b3: - / - / <v1.0.0\nb2: b1\nb1", "EP207")
    assert finding.fix == "give b3 the skipRange '>=2.0.0 <3.0.0'"


def test_one_range_takes_in_all_that_are_stranded() -> None:
    fixes = [f.fix for f in parse_report("b3\nb2\nb1", "EP207")]
    edit = "give b3 the skipRange '>=1.0.0 <3.0.0'"
    assert fixes == [f"fixed together with EP207 (b2): {edit}", edit]


def test_nobody_is_sent_to_a_lower_version_that_v1_does_not_go_to() -> None:
    [finding] = parse_report("b1: - / b2\nb2\nb3: - / b3", "EP207")
    assert (finding.entry, finding.fix) == ("b2", "add b2 to the skips of b3")
    [finding] = parse_report("b1: - / b2\nb2\nb3@2.0.0: - / b3", "EP207")
    assert finding.entry == "b2"
    assert finding.fix == (
        "deprecate b2 in olm.deprecations, and OLM v1 updates to b1; "
        "or publish a release above 2.0.0 that replaces b1 and skips b2"
    )


def test_a_range_that_is_there_is_extended() -> None:
    [finding] = parse_report("b3: - / - / <1.0.0\nb2: b1\nb1", "EP207")
    assert finding.fix == "give b3 the skipRange '<1.0.0 || >=2.0.0 <3.0.0'"


def test_the_fix_of_a_stranded_entry_mends_it() -> None:
    assert findings("b3: - / b2, b1\nb2: - / b1\nb1", "EP206") == []


def test_entries_that_end_at_a_stranded_one_are_told_with_it() -> None:
    drawing = "b4: b3 / b3\nb3: b2\nb2: b1\nb1"
    assert findings(drawing, "EP206") == [
        "EP206 b2: clusters on b2 get no further updates under OLM v0; updates from b1 end there"
    ]


def test_an_entry_off_the_chain_accepts_nobody_under_v0() -> None:
    [finding] = [f for f in parse_report("b4\nb3: b1 / b3\nb1: - / b1", "EP206") if f.entry == "b1"]
    assert finding.because == ("b3 replaces b1, but b3 skips itself, so OLM v0 never installs it",)


def test_a_prohibited_entry_is_no_way_on() -> None:
    [finding] = parse_report("b2: b1\nb1\n%prohibited b2", "EP206")
    assert finding.because == ("b2 replaces b1, but b2 carries olm.deprecated, so OLM v0 never installs it",)
    assert finding.fix == "fixed together with EP505 (b2)"


def test_the_way_out_leads_to_what_olm_may_install() -> None:
    found = parse_report("b3: b2\nb2: b1 / b1\nb1: b0\nb0\n%prohibited b3", "EP206")
    [finding] = [f for f in found if f.entry == "b0"]
    assert finding.fix == "give b2 the skipRange '>=0.0.0 <2.0.0'"


def test_a_channel_without_a_unique_head_is_left_to_that_rule_under_v0() -> None:
    assert findings("b2\nb1", "EP206") == []


def test_v1_strands_whoever_is_below_the_lower_of_two_heads() -> None:
    assert findings("b4: b3\nb3\nb2: b1\nb1", "EP207") == [
        "EP207 b2: clusters on b2 get no further updates under OLM v1; updates from b1 end there"
    ]


def test_v1_leaves_the_highest_version_in_peace() -> None:
    assert findings("1.0.1: 1.0.0\n1.1.0: - / 1.1.0\n1.0.0", "EP207") == []


#: 1.1.0 was bad: a lower release was published in its stead.
ROLLED_BACK = "1.0.1: 1.0.0 / 1.1.0\n1.1.0: 1.0.0\n1.0.0"


def test_v1_strands_whoever_runs_the_highest_version_when_that_was_withdrawn() -> None:
    [finding] = parse_report(ROLLED_BACK, "EP207")
    assert (
        finding.message
        == "clusters on 1.1.0 get no further updates under OLM v1; updates from 1.0.0 end there"
    )
    assert finding.because == ("1.0.1 skips 1.1.0, but 1.0.1 is no higher version",)
    assert finding.fix == (
        "deprecate 1.1.0 in olm.deprecations, and OLM v1 updates to 1.0.1; "
        "or publish a release above 1.1.0 that replaces 1.0.1 and skips 1.1.0"
    )


@pytest.mark.parametrize(
    "mended",
    [
        ROLLED_BACK + "\n%deprecated 1.1.0",
        "1.1.1: 1.0.1 / 1.1.0\n" + ROLLED_BACK,
    ],
)
def test_either_way_out_of_a_withdrawn_release_mends_it(mended: str) -> None:
    assert findings(mended, "EP207") == []


def test_what_is_deprecated_itself_is_no_way_down() -> None:
    [finding] = parse_report(
        ROLLED_BACK + "\n%deprecated 1.0.0\n%deprecated 1.0.1\n%deprecated 1.1.0", "EP207"
    )
    assert finding.fix == "publish a release above 1.1.0 that replaces 1.0.1 and skips 1.1.0"


def test_without_an_entry_to_arrive_at_a_release_replaces_the_highest() -> None:
    [finding] = parse_report("b1: b2\nb2: b1", "EP207")
    assert str(finding.fix).endswith("or publish a release above 2.0.0 that replaces b2")


def test_v1_tells_of_the_lower_version_it_does_not_go_to() -> None:
    [finding] = parse_report("b4\nb2: - / b3\nb3: - / b2", "EP207")
    assert finding.because == ("b2 skips b3, but b2 is no higher version",)


@pytest.mark.parametrize(
    ("drawing", "fix"),
    [
        # Of two that accept it the higher one; what skips itself does not.
        (
            "1.0.2: 1.0.1 / 1.1.0\n1.0.1: 1.0.0 / 1.1.0\n1.1.0: 1.0.0 / 1.1.0\n1.0.0",
            (
                "deprecate 1.1.0 in olm.deprecations, and OLM v1 updates to 1.0.2; "
                "or publish a release above 1.1.0 that replaces 1.0.2 and skips 1.1.0"
            ),
        ),
        # Nowhere is a place to arrive at, and of equal versions the other one is replaced.
        (
            "b1@2.0.0: b2\nb2@2.0.0: b1",
            (
                "deprecate b1 in olm.deprecations, and OLM v1 updates to b2; "
                "or publish a release above 2.0.0 that replaces b2 and skips b1"
            ),
        ),
    ],
)
def test_the_way_out_of_a_withdrawn_release_names_who_takes_its_place(drawing: str, fix: str) -> None:
    assert parse_report(drawing, "EP207")[0].fix == fix


@pytest.mark.parametrize("rendered", [True, False])
def test_a_bundle_of_a_repository_cannot_be_deprecated_in_a_catalog(rendered: bool) -> None:
    graph = channel_graph(ROLLED_BACK)
    csv = None if rendered else Csv(Place("csv.yaml"))
    bundles = [graph.package.bundles[0]._replace(csv=csv), *graph.package.bundles[1:]]
    made = graph.package._replace(bundles=tuple(bundles))
    [flaw] = stranded_v1(ChannelGraph(graph.channel, made))
    assert str(flaw.fix).startswith("deprecate" if rendered else "publish a release")


def test_whom_v1_refuses_a_dependent_release_is_not_stranded() -> None:
    assert findings("b3\nb2: b1\nb1", "EP207") == [
        "EP207 b2: clusters on b2 get no further updates under OLM v1; updates from b1 end there"
    ]
    assert findings("b3\nb2: b1\nb1\n%dependent b2", "EP207") == []


def test_to_skip_less_is_not_advised_where_opm_finds_others_stranded() -> None:
    [flaw] = stranded_opm(channel_graph("d: c / c, s\nc: b\nb\ns: x\nx"))
    assert str(flaw.fix) == "add b and x to the skips of d"


def test_v1_tells_of_the_deprecation_for_which_it_does_not_go_up() -> None:
    [finding] = parse_report("b3: b2\nb2: b1\nb1\n%deprecated b2", "EP207")
    assert finding.because == ("b2 replaces b1, but b2 is deprecated and b1 is not",)


def test_whom_a_range_crashes_the_resolver_for_is_told_so_and_not_stranded() -> None:
    drawing = "b3: - / b2 / >=0.1.0 <0.2.0 || || >=3.0.0\nb2: - / b1\nb1"
    assert findings(drawing, "EP206", "EP207") == []
    assert findings(drawing, "EP302") != []
    whole = drawing.replace(" || || >=3.0.0", "")
    assert findings(whole, "EP206") == ["EP206 b1: clusters on b1 get no further updates under OLM v0"]


def test_who_meets_a_failure_is_not_told_among_those_who_end_at_a_stop() -> None:
    drawing = """
        b3: b2
        b2: b1
        b1: b0 / - / >=1.0.0 <1.1.0 || || >=9.0.0
        b0@0.1.0
        %prohibited b3
        %prohibited b2
    """
    assert findings(drawing, "EP206") == ["EP206 b1: clusters on b1 get no further updates under OLM v0"]
    whole = drawing.replace(" || || >=9.0.0", "")
    assert (
        "EP206 b1: clusters on b1 get no further updates under OLM v0; updates from b0 end there"
        in findings(whole, "EP206")
    )


def test_opm_calls_stranded_what_is_below_a_skipped_entry() -> None:
    [finding] = parse_report("b4: b3\nb3: b2 / b2\nb2: b1\nb1", "EP208")
    assert finding.message == (
        "opm rejects the channel: b1 is neither on the replaces chain of b4 nor skipped"
    )
    assert finding.because == ("the chain ends at b3: it replaces b2, which b3 skips",)
    assert finding.fix == "remove b2 from the skips of b3, or add b1 to the skips of b4"


def test_opm_calls_stranded_what_is_below_the_end_of_the_chain() -> None:
    [finding] = parse_report("b4: - / b3\nb3: b2\nb2: b1\nb1: - / b2", "EP208")
    assert finding.because == ("the chain ends at b4: it replaces nothing",)


def test_opm_calls_stranded_what_is_below_a_missing_entry() -> None:
    [finding] = parse_report("b4: b9 / b3\nb3: b2\nb2: b1\nb1: - / b2", "EP208")
    assert finding.because == ("the chain ends at b4: it replaces b9, which is not in the channel",)


def test_a_range_over_newer_versions_makes_v0_go_in_circles() -> None:
    [finding] = parse_report("b3: b2\nb2: b1 / - / >=1.0.0 <2.0.0 || >2.0.0\nb1", "EP210")
    assert finding.message == "OLM v0 updates without end: b3 → b2 → b3"
    assert finding.entry == "b2"
    assert finding.fix == "give b2 the skipRange '>=1.0.0 <2.0.0'"


def test_a_circle_that_a_crash_keeps_everybody_from_is_none() -> None:
    drawing = "b2: b1 / - / >=0.1.0 <0.2.0 || || >=9.0.0\nb1: - / - / >=2.0.0 <3.0.0"
    assert findings(drawing, "EP210") == []
    assert findings(drawing.replace(">=0.1.0 <0.2.0 || || ", ""), "EP210") != []


def test_a_head_that_accepts_itself_is_up_to_date_and_no_loop() -> None:
    assert findings("b3: b2 / - / >=1.0.0\nb2: b1 / - / >=1.0.0\nb1", "EP210") == []


def test_a_stranded_entry_is_pointed_at_by_its_name() -> None:
    [v0] = parse_report("b3: - / b2\nb2: - / b1\nb1", "EP206")
    [v1] = parse_report("b3\nb2: b1\nb1", "EP207")
    assert (v0.place.pointer, v1.place.pointer) == ((2, "name"), (1, "name"))


def test_an_entry_that_nobody_else_accepts_says_so() -> None:
    drawings = {"EP206": "b2\nb1: - / b1", "EP207": "b2\nb1: - / - / >=1.0.0 <1.5.0"}
    for rule, drawing in drawings.items():
        [finding] = parse_report(drawing, rule)
        assert finding.because == ("no entry replaces or skips b1, or covers it with a skipRange",)


def test_an_entry_whose_replacer_is_off_the_chain_says_which_chain() -> None:
    found = parse_report("b4: - / b3\nb3: b2\nb2: b1\nb1", "EP206")
    assert [f.because for f in found if f.entry == "b1"] == [
        ("b2 replaces b1, but b2 is not on the replaces chain of b4",)
    ]


@pytest.mark.parametrize(
    "drawing",
    [
        "head@3.0.0: - / b2\nb2: last\nlast?",
        "head?: - / b2\nb2: last\nlast@1.0.0",
        "head@1.0.0: - / b2\nb2: last\nlast@1.0.0",
        "head@1.0.0: - / b2\nb2: last\nlast@4.0.0",
    ],
)
def test_where_no_range_can_reach_down_the_way_out_is_a_skip(drawing: str) -> None:
    [finding] = parse_report(drawing, "EP206")
    assert (finding.entry, finding.fix) == ("last", "add last to the skips of head")


def test_all_who_end_at_a_stranded_entry_are_told() -> None:
    assert findings("b5\nb3: b2\nb2: b1\nb1", "EP207") == [
        "EP207 b3: clusters on b3 get no further updates under OLM v1; updates from b2 and b1 end there"
    ]


def test_every_piece_that_v1_cannot_leave_is_reported() -> None:
    assert [f.entry for f in parse_report("b4\nb3: b2\nb2\nb1", "EP207")] == ["b1", "b3"]


def test_an_entry_without_a_bundle_is_nobody_v1_could_strand() -> None:
    assert findings("b2\nb1?", "EP207") == []


def test_v1_is_led_to_the_head_even_where_that_is_not_the_highest_version() -> None:
    fixes = {f.entry: f.fix for f in parse_report("b2: x / b9\nx@0.1.0: b1\nb9\nb1", "EP207")}
    assert fixes["b1"] == "give b2 the skipRange '>=1.0.0 <2.0.0'"


def circle(length: int) -> str:
    """A head, and a circle of entries that it does not reach."""
    names = [f"c{n}" for n in range(length)]
    return "\n".join(["z"] + [f"{a}: {b}" for a, b in zip(names, names[1:] + names[:1], strict=True)])


def test_of_all_whom_opm_calls_stranded_the_newest_is_pointed_at() -> None:
    [finding] = parse_report("h\nx?: b\nb@2.0.0: a\na@1.0.0: x", "EP208")
    assert (finding.entry, finding.place.pointer) == ("b", (2, "name"))
    assert finding.message == (
        "opm rejects the channel: a, b and x are neither on the replaces chain of h nor skipped"
    )
    assert finding.fix == "add a, b and x to the skips of h"


def test_all_whom_opm_calls_stranded_are_named_in_the_fix_up_to_forty() -> None:
    nine, forty, more = (parse_report(circle(n), "EP208")[0].fix for n in (9, 40, 41))
    assert nine == "add c0, c1, c2, c3, c4, c5, c6, c7 and c8 to the skips of z"
    assert str(forty).count("c") == 40
    assert more == "add c0, c1, c10 and 38 more to the skips of z"


def test_a_name_that_is_no_entry_need_not_be_taken_from_the_skips() -> None:
    [finding] = parse_report("h: gone / gone\nb: a\na: b", "EP208")
    assert finding.because == ("the chain ends at h: it replaces gone, which h skips",)
    assert finding.fix == "add a and b to the skips of h"


def test_every_circle_is_reported_once() -> None:
    drawing = "b8: b7\nb7: b6 / b6 / =8.0.0\nb6: b5\nb5: b4\nb4: - / - / =5.0.0"
    assert findings(drawing, "EP210") == [
        "EP210 b4: OLM v0 updates without end: b5 → b4 → b5",
        "EP210 b7: OLM v0 updates without end: b8 → b7 → b8",
    ]


def test_a_circle_is_mended_where_it_goes_down_wherever_it_is_entered() -> None:
    [finding] = parse_report("b2: b1 / - / >2.0.0\nb3: b2\nb1", "EP210")
    assert finding.message == "OLM v0 updates without end: b2 → b3 → b2"
    assert (finding.entry, finding.place.pointer) == ("b2", (0, "name"))
    assert finding.because == ("b3 replaces b2", "the skipRange of b2 covers b3")


@pytest.mark.parametrize("version", ["", "@2.0.0+1"])
def test_a_circle_through_an_entry_that_is_not_known_to_be_lower_is_reported_too(version: str) -> None:
    drawing = f"b2: a\na{version or '?'}: - / - / =2.0.0"
    assert [f.message for f in parse_report(drawing, "EP210")] == ["OLM v0 updates without end: b2 → a → b2"]


def test_where_nothing_may_be_installed_the_head_is_to_be_mended() -> None:
    [finding] = parse_report("b2: b1\nb1\n%prohibited b2\n%prohibited b1", "EP206")
    assert finding.fix == "fixed together with EP505 (b2)"


def test_a_range_takes_in_those_whom_nobody_skips_and_no_others() -> None:
    found = parse_report("b9: - / b5\nb5: b3 / b2\nb3\nb2", "EP206")
    assert {f.entry: f.fix for f in found} == {
        "b2": "add b2 to the skips of b9",
        "b3": "give b9 the skipRange '>=3.0.0 <9.0.0'",
    }


def _all_skip_themselves(count: int) -> str:
    """Every entry skips itself, so that none is a target; the ranges of all others cover the lowest."""
    lines = (f"b{i}@1.{i}.0: - / b{i} / <1.{i}.0" for i in range(1, count + 1))
    return "\n".join(("head@2.0.0", *lines, "low@1.0.0: - / low"))


@pytest.mark.parametrize(("count", "more"), [(10, 0), (11, 1), (12, 2)])
def test_of_many_ranges_that_lead_nowhere_ten_are_named_and_the_others_counted(count: int, more: int) -> None:
    [finding] = [f for f in parse_report(_all_skip_themselves(count), "EP206") if f.entry == "low"]
    assert finding.because[:10] == tuple(
        f"the skipRange of b{i} covers low, but b{i} skips itself, so OLM v0 never installs it"
        for i in range(1, 11)
    )
    said = f"OLM does not follow {more} more skipRange{'s' * (more > 1)} either"
    assert finding.because[10:] == ((said,) if more else ())


def test_an_entry_s_own_range_is_not_among_those_that_lead_nowhere() -> None:
    drawing = _all_skip_themselves(11).replace("low@1.0.0: - / low", "low@1.0.0: - / low / <=1.0.0")
    [finding] = [f for f in parse_report(drawing, "EP206") if f.entry == "low"]
    assert len(finding.because) == 11
    assert not any("skipRange of low" in reason for reason in finding.because)


def test_a_head_that_provides_an_api_twice_is_the_cause_of_who_is_stranded_below_it() -> None:
    api = {"type": "olm.gvk", "value": {"group": "a.io", "version": "v1", "kind": "A"}}
    made = catalog(
        package(),
        channel("op.v1.0.0", "op.v1.1.0"),
        bundle("op.v1.0.0"),
        bundle("op.v1.1.0", "", api, api),
    )
    [finding] = parse_report(made, "EP206")
    assert finding.fix == "fixed together with EP427 (v1.1.0)"


def test_where_neither_a_range_nor_a_skip_is_safe_a_release_is_the_way_out() -> None:
    drawing = "h@9.0.0: m\nm@8.0.0: low\nlow?: n\nn@6.0.0: base\nbase@1.0.0\n%prohibited m\n%prohibited n"
    found = {f.entry: f.fix for f in parse_report(drawing, "EP206")}
    assert found == {
        "low": "publish a release that replaces h and skips low",
        "base": "give h the skipRange '>=1.0.0 <9.0.0'",
    }


def test_of_several_successors_without_a_bundle_the_first_is_named_as_the_cause() -> None:
    [finding] = parse_report("c: - / x, y\nx?: a\ny?: a\na", "EP207")
    assert finding.fix == "fixed together with EP401 (x)"


def test_of_equal_versions_v1_takes_either_and_strands_neither() -> None:
    assert findings("b@1.0.0\na@1.0.0", "EP207") == []


@pytest.mark.parametrize(
    ("drawing", "entry", "fix"),
    [
        # The range belongs to an entry whose version nobody knows.
        ("b2: a\na?: - / - / =2.0.0", "a", "republish a under a version above that of b2"),
        # All are equal: no hop goes down, and only one is by a range.
        (
            "c@1.0.0+3: b\nb@1.0.0+2: a\na@1.0.0+1: - / - / =1.0.0",
            "a",
            "remove the skipRange of a",
        ),
        (
            "a@1.0.0+1: - / - / =1.0.0\nb@1.0.0+2: a\nc@1.0.0+3: b",
            "a",
            "remove the skipRange of a",
        ),
        # Down by name, up by a range.
        ("b1: b3\nb3: - / - / =1.0.0", "b1", "republish b1 under a version above that of b3"),
        # Down by both: without the range it would still go down.
        (
            "b1: b3 / - / =3.0.0\nb3: - / - / =1.0.0",
            "b1",
            "republish b1 under a version above that of b3",
        ),
    ],
)
def test_a_circle_is_broken_where_it_goes_down_or_at_a_range(drawing: str, entry: str, fix: str) -> None:
    [finding] = parse_report(drawing, "EP210")
    assert (finding.entry, finding.fix) == (entry, fix)


def test_paths_into_a_second_channel_of_the_same_name_are_not_reported_in_the_first(tmp_path: Path) -> None:
    entries = ("- name: op.v1.0.0\n- name: op.v3.0.0", "- name: op.v2.0.0\n  replaces: op.v1.0.0")
    channels = [f"schema: olm.channel\npackage: op\nname: c\nentries:\n{lines}\n" for lines in entries]
    bundles = [
        f"schema: olm.bundle\npackage: op\nname: op.v{version}\nimage: example.com/op:{version}\n"
        f"properties: [{{type: olm.package, value: {{packageName: op, version: {version}}}}}]\n"
        for version in ("1.0.0", "2.0.0", "3.0.0")
    ]
    package = "schema: olm.package\nname: op\ndefaultChannel: c\n"
    (tmp_path / "catalog.yaml").write_text("---\n".join([package, *channels, *bundles]))
    findings = everpath.lint(everpath.load(tmp_path)).findings
    assert "EP108" in {finding.rule for finding in findings}
    assert "EP207" not in {finding.rule for finding in findings}
