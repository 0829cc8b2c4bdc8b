"""Errors for commands that need an optional dependency."""

from __future__ import annotations

__all__ = ["missing_extra"]

from collections.abc import Collection

from everpath.errors import UsageError


def missing_extra(error: ImportError, extra: str, packages: Collection[str]) -> UsageError:
    """Return the error for a missing package of an extra. Raises `error` itself for any other module."""
    name = (error.name or "").partition(".")[0]
    if name not in packages:
        raise error
    return UsageError(
        f"this command needs the Python package {name}, which is not installed",
        hint=f"pip install '.[{extra}]' in a clone, or pip install 'everpath[{extra}]' once a release is "
        "published",
    )
