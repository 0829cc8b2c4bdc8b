"""Who a new catalog strands: everybody who has anything of the old one, followed through the new one.

    comparison = compare(old, new)
    comparison.stranded, comparison.changes, comparison.rows

Pure, and built on the policies: what is said here of anybody is what the resolvers do.
"""

from __future__ import annotations

__all__ = ["Change", "ChangeKind", "Comparison", "Outcome", "Row", "Scope", "compare"]

from everpath.compare.catalogs import Comparison, Scope, compare
from everpath.compare.changes import Change, ChangeKind
from everpath.compare.outcomes import Outcome, Row
