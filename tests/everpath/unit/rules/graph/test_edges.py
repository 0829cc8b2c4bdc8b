"""Rules about single edges."""

from __future__ import annotations

import pytest

from everpath.rules.findings import Severity
from everpath.rules.fixes.edits import ChannelEdit
from everpath.rules.graph.edges import self_edge
from tests.support.everpath.documents import catalog, channel, package
from tests.support.everpath.graphs import channel_graph, findings, parse_report


def test_an_entry_that_replaces_itself_is_a_self_edge() -> None:
    assert findings("b1: b1", "EP211") == ["EP211 b1: b1 replaces itself"]


def test_an_entry_that_skips_itself_is_a_self_edge() -> None:
    assert findings("b2: b1 / b2\nb1", "EP211") == ["EP211 b2: b2 skips itself"]


def test_missing_name_at_the_end_of_the_chain_is_a_note() -> None:
    [finding] = parse_report("b3: b2\nb2: b1", "EP212")
    assert finding.severity is Severity.NOTE


def test_a_missing_name_above_other_entries_is_a_warning() -> None:
    [finding] = parse_report("b3: b9 / b1\nb1", "EP212")
    assert finding.severity is Severity.WARNING
    assert finding.fix == "no action if b9 was released and pruned; else remove replaces: b9 from b3"


def test_missing_v_has_a_suggestion() -> None:
    [finding] = parse_report("op.v1.1.0: op.1.0.0\nop.v1.0.0: op.v0.9.0\n", "EP212")[:1]
    assert finding.fix == "did you mean op.v1.0.0?"
    assert finding.severity is Severity.WARNING


def test_version_without_a_name_has_a_suggestion() -> None:
    assert parse_report("op.v1.1.0: 1.0.0\nop.v1.0.0", "EP212")[0].fix == "did you mean op.v1.0.0?"


def test_another_version_has_no_suggestion() -> None:
    [finding] = parse_report("op.v1.1.0: op.v1.0.1 / op.v1.0.0\nop.v1.0.0", "EP212")
    assert finding.fix == (
        "no action if op.v1.0.1 was released and pruned; else remove replaces: op.v1.0.1 from op.v1.1.0"
    )


def test_fix_for_a_missing_name_replaces_the_head_below() -> None:
    drawing = "op.v1.2.0: op.v1.0.1\nop.v1.1.0: op.v1.0.0\nop.v1.0.0"
    [finding] = parse_report(drawing, "EP212")
    assert finding.fix == "set replaces: op.v1.1.0 on op.v1.2.0"


def test_head_above_the_entry_is_not_suggested() -> None:
    [finding] = parse_report("b1: b3\nb3: gone\nx@9.0.0", "EP212")
    assert finding.fix == "no action if gone was released and pruned; else remove replaces: gone from b3"


def test_letter_that_looks_like_a_digit_has_a_suggestion_in_every_rule() -> None:
    drawing = "foo.v1.2.0: foo.v1.1.O\nfoo.v1.1.1: foo.v1.0.0\nfoo.v1.1.0\nfoo.v1.0.0"
    assert parse_report(drawing, "EP212")[0].fix == "did you mean foo.v1.1.0?"
    drawing = "foo.v1.2.0: foo.v1.1.O\nfoo.v1.1.0: foo.v1.0.0\nfoo.v1.0.0"
    assert parse_report(drawing, "EP202")[0].fix == "set replaces: foo.v1.1.0 on foo.v1.2.0"


def test_replaces_of_the_oldest_entry_in_another_channel_is_a_note() -> None:
    [finding] = parse_report("[stable]\nb3: b2\nb2: b1\n[old]\nb1", "EP213")
    assert (finding.entry, finding.severity) == ("b2", Severity.NOTE)


def test_replaces_of_another_channel_above_the_oldest_entry_is_a_warning() -> None:
    [finding] = parse_report("[stable]\nb3: b2\nb1\n[old]\nb2: b1\nb1", "EP213")
    assert finding.severity is Severity.WARNING
    assert finding.fix == "add b2 to the channel, or make b3 replace the entry below it"


