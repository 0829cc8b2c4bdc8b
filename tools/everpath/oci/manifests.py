"""Manifests and indexes: parsing, traversal, and encoding to reproducible bytes."""

from __future__ import annotations

__all__ = [
    "canonical_json",
    "children",
    "config_and_layers",
    "descriptor_document",
    "encode_index",
    "encode_manifest",
    "invalid_manifest",
    "parse_manifest",
    "push_order",
]

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from everpath.errors import UnreadableInput
from everpath.oci.blobs import read_blob
from everpath.oci.descriptors import (
    INDEX_MEDIA_TYPE,
    MANIFEST_MEDIA_TYPE,
    BlobSource,
    Descriptor,
    Image,
    Platform,
)

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
# Limits against malicious images. Container runtimes accept 127 layers; real indexes list a few hundred
# manifests and contain no further indexes.
_MAX_DEPTH: Final = 8
_MAX_DESCRIPTORS: Final = 4096
_MAX_SIZE: Final = 1 << 50
_MAX_BLOBS: Final = 65_000


def children(blobs: BlobSource, descriptor: Descriptor) -> tuple[Descriptor, ...]:
    """Return the descriptors in a manifest (config first) or index; none for any other blob.

    Raises UnreadableInput if the document is damaged or invalid.
    """
    if not (descriptor.is_index or descriptor.is_manifest):
        return ()
    return parse_manifest(read_blob(blobs, descriptor), descriptor.digest, is_index=descriptor.is_index)


def config_and_layers(image: Image, manifest: Descriptor) -> tuple[Descriptor, tuple[Descriptor, ...]]:
    """Return the descriptors of the config and of the layers of a manifest, lowest layer first."""
    config, *layers = children(image.blobs, manifest)
    return config, tuple(layers)


def push_order(image: Image) -> Iterator[Descriptor]:
    """Yield every blob once, children before their parents, the root last.

    Raises UnreadableInput if indexes are nested too deeply or there are too many blobs.
    """
    seen: set[str] = set()

    def visit(descriptor: Descriptor, depth: int) -> Iterator[Descriptor]:
        if descriptor.digest in seen:
            return
        if depth > _MAX_DEPTH:
            raise invalid_manifest(descriptor.digest, f"indexes nest more than {_MAX_DEPTH} deep")
        seen.add(descriptor.digest)
        if len(seen) > _MAX_BLOBS:
            raise invalid_manifest(image.root.digest, f"it has more than {_MAX_BLOBS:,} blobs")
        for child in children(image.blobs, descriptor):
            yield from visit(child, depth + 1)
        yield descriptor

    return visit(image.root, 0)


def parse_manifest(data: bytes, name: str, *, is_index: bool) -> tuple[Descriptor, ...]:
    """Return the descriptors in the bytes of a manifest or an index. `name` is for error messages."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise invalid_manifest(name, "it is not JSON") from error
    if not isinstance(document, dict):
        raise invalid_manifest(name, "it is not a mapping")
    key = "manifests" if is_index else "layers"
    found = document.get(key)
    if not isinstance(found, list):
        raise invalid_manifest(name, f"{key!r} is not a list")
    if len(found) > _MAX_DESCRIPTORS:
        raise invalid_manifest(name, f"it lists {len(found):,} blobs")
    return tuple(
        _parse_descriptor(raw, name) for raw in (found if is_index else [document.get("config"), *found])
    )


def invalid_manifest(name: str, reason: str) -> UnreadableInput:
    """Return the error for a manifest, index or config that cannot be used."""
    return UnreadableInput(
        f"{name} is not a valid image manifest: {reason}",
        hint="build, pull or export the image again; OCI and Docker (schema 2) images are supported",
    )


def _parse_descriptor(raw: object, name: str) -> Descriptor:
    if not isinstance(raw, Mapping):
        raise invalid_manifest(name, "a descriptor is not a mapping")
    media_type, digest, size = (raw.get(key) for key in ("mediaType", "digest", "size"))
    if not isinstance(media_type, str):
        raise invalid_manifest(name, "a descriptor has no mediaType")
    if not isinstance(digest, str) or _DIGEST.fullmatch(digest) is None:
        raise invalid_manifest(name, f"a descriptor has no sha256 digest but {str(digest)[:80]!r}")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < _MAX_SIZE:
        raise invalid_manifest(name, f"{digest} has the invalid size {str(size)[:80]!r}")
    annotations = raw.get("annotations")
    # Annotations that are not strings are dropped: nothing depends on them.
    texts = (
        {k: v for k, v in annotations.items() if isinstance(v, str)}
        if isinstance(annotations, Mapping)
        else {}
    )
    return Descriptor(media_type, digest, size, _parse_platform(raw.get("platform")), texts)


def _parse_platform(raw: object) -> Platform | None:
    if not isinstance(raw, Mapping):
        return None
    os, architecture, variant = (raw.get(key) for key in ("os", "architecture", "variant"))
    if not isinstance(os, str) or not isinstance(architecture, str):
        return None
    return Platform(os, architecture, variant if isinstance(variant, str) and variant else None)


def encode_manifest(
    config: Descriptor, layers: Sequence[Descriptor], annotations: Mapping[str, str] | None = None
) -> bytes:
    """Encode the OCI manifest of an image for one platform."""
    document = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_MEDIA_TYPE,
        "config": descriptor_document(config),
        "layers": [descriptor_document(layer) for layer in layers],
    }
    return canonical_json(document | ({"annotations": dict(annotations)} if annotations else {}))


def encode_index(manifests: Sequence[Descriptor], annotations: Mapping[str, str] | None = None) -> bytes:
    """Encode the OCI index of an image for several platforms."""
    document = {
        "schemaVersion": 2,
        "mediaType": INDEX_MEDIA_TYPE,
        "manifests": [descriptor_document(manifest) for manifest in manifests],
    }
    return canonical_json(document | ({"annotations": dict(annotations)} if annotations else {}))


def descriptor_document(descriptor: Descriptor) -> dict[str, Any]:
    """Return a descriptor as a JSON object."""
    document: dict[str, Any] = {
        "mediaType": descriptor.media_type,
        "digest": descriptor.digest,
        "size": descriptor.size,
    }
    if (platform := descriptor.platform) is not None:
        variant = {"variant": platform.variant} if platform.variant else {}
        document["platform"] = {"os": platform.os, "architecture": platform.architecture, **variant}
    if descriptor.annotations:
        document["annotations"] = dict(descriptor.annotations)
    return document


def canonical_json(document: Mapping[str, Any]) -> bytes:
    """Encode a document as UTF-8, with sorted keys and without blanks: equal documents have equal bytes.

    Raises UnreadableInput for parts of another image's document that cannot be encoded.
    """
    try:
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.encode()
    except UnicodeEncodeError as error:
        raise UnreadableInput("a document of the image contains text that is not valid Unicode") from error
    except RecursionError as error:
        raise UnreadableInput("a document of the image is nested too deeply") from error
