"""A command that is told to end takes away what it was writing, also where no keyboard says so."""

from __future__ import annotations

__all__ = ["ended_tidily"]

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def ended_tidily() -> Iterator[None]:
    """Within it SIGTERM, with which CI and Kubernetes cancel a job, does what Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
