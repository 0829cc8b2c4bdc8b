"""The operator's ports on a fake cluster, with every write recorded and checked against the invariants."""

from __future__ import annotations

__all__ = ["InvariantRecorder", "InvariantViolated", "shuffled"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.planner import Operation, Order
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.invariants.checks import Violation, violations
from searchkeeper.testing.invariants.transitions import ObservedState, Transition
from searchkeeper.testing.ports import PortsDecorator
from searchkeeper.versions import Release

T = TypeVar("T")


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

    Also checks that a reconcile, which reads the engine once, makes at most one destructive write.
    """

    ports: FakeCluster
    key: Key
    release: Release
    steps: list[Transition] = field(default_factory=list)
    _destructive_writes: int = 0

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
        if found:
            raise InvariantViolated(found)
        return result
