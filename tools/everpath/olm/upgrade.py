"""Upgrade an operator hop by hop, with the approval of one InstallPlan after the other."""

from __future__ import annotations

__all__ = [
    "PendingHop",
    "Target",
    "hop_refusal",
    "pending_hop",
    "until_hop_offered",
    "until_running",
    "until_target_or_hop",
]

from collections.abc import Callable, Sequence
from typing import NamedTuple

from everpath.olm.follow import GRACE_PERIOD, UNPACK_TIMEOUT, Outcome, StableTimer, StopCondition
from everpath.olm.install_plan import planned_csvs, requires_approval
from everpath.olm.objects import Object, nested_str
from everpath.olm.snapshot import OperatorSnapshot
from everpath.olm.status import OperatorStatus
from everpath.olm.subscription import is_unpacking
from everpath.versions import parse_or_none, version_suffix


class PendingHop(NamedTuple):
    """An InstallPlan that requires approval. `installed` is empty for the first install.

    `dependencies` are the other CSVs that the InstallPlan installs.
    """

    plan: Object
    installed: str
    next_csv: str
    dependencies: tuple[str, ...]


class Target(NamedTuple):
    """Where an upgrade ends, as the user gave it: the name of a CSV or a version."""

    text: str

    def is_reached(self, csv: str, package: str) -> bool:
        version = self.text.removeprefix("v")
        return csv in (self.text, f"{package}.v{version}") or version_suffix(csv) == version


def pending_hop(snapshot: OperatorSnapshot) -> PendingHop | None:
    """Return the hop that requires approval, if there is one."""
    plan = snapshot.install_plan
    if plan is None or not requires_approval(plan):
        return None
    csvs = planned_csvs(plan)
    next_csv = snapshot.current_csv if snapshot.current_csv in csvs else next(iter(csvs), "")
    installed = snapshot.installed_csv if snapshot.installed_csv != next_csv else ""
    return PendingHop(plan, installed, next_csv, tuple(csv for csv in csvs if csv != next_csv))


def hop_refusal(hop: PendingHop, target: Target, package: str, path: Sequence[str]) -> str:
    """Return why a hop does not lead to the target; empty if it does.

    Decides by the predicted upgrade path if there is one, else by the versions in the names.
    """
    if target.is_reached(hop.next_csv, package):
        return ""
    if path:
        remaining = path[path.index(hop.next_csv) + 1 :] if hop.next_csv in path else ()
        if any(target.is_reached(csv, package) for csv in remaining):
            return ""
        return f"the upgrade path {' → '.join(path)} does not reach {target.text} after {hop.next_csv}"
    next_version = parse_or_none(version_suffix(hop.next_csv))
    target_version = parse_or_none(version_suffix(target.text))
    if next_version is None or target_version is None:
        return f"cannot compare {hop.next_csv} with {target.text}; --catalog PATH shows the upgrade path"
    return (
        "" if next_version < target_version else f"the next hop, to {hop.next_csv}, goes beyond {target.text}"
    )


def until_running(csv: str, now: Callable[[], float]) -> StopCondition:
    """Return the stop condition of a hop: the CSV is running.

    A stale resolution failure about the replaced CSV delays it for half of the grace period.
    """
    timer = StableTimer(now)

    def condition(_: OperatorSnapshot, status: OperatorStatus) -> Outcome | None:
        if status.running_csv != csv:
            return None
        is_done = not status.is_stale or timer.has_lasted(GRACE_PERIOD / 2, is_stable=True)
        return Outcome.DONE if is_done else None

    return condition


def until_hop_offered(delay: float, now: Callable[[], float]) -> StopCondition:
    """Return a stop condition: a hop requires approval, or OLM has offered none for `delay` seconds."""
    timer = StableTimer(now)

    def condition(snapshot: OperatorSnapshot, status: OperatorStatus) -> Outcome | None:
        if status.pending_plan:
            return Outcome.APPROVAL
        seconds = UNPACK_TIMEOUT if is_unpacking(snapshot) else delay
        is_idle = _is_at_latest(snapshot, status) and not status.is_blocked
        return Outcome.DONE if timer.has_lasted(seconds, is_idle) else None

    return condition


def until_target_or_hop(target: Target, package: str, now: Callable[[], float]) -> StopCondition:
    """Return a stop condition: the target is running, a hop requires approval, or OLM offers none."""
    timer = StableTimer(now)

    def condition(snapshot: OperatorSnapshot, status: OperatorStatus) -> Outcome | None:
        if target.is_reached(status.running_csv, package):
            return Outcome.DONE
        if status.pending_plan:
            return Outcome.APPROVAL
        seconds = UNPACK_TIMEOUT if is_unpacking(snapshot) else GRACE_PERIOD
        return Outcome.DONE if timer.has_lasted(seconds, _is_at_latest(snapshot, status)) else None

    return condition


def _is_at_latest(snapshot: OperatorSnapshot, status: OperatorStatus) -> bool:
    return status.is_settled and nested_str(snapshot.subscription, "status", "state") == "AtLatestKnown"
