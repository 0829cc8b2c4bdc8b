"""What a real API server tells of a run is held to the laws, and whatever breaks one is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from invariants.forgeries import FIRST, KEY, LAST, Forgery
from searchkeeper.images import engine_image
from searchkeeper.kubernetes.operations import Delete, EmitEvent, EngineCall
from searchkeeper.opensearch.calls import SetAllocation
from searchkeeper.opensearch.view import Allocation
from searchkeeper.planner.actions import closure
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS
from searchkeeper.releases import release
from searchkeeper.testing.audit_log import requests, unneeded_permissions
from searchkeeper.testing.invariants.transitions import StatusPatch
from searchkeeper.testing.run_history import EngineObservation

OTHER = "logs-managers-2"
ROLES = frozenset({"searchkeeper", "leader"})


def test_what_was_recorded_breaks_no_law() -> None:
    history = Forgery().history
    assert history.breaches() == []
    assert [type(step.write) for step in history.steps()] == [StatusPatch, Delete, StatusPatch]


def test_a_step_has_the_states_around_it() -> None:
    noted, taken, struck = Forgery().history.steps()
    assert "logs-managers-1" not in noted.before.ledger.replaced_pods
    assert (
        list(noted.after.ledger.replaced_pods)
        == list(taken.before.ledger.replaced_pods)
        == ["logs-managers-1"]
    )
    assert taken.before.is_here("logs-managers-1")
    assert not taken.after.is_here("logs-managers-1")
    assert struck.before.is_here("logs-managers-1")
    assert taken.before.engine.node("logs-managers-1") != struck.before.engine.node("logs-managers-1")


def test_whoever_works_as_another_release_is_judged_as_that() -> None:
    history = Forgery().history
    who = history.requests[-1].who
    judged = replace(history, releases={who: release("0.3.1")})
    assert [step.release.version for step in judged.steps()] == ["0.3.1"] * 3


def nothing_is_said_of_what_was_seen(forgery: Forgery) -> None:
    forgery.line("delete", "pods")["requestObject"].pop("preconditions")


def a_pod_goes_that_is_going(forgery: Forgery) -> None:
    """The answer is the pod as it is already: nothing changes by it."""
    going = forgery.there("Pod", "logs-managers-1", 1147)["metadata"]
    line = forgery.delete("logs-managers-1", 1)
    forgery.changes.pop()
    line["requestObject"]["preconditions"] = {"uid": going["uid"], "resourceVersion": "1146"}
    line["responseObject"]["metadata"] |= going


def a_pod_goes_that_is_new(forgery: Forgery) -> None:
    forgery.delete("logs-data-0", 1147)


def two_managers_go(forgery: Forgery) -> None:
    forgery.delete(OTHER, 1147)


def a_second_manager_goes_by_the_ledger(forgery: Forgery) -> None:
    uids = {name: forgery.there("Pod", name)["metadata"]["uid"] for name in (OTHER, "logs-managers-1")}
    forgery.note(1145, roll__away=[*uids.items()])
    forgery.delete(OTHER, 1147)


def nobody_has_looked_in_between(forgery: Forgery) -> None:
    forgery.delete(OTHER, LAST)


def it_is_noted_afterwards(forgery: Forgery) -> None:
    noted = forgery.line("patch", "searchclusters")["responseObject"]
    noted["metadata"]["resourceVersion"] = "1147"
    [change] = [each for each in forgery.changes if each.revision == 1145]
    forgery.changes.remove(change)
    forgery.change(change.manifest, 1147)


def a_volume_goes_that_nobody_noted(forgery: Forgery) -> None:
    line = forgery.delete("logs-data-0", 1147)
    [*forgery.changes, pod] = forgery.changes
    claim = {**pod.manifest, "kind": "PersistentVolumeClaim"}
    claim["metadata"] = {**claim["metadata"], "name": "data-logs-data-0"}
    forgery.change(claim, FIRST - 1)
    forgery.change(claim, 1147)
    line["objectRef"] |= {"resource": "persistentvolumeclaims", "name": "data-logs-data-0"}
    line["responseObject"] = claim | {"metadata": claim["metadata"] | {"resourceVersion": "1147"}}


def the_last_copy_goes(forgery: Forgery) -> None:
    engine = forgery.beats[0].engine
    forgery.beats[0] = EngineObservation(FIRST, replace(engine, copies=engine.copies[:1]))
    forgery.delete("logs-data-0", 1147)


def a_configuration_goes_down(forgery: Forgery) -> None:
    _, change = [each for each in forgery.changes if each.key == KEY and each.revision > FIRST]
    forgery.changes.remove(change)
    status: Any = {**change.manifest["status"], "currentVersion": 3}
    forgery.change({**change.manifest, "status": status}, change.revision)


def a_set_deploys_what_is_not_permitted(forgery: Forgery) -> None:
    found = forgery.there("StatefulSet", "logs-managers")
    found["spec"]["template"]["spec"]["containers"][0]["image"] = engine_image("3.2.0")
    forgery.patch(found, "statefulsets", 1147)


def a_pool_grows_under_lock(forgery: Forgery) -> None:
    found = forgery.there("SearchPool", "logs-data")
    forgery.patch(found, "searchpools", 1147, spec={**found["spec"], "replicas": 3})


def the_engine_is_told_what_nobody_noted(forgery: Forgery) -> None:
    engine = forgery.beats[0].engine
    forgery.beats.insert(1, EngineObservation(1147, engine, SetAllocation(Allocation.PRIMARIES)))


def a_condition_goes_without_its_prerequisites(forgery: Forgery) -> None:
    _, change = [each for each in forgery.changes if each.key == KEY and each.revision > FIRST]
    template: Any = change.manifest["status"]["conditions"][0]
    change.manifest["status"]["conditions"][:] = [
        template | {"type": each.name, "status": "False"} for each in closure(CLUSTER_RECONCILERS[4].actions)
    ]


def another_process_writes(forgery: Forgery) -> None:
    sleeper = forgery.line("create", "leases")["user"]
    forgery.line("delete", "pods")["user"] = sleeper


def nobody_has_the_lease(forgery: Forgery) -> None:
    lease = forgery.there("Lease", "searchkeeper")
    lease["spec"]["holderIdentity"] = ""
    forgery.changes = [each for each in forgery.changes if each.key.kind != "Lease"]
    forgery.audit = [each for each in forgery.audit if each["objectRef"]["resource"] != "leases"]
    forgery.change(lease, FIRST)


def a_status_changes_by_itself(forgery: Forgery) -> None:
    forgery.audit.remove(forgery.line("patch", "searchclusters"))


FORGED: dict[str, list[Callable[[Forgery], None]]] = {
    "quorum_kept": [two_managers_go],
    "one_voter_at_a_time": [a_second_manager_goes_by_the_ledger],
    "batches_grow_slowly": [a_second_manager_goes_by_the_ledger],
    "one_destruction_between_looks": [two_managers_go, nobody_has_looked_in_between],
    "last_copies_kept": [the_last_copy_goes],
    "deletes_have_preconditions": [
        nothing_is_said_of_what_was_seen,
        a_pod_goes_that_is_going,
        a_pod_goes_that_is_new,
    ],
    "deletes_recorded_first": [
        it_is_noted_afterwards,
        two_managers_go,
        a_volume_goes_that_nobody_noted,
    ],
    "versions_only_rise": [a_configuration_goes_down],
    "pools_run_permitted_version": [a_set_deploys_what_is_not_permitted],
    "locked_spec_unchanged": [a_pool_grows_under_lock],
    "settings_recorded_first": [the_engine_is_told_what_nobody_noted],
    "conditions_follow_prerequisites": [a_condition_goes_without_its_prerequisites],
    "only_the_holder_writes": [another_process_writes, nobody_has_the_lease],
    "status_is_the_operators_own": [a_status_changes_by_itself],
}
CASES = [(law, forge) for law, forgeries in FORGED.items() for forge in forgeries]


@pytest.mark.parametrize(("law", "forge"), CASES, ids=[f"{law}-{forge.__name__}" for law, forge in CASES])
def test_a_forged_history_breaks_the_law_that_it_should(law: str, forge: Callable[[Forgery], None]) -> None:
    forgery = Forgery()
    forge(forgery)
    assert law in forgery.laws()


def test_a_breach_is_told_with_its_write_and_its_moment() -> None:
    forgery = Forgery()
    nothing_is_said_of_what_was_seen(forgery)
    assert forgery.history.breaches()[0] == (
        "deletes_have_preconditions: Pod logs-managers-1 may be another one by now "
        "(Delete Pod logs-managers-1 at 1146)"
    )


def test_what_the_engine_is_told_is_a_step_at_its_moment() -> None:
    forgery = Forgery()
    forgery.note(FIRST, engine__allocation="all")
    the_engine_is_told_what_nobody_noted(forgery)
    assert forgery.history.breaches() == []
    assert [type(step.write) for step in forgery.history.steps()] == [
        StatusPatch,
        Delete,
        EngineCall,
        StatusPatch,
    ]


def test_what_is_answered_with_a_status_is_known_by_its_uid() -> None:
    """Services and the like are gone at once, and nothing of them has a revision any more."""
    forgery = Forgery()
    going = forgery.there("Pod", OTHER)
    line = forgery.delete(OTHER, 1)
    [*forgery.changes, _] = forgery.changes
    line["responseObject"] = {"kind": "Status", "details": {"uid": going["metadata"]["uid"]}}
    forgery.change(going, LAST + 7, is_gone=True)
    step = list(forgery.history.steps())[-1]
    assert step.before.pod(OTHER) is not None
    assert step.after.pod(OTHER) is None


def test_what_was_refused_has_changed_nothing() -> None:
    forgery = Forgery()
    forgery.line("delete", "pods")["responseStatus"] = {"code": 409}
    assert [type(each.write) for each in requests(forgery.audit) if each.key.kind != "Lease"] == [
        StatusPatch,
        StatusPatch,
    ]


def unanswered(forgery: Forgery, line: Any) -> None:
    line["responseStatus"] = {"code": 504}
    line["responseObject"] = {"kind": "Status", "code": 504}


@pytest.mark.parametrize(("verb", "resource"), [("patch", "searchclusters"), ("delete", "pods")])
def test_what_nobody_was_answered_is_known_by_what_it_did(verb: str, resource: str) -> None:
    """The operator was killed while it waited."""
    forgery = Forgery()
    unanswered(forgery, forgery.line(verb, resource))
    assert forgery.history.breaches() == []
    assert [type(step.write) for step in forgery.history.steps()] == [StatusPatch, Delete, StatusPatch]


def test_what_nobody_was_answered_and_was_not_done_is_no_step() -> None:
    forgery = Forgery()
    unanswered(forgery, forgery.delete(OTHER, 1147))
    [*forgery.changes, _] = forgery.changes
    assert forgery.history.breaches() == []
    assert len(list(forgery.history.steps())) == 3


def test_whoever_writes_what_is_there_already_does_so_when_it_leads() -> None:
    """Such an answer names a revision from before."""
    forgery = Forgery()
    heir = forgery.line("create", "leases")["user"]
    lease = forgery.there("Lease", "searchkeeper")
    lease["spec"]["holderIdentity"] = "heir"
    forgery.patch(lease, "leases", LAST + 9)
    cluster = forgery.there(KEY.kind, KEY.name, LAST + 9)
    snapshot = cluster["metadata"]["resourceVersion"]
    forgery.patch(cluster, "searchclusters", int(snapshot), metadata={**cluster["metadata"]})
    [*forgery.changes, _] = forgery.changes
    for line in forgery.audit[-2:]:
        line["user"] = heir
    assert forgery.history.breaches() == []


def test_every_change_that_was_recorded_was_within_its_rights() -> None:
    assert unneeded_permissions(Forgery().audit, ROLES) == []


def test_what_is_forbidden_is_told_also_of_reads() -> None:
    line = Forgery().line("delete", "pods") | {"responseStatus": {"code": 403}, "annotations": {}}
    read = line | {"verb": "list"}
    where = "/api/v1/namespaces/search/pods/logs-managers-1"
    assert unneeded_permissions([line, read], ROLES) == [
        f"delete {where}: not allowed",
        f"list {where}: not allowed",
    ]


def test_a_right_that_is_missing_is_told_and_a_policy_is_not() -> None:
    """Both are answered with 403; only the first was forbidden by whoever asks the roles."""
    line = Forgery().line("delete", "pods") | {"responseStatus": {"code": 403}}
    missing = line | {"annotations": {"authorization.k8s.io/decision": "forbid"}}
    assert unneeded_permissions([line], ROLES) == []
    assert len(unneeded_permissions([missing], ROLES)) == 1
    assert len(unneeded_permissions([missing | {"verb": "list"}], ROLES)) == 1


def test_who_is_not_known_is_told() -> None:
    line = Forgery().line("delete", "pods") | {"responseStatus": {"code": 401}}
    assert len(unneeded_permissions([line], ROLES)) == 1


def test_a_change_that_another_role_allows_is_told() -> None:
    [told] = unneeded_permissions([Forgery().line("delete", "pods")], frozenset({"leader"}))
    assert 'of ClusterRole "searchkeeper"' in told


def test_a_warning_is_an_event_about_its_cluster() -> None:
    line = Forgery().line("delete", "pods") | {
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


def test_a_verb_that_no_operator_needs_is_not_passed_over() -> None:
    with pytest.raises(ValueError, match="update Pod logs-managers-1"):
        list(requests([Forgery().line("delete", "pods") | {"verb": "update"}]))
