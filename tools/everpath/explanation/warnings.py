"""Properties of the next bundle that may block the upgrade, and deprecations."""

from __future__ import annotations

__all__ = ["warnings"]

from collections.abc import Iterator, Mapping, Sequence

from everpath.explanation.trace import ResolverTrace
from everpath.model import DEPENDENCY_PROPERTIES, Bundle, Package
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.resolvers.resolution import CandidateResult


def warnings(trace: ResolverTrace, sources: Sequence[ClusterCatalog]) -> Iterator[str]:
    """Yield warnings about the next bundle, and deprecations of package, channels and bundles."""
    chosen = next((s for s in sources if s.name == trace.decision.catalog), None)
    source = trace.source or chosen or next((s for s in sources if s.package is not None), None)
    if source is None or source.package is None:
        return
    package = source.package.package
    if trace.decision.next is not None and (bundle := package.by_name.get(trace.decision.next)):
        yield from _requirements(trace, bundle)
        yield from _limits(bundle)
    yield from _deprecations(trace, package)


def _requirements(trace: ResolverTrace, bundle: Bundle) -> Iterator[str]:
    """Yield requirements for v0, which resolves them on the cluster. OLM v1 rejects such a bundle."""
    wanted = [text for p in bundle.properties if (text := _requirement(p.type, p.value)) is not None]
    if not wanted or trace.resolver != "v0":
        return
    instead = next((r.entry for r in trace.steps if r.result is CandidateResult.PASSED_OVER), None)
    otherwise = f"installs {instead}" if instead else "does not upgrade" if trace.installed else "fails"
    yield (
        f"{bundle.name} requires {', '.join(wanted)}. If nothing on the cluster or in its catalogs provides "
        f"that, OLM v0 {otherwise} and reports no error."
    )


def _requirement(kind: str, value: object) -> str | None:
    if kind not in DEPENDENCY_PROPERTIES:
        return None
    stated = value if isinstance(value, Mapping) else {}
    if kind == "olm.package.required":
        return f"package {stated.get('packageName')} in '{stated.get('versionRange')}'"
    if kind == "olm.gvk.required":
        return f"the API {stated.get('group')}/{stated.get('version')} {stated.get('kind')}"
    return "its olm.constraint"


def _limits(bundle: Bundle) -> Iterator[str]:
    for stated in bundle.properties_of("olm.csv.metadata"):
        lowest = stated.value.get("minKubeVersion") if isinstance(stated.value, Mapping) else None
        if lowest:
            yield (
                f"{bundle.name} requires Kubernetes {lowest} or later: on an older cluster it is chosen, "
                "too, and its CSV stays Pending with RequirementsNotMet."
            )
    for stated in bundle.properties_of("olm.maxOpenShiftVersion"):
        yield f"{bundle.name} blocks cluster upgrades beyond OpenShift {stated.value}."


def _deprecations(trace: ResolverTrace, package: Package) -> Iterator[str]:
    """Yield deprecations. OLM v0 ignores them; v1 prefers bundles that are not deprecated."""
    stated = [(package.deprecations_by_name("olm.package").get(""), f"package {package.name}")]
    stated += [(package.deprecations_by_name("olm.channel").get(c), f"channel {c}") for c in trace.channels]
    for name in dict.fromkeys((trace.installed.name if trace.installed else None, trace.decision.next)):
        stated.append((package.deprecations_by_name("olm.bundle").get(name or ""), str(name)))
    for entry, subject in stated:
        if entry is not None:
            yield f"The catalog deprecates {subject}: {entry.message.strip() or 'without a message'}"
