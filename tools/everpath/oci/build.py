"""Image builds: one layer of files, from scratch or on a base, for one platform or several."""

from __future__ import annotations

__all__ = ["DEFAULT_PLATFORMS", "ImageSpec", "build_image"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from everpath.errors import UnreadableInput, UsageError
from everpath.oci.blobs import MemoryBlobs
from everpath.oci.configs import (
    CONFIG_MEDIA_TYPE,
    ConfigChange,
    encode_new_config,
    encode_updated_config,
    load_config,
)
from everpath.oci.descriptors import INDEX_MEDIA_TYPE, MANIFEST_MEDIA_TYPE, Descriptor, Image, Platform
from everpath.oci.layers import LAYER_GZIP_MEDIA_TYPE, LAYER_MEDIA_TYPE, Compression, build_layer
from everpath.oci.manifests import config_and_layers, encode_index, encode_manifest
from everpath.oci.platforms import manifests_by_platform, match_platform
from everpath.oci.tar_writer import TarMember

#: The platforms of releases of Kubernetes and OLM.
DEFAULT_PLATFORMS: Final = tuple(
    Platform("linux", architecture) for architecture in ("amd64", "arm64", "ppc64le", "s390x")
)

# An OCI manifest must not contain Docker's media types; the blobs are the same.
_OCI_MEDIA_TYPES: Final = {
    "application/vnd.docker.image.rootfs.diff.tar.gzip": LAYER_GZIP_MEDIA_TYPE,
    "application/vnd.docker.image.rootfs.diff.tar": LAYER_MEDIA_TYPE,
}


@dataclass(frozen=True, slots=True)
class ImageSpec:
    """The content of an image. Without `platforms` it gets the default ones, or those of its base.

    `created` is in seconds since 1970. A label with the value None removes that label of the base.
    """

    members: Sequence[TarMember]
    labels: Mapping[str, str | None] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    platforms: Sequence[Platform] = ()
    compression: Compression = "gzip"
    created: int = 0
    created_by: str = "everpath"
    base: Image | None = None
    entrypoint: Sequence[str] | None = None
    cmd: Sequence[str] | None = None


def build_image(spec: ImageSpec) -> Image:
    """Build an image in memory: a manifest for one platform, an index of manifests for several.

    Raises UnreadableInput for files or a base that cannot be read, UsageError for a platform the base lacks.
    """
    layer = build_layer(spec.members, mtime=spec.created, compression=spec.compression)
    blobs = MemoryBlobs(spec.base.blobs if spec.base else None)
    layer_descriptor = blobs.add(layer.media_type, layer.data)
    change = ConfigChange(
        layer.diff_id, spec.created, spec.created_by, spec.labels, spec.entrypoint, spec.cmd
    )

    def add_manifest(platform: Platform, config: bytes, base_layers: Sequence[Descriptor] = ()) -> Descriptor:
        config_descriptor = blobs.add(CONFIG_MEDIA_TYPE, config)
        layers = [*base_layers, layer_descriptor]
        manifest = encode_manifest(config_descriptor, layers, spec.annotations)
        return blobs.add(MANIFEST_MEDIA_TYPE, manifest, platform)

    if spec.base is None:
        platforms = dict.fromkeys(spec.platforms or DEFAULT_PLATFORMS)
        manifests = [add_manifest(platform, encode_new_config(platform, change)) for platform in platforms]
    else:
        manifests = []
        for platform, manifest in _select_base_manifests(spec.base, spec.platforms):
            config = encode_updated_config(load_config(spec.base, manifest), change)
            layers = [
                replace(each, media_type=_OCI_MEDIA_TYPES.get(each.media_type, each.media_type))
                for each in config_and_layers(spec.base, manifest)[1]
            ]
            manifests.append(add_manifest(platform, config, layers))
    if len(manifests) == 1:
        return Image(replace(manifests[0], platform=None), blobs)
    return Image(blobs.add(INDEX_MEDIA_TYPE, encode_index(manifests, spec.annotations)), blobs)


def _select_base_manifests(base: Image, platforms: Sequence[Platform]) -> list[tuple[Platform, Descriptor]]:
    """Return the manifests of a base for the given platforms, or for all of its own."""
    available = manifests_by_platform(base)
    if not available:
        raise UnreadableInput("the base image has no manifest for any platform", hint="name another --base")
    selected = []
    for platform in dict.fromkeys(platforms or list(reversed(available))):
        manifest = match_platform(platform, available)
        if manifest is None:
            names = ", ".join(sorted(map(str, available)))
            raise UsageError(f"the base image is not for {platform}", hint=f"it is for {names}")
        selected.append((platform, manifest))
    return selected
