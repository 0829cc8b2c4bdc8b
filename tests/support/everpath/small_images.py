"""Small images for tests of registries and archives."""

from __future__ import annotations

__all__ = ["last_layer", "small_image", "small_index"]

import json

from everpath.oci.blobs import MemoryBlobs
from everpath.oci.descriptors import Descriptor, Image

_LAYER = "application/vnd.oci.image.layer.v1.tar"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_INDEX = "application/vnd.oci.image.index.v1+json"


def small_image(*layers: bytes, blobs: MemoryBlobs | None = None, architecture: str = "amd64") -> Image:
    """Return an image with these layers."""
    blobs = blobs or MemoryBlobs()
    config = blobs.add(_CONFIG, json.dumps({"os": "linux", "architecture": architecture}).encode())
    document = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": _descriptor_document(config),
        "layers": [_descriptor_document(blobs.add(_LAYER, layer)) for layer in layers or (b"layer",)],
    }
    return Image(blobs.add(_MANIFEST, json.dumps(document).encode()), blobs)


def small_index(*architectures: str) -> Image:
    """Return an index with an image for each architecture; all share one layer."""
    blobs = MemoryBlobs()
    manifests = []
    for architecture in architectures:
        root = small_image(b"shared", blobs=blobs, architecture=architecture).root
        manifests.append(
            {**_descriptor_document(root), "platform": {"os": "linux", "architecture": architecture}}
        )
    document = {"schemaVersion": 2, "mediaType": _INDEX, "manifests": manifests}
    return Image(blobs.add(_INDEX, json.dumps(document).encode()), blobs)


def last_layer(image: Image) -> Descriptor:
    """Return the last layer of an image without an index."""
    with image.blobs.open(image.root) as stream:
        raw = json.loads(stream.read())["layers"][-1]
    return Descriptor(raw["mediaType"], raw["digest"], raw["size"])


def _descriptor_document(descriptor: Descriptor) -> dict[str, object]:
    return {"mediaType": descriptor.media_type, "digest": descriptor.digest, "size": descriptor.size}
