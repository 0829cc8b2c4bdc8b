"""Why an installed version moves, or does not: what the resolvers looked at, told in sentences.

Pure: a question over the catalogs of one cluster becomes an Explanation, which the views lay out.
"""

from __future__ import annotations

__all__ = ["Account", "Check", "Explanation", "Look", "Question", "Remedy", "Story", "explain"]

from everpath.explain.candidates import Look
from everpath.explain.cluster_checks import Check
from everpath.explain.explanation import Explanation, Story, explain
from everpath.explain.fixes import Remedy
from everpath.explain.trace import Account, Question
