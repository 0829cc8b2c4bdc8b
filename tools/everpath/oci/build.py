"""Images made of files: one layer, from scratch or on a base, for one platform or several."""

from __future__ import annotations

__all__ = ["USUAL_PLATFORMS", "Recipe", "build"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from everpath.errors import UnreadableInput, UsageError
from everpath.oci.blobs import Blobs
from everpath.oci.configs import CONFIG, Change, changed, config_bytes
from everpath.oci.descriptors import Descriptor, Image, Platform
from everpath.oci.layers import Compression, Layer, Member, layer_of
from everpath.oci.manifests import INDEX, MANIFEST, index_bytes, manifest_bytes
from everpath.oci.platforms import config_of, fitting, parts_of, platforms_of

#: Those that Kubernetes, and OLM, are released for.
USUAL_PLATFORMS: Final = tuple(Platform("linux", each) for each in ("amd64", "arm64", "ppc64le", "s390x"))

# The same bytes by another name, which an OCI manifest must not use.
_TRANSLATED: Final = {
    "application/vnd.docker.image.rootfs.diff.tar.gzip": "application/vnd.oci.image.layer.v1.tar+gzip",
    "application/vnd.docker.image.rootfs.diff.tar": "application/vnd.oci.image.layer.v1.tar",
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """What goes into an image. Without platforms: the usual ones, or those of the base.

    `created` is in seconds since 1970; labels without a value take away what the base has.
    """

    members: Sequence[Member]
    labels: Mapping[str, str | None] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    platforms: Sequence[Platform] = ()
    compression: Compression = "gzip"
    created: int = 0
    created_by: str = "everpath"
    base: Image | None = None
    entrypoint: Sequence[str] | None = None
    cmd: Sequence[str] | None = None


def build(recipe: Recipe) -> Image:
    """The image. One for a single platform is a manifest, one for several an index of manifests.

    Raises UnreadableInput for files or a base that cannot be read, UsageError for a platform the base lacks.
    """
    layer = layer_of(recipe.members, mtime=recipe.created, compression=recipe.compression)
    blobs = Blobs(recipe.base.content if recipe.base else None)
    kept = blobs.put(layer.media_type, layer.data)
    change = _change(recipe, layer)
    if recipe.base is None:
        platforms = tuple(dict.fromkeys(recipe.platforms)) or USUAL_PLATFORMS
        manifests = [_from_scratch(recipe, blobs, kept, change, platform) for platform in platforms]
    else:
        manifests = [_on_base(recipe, blobs, kept, change, below) for below in _chosen(recipe)]
    if len(manifests) == 1:
        return Image(replace(manifests[0], platform=None), blobs)
    return Image(blobs.put(INDEX, index_bytes(manifests, recipe.annotations)), blobs)


def _change(recipe: Recipe, layer: Layer) -> Change:
    return Change(
        layer.diff_id, recipe.created, recipe.created_by, recipe.labels, recipe.entrypoint, recipe.cmd
    )


def _from_scratch(
    recipe: Recipe, blobs: Blobs, layer: Descriptor, change: Change, platform: Platform
) -> Descriptor:
    config = blobs.put(CONFIG, config_bytes(platform, change))
    return blobs.put(MANIFEST, manifest_bytes(config, [layer], recipe.annotations), platform)


def _on_base(
    recipe: Recipe, blobs: Blobs, layer: Descriptor, change: Change, below: tuple[Platform, Descriptor]
) -> Descriptor:
    assert recipe.base is not None
    platform, manifest = below
    _, layers = parts_of(recipe.base, manifest)
    config = blobs.put(CONFIG, changed(config_of(recipe.base, manifest), change))
    kept = [replace(each, media_type=_TRANSLATED.get(each.media_type, each.media_type)) for each in layers]
    return blobs.put(MANIFEST, manifest_bytes(config, [*kept, layer], recipe.annotations), platform)


def _chosen(recipe: Recipe) -> list[tuple[Platform, Descriptor]]:
    """The manifests of the base to build on, in the order the platforms were asked for."""
    assert recipe.base is not None
    there = dict(reversed(list(platforms_of(recipe.base))))
    if not there:
        raise UnreadableInput("the base image has no manifest for any platform", hint="name another --base")
    if not recipe.platforms:
        return [(platform, there[platform]) for platform in reversed(there)]
    return [(wanted, _found(wanted, there)) for wanted in dict.fromkeys(recipe.platforms)]


def _found(wanted: Platform, there: Mapping[Platform, Descriptor]) -> Descriptor:
    found = fitting(wanted, there)
    if found is None:
        names = ", ".join(sorted(map(str, there)))
        raise UsageError(f"the base image is not for {wanted}", hint=f"it is for {names}")
    return found