def test_removed_name_in_skips_is_a_note() -> None:
    [finding] = parse_report("op.v1.2.0: op.v1.0.0 / op.v1.1.0\nop.v1.0.0", "EP214")
    assert finding.severity is Severity.NOTE


def test_a_skipped_name_that_is_misspelled_is_a_warning() -> None:
    [finding] = parse_report("op.v1.2.0: op.v1.0.0 / op.1.1.0\nop.v1.1.0: op.v1.0.0\nop.v1.0.0", "EP214")
    assert finding.severity is Severity.WARNING
    assert finding.fix == "did you mean op.v1.1.0?"


def test_skipped_name_is_not_suggested() -> None:
    drawing = "op.v1.2.0: op.v1.0.0 / op.1.1.0, op.v1.1.0\nop.v1.1.0: op.v1.0.0\nop.v1.0.0"
    assert parse_report(drawing, "EP214")[0].severity is Severity.NOTE


def test_skip_of_an_entry_of_another_channel_is_a_note() -> None:
    assert findings("[stable]\nb3: - / b1\n[old]\nb1", "EP215") == [
        "EP215 b3: b3 skips b1, which is in the package but not in this channel"
    ]


def test_replacing_and_skipping_the_same_entry_is_reported() -> None:
    assert findings("b2: b1 / b1\nb1", "EP216") == ["EP216 b2: b2 both replaces and skips b1"]


def test_replacing_one_entry_and_skipping_another_is_fine() -> None:
    assert findings("b3: b2 / b1\nb2\nb1", "EP216") == []


def test_replacing_a_higher_version_is_a_downgrade() -> None:
    assert findings("s@1.0.1-1: r\nr@1.0.1", "EP220") == [
        "EP220 s: OLM v0 downgrades r to s: s replaces it, and 1.0.1-1 is lower than 1.0.1"
    ]


def test_skipping_a_higher_version_is_a_downgrade() -> None:
    assert findings("s@1.0.0: - / r\nr@1.1.0", "EP220") == [
        "EP220 s: OLM v0 downgrades r to s: s skips it, and 1.0.0 is lower than 1.1.0"
    ]


def test_a_rebuild_with_build_metadata_is_no_downgrade() -> None:
    assert findings("s@1.0.0+2: r\nr@1.0.0+1", "EP220") == []


def test_self_edge_is_not_reported_as_a_downgrade() -> None:
    assert findings("b1: b1", "EP220") == []


def test_a_range_on_a_skipped_entry_is_noted() -> None:
    [finding] = parse_report("b3: - / b2\nb2: - / - / <2.0.0", "EP221")
    assert finding.fix == "no action if it is for OLM v1"


def test_every_self_edge_is_reported_with_its_position() -> None:
    replaces, skips = parse_report("b2: b1\nb1: b1 / b1", "EP211")
    assert replaces.place.pointer == (1, "replaces")
    assert (replaces.because, replaces.fix) == (("b1 replaces b1",), "remove b1 from its own replaces")
    assert skips.place.pointer == (1, "skips")
    assert (skips.because, skips.fix) == (
        ("b1 skips b1",),
        "move b1 from its own skips to the skips of b2",
    )


def test_self_edge_after_another_edge_is_found() -> None:
    assert findings("b2: b1\nb1: - / b1", "EP211") == ["EP211 b1: b1 skips itself"]


#: Two entries replace what does not exist, two what is in another channel; both kinds come first once.
REPLACED = "[stable]\nb9: x\nb8: old2\nb7: y\nb6: old1\nb5: b4\nb4\n[old]\nold2\nold1"


def test_only_missing_names_are_reported() -> None:
    found = parse_report(REPLACED, "EP212")
    assert [(f.entry, f.because) for f in found] == [("b7", ("b7 replaces y",)), ("b9", ("b9 replaces x",))]
    assert found[1].place.pointer == (1, "replaces")


def test_only_names_of_other_channels_are_reported() -> None:
    found = parse_report(REPLACED, "EP213")
    assert [(f.entry, f.because) for f in found] == [
        ("b6", ("b6 replaces old1",)),
        ("b8", ("b8 replaces old2",)),
    ]
    assert found[1].place.pointer == (2, "replaces")


