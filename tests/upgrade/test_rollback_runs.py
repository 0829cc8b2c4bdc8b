"""What becomes of an upgrade that fails, or that nobody wants any more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import Any

import pytest

from operators_at_work import (
    CLUSTER,
    SMALL,
    annotated,
    asked_for,
    claims,
    condition,
    copied,
    edited,
    pool,
    running,
    score,
    settled,
    status,
    summary,
    told,
    with_faults,
    with_index,
    worked,
    worked_until,
)
from searchkeeper.images import Images, repository_of
from searchkeeper.kubernetes.operations import Delete
from searchkeeper.opensearch.view import Index
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tales import pods, unfolding

RELEASE = "0.4.0"
OLD, NEW = "2.19.4", "3.4.0"
THREE = (pool("data", 3, "data"), pool("managers", 3, "cluster_manager"))
APART = (pool("hot", 1, "data"), pool("warm", 1, "data"), pool("managers", 3, "cluster_manager"))


@cache
def _deployed(rollback: str, names: tuple[str, ...]) -> FakeCluster:
    pools = {"small": SMALL, "three": THREE, "apart": APART}[names[0]]
    world = asked_for(*pools, upgrade={"rollback": rollback, "healthDeadlineSeconds": 60})
    settled(world, RELEASE)
    with_index(world)
    settled(world, RELEASE)
    return world


def deployed(rollback: str = "Manual", pools: str = "small") -> FakeCluster:
    """A cluster with documents, which gives its nodes a minute."""
    return copied(_deployed(rollback, (pools,)))


def upgrading(world: FakeCluster, **faults: PodFault) -> FakeCluster:
    return with_faults(edited(world, version=NEW), **faults)


def led_by(world: FakeCluster, name: str) -> FakeCluster:
    """Whoever was elected has lost its connection for a moment, and this one has been elected."""
    engine = world.state.engine
    nodes = tuple(replace(node, is_elected=node.name == name) for node in engine.nodes)
    world.state = replace(world.state, engine=replace(engine, nodes=nodes))
    return world


def leaders(world: FakeCluster) -> list[str]:
    """Everybody who is elected until all is done, one after the other."""
    told = (each.state.engine.elected for each in unfolding(world, RELEASE))
    return [name for name, _ in groupby(each.name for each in told if each is not None)]


def has_crossed(world: FakeCluster) -> bool:
    return NEW in running(world).values()


def with_newer_index(world: FakeCluster) -> FakeCluster:
    """Somebody makes an index while a newer node is elected."""
    engine = world.state.engine
    newer = replace(engine, indices=(*engine.indices, Index("maps", 1, NEW)))
    world.state = replace(world.state, engine=newer)
    return world


def writes_of_a_quiet_hour(world: FakeCluster) -> int:
    """Steady state does nothing at all."""
    wrote = 0
    for _ in range(360):
        wrote += reconcile(world, world, CLUSTER, release(RELEASE), world.state.now).wrote
        world.tick()
    return wrote


@pytest.mark.parametrize("fault", [PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING, PodFault.NEVER_READY])
def test_failed_upgrade_is_rolled_back_if_the_policy_is_automatic(fault: PodFault) -> None:
    world = deployed("Automatic")
    before = summary(world.state)
    worked(upgrading(world, v3_4_0=fault), RELEASE)
    assert summary(world.state) == before
    assert set(running(world).values()) == {OLD}
    assert status(world)["engineVersion"] == OLD
    assert "upgrade" not in status(world)["ledger"]
    assert "upgrade/lock" not in status(world)["ledger"]


def test_abandoned_version_is_not_tried_again() -> None:
    world = worked(upgrading(deployed("Automatic"), v3_4_0=PodFault.CRASH), RELEASE)
    assert condition(world, "UpgradeStarted") == (
        "False VersionAbandoned: 3.4.0 failed and was rolled back; change the spec to try again"
    )
    assert writes_of_a_quiet_hour(with_faults(world)) == 0


def test_abandoned_version_is_tried_again_after_a_change_of_the_spec() -> None:
    world = worked(upgrading(deployed("Automatic"), v3_4_0=PodFault.CRASH), RELEASE)
    settled(edited(with_faults(world), upgrade={"maxBatch": 2}), RELEASE)
    assert set(running(world).values()) == {NEW}
    assert not status(world)["ledger"]


def test_failed_upgrade_waits_for_a_rollback_request_and_names_it() -> None:
    world = worked(upgrading(deployed("Manual"), v3_4_0=PodFault.CRASH), RELEASE)
    assert status(world)["phase"] == "Stalled"
    assert condition(world, "RollbackPossible") == (
        "True RollbackAvailable: possible to 2.19.4 until logs-data-1 is replaced: "
        "then books[0] has no copy on a node of the older version; "
        "to roll back, annotate the SearchCluster with search.everpath.dev/rollback=2.19.4"
    )
    assert writes_of_a_quiet_hour(world) == 0


def test_rollback_request_is_followed_and_removed() -> None:
    world = worked(upgrading(deployed("Manual"), v3_4_0=PodFault.CRASH), RELEASE)
    worked(annotated(world, rollback=OLD), RELEASE)
    assert set(running(world).values()) == {OLD}
    found = world.get(CLUSTER)
    assert found is not None
    assert not found["metadata"]["annotations"]


def test_old_rollback_request_does_not_roll_back_the_next_upgrade() -> None:
    world = annotated(deployed("Manual"), rollback=OLD)
    settled(upgrading(world), RELEASE)
    assert set(running(world).values()) == {NEW}


def test_rollback_request_for_another_version_is_ignored() -> None:
    world = worked(upgrading(deployed("Manual"), v3_4_0=PodFault.CRASH), RELEASE)
    worked(annotated(world, rollback="2.19.3"), RELEASE)
    assert status(world)["phase"] == "Stalled"


def test_only_the_spec_starts_a_rollback_if_the_policy_is_off() -> None:
    world = worked(upgrading(deployed("Off"), v3_4_0=PodFault.CRASH), RELEASE)
    worked(annotated(world, rollback=OLD), RELEASE)
    assert status(world)["phase"] == "Stalled"
    settled(edited(world, version=OLD), RELEASE)
    assert set(running(world).values()) == {OLD}


def test_paused_upgrade_does_not_fail() -> None:
    world = worked_until(upgrading(deployed("Automatic")), RELEASE, has_crossed)
    worked(edited(world, upgrade={"paused": True}), RELEASE)
    assert "upgrade/return" not in status(world)["ledger"]


def test_error_of_the_operator_stalls_an_upgrade_and_starts_no_rollback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The version has done nothing wrong, and its nodes would be taken away for nothing."""
    world = worked_until(upgrading(deployed("Automatic")), RELEASE, has_crossed)

    def breaks(_: Any) -> Any:
        raise KeyError("shard")

    with monkeypatch.context() as patched:
        patched.setattr("searchkeeper.reconcilers.pools.roll_out", breaks)
        worked(world, RELEASE)
        assert status(world)["phase"] == "Stalled"
        assert condition(world, "PodsCurrent") == "Unknown ActionError: stalled: KeyError: 'shard'"
        assert world.state.events[-1].message.startswith("PodsCurrent: KeyError: 'shard'")
    settled(world, RELEASE)
    assert set(running(world).values()) == {NEW}


