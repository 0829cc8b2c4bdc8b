"""Builds a Catalog from the parts that loaders read, in any order."""

from __future__ import annotations

__all__ = ["CatalogBuilder"]

from collections.abc import Iterable

from everpath.model import Bundle, Catalog, Channel, Declaration, Deprecations, Other, Package, Problem


class CatalogBuilder:
    """A catalog under construction.

    Parts with the same package name form one package, even if they are in different files. Within a package
    the order of the calls is kept; packages are sorted by name.
    """

    def __init__(self) -> None:
        self._packages: dict[str, _PackageParts] = {}
        self._others: list[Other] = []
        self._problems: list[Problem] = []

    def declare(self, package: str, declaration: Declaration) -> None:
        self._parts(package).declarations.append(declaration)

    def add_channel(self, channel: Channel) -> None:
        self._parts(channel.package).channels.append(channel)

    def add_bundle(self, bundle: Bundle) -> None:
        self._parts(bundle.package).bundles.append(bundle)

    def add_deprecations(self, deprecations: Deprecations) -> None:
        self._parts(deprecations.package).deprecations.append(deprecations)

    def add_other(self, other: Other) -> None:
        self._others.append(other)

    def add_problem(self, problem: Problem) -> None:
        self._problems.append(problem)

    def add_problems(self, problems: Iterable[Problem]) -> None:
        self._problems.extend(problems)

    def build(self, name: str) -> Catalog:
        """Return the catalog. More parts may be added afterwards for a second call."""
        return Catalog(
            name,
            packages=tuple(parts.build(package) for package, parts in sorted(self._packages.items())),
            others=tuple(self._others),
            problems=tuple(self._problems),
        )

    def _parts(self, package: str) -> _PackageParts:
        parts = self._packages.get(package)
        if parts is None:
            parts = self._packages[package] = _PackageParts()
        return parts


class _PackageParts:
    """The parts of one package."""

    def __init__(self) -> None:
        self.declarations: list[Declaration] = []
        self.channels: list[Channel] = []
        self.bundles: list[Bundle] = []
        self.deprecations: list[Deprecations] = []

    def build(self, name: str) -> Package:
        return Package(
            name,
            declarations=tuple(self.declarations),
            channels=tuple(self.channels),
            bundles=tuple(self.bundles),
            deprecations=tuple(self.deprecations),
        )
