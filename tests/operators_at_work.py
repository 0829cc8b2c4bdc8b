"""The operator of any release at work on the world in memory, until it is done or cut off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from searchkeeper.api.codec import decode_records, decode_summary
from searchkeeper.api.status import SummaryType
from searchkeeper.images import engine_image
from searchkeeper.kubernetes.api import ApiError
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.reconcile import ReconcileOutcome, reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_opensearch import create_index
from searchkeeper.testing.faults import Crashed, Fault, FaultInjection, FaultyPorts
from searchkeeper.testing.fingerprints import Fingerprint, fingerprint
from searchkeeper.testing.invariants.checks import leftovers
from searchkeeper.testing.invariants.recorder import InvariantRecorder, shuffled
from searchkeeper.testing.invariants.transitions import Transition

CLUSTER: Final = Key("search.everpath.dev/v1alpha1", "SearchCluster", "search", "logs")
# Cycles without a write before the operator counts as stuck.
_PATIENCE: Final = 200
# More writes than any work takes in one moment: past them, the operator fights with itself.
BUSY: Final = 300


class CutOff(Exception):
    """The operator was replaced between two writes."""


@dataclass
class Ports:
    """Both ports, counting every write, and cutting the operator off after the last one it may make."""

    world: FakeCluster | InvariantRecorder
    allowed: int | None = None
    operations: int = 0

    def get(self, key: Key) -> Manifest | None:
        return self.world.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        return self.world.list(api, kind, namespace, labels)

    def create(self, manifest: Manifest) -> Manifest:
        self._count()
        return self.world.create(manifest)

    def patch(self, patch: Patch) -> Manifest:
        self._count()
        return self.world.patch(patch)

    def patch_status(self, patch: Patch) -> Manifest:
        self._count()
        return self.world.patch_status(patch)

    def delete(self, delete: Delete) -> None:
        self._count()
        self.world.delete(delete)

    def record(self, event: EmitEvent) -> None:
        self._count()
        self.world.record(event)

    def get_state(self) -> EngineView | Unreachable:
        return self.world.get_state()

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        return self.world.get_details(request)

    def execute(self, call: Call) -> None:
        self._count()
        self.world.execute(call)

    def _count(self) -> None:
        if self.allowed is not None and self.operations >= self.allowed:
            raise CutOff
        self.operations += 1


def pool(name: str, replicas: int, *roles: str) -> dict[str, Any]:
    return {"name": name, "roles": list(roles), "replicas": replicas}


SMALL: Final = (pool("data", 2, "data"), pool("managers", 3, "cluster_manager"))


def asked_for(*pools: dict[str, Any], version: str = "2.19.4", **spec: Any) -> FakeCluster:
    """A world in which somebody has just asked for a cluster."""
    world = FakeCluster()
    wanted = {"version": version, "pools": list(pools or SMALL), **spec}
    metadata = {"name": CLUSTER.name, "namespace": CLUSTER.namespace}
    world.create({"apiVersion": CLUSTER.api, "kind": CLUSTER.kind, "metadata": metadata, "spec": wanted})
    return world


def with_index(world: FakeCluster, name: str = "books", *, replicas: int = 1) -> FakeCluster:
    """With documents in it, once the engine has placed them."""
    world.state = replace(world.state, engine=create_index(world.state.engine, name, replicas=replicas))
    for _ in range(3):
        world.tick()
    return world


def edited(world: FakeCluster, **spec: Any) -> FakeCluster:
    world.patch(Patch(CLUSTER, {"spec": spec}, ""))
    return world


def copied(world: FakeCluster) -> FakeCluster:
    """States are values, so that a copy costs nothing."""
    return FakeCluster(world.state)


def cycled(ports: Any, world: FakeCluster, version: str, **options: Any) -> ReconcileOutcome:
    """One cycle. Its actions are asked in an order of its own: whatever one needs is required by it."""
    now, order = world.state.now, shuffled(world.state)
    return reconcile(ports, ports, CLUSTER, release(version), now, order=order, **options)


def settled(world: FakeCluster, version: str, *, allowed: int | None = None) -> int:
    """Lets a release work until it finds nothing to do; how many writes it took.

    Raises CutOff after the allowed number, AssertionError when it does not come to an end.
    """
    ports = Ports(InvariantRecorder(world, CLUSTER, release(version)), allowed)
    idle = busy = 0
    while idle < _PATIENCE and busy < BUSY:
        done = cycled(ports, world, version)
        if done.converged:
            return ports.operations
        idle, busy = (0, busy + 1) if done.wrote else (idle + 1, 0)
        if not done.wrote:
            world.tick()
    raise AssertionError(f"{version} is stuck: {told(world)}")


def worked(world: FakeCluster, version: str, *, ticks: int = 40) -> FakeCluster:
    """Lets a release work for as long as these ticks take, whether it comes to an end or not."""
    ports = InvariantRecorder(world, CLUSTER, release(version))
    for _ in range(ticks):
        for _ in range(BUSY):
            if not cycled(ports, world, version).wrote:
                break
        else:
            raise AssertionError(f"the operator writes without end: {told(world)}")
        world.tick()
    return world


def worked_until(world: FakeCluster, version: str, reached: Callable[[FakeCluster], bool]) -> FakeCluster:
    """Lets a release work, cycle by cycle, until something is the case. Raises AssertionError if never."""
    for _ in range(10 * _PATIENCE):
        if reached(world):
            return world
        if not cycled(world, world, version).wrote:
            world.tick()
    raise AssertionError(f"it never came to that: {told(world)}")


def reconcile_until_deleted(ports: Any, world: FakeCluster, version: str, *, ticks: int = 60) -> None:
    """Reconcile once a tick until the SearchCluster is gone; the caller checks whether it is."""
    for _ in range(ticks):
        looked(ports, world, version)
        world.tick()
        if world.get(CLUSTER) is None:
            return


def with_faults(world: FakeCluster, **faults: PodFault) -> FakeCluster:
    """Images that fail, by engine version (`v3_4_0`), or pods, by name (`logs_data_0`); none mends all."""
    named = {
        engine_image(name[1:].replace("_", ".")) if name[1].isdecimal() else name.replace("_", "-"): fault
        for name, fault in faults.items()
    }
    world.state = replace(world.state, faults=tuple(sorted(named.items())))
    return world


def annotated(world: FakeCluster, **annotations: str) -> FakeCluster:
    named = {f"search.everpath.dev/{name}": text for name, text in annotations.items()}
    world.patch(Patch(CLUSTER, {"metadata": {"annotations": named}}, ""))
    return world


def running(world: FakeCluster) -> dict[str, str]:
    """The version of every node that has joined, by the name of its pod without the cluster's."""
    nodes = world.state.engine.nodes
    return {node.name.removeprefix("logs-"): node.version for node in sorted(nodes, key=lambda n: n.name)}


