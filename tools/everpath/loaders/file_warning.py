"""A warning about a file, which the command line prints with its source line."""

from __future__ import annotations

__all__ = ["FileWarning"]

from typing import NamedTuple

from everpath.model import Place


class FileWarning(NamedTuple):
    """What is lost or ignored when a file is rendered or converted."""

    message: str
    place: Place
    fix: str | None = None
