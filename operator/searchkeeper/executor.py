"""Executes the operations of a plan."""

from __future__ import annotations

__all__ = ["DeniedOperation", "ResourceVersions", "execute", "execute_all"]

from collections.abc import Iterable
from dataclasses import dataclass, replace

from searchkeeper.kubernetes.api import KubernetesApi, Rejected
from searchkeeper.kubernetes.operations import Create, Delete, EmitEvent, EngineCall, Key, Manifest, Patch
from searchkeeper.opensearch.client import CallRejected, EngineClient
from searchkeeper.planner import ActionOperations, Operation
from searchkeeper.redaction import redact, secret_texts


@dataclass(frozen=True, slots=True)
class DeniedOperation:
    """An operation that was refused permanently. `action` is empty for the patch of the OperatorCondition."""

    action: str
    operation: Operation
    error: Rejected | CallRejected

    @property
    def message(self) -> str:
        """The error of the API server or of the engine, without the contents of a Secret."""
        match self.operation:
            case Create(manifest) if manifest["kind"] == "Secret":
                return redact(str(self.error), secret_texts(manifest))
            case Patch(key, changes) if key.kind == "Secret":
                return redact(str(self.error), secret_texts(changes))
            case _:
                return str(self.error)

    def __str__(self) -> str:
        return f"{self.operation}: {self.message}"


@dataclass(frozen=True, slots=True)
class ResourceVersions:
    """The resource of a plan: its version in the snapshot, and its latest version."""

    key: Key
    observed: str
    latest: str


def execute_all(
    kube: KubernetesApi,
    engine: EngineClient,
    action_operations: Iterable[ActionOperations],
    versions: ResourceVersions,
) -> tuple[int, list[DeniedOperation]]:
    """Execute the operations. Return how many were executed, and which were denied.

    A denied operation changed nothing, so the other actions go on: an action that depends on it would require
    it. The rest of the same action is skipped, because it may depend on it. After a conflict or without a
    response the state is unknown, and nothing else is executed: raises ApiError, CallFailed.
    """
    executed, denied = 0, []
    for each in action_operations:
        for operation in each.operations:
            if isinstance(operation, EngineCall | Create):
                _confirm_ledger(kube, versions)
            try:
                written = execute(kube, engine, _at_latest_version(operation, versions))
            except (Rejected, CallRejected) as error:
                denied.append(DeniedOperation(each.action, operation, error))
                break
            if written is not None and Key.of(written) == versions.key:
                versions = replace(versions, latest=str(written["metadata"]["resourceVersion"]))
            executed += 1
    return executed, denied


def _at_latest_version(operation: Operation, versions: ResourceVersions) -> Operation:
    """Return a patch of the resource itself with its latest version: persisting the status changed it."""
    if not isinstance(operation, Patch) or operation.key != versions.key:
        return operation
    if operation.resource_version != versions.observed:
        return operation
    return Patch(operation.key, operation.changes, versions.latest)


def _confirm_ledger(kube: KubernetesApi, versions: ResourceVersions) -> None:
    """Raise Conflict when another operator has written the status since.

    A call to the engine and a create have no precondition. An operator that was suspended would otherwise
    execute an outdated plan. A patch without changes is used because a read may be stale.
    """
    kube.patch_status(Patch(versions.key, {"status": {}}, versions.latest))


def execute(kube: KubernetesApi, engine: EngineClient, operation: Operation) -> Manifest | None:
    """Execute one operation. Return the object for a patch, else None."""
    match operation:
        case Create(manifest):
            kube.create(manifest)
        case Patch():
            return kube.patch(operation)
        case Delete():
            kube.delete(operation)
        case EngineCall(call):
            engine.execute(call)
        case EmitEvent():
            kube.record(operation)
        case _:
            raise TypeError(f"unknown operation {operation!r}")
    return None
