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

from everpath.explanation.candidates import CandidateGroup
from everpath.explanation.cluster_checks import ClusterCheck
from everpath.explanation.explain import Explanation, ResolverExplanation, explain
from everpath.explanation.fixes import ProposedFix
from everpath.explanation.trace import ExplainQuery, ResolverTrace
