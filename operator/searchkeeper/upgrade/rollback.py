"""Upgrades that fail: how that is known, and which way they turn."""

from __future__ import annotations

__all__ = [
    "ROLLBACK_ANNOTATION",
    "ROLLBACK_BLOCKED",
    "choose_direction",
    "failure",
    "forward_hint",
    "remove_rollback_request",
    "requested_rollback",
    "rollback_hint",
    "was_abandoned",
]

from typing import Final

from searchkeeper.api.spec import Rollback
from searchkeeper.kubernetes.operations import Patch
from searchkeeper.planner import NOT_COUNTED, LedgerChange, Result, done, in_progress, wait, waiting_for
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.gates import FATAL_POD_PROBLEMS, NO_DEADLINE
from searchkeeper.upgrade.ledger import ABANDONED, ROLLBACK_TO, UPGRADE, UpgradeLedger
from searchkeeper.upgrade.rollback_blockers import rollback_blockers, upgraded_nodes
from searchkeeper.upgrade.version_policy import version_refusal

# The annotation by which a person orders the way back: its value is the version to go back to.
ROLLBACK_ANNOTATION: Final = "search.everpath.dev/rollback"
# What the roll waits for when the way that it is on has closed.
ROLLBACK_BLOCKED: Final = "NoWayBack"
# The actions that wait for nodes, and nothing else.
_WAITERS: Final = ("PodsCurrent", "PoolsConverged", "EngineHealthy", "UpgradeFinished")