def test_only_nodes_that_ran_the_newer_version_get_an_empty_volume() -> None:
    """S24: no older version starts on what a newer one has written."""
    world = worked_until(upgrading(deployed()), RELEASE, has_crossed)
    before = claims(world)
    settled(edited(world, version=OLD), RELEASE)
    after = claims(world)
    assert [name for name in before if before[name] != after[name]] == ["data-logs-data-0"]
    assert not told(world).splitlines()[:-1]


@pytest.mark.parametrize(("pools", "crossed"), [("small", "data-0"), ("apart", "hot-0")])
def test_node_that_is_replaced_for_another_reason_during_a_rollback_keeps_its_volume(
    pools: str, crossed: str
) -> None:
    """Another operator takes over meanwhile, and has images from elsewhere: every pod is made anew.

    Those of the older version come last: what they have, nobody else could go back to.
    """
    world = worked_until(upgrading(deployed(pools=pools)), RELEASE, has_crossed)
    before = claims(world)
    for _ in unfolding(edited(world, version=OLD), images=Images("mirror.example.com/engine", "")):
        pass
    after = claims(world)
    assert [name for name in before if before[name] != after[name]] == [f"data-logs-{crossed}"]
    assert {repository_of(each) for each in images(world)} == {"mirror.example.com/engine"}


def images(world: FakeCluster) -> list[str]:
    return [each["spec"]["containers"][0]["image"] for each in pods(world).values()]


def test_volume_is_deleted_before_its_pod() -> None:
    """The laws of the recording see to the second part."""
    world = edited(worked_until(upgrading(deployed()), RELEASE, has_crossed), version=OLD)
    steps = score(world, RELEASE).steps
    gone = [step.write.key.name for step in steps if isinstance(step.write, Delete)]
    assert gone == ["data-logs-data-0", "logs-data-0"]


