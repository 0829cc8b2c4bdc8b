"""The catalogs of one cluster by package, and which CSV a user means by a name or version."""

from __future__ import annotations

__all__ = ["CatalogSet", "describe_unknown", "find_installed_by_package", "package_count", "with_entry"]

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from everpath.app.inputs import Inputs, not_found_error, unreadable_part_count
from everpath.app.served_catalogs import ServedCatalog, parse_served_catalogs
from everpath.errors import EverpathError
from everpath.graph import PackageGraph
from everpath.model import Catalog
from everpath.model.progress import Progress
from everpath.reporters.formatting import printable
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import InstalledVersion, find_installed
from everpath.wording import count, join_names

_MAX_NAMES: Final = 5


class CatalogSet:
    """The catalogs of a cluster, package by package. `names` is empty for a single catalog."""

    def __init__(self, served: Sequence[ServedCatalog], catalogs: Sequence[Catalog]) -> None:
        self.unread = sum(map(unreadable_part_count, catalogs))
        self.names = tuple(each.name for each in served) if len(served) > 1 else ()
        self._packages: dict[str, list[ClusterCatalog]] = {}
        for each, catalog in zip(served, catalogs, strict=True):
            for package in catalog.packages:
                source = ClusterCatalog(each.name, each.priority, PackageGraph(package))
                self._packages.setdefault(package.name, []).append(source)

    @classmethod
    def load(
        cls, inputs: Inputs, served: Sequence[ServedCatalog], progress: Progress | None = None
    ) -> CatalogSet:
        """Load the inputs. Without `served` catalogs they are named after their folders."""
        catalogs = list(inputs.catalogs(progress))
        return cls(served or parse_served_catalogs(inputs.chosen_paths()), catalogs)

    def packages(self, wanted: Sequence[str]) -> dict[str, list[ClusterCatalog]]:
        """Return the sources of each wanted package, or of all, sorted by name."""
        return {name: self._packages[name] for name in sorted(self._packages) if not wanted or name in wanted}


def find_installed_by_package(
    text: str, packages: Mapping[str, Sequence[ClusterCatalog]], unread: int = 0
) -> tuple[dict[str, tuple[InstalledVersion, ...]], list[str]]:
    """Return the CSVs that a name or version stands for, by package, and notes about unknown ones.

    With a single package an unknown name is accepted. Raises an error if nothing matches; `unread` parts of
    the catalogs may be the reason.
    """
    matches = {}
    for name, sources in packages.items():
        if csvs := find_installed(_graphs(sources), text, guess=len(packages) == 1):
            matches[name] = csvs
    if not matches:
        raise _not_found(text, packages, unread)
    unknown = (csv for csvs in matches.values() for csv in csvs if not csv.is_known)
    return matches, [note for csv in unknown for note in describe_unknown(text, csv, packages)]


def with_entry(
    name: str, packages: dict[str, list[ClusterCatalog]], unread: int = 0
) -> dict[str, list[ClusterCatalog]]:
    """Return the packages with an entry of that name; a single package also without."""
    matches = {
        package: sources
        for package, sources in packages.items()
        if any(name in graph.channels_by_entry for graph in _graphs(sources))
    }
    if not matches and len(packages) != 1:
        raise _not_found(name, packages, unread)
    return matches or packages


def describe_unknown(
    text: str, csv: InstalledVersion, packages: Mapping[str, Sequence[ClusterCatalog]]
) -> list[str]:
    """Return notes about a name that no catalog has: what it is taken for, and similar names."""
    from everpath.paths.suggestions import neighbouring_versions  # noqa: PLC0415 - only for an unknown name

    near = neighbouring_versions(text, _versions_by_name(packages))
    version = f"version {csv.version}" if csv.version else "an unknown version"
    taken = f"to be of {version}" if csv.name == text else f"for {csv.name} of {version}"
    notes = [f"{text} is in no catalog; taken {taken}"]
    if near:
        notes.append(f"did you mean {' or '.join(near)}?")
    return notes


def _not_found(text: str, packages: Mapping[str, Sequence[ClusterCatalog]], unread: int) -> EverpathError:
    from everpath.paths.suggestions import closest_match  # noqa: PLC0415 - only for an unknown name

    near = closest_match(text, _versions_by_name(packages))
    hint = f"did you mean {near!r}? " if near else ""
    return not_found_error(
        f"nothing in {count(len(packages), 'package')} is called {text!r} or has that version",
        f"{hint}select a package with -p to simulate a version that is in no catalog",
        unread,
    )


def _graphs(sources: Sequence[ClusterCatalog]) -> list[PackageGraph]:
    return [source.package for source in sources if source.package is not None]


def _versions_by_name(packages: Mapping[str, Sequence[ClusterCatalog]]) -> dict[str, str | None]:
    """Return the versions of all bundles and entries; None for an entry without a bundle."""
    versions: dict[str, str | None] = {}
    for graph in (graph for sources in packages.values() for graph in _graphs(sources)):
        versions |= dict.fromkeys(name for name in graph.channels_by_entry if name not in versions)
        versions |= {name: bundle.version for name, bundle in graph.package.by_name.items()}
    return versions


def package_count(packages: Collection[str]) -> str:
    """Return `2 packages (a and b)`, with at most five names. There must be at least one."""
    first = sorted(packages)[:_MAX_NAMES]
    names = join_names(first) if len(first) == len(packages) else f"{', '.join(first)}, …"
    return f"{count(len(packages), 'package')} ({printable(names)})"
