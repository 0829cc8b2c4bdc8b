"""Comparisons of drawings, for tests."""

from __future__ import annotations

__all__ = ["changed", "changes", "comparison", "outcomes", "rows"]

from textwrap import dedent

from everpath.compare import Change, Comparison, Scope, VersionOutcome, compare
from everpath.loaders.notation import parse
from everpath.resolvers import ResolverName

POLICIES: dict[str, tuple[ResolverName, ...]] = {"v0": ("v0",), "v1": ("v1",), "both": ("v0", "v1")}


def comparison(old: str, new: str, policy: str = "both") -> Comparison:
    """Two drawings of one package, compared."""
    return compare(parse(dedent(old)), parse(dedent(new)), Scope(resolvers=POLICIES[policy]))


def rows(old: str, new: str, policy: str = "both") -> tuple[VersionOutcome, ...]:
    return comparison(old, new, policy).rows


def outcomes(old: str, new: str, policy: str = "both") -> dict[str, str]:
    """The outcome for each installed version; `v0/v1` where they differ."""
    found: dict[str, list[str]] = {}
    for row in rows(old, new, policy):
        found.setdefault(row.installed, []).append(row.outcome.value)
    return {name: "/".join(dict.fromkeys(each)) for name, each in found.items()}


def changes(old: str, new: str, kind: str, policy: str = "both") -> list[Change]:
    """The changes of one kind."""
    return [change for change in comparison(old, new, policy).changes if change.kind.value == kind]


def changed(old: str, new: str, kind: str, policy: str = "both") -> list[str]:
    """What is said of one kind of change."""
    return [change.message for change in changes(old, new, kind, policy)]
