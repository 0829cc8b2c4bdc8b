"""Rules about stranded versions and update loops."""

from __future__ import annotations

from pathlib import Path

import pytest

import everpath
from everpath.graph import ChannelGraph
from everpath.model import Csv, Place
from everpath.rules.graph.stranding import stranded_opm, stranded_v1
from tests.support.everpath.documents import bundle, catalog, channel, package
from tests.support.everpath.graphs import channel_graph, findings, parse_report


def test_edge_that_is_not_followed_has_a_reason() -> None:
    [finding] = parse_report("b3: - / b2\nb2: - / b1\nb1", "EP206")
    assert finding.because == ("b2 skips b1, but b3 skips b2, so OLM v0 never installs it",)
    assert finding.fix == "add b1 to the skips of b3"


def test_fix_covers_an_entry_that_is_not_skipped_with_a_range() -> None:
    [finding] = parse_report("b3\nb2: b1\nb1", "EP207")
    assert finding.fix == "give b3 the skipRange '>=2.0.0 <3.0.0'"


def test_range_that_does_not_parse_is_not_extended() -> None:
    [finding] = parse_report("b3: - / - / <v1.0.0\nb2: b1\nb1", "EP207")
    assert finding.fix == "give b3 the skipRange '>=2.0.0 <3.0.0'"


def test_one_range_covers_all_stranded_entries() -> None:
    fixes = [f.fix for f in parse_report("b3\nb2\nb1", "EP207")]
    edit = "give b3 the skipRange '>=1.0.0 <3.0.0'"
    assert fixes == [f"fixed together with EP207 (b2): {edit}", edit]


def test_fix_for_v1_does_not_use_a_lower_version() -> None:
    [finding] = parse_report("b1: - / b2\nb2\nb3: - / b3", "EP207")
    assert (finding.entry, finding.fix) == ("b2", "add b2 to the skips of b3")
    [finding] = parse_report("b1: - / b2\nb2\nb3@2.0.0: - / b3", "EP207")
    assert finding.entry == "b2"
    assert finding.fix == (
        "deprecate b2 in olm.deprecations, and OLM v1 updates to b1; "
        "or publish a release above 2.0.0 that replaces b1 and skips b2"
    )


def test_existing_range_is_extended() -> None:
    [finding] = parse_report("b3: - / - / <1.0.0\nb2: b1\nb1", "EP207")
    assert finding.fix == "give b3 the skipRange '<1.0.0 || >=2.0.0 <3.0.0'"


def test_fix_of_a_stranded_entry_removes_the_finding() -> None:
    assert findings("b3: - / b2, b1\nb2: - / b1\nb1", "EP206") == []


def test_paths_that_end_at_a_stranded_entry_are_listed() -> None:
    drawing = "b4: b3 / b3\nb3: b2\nb2: b1\nb1"
    assert findings(drawing, "EP206") == [
        "EP206 b2: clusters on b2 get no further updates under OLM v0; updates from b1 end there"
    ]


def test_v0_does_not_install_an_entry_outside_of_the_chain() -> None:
    [finding] = [f for f in parse_report("b4\nb3: b1 / b3\nb1: - / b1", "EP206") if f.entry == "b1"]
    assert finding.because == ("b3 replaces b1, but b3 skips itself, so OLM v0 never installs it",)


def test_v0_does_not_install_an_entry_with_olm_deprecated() -> None:
    [finding] = parse_report("b2: b1\nb1\n%prohibited b2", "EP206")
    assert finding.because == ("b2 replaces b1, but b2 carries olm.deprecated, so OLM v0 never installs it",)
    assert finding.fix == "fixed together with EP505 (b2)"


def test_fix_uses_an_installable_entry() -> None:
    found = parse_report("b3: b2\nb2: b1 / b1\nb1: b0\nb0\n%prohibited b3", "EP206")
    [finding] = [f for f in found if f.entry == "b0"]
    assert finding.fix == "give b2 the skipRange '>=0.0.0 <2.0.0'"


def test_channel_without_a_single_head_has_no_stranded_entries_under_v0() -> None:
    assert findings("b2\nb1", "EP206") == []


def test_v1_strands_versions_below_the_lower_of_two_heads() -> None:
    assert findings("b4: b3\nb3\nb2: b1\nb1", "EP207") == [
        "EP207 b2: clusters on b2 get no further updates under OLM v1; updates from b1 end there"
    ]


def test_highest_version_is_not_stranded_under_v1() -> None:
    assert findings("1.0.1: 1.0.0\n1.1.0: - / 1.1.0\n1.0.0", "EP207") == []


#: 1.1.0 was withdrawn, and a lower release replaces it.
ROLLED_BACK = "1.0.1: 1.0.0 / 1.1.0\n1.1.0: 1.0.0\n1.0.0"


