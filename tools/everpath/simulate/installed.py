"""Installed versions that users name: by CSV name or by version, in a catalog or not."""

from __future__ import annotations

__all__ = ["InstalledVersion", "find_installed"]

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from everpath.graph import PackageGraph
from everpath.resolvers import ResolverName
from everpath.resolvers.catalog_candidates import served_package
from everpath.resolvers.resolution import InstalledBundle
from everpath.versions import parse_or_none, parse_tolerant_or_none, version_suffix


class InstalledVersion(NamedTuple):
    """An installed bundle with the text of its version. `is_known`: a catalog has this name."""

    name: str
    version: str | None
    is_known: bool = True

    def as_bundle(self, resolver: ResolverName) -> InstalledBundle:
        """Parse the version as a resolver does: OLM v0 tolerantly, v1 strictly."""
        parse = parse_or_none if resolver == "v1" else parse_tolerant_or_none
        return InstalledBundle(self.name, parse(self.version))


def find_installed(
    packages: Sequence[PackageGraph], text: str, *, guess: bool = True
) -> tuple[InstalledVersion, ...]:
    """Return the entries and bundles of one package, in several catalogs, that a name or a version means.

    If there is none and `guess` is set, return a version that is in no catalog. The version of a name is then
    its suffix; the name of a version is that of an edge, or follows the other names of the package.
    """
    known: dict[str, str | None] = {}
    for package in reversed(packages):
        for graph in package.channels:
            known.update(dict.fromkeys(graph.entries))
        known.update({name: b.version for name, b in served_package(package).package.by_name.items()})
    if text in known:
        return (InstalledVersion(text, known[text]),)
    version = parse_tolerant_or_none(text)
    if version is None:
        return (InstalledVersion(text, _version_in_name(text), is_known=False),) if guess else ()
    same = [
        InstalledVersion(name, stated)
        for name, stated in known.items()
        if parse_tolerant_or_none(stated) == version
    ]
    exact = [installed for installed in same if installed.version == str(version)]
    if exact or same or not guess:
        return tuple(exact or same)
    name = _guess_name(packages, known, str(version))
    return (InstalledVersion(name, str(version), is_known=False),)


def _version_in_name(name: str) -> str | None:
    """Return the version at the end of a name such as `etcd.v0.9.4`, if OLM v0 can parse it."""
    suffix = version_suffix(name)
    return suffix if parse_tolerant_or_none(suffix) is not None else None


def _guess_name(packages: Iterable[PackageGraph], known: dict[str, str | None], version: str) -> str:
    referenced = (
        name for p in packages for g in p.channels for edges in (g.replacers, g.skippers) for name in edges
    )
    for name in referenced:
        if name not in known and _version_in_name(name) == version:
            return name
    for name, stated in known.items():
        if stated and name.endswith(stated):
            return name.removesuffix(stated) + version
    return version
