"""Signals that end a process: as KeyboardInterrupt, so that temporary files are deleted; or blocked."""

from __future__ import annotations

__all__ = ["run_at_exit", "signals_as_interrupt", "signals_blocked"]

# `signal` wraps this module in enums, and takes longer to import than a small catalog to lint.
import _signal as signal  # type: ignore[import-not-found]
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, NoReturn

# SIGTERM is sent by CI systems and Kubernetes, SIGHUP by a terminal that closes. Windows has no SIGHUP.
_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


#: Callbacks for the end of each running command, the innermost last.
_RUNNING: list[ExitStack] = []


@contextmanager
def signals_as_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt for every signal that ends a process, unless it is ignored, as under nohup."""
    not_ignored = [each for each in _SIGNALS if signal.getsignal(each) == signal.SIG_DFL]
    with _signal_handlers(_interrupt, not_ignored), ExitStack() as stack:
        _RUNNING.append(stack)
        try:
            yield
        finally:
            _RUNNING.remove(stack)


def run_at_exit(callback: Callable[[], object]) -> None:
    """Call a function when the command ends, in whatever way; outside a command, when Python exits."""
    if _RUNNING:
        _RUNNING[-1].callback(callback)
        return
    import atexit  # noqa: PLC0415 - a command does not need it

    atexit.register(callback)


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Ignore these signals in a block that must not be interrupted."""
    with _signal_handlers(signal.SIG_IGN, _SIGNALS):
        yield


@contextmanager
def _signal_handlers(handler: Any, numbers: Iterable[int]) -> Iterator[None]:
    before: dict[int, Any] = {}
    try:
        for number in numbers:
            # None: the handler was not set from Python and cannot be restored.
            before[number] = signal.signal(number, handler) or signal.SIG_DFL
    except ValueError:
        # Only the main thread can set handlers, and only it receives signals.
        before = {}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
