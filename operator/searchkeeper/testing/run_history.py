"""What really happened, put back together: every change of the store, every request, the engine's time.

The revisions of the store are one order of all that happens to objects of whatever kind, and the engine notes
at which of them it was looked at, or told something. So the state around each write is known, and a run on a
real API server is held to the same laws as one in memory.
"""

from __future__ import annotations

__all__ = ["EngineObservation", "RunHistory", "StoreChange"]

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, TypeAlias

from searchkeeper.kubernetes.operations import Delete, EngineCall, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call
from searchkeeper.planner import Operation
from searchkeeper.testing.audit_log import AuditedRequest
from searchkeeper.testing.fake_cluster import FakeClusterState
from searchkeeper.testing.fake_kubernetes.manifests import get_value, is_terminating
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore
from searchkeeper.testing.fake_opensearch import FakeEngine
from searchkeeper.testing.invariants.checks import violations
from searchkeeper.testing.invariants.transitions import ObservedState, StatusPatch, Transition
from searchkeeper.versions import Release

_LEASE: Final = "Lease"
# Whose status is the operator's alone.
_TOLD: Final = frozenset({"SearchCluster", "SearchPool"})


@dataclass(frozen=True, slots=True)
class StoreChange:
    """An object as one revision of the store left it, or as it was when that took it away."""

    revision: int
    manifest: Manifest
    is_gone: bool = False

    @property
    def key(self) -> Key:
        return Key.of(self.manifest)


@dataclass(frozen=True, slots=True)
class EngineObservation:
    """The engine after it was looked at, or told something, and the newest revision of that moment."""

    revision: int
    engine: FakeEngine
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class _Deed:
    """A request, the revision at which it took effect, and the change that it made, if it made one."""

    revision: int
    request: AuditedRequest
    change: StoreChange | None


_Happening: TypeAlias = StoreChange | _Deed | EngineObservation


@dataclass(frozen=True)
class RunHistory:
    """All of one SearchCluster. Beats are in the order in which they happened, the others in any.

    `releases` has those that worked as another release than the rest, by the token of the process.
    """

    key: Key
    release: Release
    changes: Sequence[StoreChange]
    beats: Sequence[EngineObservation]
    requests: Sequence[AuditedRequest]
    releases: Mapping[str, Release] = field(default_factory=dict)

    def breaches(self) -> list[str]:
        """Every law that was broken, each in a sentence that names it."""
        return [*self._unlawful(), *self._taken_unseen(), *self._unfenced(), *self.untold()]

    @property
    def end(self) -> FakeClusterState:
        """How it all is at last."""
        state = FakeClusterState()
        for each in self._happenings:
            state = _after(state, each)
        return state

    def steps(self) -> Iterator[Transition]:
        """Each write, with the states around it."""
        return (step for _, step in self._steps())

    def _steps(self) -> Iterator[tuple[_Happening, Transition]]:
        state = FakeClusterState()
        for each in self._happenings:
            before, state = state, _after(state, each)
            write = _write(each)
            if write is not None:
                release = self._release_of(each)
                yield (
                    each,
                    Transition(
                        ObservedState(before, self.key), write, ObservedState(state, self.key), release
                    ),
                )

    def _release_of(self, what: _Happening) -> Release:
        who = what.request.who if isinstance(what, _Deed) else ""
        return self.releases.get(who, self.release)

    def _unlawful(self) -> Iterator[str]:
        for what, step in self._steps():
            for breach in violations(step):
                yield f"{breach.law}: {breach.message} ({_told(what)})"

    def untold(self) -> list[str]:
        """Every status that changed, and no request of the operator changed it. None, if the log is whole."""
        status: dict[Key, object] = {}
        found = []
        for each in self._happenings:
            change = each.change if isinstance(each, _Deed) else each
            if not isinstance(change, StoreChange) or change.key.kind not in _TOLD:
                continue
            now = change.manifest.get("status")
            if now != status.setdefault(change.key, now) and not isinstance(each, _Deed):
                found.append(f"status_is_the_operators_own: {_told(change)}")
            status[change.key] = now
        return found

    def _taken_unseen(self) -> Iterator[str]:
        """Between two looks at the cluster at most one thing is taken away."""
        taken: list[str] = []
        for each in self._happenings:
            if isinstance(each, EngineObservation) and each.call is None:
                taken = []
            elif isinstance(each, _Deed) and each.request.write.is_destructive:
                taken.append(_told(each))
                if len(taken) > 1:
                    yield f"one_destruction_between_looks: {', '.join(taken)}"

    def _unfenced(self) -> Iterator[str]:
        """Whoever writes has the lease at that moment, by the store's own order."""
        holder = ""
        for each in self._happenings:
            change = each.change if isinstance(each, _Deed) else each
            if isinstance(change, StoreChange) and change.key.kind == _LEASE:
                holder = get_value(change.manifest, "spec", "holderIdentity", default="")
            if isinstance(each, _Deed) and not self._may_write(each.request, holder):
                yield f"only_the_holder_writes: {_told(each)} while {holder or 'nobody'} leads"

    def _may_write(self, request: AuditedRequest, holder: str) -> bool:
        return request.key.kind == _LEASE or holder in self._identities.get(request.who, ())

    @cached_property
    def _identities(self) -> dict[str, set[str]]:
        """Under which names each process has taken the lease."""
        found: dict[str, set[str]] = {}
        for each in self.requests:
            name = get_value(each.answer or {}, "spec", "holderIdentity") if each.key.kind == _LEASE else None
            if name:
                found.setdefault(each.who, set()).add(name)
        return found

    @cached_property
    def _happenings(self) -> Sequence[_Happening]:
        action_operations = _deeds(self.requests, self.changes)
        done = {id(each.change) for each in action_operations}
        others = [each for each in self.changes if id(each) not in done]
        placed: list[_Happening] = sorted([*others, *action_operations], key=lambda each: each.revision)
        return sorted([*placed, *self.beats], key=lambda each: each.revision)


