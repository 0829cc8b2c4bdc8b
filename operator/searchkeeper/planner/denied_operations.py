"""Operations that the API server or the engine refused permanently.

The executor reports a denied operation, `reconcile` records it in the ledger, and the next plan shows it as
the reason of the action. The operation stays requested and is retried.
"""

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

# The reason of an action that requests a denied operation.
OPERATION_DENIED: Final = "OperationDenied"
# Ledger key: this prefix and the name of the action. Entry: the text of the operation, and the error.
DENIED_PREFIX: Final = "denied/"
# Characters, of the operation and of the error: both may quote anything.
_TEXT_LIMIT: Final = 600
_ADVICE: Final = "allow it, or change the spec so that it is not needed; the operator retries"
# Words with digits: request ids, timestamps, current usage.
_NUMBERS: Final = re.compile(r"\S*\d\S*")


def denied_entry(action: str, operation: Operation, error: str) -> tuple[str, Entry]:
    """Return the ledger key and entry for an operation of this action that was denied with this error."""
    return DENIED_PREFIX + action, (str(operation)[:_TEXT_LIMIT], error[:_TEXT_LIMIT])


def denied_operations(ledger: Ledger) -> Iterator[str]:
    """Yield the texts of the denied operations in the ledger. Malformed entries are skipped."""
    for key, entry in ledger.items():
        match entry:
            case (str(operation), str()) if key.startswith(DENIED_PREFIX):
                yield operation


def is_new_denial(ledger: Ledger, key: str, entry: Entry) -> bool:
    """Whether the entry differs from the recorded one in more than numbers.

    Some errors contain a timestamp or a request id. Each retry would otherwise write the status.
    """
    return _NUMBERS.sub("", str(ledger.get(key))) != _NUMBERS.sub("", str(entry))


def with_denials(results: Mapping[str, Result], ledger: Ledger) -> dict[str, Result]:
    """Return the results, with the reason OperationDenied for each that requests a denied operation."""
    marked = dict(results)
    for name, result in results.items():
        match ledger.get(DENIED_PREFIX + name):
            case (str(operation), str(error)) if operation in {
                str(each)[:_TEXT_LIMIT] for each in result.operations
            }:
                message = f"cannot {operation}: {error}; {_ADVICE}"
                marked[name] = replace(
                    result, reason=OPERATION_DENIED, message=message, deadline=ERROR_DEADLINE
                )
    return marked


def outdated_denials(results: Mapping[str, Result], ledger: Ledger) -> dict[str, None]:
    """Return the ledger changes that remove denials of operations which are no longer requested.

    A denial stays while its action waits for something else: with an engine that answers every other time
    no denial would otherwise last until its deadline.
    """
    kept = {DENIED_PREFIX + name for name, result in results.items() if _may_be_requested_again(result)}
    return {key: None for key in ledger if key.startswith(DENIED_PREFIX) and key not in kept}


def _may_be_requested_again(result: Result) -> bool:
    return result.reason == OPERATION_DENIED or not (result.makes_progress or result.waits_for_user)
