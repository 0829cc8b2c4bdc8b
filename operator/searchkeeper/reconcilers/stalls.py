"""Stalled conditions: an action that has waited for longer than its deadline."""

from __future__ import annotations

__all__ = ["is_stalled", "plain_message"]

from searchkeeper.planner import STALLED_PREFIX, Condition


def is_stalled(condition: Condition) -> bool:
    return condition.message.startswith(STALLED_PREFIX)


def plain_message(condition: Condition) -> str:
    """The message of the action without the mark of a stall."""
    return condition.message.removeprefix(STALLED_PREFIX)
