"""What somebody says is installed: a name or a version, which may be in a catalog or nowhere."""

from __future__ import annotations

__all__ = ["InstalledVersion", "find_installed"]

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from everpath.graph import PackageGraph
from everpath.resolvers import ResolverName
from everpath.resolvers.catalog_candidates import served_package
from everpath.resolvers.resolution import InstalledBundle
from everpath.versions import Version, VersionError, parse_or_none, parse_tolerant

_TAIL: Final = re.compile(r"(?:^|[.\-_]v?|v)(?P<version>\d+\.\d+(?:\.\d+)?(?:[-+.][0-9A-Za-z.+-]*)?)$")


class InstalledVersion(NamedTuple):
    """Something installed, its version as written. `is_known`: some catalog has that name."""

    name: str
    version: str | None
    is_known: bool = True

    def as_bundle(self, resolver: ResolverName) -> InstalledBundle:
        """As a resolver sees it: OLM v0 reads versions tolerantly, v1 strictly."""
        return InstalledBundle(
            self.name, parse_or_none(self.version) if resolver == "v1" else _tolerant(self.version)
        )


def find_installed(
    packages: Sequence[PackageGraph], text: str, *, guess: bool = True
) -> tuple[InstalledVersion, ...]:
    """Those entries and bundles of one package that a name or a version means.

    If there is none, and a guess is welcome, what is installed is nowhere: a name then has the version that
    it ends with, a version the name that an edge, or the package's habit, gives it.
    """
    known = {name: version for package in reversed(packages) for name, version in _known(package)}
    if text in known:
        return (InstalledVersion(text, known[text]),)
    version = _tolerant(text)
    if version is None:
        return (InstalledVersion(text, _implied(text), is_known=False),) if guess else ()
    same = [InstalledVersion(name, stated) for name, stated in known.items() if _tolerant(stated) == version]
    exact = [asked for asked in same if asked.version == str(version)]
    if exact or same or not guess:
        return tuple(exact or same)
    return (InstalledVersion(_named(packages, known, str(version)), str(version), is_known=False),)


def _known(package: PackageGraph) -> Iterator[tuple[str, str | None]]:
    for graph in package.channels:
        yield from ((name, None) for name in graph.entries)
    yield from ((name, bundle.version) for name, bundle in served_package(package).package.by_name.items())


def _tolerant(text: str | None) -> Version | None:
    try:
        return parse_tolerant(text) if text else None
    except VersionError:
        return None


def _implied(name: str) -> str | None:
    """The version that a name ends with: `etcd.v0.9.4`."""
    found = _TAIL.search(name)
    return found["version"] if found and _tolerant(found["version"]) else None


def _named(packages: Iterable[PackageGraph], known: dict[str, str | None], version: str) -> str:
    """What a version that no catalog has was called: an edge may tell, else the names of its sisters."""
    referred = (
        name for p in packages for g in p.channels for edges in (g.replacers, g.skippers) for name in edges
    )
    for name in referred:
        if name not in known and _implied(name) == version:
            return name
    for name, stated in known.items():
        if stated and name.endswith(stated):
            return name.removesuffix(stated) + version
    return version