def claims(world: FakeCluster) -> dict[str, str]:
    """The UID of every volume claim."""
    found = world.list("v1", "PersistentVolumeClaim", CLUSTER.namespace, {})
    return {each["metadata"]["name"]: each["metadata"]["uid"] for each in found}


def condition(world: FakeCluster, name: str) -> str:
    """`True RollbackAvailable: possible to 2.19.4`, or `False LastDataNode: stalled: …` if it is stalled."""
    conditions = {each.type: each for each in decode_records(status(world)).conditions}
    found = (conditions | decode_summary(status(world)))[name]
    stalled = "stalled: " if found.is_stalled else ""
    return f"{found.status} {found.reason}: {stalled}{found.message}"


@dataclass
class Known:
    """States of which it is known that the operator comes from them to one and the same end."""

    end: tuple[Any, ...] | None = None
    states: set[Fingerprint] = field(default_factory=set)


@dataclass(frozen=True)
class Beat:
    """The world as a cycle finds it, and how many writes were made before."""

    state: FakeClusterState
    operations: int


@dataclass(frozen=True)
class Score:
    """A whole run that nothing disturbed: every beat of it, every write, and how it ends."""

    version: str
    beats: tuple[Beat, ...]
    steps: tuple[Transition, ...]
    known: Known

    def beat_of(self, write: int) -> Beat:
        """The cycle in which this write is made."""
        return next(beat for beat in reversed(self.beats) if beat.operations <= write)


