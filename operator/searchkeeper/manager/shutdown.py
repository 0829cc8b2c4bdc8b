"""The end of a process that writes: what is waited for, for how long, and what happens after that.

All of it is done by threads of its own: neither an event loop that hangs nor cycles that leave it no time
keep the lease from being given back, or the process from ending.
"""

from __future__ import annotations

__all__ = ["EXIT_DEADLINE", "GracefulShutdown", "exit_in_time", "exit_now"]

import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

from searchkeeper.kubernetes.api import ApiError
from searchkeeper.manager.fencing import Fence
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.manager.logging import Log

# Seconds: for the write under way, which may be a flush that an engine has 45 seconds for, and for giving the
# lease back. Whatever else there is to be done has ten after that.
_LAST_WRITE: Final = 50
_RELEASE: Final = 5
_TIDYING: Final = 10
# Seconds after which nothing is waited for: a pod is given a minute.
EXIT_DEADLINE: Final = 58
# Seconds between two looks at whether a write is under way.
_GLANCE: Final = 0.05
# What a process ends with that had to be ended.
_HUNG: Final = 1


class GracefulShutdown:
    """Gives the lease back as soon as no write is under way and none can begin. Looks are not waited for.

    An engine may take a minute to be looked at, and whatever is seen then is of no use to anybody.
    """

    def __init__(self, fence: Fence, lease: LeaderLease, log: Log) -> None:
        self.fence = fence
        self.log = log
        self._lease = lease
        self._is_over = threading.Event()

    def begin(self) -> None:
        """To wait for the fence to be shut."""
        threading.Thread(target=self._run, name="farewell", daemon=True).start()

    @property
    def is_over(self) -> bool:
        return self._is_over.is_set()

    def wait(self) -> None:
        self._is_over.wait(_LAST_WRITE + _RELEASE)

    def _run(self) -> None:
        self.fence.shutting.wait()
        try:
            self._give_back()
        finally:
            self._is_over.set()

    def _give_back(self) -> None:
        until = time.monotonic() + _LAST_WRITE
        while not self.fence.is_quiet and time.monotonic() < until:
            time.sleep(_GLANCE)
        if not self.fence.is_quiet:
            self.log.warning("a write is still under way: the lease is left to run out")
            return
        releasing = threading.Thread(target=self._release, name="release", daemon=True)
        releasing.start()
        releasing.join(_RELEASE)
        if releasing.is_alive():
            self.log.warning("the lease is left to run out", error="no answer")

    def _release(self) -> None:
        try:
            self._lease.release()
        except ApiError as error:
            self.log.warning("the lease is left to run out", error=str(error))


@contextmanager
def exit_in_time(farewell: GracefulShutdown) -> Iterator[None]:
    """Ends the process where the block does not end soon after the farewell: whatever it waits for by then,
    a connection, a thread, a library that tidies up, is of no use to anybody.
    """
    is_left = threading.Event()
    watching = threading.Thread(target=_watch, args=(farewell, is_left), name="leaving", daemon=True)
    watching.start()
    try:
        yield
    finally:
        is_left.set()


def _watch(farewell: GracefulShutdown, is_left: threading.Event) -> None:
    farewell.fence.shutting.wait()
    latest = time.monotonic() + EXIT_DEADLINE
    farewell.wait()
    if not is_left.wait(min(_TIDYING, latest - time.monotonic())):
        farewell.log.warning("it does not end by itself: leaving", waiting=_waiting())
        exit_now(_HUNG)


def exit_now(code: int) -> NoReturn:
    """At once. Threads may still wait for engines, and an interpreter that is taken to pieces around them
    needs seconds on a busy machine, in which nobody could end it any more.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _waiting() -> list[str]:
    """Where the threads are that a process waits for at its end."""
    frames = sys._current_frames()
    found = ((each.name, frames.get(each.ident or 0)) for each in threading.enumerate() if not each.daemon)
    return [f"{name}: {''.join(traceback.format_stack(frame)[-8:])}" for name, frame in found if frame]
