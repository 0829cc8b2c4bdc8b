"""Explanation of why OLM upgrades an installed version or not.

`explain` answers an `ExplainQuery` about the catalogs of one cluster with an `Explanation`.
"""

from __future__ import annotations

__all__ = [
    "CandidateGroup",
    "ClusterCheck",
    "ExplainQuery",
    "Explanation",
    "ProposedFix",
    "ResolverExplanation",
    "ResolverTrace",
    "explain",
]

from everpath.explain.candidates import CandidateGroup
from everpath.explain.cluster_checks import ClusterCheck
from everpath.explain.explanation import Explanation, ResolverExplanation, explain
from everpath.explain.fixes import ProposedFix
from everpath.explain.trace import ExplainQuery, ResolverTrace
