"""Comparison of two catalogs: the effect of a new catalog on clusters that run a version of the old one.

    comparison = compare(old, new)
    comparison.stranded, comparison.changes, comparison.rows

The upgrade path of every version of the old catalog is computed in both, with the resolvers of OLM v0 and v1.
"""

from __future__ import annotations

__all__ = ["Change", "ChangeKind", "Comparison", "PathOutcome", "Scope", "VersionOutcome", "compare"]

from everpath.compare.catalogs import Comparison, Scope, compare
from everpath.compare.changes import Change, ChangeKind
from everpath.compare.outcomes import PathOutcome, VersionOutcome
