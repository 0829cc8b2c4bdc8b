"""Why an installed version moves, or does not: what the resolvers looked at, told in sentences.

Pure: a question over the catalogs of one cluster becomes an Explanation, which the views lay out.
"""

from __future__ import annotations

__all__ = ["Account", "Check", "Explanation", "Look", "Question", "Remedy", "Story", "explain"]

from everpath.why.accounts import Account, Question
from everpath.why.explanation import Explanation, Story, explain
from everpath.why.looks import Look
from everpath.why.remedies import Remedy
from everpath.why.unseen import Check
