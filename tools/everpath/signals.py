"""A command that is told to end takes away what it was writing, also where no keyboard says so."""

from __future__ import annotations

__all__ = ["run_at_exit", "signals_as_interrupt", "signals_blocked"]

# `signal` is this module with names for numbers, and takes longer to import than a small catalog to judge.
import _signal as signal  # type: ignore[import-not-found]
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, NoReturn

# SIGTERM is how CI and Kubernetes cancel a job, SIGHUP how a terminal goes. Windows has no such thing.
_ENDS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


#: What is left to do at the end of each command that runs, the innermost last.
_RUNNING: list[ExitStack] = []


@contextmanager
def signals_as_interrupt() -> Iterator[None]:
    """Within it every signal that asks for the end does what Ctrl-C does; what nohup set aside stays so."""
    heeded = [each for each in _ENDS if signal.getsignal(each) == signal.SIG_DFL]
    with _answered(_interrupt, heeded), ExitStack() as stack:
        _RUNNING.append(stack)
        try:
            yield
        finally:
            _RUNNING.remove(stack)


def run_at_exit(deed: Callable[[], object]) -> None:
    """Do something when the command is over, however it ends; without one, when Python is."""
    if _RUNNING:
        _RUNNING[-1].callback(deed)
        return
    import atexit  # noqa: PLC0415 - only for who calls a part of a command

    atexit.register(deed)


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Within it nobody is told to end: for the few steps that leave a mess when they are broken off."""
    with _answered(signal.SIG_IGN, _ENDS):
        yield


@contextmanager
def _answered(answer: Any, numbers: Iterable[int]) -> Iterator[None]:
    before: dict[int, Any] = {}
    try:
        for number in numbers:
            # None is for what was not set from Python, and cannot be set back by it.
            before[number] = signal.signal(number, answer) or signal.SIG_DFL
    except ValueError:
        # Only the main thread may say what becomes of signals, and only it hears them.
        before = {}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
