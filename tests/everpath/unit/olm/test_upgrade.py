"""`everpath upgrade`: the pending hop, the upgrade path, and the approval of the InstallPlan."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from everpath.olm.follow import Outcome, follow
from everpath.olm.install_plan import approve_install_plan
from everpath.olm.objects import INSTALL_PLAN, SUBSCRIPTION, ConflictError, Object, ObjectRef
from everpath.olm.snapshot import observe
from everpath.olm.upgrade import PendingHop, Target, hop_refusal, until_target_or_hop
from tests.support.commandline import Answer
from tests.support.everpath.catalogs import write_fbc
from tests.support.everpath.fake_cluster import (
    NS,
    FakeClock,
    FakeCluster,
    catalog_source,
    csv,
    deployment,
    install_plan,
    make_cluster,
    operator_group,
    pod,
    subscription,
)
from tests.support.everpath.fake_olm import (
    Step,
    create_install_plan,
    execute_install_plan,
    resolution_failed,
    set_conditions,
    start_csv,
    wait,
)
from tests.support.schemas import conforms

Call = Callable[..., Answer]
COMMAND = ("upgrade", "op", "-n", "ns")

ENTRIES = "op.v1.2.0: op.v1.1.0\nop.v1.1.0: op.v1.0.0\nop.v1.0.0"


def pending_cluster(approval: str = "Manual") -> FakeCluster:
    """op.v1.0.0 is running, and an InstallPlan for op.v1.1.0 requires approval."""
    return make_cluster(
        catalog_source=catalog_source(),
        operator_group=operator_group(),
        subscription=subscription(
            "op.v1.0.0",
            "op.v1.1.0",
            state="UpgradePending",
            plan="install-2",
            approval=approval,
            channel="stable",
        ),
        install_plan=[
            install_plan("Complete", "op.v1.0.0"),
            install_plan("RequiresApproval", "op.v1.1.0", "dep.v2", name="install-2", approved=False),
        ],
        csv=csv("op.v1.0.0"),
        deployment=deployment(),
        pod=pod(),
    )


def hop_to_110(cluster: FakeCluster) -> tuple[Step, ...]:
    return (
        execute_install_plan(cluster, "install-2", "op.v1.1.0", "op.v1.0.0"),
        start_csv(cluster, "op.v1.1.0", "op.v1.0.0"),
    )


def test_hop_is_shown_approved_and_followed(everpath: Call) -> None:
    cluster = pending_cluster()
    answer = everpath(cluster, *COMMAND, "--yes", steps=hop_to_110(cluster))
    lines = answer.out.splitlines()
    assert "InstallPlan install-2 installs op.v1.1.0, replacing op.v1.0.0, with dependencies dep.v2" in lines
    assert "Approved InstallPlan install-2" in lines
    assert lines[-1] == '"op.v1.1.0" is running'
    assert answer.code == 0


def test_without_terminal_nothing_is_approved(everpath: Call) -> None:
    cluster = pending_cluster()
    answer = everpath(cluster, *COMMAND)
    assert answer.code == 2
    assert "cannot ask for confirmation without a terminal" in answer.err
    assert cluster.log == []


@pytest.mark.parametrize(
    ("typed", "code", "log"), [("y\n", 0, ["patch InstallPlan install-2"]), ("n\n", 130, [])]
)
def test_user_is_asked_for_confirmation(everpath: Call, typed: str, code: int, log: list[str]) -> None:
    cluster = pending_cluster()
    answer = everpath(cluster, *COMMAND, steps=hop_to_110(cluster) if code == 0 else (), typed=typed)
    assert "Approve it? [y/N]" in answer.err + answer.out
    assert (answer.code, cluster.log) == (code, log)


def test_upgrade_path_is_shown_with_the_catalog(everpath: Call, tmp_path: Path) -> None:
    write_fbc(tmp_path, f"[stable]\n{ENTRIES}", "op")
    cluster = pending_cluster()
    answer = everpath(cluster, *COMMAND, "--yes", "--catalog", str(tmp_path), steps=hop_to_110(cluster))
    assert answer.out.splitlines()[0] == (
        "Upgrade path in channel stable: op.v1.0.0 → op.v1.1.0 → op.v1.2.0 (reaches the head in 2 hops)"
    )


@pytest.mark.parametrize(
    ("starting", "path"), [({}, "op.v1.2.0"), ({"startingCSV": "op.v1.1.0"}, "op.v1.1.0 → op.v1.2.0")]
)
def test_upgrade_path_of_first_install_starts_with_the_starting_csv(
    everpath: Call, tmp_path: Path, starting: dict[str, str], path: str
) -> None:
    write_fbc(tmp_path, f"[stable]\n{ENTRIES}", "op")
    cluster = make_cluster(
        catalog_source=catalog_source(),
        operator_group=operator_group(),
        subscription=subscription(channel="stable", **starting),
    )
    answer = everpath(cluster, *COMMAND, "--catalog", str(tmp_path), "--timeout", "3s")
    assert answer.out.splitlines()[0].startswith(f"Upgrade path in channel stable: {path} (")


def test_target_is_reached_hop_by_hop(everpath: Call) -> None:
    cluster = pending_cluster()
    steps = (
        *hop_to_110(cluster),
        create_install_plan(cluster, "install-3", "op.v1.2.0", manual=True),
        execute_install_plan(cluster, "install-3", "op.v1.2.0", "op.v1.1.0"),
        start_csv(cluster, "op.v1.2.0", "op.v1.1.0"),
    )
    answer = everpath(cluster, *COMMAND, "--yes", "--to", "1.2.0", steps=steps)
    assert [line for line in answer.out.splitlines() if line.startswith("Approved")] == [
        "Approved InstallPlan install-2",
        "Approved InstallPlan install-3",
    ]
    assert answer.out.splitlines()[-1] == '"op.v1.2.0" is running'
    assert answer.out.count("Found CatalogSource") == 1
    assert answer.code == 0


def test_running_target_needs_no_confirmation(everpath: Call) -> None:
    cluster = pending_cluster()
    answer = everpath(cluster, *COMMAND, "--to", "v1.0.0")
    assert (answer.code, cluster.log) == (0, [])


@pytest.mark.parametrize("target", ["1.0.5", "op.v1.0.5"])
def test_hop_beyond_the_target_is_not_approved(everpath: Call, target: str) -> None:
    cluster = pending_cluster()
    answer = everpath(cluster, *COMMAND, "--yes", "--to", target)
    assert answer.code == 2
    assert f"the next hop, to op.v1.1.0, goes beyond {target}" in answer.err
    assert cluster.log == []


def test_target_that_is_not_on_the_upgrade_path_is_refused(everpath: Call, tmp_path: Path) -> None:
    write_fbc(tmp_path, f"[stable]\n{ENTRIES}", "op")
    cluster = pending_cluster()
    answer = everpath(cluster, *COMMAND, "--yes", "--to", "1.1.7", "--catalog", str(tmp_path))
    assert answer.code == 2
    assert "the upgrade path op.v1.1.0 → op.v1.2.0 does not reach 1.1.7 after op.v1.1.0" in answer.err
    assert cluster.log == []


def test_target_without_a_hop_fails_before_the_timeout(everpath: Call) -> None:
    cluster = pending_cluster()
    answer = everpath(
        cluster, *COMMAND, "--yes", "--to", "1.9.0", "--timeout", "1h", steps=hop_to_110(cluster)
    )
    assert answer.out.splitlines()[-2:] == [
        '"op.v1.1.0" is running; OLM offers no hop to 1.9.0',
        "everpath why CATALOG -p op --live -n ns explains why",
    ]
    assert answer.code == 1


def test_latest_version_needs_no_hop(everpath: Call) -> None:
    cluster = pending_cluster()
    cluster.put(SUBSCRIPTION, subscription("op.v1.0.0", "op.v1.0.0", state="AtLatestKnown", plan="install-1"))
    answer = everpath(cluster, *COMMAND)
    assert answer.out.splitlines()[-1] == '"op.v1.0.0" is running; OLM offers no newer version'
    assert (answer.code, cluster.log) == (0, [])


def idle_cluster() -> FakeCluster:
    """op.v1.0.0 is running, and OLM has not created the next InstallPlan."""
    cluster = pending_cluster()
    cluster.put(
        SUBSCRIPTION,
        subscription(
            "op.v1.0.0",
            "op.v1.0.0",
            state="AtLatestKnown",
            plan="install-1",
            approval="Manual",
            channel="stable",
        ),
    )
    return cluster


def test_upgrade_waits_for_the_next_install_plan(everpath: Call) -> None:
    cluster = idle_cluster()
    steps = (
        *(wait,) * 6,
        create_install_plan(cluster, "install-2", "op.v1.1.0", manual=True),
        *hop_to_110(cluster),
    )
    answer = everpath(cluster, *COMMAND, "--yes", steps=steps)
    assert answer.out.splitlines()[-1] == '"op.v1.1.0" is running'
    assert answer.code == 0


def test_predicted_hop_that_olm_does_not_offer_is_reported(everpath: Call, tmp_path: Path) -> None:
    write_fbc(tmp_path, f"[stable]\n{ENTRIES}", "op")
    answer = everpath(idle_cluster(), *COMMAND, "--yes", "--catalog", str(tmp_path))
    assert answer.out.splitlines()[-3:] == [
        '"op.v1.0.0" is running; OLM offers no hop to op.v1.1.0',
        f"Check that the cluster has the same catalog as {tmp_path}",
        f"everpath why {tmp_path} -p op --live -n ns explains why",
    ]
    assert answer.code == 1


def test_upgrade_at_the_head_does_not_wait(everpath: Call, tmp_path: Path) -> None:
    write_fbc(tmp_path, "[stable]\nop.v1.0.0", "op")
    sleeps: list[None] = []
    answer = everpath(
        idle_cluster(), *COMMAND, "--catalog", str(tmp_path), steps=(lambda: sleeps.append(None),) * 3
    )
    assert answer.out.splitlines()[-1] == '"op.v1.0.0" is running; OLM offers no newer version'
    assert (answer.code, sleeps) == (0, [])


def test_stale_resolution_failure_is_cleared_after_the_hop(everpath: Call) -> None:
    cluster = pending_cluster()
    message = "constraints not satisfiable: @existing/ns//op.v1.0.0 and @existing/ns//op.v1.1.0 provide Op"
    first, second = hop_to_110(cluster)

    def succeed() -> None:
        second()
        set_conditions(cluster, resolution_failed(message))()

    answer = everpath(cluster, *COMMAND, "--yes", steps=(first, succeed))
    assert "Triggered a new resolution: OLM does not retry until an object changes" in answer.out
    assert answer.out.splitlines()[-1] == '"op.v1.1.0" is running'
    assert answer.code == 0


def test_hop_that_does_not_finish_is_reported_after_the_timeout(everpath: Call) -> None:
    cluster = pending_cluster()
    answer = everpath(
        cluster,
        *COMMAND,
        "--yes",
        "--timeout",
        "10s",
        steps=(execute_install_plan(cluster, "install-2", "op.v1.1.0", "op.v1.0.0"),),
    )
    assert "Timed out: op.v1.0.0 is running, upgrade to op.v1.1.0 is pending" in answer.out
    assert "Waiting for Deployment op-controller to become available: pod op-1: has not started" in answer.out
    assert answer.code == 1


def test_package_without_subscription_is_refused(everpath: Call) -> None:
    answer = everpath(make_cluster(), *COMMAND)
    assert answer.code == 2
    assert "everpath install op -n ns" in answer.err


def test_json_output_conforms_to_the_schema(everpath: Call, tmp_path: Path) -> None:
    write_fbc(tmp_path, f"[stable]\n{ENTRIES}", "op")
    cluster = pending_cluster()
    answer = everpath(
        cluster, *COMMAND, "--yes", "-o", "json", "--catalog", str(tmp_path), steps=hop_to_110(cluster)
    )
    report = json.loads(answer.out)
    conforms("install", report)
    assert (report["from"], report["running"]) == ("op.v1.0.0", "op.v1.1.0")
    assert report["path"] == ["op.v1.1.0", "op.v1.2.0"]


class ConflictingCluster(FakeCluster):
    """Runs the next of `edits` before each patch, as another client would."""

    edits: list[Callable[[Object], None]]

    def patch(self, ref: ObjectRef, changes: Object) -> Object:
        if self.edits:
            obj = self.objects[ref]
            self.edits.pop(0)(obj)
            self.put(ref.kind, obj)
        return super().patch(ref, changes)


def conflicting_cluster(*edits: Callable[[Object], None]) -> tuple[ConflictingCluster, Object]:
    cluster = ConflictingCluster(
        (INSTALL_PLAN, install_plan("RequiresApproval", "op.v1.1.0", approved=False))
    )
    cluster.edits = list(edits)
    (plan,) = cluster.list_objects(INSTALL_PLAN, NS)
    return cluster, plan


def test_install_plan_with_changed_status_is_approved() -> None:
    cluster, plan = conflicting_cluster(lambda obj: obj["status"].update(startTime="now"))
    approve_install_plan(cluster, plan)
    assert cluster.list_objects(INSTALL_PLAN, NS)[0]["spec"]["approved"] is True


def test_install_plan_with_changed_csvs_is_not_approved() -> None:
    cluster, plan = conflicting_cluster(
        lambda obj: obj["spec"].update(clusterServiceVersionNames=["op.v2.0.0"])
    )
    with pytest.raises(ConflictError, match="has changed since it was shown"):
        approve_install_plan(cluster, plan)
    assert cluster.list_objects(INSTALL_PLAN, NS)[0]["spec"]["approved"] is False


def test_install_plan_that_is_approved_meanwhile_counts_as_approved() -> None:
    cluster, plan = conflicting_cluster(lambda obj: obj["spec"].update(approved=True))
    approve_install_plan(cluster, plan)


def test_hop_that_cannot_be_compared_with_the_target_is_refused() -> None:
    hop = PendingHop({}, "", "op-next", ())
    assert "cannot compare" in hop_refusal(hop, Target("1.0.0"), "op", ())


def test_target_waits_for_an_install_plan_that_is_created_later() -> None:
    cluster = pending_cluster()
    cluster.put(SUBSCRIPTION, subscription("op.v1.0.0", "op.v1.0.0", state="AtLatestKnown", plan="install-1"))
    clock = FakeClock(*[wait] * 9, create_install_plan(cluster, "install-2", "op.v1.1.0", manual=True))
    stop_condition = until_target_or_hop(Target("1.1.0"), "op", clock.monotonic)
    result = follow(lambda: observe(cluster, "op", NS), stop_condition, clock.clock, lambda _: None)
    assert (result.outcome, clock.now) == (Outcome.APPROVAL, 10)
