"""Specs that an older CRD accepted and the operator cannot apply."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from searchkeeper.api.crds import NAME_LENGTH_RULE
from searchkeeper.api.spec import HAS_MANAGERS_RULE, ROLES
from searchkeeper.kubernetes.operations import Delete, EventType, Key
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_kubernetes.manifests import with_value
from searchkeeper.testing.invariants.checks import leftovers
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    add_index,
    condition,
    copy_cluster,
    edit_spec,
    new_cluster,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    set_pod_faults,
    status,
)
from tests.support.searchkeeper.operator_runs import node_versions as versions

OLD, NEW = "2.19.4", "3.4.0"
MANAGERS = {"name": "managers", "roles": ["cluster_manager"], "replicas": 3}
DATA = {"name": "data", "roles": ["data"], "replicas": 2}


def third_pool(**changes: Any) -> dict[str, Any]:
    """Return a spec with a third pool."""
    return {"pools": [DATA, MANAGERS, {"name": "cold", "roles": ["data"], "replicas": 1, **changes}]}


INVALID: dict[str, tuple[dict[str, Any], str]] = {
    "unknown rollback policy": (
        {"upgrade": {"rollback": "Sometimes"}},
        (
            'spec.upgrade.rollback: Unsupported value: "Sometimes": '
            'supported values: "Automatic", "Manual", "Off"'
        ),
    ),
    "text for a number": (
        {"upgrade": {"healthDeadlineSeconds": "soon"}},
        'spec.upgrade.healthDeadlineSeconds: Invalid value: "soon": must be an integer',
    ),
    "text for a list": ({"pools": "x"}, 'spec.pools: Invalid value: "x": must be a list'),
    "pool without a name": (
        {"pools": [{"roles": ["cluster_manager"], "replicas": 1}]},
        "spec.pools[0].name: Required value",
    ),
    "no pools": ({"pools": []}, "spec.pools: Invalid value: 0 items: should have at least 1 items"),
    "duplicate pool name": (third_pool(name="data"), 'spec.pools[2]: Duplicate value: {"name": "data"}'),
    "invalid pool name": (
        third_pool(name="Cold"),
        (
            'spec.pools[2].name: Invalid value: "Cold": must be like data-hot, '
            "with only lowercase letters, digits and hyphens"
        ),
    ),
    "pool name too long": (
        third_pool(name="c" * 48),
        NAME_LENGTH_RULE.message,
    ),
    "negative replicas": (
        third_pool(replicas=-1),
        "spec.pools[2].replicas: Invalid value: -1: should be greater than or equal to 0",
    ),
    "pool without replicas": (
        {"pools": [{"name": "data", "roles": ["data"]}, MANAGERS]},
        "spec.pools[0].replicas: Required value",
    ),
    "no roles": (
        third_pool(roles=[]),
        "spec.pools[2].roles: Invalid value: 0 items: should have at least 1 items",
    ),
    "unknown role": (
        third_pool(roles=["wizard"]),
        (
            'spec.pools[2].roles[0]: Unsupported value: "wizard": supported values: '
            + ", ".join(f'"{role}"' for role in ROLES)
        ),
    ),
    "text for roles": (
        third_pool(roles="data"),
        'spec.pools[2].roles: Invalid value: "data": must be a list',
    ),
    "no managers": (
        {"pools": [DATA, {**MANAGERS, "replicas": 0}]},
        f"spec.pools: Invalid value: {HAS_MANAGERS_RULE.message}",
    ),
    "invalid size": (
        third_pool(storage={"size": "0"}),
        'spec.pools[2].storage.size: Invalid value: "0": must be like 100Gi',
    ),
    "empty storage class": (
        third_pool(storage={"storageClass": ""}),
        (
            'spec.pools[2].storage.storageClass: Invalid value: "": should be at least 1 chars long; '
            'spec.pools[2].storage.storageClass: Invalid value: "": must be like fast-ssd, '
            "with only lowercase letters, digits and hyphens"
        ),
    ),
    "text for a boolean": (
        {"upgrade": {"acceptSingleCopyLoss": "false"}},
        (
            'spec.upgrade.acceptSingleCopyLoss: Invalid value: "false": must be true or false; '
            "write false without quotes"
        ),
    ),
    "Secret in another directory": (
        {"security": {"credentialsSecret": "../admin"}},
        (
            'spec.security.credentialsSecret: Invalid value: "../admin": must be like logs-admin, '
            "with only lowercase letters, digits and hyphens"
        ),
    ),
    "negative Dashboards replicas": (
        {"dashboards": {"enabled": True, "replicas": -1}},
        "spec.dashboards.replicas: Invalid value: -1: should be greater than or equal to 0",
    ),
}
ACCEPTED: dict[str, dict[str, Any]] = {
    "long pool name": third_pool(name="c" * 30),
    "duplicate role": third_pool(roles=["data", "data", "data", "data", "data", "data"]),
    "fractional size": third_pool(storage={"size": "0.5Ei"}),
    "many pools": {"pools": [DATA, MANAGERS, *({**DATA, "name": f"p{n}", "replicas": 0} for n in range(40))]},
    "many Dashboards": {"dashboards": {"enabled": True, "replicas": 201}},
    "zero maxBatch": {"upgrade": {"maxBatch": 0}},
    "large maxBatch": {"upgrade": {"maxBatch": 101}},
    "negative deadline": {"upgrade": {"healthDeadlineSeconds": -1}},
    "unknown field": {"tier": "gold"},
    "null values": {"upgrade": {"maxBatch": None, "rollback": None}, "dashboards": {"replicas": None}},
}


def without_spec(cluster: FakeCluster) -> FakeCluster:
    resource = cluster.state.cluster.objects[CLUSTER]
    objects = {**cluster.state.cluster.objects, CLUSTER: with_value(resource, "spec", to=None)}
    cluster.state = replace(cluster.state, cluster=replace(cluster.state.cluster, objects=objects))
    return cluster


def warnings(cluster: FakeCluster) -> list[tuple[str, str]]:
    """Return reason and message of every warning."""
    return [(each.reason, each.message) for each in cluster.state.events if each.type is EventType.WARNING]


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("case", INVALID)
def test_invalid_spec_sets_one_condition_and_emits_one_event(case: str) -> None:
    change, error = INVALID[case]
    cluster = new_cluster()
    reconcile_until_converged(cluster)
    edit_spec(cluster, **change)
    kept = {key: each for key, each in cluster.state.cluster.objects.items() if key != CLUSTER}
    reconcile_for_ticks(cluster, ticks=5)

    message = f"invalid spec: {error}"
    assert warnings(cluster) == [("InvalidSpec", message)]
    assert status(cluster)["phase"] == "Refused"
    assert condition(cluster, "SpecValid") == f"False InvalidSpec: {message}"
    assert {key: each for key, each in cluster.state.cluster.objects.items() if key != CLUSTER} == kept


def test_another_invalid_edit_emits_another_event() -> None:
    cluster = edit_spec(new_cluster(), upgrade={"rollback": "Sometimes"})
    reconcile_for_ticks(cluster, ticks=5)
    edit_spec(cluster, upgrade={"rollback": "Never"})
    reconcile_for_ticks(cluster, ticks=5)

    assert [message.split('"')[1] for _, message in warnings(cluster)] == ["Sometimes", "Never"]


def test_corrected_spec_removes_the_condition() -> None:
    cluster = edit_spec(new_cluster(), upgrade={"rollback": "Sometimes"})
    reconcile_for_ticks(cluster, ticks=3)
    edit_spec(cluster, upgrade={"rollback": "Manual"})
    reconcile_until_converged(cluster)

    assert status(cluster)["phase"] == "Running"
    assert "refused" not in status(cluster)["ledger"]
    assert "SpecValid" not in {each["type"] for each in status(cluster)["conditions"]}


def test_missing_spec_is_reported() -> None:
    cluster = without_spec(new_cluster())
    reconcile_for_ticks(cluster, ticks=5)

    assert warnings(cluster) == [("InvalidSpec", "invalid spec: spec: Required value")]


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("case", INVALID)
def test_cluster_with_an_invalid_spec_can_be_deleted(case: str) -> None:
    cluster = new_cluster()
    reconcile_until_converged(cluster)
    edit_spec(cluster, **INVALID[case][0])
    reconcile_for_ticks(cluster, ticks=2)
    cluster.delete(Delete(CLUSTER, "", ""))
    reconcile_for_ticks(cluster, ticks=10)

    assert cluster.get(CLUSTER) is None
    assert not [
        key for key in cluster.state.cluster.objects if key.kind in ("StatefulSet", "SearchPool", "Pod")
    ]


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("name", ACCEPTED)
def test_harmless_values_that_the_crd_refuses_are_accepted(name: str) -> None:
    cluster = new_cluster()
    reconcile_until_converged(cluster)
    reconcile_until_converged(edit_spec(cluster, version=NEW, **ACCEPTED[name]))
    assert status(cluster)["phase"] == "Running"
    assert warnings(cluster) == []
    service = Key("v1", "Service", "search", "logs")
    cluster.delete(Delete(service, "", ""))
    reconcile_until_converged(cluster)
    assert cluster.get(service) is not None


def test_invalid_version_does_not_stop_other_changes() -> None:
    """The scale-out of the same edit is applied."""
    cluster = new_cluster()
    reconcile_until_converged(cluster)
    edit_spec(cluster, version="3", pools=[{**DATA, "replicas": 3}, MANAGERS])
    reconcile_for_ticks(cluster, ticks=20)
    assert [reason for reason, _ in warnings(cluster)] == ["VersionRefused"]
    assert status(cluster)["ready"] == "6/6"


@cache
def _halfway() -> FakeCluster:
    cluster = new_cluster(DATA, MANAGERS, upgrade={"rollback": "Automatic", "healthDeadlineSeconds": 60})
    reconcile_until_converged(cluster)
    reconcile_until_converged(add_index(cluster))
    edit_spec(cluster, version=NEW)
    return reconcile_until(cluster, lambda cluster: "data-0" not in versions(cluster))


def halfway(**edit: Any) -> FakeCluster:
    """Edit a cluster in an upgrade that replaces its first node with replica allocation disabled."""
    cluster = edit_spec(copy_cluster(_halfway()), **edit)
    assert cluster.state.engine.allocation is not None
    return cluster


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("case", [name for name in INVALID if "upgrade" not in INVALID[name][0]])
def test_upgrade_continues_under_an_invalid_spec(case: str) -> None:
    """Otherwise the spec lock and the engine settings would stay (L4, I9)."""
    cluster = halfway(**INVALID[case][0])
    reconcile_for_ticks(cluster, ticks=1)
    assert [reason for reason, _ in warnings(cluster)] == ["InvalidSpec"]
    assert status(cluster)["phase"] == "Upgrading"
    reconcile_for_ticks(cluster, ticks=100)
    assert set(versions(cluster).values()) == {NEW}
    assert len(versions(cluster)) == 5
    assert cluster.state.engine.allocation is None
    assert status(cluster)["phase"] == "Refused"
    assert [reason for reason, _ in warnings(cluster)] == ["InvalidSpec"]
    reconcile_until_converged(
        edit_spec(cluster, version=NEW, pools=[DATA, MANAGERS], dashboards=None, security=None)
    )
    assert status(cluster)["phase"] == "Running"


def test_failed_upgrade_rolls_back_under_an_invalid_spec() -> None:
    cluster = set_pod_faults(halfway(pools=[]), v3_4_0=PodFault.NEVER_READY)
    reconcile_for_ticks(cluster, ticks=200)
    assert set(versions(cluster).values()) == {OLD}
    assert status(cluster)["phase"] == "Refused"


@pytest.mark.parametrize("policy", [{"paused": True}, {"rollback": "Sometimes"}], ids=["paused", "unknown"])
def test_paused_upgrade_stays_paused_under_an_invalid_spec(policy: dict[str, Any]) -> None:
    """An invalid upgrade policy counts as a pause. Engine settings are restored."""
    cluster = halfway(pools=[], upgrade=policy)
    reconcile_for_ticks(cluster, ticks=30)
    assert sorted(versions(cluster).values()) == [OLD, OLD, OLD, OLD, NEW]
    assert cluster.state.engine.allocation is None
    assert condition(cluster, "VersionAccepted").startswith("False InvalidSpec")


@pytest.mark.exhaustive
def test_invalid_spec_at_any_point_of_an_upgrade_does_not_stop_it() -> None:
    cluster = new_cluster(DATA, MANAGERS)
    reconcile_until_converged(cluster)
    states = [
        copy_cluster(each)
        for each in reconcile_steps(edit_spec(cluster, version=NEW))
        if "upgrade/lock" in ledger(each)
    ]
    for current in states[:: len(states) // 12]:
        reconcile_for_ticks(edit_spec(current, pools=[]), ticks=100)
        assert set(versions(current).values()) == {NEW}
        assert not {"upgrade", "upgrade/lock"} & ledger(current).keys()


def ledger(cluster: FakeCluster) -> dict[str, str]:
    lines: dict[str, str] = status(cluster).get("ledger") or {}
    return lines


def test_rollout_settings_are_restored_under_an_invalid_spec() -> None:
    """I9: a change of roles takes no spec lock. Kubernetes recreates the deleted pod."""
    cluster = new_cluster()
    reconcile_until_converged(cluster)
    add_index(cluster)
    edit_spec(cluster, pools=[{**DATA, "roles": ["data", "ingest"]}, MANAGERS])
    reconcile_until(cluster, lambda each: each.state.engine.allocation is not None)
    reconcile_for_ticks(edit_spec(cluster, upgrade={"rollback": "Sometimes"}), ticks=5)

    assert status(cluster)["phase"] == "Refused"
    assert cluster.state.engine.allocation is None
    reconcile_until_converged(edit_spec(cluster, upgrade={"rollback": None}))
    assert leftovers(cluster.state, CLUSTER) is None


def test_scale_in_exclusions_are_cleared_under_an_invalid_spec() -> None:
    cluster = new_cluster({**DATA, "replicas": 3}, MANAGERS)
    reconcile_until_converged(cluster)
    add_index(cluster)
    reconcile_until(edit_spec(cluster, pools=[DATA, MANAGERS]), lambda each: bool(each.state.engine.excluded))
    reconcile_for_ticks(edit_spec(cluster, upgrade={"rollback": "Sometimes"}), ticks=5)

    assert not cluster.state.engine.excluded
    assert "logs-data-2" in cluster.state.engine.names