def test_entry_is_not_suggested_for_its_own_replaces() -> None:
    [finding] = parse_report("op.v1.1.0: op-v1.1.0\nop.v1.0.0", "EP212")
    assert finding.fix == "set replaces: op.v1.0.0 on op.v1.1.0"


def test_misspelled_name_at_the_end_of_the_chain_is_a_warning() -> None:
    [finding] = parse_report("op.v1.1.0: op.v1.0.0\nop.v1.0.0: op.1.1.0", "EP212")
    assert finding.severity is Severity.WARNING


def test_every_unknown_skipped_name_is_reported_with_its_position() -> None:
    found = parse_report("[stable]\nb5: - / b4, x\nb4: - / b1, y, z\n[old]\nb1", "EP214")
    assert [(f.entry, f.place.pointer, f.because) for f in found] == [
        ("b4", (2, "skips", 1), ("b4 skips y",)),
        ("b4", (2, "skips", 2), ("b4 skips z",)),
        ("b5", (1, "skips", 1), ("b5 skips x",)),
    ]


def test_skipped_entry_without_a_bundle_is_not_reported_as_unknown() -> None:
    assert findings("b2: - / b1\nb1?", "EP214", "EP215") == []


@pytest.mark.parametrize("skipped", ["op.1.2.0", "op.1.1.0"])
def test_entry_and_its_replaces_are_not_suggested_for_skips(skipped: str) -> None:
    [finding] = parse_report(f"op.v1.2.0: op.v1.1.0 / {skipped}\nop.v1.1.0", "EP214")
    fix = f"no action if {skipped} was released; else remove {skipped} from the skips of op.v1.2.0"
    assert (finding.fix, finding.severity) == (fix, Severity.NOTE)


def test_every_skip_of_another_channel_is_reported_with_its_position() -> None:
    found = parse_report("[stable]\nb5: - / b4, x, b1\nb4: - / b2\n[old]\nb2\nb1", "EP215")
    assert [(f.entry, f.place.pointer, f.because) for f in found] == [
        ("b4", (2, "skips", 0), ("b4 skips b2",)),
        ("b5", (1, "skips", 2), ("b5 skips b1",)),
    ]


def test_every_entry_that_replaces_and_skips_the_same_has_a_fix() -> None:
    found = parse_report("b4: b3\nb3: b2 / b1, b2\nb2: b1 / b1\nb1", "EP216")
    assert [(f.entry, f.place.pointer) for f in found] == [("b2", (2, "skips", 0)), ("b3", (1, "skips", 1))]
    assert found[0].because == ("b2 replaces b1", "b2 skips b1")
    assert found[0].fix == "remove b1 from the skips of b2, unless it was withdrawn on purpose"


def test_every_empty_name_in_skips_is_reported_with_its_position() -> None:
    entries = (
        {"name": "b", "skips": ["a", "", ""]},
        {"name": "a"},
        {"name": "c", "skips": [""], "replaces": ""},
    )
    made = catalog(package(), channel(*entries))
    found = parse_report(made, "EP214", "EP215", "EP216", "EP217")
    assert [(f.rule, f.entry, f.place.pointer, f.message, f.fix) for f in found] == [
        ("EP217", "b", ("entries", 0, "skips", 1), "b skips an empty name", "remove the empty item"),
        ("EP217", "b", ("entries", 0, "skips", 2), "b skips an empty name", "remove the empty item"),
        ("EP217", "c", ("entries", 2, "skips", 0), "c skips an empty name", "remove the empty item"),
    ]


def test_every_downgrade_is_reported_with_its_position() -> None:
    found = parse_report("b4: b3 / b5\nb3: b6\nb6\nb5", "EP220")
    assert [(f.entry, f.place.pointer, f.because) for f in found] == [
        ("b3", (1, "replaces"), ("b3 replaces b6",)),
        ("b4", (0, "skips"), ("b4 skips b5",)),
    ]
    assert found[0].fix == "republish b3 under a version above 6.0.0: semver ranks 3.0.0 below 6.0.0"


