"""What OLM v1 installs for a ClusterExtension, over all the catalogs that serve.

Mirrors CatalogResolver.Resolve of operator-controller v1.2.0 (internal/operator-controller/resolve), with
its words. `olm_v1` answers for all entries of one channel at once what this answers for one of them.
"""

from __future__ import annotations

__all__ = ["Extension", "Source", "defect", "resolve"]

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from everpath.model import Bundle
from everpath.ranges.masterminds import Constraint, ConstraintError
from everpath.resolvers.resolution import Decision, Failure, FailureKind, Installed, Remark, Reporter, Verdict
from everpath.resolvers.catalog_candidates import Offer, Source, Wish, best_offer
from everpath.resolvers.olm_v1 import requirement
from everpath.resolvers.go_quote import quoted
from everpath.versions import parse_or_none


class Extension(NamedTuple):
    """A ClusterExtension: `spec.source.catalog`, and what is installed of it.

    `self_certified` is upgradeConstraintPolicy SelfCertified: versions may then change without any edge.
    """

    package: str
    channels: tuple[str, ...] = ()
    version_range: str = ""
    self_certified: bool = False
    installed: Installed | None = None


def resolve(sources: Sequence[Source], extension: Extension, hear: Reporter | None = None) -> Decision:
    """What operator-controller does next. `sources` are the catalogs that its selector lets it see.

    A decision without a failure whose `next` is None stays: what is installed was chosen again, out of
    `catalog`. Only which catalog's deprecations are shown depends on the order of the sources.
    Cost: in every catalog the edges by name from what is installed; for a fresh install, or where `hear` is
    told of everybody, the bundles of the package.
    """
    try:
        constraint = Constraint.parse(extension.version_range) if extension.version_range else None
    except ConstraintError as error:
        return _failed(FailureKind.UNREADABLE_RANGE, (), _unreadable(error))
    wish = Wish(extension.channels, constraint, None if extension.self_certified else extension.installed)
    offers = list[Offer]()
    for source in sources:
        found = best_offer(source, wish, hear)
        if isinstance(found, Failure):
            return Decision(None, found)
        if found is not None:
            offers.append(found)
    listener = hear or _unheard
    return _chosen(_preferred(offers, listener), extension, listener)


def _unheard(remark: Remark) -> None:
    """For whoever wants the decision alone."""


def _unreadable(error: ConstraintError) -> str:
    return f"desired version range {quoted(error.text)} is invalid: {error.upstream_message}"


def _preferred(offers: Sequence[Offer], hear: Reporter) -> Sequence[Offer]:
    """A deprecated offer does not count beside one that is not, whatever the catalogs' priorities."""
    living = [offer for offer in offers if not offer.is_deprecated]
    for offer in offers if living else ():
        if offer.is_deprecated:
            reason = f"is deprecated, and catalog {living[0].source.name} has one that is not"
            hear(_remark(offer, Verdict.PASSED_OVER, reason))
    return living or offers


def _chosen(offers: Sequence[Offer], extension: Extension, hear: Reporter) -> Decision:
    """The offer of the highest priority, if no two have that, and nothing in the bundle forbids it."""
    ranked = sorted(offers, key=lambda offer: -offer.source.priority)
    if not ranked:
        return _failed(FailureKind.NO_BUNDLES, (), _complaint(extension))
    if len(ranked) > 1 and ranked[0].source.priority == ranked[1].source.priority:
        return _undecided(ranked, extension, hear)
    best = ranked[0]
    for offer in ranked[1:]:
        hear(_remark(offer, Verdict.PASSED_OVER, f"catalog {best.source.name} has a higher priority"))
    if (failure := defect(best.bundle)) is not None:
        hear(_remark(best, Verdict.REFUSED, failure.words))
        return Decision(None, failure)
    stays = _is_installed(best, extension.installed)
    hear(_remark(best, Verdict.TAKEN, "is installed, and stays" if stays else "ranks first"))
    return Decision(None if stays else best.bundle.name, None, best.source.name, _deprecator(offers[-1]))


def _deprecator(last: Offer) -> str | None:
    """Whose deprecations are shown. operator-controller keeps those of the last offer that it met."""
    package = last.source.package
    return last.source.name if package is not None and package.package.deprecations else None


def _undecided(ranked: Sequence[Offer], extension: Extension, hear: Reporter) -> Decision:
    """Every catalog with an offer is named in the failure, also one of a lower priority."""
    names = tuple(sorted(offer.source.name for offer in ranked))
    for offer in ranked:
        hear(_remark(offer, Verdict.REFUSED, "several catalogs with the highest priority have an offer"))
    return _failed(FailureKind.SEVERAL_CATALOGS, names, _complaint(extension, names))


def _is_installed(offer: Offer, installed: Installed | None) -> bool:
    """The name alone does not say so: a catalog may give another version to a name that is installed."""
    return (
        installed is not None
        and offer.bundle.name == installed.name
        and str(offer.version) == str(installed.version)
    )


def defect(bundle: Bundle) -> Failure | None:
    """What is looked at in the one bundle that is chosen, and stops operator-controller. O(properties)."""
    name = bundle.name
    if parse_or_none(bundle.version) is None:
        words = f"error getting resolved bundle version for bundle {quoted(name)}"
        return Failure(FailureKind.UNREADABLE_VERSION, (name,), words)
    kind = requirement(bundle)
    if kind is None:
        return None
    words = (
        f"validating bundle {quoted(name)}: bundle {quoted(name)} has a dependency declared via property "
        f"{quoted(kind)} which is currently not supported"
    )
    return Failure(FailureKind.HAS_DEPENDENCIES, (name,), words)


def _complaint(extension: Extension, catalogs: Sequence[str] = ()) -> str:
    """The words, but for a version that everpath could not read and so cannot repeat."""
    parts = []
    if extension.installed is not None:
        if extension.installed.version is None:
            return ""
        version = quoted(str(extension.installed.version))
        parts.append(f"error upgrading from currently installed version {version}:")
    parts.append(
        f"{'found bundles' if catalogs else 'no bundles found'} for package {quoted(extension.package)}"
    )
    if extension.version_range:
        parts.append(f"matching version {quoted(extension.version_range)}")
    if extension.channels:
        parts.append(f"in channels {_listed(extension.channels)}")
    if catalogs:
        parts.append(f"in multiple catalogs with the same priority {_listed(catalogs)}")
    return " ".join(parts)


def _failed(kind: FailureKind, names: tuple[str, ...], words: str) -> Decision:
    return Decision(None, Failure(kind, names, words))


def _remark(offer: Offer, verdict: Verdict, reason: str) -> Remark:
    return Remark(offer.bundle.name, verdict, reason, offer.edge, offer.source.name)


def _listed(names: Iterable[str]) -> str:
    """As Go prints a list."""
    return f"[{' '.join(names)}]"
