"""Count the executed lines of everpath, because times differ from run to run."""

from __future__ import annotations

__all__ = ["lines_run"]

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(act: Callable[[], object]) -> int:
    """Return the number of executed lines of everpath. A search in C counts as one line."""
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
