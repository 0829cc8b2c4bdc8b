"""Deeds are carried out as far as they are let, on the ledger that still counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from few_pools import manifest
from searchkeeper.executor import DeniedOperation, ResourceVersions, execute_all
from searchkeeper.kubernetes.api import Conflict, Rejected
from searchkeeper.kubernetes.operations import Create, Delete, EngineCall, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call, Flush
from searchkeeper.opensearch.client import CallFailed, CallRejected
from searchkeeper.planner import ActionOperations, Operation

OWN = Key("search.everpath.dev/v1alpha1", "SearchCluster", "search", "logs")
SERVICE = Key("v1", "Service", "search", "logs")
STORED = ResourceVersions(OWN, "1", "2")


@dataclass
class Strict:
    """Both ports: remembers what was asked, and says no to some of it."""

    errors: dict[str, Exception] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)

    def _asked(self, what: str) -> None:
        self.log.append(what)
        if what in self.errors:
            raise self.errors[what]

    def patch_status(self, patch: Patch) -> Manifest:
        assert patch.changes == {"status": {}}
        self._asked(f"confirm {patch.resource_version}")
        return {}

    def create(self, made: Manifest) -> Manifest:
        self._asked("create")
        return made

    def patch(self, patch: Patch) -> Manifest:
        self._asked(f"patch {patch.key.kind} {patch.resource_version}")
        return manifest(patch.key.api, patch.key.kind, patch.key.name, resourceVersion="9")

    def delete(self, _: Delete) -> None:
        self._asked("delete")

    def execute(self, _: Call) -> None:
        self._asked("tell")


CREATE = Create(manifest("v1", "Service", "logs"))
TELL = EngineCall(Flush())
DELETE = Delete(SERVICE, "u", "1")


def on(key: Key, version: str) -> Patch:
    return Patch(key, {"spec": {}}, version)


def done(
    *action_operations: tuple[Operation, ...], **errors: Exception
) -> tuple[list[str], int, list[DeniedOperation]]:
    ports: Any = Strict(errors)
    made, denied = execute_all(
        ports, ports, [ActionOperations(f"deed{n}", each) for n, each in enumerate(action_operations)], STORED
    )
    return ports.log, made, denied


def test_what_has_no_precondition_is_asked_for_when_the_ledger_still_counts() -> None:
    """I9, I5."""
    assert done((CREATE,))[0] == ["confirm 2", "create"]
    assert done((TELL,))[0] == ["confirm 2", "tell"]
    assert done((on(SERVICE, "1"), DELETE))[0] == ["patch Service 1", "delete"]


def test_our_own_resource_is_changed_as_it_is_since_its_status_was_stored() -> None:
    assert done((on(OWN, "1"), TELL))[0] == ["patch SearchCluster 2", "confirm 9", "tell"]
    # What was decided on another state is for the API server to refuse; nor does another's change move ours.
    assert done((on(OWN, "0"),))[0] == ["patch SearchCluster 0"]
    assert done((on(SERVICE, "1"), TELL))[0] == ["patch Service 1", "confirm 2", "tell"]


@pytest.mark.parametrize(("what", "error"), [("create", Rejected("no")), ("tell", CallRejected("no"))])
def test_what_is_refused_costs_the_rest_of_its_deed_and_no_other(what: str, error: Exception) -> None:
    first = CREATE if what == "create" else TELL
    log, made, denied = done((first, DELETE), (on(SERVICE, "1"),), **{what: error})
    assert log == ["confirm 2", what, "patch Service 1"]
    assert (made, [(each.action, each.write) for each in denied]) == (1, [("deed0", first)])


@pytest.mark.parametrize(("what", "error"), [("create", Conflict("late")), ("tell", CallFailed("timed out"))])
def test_after_a_conflict_or_without_an_answer_nothing_else_is_done(what: str, error: Exception) -> None:
    with pytest.raises(type(error)):
        done((CREATE if what == "create" else TELL,), (DELETE,), **{what: error})


SECRET = {**manifest("v1", "Secret", "logs"), "data": {"password": "c2VjcmV0LXdvcmQ="}}


@pytest.mark.parametrize(
    ("write", "is_struck_out"),
    [
        (Create(SECRET), True),
        (Patch(SERVICE._replace(kind="Secret"), {"data": SECRET["data"]}, "1"), True),
        (Create({**SECRET, "kind": "ConfigMap"}), False),
        (Patch(SERVICE, {"data": SECRET["data"]}, "1"), False),
    ],
    ids=["a Secret", "its change", "something else", "that one's change"],
)
def test_what_a_refusal_quotes_of_a_secret_is_struck_out(write: Operation, is_struck_out: bool) -> None:
    words = DeniedOperation("deed", write, Rejected("invalid: c2VjcmV0LXdvcmQ=")).words
    assert ("c2VjcmV0LXdvcmQ=" not in words) is is_struck_out
