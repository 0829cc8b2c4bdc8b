"""Both ports on the world in memory, with every write recorded and held against the laws."""

from __future__ import annotations

__all__ = ["LawBroken", "Recording", "shuffled"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from searchkeeper.embedded.world import State, World
from searchkeeper.engine.calls import Call
from searchkeeper.engine.view import EngineView, Unreachable
from searchkeeper.kernel import Order, Write
from searchkeeper.proof.properties import Breach, broken
from searchkeeper.proof.steps import Moment, Step, Stored
from searchkeeper.versions import Release
from searchkeeper.writes import Create, Delete, Event, Key, Manifest, Patch, Tell

T = TypeVar("T")


def shuffled(state: State) -> Order:
    """Another order of actions for every state of the world, and for the same state the same.

    Whatever an action relies on has to be among its prerequisites: nothing else comes before it.
    """
    dice = Random(state.cluster.revision)
    return lambda actions: dice.sample(list(actions), len(actions))


class LawBroken(AssertionError):
    """A write that no operator may make was made."""

    def __init__(self, breaches: Sequence[Breach]) -> None:
        super().__init__("\n".join(map(str, breaches)))
        self.breaches = tuple(breaches)


@dataclass
class Recording:
    """The ports `Kube` and `Driver` of one cluster's operator. Raises LawBroken at the first breach.

    Between two looks at the cluster at most one thing is taken away: that is a law as well.
    """

    world: World
    key: Key
    release: Release
    steps: list[Step] = field(default_factory=list)
    _taken: int = 0

    def get(self, key: Key) -> Manifest | None:
        return self.world.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        return self.world.list(api, kind, namespace, labels)

    def look(self) -> EngineView | Unreachable:
        self._taken = 0
        return self.world.look()

    def create(self, manifest: Manifest) -> Manifest:
        return self._held_to_law(Create(manifest), lambda: self.world.create(manifest))

    def patch(self, patch: Patch) -> Manifest:
        return self._held_to_law(patch, lambda: self.world.patch(patch))

    def patch_status(self, patch: Patch) -> Manifest:
        return self._held_to_law(Stored(patch), lambda: self.world.patch_status(patch))

    def delete(self, delete: Delete) -> None:
        self._held_to_law(delete, lambda: self.world.delete(delete))

    def record(self, event: Event) -> None:
        self._held_to_law(event, lambda: self.world.record(event))

    def tell(self, call: Call) -> None:
        self._held_to_law(Tell(call), lambda: self.world.tell(call))

    def _held_to_law(self, write: Write, carry_out: Callable[[], T]) -> T:
        """What the world refuses is no step: nothing has happened."""
        before: State = self.world.state
        given = carry_out()
        step = Step(Moment(before, self.key), write, Moment(self.world.state, self.key), self.release)
        self.steps.append(step)
        self._taken += write.is_destructive
        breaches = list(broken(step))
        if self._taken > 1:
            breaches.append(Breach("one_destruction_between_looks", "two things taken away", step))
        if breaches:
            raise LawBroken(breaches)
        return given
