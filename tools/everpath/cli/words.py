"""Lists of names as a command line has them: `a,b`."""

from __future__ import annotations

__all__ = ["words"]

from everpath.errors import UsageError


def words(option: str, text: str) -> tuple[str, ...]:
    """The names of a list with commas. Raises UsageError for an empty one."""
    found = tuple(part.strip() for part in text.split(","))
    if "" in found:
        raise UsageError(
            f"{option} {text!r}: a name is empty", hint="leave the option out, or name something"
        )
    return found
