"""Several operators on one fake cluster, without a Lease: a test decides the order of their writes.

Each operator has a thread of its own. Only one thread runs at a time, up to its next write, so that a run can
be repeated.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from searchkeeper.kubernetes.operations import Create, EngineCall
from searchkeeper.planner import Operation
from searchkeeper.testing.ports import PortsDecorator, StatusPatch

T = TypeVar("T")


class _Stopped(BaseException):
    """The test has stopped the operator."""


@dataclass
class PausingPorts(PortsDecorator):
    """Both ports, which call `pause` before every write.

    The patch that confirms the ledger and the write after it count as one write.
    """

    pause: Callable[[], None]
    _is_confirmed: bool = False

    def _write(self, write: Operation, execute: Callable[[], T]) -> T:
        is_confirmable = isinstance(write, Create | EngineCall)
        if not (is_confirmable and self._is_confirmed):
            self.pause()
        if is_confirmable:
            self._is_confirmed = False
        elif isinstance(write, StatusPatch):
            self._is_confirmed = write.patch.changes == {"status": {}}
        return execute()


class OperatorThread:
    """One operator. `operate` runs until it is stopped, and waits in the function that it is given."""

    def __init__(self, operate: Callable[[Callable[[], None]], None]) -> None:
        self._operate = operate
        self._go, self._has_paused = threading.Semaphore(0), threading.Semaphore(0)
        self._error: BaseException | None = None
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def run_to_next_pause(self) -> None:
        """Raises what the operator raises."""
        self._go.release()
        self._has_paused.acquire()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        self._is_stopped = True
        self._go.release()
        self._thread.join()

    def _pause(self) -> None:
        self._has_paused.release()
        self._go.acquire()
        if self._is_stopped:
            raise _Stopped

    def _run(self) -> None:
        self._go.acquire()
        try:
            if not self._is_stopped:
                self._operate(self._pause)
        except _Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - raised by run_to_next_pause
            self._error = error
        self._has_paused.release()