def _deeds(requests: Sequence[AuditedRequest], changes: Sequence[StoreChange]) -> list[_Deed]:
    """What changed nothing happened after all that the same process had done before."""
    found: list[_Deed] = []
    reached: dict[str, int] = {}
    for each in requests:
        deed = _answered(each, each.answer, changes) if each.answer is not None else None
        if deed is not None:
            placed = replace(deed, revision=max(deed.revision, reached.get(each.who, 0)))
            found.append(deed if deed.change is not None else placed)
            reached[each.who] = found[-1].revision
    done = {id(each.change) for each in found}
    unanswered = (_unanswered(each, changes) for each in requests if each.answer is None)
    return [*found, *(each for each in unanswered if each is not None and id(each.change) not in done)]


def _answered(request: AuditedRequest, answer: Manifest, changes: Sequence[StoreChange]) -> _Deed:
    """An answer names the revision that the request made, or the last one where it changed nothing.

    What is gone with it has no revision any more: there the change is known by the object's UID.
    """
    revision = int(get_value(answer, "metadata", "resourceVersion", default=0))
    own = [each for each in changes if each.revision == revision and each.key == request.key]
    if own and str(revision) != request.resource_version:
        return _Deed(revision, request, own[0])
    uid = get_value(answer, "details", "uid") or get_value(answer, "metadata", "uid")
    ends = [each for each in changes if each.is_gone and each.manifest["metadata"]["uid"] == uid]
    if ends and _ends(request, answer):
        return _Deed(ends[0].revision, request, ends[0])
    return _Deed(revision, request, None)


def _ends(request: AuditedRequest, answer: Manifest) -> bool:
    """Whether nothing of its object is left: it was deleted, or held only by what has just let go of it."""
    is_going = get_value(answer, "metadata", "deletionTimestamp") is not None
    return isinstance(request.write, Delete) or (is_going and not get_value(answer, "metadata", "finalizers"))


def _unanswered(request: AuditedRequest, changes: Sequence[StoreChange]) -> _Deed | None:
    """If it was carried out, then on the state that it names: the next one shows what was asked for."""
    later = [
        each
        for each in changes
        if each.key == request.key and each.revision > int(request.resource_version or 0)
    ]
    for each in sorted(later, key=lambda change: change.revision)[:1]:
        if _shows(each, request.write):
            return _Deed(each.revision, request, each)
    return None


def _shows(change: StoreChange, write: Operation) -> bool:
    match write.patch if isinstance(write, StatusPatch) else write:
        case Delete():
            return change.is_gone or is_terminating(change.manifest)
        case Patch(_, changes):
            asked = {name: part for name, part in changes.items() if name != "metadata"}
            return not change.is_gone and _has(change.manifest, asked)
        case _:
            return not change.is_gone


def _has(part: Any, asked: Any) -> bool:
    """Whether a merge patch would change nothing any more."""
    if not isinstance(asked, Mapping):
        return bool(part == asked)
    here: Mapping[str, Any] = part if isinstance(part, Mapping) else {}
    return all(_has(here.get(name), each) for name, each in asked.items())


def _told(what: _Happening) -> str:
    """`Delete Pod logs-data-0 at 1146`."""
    match what:
        case EngineObservation(revision, _, call):
            return f"{call} at {revision}"
        case _Deed(revision, request):
            return f"{type(request.write).__name__} {request.key} at {revision}"
        case StoreChange():
            return f"{what.key} at {what.revision}"


def _write(what: _Happening) -> Operation | None:
    """Keeping the lease is no write of the kind that laws are about."""
    if isinstance(what, EngineObservation):
        return None if what.call is None else EngineCall(what.call)
    if isinstance(what, StoreChange) or what.request.key.kind == _LEASE:
        return None
    return what.request.write


def _after(state: FakeClusterState, what: _Happening) -> FakeClusterState:
    if isinstance(what, EngineObservation):
        return replace(state, engine=what.engine)
    change = what.change if isinstance(what, _Deed) else what
    if change is None:
        return state
    objects = {key: each for key, each in state.cluster.objects.items() if key != change.key}
    if not change.is_gone:
        objects[change.key] = change.manifest
    return replace(state, cluster=ObjectStore(objects))