def test_withdrawn_highest_version_is_stranded_under_v1() -> None:
    [finding] = parse_report(ROLLED_BACK, "EP207")
    assert (
        finding.message
        == "clusters on 1.1.0 get no further updates under OLM v1; updates from 1.0.0 end there"
    )
    assert finding.because == ("1.0.1 skips 1.1.0, but 1.0.1 is not a higher version",)
    assert finding.fix == (
        "deprecate 1.1.0 in olm.deprecations, and OLM v1 updates to 1.0.1; "
        "or publish a release above 1.1.0 that replaces 1.0.1 and skips 1.1.0"
    )


@pytest.mark.parametrize(
    "fixed",
    [
        ROLLED_BACK + "\n%deprecated 1.1.0",
        "1.1.1: 1.0.1 / 1.1.0\n" + ROLLED_BACK,
    ],
)
def test_both_fixes_for_a_withdrawn_release_remove_the_finding(fixed: str) -> None:
    assert findings(fixed, "EP207") == []


def test_deprecated_entry_is_not_suggested_as_a_lower_target() -> None:
    [finding] = parse_report(
        ROLLED_BACK + "\n%deprecated 1.0.0\n%deprecated 1.0.1\n%deprecated 1.1.0", "EP207"
    )
    assert finding.fix == "publish a release above 1.1.0 that replaces 1.0.1 and skips 1.1.0"


def test_deprecation_is_not_suggested_for_an_entry_without_a_successor() -> None:
    [finding] = parse_report("b3\nb2: b1\nb1\n%deprecated b3", "EP207")
    assert finding.fix == "publish a release above 3.0.0 that replaces b2 and skips b3"


def test_without_a_target_a_release_replaces_the_highest_version() -> None:
    [finding] = parse_report("b1: b2\nb2: b1", "EP207")
    assert str(finding.fix).endswith("or publish a release above 2.0.0 that replaces b2")


def test_reason_names_the_lower_version_that_v1_does_not_install() -> None:
    [finding] = parse_report("b4\nb2: - / b3\nb3: - / b2", "EP207")
    assert finding.because == ("b2 skips b3, but b2 is not a higher version",)


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
def test_fix_for_a_withdrawn_release_names_its_replacement(drawing: str, fix: str) -> None:
    assert parse_report(drawing, "EP207")[0].fix == fix


@pytest.mark.parametrize("rendered", [True, False])
def test_a_bundle_of_a_repository_cannot_be_deprecated_in_a_catalog(rendered: bool) -> None:
    graph = channel_graph(ROLLED_BACK)
    csv = None if rendered else Csv(Place("csv.yaml"))
    bundles = [graph.package.bundles[0]._replace(csv=csv), *graph.package.bundles[1:]]
    made = graph.package._replace(bundles=tuple(bundles))
    [flaw] = stranded_v1(ChannelGraph(graph.channel, made))
    assert str(flaw.fix).startswith("deprecate" if rendered else "publish a release")


def test_version_with_a_rejected_update_is_not_stranded() -> None:
    assert findings("b3\nb2: b1\nb1", "EP207") == [
        "EP207 b2: clusters on b2 get no further updates under OLM v1; updates from b1 end there"
    ]
    assert findings("b3\nb2: b1\nb1\n%dependent b2", "EP207") == []


def test_removal_of_a_skip_is_not_suggested_if_opm_rejects_it() -> None:
    [flaw] = stranded_opm(channel_graph("d: c / c, s\nc: b\nb\ns: x\nx"))
    assert str(flaw.fix) == "add b and x to the skips of d"


def test_reason_names_the_deprecation_that_v1_avoids() -> None:
    [finding] = parse_report("b3: b2\nb2: b1\nb1\n%deprecated b2", "EP207")
    assert finding.because == ("b2 replaces b1, but b2 is deprecated and b1 is not",)


def test_version_that_crashes_the_resolver_is_not_stranded() -> None:
    drawing = "b3: - / b2 / >=0.1.0 <0.2.0 || || >=3.0.0\nb2: - / b1\nb1"
    assert findings(drawing, "EP206", "EP207") == []
    assert findings(drawing, "EP302") != []
    whole = drawing.replace(" || || >=3.0.0", "")
    assert findings(whole, "EP206") == ["EP206 b1: clusters on b1 get no further updates under OLM v0"]


def test_failing_version_is_not_listed_with_stranded_paths() -> None:
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


