"""The edges in a CSV, which has one set of edges for all channels."""

from __future__ import annotations

from textwrap import dedent

from everpath.loaders.notation import parse
from everpath.releases.channel_edges import Edges
from everpath.releases.csv_edges import csv_edges


def _stated(drawing: str, name: str = "e", default: str = "stable") -> Edges:
    return csv_edges(parse(dedent(drawing)).packages[0], name, default)


def test_a_release_in_no_channel_states_no_edges() -> None:
    assert _stated("e: d", "x") == Edges()


def test_where_one_channel_has_it_its_edges_are_stated_as_they_are() -> None:
    drawing = """
        [stable]
        d
        [fast]
        e: d / c, b / <5.0.0
        d: c
    """
    assert _stated(drawing) == Edges("d", ("c", "b"), "<5.0.0")


def test_where_channels_agree_below_differing_lines_theirs_are_stated() -> None:
    drawing = """
        [stable]
        e: d / c / <5.0.0
        d: a
        [fast]
        e: d / c / <5.0.0
        d: b
    """
    assert _stated(drawing) == Edges("d", ("c",), "<5.0.0")


def test_an_empty_text_is_no_edge() -> None:
    whole = parse("e").packages[0]
    [channel] = whole.channels
    blank = channel._replace(entries=(channel.entries[0]._replace(replaces="", skip_range=""),))
    assert csv_edges(whole._replace(channels=(blank,)), "e", "stable") == Edges()


def test_where_lines_differ_they_go_on_from_where_they_meet_and_skip_what_is_above() -> None:
    drawing = """
        [fast]
        e: d / x
        d: c / y
        c: b / z
        b: a
        [stable]
        e: b / w
        b: a
    """
    assert _stated(drawing) == Edges("b", ("w", "x", "d", "y", "c", "z"))


def test_edges_of_the_default_channel_come_first() -> None:
    drawing = """
        [a]
        e: d / one
        d: c
        [b]
        e: c / two
    """
    assert _stated(drawing, default="a").skips == ("one", "d", "two")
    assert _stated(drawing, default="b").skips == ("two", "one", "d")


def test_lines_that_never_meet_are_skipped_down_to_names_from_elsewhere() -> None:
    drawing = """
        [stable]
        e: old
        [fast]
        e: d
        d: c
    """
    assert _stated(drawing) == Edges(None, ("old", "d", "c"))


def test_three_lines_meet_only_where_all_of_them_do() -> None:
    drawing = """
        [stable]
        e: d
        d: c
        c: b
        [fast]
        e: d
        d: b
        [slow]
        e: b
    """
    assert _stated(drawing) == Edges("b", ("d", "c"))


def test_channel_that_starts_with_the_release_does_not_affect_the_replaces_chain() -> None:
    drawing = """
        [stable]
        e: - / - / <5.0.0
        [fast]
        e: d
        d: c
    """
    assert _stated(drawing) == Edges("d", (), "<5.0.0")


def test_channels_that_both_begin_with_it_may_differ_in_what_they_cover() -> None:
    drawing = """
        [stable]
        e: - / - / <3.0.0
        [fast]
        e: - / x / >=2.0.0 <5.0.0
    """
    assert _stated(drawing) == Edges(None, ("x",), "<5.0.0")


def test_nothing_below_the_release_is_skipped_by_one_of_its_channels() -> None:
    below = """
        [stable]
        e: c / b
        c: b
        b: a
        [fast]
        e: d
        d: c
        c: b
        b: a
    """
    assert _stated(below) == Edges("a", ("b", "c", "d"))
    at_the_meeting = """
        [stable]
        e: c
        c: b
        b: a
        [fast]
        e: d / c
        d: c
        c: b
    """
    assert _stated(at_the_meeting) == Edges("b", ("c", "d"))


def test_replaces_chain_continues_below_the_lowest_skipped_entry() -> None:
    drawing = """
        [stable]
        e: d / d, b
        d: c
        c: b
        b: a
        [fast]
        e: d
        d: c
        c: b
        b: a
    """
    assert _stated(drawing) == Edges("a", ("d", "b", "c"))


def test_what_is_skipped_above_the_meeting_changes_nothing_below_it() -> None:
    drawing = """
        [stable]
        e: d
        d: c
        c: b
        b: a
        [fast]
        e: b / d
        b: a
    """
    assert _stated(drawing) == Edges("b", ("d", "c"))


def test_a_release_never_skips_itself() -> None:
    drawing = """
        [stable]
        e: d / e
        [fast]
        e: d
    """
    assert _stated(drawing) == Edges("d")


def test_entries_on_the_replaces_chain_are_not_skipped() -> None:
    drawing = """
        [stable]
        e: c
        c: b
        b: a
        [fast]
        e: d
        d: c / b
        c: b
        b: a
    """
    assert _stated(drawing) == Edges("c", ("d",))


def test_replaces_cycle_ends_the_chain() -> None:
    drawing = """
        [stable]
        e: d
        d: c
        c: d
        [fast]
        e: b
        b: e
    """
    assert _stated(drawing) == Edges(None, ("d", "c", "b"))


def test_release_that_skips_a_merged_release_accepts_its_versions() -> None:
    """In stable OLM v0 would move b nowhere: d states that it skips c, and e skips d."""
    drawing = """
        [fast]
        d: b
        b: a
        [stable]
        e: c / d / >=4.0.0 <5.0.0
        d: c
        c: b
        b: a
        a
    """
    assert _stated(drawing, "d") == Edges("b", ("c",))
    assert _stated(drawing, "e") == Edges("c", ("d",), ">=4.0.0 <5.0.0 || =2.0.0")


def test_release_that_skips_one_with_equal_channels_has_their_edges() -> None:
    assert _stated("e: c / d\nd: c / x\nc: b\nb") == Edges("c", ("d",))


def test_releases_that_skip_each_other_come_to_an_end() -> None:
    drawing = """
        [fast]
        d: b / e
        b
        [stable]
        e: c / d
        d: c / e
        c: b
        b
    """
    assert _stated(drawing, "e") == Edges("c", ("d",), "=2.0.0")
