"""A run on a real API server, reconstructed and checked against the invariants.

Inputs are every change of the store (from watches), every request (from the audit log) and every state of the
engine. The store's revisions order them: the engine records the revision at which it was read or called. So
the state before and after each write is known, as in a run on fakes.
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
from searchkeeper.testing.invariants.transitions import ObservedState, Transition
from searchkeeper.testing.ports import StatusPatch
from searchkeeper.versions import Release

_LEASE: Final = "Lease"
# Kinds whose status only the operator writes.
_OWN_KINDS: Final = frozenset({"SearchCluster", "SearchPool"})


@dataclass(frozen=True, slots=True)
class StoreChange:
    """An object as one revision of the store left it; with `is_gone`, as it was before its removal."""

    revision: int
    manifest: Manifest
    is_gone: bool = False

    @property
    def key(self) -> Key:
        return Key.of(self.manifest)

    def __str__(self) -> str:
        return f"{self.key} at {self.revision}"


@dataclass(frozen=True, slots=True)
class EngineObservation:
    """The engine after it was read or called, and the newest revision of the store at that time."""

    revision: int
    engine: FakeEngine
    call: Call | None = None

    def __str__(self) -> str:
        return f"{self.call} at {self.revision}"


@dataclass(frozen=True, slots=True)
class _ExecutedRequest:
    """A request, the revision at which it took effect, and its change of the store, if it made one."""

    revision: int
    request: AuditedRequest
    change: StoreChange | None

    def __str__(self) -> str:
        return f"{type(self.request.write).__name__} {self.request.key} at {self.revision}"


_Happening: TypeAlias = StoreChange | _ExecutedRequest | EngineObservation


@dataclass(frozen=True)
class RunHistory:
    """The history of one SearchCluster. Observations are in the order of time, the other inputs in any.

    `releases` maps clients that run another operator release than `release` to theirs.
    """

    key: Key
    release: Release
    changes: Sequence[StoreChange]
    observations: Sequence[EngineObservation]
    requests: Sequence[AuditedRequest]
    releases: Mapping[str, Release] = field(default_factory=dict)

    def violations(self) -> list[str]:
        """Return every violated invariant, as `invariant: message (write at revision)`."""
        found = [
            f"{violation.invariant}: {violation.message} ({happening})"
            for happening, transition in self._transitions()
            for violation in violations(transition)
        ]
        return [
            *found,
            *self._repeated_destructions(),
            *self._writes_without_lease(),
            *self.unaudited_status_changes(),
        ]

    @property
    def end(self) -> FakeClusterState:
        """The last state."""
        state = FakeClusterState()
        for happening in self._happenings:
            state = _apply(state, happening)
        return state

    def transitions(self) -> Iterator[Transition]:
        """Yield each write with the states before and after it."""
        return (transition for _, transition in self._transitions())

    def _transitions(self) -> Iterator[tuple[_Happening, Transition]]:
        state = FakeClusterState()
        for happening in self._happenings:
            before, state = state, _apply(state, happening)
            write = _write(happening)
            if write is None:
                continue
            client = happening.request.client if isinstance(happening, _ExecutedRequest) else ""
            release = self.releases.get(client, self.release)
            states = ObservedState(before, self.key), ObservedState(state, self.key)
            yield happening, Transition(states[0], write, states[1], release)

    def unaudited_status_changes(self) -> list[str]:
        """Return every change of a status that no request made. There is none if the log is complete."""
        statuses: dict[Key, object] = {}
        found = []
        for happening in self._happenings:
            change = happening.change if isinstance(happening, _ExecutedRequest) else happening
            if not isinstance(change, StoreChange) or change.key.kind not in _OWN_KINDS:
                continue
            status = change.manifest.get("status")
            has_changed = status != statuses.setdefault(change.key, status)
            if has_changed and not isinstance(happening, _ExecutedRequest):
                found.append(f"status_changes_are_audited: {change}")
            statuses[change.key] = status
        return found

    def _repeated_destructions(self) -> Iterator[str]:
        """Yield destructive writes that follow another one without a read of the engine in between."""
        destructive: list[str] = []
        for happening in self._happenings:
            if isinstance(happening, EngineObservation) and happening.call is None:
                destructive = []
            elif isinstance(happening, _ExecutedRequest) and happening.request.write.is_destructive:
                destructive.append(str(happening))
                if len(destructive) > 1:
                    yield f"one_destructive_write_per_reconcile: {', '.join(destructive)}"

    def _writes_without_lease(self) -> Iterator[str]:
        """Yield writes of a process that does not hold the Lease at that revision."""
        holder = ""
        for happening in self._happenings:
            change = happening.change if isinstance(happening, _ExecutedRequest) else happening
            if isinstance(change, StoreChange) and change.key.kind == _LEASE:
                holder = get_value(change.manifest, "spec", "holderIdentity", default="")
            if not isinstance(happening, _ExecutedRequest) or happening.request.key.kind == _LEASE:
                continue
            if holder not in self._identities.get(happening.request.client, ()):
                yield f"only_leader_writes: {happening}; the Lease holder is {holder or 'not set'}"

    @cached_property
    def _identities(self) -> dict[str, set[str]]:
        """The holder identities under which each client has acquired the Lease."""
        found: dict[str, set[str]] = {}
        for request in self.requests:
            if request.key.kind == _LEASE:
                identity = get_value(request.response or {}, "spec", "holderIdentity")
                found.setdefault(request.client, set()).update([identity] if identity else [])
        return found

    @cached_property
    def _happenings(self) -> Sequence[_Happening]:
        """All inputs in the order in which they happened."""
        executed = _executed_requests(self.requests, self.changes)
        own = {id(each.change) for each in executed}
        others = [change for change in self.changes if id(change) not in own]
        placed: list[_Happening] = sorted([*others, *executed], key=lambda each: each.revision)
        return sorted([*placed, *self.observations], key=lambda each: each.revision)


def _executed_requests(
    requests: Sequence[AuditedRequest], changes: Sequence[StoreChange]
) -> list[_ExecutedRequest]:
    """Match requests with changes. A request without a change comes after the client's earlier ones."""
    found: list[_ExecutedRequest] = []
    reached: dict[str, int] = {}
    for request in requests:
        if request.response is None:
            continue
        executed = _match_by_response(request, request.response, changes)
        if executed.change is None:
            executed = replace(executed, revision=max(executed.revision, reached.get(request.client, 0)))
        found.append(executed)
        reached[request.client] = executed.revision
    matched = {id(each.change) for each in found}
    for request in requests:
        if request.response is None:
            unconfirmed = _match_by_effect(request, changes)
            if unconfirmed is not None and id(unconfirmed.change) not in matched:
                found.append(unconfirmed)
    return found


