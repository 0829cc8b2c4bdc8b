"""The releases of the operator, as in catalog/releases.yaml."""

from __future__ import annotations

__all__ = ["UnknownRelease", "newest", "release", "releases", "releases_with"]

import json
from functools import cache
from importlib import resources

from searchkeeper.versions import Release


class UnknownRelease(LookupError):
    """The operator has no such release."""


@cache
def releases() -> tuple[Release, ...]:
    """Return every release, oldest first."""
    text = resources.files("searchkeeper").joinpath("releases.json").read_text(encoding="utf-8")
    return tuple(
        Release(each["version"], tuple(each["procedures"]), each["engines"][0], each["engines"][1])
        for each in json.loads(text)
    )


def release(version: str) -> Release:
    """Return the release of this version. Raises UnknownRelease."""
    by_version = {each.version: each for each in releases()}
    if version not in by_version:
        raise UnknownRelease(f"there is no release {version}; there are {', '.join(by_version)}")
    return by_version[version]


def newest() -> Release:
    return releases()[-1]


def releases_with(configurations: frozenset[int]) -> tuple[Release, ...]:
    """Return the releases with a reconciler for one of these configuration versions."""
    return tuple(each for each in releases() if configurations.intersection(each.configurations))
