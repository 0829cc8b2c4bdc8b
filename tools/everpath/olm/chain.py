"""From catalog to running operator: where each link stands, and what the whole waits for."""

from __future__ import annotations

__all__ = ["Chain", "chain"]

from dataclasses import dataclass, replace

from everpath.olm.catalog_source import catalog_link, group_link
from everpath.olm.csv import condition_link, csv_link, deployment_links
from everpath.olm.objects import SUBSCRIPTION, name_of, text
from everpath.olm.snapshot import Observed
from everpath.olm.status import Link, State, Wait
from everpath.olm.subscription import plan_link, subscription_link, unapproved


@dataclass(frozen=True, slots=True)
class Chain:
    """`running` is the CSV that succeeded, `going_to` the one that OLM moves to; both may be empty.

    `pending` is the InstallPlan that waits for approval.
    """

    package: str
    namespace: str
    links: tuple[Link, ...]
    running: str = ""
    going_to: str = ""
    pending: str = ""

    @property
    def waits(self) -> tuple[Wait, ...]:
        """Nearest to the catalog first: what is behind usually waits for what is in front."""
        return tuple(wait for link in self.links for wait in link.waits)

    @property
    def is_settled(self) -> bool:
        """An operator runs, and OLM knows of nothing newer for it."""
        return bool(self.running) and not self.going_to

    @property
    def is_stuck(self) -> bool:
        """Only somebody who changes something gets it any further."""
        return any(wait.is_final for wait in self.waits)

    @property
    def is_stale(self) -> bool:
        """OLM holds to an answer that things have overtaken."""
        return any(wait.is_stale for wait in self.waits)

    @property
    def headline(self) -> str:
        if self.is_settled:
            return f"{self.running} runs"
        if self.running:
            return f"{self.running} runs, and is to become {self.going_to}"
        return f"{self.going_to} is on its way" if self.going_to else "nothing is installed"


def chain(observed: Observed) -> Chain:
    """Pure: the same objects, the same words."""
    links = [
        catalog_link(observed),
        group_link(observed),
        subscription_link(observed),
        plan_link(observed),
        csv_link(observed),
        *deployment_links(observed),
        condition_link(observed),
    ]
    running = _running(observed)
    plan = observed.plan
    found = Chain(
        observed.package,
        observed.namespace,
        tuple(link for link in links if link is not None),
        running,
        observed.current if observed.current != running else "",
        name_of(plan) if plan is not None and unapproved(plan) else "",
    )
    return found if found.is_settled or found.waits else _between(found)


def _between(found: Chain) -> Chain:
    """All that is there is fine, and something is not there yet: it is OLM's turn."""
    wait = Wait(f"OLM to bring in {found.going_to or 'what the Subscription asks for'}")
    links = (
        replace(link, state=State.WORKING, waits=(wait,)) if link.kind == SUBSCRIPTION.name else link
        for link in found.links
    )
    return replace(found, links=tuple(links))


def _running(observed: Observed) -> str:
    """The CSV that does the work: the newest if it succeeded, else the one that it is to replace."""
    newest = observed.newest
    if newest is None:
        return ""
    if text(newest, "status", "phase") == "Succeeded":
        return name_of(newest)
    old = text(newest, "spec", "replaces")
    phase = text(observed.csv(old), "status", "phase")
    return old if old and phase in ("Succeeded", "Replacing") else ""