def _match_by_response(
    request: AuditedRequest, response: Manifest, changes: Sequence[StoreChange]
) -> _ExecutedRequest:
    """Find the change by the resource version of the response, which a write without effect leaves as it was.

    The response to a removal has no new resource version: there the UID identifies the change.
    """
    revision = int(get_value(response, "metadata", "resourceVersion", default=0))
    own = [change for change in changes if change.revision == revision and change.key == request.key]
    if own and str(revision) != request.resource_version:
        return _ExecutedRequest(revision, request, own[0])
    uid = get_value(response, "details", "uid") or get_value(response, "metadata", "uid")
    removals = [change for change in changes if change.is_gone and change.manifest["metadata"]["uid"] == uid]
    if removals and _removes_object(request, response):
        return _ExecutedRequest(removals[0].revision, request, removals[0])
    return _ExecutedRequest(revision, request, None)


def _removes_object(request: AuditedRequest, response: Manifest) -> bool:
    """Whether the request deleted the object, or removed the last finalizer of a terminating one."""
    is_marked = get_value(response, "metadata", "deletionTimestamp") is not None
    has_finalizers = bool(get_value(response, "metadata", "finalizers"))
    return isinstance(request.write, Delete) or (is_marked and not has_finalizers)


def _match_by_effect(request: AuditedRequest, changes: Sequence[StoreChange]) -> _ExecutedRequest | None:
    """Find the change of a request without response: the next one of its object, if it shows the effect."""
    since = int(request.resource_version or 0)
    later = [change for change in changes if change.key == request.key and change.revision > since]
    following = min(later, key=lambda change: change.revision, default=None)
    if following is None or not _shows_effect(following, request.write):
        return None
    return _ExecutedRequest(following.revision, request, following)


def _shows_effect(change: StoreChange, write: Operation) -> bool:
    match write.patch if isinstance(write, StatusPatch) else write:
        case Delete():
            return change.is_gone or is_terminating(change.manifest)
        case Patch(_, changes):
            patch = {name: part for name, part in changes.items() if name != "metadata"}
            return not change.is_gone and _contains(change.manifest, patch)
        case _:
            return not change.is_gone


def _contains(part: Any, patch: Any) -> bool:
    """Whether a merge patch would change nothing."""
    if not isinstance(patch, Mapping):
        return bool(part == patch)
    mapping: Mapping[str, Any] = part if isinstance(part, Mapping) else {}
    return all(_contains(mapping.get(name), value) for name, value in patch.items())


def _write(happening: _Happening) -> Operation | None:
    """Return the write that invariants apply to; None for reads, changes by others and the Lease."""
    match happening:
        case EngineObservation(_, _, call):
            return None if call is None else EngineCall(call)
        case _ExecutedRequest(_, request) if request.key.kind != _LEASE:
            return request.write
        case _:
            return None


def _apply(state: FakeClusterState, happening: _Happening) -> FakeClusterState:
    if isinstance(happening, EngineObservation):
        return replace(state, engine=happening.engine)
    change = happening.change if isinstance(happening, _ExecutedRequest) else happening
    if change is None:
        return state
    objects = {key: manifest for key, manifest in state.cluster.objects.items() if key != change.key}
    if not change.is_gone:
        objects[change.key] = change.manifest
    return replace(state, cluster=ObjectStore(objects))
