"""Tables, bars and wrap text."""

from __future__ import annotations

from searchkeeper.cli.output import bar, deadline_text, table, wrap


def test_bar_is_filled_by_share() -> None:
    assert [bar(share, 4) for share in (0, 0.5, 1)] == ["░░░░", "██░░", "████"]


def test_table_pads_all_but_last_column() -> None:
    assert table([("a", "b"), ("long", "c")]) == "a     b\nlong  c"


def test_table_wraps_last_column_below_itself() -> None:
    text = table([("Name:", "logs"), ("Message:", "one two three four five six seven")], width=41)

    assert text == "Name:     logs\nMessage:  one two three four five six\n          seven"


def test_text_without_room_goes_below_its_prefix() -> None:
    text = wrap("  a long prefix of twenty-nine ", "and a text that is longer than the rest", 50)

    assert text == "  a long prefix of twenty-nine\n      and a text that is longer than the rest"


def test_deadline_has_time_and_duration() -> None:
    assert [deadline_text(seconds, 0) for seconds in (900, 75, 5)] == [
        "1970-01-01T00:15:00Z (in 15m)",
        "1970-01-01T00:01:15Z (in 1m15s)",
        "1970-01-01T00:00:05Z (in 5s)",
    ]