def test_shards_are_moved_before_the_volume_is_deleted() -> None:
    world = worked_until(upgrading(deployed(pools="three")), RELEASE, has_crossed)
    worked_until(world, RELEASE, lambda w: "roll/away" not in status(w)["ledger"])
    steps = score(edited(world, version=OLD), RELEASE).steps
    wiped = next(step for step in steps if isinstance(step.write, Delete))
    assert wiped.key is not None
    assert wiped.key.kind == "PersistentVolumeClaim"
    assert all("logs-data-0" not in (copy.node, copy.to) for copy in wiped.before.engine.copies)


def test_rollback_has_one_election_with_managers_in_several_pools() -> None:
    """Of the two that have to go back, the elected one goes last: whoever is elected then stays."""
    zones = [pool(f"zone{n}", count, "cluster_manager", "data") for n, count in enumerate((1, 1, 3))]
    world = asked_for(*zones, upgrade={"healthDeadlineSeconds": 60})
    settled(world, RELEASE)
    settled(led_by(with_index(world, replicas=4), "logs-zone2-2"), RELEASE)
    crossed = {"zone0-0": NEW, "zone1-0": NEW}
    worked_until(upgrading(world), RELEASE, lambda world: crossed.items() <= running(world).items())
    assert leaders(edited(led_by(world, "logs-zone1-0"), version=OLD)) == ["logs-zone1-0", "logs-zone0-0"]
    assert set(running(world).values()) == {OLD}


def test_nodes_are_rolled_back_in_reverse_order() -> None:
    pools = (pool("data", 4, "data"), pool("managers", 3, "cluster_manager"))
    world = asked_for(*pools, upgrade={"healthDeadlineSeconds": 600})
    settled(world, RELEASE)
    edited(world, version=NEW)
    came = worked_until(world, RELEASE, lambda w: list(running(w).values()).count(NEW) == 2)
    assert [name for name, version in running(came).items() if version == NEW] == ["data-0", "data-1"]
    steps = score(edited(came, version=OLD), RELEASE).steps
    gone = [step.write.key for step in steps if isinstance(step.write, Delete)]
    assert [key.name for key in gone if key.kind == "Pod"] == ["logs-data-1", "logs-data-0"]


@pytest.mark.parametrize("rollback", ["Automatic", "Manual"])
def test_no_rollback_starts_past_the_point_of_no_return(rollback: str) -> None:
    world = upgrading(deployed(rollback))
    worked_until(world, RELEASE, lambda w: running(w).get("data-1") == NEW)
    worked(with_faults(world, logs_managers_2=PodFault.CRASH), RELEASE)
    annotated(world, rollback=OLD)
    worked(world, RELEASE)
    assert status(world)["phase"] == "Stalled"
    assert "upgrade/return" not in status(world)["ledger"]
    assert condition(world, "RollbackPossible") == (
        "False PointOfNoReturnPassed: not possible to 2.19.4:"
        " books[0] has no copy on a node of the older version"
    )


@pytest.mark.parametrize("rollback", ["Automatic", "Manual"])
def test_newer_target_replaces_a_failing_one_past_the_point_of_no_return(
    rollback: str,
) -> None:
    world = edited(deployed(rollback), version="3.2.0")
    worked_until(world, RELEASE, lambda w: running(w).get("data-1") == "3.2.0")
    worked(with_faults(world, logs_managers_2=PodFault.CRASH), RELEASE)
    assert status(world)["phase"] == "Stalled"
    worked(edited(world, version=NEW), RELEASE, ticks=3)
    assert status(world)["ledger"]["upgrade"] == f'["{OLD}","{NEW}"]'
    settled(with_faults(world), RELEASE)
    assert set(running(world).values()) == {NEW}


def test_rollback_stops_when_it_becomes_blocked() -> None:
    world = worked_until(upgrading(deployed(pools="three")), RELEASE, has_crossed)
    worked_until(edited(world, version=OLD), RELEASE, lambda w: "upgrade/return" in status(w)["ledger"])
    before = claims(with_newer_index(world))
    worked(world, RELEASE)
    assert condition(world, "PodsCurrent") == (
        "False RollbackBlocked: stalled: cannot roll back to 2.19.4: index maps was created by 3.4.0; "
        "to continue the upgrade, set spec.version to 3.4.0"
    )
    assert claims(world) == before
    assert running(world)["data-0"] == NEW


