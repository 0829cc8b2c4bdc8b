"""Comparisons of drawings, for tests."""

from __future__ import annotations

__all__ = ["changed", "changes", "comparison", "outcomes", "rows"]

from textwrap import dedent

from everpath.comparison import Change, Comparison, ComparisonScope, VersionOutcome, compare
from everpath.loaders.notation import parse
from everpath.resolvers import ResolverName

RESOLVERS: dict[str, tuple[ResolverName, ...]] = {"v0": ("v0",), "v1": ("v1",), "both": ("v0", "v1")}


def comparison(old: str, new: str, resolver: str = "both") -> Comparison:
    """Compare two drawings of one package."""
    return compare(parse(dedent(old)), parse(dedent(new)), ComparisonScope(resolvers=RESOLVERS[resolver]))


def rows(old: str, new: str, resolver: str = "both") -> tuple[VersionOutcome, ...]:
    return comparison(old, new, resolver).rows


def outcomes(old: str, new: str, resolver: str = "both") -> dict[str, str]:
    """Return the outcome for each installed version; `v0/v1` where they differ."""
    found: dict[str, list[str]] = {}
    for row in rows(old, new, resolver):
        found.setdefault(row.installed, []).append(row.outcome.value)
    return {name: "/".join(dict.fromkeys(each)) for name, each in found.items()}


def changes(old: str, new: str, kind: str, resolver: str = "both") -> list[Change]:
    """Return the changes of one kind."""
    return [change for change in comparison(old, new, resolver).changes if change.kind.value == kind]


def changed(old: str, new: str, kind: str, resolver: str = "both") -> list[str]:
    """Return the messages of one kind of change."""
    return [change.message for change in changes(old, new, kind, resolver)]
