"""Comparison of two catalogs: the effect of a new catalog on clusters that run a version of the old one.

    comparison = compare(old, new)
    comparison.regression_count, comparison.changes, comparison.rows

The upgrade path of every version of the old catalog is computed in both, with the resolvers of OLM v0 and v1.
"""

from __future__ import annotations

__all__ = [
    "Change",
    "ChangeKind",
    "Comparison",
    "ComparisonScope",
    "PathOutcome",
    "VersionOutcome",
    "compare",
]

from everpath.comparison.catalogs import Comparison, ComparisonScope, compare
from everpath.comparison.changes import Change, ChangeKind
from everpath.comparison.outcomes import PathOutcome, VersionOutcome
