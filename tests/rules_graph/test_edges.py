"""Single edges that lead nowhere, to themselves, down, or twice."""

from __future__ import annotations

from everpath.rules.findings import Severity
from graphs import findings, parse_report


def test_an_entry_that_replaces_itself_is_a_self_edge() -> None:
    assert findings("b1: b1", "EP211") == ["EP211 b1: b1 replaces itself"]


def test_an_entry_that_skips_itself_is_a_self_edge() -> None:
    assert findings("b2: b1 / b2\nb1", "EP211") == ["EP211 b2: b2 skips itself"]


def test_a_missing_name_at_the_end_of_the_chain_is_only_noted() -> None:
    [finding] = parse_report("b3: b2\nb2: b1", "EP212")
    assert finding.severity is Severity.NOTE


def test_a_missing_name_above_other_entries_is_a_warning() -> None:
    [finding] = parse_report("b3: b9 / b1\nb1", "EP212")
    assert finding.severity is Severity.WARNING
    assert finding.fix == "remove replaces: b9, or add the missing entry"


def test_a_forgotten_v_is_recognised() -> None:
    [finding] = parse_report("op.v1.1.0: op.1.0.0\nop.v1.0.0: op.v0.9.0\n", "EP212")[:1]
    assert finding.fix == "did you mean op.v1.0.0?"
    assert finding.severity is Severity.WARNING


def test_a_bare_version_is_recognised() -> None:
    assert parse_report("op.v1.1.0: 1.0.0\nop.v1.0.0", "EP212")[0].fix == "did you mean op.v1.0.0?"


def test_another_version_is_no_slip_of_the_pen() -> None:
    [finding] = parse_report("op.v1.1.0: op.v1.0.1\nop.v1.0.0", "EP212")
    assert finding.fix == "remove replaces: op.v1.0.1, or add the missing entry"


def test_the_oldest_entry_may_replace_one_of_another_channel() -> None:
    [finding] = parse_report("[stable]\nb3: b2\nb2: b1\n[old]\nb1", "EP213")
    assert (finding.entry, finding.severity) == ("b2", Severity.NOTE)


def test_replacing_an_entry_of_another_channel_further_up_cuts_the_channel() -> None:
    [finding] = parse_report("[stable]\nb3: b2\nb1\n[old]\nb2: b1\nb1", "EP213")
    assert finding.severity is Severity.WARNING
    assert finding.fix == "put b2 into the channel, or let b3 replace an entry of it"


def test_a_skipped_name_that_was_removed_is_only_noted() -> None:
    [finding] = parse_report("op.v1.2.0: op.v1.0.0 / op.v1.1.0\nop.v1.0.0", "EP214")
    assert finding.severity is Severity.NOTE


def test_a_skipped_name_that_is_misspelled_is_a_warning() -> None:
    [finding] = parse_report("op.v1.2.0: op.v1.0.0 / op.1.1.0\nop.v1.1.0: op.v1.0.0\nop.v1.0.0", "EP214")
    assert finding.severity is Severity.WARNING
    assert finding.fix == "did you mean op.v1.1.0?"


def test_what_is_skipped_already_cannot_be_what_was_meant() -> None:
    drawing = "op.v1.2.0: op.v1.0.0 / op.1.1.0, op.v1.1.0\nop.v1.1.0: op.v1.0.0\nop.v1.0.0"
    assert parse_report(drawing, "EP214")[0].fix is None


def test_skipping_an_entry_of_another_channel_is_noted() -> None:
    assert findings("[stable]\nb3: - / b1\n[old]\nb1", "EP215") == [
        "EP215 b3: b3 skips b1, which is in the package but not in this channel"
    ]


def test_replacing_and_skipping_the_same_entry_is_reported() -> None:
    assert findings("b2: b1 / b1\nb1", "EP216") == ["EP216 b2: b2 both replaces and skips b1"]


def test_replacing_a_higher_version_is_a_downgrade() -> None:
    assert findings("s@1.0.1-1: r\nr@1.0.1", "EP220") == [
        "EP220 s: s (1.0.1-1) replaces r, whose version 1.0.1 is higher"
    ]


def test_skipping_a_higher_version_is_a_downgrade() -> None:
    assert findings("s@1.0.0: - / r\nr@1.1.0", "EP220") == [
        "EP220 s: s (1.0.0) skips r, whose version 1.1.0 is higher"
    ]


def test_a_rebuild_with_build_metadata_is_no_downgrade() -> None:
    assert findings("s@1.0.0+2: r\nr@1.0.0+1", "EP220") == []


def test_a_self_edge_is_not_called_a_downgrade_too() -> None:
    assert findings("b1: b1", "EP220") == []


def test_a_range_on_a_skipped_entry_is_noted_with_its_new_home() -> None:
    [finding] = parse_report("b3: - / b2\nb2: - / - / <2.0.0", "EP221")
    assert finding.fix == "move the range to b3"
