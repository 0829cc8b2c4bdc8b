"""A run on a real API server is checked against the invariants, and a violation names the write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.images import engine_image
from searchkeeper.kubernetes.operations import Delete, EmitEvent, EngineCall
from searchkeeper.opensearch.calls import SetAllocation
from searchkeeper.opensearch.view import Allocation
from searchkeeper.planner.actions import closure
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS
from searchkeeper.releases import release
from searchkeeper.testing.audit_log import requests, unneeded_permissions
from searchkeeper.testing.ports import StatusPatch
from searchkeeper.testing.run_history import EngineObservation
from tests.searchkeeper.invariants.tampered_runs import FIRST, KEY, LAST, TamperedRun

OTHER = "logs-managers-2"
ROLES = frozenset({"searchkeeper", "leader"})


def test_recorded_run_violates_no_invariant() -> None:
    history = TamperedRun().history
    assert history.violations() == []
    assert [type(step.write) for step in history.transitions()] == [StatusPatch, Delete, StatusPatch]


def test_transition_has_the_states_before_and_after_the_write() -> None:
    recorded, deleted, replaced = TamperedRun().history.transitions()
    assert "logs-managers-1" not in recorded.before.ledger.replaced_pods
    assert (
        list(recorded.after.ledger.replaced_pods)
        == list(deleted.before.ledger.replaced_pods)
        == ["logs-managers-1"]
    )
    assert deleted.before.is_available("logs-managers-1")
    assert not deleted.after.is_available("logs-managers-1")
    assert replaced.before.is_available("logs-managers-1")
    assert deleted.before.engine.node("logs-managers-1") != replaced.before.engine.node("logs-managers-1")


def test_client_of_another_release_is_checked_as_that_release() -> None:
    history = TamperedRun().history
    client = history.requests[-1].client
    other = replace(history, releases={client: release("0.3.1")})
    assert [step.release.version for step in other.transitions()] == ["0.3.1"] * 3


def delete_pod_without_preconditions(run: TamperedRun) -> None:
    run.audit_event("delete", "pods")["requestObject"].pop("preconditions")


def delete_terminating_pod(run: TamperedRun) -> None:
    """The response is the unchanged pod."""
    metadata = run.manifest("Pod", "logs-managers-1", 1147)["metadata"]
    line = run.delete("logs-managers-1", 1)
    run.changes.pop()
    line["requestObject"]["preconditions"] = {"uid": metadata["uid"], "resourceVersion": "1146"}
    line["responseObject"]["metadata"] |= metadata


def delete_current_pod(run: TamperedRun) -> None:
    run.delete("logs-data-0", 1147)


def delete_two_managers(run: TamperedRun) -> None:
    run.delete(OTHER, 1147)


def delete_second_manager_with_ledger_line(run: TamperedRun) -> None:
    uids = {name: run.manifest("Pod", name)["metadata"]["uid"] for name in (OTHER, "logs-managers-1")}
    run.add_ledger_lines(1145, roll__away=[*uids.items()])
    run.delete(OTHER, 1147)


def delete_second_manager_before_the_engine_is_read(run: TamperedRun) -> None:
    run.delete(OTHER, LAST)


def record_pod_after_deletion(run: TamperedRun) -> None:
    response = run.audit_event("patch", "searchclusters")["responseObject"]
    response["metadata"]["resourceVersion"] = "1147"
    [change] = [each for each in run.changes if each.revision == 1145]
    run.changes.remove(change)
    run.change(change.manifest, 1147)


def delete_volume_without_ledger_line(run: TamperedRun) -> None:
    line = run.delete("logs-data-0", 1147)
    [*run.changes, pod] = run.changes
    claim = {**pod.manifest, "kind": "PersistentVolumeClaim"}
    claim["metadata"] = {**claim["metadata"], "name": "data-logs-data-0"}
    run.change(claim, FIRST - 1)
    run.change(claim, 1147)
    line["objectRef"] |= {"resource": "persistentvolumeclaims", "name": "data-logs-data-0"}
    line["responseObject"] = claim | {"metadata": claim["metadata"] | {"resourceVersion": "1147"}}


def delete_pod_with_last_copy(run: TamperedRun) -> None:
    engine = run.observations[0].engine
    run.observations[0] = EngineObservation(FIRST, replace(engine, copies=engine.copies[:1]))
    run.delete("logs-data-0", 1147)


def lower_current_version(run: TamperedRun) -> None:
    _, change = [each for each in run.changes if each.key == KEY and each.revision > FIRST]
    run.changes.remove(change)
    status: Any = {**change.manifest["status"], "currentVersion": 3}
    run.change({**change.manifest, "status": status}, change.revision)


def deploy_version_that_is_not_permitted(run: TamperedRun) -> None:
    stateful_set = run.manifest("StatefulSet", "logs-managers")
    stateful_set["spec"]["template"]["spec"]["containers"][0]["image"] = engine_image("3.2.0")
    run.patch(stateful_set, "statefulsets", 1147)


def scale_locked_pool(run: TamperedRun) -> None:
    pool = run.manifest("SearchPool", "logs-data")
    run.patch(pool, "searchpools", 1147, spec={**pool["spec"], "replicas": 3})


def change_setting_without_ledger_line(run: TamperedRun) -> None:
    engine = run.observations[0].engine
    run.observations.insert(1, EngineObservation(1147, engine, SetAllocation(Allocation.PRIMARIES)))


def set_condition_without_prerequisites(run: TamperedRun) -> None:
    _, change = [each for each in run.changes if each.key == KEY and each.revision > FIRST]
    template: Any = change.manifest["status"]["conditions"][0]
    change.manifest["status"]["conditions"][:] = [
        template | {"type": each.name, "status": "False"} for each in closure(CLUSTER_RECONCILERS[4].actions)
    ]


def write_from_another_process(run: TamperedRun) -> None:
    other = run.audit_event("create", "leases")["user"]
    run.audit_event("delete", "pods")["user"] = other


def write_without_lease_holder(run: TamperedRun) -> None:
    lease = run.manifest("Lease", "searchkeeper")
    lease["spec"]["holderIdentity"] = ""
    run.changes = [each for each in run.changes if each.key.kind != "Lease"]
    run.audit = [each for each in run.audit if each["objectRef"]["resource"] != "leases"]
    run.change(lease, FIRST)


def drop_status_patch_from_audit_log(run: TamperedRun) -> None:
    run.audit.remove(run.audit_event("patch", "searchclusters"))


TAMPERINGS: dict[str, list[Callable[[TamperedRun], None]]] = {
    "quorum_kept": [delete_two_managers],
    "one_voter_at_a_time": [delete_second_manager_with_ledger_line],
    "batches_grow_slowly": [delete_second_manager_with_ledger_line],
    "one_destructive_write_per_reconcile": [
        delete_two_managers,
        delete_second_manager_before_the_engine_is_read,
    ],
    "last_copies_kept": [delete_pod_with_last_copy],
    "deletes_have_preconditions": [
        delete_pod_without_preconditions,
        delete_terminating_pod,
        delete_current_pod,
    ],
    "deletes_recorded_first": [
        record_pod_after_deletion,
        delete_two_managers,
        delete_volume_without_ledger_line,
    ],
    "versions_only_rise": [lower_current_version],
    "pools_run_permitted_version": [deploy_version_that_is_not_permitted],
    "locked_spec_unchanged": [scale_locked_pool],
    "settings_recorded_first": [change_setting_without_ledger_line],
    "conditions_follow_prerequisites": [set_condition_without_prerequisites],
    "only_leader_writes": [write_from_another_process, write_without_lease_holder],
    "status_changes_are_audited": [drop_status_patch_from_audit_log],
}
CASES = [(invariant, tamper) for invariant, tamperings in TAMPERINGS.items() for tamper in tamperings]


@pytest.mark.parametrize(
    ("invariant", "tamper"), CASES, ids=[f"{invariant}-{tamper.__name__}" for invariant, tamper in CASES]
)
def test_tampered_run_violates_the_invariant(invariant: str, tamper: Callable[[TamperedRun], None]) -> None:
    run = TamperedRun()
    tamper(run)
    assert invariant in run.violated_invariants()


def test_violation_names_write_and_revision() -> None:
    run = TamperedRun()
    delete_pod_without_preconditions(run)
    assert run.history.violations()[0] == (
        "deletes_have_preconditions: Pod logs-managers-1 is deleted without preconditions "
        "(Delete Pod logs-managers-1 at 1146)"
    )


def test_engine_call_is_a_transition_at_its_revision() -> None:
    run = TamperedRun()
    run.add_ledger_lines(FIRST, engine__allocation="all")
    change_setting_without_ledger_line(run)
    assert run.history.violations() == []
    assert [type(step.write) for step in run.history.transitions()] == [
        StatusPatch,
        Delete,
        EngineCall,
        StatusPatch,
    ]


def test_removal_that_returns_a_status_is_matched_by_uid() -> None:
    """Services are removed at once: the response is a Status without resource version."""
    run = TamperedRun()
    pod = run.manifest("Pod", OTHER)
    line = run.delete(OTHER, 1)
    [*run.changes, _] = run.changes
    line["responseObject"] = {"kind": "Status", "details": {"uid": pod["metadata"]["uid"]}}
    run.change(pod, LAST + 7, is_gone=True)
    step = list(run.history.transitions())[-1]
    assert step.before.pod(OTHER) is not None
    assert step.after.pod(OTHER) is None


def test_rejected_request_is_ignored() -> None:
    run = TamperedRun()
    run.audit_event("delete", "pods")["responseStatus"] = {"code": 409}
    assert [type(each.write) for each in requests(run.audit) if each.key.kind != "Lease"] == [
        StatusPatch,
        StatusPatch,
    ]


def drop_response(line: Any) -> None:
    line["responseStatus"] = {"code": 504}
    line["responseObject"] = {"kind": "Status", "code": 504}


@pytest.mark.parametrize(("verb", "resource"), [("patch", "searchclusters"), ("delete", "pods")])
def test_request_without_response_is_matched_by_its_effect(verb: str, resource: str) -> None:
    """The operator was killed before the response."""
    run = TamperedRun()
    drop_response(run.audit_event(verb, resource))
    assert run.history.violations() == []
    assert [type(step.write) for step in run.history.transitions()] == [StatusPatch, Delete, StatusPatch]


def test_request_without_response_and_effect_is_ignored() -> None:
    run = TamperedRun()
    drop_response(run.delete(OTHER, 1147))
    [*run.changes, _] = run.changes
    assert run.history.violations() == []
    assert len(list(run.history.transitions())) == 3


def test_write_without_effect_is_placed_after_the_lease_was_acquired() -> None:
    """Its response has an older resource version."""
    run = TamperedRun()
    successor = run.audit_event("create", "leases")["user"]
    lease = run.manifest("Lease", "searchkeeper")
    lease["spec"]["holderIdentity"] = "successor"
    run.patch(lease, "leases", LAST + 9)
    cluster = run.manifest(KEY.kind, KEY.name, LAST + 9)
    version = cluster["metadata"]["resourceVersion"]
    run.patch(cluster, "searchclusters", int(version), metadata={**cluster["metadata"]})
    [*run.changes, _] = run.changes
    for line in run.audit[-2:]:
        line["user"] = successor
    assert run.history.violations() == []


def test_recorded_run_needs_no_other_permission() -> None:
    assert unneeded_permissions(TamperedRun().audit, ROLES) == []


def test_forbidden_requests_are_reported_reads_included() -> None:
    line = TamperedRun().audit_event("delete", "pods") | {"responseStatus": {"code": 403}, "annotations": {}}
    read = line | {"verb": "list"}
    uri = "/api/v1/namespaces/search/pods/logs-managers-1"
    assert unneeded_permissions([line, read], ROLES) == [
        f"delete {uri}: not allowed",
        f"list {uri}: not allowed",
    ]


def test_missing_permission_is_reported_and_a_policy_is_not() -> None:
    """Both return 403; only a missing permission is a decision of RBAC."""
    line = TamperedRun().audit_event("delete", "pods") | {"responseStatus": {"code": 403}}
    missing = line | {"annotations": {"authorization.k8s.io/decision": "forbid"}}
    assert unneeded_permissions([line], ROLES) == []
    assert len(unneeded_permissions([missing], ROLES)) == 1
    assert len(unneeded_permissions([missing | {"verb": "list"}], ROLES)) == 1


def test_unauthorized_request_is_reported() -> None:
    line = TamperedRun().audit_event("delete", "pods") | {"responseStatus": {"code": 401}}
    assert len(unneeded_permissions([line], ROLES)) == 1


def test_write_allowed_by_another_role_is_reported() -> None:
    [problem] = unneeded_permissions([TamperedRun().audit_event("delete", "pods")], frozenset({"leader"}))
    assert 'of ClusterRole "searchkeeper"' in problem


def test_event_is_parsed_with_its_cluster() -> None:
    line = TamperedRun().audit_event("delete", "pods") | {
        "verb": "create",
        "objectRef": {"resource": "events", "namespace": "search", "name": "logs.1", "apiVersion": "v1"},
        "requestObject": {
            "involvedObject": dict(zip(("apiVersion", "kind", "namespace", "name"), KEY, strict=True)),
            "reason": "Downgrade",
            "message": "1.0.0 is older",
            "type": "Warning",
        },
    }
    [request] = requests([line])
    assert request.write == EmitEvent(KEY, "Downgrade", "1.0.0 is older")


def test_unexpected_verb_is_an_error() -> None:
    with pytest.raises(ValueError, match="update Pod logs-managers-1"):
        list(requests([TamperedRun().audit_event("delete", "pods") | {"verb": "update"}]))