def at_a_dead_end(turned: Callable[[FakeCluster], FakeCluster], rollback: str = "Manual") -> FakeCluster:
    """Turned back halfway, and halfway back the way has closed."""
    world = worked_until(upgrading(deployed(rollback, pools="three")), RELEASE, has_crossed)
    worked_until(turned(world), RELEASE, lambda w: "upgrade/return" in status(w)["ledger"])
    return worked(with_newer_index(world), RELEASE)


def test_upgrade_resumes_from_a_blocked_rollback_when_the_spec_wants_it() -> None:
    """L4: neither back nor forward would hold the lock for ever."""
    world = at_a_dead_end(lambda w: edited(w, version=OLD))
    settled(edited(world, version=NEW), RELEASE)
    assert set(running(world).values()) == {NEW}


def test_request_of_a_blocked_rollback_is_removed_when_the_spec_changes() -> None:
    world = at_a_dead_end(lambda w: annotated(w, rollback=OLD))
    assert condition(world, "PodsCurrent").endswith("; to continue the upgrade, change the spec")
    settled(edited(world, upgrade={"maxBatch": 2}), RELEASE)
    assert set(running(world).values()) == {NEW}
    assert not status(world)["ledger"]


def test_blocked_rollback_stays_while_the_spec_has_a_refused_version() -> None:
    world = at_a_dead_end(lambda w: edited(w, version=OLD))
    worked(edited(world, version="1.3.0"), RELEASE)
    assert "upgrade/return" in status(world)["ledger"]


def test_rollback_completes_before_another_upgrade_starts() -> None:
    world = edited(worked_until(upgrading(deployed(pools="three")), RELEASE, has_crossed), version=OLD)
    worked_until(world, RELEASE, lambda w: "upgrade/return" in status(w)["ledger"])
    worked_until(edited(world, version=NEW), RELEASE, lambda w: "upgrade/return" not in status(w)["ledger"])
    assert set(running(world).values()) == {OLD}
    settled(world, RELEASE)
    assert set(running(world).values()) == {NEW}


def test_condition_names_the_point_of_no_return_before_it_is_passed() -> None:
    steps = score(upgrading(deployed()), RELEASE).steps
    told_before, closed_with = "", ""
    for step in steps:
        if isinstance(step.write, Delete):
            closed_with = step.write.key.name
        conditions = {each["type"]: each for each in step.after.status.get("conditions", ())}
        found: dict[str, Any] = conditions.get("RollbackPossible", {})
        if found.get("status") == "False":
            break
        told_before = found.get("message", "")
    assert closed_with == "logs-data-1"
    assert told_before.startswith("possible to 2.19.4 until logs-data-1 is replaced")


def test_older_version_at_any_time_is_rolled_back_to_or_refused() -> None:
    whole = score(upgrading(deployed()), RELEASE)
    ends = set()
    for beat in whole.beats[::3]:
        world = edited(FakeCluster(beat.state), version=OLD)
        worked(world, RELEASE, ticks=30)
        [version] = set(running(world).values())
        assert "upgrade/lock" not in status(world)["ledger"]
        assert version == OLD or condition(world, "VersionAccepted").startswith("False Downgrade")
        ends.add(version)
    assert ends == {OLD, NEW}


def test_no_pod_is_upgraded_in_the_reconcile_that_starts_a_rollback() -> None:
    """I13: whoever reverts just before a pod is taken has it spared, and nobody notes that it was to go."""
    whole = score(upgrading(deployed()), RELEASE)
    taken = [at for at, step in enumerate(whole.steps) if isinstance(step.write, Delete)]
    assert len(taken) == 5
    for at in taken:
        world = edited(FakeCluster(whole.beat_of(at).state), version=OLD)
        before = status(world)["ledger"].get("roll/away")
        ports = InvariantRecorder(world, CLUSTER, release(RELEASE))
        reconcile(ports, ports, CLUSTER, release(RELEASE), world.state.now)
        if "upgrade/return" in status(world)["ledger"]:
            assert status(world)["ledger"].get("roll/away") == before
            assert not [step for step in ports.steps if isinstance(step.write, Delete)]


def test_edit_during_a_rollback_is_applied_after_it() -> None:
    world = edited(worked_until(upgrading(deployed()), RELEASE, has_crossed), version=OLD)
    more = [pool("data", 3, "data"), pool("managers", 3, "cluster_manager")]
    settled(edited(world, pools=more), RELEASE)
    assert running(world) == dict.fromkeys(
        ["data-0", "data-1", "data-2", "managers-0", "managers-1", "managers-2"], OLD
    )
