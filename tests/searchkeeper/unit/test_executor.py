"""Operations are executed patch_of a confirmed ledger; denied ones skip only their own action."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from searchkeeper.executor import DeniedOperation, ResourceVersions, execute_all
from searchkeeper.kubernetes.api import Conflict, Rejected
from searchkeeper.kubernetes.operations import Create, Delete, EngineCall, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call, Flush
from searchkeeper.opensearch.client import CallFailed, CallRejected
from searchkeeper.planner import ActionOperations, Operation
from tests.support.searchkeeper.action_contexts import manifest

CLUSTER = Key("search.everpath.dev/v1alpha1", "SearchCluster", "search", "logs")
SERVICE = Key("v1", "Service", "search", "logs")
VERSIONS = ResourceVersions(CLUSTER, "1", "2")


@dataclass
class FakePorts:
    """Both ports. Logs every request, and raises for some."""

    errors: dict[str, Exception] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)

    def _record(self, sent: str) -> None:
        self.log.append(sent)
        if sent in self.errors:
            raise self.errors[sent]

    def patch_status(self, patch: Patch) -> Manifest:
        assert patch.changes == {"status": {}}
        self._record(f"confirm {patch.resource_version}")
        return {}

    def create(self, created: Manifest) -> Manifest:
        self._record("create")
        return created

    def patch(self, patch: Patch) -> Manifest:
        self._record(f"patch {patch.key.kind} {patch.resource_version}")
        return manifest(patch.key.api, patch.key.kind, patch.key.name, resourceVersion="9")

    def delete(self, _: Delete) -> None:
        self._record("delete")

    def execute(self, _: Call) -> None:
        self._record("call")


CREATE = Create(manifest("v1", "Service", "logs"))
CALL = EngineCall(Flush())
DELETE = Delete(SERVICE, "u", "1")


def patch_of(key: Key, version: str) -> Patch:
    return Patch(key, {"spec": {}}, version)


def execute(
    *action_operations: tuple[Operation, ...], **errors: Exception
) -> tuple[list[str], int, list[DeniedOperation]]:
    ports: Any = FakePorts(errors)
    executed, denied = execute_all(
        ports,
        ports,
        [ActionOperations(f"action{n}", each) for n, each in enumerate(action_operations)],
        VERSIONS,
    )
    return ports.log, executed, denied


def test_ledger_is_confirmed_before_operations_without_precondition() -> None:
    """I9, I5: calls and creates."""
    assert execute((CREATE,))[0] == ["confirm 2", "create"]
    assert execute((CALL,))[0] == ["confirm 2", "call"]
    assert execute((patch_of(SERVICE, "1"), DELETE))[0] == ["patch Service 1", "delete"]


def test_patch_of_the_resource_itself_uses_its_latest_version() -> None:
    assert execute((patch_of(CLUSTER, "1"), CALL))[0] == ["patch SearchCluster 2", "confirm 9", "call"]
    # An older version stays: the API server refuses it. Patches of other objects do not change the version.
    assert execute((patch_of(CLUSTER, "0"),))[0] == ["patch SearchCluster 0"]
    assert execute((patch_of(SERVICE, "1"), CALL))[0] == ["patch Service 1", "confirm 2", "call"]


@pytest.mark.parametrize(("kind", "error"), [("create", Rejected("no")), ("call", CallRejected("no"))])
def test_denied_operation_skips_only_the_rest_of_its_action(kind: str, error: Exception) -> None:
    first = CREATE if kind == "create" else CALL
    log, executed, denied = execute((first, DELETE), (patch_of(SERVICE, "1"),), **{kind: error})
    assert log == ["confirm 2", kind, "patch Service 1"]
    assert (executed, [(each.action, each.operation) for each in denied]) == (1, [("action0", first)])


@pytest.mark.parametrize(("kind", "error"), [("create", Conflict("late")), ("call", CallFailed("timed out"))])
def test_nothing_is_executed_after_a_conflict_or_a_timeout(kind: str, error: Exception) -> None:
    with pytest.raises(type(error)):
        execute((CREATE if kind == "create" else CALL,), (DELETE,), **{kind: error})


SECRET = {**manifest("v1", "Secret", "logs"), "data": {"password": "c2VjcmV0LXdvcmQ="}}


@pytest.mark.parametrize(
    ("operation", "is_redacted"),
    [
        (Create(SECRET), True),
        (Patch(SERVICE._replace(kind="Secret"), {"data": SECRET["data"]}, "1"), True),
        (Create({**SECRET, "kind": "ConfigMap"}), False),
        (Patch(SERVICE, {"data": SECRET["data"]}, "1"), False),
    ],
    ids=["create Secret", "patch Secret", "create ConfigMap", "patch Service"],
)
def test_error_is_redacted_for_secrets_only(operation: Operation, is_redacted: bool) -> None:
    message = DeniedOperation("action", operation, Rejected("invalid: c2VjcmV0LXdvcmQ=")).message
    assert ("c2VjcmV0LXdvcmQ=" not in message) is is_redacted
