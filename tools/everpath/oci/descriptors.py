"""Blobs by digest, and the trees of descriptors that make them images."""

from __future__ import annotations

__all__ = [
    "Content",
    "Descriptor",
    "Image",
    "Platform",
    "children",
    "digest_of",
    "in_push_order",
    "misshapen",
    "named_by",
    "read_blob",
]

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Final, Protocol

from everpath.errors import UnreadableInput

_INDEXES: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_MANIFESTS: Final = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
# What registries themselves refuse to store as a manifest.
_LONGEST_MANIFEST: Final = 4 * 1024 * 1024
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
# Indexes may name indexes; an image of a base of a base needs no second level of them.
_DEEPEST: Final = 8
# Runtimes take 127 layers; an index of all there is, a few hundred manifests.
_MOST_NAMED: Final = 4096
_LARGEST: Final = 1 << 50
# Blobs of one image with all its platforms: indexes of indexes could name billions.
_MOST_BLOBS: Final = 65_000


@dataclass(frozen=True, slots=True)
class Platform:
    """What an image runs on, as an index names it."""

    os: str
    architecture: str
    variant: str | None = None

    def __str__(self) -> str:
        return "/".join(part for part in (self.os, self.architecture, self.variant) if part)


@dataclass(frozen=True, slots=True)
class Descriptor:
    """One blob: what it is, what its bytes hash to, how many they are."""

    media_type: str
    digest: str
    size: int
    platform: Platform | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_index(self) -> bool:
        return self.media_type in _INDEXES

    @property
    def is_manifest(self) -> bool:
        return self.media_type in _MANIFESTS


class Content(Protocol):
    """Where blobs are: memory, a layout folder, an archive, a registry."""

    def open(self, descriptor: Descriptor) -> BinaryIO:
        """The bytes of a blob, unchecked. Raises UnreadableInput when it is not there."""


@dataclass(frozen=True, slots=True)
class Image:
    """A root (a manifest, or an index of several) and where everything below it is."""

    root: Descriptor
    content: Content


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def read_blob(content: Content, descriptor: Descriptor, *, at_most: int = _LONGEST_MANIFEST) -> bytes:
    """The bytes of a small blob (a manifest, a config), checked against its size and digest."""
    if descriptor.size > at_most:
        raise UnreadableInput(f"{descriptor.digest} has {descriptor.size} bytes: too long for a manifest")
    with content.open(descriptor) as stream:
        data = stream.read(at_most + 1)
    if len(data) != descriptor.size or digest_of(data) != descriptor.digest:
        raise UnreadableInput(
            f"{descriptor.digest} is damaged: {len(data)} bytes that hash to {digest_of(data)}",
            hint="build or pull the image again",
        )
    return data


def children(content: Content, descriptor: Descriptor) -> tuple[Descriptor, ...]:
    """What a manifest or an index names, in its own order (a config first); nothing for any other blob.

    Raises UnreadableInput where a stranger's document is not what it should be.
    """
    if not (descriptor.is_index or descriptor.is_manifest):
        return ()
    return named_by(read_blob(content, descriptor), descriptor.digest, is_index=descriptor.is_index)


def named_by(data: bytes, name: str, *, is_index: bool) -> tuple[Descriptor, ...]:
    """What the bytes of a manifest or an index name. Errors call it by `name`."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise misshapen(name, "it is not JSON") from error
    if not isinstance(document, dict):
        raise misshapen(name, "it is not a mapping")
    named = _listed(document, "manifests" if is_index else "layers", name)
    found = named if is_index else [document.get("config"), *named]
    return tuple(_descriptor(raw, name) for raw in found)


def misshapen(name: str, reason: str) -> UnreadableInput:
    """The error for a document that is none of an image's."""
    return UnreadableInput(
        f"{name} is no image manifest that can be used: {reason}",
        hint="build, pull or export the image again; it has to be an OCI or Docker (schema 2) image",
    )


def in_push_order(image: Image) -> Iterator[Descriptor]:
    """Every blob once, each after all that it names: a tag never points at what is not there.

    Raises UnreadableInput for indexes in indexes, or blobs, beyond all sense.
    """
    seen: set[str] = set()

    def below(descriptor: Descriptor, depth: int) -> Iterator[Descriptor]:
        if descriptor.digest in seen:
            return
        if depth > _DEEPEST:
            raise misshapen(descriptor.digest, f"indexes nest more than {_DEEPEST} deep")
        seen.add(descriptor.digest)
        if len(seen) > _MOST_BLOBS:
            raise misshapen(image.root.digest, f"it has more than {_MOST_BLOBS:,} blobs")
        for child in children(image.content, descriptor):
            yield from below(child, depth + 1)
        yield descriptor

    return below(image.root, 0)


def _listed(document: Mapping[str, object], key: str, name: str) -> list[object]:
    found = document.get(key)
    if not isinstance(found, list):
        raise misshapen(name, f"{key!r} is not a list")
    if len(found) > _MOST_NAMED:
        raise misshapen(name, f"it names {len(found):,} blobs")
    return found


def _descriptor(raw: object, name: str) -> Descriptor:
    if not isinstance(raw, Mapping):
        raise misshapen(name, "a descriptor is not a mapping")
    media_type, digest, size = (raw.get(key) for key in ("mediaType", "digest", "size"))
    if not isinstance(media_type, str):
        raise misshapen(name, "a descriptor has no mediaType")
    if not isinstance(digest, str) or _DIGEST.fullmatch(digest) is None:
        raise misshapen(name, f"a descriptor has no sha256 digest but {str(digest)[:80]!r}")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < _LARGEST:
        raise misshapen(name, f"{digest} has no sensible size but {str(size)[:80]!r}")
    platform, annotations = _platform(raw.get("platform")), _texts(raw.get("annotations"))
    return Descriptor(media_type, digest, size, platform, annotations)


def _texts(raw: object) -> Mapping[str, str]:
    """The annotations that are texts; nothing depends on the others."""
    return {k: v for k, v in raw.items() if isinstance(v, str)} if isinstance(raw, Mapping) else {}


def _platform(raw: object) -> Platform | None:
    if not isinstance(raw, Mapping):
        return None
    os, architecture, variant = (raw.get(key) for key in ("os", "architecture", "variant"))
    if not isinstance(os, str) or not isinstance(architecture, str):
        return None
    return Platform(os, architecture, variant if isinstance(variant, str) and variant else None)
