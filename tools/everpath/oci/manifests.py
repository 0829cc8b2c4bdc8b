"""Manifests and indexes: the documents that make an image of blobs. Same input, same bytes."""

from __future__ import annotations

__all__ = ["INDEX", "MANIFEST", "descriptor_json", "index_bytes", "json_bytes", "manifest_bytes"]

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from everpath.errors import UnreadableInput
from everpath.oci.descriptors import Descriptor, Platform

INDEX: Final = "application/vnd.oci.image.index.v1+json"
MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"


def json_bytes(document: Mapping[str, Any]) -> bytes:
    """Keys sorted, no blanks, UTF-8: the one spelling that a document has here.

    Raises UnreadableInput for parts of a stranger's document that cannot be written.
    """
    try:
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.encode()
    except UnicodeEncodeError as error:
        raise UnreadableInput("a document of the image has text that is not Unicode") from error
    except RecursionError as error:
        raise UnreadableInput("a document of the image nests without end") from error


def manifest_bytes(
    config: Descriptor, layers: Sequence[Descriptor], annotations: Mapping[str, str] | None = None
) -> bytes:
    """An image for one platform. An OCI one has no place for Docker's types, whose bytes are the same."""
    document = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": descriptor_json(config),
        "layers": [descriptor_json(layer) for layer in layers],
    }
    return json_bytes(document | _annotations(annotations))


def index_bytes(manifests: Sequence[Descriptor], annotations: Mapping[str, str] | None = None) -> bytes:
    """An image for several platforms, each with its manifest."""
    document = {
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": [descriptor_json(manifest) for manifest in manifests],
    }
    return json_bytes(document | _annotations(annotations))


def descriptor_json(descriptor: Descriptor) -> dict[str, Any]:
    """A descriptor as documents write it."""
    document: dict[str, Any] = {
        "mediaType": descriptor.media_type,
        "digest": descriptor.digest,
        "size": descriptor.size,
    }
    if descriptor.platform is not None:
        document["platform"] = _platform(descriptor.platform)
    return document | _annotations(descriptor.annotations)


def _platform(platform: Platform) -> dict[str, str]:
    variant = {"variant": platform.variant} if platform.variant else {}
    return {"os": platform.os, "architecture": platform.architecture, **variant}


def _annotations(annotations: Mapping[str, str] | None) -> dict[str, Any]:
    return {"annotations": dict(annotations)} if annotations else {}
