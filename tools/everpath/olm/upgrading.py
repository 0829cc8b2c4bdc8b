"""Moving an installed operator on: one approved InstallPlan after another."""

from __future__ import annotations

__all__ = [
    "Step",
    "Target",
    "next_step",
    "offer_judge",
    "passes",
    "pursuit_judge",
    "stage_judge",
    "stated_version",
]

from collections.abc import Callable, Sequence
from typing import NamedTuple

from everpath.olm.asking import planned, unapproved, unpacks
from everpath.olm.chain import Chain
from everpath.olm.following import PATIENCE, UNPACKING, Outcome, Rest
from everpath.olm.objects import Object, text
from everpath.olm.observation import Observed
from everpath.versions import parse_or_none


class Step(NamedTuple):
    """An InstallPlan that waits for a yes: where it leads to, and what else it installs."""

    plan: Object
    source: str
    target: str
    others: tuple[str, ...]


class Target(NamedTuple):
    """Where to stop, as it was typed: the name of a CSV, or its version."""

    text: str

    def is_met(self, csv: str, package: str) -> bool:
        version = self.text.removeprefix("v")
        return csv in (self.text, f"{package}.v{version}") or stated_version(csv) == version


def next_step(observed: Observed) -> Step | None:
    """The plan that the Subscription waits with, if it does."""
    plan = observed.plan
    if plan is None or not unapproved(plan):
        return None
    names = planned(plan)
    target = observed.current if observed.current in names else next(iter(names), "")
    installed = observed.installed if observed.installed != target else ""
    return Step(plan, installed, target, tuple(name for name in names if name != target))


def stated_version(csv: str) -> str:
    """The version in a CSV's name, by the custom `PACKAGE.vVERSION`; empty if it does not keep to it."""
    _, found, version = csv.partition(".v")
    return version if found and parse_or_none(version) is not None else ""


def passes(step: Step, target: Target, package: str, road: Sequence[str]) -> str:
    """Why a step is not to be taken to get to the target; empty if it is.

    By the road ahead if a catalog told it, else by the versions that names state.
    """
    if target.is_met(step.target, package):
        return ""
    if road:
        ahead = road[road.index(step.target) + 1 :] if step.target in road else ()
        if any(target.is_met(name, package) for name in ahead):
            return ""
        return f"the road leads {' → '.join(road)}, and not over {target.text} after {step.target}"
    here = parse_or_none(stated_version(step.target))
    there = parse_or_none(stated_version(target.text) or target.text.removeprefix("v"))
    if here is None or there is None:
        return f"nobody can tell whether {step.target} comes before {target.text}; --catalog PATH tells"
    return "" if here < there else f"the next step, to {step.target}, goes past {target.text}"


def stage_judge(goal: str, now: Callable[[], float]) -> Callable[[Observed, Chain], Outcome | None]:
    """Done when the goal runs, and OLM does not hold to an answer about the one before it.

    It is left so after a while: the goal runs all the same.
    """
    rest = Rest(now)

    def judge(_: Observed, seen: Chain) -> Outcome | None:
        if seen.running != goal:
            return None
        return Outcome.DONE if not seen.is_stale or rest.lasts(PATIENCE / 2, is_at_rest=True) else None

    return judge


def offer_judge(moment: float, now: Callable[[], float]) -> Callable[[Observed, Chain], Outcome | None]:
    """Ends with the plan that waits for approval, or is done when OLM had a moment and offers none."""
    rest = Rest(now)

    def judge(observed: Observed, seen: Chain) -> Outcome | None:
        if seen.pending:
            return Outcome.APPROVAL
        wanted = UNPACKING if unpacks(observed) else moment
        return Outcome.DONE if rest.lasts(wanted, _is_at_rest(observed, seen)) else None

    return judge


def pursuit_judge(
    target: Target, package: str, now: Callable[[], float]
) -> Callable[[Observed, Chain], Outcome | None]:
    """Done when the target runs, or when OLM was given time and offers no further step."""
    rest = Rest(now)

    def judge(observed: Observed, seen: Chain) -> Outcome | None:
        if target.is_met(seen.running, package):
            return Outcome.DONE
        if seen.pending:
            return Outcome.APPROVAL
        is_settled = seen.is_settled and _is_known(observed)
        wanted = UNPACKING if unpacks(observed) else PATIENCE
        return Outcome.DONE if rest.lasts(wanted, is_settled) else None

    return judge


def _is_at_rest(observed: Observed, seen: Chain) -> bool:
    """An operator runs, and nothing says that OLM is about to move it, or cannot."""
    return seen.is_settled and _is_known(observed) and not seen.is_stuck


def _is_known(observed: Observed) -> bool:
    return text(observed.subscription, "status", "state") == "AtLatestKnown"
