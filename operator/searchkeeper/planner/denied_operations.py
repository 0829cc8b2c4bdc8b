"""Writes that were refused, and would be again: whoever makes them notes it, and the next plan says so."""

from __future__ import annotations

__all__ = [
    "DENIED_PREFIX",
    "OPERATION_DENIED",
    "denied_entry",
    "denied_operations",
    "is_new_denial",
    "outdated_denials",
    "with_denials",
]

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from searchkeeper.planner.actions import ERROR_DEADLINE
from searchkeeper.planner.ledger import Entry, Ledger
from searchkeeper.planner.results import Operation, Result

# The reason of an action that wants a write which was refused.
OPERATION_DENIED: Final = "Denied"
# How such a line of the ledger begins: behind it stands the action, in it the write and the words.
DENIED_PREFIX: Final = "denied/"
# Characters of what a write is called, and of what was said to it: both may quote anything.
_WORDS: Final = 600
_ADVICE: Final = "allow it, or ask for something that can do without; it is tried again by itself"
# Numbers, and names that somebody has made of them: of a request, of a moment, of what is used at present.
_COUNTED: Final = re.compile(r"\S*\d\S*")


def denied_entry(action: str, write: Operation, words: str) -> tuple[str, Entry]:
    """The line for a write of this action that was refused in these words."""
    return DENIED_PREFIX + action, (str(write)[:_WORDS], words[:_WORDS])


def denied_operations(ledger: Ledger) -> Iterator[str]:
    """The writes that are refused, in words. A line that nobody of ours wrote has none."""
    for line, entry in ledger.items():
        match entry:
            case (str(write), str()) if line.startswith(DENIED_PREFIX):
                yield write


def is_new_denial(ledger: Ledger, line: str, entry: Entry) -> bool:
    """Whether the ledger should have it: words that differ in numbers alone are the same ones.

    Some refusals quote a moment, or the number of a request, and would be written down for ever.
    """
    return _COUNTED.sub("", str(ledger.get(line))) != _COUNTED.sub("", str(entry))


def with_denials(given: Mapping[str, Result], ledger: Ledger) -> dict[str, Result]:
    """The answers. One that wants a write which was refused says so, and wants it all the same."""
    return {name: _told(answer, ledger.get(DENIED_PREFIX + name)) for name, answer in given.items()}


def outdated_denials(given: Mapping[str, Result], ledger: Ledger) -> dict[str, None]:
    """The lines about writes that nobody wants any more: they were made, or others are wanted.

    Who waits for something else meanwhile may be about to want it again: with an engine that answers every
    other time no refusal would ever be old.
    """
    lines = (each for each in ledger if each.startswith(DENIED_PREFIX))
    standing = {DENIED_PREFIX + name for name, answer in given.items() if _may_want_it_again(answer)}
    return {line: None for line in lines if line not in standing}


def _may_want_it_again(answer: Result) -> bool:
    return answer.reason == OPERATION_DENIED or not (answer.makes_progress or answer.waits_for_user)


def _told(answer: Result, entry: Entry | None) -> Result:
    match entry:
        case (str(write), str(words)) if write in {str(each)[:_WORDS] for each in answer.operations}:
            message = f"cannot {write}: {words}; {_ADVICE}"
            return replace(answer, reason=OPERATION_DENIED, message=message, deadline=ERROR_DEADLINE)
        case _:
            return answer
