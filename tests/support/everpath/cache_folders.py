"""A clock for tests of caches."""

from __future__ import annotations

__all__ = ["much_later"]

import time

from everpath.loaders.bundle.folder_reader import TIMESTAMP_RESOLUTION_NS


def much_later() -> int:
    """Return a time long after every file of a test was written."""
    return time.time_ns() + 10 * TIMESTAMP_RESOLUTION_NS
