"""Every invariant detects a write that violates it, and an undisturbed upgrade violates none."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from searchkeeper.images import engine_image
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Patch
from searchkeeper.opensearch.calls import Exclude, ExcludeFromVoting, Flush, SetAllocation
from searchkeeper.opensearch.view import Allocation
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.faults import kill_pod, kill_pod_and_volume
from searchkeeper.testing.fingerprints import fingerprint
from searchkeeper.testing.invariants.checks import INVARIANTS, leftovers
from searchkeeper.testing.invariants.recorder import InvariantRecorder, InvariantViolated
from searchkeeper.testing.invariants.transitions import ObservedState
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    RecordedRun,
    add_index,
    copy_cluster,
    edit_spec,
    new_cluster,
    reconcile_until,
    reconcile_until_converged,
    record_run,
)
from tests.support.searchkeeper.operator_scenarios import add_pod_fault


@cache
def _cached_cluster() -> FakeCluster:
    cluster = new_cluster()
    reconcile_until_converged(cluster)
    reconcile_until_converged(add_index(cluster))
    return cluster


def deployed_cluster() -> FakeCluster:
    return copy_cluster(_cached_cluster())


@cache
def upgrade() -> RecordedRun:
    return record_run(edit_spec(deployed_cluster(), version="3.4.0"))


def key(kind: str, name: str) -> Key:
    api = {"Pod": "v1", "PersistentVolumeClaim": "v1", "Service": "v1", "StatefulSet": "apps/v1"}
    return Key(api.get(kind, CLUSTER.api), kind, CLUSTER.namespace, name)


def pod(number: str) -> Key:
    return key("Pod", f"logs-{number}")


def delete(ports: InvariantRecorder, what: Key, **differences: Any) -> None:
    manifest = ports.get(what)
    assert manifest is not None
    metadata = manifest["metadata"]
    preconditions = {"uid": metadata["uid"], "resource_version": metadata["resourceVersion"]}
    ports.delete(Delete(what, **(preconditions | differences)))


def with_ledger(cluster: FakeCluster, **lines: Any) -> FakeCluster:
    """`roll__away=[...]` is the line roll/away."""
    ledger = {name.replace("__", "/").replace("_", "-"): json.dumps(entry) for name, entry in lines.items()}
    cluster.patch_status(Patch(CLUSTER, {"status": {"ledger": ledger}}, ""))
    return cluster


def with_engine(cluster: FakeCluster, **differences: Any) -> FakeCluster:
    cluster.state = replace(cluster.state, engine=replace(cluster.state.engine, **differences))
    return cluster


def after(cluster: FakeCluster, what: Callable[[Any, Key], Any], which: Key) -> FakeCluster:
    """Apply a fault to a pod, and let a tick pass."""
    cluster.state = what(cluster.state, which)
    cluster.tick()
    return cluster


def delete_second_manager(ports: InvariantRecorder) -> None:
    after(ports.world, kill_pod, pod("managers-1"))
    delete(ports, pod("managers-0"))


def with_roles(ports: InvariantRecorder, pool: str, roles: str) -> None:
    """Change the roles in the template of a pool."""
    stateful_set = ports.get(key("StatefulSet", f"logs-{pool}"))
    assert stateful_set is not None
    template = deepcopy(stateful_set["spec"]["template"])
    variables = template["spec"]["containers"][0]["env"]
    next(each for each in variables if each["name"] == "node.roles")["value"] = roles
    ports.world.patch(Patch(key("StatefulSet", f"logs-{pool}"), {"spec": {"template": template}}, ""))


def delete_voter_that_loses_its_role(ports: InvariantRecorder) -> None:
    with_roles(ports, "managers", "ingest")
    delete(ports, pod("managers-0"))


def delete_voter_beside_one_without_role(ports: InvariantRecorder) -> None:
    nodes = ports.world.state.engine.nodes
    changed = (replace(n, roles=frozenset({"ingest"})) if n.name == "logs-managers-1" else n for n in nodes)
    with_engine(ports.world, nodes=tuple(changed))
    delete(ports, pod("managers-0"))


def delete_data_node_that_loses_its_role(ports: InvariantRecorder) -> None:
    with_roles(ports, "data", "ingest")
    delete(ports, pod("data-0"))


def exclude_last_data_node(ports: InvariantRecorder) -> None:
    with_engine(ports.world, excluded=frozenset({"*-data-0"}))
    ports.execute(Exclude(frozenset({"*-data-0", "logs-data-1"})))


def record_exclusions_of_every_data_node(ports: InvariantRecorder) -> None:
    """The exclusion of a pod is still in force when another pod is excluded."""
    with_ledger(ports.world, engine__excluded=["logs-data-0"])
    with_engine(ports.world, excluded=frozenset({"logs-data-0", "logs-data-1"}))
    lines = {"engine/excluded": '["logs-data-0"]', "engine/leaving": '["logs-data-1"]'}
    ports.patch_status(Patch(CLUSTER, {"status": {"ledger": lines}}, ""))


def toggle_exclusions(ports: InvariantRecorder) -> None:
    with_ledger(ports.world, engine__excluded=["logs-data-0"])
    for _ in range(30):
        ports.execute(Exclude(frozenset({"logs-data-0"}), (("excluded", '["logs-data-0"]'),)))
        ports.execute(Exclude(frozenset(), (("excluded", None),)))


def exclude_without_record(ports: InvariantRecorder) -> None:
    with_ledger(ports.world, engine__excluded=["logs-data-0"])
    ports.execute(Exclude(frozenset({"logs-data-0"})))


def exclude_from_voting_without_record(ports: InvariantRecorder) -> None:
    with_ledger(ports.world, engine__voting="logs-managers-0")
    ports.execute(ExcludeFromVoting("logs-managers-0"))


def delete_voter_while_another_is_replaced(ports: InvariantRecorder) -> None:
    with_ledger(ports.world, roll__away=[["logs-managers-1", "uid-of-old"]])
    delete(ports, pod("managers-0"))


def upgrade_managers_before_data_nodes(ports: InvariantRecorder) -> None:
    nodes = ports.world.state.engine.nodes
    newer = (replace(n, version="3.4.0") if "cluster_manager" in n.roles else n for n in nodes)
    with_engine(ports.world, nodes=tuple(newer))
    ports.execute(Flush())


def lower_current_version(ports: InvariantRecorder) -> None:
    ports.patch_status(Patch(CLUSTER, {"status": {"currentVersion": 3}}, ""))


def report_engine_version_early(ports: InvariantRecorder) -> None:
    ports.patch_status(Patch(CLUSTER, {"status": {"engineVersion": "3.4.0"}}, ""))


def permit_other_version(ports: InvariantRecorder) -> None:
    ports.patch(Patch(key("SearchPool", "logs-data"), {"spec": {"engineVersion": "3.1.0"}}, ""))


def deploy_version_that_is_not_permitted(ports: InvariantRecorder) -> None:
    containers = [{"name": "opensearch", "image": engine_image("3.4.0")}]
    template = {"spec": {"template": {"spec": {"containers": containers}}}}
    ports.patch(Patch(key("StatefulSet", "logs-data"), template, ""))


def apply_configuration_that_is_not_shipped(ports: InvariantRecorder) -> None:
    mark = {"metadata": {"annotations": {"search.everpath.dev/configuration": "2"}}}
    ports.patch(Patch(key("Service", "logs"), mark, ""))


def delete_pod_with_last_copy(ports: InvariantRecorder) -> None:
    copies = ports.world.state.engine.copies
    with_engine(ports.world, copies=tuple(each for each in copies if each.node == "logs-data-0"))
    delete(ports, pod("data-0"))


def delete_volume_with_last_copy(ports: InvariantRecorder) -> None:
    after(ports.world, kill_pod_and_volume, pod("data-1"))
    delete(ports, key("PersistentVolumeClaim", "data-logs-data-0"))


def delete_pod_without_uid(ports: InvariantRecorder) -> None:
    delete(ports, pod("data-0"), uid="")


def delete_current_pod(ports: InvariantRecorder) -> None:
    delete(ports, pod("data-0"))


def delete_owned_pod_of_deleted_cluster(ports: InvariantRecorder) -> None:
    ports.world.delete(Delete(CLUSTER, "", ""))
    delete(ports, pod("data-0"))


def change_setting_without_ledger_line(ports: InvariantRecorder) -> None:
    ports.execute(SetAllocation(Allocation.PRIMARIES))


def emit_event_without_ledger_line(ports: InvariantRecorder) -> None:
    ports.record(EmitEvent(CLUSTER, "Downgrade", "2.18.0 is older"))


def deploy_refused_version(ports: InvariantRecorder) -> None:
    edit_spec(ports.world, version="1.0.0")
    containers = [{"name": "opensearch", "image": engine_image("1.0.0")}]
    template = {"spec": {"template": {"spec": {"containers": containers}}}}
    ports.patch(Patch(key("StatefulSet", "logs-data"), template, ""))


def scale_locked_pool(ports: InvariantRecorder) -> None:
    lock = {"pools": [{"name": "data", "replicas": 2, "roles": ["data"]}]}
    with_ledger(ports.world, upgrade__lock=json.dumps(lock))
    ports.patch(Patch(key("SearchPool", "logs-data"), {"spec": {"replicas": 3}}, ""))


def exceed_batch_size(ports: InvariantRecorder) -> None:
    with_ledger(ports.world, roll__away=[["logs-data-1", "uid-of-old"]])
    after(ports.world, kill_pod, pod("data-1"))
    delete(ports, pod("data-0"))


def start_rollback_past_point_of_no_return(ports: InvariantRecorder) -> None:
    edit_spec(ports.world, version="3.4.0")
    reconcile_until(
        ports.world, lambda w: all(n.version == "3.4.0" for n in w.state.engine.nodes if "data" in n.roles)
    )
    ledger = {"ledger": {"upgrade/return": '"2.19.4"'}}
    ports.patch_status(Patch(CLUSTER, {"status": ledger}, ""))


def set_condition_without_prerequisites(ports: InvariantRecorder) -> None:
    cluster = ports.get(CLUSTER)
    assert cluster is not None
    conditions = [
        {**each, "status": "False"} if each["type"] == "PodsCurrent" else each
        for each in cluster["status"]["conditions"]
    ]
    ports.patch_status(Patch(CLUSTER, {"status": {"conditions": conditions}}, ""))


def delete_two_pods(ports: InvariantRecorder) -> None:
    for name in ("data-0", "managers-0"):
        try:
            delete(ports, pod(name))
        except InvariantViolated as error:
            violated = error
    raise violated


def shrink_claim(ports: InvariantRecorder) -> None:
    """To a size that Kubernetes accepts, because the volume has not grown yet."""
    claim = key("PersistentVolumeClaim", "data-logs-data-0")
    ports.world.patch(Patch(claim, request("30Gi"), ""))
    ports.patch(Patch(claim, request("20Gi"), ""))


def replace_stateful_set_before_volumes(ports: InvariantRecorder) -> None:
    ports.world.patch(Patch(key("SearchPool", "logs-data"), {"spec": {"storage": {"size": "20Gi"}}}, ""))
    ports.world.patch(Patch(key("PersistentVolumeClaim", "data-logs-data-0"), request("20Gi"), ""))
    ports.world.tick()
    delete(ports, key("StatefulSet", "logs-data"), orphan=True)


def replace_stateful_set_before_search_pool(ports: InvariantRecorder) -> None:
    for ordinal in range(2):
        claim = key("PersistentVolumeClaim", f"data-logs-data-{ordinal}")
        ports.world.patch(Patch(claim, request("20Gi"), ""))
    ports.world.tick()
    delete(ports, key("StatefulSet", "logs-data"), orphan=True)


def request(size: str) -> dict[str, Any]:
    return {"spec": {"resources": {"requests": {"storage": size}}}}


VIOLATIONS = {
    "quorum_kept": [
        delete_second_manager,
        delete_voter_that_loses_its_role,
        delete_voter_beside_one_without_role,
    ],
    "one_voter_at_a_time": [delete_voter_while_another_is_replaced],
    "versions_can_coexist": [upgrade_managers_before_data_nodes],
    "versions_only_rise": [lower_current_version, report_engine_version_early],
    "pools_run_permitted_version": [
        permit_other_version,
        deploy_version_that_is_not_permitted,
    ],
    "configuration_upgrades_are_supported": [apply_configuration_that_is_not_shipped],
    "last_copies_kept": [
        delete_pod_with_last_copy,
        delete_volume_with_last_copy,
        delete_data_node_that_loses_its_role,
    ],
    "allocation_targets_remain": [exclude_last_data_node],
    "exclusions_leave_a_data_node": [record_exclusions_of_every_data_node],
    "exclusions_do_not_toggle": [toggle_exclusions],
    "deletes_have_preconditions": [delete_pod_without_uid, delete_current_pod],
    "deletes_recorded_first": [
        delete_current_pod,
        delete_volume_with_last_copy,
        delete_owned_pod_of_deleted_cluster,
    ],
    "settings_recorded_first": [change_setting_without_ledger_line],
    "settings_recorded_in_engine": [exclude_without_record, exclude_from_voting_without_record],
    "refused_versions_touch_nothing": [emit_event_without_ledger_line, deploy_refused_version],
    "locked_spec_unchanged": [scale_locked_pool],
    "batches_grow_slowly": [exceed_batch_size],
    "no_rollback_past_point_of_no_return": [start_rollback_past_point_of_no_return],
    "conditions_follow_prerequisites": [set_condition_without_prerequisites],
    "claims_never_shrink": [shrink_claim],
    "claim_templates_follow_volumes": [
        replace_stateful_set_before_volumes,
        replace_stateful_set_before_search_pool,
    ],
    "one_destructive_write_per_reconcile": [delete_two_pods],
}
CASES = [(invariant, violate) for invariant, writes in VIOLATIONS.items() for violate in writes]


@pytest.mark.parametrize(("invariant", "violate"), CASES, ids=[violate.__name__ for _, violate in CASES])
def test_invariant_detects_violation(invariant: str, violate: Callable[[InvariantRecorder], None]) -> None:
    with pytest.raises(InvariantViolated) as error:
        violate(InvariantRecorder(deployed_cluster(), CLUSTER, release(NEWEST)))
    assert invariant in {each.invariant for each in error.value.violations}


def has_usable_copies(cluster: FakeCluster, name: str) -> bool:
    """Whether every copy on this node is usable."""
    state = ObservedState(cluster.state, CLUSTER)
    return all(state.is_usable(copy) for copy in cluster.state.engine.copies if copy.node == f"logs-{name}")


def test_copy_is_usable_until_its_pod_terminates() -> None:
    """The readiness of the pod does not matter: a node serves while it recovers."""
    cluster = add_pod_fault(deployed_cluster(), "logs-data-0", PodFault.NEVER_READY)
    cluster.tick()
    assert "logs-data-0" in cluster.state.engine.names
    assert has_usable_copies(cluster, "data-0")
    cluster.delete(Delete(pod("data-0"), "", ""))
    assert not has_usable_copies(cluster, "data-0")
    assert has_usable_copies(cluster, "data-1")


def test_every_invariant_has_a_violation() -> None:
    assert {invariant.__name__ for invariant in INVARIANTS} < set(VIOLATIONS)


def test_undisturbed_upgrade_violates_no_invariant() -> None:
    assert len(upgrade().transitions) > 50


def test_leftovers_are_ledger_lines_settings_and_the_lock() -> None:
    cluster = deployed_cluster()
    assert leftovers(cluster.state, CLUSTER) is None
    assert leftovers(with_ledger(cluster, roll__away=[]).state, CLUSTER) == "the ledger still has roll/away"
    left = with_engine(deployed_cluster(), allocation=Allocation.PRIMARIES)
    assert leftovers(left.state, CLUSTER) == "the engine still has settings of the operator"
    locked = with_ledger(deployed_cluster(), upgrade__lock="{}")
    assert leftovers(locked.state, CLUSTER) == "the lock is held"


def test_fingerprint_ignores_counters_and_timestamps() -> None:
    cluster = deployed_cluster()
    before = fingerprint(cluster.state)
    resource = cluster.get(CLUSTER)
    assert resource is not None
    for text in ("a", None):
        cluster.patch(Patch(CLUSTER, {"metadata": {"annotations": {"note": text}}}, ""))
    cluster.patch(Patch(CLUSTER, {"metadata": {"annotations": resource["metadata"].get("annotations")}}, ""))
    cluster.state = replace(cluster.state, now=cluster.state.now + 1000)
    assert fingerprint(cluster.state) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda w: edit_spec(w, version="3.4.0"),
        lambda w: with_engine(w, allocation=Allocation.NONE),
        lambda w: with_ledger(w, roll__away=[["logs-data-0", "uid-1"]]),
        lambda w: after(w, kill_pod, pod("data-0")),
    ],
    ids=["spec", "engine", "ledger", "pods"],
)
def test_fingerprint_depends_on_everything_else(change: Callable[[FakeCluster], FakeCluster]) -> None:
    assert fingerprint(change(deployed_cluster()).state) != fingerprint(deployed_cluster().state)


def test_states_of_an_upgrade_have_different_fingerprints() -> None:
    """Except states between which only time passes."""
    fingerprints = [fingerprint(start.state) for start in upgrade().starts]
    assert len(set(fingerprints)) >= len(fingerprints) - 3
