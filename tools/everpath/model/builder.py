"""Gathers what readers find, in any order, into one Catalog.

Every reader ends here, so that two documents about one package meet wherever they were written.
"""

from __future__ import annotations

__all__ = ["Assembly"]

from collections.abc import Iterable

from everpath.model import Bundle, Catalog, Channel, Declaration, Deprecations, Other, Package, Problem


class _Parts:
    """The pieces of one package while they are being gathered."""

    def __init__(self) -> None:
        self.declarations: list[Declaration] = []
        self.channels: list[Channel] = []
        self.bundles: list[Bundle] = []
        self.deprecations: list[Deprecations] = []

    def package(self, name: str) -> Package:
        return Package(
            name,
            declarations=tuple(self.declarations),
            channels=tuple(self.channels),
            bundles=tuple(self.bundles),
            deprecations=tuple(self.deprecations),
        )


class Assembly:
    """A catalog under construction. Order of arrival is kept within a package, packages are sorted."""

    def __init__(self) -> None:
        self._parts: dict[str, _Parts] = {}
        self._others: list[Other] = []
        self._problems: list[Problem] = []

    def _of(self, package: str) -> _Parts:
        parts = self._parts.get(package)
        if parts is None:
            parts = self._parts[package] = _Parts()
        return parts

    def declare(self, package: str, declaration: Declaration) -> None:
        self._of(package).declarations.append(declaration)

    def add_channel(self, channel: Channel) -> None:
        self._of(channel.package).channels.append(channel)

    def add_bundle(self, bundle: Bundle) -> None:
        self._of(bundle.package).bundles.append(bundle)

    def add_deprecations(self, deprecations: Deprecations) -> None:
        self._of(deprecations.package).deprecations.append(deprecations)

    def add_other(self, other: Other) -> None:
        self._others.append(other)

    def add_problem(self, problem: Problem) -> None:
        self._problems.append(problem)

    def add_problems(self, problems: Iterable[Problem]) -> None:
        self._problems.extend(problems)

    def build(self, name: str) -> Catalog:
        """The catalog; the assembly may go on growing and be built again."""
        return Catalog(
            name,
            packages=tuple(self._parts[p].package(p) for p in sorted(self._parts)),
            others=tuple(self._others),
            problems=tuple(self._problems),
        )
