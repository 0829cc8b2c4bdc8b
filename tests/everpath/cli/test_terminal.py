"""Terminals: colour and the progress line."""

from __future__ import annotations

import io

import pytest

from everpath.cli.terminal import ProgressLine, wants_colour


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "wanted"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (io.StringIO(), {}, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
        (io.StringIO(), {"FORCE_COLOR": "0"}, False),
        (io.StringIO(), {"FORCE_COLOR": ""}, False),
        (io.StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (None, {}, False),
    ],
)
def test_colour_is_for_terminals_unless_the_environment_says_otherwise(
    stream: io.StringIO | None, environment: dict[str, str], wanted: bool
) -> None:
    assert wants_colour(stream, environment) is wanted


class Clock:
    """A clock that a test advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def watched(stream: io.StringIO, seconds: list[float], what: str = "op", *, wanted: bool = True) -> str:
    clock = Clock()
    with ProgressLine(stream, wanted=wanted, clock=clock) as progress:
        for done, now in enumerate(seconds):
            clock.now = now
            progress(done, len(seconds), what)
    return stream.getvalue()


def test_short_run_shows_no_progress() -> None:
    assert watched(Terminal(), [0.0, 0.2, 0.4]) == ""


def test_progress_line_is_shown_and_erased() -> None:
    assert watched(Terminal(), [0.0, 0.6, 0.65]) == "\r\x1b[K1 of 3  op\r\x1b[K"


def test_progress_line_is_drawn_at_most_ten_times_a_second() -> None:
    assert watched(Terminal(), [0.6 + i / 1000 for i in range(200)]).count("of 200") == 2


def test_progress_needs_a_terminal() -> None:
    assert watched(io.StringIO(), [0.0, 10.0]) == ""


def test_progress_can_be_switched_off() -> None:
    assert watched(Terminal(), [0.0, 10.0], wanted=False) == ""


def test_progress_line_is_erased_after_an_error() -> None:
    stream, clock = Terminal(), Clock()

    def work() -> None:
        with ProgressLine(stream, clock=clock) as progress:
            clock.now = 1.0
            progress(0, 1, "x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_progress_line_escapes_control_characters_and_fits_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    shown = watched(Terminal(), [0.0, 1.0], "\x1b[2J" + "x" * 100)
    assert shown.count("\x1b") == 2
    assert len(shown.split("\x1b[K")[1].rstrip("\r")) == 19