def test_opm_reports_entries_below_a_skipped_one_as_stranded() -> None:
    [finding] = parse_report("b4: b3\nb3: b2 / b2\nb2: b1\nb1", "EP208")
    assert finding.message == (
        "opm rejects the channel: b1 is neither on the replaces chain of b4 nor skipped"
    )
    assert finding.because == ("the chain ends at b3: it replaces b2, which b3 skips",)
    assert finding.fix == "remove b2 from the skips of b3, or add b1 to the skips of b4"


def test_opm_reports_entries_below_the_end_of_the_chain_as_stranded() -> None:
    [finding] = parse_report("b4: - / b3\nb3: b2\nb2: b1\nb1: - / b2", "EP208")
    assert finding.because == ("the chain ends at b4: it replaces nothing",)


def test_opm_reports_entries_below_a_missing_one_as_stranded() -> None:
    [finding] = parse_report("b4: b9 / b3\nb3: b2\nb2: b1\nb1: - / b2", "EP208")
    assert finding.because == ("the chain ends at b4: it replaces b9, which is not in the channel",)


def test_range_that_covers_newer_versions_causes_a_loop() -> None:
    [finding] = parse_report("b3: b2\nb2: b1 / - / >=1.0.0 <2.0.0 || >2.0.0\nb1", "EP210")
    assert finding.message == "OLM v0 updates without end: b3 → b2 → b3"
    assert finding.entry == "b2"
    assert finding.fix == "give b2 the skipRange '>=1.0.0 <2.0.0'"


def test_loop_that_is_prevented_by_a_panic_is_not_reported() -> None:
    drawing = "b2: b1 / - / >=0.1.0 <0.2.0 || || >=9.0.0\nb1: - / - / >=2.0.0 <3.0.0"
    assert findings(drawing, "EP210") == []
    assert findings(drawing.replace(">=0.1.0 <0.2.0 || || ", ""), "EP210") != []


def test_a_head_that_accepts_itself_is_up_to_date_and_no_loop() -> None:
    assert findings("b3: b2 / - / >=1.0.0\nb2: b1 / - / >=1.0.0\nb1", "EP210") == []


def test_stranded_entry_is_reported_at_its_name() -> None:
    [v0] = parse_report("b3: - / b2\nb2: - / b1\nb1", "EP206")
    [v1] = parse_report("b3\nb2: b1\nb1", "EP207")
    assert (v0.place.pointer, v1.place.pointer) == ((2, "name"), (1, "name"))


def test_reason_for_an_entry_without_edges() -> None:
    drawings = {"EP206": "b2\nb1: - / b1", "EP207": "b2\nb1: - / - / >=1.0.0 <1.5.0"}
    for rule, drawing in drawings.items():
        [finding] = parse_report(drawing, rule)
        assert finding.because == ("no entry replaces or skips b1, or covers it with a skipRange",)


def test_reason_for_a_replacer_outside_of_the_chain() -> None:
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
def test_fix_is_a_skip_if_no_range_is_possible(drawing: str) -> None:
    [finding] = parse_report(drawing, "EP206")
    assert (finding.entry, finding.fix) == ("last", "add last to the skips of head")


def test_all_paths_that_end_at_a_stranded_entry_are_listed() -> None:
    assert findings("b5\nb3: b2\nb2: b1\nb1", "EP207") == [
        "EP207 b3: clusters on b3 get no further updates under OLM v1; updates from b2 and b1 end there"
    ]


def test_every_unconnected_part_is_reported_under_v1() -> None:
    assert [f.entry for f in parse_report("b4\nb3: b2\nb2\nb1", "EP207")] == ["b1", "b3"]


def test_entry_without_a_bundle_is_not_stranded_under_v1() -> None:
    assert findings("b2\nb1?", "EP207") == []


def test_fix_for_v1_leads_to_the_head_even_if_it_is_not_the_highest() -> None:
    fixes = {f.entry: f.fix for f in parse_report("b2: x / b9\nx@0.1.0: b1\nb9\nb1", "EP207")}
    assert fixes["b1"] == "give b2 the skipRange '>=1.0.0 <2.0.0'"


def circle(length: int) -> str:
    """A head, and a circle of entries that it does not reach."""
    names = [f"c{n}" for n in range(length)]
    return "\n".join(["z"] + [f"{a}: {b}" for a, b in zip(names, names[1:] + names[:1], strict=True)])


def test_newest_entry_that_opm_reports_as_stranded_has_the_finding() -> None:
    [finding] = parse_report("h\nx?: b\nb@2.0.0: a\na@1.0.0: x", "EP208")
    assert (finding.entry, finding.place.pointer) == ("b", (2, "name"))
    assert finding.message == (
        "opm rejects the channel: a, b and x are neither on the replaces chain of h nor skipped"
    )
    assert finding.fix == "add a, b and x to the skips of h"


