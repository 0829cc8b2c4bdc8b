"""The operator's own releases, as catalog/releases.yaml has them."""

from __future__ import annotations

__all__ = ["UnknownRelease", "newest", "release", "releases", "releases_with"]

import json
from functools import cache
from importlib import resources

from searchkeeper.versions import Release


class UnknownRelease(LookupError):
    """There is no such release of the operator."""


@cache
def releases() -> tuple[Release, ...]:
    """Every release, oldest first."""
    text = resources.files("searchkeeper").joinpath("releases.json").read_text(encoding="utf-8")
    return tuple(
        Release(each["version"], tuple(each["procedures"]), each["engines"][0], each["engines"][1])
        for each in json.loads(text)
    )


def release(version: str) -> Release:
    """Raises UnknownRelease."""
    for each in releases():
        if each.version == version:
            return each
    raise UnknownRelease(
        f"there is no release {version}; there are {', '.join(r.version for r in releases())}"
    )


def newest() -> Release:
    return releases()[-1]


def releases_with(configurations: frozenset[int]) -> tuple[Release, ...]:
    """The releases that ship one of these procedures: where to go when this operator cannot."""
    return tuple(each for each in releases() if configurations.intersection(each.configurations))