def test_every_range_of_a_skipped_entry_is_reported_with_all_skippers() -> None:
    found = parse_report("b4: - / b3\nb5: b4 / b3, b2\nb3: - / - / <3.0.0\nb2: - / - / <2.0.0", "EP221")
    assert [(f.entry, f.place.pointer) for f in found] == [("b2", (3, "skipRange")), ("b3", (2, "skipRange"))]
    assert found[1].message.startswith("OLM v0 ignores the skipRange of b3, because b4 and b5 skip it")
    assert found[1].because == ("b4 skips b3", "b5 skips b3")


def test_an_entry_that_only_skips_itself_may_have_a_range() -> None:
    assert findings("b2: - / b2 / <2.0.0", "EP221") == []


@pytest.mark.parametrize("drawing", ["b2: b1 / b2\nb1", "b3: b2\nb2: - / b2", "b3: b2\nb2: b1 / b2\nb1"])
def test_self_skip_is_removed_if_one_head_remains(drawing: str) -> None:
    [finding] = parse_report(drawing, "EP211")
    assert finding.fix == "remove b2 from its own skips"


def test_entry_without_a_higher_version_is_not_put_above_the_head() -> None:
    [finding] = parse_report("b1\nx@9.0.0: gone / y\ny@8.0.0: - / x", "EP212")
    assert finding.fix == "no action if gone was released and pruned; else remove replaces: gone from x"


def test_edge_to_another_channel_can_be_intended() -> None:
    drawing = "[stable]\nb3: b2 / b1\nb2: b0\n[old]\nb1: b0\nb0"
    assert [f.fix for f in parse_report(drawing, "EP213", "EP215")] == [
        "no action if clusters update from b0 in another channel",
        "no action if clusters update from b1 in another channel; else remove it",
    ]


def test_skip_that_hides_a_cycle_from_opm_is_kept() -> None:
    [finding] = parse_report("b2: b1 / b1\nb1: b1", "EP216")
    assert finding.fix == "no action: opm rejects the channel unless b2 skips b1"


@pytest.mark.parametrize(
    ("drawing", "fix"),
    [
        ("b1\nb2: - / b2", "remove b2 from its own skips and set replaces: b1 on b2"),
        ("b1\nb2: b0 / b2\nb0", "move b2 from its own skips to the skips of b1"),
        ("b1@one\nb2: - / b2", "move b2 from its own skips to the skips of b1"),
        ("b1\nb2@two: - / b2", "move b2 from its own skips to the skips of b1"),
        ("b1@2.0.0\nb2: - / b2", "move b2 from its own skips to the skips of b1"),
    ],
)
def test_entry_that_skips_itself_becomes_the_head_only_with_a_higher_version(drawing: str, fix: str) -> None:
    [flaw] = self_edge(channel_graph(drawing))
    assert isinstance(flaw.fix, ChannelEdit)
    assert isinstance(flaw.fix.fallback, ChannelEdit)
    assert flaw.fix.fallback.text == fix


def test_entry_without_a_bundle_is_suggested_for_replaces() -> None:
    [finding] = parse_report("op.v1.2.0: op.v1.1.O\nop.v1.1.0?: op.v1.0.0\nop.v1.0.0", "EP212")
    assert finding.fix == "did you mean op.v1.1.0?"


def test_entry_without_a_bundle_replaces_the_head_below_its_stated_version() -> None:
    [finding] = parse_report("op.v1.2.0?: op.v1.1.1\nop.v1.1.0: op.v1.0.0\nop.v1.0.0", "EP212")
    assert finding.fix == "set replaces: op.v1.1.0 on op.v1.2.0"


def test_bundle_of_another_channel_is_suggested() -> None:
    drawing = "[stable]\nop.v1.2.0: op.v1.1.O\n[fast]\nop.v1.1.0"
    [finding] = parse_report(drawing, "EP212")
    assert (finding.entry, finding.fix) == ("op.v1.2.0", "did you mean op.v1.1.0?")