def test_fix_lists_up_to_40_stranded_entries() -> None:
    nine, forty, more = (parse_report(circle(n), "EP208")[0].fix for n in (9, 40, 41))
    assert nine == "add c0, c1, c2, c3, c4, c5, c6, c7 and c8 to the skips of z"
    assert str(forty).count("c") == 40
    assert more == "add c0, c1, c10 and 38 more to the skips of z"


def test_skip_of_an_unknown_name_is_not_removed() -> None:
    [finding] = parse_report("h: gone / gone\nb: a\na: b", "EP208")
    assert finding.because == ("the chain ends at h: it replaces gone, which h skips",)
    assert finding.fix == "add a and b to the skips of h"


def test_every_loop_is_reported_once() -> None:
    drawing = "b8: b7\nb7: b6 / b6 / =8.0.0\nb6: b5\nb5: b4\nb4: - / - / =5.0.0"
    assert findings(drawing, "EP210") == [
        "EP210 b4: OLM v0 updates without end: b5 → b4 → b5",
        "EP210 b7: OLM v0 updates without end: b8 → b7 → b8",
    ]


def test_fix_for_a_loop_is_at_the_downgrade() -> None:
    [finding] = parse_report("b2: b1 / - / >2.0.0\nb3: b2\nb1", "EP210")
    assert finding.message == "OLM v0 updates without end: b2 → b3 → b2"
    assert (finding.entry, finding.place.pointer) == ("b2", (0, "name"))
    assert finding.because == ("b3 replaces b2", "the skipRange of b2 covers b3")


@pytest.mark.parametrize("version", ["", "@2.0.0+1"])
def test_loop_without_a_known_downgrade_is_reported(version: str) -> None:
    drawing = f"b2: a\na{version or '?'}: - / - / =2.0.0"
    assert [f.message for f in parse_report(drawing, "EP210")] == ["OLM v0 updates without end: b2 → a → b2"]


def test_fix_is_at_the_head_if_nothing_is_installable() -> None:
    [finding] = parse_report("b2: b1\nb1\n%prohibited b2\n%prohibited b1", "EP206")
    assert finding.fix == "fixed together with EP505 (b2)"


def test_range_covers_only_entries_that_are_not_skipped() -> None:
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
def test_at_most_ten_ranges_are_listed_as_reasons(count: int, more: int) -> None:
    [finding] = [f for f in parse_report(_all_skip_themselves(count), "EP206") if f.entry == "low"]
    assert finding.because[:10] == tuple(
        f"the skipRange of b{i} covers low, but b{i} skips itself, so OLM v0 never installs it"
        for i in range(1, 11)
    )
    reason = f"OLM does not follow {more} more skipRange{'s' * (more > 1)} either"
    assert finding.because[10:] == ((reason,) if more else ())


def test_own_range_of_an_entry_is_not_a_reason() -> None:
    drawing = _all_skip_themselves(11).replace("low@1.0.0: - / low", "low@1.0.0: - / low / <=1.0.0")
    [finding] = [f for f in parse_report(drawing, "EP206") if f.entry == "low"]
    assert len(finding.because) == 11
    assert not any("skipRange of low" in reason for reason in finding.because)


def test_uninstallable_head_is_the_cause_of_stranded_entries_below_it() -> None:
    api = {"type": "olm.gvk", "value": {"group": "a.io", "version": "v1", "kind": "A"}}
    made = catalog(
        package(),
        channel("op.v1.0.0", "op.v1.1.0"),
        bundle("op.v1.0.0"),
        bundle("op.v1.1.0", "", api, api),
    )
    [finding] = parse_report(made, "EP206")
    assert finding.fix == "fixed together with EP427 (v1.1.0)"


def test_fix_is_a_release_if_neither_range_nor_skip_is_accepted() -> None:
    drawing = "h@9.0.0: m\nm@8.0.0: low\nlow?: n\nn@6.0.0: base\nbase@1.0.0\n%prohibited m\n%prohibited n"
    found = {f.entry: f.fix for f in parse_report(drawing, "EP206")}
    assert found == {
        "low": "publish a release that replaces h and skips low",
        "base": "give h the skipRange '>=1.0.0 <9.0.0'",
    }


def test_first_successor_without_a_bundle_is_the_cause() -> None:
    [finding] = parse_report("c: - / x, y\nx?: a\ny?: a\na", "EP207")
    assert finding.fix == "fixed together with EP401 (x)"


def test_equal_versions_are_not_stranded_under_v1() -> None:
    assert findings("b@1.0.0\na@1.0.0", "EP207") == []


@pytest.mark.parametrize(
    ("drawing", "entry", "fix"),
    [
        # The entry with the range has no version.
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
def test_fix_for_a_loop_prefers_a_downgrade_by_range(drawing: str, entry: str, fix: str) -> None:
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
