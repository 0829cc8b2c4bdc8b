"""Platforms: parsing, and the choice of a manifest in an index."""

from __future__ import annotations

__all__ = [
    "manifests_by_platform",
    "match_platform",
    "parse_platform",
    "platform_manifests",
    "select_manifest",
]

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from everpath.errors import UnreadableInput, UsageError
from everpath.oci.configs import config_platform, load_config
from everpath.oci.descriptors import Descriptor, Image, Platform
from everpath.oci.manifests import children

_DEFAULT: Final = Platform("linux", "amd64")
_WORD: Final = re.compile(r"[a-z0-9_.]+")


def parse_platform(text: str) -> Platform:
    """Parse `linux/arm64` or `linux/arm/v7`. Raises UsageError."""
    parts = text.split("/")
    if len(parts) not in (2, 3) or not all(map(_WORD.fullmatch, parts)):
        raise UsageError(f"{text!r} is not a platform", hint="write it like linux/amd64 or linux/arm/v7")
    return Platform(*parts)


def platform_manifests(image: Image) -> Iterator[tuple[Platform, Descriptor]]:
    """Yield each platform of an image with its manifest. Attestations have no platform and are left out."""
    if image.root.is_manifest:
        yield config_platform(load_config(image, image.root)), image.root
        return
    for manifest in children(image.blobs, image.root):
        platform = manifest.platform
        if manifest.is_manifest and platform is not None and platform.os not in ("", "unknown"):
            yield platform, manifest


def manifests_by_platform(image: Image) -> dict[Platform, Descriptor]:
    """Map platforms to manifests, last platform first. Of several manifests for one the first counts."""
    return dict(reversed(list(platform_manifests(image))))


def select_manifest(image: Image, platform: Platform | None = None) -> Descriptor:
    """Return the manifest for a platform; by default that for linux/amd64, else the first one.

    An image without an index has one manifest, which is returned for every platform. Raises UnreadableInput
    if there is none.
    """
    if image.root.is_manifest:
        return image.root
    available = manifests_by_platform(image)
    if platform is None and available:
        return available.get(_DEFAULT) or available[next(reversed(available))]
    manifest = match_platform(platform, available) if platform is not None else None
    if manifest is None:
        names = ", ".join(sorted(map(str, available)))
        raise UnreadableInput(
            f"{image.root.digest} has no manifest" + (f" for {platform}" if platform is not None else ""),
            hint=f"it is for {names}" if names else "it is an index without an image",
        )
    return manifest


def match_platform(wanted: Platform, available: Mapping[Platform, Descriptor]) -> Descriptor | None:
    """Return the manifest for a platform; a platform without a variant matches the first with any variant."""
    any_variant = (available[each] for each in available if replace(each, variant=None) == wanted)
    return available.get(wanted) or next(any_variant, None)
