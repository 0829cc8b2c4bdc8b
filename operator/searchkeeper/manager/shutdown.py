"""Shutdown of a process that writes: what it waits for, how long, and how it exits.

Separate threads do all of it. An event loop that hangs, or reconciles that use all CPU time, delay neither
the release of the Lease nor the exit.
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

# Seconds for the write in progress, which may be a flush with an engine timeout of 45 s; for the release of
# the Lease; and for everything else after that.
_LAST_WRITE_TIMEOUT: Final = 50
_RELEASE_TIMEOUT: Final = 5
_CLEANUP_TIMEOUT: Final = 10
# Seconds after which the process exits in any case. The pod's grace period is 60 s.
EXIT_DEADLINE: Final = 58
# Seconds between two checks for a write in progress.
_POLL: Final = 0.05
# Exit code of a process that did not end by itself.
_FORCED_EXIT: Final = 1


class GracefulShutdown:
    """Releases the Lease when the fence is closed and idle. It does not wait for reads.

    An engine may take a minute to respond, and no reconcile uses the response any more.
    """

    def __init__(self, fence: Fence, lease: LeaderLease, log: Log) -> None:
        self.fence = fence
        self.log = log
        self._lease = lease
        self._done = threading.Event()

    def start(self) -> None:
        """Start the thread that waits for the fence to close."""
        threading.Thread(target=self._run, name="shutdown", daemon=True).start()

    @property
    def is_done(self) -> bool:
        return self._done.is_set()

    def wait(self) -> None:
        self._done.wait(_LAST_WRITE_TIMEOUT + _RELEASE_TIMEOUT)

    def _run(self) -> None:
        self.fence.closed.wait()
        try:
            deadline = time.monotonic() + _LAST_WRITE_TIMEOUT
            while not self.fence.is_idle and time.monotonic() < deadline:
                time.sleep(_POLL)
            if not self.fence.is_idle:
                self.log.warning("lease not released; it expires", error="a write is still in progress")
                return
            # In its own thread, because the API server may not respond.
            releasing = threading.Thread(target=self._release, name="release", daemon=True)
            releasing.start()
            releasing.join(_RELEASE_TIMEOUT)
            if releasing.is_alive():
                self.log.warning("lease not released; it expires", error="no response")
        finally:
            self._done.set()

    def _release(self) -> None:
        try:
            self._lease.release()
        except ApiError as error:
            self.log.warning("lease not released; it expires", error=str(error))


@contextmanager
def exit_in_time(shutdown: GracefulShutdown) -> Iterator[None]:
    """Exit the process if the block does not end soon after the shutdown is done.

    The block may wait for a connection, a thread or a library; none of them matters any more.
    """
    block_ended = threading.Event()

    def exit_when_late() -> None:
        shutdown.fence.closed.wait()
        deadline = time.monotonic() + EXIT_DEADLINE
        shutdown.wait()
        if not block_ended.wait(min(_CLEANUP_TIMEOUT, deadline - time.monotonic())):
            shutdown.log.warning("shutdown timed out; exiting", error="\n".join(_blocking_stacks()))
            exit_now(_FORCED_EXIT)

    threading.Thread(target=exit_when_late, name="exit", daemon=True).start()
    try:
        yield
    finally:
        block_ended.set()


def exit_now(code: int) -> NoReturn:
    """Exit without cleanup. Threads may still wait for engines, and finalizing the interpreter around them
    takes seconds on a busy machine, during which no signal ends it.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _blocking_stacks() -> Iterator[str]:
    """The stacks of the threads that keep the process from ending."""
    frames = sys._current_frames()
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        if frame is not None and not thread.daemon:
            yield f"{thread.name}: {''.join(traceback.format_stack(frame)[-8:])}"
