"""Several operators on one world, that nobody keeps from writing at the same time.

Each has a thread of its own, of which one runs at a time, from a write to the next. Whoever gives the turns
decides the order, so that a run can be repeated.
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


class _Over(BaseException):
    """Nobody waits for this player any more."""


@dataclass
class Paused:
    """Both ports; before every write something else may happen."""

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
        """Nothing comes between the patch that confirms the ledger and what it is for: it is one write."""
        if not self._is_confirmed:
            self.pause()
        self._is_confirmed = False


class Player:
    """One operator. `play` is what it does for ever; it is given a function that waits for the next turn."""

    def __init__(self, play: Callable[[Callable[[], None]], None]) -> None:
        self._play = play
        self._go, self._has_paused = threading.Semaphore(0), threading.Semaphore(0)
        self._error: BaseException | None = None
        self._is_over = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def active_pool(self) -> None:
        """Up to its next pause. Raises what the player raises."""
        self._go.release()
        self._has_paused.acquire()
        if self._error is not None:
            raise self._error

    def end(self) -> None:
        """Wherever it is."""
        self._is_over = True
        self._go.release()
        self._thread.join()

    def _pause(self) -> None:
        self._has_paused.release()
        self._go.acquire()
        if self._is_over:
            raise _Over

    def _run(self) -> None:
        self._go.acquire()
        try:
            if not self._is_over:
                self._play(self._pause)
        except _Over:
            pass
        except BaseException as error:  # noqa: BLE001 - whoever gave the turn is told
            self._error = error
        self._has_paused.release()
