"""Both ports on the world in memory, with every write recorded and held against the laws."""

from __future__ import annotations

__all__ = ["InvariantRecorder", "InvariantViolated", "shuffled"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from searchkeeper.kubernetes.operations import Create, Delete, EmitEvent, EngineCall, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.planner import Operation, Order
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.invariants.checks import Violation, violations
from searchkeeper.testing.invariants.transitions import ObservedState, StatusPatch, Transition
from searchkeeper.versions import Release

T = TypeVar("T")


def shuffled(state: FakeClusterState) -> Order:
    """Another order of actions for every state of the world, and for the same state the same.

    Whatever an action relies on has to be among its prerequisites: nothing else comes before it.
    """
    dice = Random(state.cluster.revision)
    return lambda actions: dice.sample(list(actions), len(actions))


class InvariantViolated(AssertionError):
    """A write that no operator may make was made."""

    def __init__(self, breaches: Sequence[Violation]) -> None:
        super().__init__("\n".join(map(str, breaches)))
        self.breaches = tuple(breaches)


@dataclass
class InvariantRecorder:
    """The ports `Kube` and `Driver` of one cluster's operator. Raises LawBroken at the first breach.

    Between two looks at the cluster at most one thing is taken away: that is a law as well.
    """

    world: FakeCluster
    key: Key
    release: Release
    steps: list[Transition] = field(default_factory=list)
    _taken: int = 0

    def get(self, key: Key) -> Manifest | None:
        return self.world.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        return self.world.list(api, kind, namespace, labels)

    def get_state(self) -> EngineView | Unreachable:
        self._taken = 0
        return self.world.get_state()

    def create(self, manifest: Manifest) -> Manifest:
        return self._held_to_law(Create(manifest), lambda: self.world.create(manifest))

    def patch(self, patch: Patch) -> Manifest:
        return self._held_to_law(patch, lambda: self.world.patch(patch))

    def patch_status(self, patch: Patch) -> Manifest:
        return self._held_to_law(StatusPatch(patch), lambda: self.world.patch_status(patch))

    def delete(self, delete: Delete) -> None:
        self._held_to_law(delete, lambda: self.world.delete(delete))

    def record(self, event: EmitEvent) -> None:
        self._held_to_law(event, lambda: self.world.record(event))

    def execute(self, call: Call) -> None:
        self._held_to_law(EngineCall(call), lambda: self.world.execute(call))

    def _held_to_law(self, write: Operation, carry_out: Callable[[], T]) -> T:
        """What the world refuses is no step: nothing has happened."""
        before: FakeClusterState = self.world.state
        given = carry_out()
        step = Transition(
            ObservedState(before, self.key), write, ObservedState(self.world.state, self.key), self.release
        )
        self.steps.append(step)
        self._taken += write.is_destructive
        breaches = list(violations(step))
        if self._taken > 1:
            breaches.append(Violation("one_destruction_between_looks", "two things taken away", step))
        if breaches:
            raise InvariantViolated(breaches)
        return given