def score(world: FakeCluster, version: str, known: Known | None = None) -> Score:
    """How a release does its work when nobody disturbs it."""
    known = known or Known()
    ports, beats, idle = InvariantRecorder(world, CLUSTER, release(version)), [Beat(world.state, 0)], 0
    while True:
        known.states.add(fingerprint(world.state))
        done = cycled(ports, world, version)
        if done.converged:
            break
        idle = 0 if done.wrote else idle + 1
        if not done.wrote:
            world.tick()
        beats.append(Beat(world.state, len(ports.steps)))
        assert max(idle, len(beats) // 10) < _PATIENCE, f"{version} is stuck: {told(world)}"
    _same_end(world, known, version)
    return Score(version, tuple(beats), tuple(ports.steps), known)


def disturbed(this: Score, *disturbances: FaultInjection) -> int:
    """The same run with disturbances: it ends as the other did. How many cycles it took to be sure."""
    beat = this.beat_of(min(each.at for each in disturbances))
    world = FakeCluster(beat.state)
    past = [step.before.state for step in this.steps[: beat.operations]]
    ports: Any = InvariantRecorder(world, CLUSTER, release(this.version))
    for each in sorted(disturbances, key=lambda each: each.fault is Fault.STATUS_LOST):
        ports = FaultyPorts(ports, lambda: world.state, each, beat.operations, list(past))
    return followed(world, this.version, this.known, ports)


def followed(world: FakeCluster, version: str, known: Known, ports: Any = None, *, limit: int = 4000) -> int:
    """Lets a release work until it is done, or where it is known how that ends; how many cycles it took.

    Whatever raises on the way is looked at again in the next cycle, as the operator does. Raises
    AssertionError when another end is reached, or none.
    """
    ports = ports or InvariantRecorder(world, CLUSTER, release(version))
    snapshot, idle = [fingerprint(world.state)], 0
    for _ in range(limit):
        done = looked(ports, world, version)
        if done is not None and done.converged and _stays_so(ports, world, version):
            _same_end(world, known, version)
            break
        idle = 0 if done is None or done.wrote else idle + 1
        if done is None or not done.wrote:
            world.tick()
        assert idle < _PATIENCE, f"{version} is stuck: {told(world)}"
        state = fingerprint(world.state)
        if state in known.states and getattr(ports, "is_over", True):
            break
        snapshot.append(state)
    else:
        raise AssertionError(f"{version} comes to no end: {told(world)}")
    known.states.update(snapshot)
    return len(snapshot)


def _stays_so(ports: Any, world: FakeCluster, version: str) -> bool:
    """Also when everybody else has seen what was done."""
    world.tick()
    done = looked(ports, world, version)
    return done is not None and done.converged


def looked(ports: Any, world: FakeCluster, version: str, **options: Any) -> ReconcileOutcome | None:
    """One cycle; None where something went wrong in it, and there is nothing for it but to look again."""
    try:
        return cycled(ports, world, version, **options)
    except (Crashed, ApiError, CallFailed):
        return None


def _same_end(world: FakeCluster, known: Known, version: str) -> None:
    left = leftovers(world.state, CLUSTER)
    assert left is None, left
    end = summary(world.state)
    known.end = known.end or end
    assert end == known.end, f"{version} ends elsewhere"


def status(world: FakeCluster) -> Mapping[str, Any]:
    found = world.get(CLUSTER)
    assert found is not None
    return found.get("status") or {}


def told(world: FakeCluster) -> str:
    """The conditions of actions that are not True, and the ledger."""
    open_ends = [
        f"{each['type']}={each['status']} {each['reason']}: {each['message']}"
        for each in status(world).get("conditions", ())
        if each["status"] != "True" and each["type"] not in list(SummaryType)
    ]
    return "\n".join([*open_ends, str(status(world).get("ledger"))])


def summary(state: FakeClusterState) -> tuple[Any, ...]:
    """What is deployed, whoever deployed it when: equal for worlds that no user could tell apart."""
    objects = {
        key: (manifest.get("spec"), manifest.get("data"))
        for key, manifest in state.cluster.objects.items()
        if key.kind not in ("Pod", "ControllerRevision", "SearchCluster")
    }
    nodes = sorted((node.name, node.version) for node in state.engine.nodes)
    return objects, nodes, state.engine.allocation, state.engine.excluded
