"""What the catalog says of a move that may still hold it up, or that its users should know."""

from __future__ import annotations

__all__ = ["cautions"]

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from everpath.explain.trace import Account
from everpath.model import Bundle, Package
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.resolvers.resolution import CandidateResult

_REQUIREMENTS: Final = ("olm.package.required", "olm.gvk.required", "olm.constraint")


def cautions(account: Account, sources: Sequence[ClusterCatalog]) -> Iterator[str]:
    """Sentences about the bundle that is taken, and about deprecations of what is left and followed."""
    package = _package(account, sources)
    if package is None:
        return
    if account.decision.next is not None and (bundle := package.by_name.get(account.decision.next)):
        yield from _requirements(account, bundle)
        yield from _limits(bundle)
    yield from _deprecations(account, package)


def _package(account: Account, sources: Sequence[ClusterCatalog]) -> Package | None:
    """The package in the catalog that is followed, or that a bundle is taken from; else in the first."""
    taken = next((s for s in sources if s.name == account.decision.catalog), None)
    source = account.source or taken or next((s for s in sources if s.package is not None), None)
    return source.package.package if source is not None and source.package is not None else None


def _requirements(account: Account, bundle: Bundle) -> Iterator[str]:
    """OLM v1 refuses a bundle with requirements; v0 looks for who meets them, which only a cluster shows."""
    wanted = [text for p in bundle.properties if (text := _requirement(p.type, p.value)) is not None]
    if not wanted or account.policy != "v0":
        return
    instead = next((r.entry for r in account.remarks if r.result is CandidateResult.PASSED_OVER), None)
    otherwise = f"takes {instead}" if instead else "stays" if account.installed else "fails"
    yield (
        f"{bundle.name} requires {', '.join(wanted)}. If nothing on the cluster or in its catalogs meets "
        f"that, OLM v0 {otherwise} instead, without a word."
    )


def _requirement(kind: str, value: object) -> str | None:
    if kind not in _REQUIREMENTS:
        return None
    stated = value if isinstance(value, Mapping) else {}
    if kind == "olm.package.required":
        return f"package {stated.get('packageName')} in '{stated.get('versionRange')}'"
    if kind == "olm.gvk.required":
        return f"the API {stated.get('group')}/{stated.get('version')} {stated.get('kind')}"
    return "what its olm.constraint says"


def _limits(bundle: Bundle) -> Iterator[str]:
    for stated in bundle.properties_of("olm.csv.metadata"):
        lowest = stated.value.get("minKubeVersion") if isinstance(stated.value, Mapping) else None
        if lowest:
            yield (
                f"{bundle.name} wants Kubernetes {lowest} or later: on an older cluster it is chosen all the "
                "same, and its CSV stays Pending with RequirementsNotMet."
            )
    for stated in bundle.properties_of("olm.maxOpenShiftVersion"):
        yield f"{bundle.name} holds the cluster itself back at OpenShift {stated.value}."


def _deprecations(account: Account, package: Package) -> Iterator[str]:
    """OLM v0 resolves as if there were none; v1 takes deprecated bundles last."""
    stated = [(package.deprecations_by_name("olm.package").get(""), f"package {package.name}")]
    stated += [(package.deprecations_by_name("olm.channel").get(c), f"channel {c}") for c in account.channels]
    for name in dict.fromkeys((account.installed.name if account.installed else None, account.decision.next)):
        stated.append((package.deprecations_by_name("olm.bundle").get(name or ""), str(name)))
    for entry, subject in stated:
        if entry is not None:
            yield f"The catalog deprecates {subject}: {entry.message.strip() or 'without a message'}"
