"""Upgrades that fail: how that is known, and which way they turn."""

from __future__ import annotations

__all__ = [
    "NO_WAY_BACK",
    "ORDER",
    "course",
    "failure",
    "how_to_go_on",
    "how_to_turn_back",
    "order_in",
    "was_given_up",
    "without_order",
]

from typing import Final

from searchkeeper.kernel import NOBODYS, Answer, Note, done, waited, waiting, working
from searchkeeper.observed import Observed
from searchkeeper.resources.specs import Rollback
from searchkeeper.upgrade.gates import FATAL, FOR_EVER
from searchkeeper.upgrade.journal import GIVEN_UP, RETURN, UNDER_WAY, Journal
from searchkeeper.upgrade.returning import crossed, obstacles
from searchkeeper.versions import refusal
from searchkeeper.writes import Patch

# The annotation by which a person orders the way back: its value is the version to go back to.
ORDER: Final = "search.everpath.dev/rollback"
# What the roll waits for when the way that it is on has closed.
NO_WAY_BACK: Final = "NoWayBack"
# The actions that wait for nodes, and nothing else.
_WAITERS: Final = ("PodsAreCurrent", "PoolsAreSettled", "EngineIsHealthy", "UpgradeIsFinished")


def failure(seen: Observed, journal: Journal) -> str | None:
    """Why the roll counts as failed: somebody was waited for longer than the policy allows.

    While it is paused nobody is waited for. Whoever has just begun to look waits for as long itself: the
    moments in the ledger may be those of another clock.
    """
    policy = seen.cluster.spec.upgrade
    for name in () if policy.paused or _is_new_here(seen) else _WAITERS:
        found = waited(journal.ledger, name, seen.now)
        # Our own faults, and what others refuse us, are no version's: another one would not mend them.
        if found is not None and found[0] not in NOBODYS and found[1] >= policy.health_deadline:
            return f"{name} has been waiting for {policy.health_deadline} seconds ({found[0]})"
    return None


def _is_new_here(seen: Observed) -> bool:
    return seen.now - seen.looking_since < seen.cluster.spec.upgrade.health_deadline


def order_in(seen: Observed) -> str | None:
    """The version that a person wants to go back to."""
    return dict(seen.cluster.annotations).get(ORDER)


def how_to_turn_back(seen: Observed, journal: Journal, before: str) -> str | None:
    """What a person can do about a failed upgrade that does not turn back by itself."""
    if seen.cluster.spec.upgrade.rollback is not Rollback.MANUAL or failure(seen, journal) is None:
        return None
    return f"to go back, annotate the SearchCluster with {ORDER}={before}"


def how_to_go_on(seen: Observed, journal: Journal) -> str:
    """What a person can do about a way back that has closed while it was gone."""
    before, target = journal.under_way or ("", "")
    wish = f"set spec.version to {target}" if seen.cluster.spec.version == before else "change the spec"
    return f"to go on, {wish}"


def without_order(seen: Observed) -> Patch:
    """The annotation counts for one upgrade: the next one is not to turn back because of it."""
    cluster = seen.cluster
    return Patch(cluster.key, {"metadata": {"annotations": {ORDER: None}}}, cluster.resource_version)


def was_given_up(seen: Observed, journal: Journal) -> bool:
    """The version that the spec wants has failed, and nobody has changed the spec since."""
    return journal.given_up == (seen.cluster.spec.version, seen.cluster.generation)


def course(seen: Observed, journal: Journal) -> Answer:
    """Where an upgrade under way goes: on, to another version, or back. A way back is gone to its end.

    Where there is none the upgrade goes on: half of one would hold the lock for ever. Where it has closed
    halfway, it goes on when somebody wants it to.
    """
    assert journal.under_way is not None
    before, target = journal.under_way
    if journal.returns_to is not None:
        return _on_again(seen, journal) or done(f"on the way back to {before}")
    cause = _reason_to_turn(seen, journal)
    if cause is None:
        return done() if seen.cluster.spec.version == target else _another_target(seen, journal)
    if obstacles(seen, journal, before):
        if seen.cluster.spec.version not in (before, target):
            return _another_target(seen, journal)
        return done(f"{target} goes on, for there is no way back", reason=NO_WAY_BACK)
    return _turning(seen, before, target, cause)


def _on_again(seen: Observed, journal: Journal) -> Answer | None:
    """From a dead end: the roll has found that the way back is closed, and the spec asks for another one."""
    before, target = journal.under_way or ("", "")
    wanted = seen.cluster.spec.version
    is_wanted = wanted != before and refusal(before, wanted, seen.release) is None
    found = waited(journal.ledger, "PodsAreCurrent", seen.now)
    is_dead_end = found is not None and found[0] == NO_WAY_BACK and bool(obstacles(seen, journal, before))
    if not (is_dead_end and is_wanted) or was_given_up(seen, journal):
        return None
    if order_in(seen) is not None:
        return working("ForgettingOrder", "it cannot be carried out", without_order(seen))
    notes = (Note(RETURN, None), Note(GIVEN_UP, None))
    return working("GoingOn", f"on to {target}: there is no way back to {before}", notes=notes)


def _reason_to_turn(seen: Observed, journal: Journal) -> str | None:
    before, _ = journal.under_way or ("", "")
    policy = seen.cluster.spec.upgrade.rollback
    if seen.cluster.spec.version == before:
        return "spec.version asks for it"
    if policy is not Rollback.OFF and order_in(seen) == before:
        return "an annotation asks for it"
    return failure(seen, journal) if policy is Rollback.AUTOMATIC else None


def _turning(seen: Observed, before: str, target: str, cause: str) -> Answer:
    notes = [Note(RETURN, before)]
    if seen.cluster.spec.version == target:
        notes.append(Note(GIVEN_UP, (target, seen.cluster.generation)))
    return working("TurningBack", f"back to {before}: {cause}", notes=tuple(notes))


def _another_target(seen: Observed, journal: Journal) -> Answer:
    """A newer wish waits for an upgrade that goes well, and takes the place of one that does not.

    One that is refused changes nothing: who waited for another would hold the lock for ever.
    """
    before, target = journal.under_way or ("", "")
    wanted, has_crossed = seen.cluster.spec.version, bool(crossed(seen, journal, before))
    if refusal(before, wanted, seen.release) is not None:
        return done(f"{target} goes on, for {wanted} is refused")
    if has_crossed and not _is_failing(seen, journal, target):
        return waiting("Later", f"{wanted} has to wait until {target} is reached", patience=FOR_EVER)
    if not has_crossed or refusal(target, wanted, seen.release) is None:
        message = f"{wanted} takes the place of {target}"
        return working("Retargeting", message, notes=(Note(UNDER_WAY, (before, wanted)),))
    objections = obstacles(seen, journal, before)
    if objections:
        return waiting(NO_WAY_BACK, f"cannot go to {wanted}: {objections[0]}", patience=FOR_EVER)
    return _turning(seen, before, target, f"{wanted} cannot be reached from {target}")


def _is_failing(seen: Observed, journal: Journal, target: str) -> bool:
    broken = (pod for pod in seen.pods if pod.engine_version == target and not pod.is_ready)
    return failure(seen, journal) is not None or any(pod.problem in FATAL for pod in broken)
