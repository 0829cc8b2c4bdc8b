"""The operator's ports on a fake cluster, with every write recorded and checked against the invariants."""

from __future__ import annotations

__all__ = ["InvariantRecorder", "InvariantViolated", "shuffled"]

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeVar

from searchkeeper.kubernetes.operations import EngineCall, Key
from searchkeeper.opensearch.calls import Exclude
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.planner import Operation, Order
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.invariants.checks import Violation, violations
from searchkeeper.testing.invariants.transitions import ObservedState, Transition
from searchkeeper.testing.ports import PortsDecorator
from searchkeeper.versions import Release

T = TypeVar("T")
# Above what faults cause: an engine that fails and recovers repeats a call some times.
_MAX_REPETITIONS: Final = 20


def shuffled(state: FakeClusterState) -> Order:
    """Return an order of actions that is random, but always the same for a state.

    An action that depends on another without requiring it fails in some order.
    """
    random = Random(state.cluster.revision)
    return lambda actions: random.sample(list(actions), len(actions))


class InvariantViolated(AssertionError):
    """A write violated at least one invariant."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        super().__init__("\n".join(map(str, violations)))
        self.violations = tuple(violations)


@dataclass
class InvariantRecorder(PortsDecorator):
    """Both ports of one cluster's operator on a fake cluster. Raises InvariantViolated at a violation.

    Also checks that a reconcile, which reads the engine once, makes at most one destructive write, and that a
    rollout ends (L6): the operator does not set the same exclusions again and again without progress.
    """

    ports: FakeCluster
    key: Key
    release: Release
    steps: list[Transition] = field(default_factory=list)
    _destructive_writes: int = 0
    # How often each exclusion list was set since the last destructive write.
    _exclusions: Counter[frozenset[str]] = field(default_factory=Counter)

    @property
    def world(self) -> FakeCluster:
        return self.ports

    def get_state(self) -> EngineView | Unreachable:
        self._destructive_writes = 0
        return super().get_state()

    def _write(self, write: Operation, execute: Callable[[], T]) -> T:
        """Execute and check a write. A write that raises changed nothing and is not recorded."""
        before = ObservedState(self.world.state, self.key)
        result = execute()
        step = Transition(before, write, ObservedState(self.world.state, self.key), self.release)
        self.steps.append(step)
        self._destructive_writes += write.is_destructive
        found = list(violations(step))
        if self._destructive_writes > 1:
            message = f"{self._destructive_writes} destructive writes without a new observation"
            found.append(Violation("one_destructive_write_per_reconcile", message, step))
        if self._exclusions_toggle(write):
            message = f"exclusions set {_MAX_REPETITIONS} times without a destructive write"
            found.append(Violation("exclusions_do_not_toggle", message, step))
        if found:
            raise InvariantViolated(found)
        return result

    def _exclusions_toggle(self, write: Operation) -> bool:
        """Count how often each exclusion list is set; a destructive write is progress."""
        if write.is_destructive:
            self._exclusions.clear()
        match write:
            case EngineCall(Exclude(names)) if names:
                self._exclusions[names] += 1
                return self._exclusions[names] > _MAX_REPETITIONS
            case _:
                return False
