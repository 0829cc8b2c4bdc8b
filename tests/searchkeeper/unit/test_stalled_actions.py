"""Stalled actions: a line of the ledger, and a field of the decoded conditions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from searchkeeper.api.codec import decode_records
from searchkeeper.kubernetes.operations import Patch
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.invariants.checks import leftovers
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    edit_spec,
    reconcile_once,
    reconcile_until,
    set_pod_faults,
    status,
)
from tests.support.searchkeeper.operator_scenarios import running_cluster

CONDITION = {
    "type": "PodsCurrent",
    "status": "False",
    "reason": "WaitingForPods",
    "message": "logs-data-0 is not ready",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


def decode(message: str, **ledger: str) -> tuple[str, bool]:
    """Return the message and the field of one condition."""
    [condition] = decode_records(
        {"conditions": [{**CONDITION, "message": message}], "ledger": ledger}
    ).conditions
    return condition.message, condition.is_stalled


@pytest.mark.parametrize(
    ("message", "ledger", "expected"),
    [
        ("not ready", {}, ("not ready", False)),
        ("not ready", {"stalled": '["PodsCurrent","PoolsApplied"]'}, ("not ready", True)),
        ("not ready", {"stalled": '["PoolsApplied"]'}, ("not ready", False)),
        ("not ready", {"stalled": '"PodsCurrent"'}, ("not ready", False)),
        ("not ready", {"stalled": "PodsCurrent"}, ("not ready", False)),
        ("stalled: not ready", {}, ("not ready", True)),
        ("stalled: not ready", {"stalled": '["PodsCurrent"]'}, ("not ready", True)),
    ],
    ids=["neither", "ledger", "other action", "no list", "no JSON", "message of 0.4.0", "both"],
)
def test_field_is_decoded_from_the_ledger_or_from_the_message_of_an_older_release(
    message: str, ledger: dict[str, str], expected: tuple[str, bool]
) -> None:
    assert decode(message, **ledger) == expected


def stalled_upgrade() -> FakeCluster:
    """Return a cluster whose upgrade stalls because the image does not exist."""
    cluster = edit_spec(running_cluster(), upgrade={"rollback": "Off", "healthDeadlineSeconds": 30})
    edit_spec(set_pod_faults(cluster, v3_4_0=PodFault.IMAGE), version="3.4.0")
    reconcile_until(cluster, lambda it: status(it).get("phase") == "Stalled")
    return idle(cluster)


def idle(cluster: FakeCluster) -> FakeCluster:
    while reconcile_once(cluster, cluster, NEWEST).wrote:
        pass
    return cluster


def as_written_by_an_older_release(written: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch that moves the mark from the ledger to the messages."""
    stalled = json.loads(written["ledger"]["stalled"])
    conditions = [
        {**each, "message": f"stalled: {each['message']}"} if each["type"] in stalled else each
        for each in written["conditions"]
    ]
    return {"conditions": conditions, "ledger": {"stalled": None}}


def test_stall_of_an_older_release_continues_without_another_event() -> None:
    cluster = stalled_upgrade()
    written, events = status(cluster), len(cluster.state.events)
    assert "PodsCurrent" in json.loads(written["ledger"]["stalled"])
    assert not any(each["message"].startswith("stalled") for each in written["conditions"])

    cluster.patch_status(Patch(CLUSTER, {"status": as_written_by_an_older_release(written)}, ""))
    assert status(cluster) != written
    idle(cluster)
    assert status(cluster) == written
    assert len(cluster.state.events) == events


@pytest.mark.exhaustive
def test_stall_is_written_when_it_begins_and_when_it_ends() -> None:
    cluster = edit_spec(running_cluster(), upgrade={"rollback": "Off", "healthDeadlineSeconds": 30})
    edit_spec(set_pod_faults(cluster, v3_4_0=PodFault.IMAGE), version="3.4.0")
    lines: list[str | None] = []
    for tick in range(400):
        if tick == 200:
            set_pod_faults(cluster)
        line = (status(cluster).get("ledger") or {}).get("stalled")
        lines += [line] if not lines or lines[-1] != line else []
        if not reconcile_once(cluster, cluster, NEWEST).wrote:
            cluster.tick()
    assert lines[0] is lines[-1] is None
    assert len(lines) <= 5
    assert status(cluster)["engineVersion"] == "3.4.0"
    assert leftovers(cluster.state, CLUSTER) is None


def test_stall_that_is_left_in_a_converged_cluster_is_a_leftover() -> None:
    cluster = running_cluster()
    cluster.patch_status(Patch(CLUSTER, {"status": {"ledger": {"stalled": '["PodsCurrent"]'}}}, ""))
    assert leftovers(cluster.state, CLUSTER) == "the ledger still has stalled"
