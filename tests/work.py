"""Work, counted: lines of everpath that run, as often as they do. A clock says something else each time."""

from __future__ import annotations

__all__ = ["lines_run"]

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(act: Callable[[], object]) -> int:
    """How many lines of everpath an act runs. Looking through a tuple or a text in C counts as one."""
    count = 0

    def line(_: FrameType, event: str, __: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, _: str, __: Any) -> Any:
        return line if "everpath" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        act()
    finally:
        sys.settrace(before)
    return count
