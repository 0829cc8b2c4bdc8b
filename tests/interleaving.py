"""Several operators on one fake cluster, without a Lease: a test decides the order of their writes.

Each operator has a thread of its own. Only one thread runs at a time, up to its next write, so that a run can
be repeated.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.testing.faults import Ports

T = TypeVar("T")


class _Stopped(BaseException):
    """The test has stopped the operator."""


@dataclass
class PausingPorts:
    """Both ports, which call `pause` before every write."""

    ports: Ports
    pause: Callable[[], None]
    _is_confirmed: bool = False

    def get(self, key: Key) -> Manifest | None:
        return self.ports.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        return self.ports.list(api, kind, namespace, labels)

    def get_state(self) -> EngineView | Unreachable:
        return self.ports.get_state()

    def create(self, manifest: Manifest) -> Manifest:
        self._pause_unless_confirmed()
        return self.ports.create(manifest)

    def patch(self, patch: Patch) -> Manifest:
        self.pause()
        return self.ports.patch(patch)

    def patch_status(self, patch: Patch) -> Manifest:
        self.pause()
        self._is_confirmed = patch.changes == {"status": {}}
        return self.ports.patch_status(patch)

    def delete(self, delete: Delete) -> None:
        self.pause()
        self.ports.delete(delete)

    def record(self, event: EmitEvent) -> None:
        self.pause()
        self.ports.record(event)

    def execute(self, call: Call) -> None:
        self._pause_unless_confirmed()
        self.ports.execute(call)

    def _pause_unless_confirmed(self) -> None:
        """The patch that confirms the ledger and the write after it count as one write."""
        if not self._is_confirmed:
            self.pause()
        self._is_confirmed = False


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