def failure(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> str | None:
    """Why the roll counts as failed: somebody was waited for longer than the policy allows.

    While it is paused nobody is waited for. Whoever has just begun to look waits for as long itself: the
    moments in the ledger may be those of another clock.
    """
    policy = snapshot.cluster.spec.upgrade
    for name in () if policy.paused or _is_new_here(snapshot) else _WAITERS:
        found = waiting_for(ledger, name, snapshot.now)
        # Our own faults, and what others refuse us, are no version's: another one would not mend them.
        if found is not None and found[0] not in NOT_COUNTED and found[1] >= policy.health_deadline:
            return f"{name} has been waiting for {policy.health_deadline} seconds ({found[0]})"
    return None


def _is_new_here(snapshot: ClusterSnapshot) -> bool:
    return snapshot.now - snapshot.observing_since < snapshot.cluster.spec.upgrade.health_deadline


def requested_rollback(snapshot: ClusterSnapshot) -> str | None:
    """The version that a person wants to go back to."""
    return dict(snapshot.cluster.annotations).get(ROLLBACK_ANNOTATION)


def rollback_hint(snapshot: ClusterSnapshot, ledger: UpgradeLedger, before: str) -> str | None:
    """What a person can do about a failed upgrade that does not turn back by itself."""
    if snapshot.cluster.spec.upgrade.rollback is not Rollback.MANUAL or failure(snapshot, ledger) is None:
        return None
    return f"to go back, annotate the SearchCluster with {ROLLBACK_ANNOTATION}={before}"


def forward_hint(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> str:
    """What a person can do about a way back that has closed while it was gone."""
    before, target = ledger.upgrade or ("", "")
    wish = f"set spec.version to {target}" if snapshot.cluster.spec.version == before else "change the spec"
    return f"to go on, {wish}"


def remove_rollback_request(snapshot: ClusterSnapshot) -> Patch:
    """The annotation counts for one upgrade: the next one is not to turn back because of it."""
    cluster = snapshot.cluster
    return Patch(
        cluster.key, {"metadata": {"annotations": {ROLLBACK_ANNOTATION: None}}}, cluster.resource_version
    )


def was_abandoned(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> bool:
    """The version that the spec wants has failed, and nobody has changed the spec since."""
    return ledger.abandoned == (snapshot.cluster.spec.version, snapshot.cluster.generation)


def choose_direction(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result:
    """Where an upgrade under way goes: on, to another version, or back. A way back is gone to its end.

    Where there is none the upgrade goes on: half of one would hold the lock for ever. Where it has closed
    halfway, it goes on when somebody wants it to.
    """
    assert ledger.upgrade is not None
    before, target = ledger.upgrade
    if ledger.rollback_to is not None:
        return _on_again(snapshot, ledger) or done(f"on the way back to {before}")
    cause = _reason_to_turn(snapshot, ledger)
    if cause is None:
        return done() if snapshot.cluster.spec.version == target else _another_target(snapshot, ledger)
    if rollback_blockers(snapshot, ledger, before):
        if snapshot.cluster.spec.version not in (before, target):
            return _another_target(snapshot, ledger)
        return done(f"{target} goes on, for there is no way back", reason=ROLLBACK_BLOCKED)
    return _turning(snapshot, before, target, cause)


def _on_again(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result | None:
    """From a dead end: the roll has found that the way back is closed, and the spec asks for another one."""
    before, target = ledger.upgrade or ("", "")
    wanted = snapshot.cluster.spec.version
    is_wanted = wanted != before and version_refusal(before, wanted, snapshot.release) is None
    found = waiting_for(ledger, "PodsCurrent", snapshot.now)
    is_dead_end = (
        found is not None
        and found[0] == ROLLBACK_BLOCKED
        and bool(rollback_blockers(snapshot, ledger, before))
    )
    if not (is_dead_end and is_wanted) or was_abandoned(snapshot, ledger):
        return None
    if requested_rollback(snapshot) is not None:
        return in_progress("ForgettingOrder", "it cannot be carried out", remove_rollback_request(snapshot))
    ledger_changes = (LedgerChange(ROLLBACK_TO, None), LedgerChange(ABANDONED, None))
    return in_progress(
        "GoingOn", f"on to {target}: there is no way back to {before}", ledger_changes=ledger_changes
    )


def _reason_to_turn(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> str | None:
    before, _ = ledger.upgrade or ("", "")
    policy = snapshot.cluster.spec.upgrade.rollback
    if snapshot.cluster.spec.version == before:
        return "spec.version asks for it"
    if policy is not Rollback.OFF and requested_rollback(snapshot) == before:
        return "an annotation asks for it"
    return failure(snapshot, ledger) if policy is Rollback.AUTOMATIC else None


def _turning(snapshot: ClusterSnapshot, before: str, target: str, cause: str) -> Result:
    ledger_changes = [LedgerChange(ROLLBACK_TO, before)]
    if snapshot.cluster.spec.version == target:
        ledger_changes.append(LedgerChange(ABANDONED, (target, snapshot.cluster.generation)))
    return in_progress("TurningBack", f"back to {before}: {cause}", ledger_changes=tuple(ledger_changes))


def _another_target(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result:
    """A newer wish waits for an upgrade that goes well, and takes the place of one that does not.

    One that is refused changes nothing: who waited for another would hold the lock for ever.
    """
    before, target = ledger.upgrade or ("", "")
    wanted, has_crossed = snapshot.cluster.spec.version, bool(upgraded_nodes(snapshot, ledger, before))
    if version_refusal(before, wanted, snapshot.release) is not None:
        return done(f"{target} goes on, for {wanted} is refused")
    if has_crossed and not _is_failing(snapshot, ledger, target):
        return wait("Later", f"{wanted} has to wait until {target} is reached", deadline=NO_DEADLINE)
    if not has_crossed or version_refusal(target, wanted, snapshot.release) is None:
        message = f"{wanted} takes the place of {target}"
        return in_progress("Retargeting", message, ledger_changes=(LedgerChange(UPGRADE, (before, wanted)),))
    objections = rollback_blockers(snapshot, ledger, before)
    if objections:
        return wait(ROLLBACK_BLOCKED, f"cannot go to {wanted}: {objections[0]}", deadline=NO_DEADLINE)
    return _turning(snapshot, before, target, f"{wanted} cannot be reached from {target}")


def _is_failing(snapshot: ClusterSnapshot, ledger: UpgradeLedger, target: str) -> bool:
    broken = (pod for pod in snapshot.pods if pod.engine_version == target and not pod.is_ready)
    return failure(snapshot, ledger) is not None or any(pod.problem in FATAL_POD_PROBLEMS for pod in broken)
