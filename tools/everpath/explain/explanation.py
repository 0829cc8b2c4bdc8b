"""The whole answer: for each resolver a story, and what only the cluster can tell."""

from __future__ import annotations

__all__ = ["Explanation", "Story", "explain"]

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from everpath.explain.candidates import Look, looks
from everpath.explain.cluster_checks import Check, unseen
from everpath.explain.fixes import Remedy, remedies
from everpath.explain.location import elsewhere, near_misses, refusal, refused, whereabouts
from everpath.explain.trace import Account, Question, accounts
from everpath.explain.warnings import cautions
from everpath.model import Catalog, OpmError
from everpath.resolvers import ResolverName
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.resolvers.resolution import FailureKind, ResolutionFailure

#: Stops of a walk that are told; the account has them all.
_MOST_STOPS: Final = 8

#: Refusals of opm that are told; it stops at the first itself.
_MOST_REFUSALS: Final = 3


class Story(NamedTuple):
    """An account in sentences: the verdict, who asks, what was looked at, the road, and what to do."""

    account: Account
    verdict: str
    asker: str
    looked: tuple[Look, ...]
    road: str
    hints: tuple[str, ...]
    remedies: tuple[Remedy, ...]
    elsewhere: tuple[str, ...]
    cautions: tuple[str, ...]


class Explanation(NamedTuple):
    """What is installed and where it stands, a story for each resolver, and checks for the cluster.

    `refused`: what opm refuses of the package, each with the catalog that has it.
    """

    question: Question
    whereabouts: tuple[str, ...]
    stories: tuple[Story, ...]
    checks: tuple[Check, ...]
    refused: tuple[tuple[str, OpmError], ...] = ()

    @property
    def is_content(self) -> bool:
        """Whether everybody who is asked about arrives at the head."""
        return all(story.account.is_content for story in self.stories)


def explain(
    sources: Sequence[ClusterCatalog], question: Question, catalogs: Mapping[str, Catalog] | None = None
) -> Explanation:
    """Why OLM does what it does with one installed version.

    `catalogs` are those of the sources, by name; without them no rule is asked what to mend.
    Cost: the walks of the channel, and the rules for one package where a walk ends too early.
    """
    stories = tuple(
        _story(account, sources, question, catalogs or {}) for account in accounts(sources, question)
    )
    checks: dict[Check, None] = {}
    for story in stories:
        account = story.account
        checks |= dict.fromkeys(unseen(account.policy, is_explained=account.decision.next is None))
    found = tuple(refused(sources))
    told = (refusal(catalog if len(sources) > 1 else None, each) for catalog, each in found[:_MOST_REFUSALS])
    return Explanation(question, (*whereabouts(sources, question), *told), stories, tuple(checks), found)


def _story(
    account: Account, sources: Sequence[ClusterCatalog], question: Question, catalogs: Mapping[str, Catalog]
) -> Story:
    return Story(
        account=account,
        verdict=_verdict(account),
        asker=_asker(account, question),
        looked=looks(account),
        road=_road(account),
        hints=tuple(near_misses(account)),
        remedies=tuple(remedies(account, question, catalogs)),
        elsewhere=tuple(elsewhere(account, sources)),
        cautions=tuple(cautions(account, sources)),
    )


def _verdict(account: Account) -> str:
    """What happens, in a line."""
    olm, decision = f"OLM {account.policy}", account.decision
    here = (account.installed.name or '""') if account.installed is not None else None
    if decision.failure is not None:
        left = f"{here} stays" if here else "nothing is installed"
        return f"{olm} {_failing(account.policy, decision.failure)}, and {left}."
    if decision.next is not None:
        origin = f" from catalog {decision.catalog}" if account.catalog and decision.catalog else ""
        return (
            f"{olm} moves {here} to {decision.next}{origin}."
            if here
            else f"{olm} installs {decision.next}{origin}."
        )
    if account.is_content:
        return f"{olm} keeps {here}, which is the head: there is nothing newer."
    return f"{olm} keeps {here}, and will not move it."


def _failing(policy: ResolverName, failure: ResolutionFailure) -> str:
    """Every failure of OLM v0 is one of the whole namespace; a crash is one of the whole cluster."""
    if failure.kind is FailureKind.PANIC:
        return "crashes"
    return "fails for the whole namespace" if policy == "v0" else "fails"


def _asker(account: Account, question: Question) -> str:
    if account.policy == "v0":
        catalog = f" of catalog {account.catalog}" if account.catalog else ""
        starting = f" with startingCSV: {question.starting}" if question.starting else ""
        return f"a Subscription to channel {question.channel}{catalog}{starting}"
    terms = [f"channels: [{', '.join(account.channels)}]"] if account.channels else []
    terms += [f"version: '{question.terms.version_range}'"] if question.terms.version_range else []
    terms += ["upgradeConstraintPolicy: SelfCertified"] if question.terms.self_certified else []
    return f"a ClusterExtension{' with ' if terms else ''}{', '.join(terms)}"


def _road(account: Account) -> str:
    """Where the walk ends, in simulate's words."""
    start = [account.installed.name] if account.installed is not None else []
    stops = " → ".join(_ends([*start, *account.path]))
    if account.path:
        return f"{stops}: {account.reason}."
    if account.decision.failure is not None and account.decision.failure.message:
        return f"none, while OLM {account.policy} fails."
    return f"{stops} {account.reason}." if account.is_content else f"{account.reason}."


def _ends(stops: list[str]) -> list[str]:
    """A long walk by its first stops and its last."""
    if len(stops) <= _MOST_STOPS:
        return stops
    return [*stops[: _MOST_STOPS - 2], f"… {len(stops) - _MOST_STOPS + 1} more …", stops[-1]]
