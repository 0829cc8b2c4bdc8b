"""Hints for commands that need an optional dependency."""

from __future__ import annotations

__all__ = ["install_extra_hint"]


def install_extra_hint(extra: str) -> str:
    """Return how to install an extra, from a clone or from a release."""
    return (
        f"pip install '.[{extra}]' in a clone, or pip install 'everpath[{extra}]' once a release is published"
    )
