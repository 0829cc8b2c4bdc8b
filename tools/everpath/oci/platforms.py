"""Which manifest of an image is for whom, and what its config says."""

from __future__ import annotations

__all__ = [
    "config_of",
    "diff_ids_of",
    "fitting",
    "labels_of",
    "manifest_for",
    "parse_platform",
    "parts_of",
    "platforms_of",
]

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from everpath.errors import UnreadableInput, UsageError
from everpath.oci.configs import platform_of
from everpath.oci.descriptors import Descriptor, Image, Platform, children, misshapen, read_blob

_USUAL: Final = Platform("linux", "amd64")
_WORD: Final = re.compile(r"[a-z0-9_.]+")


def parse_platform(text: str) -> Platform:
    """`linux/arm64` or `linux/arm/v7`. Raises UsageError."""
    words = text.split("/")
    if len(words) not in (2, 3) or not all(map(_WORD.fullmatch, words)):
        raise UsageError(f"{text!r} is no platform", hint="write it like linux/amd64 or linux/arm/v7")
    return Platform(*words)


def platforms_of(image: Image) -> Iterator[tuple[Platform, Descriptor]]:
    """Each platform of an image with its manifest; what belongs to none, as an attestation, is left out."""
    if image.root.is_manifest:
        yield platform_of(config_of(image, image.root)), image.root
        return
    for manifest in children(image.content, image.root):
        platform = manifest.platform
        if manifest.is_manifest and platform is not None and platform.os not in ("", "unknown"):
            yield platform, manifest


def manifest_for(image: Image, platform: Platform | None = None) -> Descriptor:
    """The manifest for a platform; without one, that for linux/amd64, else the first.

    A manifest alone is for everybody who asks. Raises UnreadableInput where there is none.
    """
    if image.root.is_manifest:
        return image.root
    there = dict(reversed(list(platforms_of(image))))
    if platform is None and there:
        return there.get(_USUAL) or there[next(reversed(there))]
    found = fitting(platform, there) if platform is not None else None
    if found is None:
        names = ", ".join(sorted(map(str, there)))
        hint = f"it is for {names}" if names else "it is an index without an image"
        wanted = f"for {platform}" if platform is not None else "in it"
        raise UnreadableInput(f"{image.root.digest} has no manifest {wanted}", hint=hint)
    return found


def fitting(wanted: Platform, there: Mapping[Platform, Descriptor]) -> Descriptor | None:
    """The manifest for a platform; who names no variant takes whichever there is."""
    loose = (there[each] for each in there if replace(each, variant=None) == wanted)
    return there.get(wanted) or next(loose, None)


def parts_of(image: Image, manifest: Descriptor) -> tuple[Descriptor, tuple[Descriptor, ...]]:
    """The config and the layers of a manifest, the lowest first."""
    config, *layers = children(image.content, manifest)
    return config, tuple(layers)


def config_of(image: Image, manifest: Descriptor) -> dict[str, Any]:
    """The config of one manifest. Raises UnreadableInput where it is none."""
    descriptor, _ = parts_of(image, manifest)
    try:
        document = json.loads(read_blob(image.content, descriptor))
    except (ValueError, RecursionError) as error:
        raise misshapen(descriptor.digest, "the config is not JSON") from error
    if not isinstance(document, dict):
        raise misshapen(descriptor.digest, "the config is not a mapping")
    return document


def labels_of(image: Image, manifest: Descriptor) -> dict[str, str]:
    """The labels of one manifest's config that are texts."""
    process = config_of(image, manifest).get("config")
    labels = process.get("Labels") if isinstance(process, dict) else None
    return {k: v for k, v in labels.items() if isinstance(v, str)} if isinstance(labels, dict) else {}


def diff_ids_of(image: Image, manifest: Descriptor, count: int) -> list[str | None]:
    """What a manifest's config says that each of its layers unpacks to; None where it says nothing usable."""
    rootfs = config_of(image, manifest).get("rootfs")
    stated = rootfs.get("diff_ids") if isinstance(rootfs, dict) else None
    if not isinstance(stated, list) or len(stated) != count:
        return [None] * count
    return [each if isinstance(each, str) and each.startswith("sha256:") else None for each in stated]
