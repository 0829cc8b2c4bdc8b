"""From what is typed to what is asked: the catalogs of a cluster, and what is installed there."""

from __future__ import annotations

__all__ = [
    "Market",
    "channel_list",
    "installed",
    "named",
    "range_warnings",
    "refuse_foreign_options",
    "say_unknown",
    "version_range",
    "with_entry",
]

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Protocol

import click

from everpath.cli.inputs import missing, unreadable_parts
from everpath.cli.served import Served
from everpath.cli.words import words
from everpath.errors import EverpathError, UsageError
from everpath.graph import PackageGraph
from everpath.model import Catalog
from everpath.ranges.masterminds import Constraint, ConstraintError
from everpath.reporters.formatting import count, join_names, printable
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.resolvers.cluster_extension_crd import version_range_error
from everpath.simulate import InstalledVersion, find_installed

_MOST_PACKAGES: Final = 5


class Market:
    """The catalogs of the cluster, package by package."""

    def __init__(self, served: Sequence[Served], catalogs: Sequence[Catalog]) -> None:
        self.unread = sum(map(unreadable_parts, catalogs))
        self.names = tuple(one.name for one in served) if len(served) > 1 else ()
        self._packages: dict[str, list[ClusterCatalog]] = {}
        for one, catalog in zip(served, catalogs, strict=True):
            for package in catalog.packages:
                source = ClusterCatalog(one.name, one.priority, PackageGraph(package))
                self._packages.setdefault(package.name, []).append(source)

    def packages(self, wanted: Sequence[str]) -> dict[str, list[ClusterCatalog]]:
        """Who offers each wanted package; all if none is named. In the order of names."""
        return {name: self._packages[name] for name in sorted(self._packages) if not wanted or name in wanted}


def installed(
    text: str, chosen: Mapping[str, Sequence[ClusterCatalog]], *, quiet: bool = False, unread: int = 0
) -> dict[str, tuple[InstalledVersion, ...]]:
    """What a name or a version means, by package. What is nowhere is still asked about, of one package.

    It may be in one of the `unread` parts of the catalogs: then the error is theirs.
    """
    found = {
        name: find_installed(_graphs(sources), text, guess=len(chosen) == 1)
        for name, sources in chosen.items()
    }
    found = {name: meant for name, meant in found.items() if meant}
    if not found:
        raise _nowhere(text, chosen, unread)
    for meant in (one for several in found.values() for one in several if not one.is_known):
        if not quiet:
            say_unknown(text, meant, chosen)
    return found


def _graphs(sources: Sequence[ClusterCatalog]) -> list[PackageGraph]:
    return [source.package for source in sources if source.package is not None]


def _nowhere(text: str, chosen: Mapping[str, Sequence[ClusterCatalog]], unread: int) -> EverpathError:
    near = _near(text, chosen)
    hint = f"did you mean {near!r}? " if near else ""
    return missing(
        f"nothing in {count(len(chosen), 'package')} is called {text!r} or has that version",
        f"{hint}name a package with -p and everpath says what would become of it there",
        unread,
    )


def _near(text: str, chosen: Mapping[str, Sequence[ClusterCatalog]]) -> str | None:
    from everpath.paths.suggestions import closest_match  # noqa: PLC0415 - only who mistypes pays for it

    return closest_match(text, _known(chosen))


def _known(chosen: Mapping[str, Sequence[ClusterCatalog]]) -> dict[str, str | None]:
    """Everything that has a name, with its version."""
    known: dict[str, str | None] = {}
    for graph in (graph for sources in chosen.values() for graph in _graphs(sources)):
        known |= dict.fromkeys(name for name in graph.channels_by_entry if name not in known)
        known |= {name: bundle.version for name, bundle in graph.package.by_name.items()}
    return known


