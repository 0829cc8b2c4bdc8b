"""Images small enough to be written down, for tests of what carries them."""

from __future__ import annotations

__all__ = ["index", "layer_of", "single"]

import json

from everpath.oci.blobs import MemoryBlobs
from everpath.oci.descriptors import Descriptor, Image

_LAYER = "application/vnd.oci.image.layer.v1.tar"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_INDEX = "application/vnd.oci.image.index.v1+json"


def single(*layers: bytes, blobs: MemoryBlobs | None = None, architecture: str = "amd64") -> Image:
    """An image of these layers."""
    blobs = blobs or MemoryBlobs()
    config = blobs.add(_CONFIG, json.dumps({"os": "linux", "architecture": architecture}).encode())
    document = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": _raw(config),
        "layers": [_raw(blobs.add(_LAYER, layer)) for layer in layers or (b"layer",)],
    }
    return Image(blobs.add(_MANIFEST, json.dumps(document).encode()), blobs)


def index(*architectures: str) -> Image:
    """An index of an image for each, all with one layer."""
    blobs = MemoryBlobs()
    named = []
    for architecture in architectures:
        root = single(b"shared", blobs=blobs, architecture=architecture).root
        named.append({**_raw(root), "platform": {"os": "linux", "architecture": architecture}})
    document = {"schemaVersion": 2, "mediaType": _INDEX, "manifests": named}
    return Image(blobs.add(_INDEX, json.dumps(document).encode()), blobs)


def layer_of(image: Image) -> Descriptor:
    """The last layer of a single image."""
    with image.blobs.open(image.root) as stream:
        raw = json.loads(stream.read())["layers"][-1]
    return Descriptor(raw["mediaType"], raw["digest"], raw["size"])


def _raw(descriptor: Descriptor) -> dict[str, object]:
    return {"mediaType": descriptor.media_type, "digest": descriptor.digest, "size": descriptor.size}
