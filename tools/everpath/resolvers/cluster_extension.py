"""What OLM v1 installs for a ClusterExtension, over all the catalogs that serve.

Mirrors CatalogResolver.Resolve of operator-controller v1.2.0 (internal/operator-controller/resolve), with
its words. `olm_v1` answers for all entries of one channel at once what this answers for one of them.
"""

from __future__ import annotations

__all__ = ["ClusterCatalog", "ClusterExtension", "bundle_failure", "resolve"]

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from everpath.model import Bundle
from everpath.ranges.masterminds import Constraint, ConstraintError
from everpath.resolvers.catalog_candidates import Candidate, CandidateFilter, ClusterCatalog, best_candidate
from everpath.resolvers.go_quote import go_quote
from everpath.resolvers.olm_v1 import dependency_property
from everpath.resolvers.resolution import (
    CandidateResult,
    FailureKind,
    InstalledBundle,
    Resolution,
    ResolutionFailure,
    Tracer,
    TraceStep,
)
from everpath.versions import parse_or_none


class ClusterExtension(NamedTuple):
    """A ClusterExtension: `spec.source.catalog`, and what is installed of it.

    `self_certified` is upgradeConstraintPolicy SelfCertified: versions may then change without any edge.
    """

    package: str
    channels: tuple[str, ...] = ()
    version_range: str = ""
    self_certified: bool = False
    installed: InstalledBundle | None = None


def resolve(
    sources: Sequence[ClusterCatalog], extension: ClusterExtension, trace: Tracer | None = None
) -> Resolution:
    """What operator-controller does next. `sources` are the catalogs that its selector lets it see.

    A decision without a failure whose `next` is None stays: what is installed was chosen again, out of
    `catalog`. Only which catalog's deprecations are shown depends on the order of the sources.
    Cost: in every catalog the edges by name from what is installed; for a fresh install, or where `trace` is
    told of everybody, the bundles of the package.
    """
    try:
        constraint = Constraint.parse(extension.version_range) if extension.version_range else None
    except ConstraintError as error:
        return _failed(FailureKind.UNREADABLE_RANGE, (), _unreadable(error))
    wish = CandidateFilter(
        extension.channels, constraint, None if extension.self_certified else extension.installed
    )
    offers = list[Candidate]()
    for source in sources:
        found = best_candidate(source, wish, trace)
        if isinstance(found, ResolutionFailure):
            return Resolution(None, found)
        if found is not None:
            offers.append(found)
    listener = trace or _unheard
    return _chosen(_preferred(offers, listener), extension, listener)


def _unheard(remark: TraceStep) -> None:
    """For whoever wants the decision alone."""


def _unreadable(error: ConstraintError) -> str:
    return f"desired version range {go_quote(error.text)} is invalid: {error.upstream_message}"


def _preferred(offers: Sequence[Candidate], trace: Tracer) -> Sequence[Candidate]:
    """A deprecated offer does not count beside one that is not, whatever the catalogs' priorities."""
    living = [offer for offer in offers if not offer.is_deprecated]
    for offer in offers if living else ():
        if offer.is_deprecated:
            reason = f"is deprecated, and catalog {living[0].source.name} has one that is not"
            trace(_remark(offer, CandidateResult.PASSED_OVER, reason))
    return living or offers


def _chosen(offers: Sequence[Candidate], extension: ClusterExtension, trace: Tracer) -> Resolution:
    """The offer of the highest priority, if no two have that, and nothing in the bundle forbids it."""
    ranked = sorted(offers, key=lambda offer: -offer.source.priority)
    if not ranked:
        return _failed(FailureKind.NO_BUNDLES, (), _complaint(extension))
    if len(ranked) > 1 and ranked[0].source.priority == ranked[1].source.priority:
        return _undecided(ranked, extension, trace)
    best = ranked[0]
    for offer in ranked[1:]:
        trace(
            _remark(offer, CandidateResult.PASSED_OVER, f"catalog {best.source.name} has a higher priority")
        )
    if (failure := bundle_failure(best.bundle)) is not None:
        trace(_remark(best, CandidateResult.REFUSED, failure.message))
        return Resolution(None, failure)
    stays = _is_installed(best, extension.installed)
    trace(_remark(best, CandidateResult.TAKEN, "is installed, and stays" if stays else "ranks first"))
    return Resolution(None if stays else best.bundle.name, None, best.source.name, _deprecator(offers[-1]))


def _deprecator(last: Candidate) -> str | None:
    """Whose deprecations are shown. operator-controller keeps those of the last offer that it met."""
    package = last.source.package
    return last.source.name if package is not None and package.package.deprecations else None


def _undecided(ranked: Sequence[Candidate], extension: ClusterExtension, trace: Tracer) -> Resolution:
    """Every catalog with an offer is named in the failure, also one of a lower priority."""
    names = tuple(sorted(offer.source.name for offer in ranked))
    for offer in ranked:
        trace(
            _remark(
                offer, CandidateResult.REFUSED, "several catalogs with the highest priority have an offer"
            )
        )
    return _failed(FailureKind.SEVERAL_CATALOGS, names, _complaint(extension, names))


def _is_installed(offer: Candidate, installed: InstalledBundle | None) -> bool:
    """The name alone does not say so: a catalog may give another version to a name that is installed."""
    return (
        installed is not None
        and offer.bundle.name == installed.name
        and str(offer.version) == str(installed.version)
    )


def bundle_failure(bundle: Bundle) -> ResolutionFailure | None:
    """What is looked at in the one bundle that is chosen, and stops operator-controller. O(properties)."""
    name = bundle.name
    if parse_or_none(bundle.version) is None:
        words = f"error getting resolved bundle version for bundle {go_quote(name)}"
        return ResolutionFailure(FailureKind.UNREADABLE_VERSION, (name,), words)
    kind = dependency_property(bundle)
    if kind is None:
        return None
    words = (
        f"validating bundle {go_quote(name)}: bundle {go_quote(name)} has a dependency declared via property "
        f"{go_quote(kind)} which is currently not supported"
    )
    return ResolutionFailure(FailureKind.HAS_DEPENDENCIES, (name,), words)


def _complaint(extension: ClusterExtension, catalogs: Sequence[str] = ()) -> str:
    """The words, but for a version that everpath could not read and so cannot repeat."""
    parts = []
    if extension.installed is not None:
        if extension.installed.version is None:
            return ""
        version = go_quote(str(extension.installed.version))
        parts.append(f"error upgrading from currently installed version {version}:")
    parts.append(
        f"{'found bundles' if catalogs else 'no bundles found'} for package {go_quote(extension.package)}"
    )
    if extension.version_range:
        parts.append(f"matching version {go_quote(extension.version_range)}")
    if extension.channels:
        parts.append(f"in channels {_listed(extension.channels)}")
    if catalogs:
        parts.append(f"in multiple catalogs with the same priority {_listed(catalogs)}")
    return " ".join(parts)


def _failed(kind: FailureKind, names: tuple[str, ...], words: str) -> Resolution:
    return Resolution(None, ResolutionFailure(kind, names, words))


def _remark(offer: Candidate, verdict: CandidateResult, reason: str) -> TraceStep:
    return TraceStep(offer.bundle.name, verdict, reason, offer.edge, offer.source.name)


def _listed(names: Iterable[str]) -> str:
    """As Go prints a list."""
    return f"[{' '.join(names)}]"
