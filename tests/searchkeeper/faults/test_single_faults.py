"""One fault, at any write: the cluster converges to the same state, and no invariant is violated."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from searchkeeper.kubernetes.operations import EngineCall, Patch
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.faults import ENGINE, EVERYTHING, Fault, FaultInjection
from searchkeeper.testing.invariants.checks import leftovers
from tests.support.searchkeeper.fault_runs import ROLLBACK, RUNS, UPGRADE, deployed_by, run
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    copy_cluster,
    reconcile_until_converged,
    run_to_known_end,
    run_with_faults,
)

KINDS = ("SearchCluster", "SearchPool", "StatefulSet", "Pod", "PersistentVolumeClaim", EVERYTHING)
ENGINE_CALL_FAULTS = (Fault.REPEATED_CALL, Fault.DELAYED_CALL)
# The operator keeps no memory: for it these are the same as a crash before the write.
NOT_EXECUTED = (Fault.UNAVAILABLE, Fault.CONFLICT, Fault.REJECTED)
DISTINCT_FAULTS = (Fault.CRASH_BEFORE, Fault.CRASH_AFTER, Fault.LOST_RESPONSE, Fault.ENGINE_SILENT)


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("fault", DISTINCT_FAULTS)
@pytest.mark.parametrize("name", RUNS)
def test_fault_at_any_write_does_not_change_the_result(name: str, fault: Fault) -> None:
    for at in range(len(run(name).transitions)):
        run_with_faults(run(name), FaultInjection(at, fault))


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("fault", NOT_EXECUTED)
def test_failed_write_does_not_change_the_result(fault: Fault) -> None:
    for at in range(len(run(UPGRADE).transitions)):
        run_with_faults(run(UPGRADE), FaultInjection(at, fault))


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("name", RUNS)
def test_temporarily_denied_write_does_not_change_the_result(name: str) -> None:
    """The ledger line of the denied operation is removed too."""
    for at in range(len(run(name).transitions)):
        run_with_faults(run(name), FaultInjection(at, Fault.DENIED))


@pytest.mark.exhaustive
def test_conflict_storm_does_not_change_the_result() -> None:
    for at in range(0, len(run(UPGRADE).transitions), 4):
        run_with_faults(run(UPGRADE), FaultInjection(at, Fault.CONFLICT_STORM))


@pytest.mark.parametrize("fault", ENGINE_CALL_FAULTS)
@pytest.mark.parametrize("name", RUNS)
def test_late_or_repeated_engine_call_does_not_change_the_result(name: str, fault: Fault) -> None:
    for at, step in enumerate(run(name).transitions):
        if isinstance(step.write, EngineCall):
            run_with_faults(run(name), FaultInjection(at, fault))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [UPGRADE, ROLLBACK])
def test_api_server_outage_only_delays(name: str) -> None:
    """For an hour nothing can be read or written."""
    for step in run(name).transitions[::3]:
        cluster = FakeCluster(step.before.state)
        for _ in range(12):
            cluster.tick(300)
        run_to_known_end(cluster, run(name).version, run(name).known)


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("name", RUNS)
def test_stale_engine_state_does_not_change_the_result(name: str) -> None:
    for at in range(len(run(name).transitions)):
        run_with_faults(run(name), FaultInjection(at, Fault.STALE_READS, ENGINE, (1, 3, 6)[at % 3]))


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", RUNS[2:])
def test_stale_reads_do_not_change_the_result(name: str, kind: str) -> None:
    for at in range(len(run(name).transitions)):
        run_with_faults(run(name), FaultInjection(at, Fault.STALE_READS, kind, (1, 3)[at % 2]))


def pairs(name: str, count: int) -> Iterator[tuple[FaultInjection, FaultInjection]]:
    """Yield pairs of faults close to each other, always the same."""
    random = Random(name)
    for _ in range(count):
        at = random.randrange(len(run(name).transitions))
        one, other = (
            FaultInjection(
                place, random.choice(list(Fault)), random.choice(KINDS), random.choice((1, 2, 3, 5))
            )
            for place in (at, at + random.randrange(1, 8))
        )
        yield one, other


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("name", RUNS)
def test_two_close_faults_do_not_change_the_result(name: str) -> None:
    for one, other in pairs(name, 25):
        run_with_faults(run(name), one, other)


def test_ledger_line_of_a_volume_is_removed_after_the_rollout() -> None:
    """Also if the ledger has no pod for it."""
    cluster = copy_cluster(deployed_by(NEWEST))
    ledger = {"roll/wiped": '["data-logs-data-0", "uid-of-old"]'}
    cluster.patch_status(Patch(CLUSTER, {"status": {"ledger": ledger}}, ""))
    reconcile_until_converged(cluster)
    assert leftovers(cluster.state, CLUSTER) is None


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("name", RUNS)
def test_converged_operator_writes_nothing(name: str) -> None:
    recorded = run(name)
    cluster = FakeCluster(recorded.starts[-1].state)
    for _ in range(100):
        assert not reconcile(cluster, cluster, CLUSTER, release(recorded.version), cluster.state.now).wrote
        cluster.tick()


@pytest.mark.parametrize("name", RUNS)
def test_run_has_writes_to_disturb(name: str) -> None:
    """Without writes the other tests would pass without a fault."""
    recorded = run(name)
    assert len(recorded.transitions) >= 15
    assert {step.write.is_destructive for step in recorded.transitions} >= {False}
    for at in range(len(recorded.transitions)):
        assert recorded.start_before(at).writes_before <= at
