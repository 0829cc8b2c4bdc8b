"""OLM v1: what one ClusterExtension installs next, over all catalogs, with a trace of the candidates.

Mirrors CatalogResolver.Resolve of operator-controller v1.2.0 (internal/operator-controller/resolve), with its
messages. `olm_v1` computes the same for all entries of one channel at once.
"""

from __future__ import annotations

__all__ = ["ClusterCatalog", "ClusterExtension", "bundle_failure", "resolve"]

from collections.abc import Sequence
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
    ReasonForm,
    Resolution,
    ResolutionFailure,
    Tracer,
    TraceStep,
)
from everpath.versions import parse_or_none


class ClusterExtension(NamedTuple):
    """The fields of `spec.source.catalog` of a ClusterExtension, and what is installed.

    `self_certified`: upgradeConstraintPolicy is SelfCertified, so upgrades need no edge.
    """

    package: str
    channels: tuple[str, ...] = ()
    version_range: str = ""
    self_certified: bool = False
    installed: InstalledBundle | None = None


def resolve(
    catalogs: Sequence[ClusterCatalog], extension: ClusterExtension, trace: Tracer | None = None
) -> Resolution:
    """Return what operator-controller does next with the catalogs that its selector matches.

    A resolution without a failure whose `next` is None stays: what is installed was chosen again, from
    `catalog`. The order of the catalogs only decides whose deprecations are shown.
    Cost: in every catalog the edges by name from what is installed; for a new installation or with `trace`,
    the bundles of the package.
    """
    try:
        constraint = Constraint.parse(extension.version_range) if extension.version_range else None
    except ConstraintError as error:
        message = f"desired version range {go_quote(error.text)} is invalid: {error.upstream_message}"
        return Resolution(None, ResolutionFailure(FailureKind.UNREADABLE_RANGE, (), message))
    installed = None if extension.self_certified else extension.installed
    wanted = CandidateFilter(extension.channels, constraint, installed)
    candidates = list[Candidate]()
    for catalog in catalogs:
        found = best_candidate(catalog, wanted, trace)
        if isinstance(found, ResolutionFailure):
            return Resolution(None, found)
        if found is not None:
            candidates.append(found)
    return _choose(candidates, extension, trace or _ignore)


def _ignore(step: TraceStep) -> None:
    """Drop a step, if no tracer is given."""


def _choose(candidates: Sequence[Candidate], extension: ClusterExtension, trace: Tracer) -> Resolution:
    """Choose the candidate of the catalog with the highest priority, and check its bundle.

    Deprecated candidates only count if all are deprecated, whatever the priorities.
    """
    if supported := [candidate for candidate in candidates if not candidate.is_deprecated]:
        for candidate in candidates:
            if candidate.is_deprecated:
                reason = f"is deprecated, and catalog {supported[0].catalog.name} has one that is not"
                trace(_step(candidate, CandidateResult.PASSED_OVER, reason))
        candidates = supported
    ranked = sorted(candidates, key=lambda candidate: -candidate.catalog.priority)
    if not ranked:
        message = _no_choice_message(extension)
        return Resolution(None, ResolutionFailure(FailureKind.NO_BUNDLES, (), message))
    if len(ranked) > 1 and ranked[0].catalog.priority == ranked[1].catalog.priority:
        # The message names all catalogs with a candidate, also those with a lower priority.
        names = tuple(sorted(candidate.catalog.name for candidate in ranked))
        for candidate in ranked:
            reason = "several catalogs with the highest priority have a candidate"
            trace(_step(candidate, CandidateResult.REFUSED, reason, ReasonForm.CLAUSE))
        message = _no_choice_message(extension, names)
        return Resolution(None, ResolutionFailure(FailureKind.SEVERAL_CATALOGS, names, message))
    best = ranked[0]
    for candidate in ranked[1:]:
        reason = f"catalog {best.catalog.name} has a higher priority"
        trace(_step(candidate, CandidateResult.PASSED_OVER, reason, ReasonForm.CLAUSE))
    if (failure := bundle_failure(best.bundle)) is not None:
        trace(_step(best, CandidateResult.REFUSED, failure.message, ReasonForm.MESSAGE))
        return Resolution(None, failure)
    # Name and version: a catalog may state another version for the name that is installed.
    stays = extension.installed is not None and (best.bundle.name, str(best.version)) == (
        extension.installed.name,
        str(extension.installed.version),
    )
    trace(_step(best, CandidateResult.TAKEN, "is installed, and stays" if stays else "ranks first"))
    # operator-controller shows the deprecations of the last catalog whose candidate counts.
    last = candidates[-1].catalog
    has_deprecations = last.package is not None and bool(last.package.package.deprecations)
    next_hop = None if stays else best.bundle.name
    return Resolution(next_hop, None, best.catalog.name, last.name if has_deprecations else None)


def bundle_failure(bundle: Bundle) -> ResolutionFailure | None:
    """Return the failure of operator-controller on a bundle that it has chosen. O(properties)."""
    name = bundle.name
    if parse_or_none(bundle.version) is None:
        message = f"error getting resolved bundle version for bundle {go_quote(name)}"
        return ResolutionFailure(FailureKind.UNREADABLE_VERSION, (name,), message)
    if (kind := dependency_property(bundle)) is not None:
        message = (
            f"validating bundle {go_quote(name)}: bundle {go_quote(name)} has a dependency declared via "
            f"property {go_quote(kind)} which is currently not supported"
        )
        return ResolutionFailure(FailureKind.HAS_DEPENDENCIES, (name,), message)
    return None


def _no_choice_message(extension: ClusterExtension, catalogs: Sequence[str] = ()) -> str:
    """Return operator-controller's message; empty if it contains a version that everpath cannot parse."""
    parts = []
    if extension.installed is not None:
        if extension.installed.version is None:
            return ""
        version = go_quote(str(extension.installed.version))
        parts.append(f"error upgrading from currently installed version {version}:")
    found = "found bundles" if catalogs else "no bundles found"
    parts.append(f"{found} for package {go_quote(extension.package)}")
    if extension.version_range:
        parts.append(f"matching version {go_quote(extension.version_range)}")
    # Go prints a list as [a b].
    if extension.channels:
        parts.append(f"in channels [{' '.join(extension.channels)}]")
    if catalogs:
        parts.append(f"in multiple catalogs with the same priority [{' '.join(catalogs)}]")
    return " ".join(parts)


def _step(
    candidate: Candidate, result: CandidateResult, reason: str, form: ReasonForm = ReasonForm.PREDICATE
) -> TraceStep:
    return TraceStep(candidate.bundle.name, result, reason, candidate.edge, candidate.catalog.name, form)
