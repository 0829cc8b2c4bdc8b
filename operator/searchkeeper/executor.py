"""What a plan wants written is carried out, deed by deed, as far as it is let."""

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
    """A write of an action that was refused, and would be again. The operator condition is no action's."""

    action: str
    write: Operation
    error: Rejected | CallRejected

    @property
    def words(self) -> str:
        """Those of the API server, or of the engine, without what they quote of a Secret."""
        match self.write:
            case Create(manifest) if manifest["kind"] == "Secret":
                return redact(str(self.error), secret_texts(manifest))
            case Patch(key, changes) if key.kind == "Secret":
                return redact(str(self.error), secret_texts(changes))
            case _:
                return str(self.error)

    def __str__(self) -> str:
        return f"{self.write}: {self.words}"


@dataclass(frozen=True, slots=True)
class ResourceVersions:
    """The resource that a plan is of: its version when it was seen, and now that its status is stored."""

    key: Key
    observed: str
    now: str


def execute_all(
    kube: KubernetesApi,
    driver: EngineClient,
    action_operations: Iterable[ActionOperations],
    of: ResourceVersions,
) -> tuple[int, list[DeniedOperation]]:
    """Every deed, as far as it is let: how many writes were made, and which were refused.

    What was refused has not happened: the world is the one that all other deeds were decided on, and none of
    them relies on this one, or it would require it. The rest of the same deed may rely on it, and is left.
    After a conflict, or without an answer, nobody knows the world any more: raises KubeError, CallFailed.
    """
    made, denied = 0, []
    for deed in action_operations:
        for write in deed.operations:
            if isinstance(write, EngineCall | Create):
                _confirm(kube, of)
            try:
                of = _after(execute(kube, driver, _on(write, of)), of)
            except (Rejected, CallRejected) as error:
                denied.append(DeniedOperation(deed.action, write, error))
                break
            made += 1
    return made, denied


def _on(write: Operation, of: ResourceVersions) -> Operation:
    """The resource's own version moved when its status was stored."""
    if isinstance(write, Patch) and write.key == of.key and write.resource_version == of.observed:
        return Patch(write.key, write.changes, of.now)
    return write


def _after(written: Manifest | None, of: ResourceVersions) -> ResourceVersions:
    """The resource's own version moved if it was what was written."""
    if written is None or Key.of(written) != of.key:
        return of
    return replace(of, now=str(written["metadata"]["resourceVersion"]))


def _confirm(kube: KubernetesApi, of: ResourceVersions) -> None:
    """Neither the engine nor a name that is free takes a precondition: the API server is asked once more
    whether this ledger still counts. Who slept meanwhile would set, or make, what was wanted yesterday.

    By a patch that changes nothing, under the resource version: what is read may be behind. Raises Conflict.
    """
    kube.patch_status(Patch(of.key, {"status": {}}, of.now))


def execute(kube: KubernetesApi, driver: EngineClient, write: Operation) -> Manifest | None:
    """What the API server then has of a patched object."""
    match write:
        case Create(manifest):
            kube.create(manifest)
        case Patch():
            return kube.patch(write)
        case Delete():
            kube.delete(write)
        case EngineCall(call):
            driver.execute(call)
        case EmitEvent():
            kube.record(write)
        case _:
            raise TypeError(f"nobody carries out {write!r}")
    return None