def say_unknown(text: str, meant: InstalledVersion, chosen: Mapping[str, Sequence[ClusterCatalog]]) -> None:
    """On standard error: what is asked about is in no catalog, and what it is taken for."""
    from everpath.paths.suggestions import neighbouring_versions  # noqa: PLC0415 - only who asks for what is nowhere pays for it

    near = neighbouring_versions(text, _known(chosen))
    version = f"version {meant.version}" if meant.version else "a version that nobody knows"
    taken = f"to be of {version}" if meant.name == text else f"for {printable(meant.name)} of {version}"
    click.echo(f"note: {printable(text)} is in no catalog; taken {taken}", err=True)
    if near:
        click.echo(f"note: did you mean {printable(' or '.join(near))}?", err=True)


def named(packages: Collection[str]) -> str:
    """`2 packages (a and b)`; of many the first. There is one at least."""
    shown = sorted(packages)[:_MOST_PACKAGES]
    names = join_names(shown) if len(shown) == len(packages) else f"{', '.join(shown)}, …"
    return f"{count(len(packages), 'package')} ({printable(names)})"


def with_entry(
    name: str, chosen: dict[str, list[ClusterCatalog]], unread: int = 0
) -> dict[str, list[ClusterCatalog]]:
    """The packages that have an entry of that name; a single package also without."""
    having = {p: s for p, s in chosen.items() if any(name in graph.channels_by_entry for graph in _graphs(s))}
    if not having and len(chosen) != 1:
        raise _nowhere(name, chosen, unread)
    return having or chosen


class _Wishes(Protocol):
    """Of a command line what one resolver knows and the other does not."""

    @property
    def starting_csv(self) -> str | None: ...
    @property
    def channel_list(self) -> str | None: ...
    @property
    def version_range(self) -> str: ...
    @property
    def upgrade_constraint_policy(self) -> str: ...


def refuse_foreign_options(
    wishes: _Wishes, policy: str | None, hint: str = "ask with --policy v1, or both"
) -> None:
    """Raise UsageError for what the chosen policy knows nothing of, and would ignore.

    The hint says how to choose another policy.
    """
    v1 = {
        "--channels": wishes.channel_list is not None,
        "--version-range": bool(wishes.version_range),
        "--upgrade-constraint-policy": wishes.upgrade_constraint_policy == "SelfCertified",
    }
    for option in (option for option, given in v1.items() if given):
        if policy == "v0":
            raise UsageError(f"{option} is for OLM v1", hint=hint)
        if wishes.starting_csv is not None:
            said = f"{option} is for OLM v1, --starting-csv for OLM v0"
            raise UsageError(said, hint="leave one of them out")
    if policy == "v1" and wishes.starting_csv is not None:
        pin = wishes.starting_csv.rpartition(".v")[2] or "VERSION"
        pinned = f"a ClusterExtension is pinned with --version-range {pin}"
        raise UsageError("--starting-csv is for OLM v0", hint=pinned)


def channel_list(text: str | None) -> tuple[str, ...] | None:
    """None: not given. An asterisk is a ClusterExtension without a list, so that all channels count.

    Raises UsageError for an empty name.
    """
    if text is None:
        return None
    return () if text.strip() == "*" else words("--channels", text)


def version_range(text: str) -> str:
    """A range as OLM v1 takes it. Raises UsageError for what it would fail over.

    Says on standard error if no API server would let it come that far.
    """
    try:
        found = Constraint.parse(text).text if text else ""
    except ConstraintError as error:
        hint = "OLM v1 takes ranges such as '1.2.x', '~1.2' or '>=1.2.0, <2'"
        raise UsageError(f"--version-range {text!r} is none: {error.upstream_message}", hint=hint) from error
    for warning in range_warnings(text):
        click.echo(f"warning: {printable(warning)}", err=True)
    return found


def range_warnings(text: str) -> tuple[str, ...]:
    """That no cluster could be asked so, which the answer does not show."""
    if not text or (refusal := version_range_error(text)) is None:
        return ()
    return (f"the API server would refuse a ClusterExtension with version {text!r}: {refusal}",)
