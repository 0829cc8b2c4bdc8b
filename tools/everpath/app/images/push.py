"""Push the image of a catalog or bundle to a registry."""

from __future__ import annotations

__all__ = ["PushedImage", "push"]

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from everpath.app.inputs.image_inputs import is_image
from everpath.errors import UsageError
from everpath.oci.references import Reference, parse_reference
from everpath.oci.transports import ImageLocation, open_image, parse_location

if TYPE_CHECKING:
    from everpath.oci.descriptors import Image
    from everpath.oci.payload import PayloadKind
    from everpath.oci.registry import ProgressCallback, RegistryOptions


@dataclass(frozen=True, slots=True)
class PushedImage:
    """The reference that an image was pushed to, and its digest."""

    reference: Reference
    digest: str

    def __str__(self) -> str:
        has_tag = self.reference.tag or self.reference.digest
        name = str(self.reference) if has_tag else f"{self.reference}:latest"
        return f"{name} is {self.reference.name}@{self.digest}"


def push(  # noqa: PLR0913 - the options of the command
    kind: PayloadKind,
    source: str,
    target: str,
    registry: RegistryOptions | None = None,
    *,
    no_check: bool = False,
    on_progress: ProgressCallback = lambda _: None,
    on_warning: Callable[[str], None] = lambda _: None,
) -> PushedImage:
    """Push an image, or the folder of a catalog or bundle, to a reference. The tag is set last.

    The repositories in `registry.mount_from` may have the blobs already; they are in the registry of the
    target. A folder is built first; see `build_bundle_image` and `build_catalog_image` for `no_check`,
    `on_warning` and the errors. Raises Unreachable, UnreadableInput and UsageError.
    """
    from everpath.oci.registry import RegistryOptions, push_image  # noqa: PLC0415 - imports HTTP and TLS

    reference = parse_location(target).reference
    if reference is None:
        hint = "everpath catalog build and bundle build write files, with --output"
        raise UsageError(f"{target} is not in a registry", hint=hint)
    registry = registry or RegistryOptions()
    mount_from = [_repository(name, reference) for name in registry.mount_from]
    if is_image(source):
        location = parse_location(source)
        source_options = registry
        if location.reference is not None and location.reference.registry == reference.registry:
            # This repository has all blobs.
            mount_from.append(location.reference.repository)
        elif location.reference is not None:
            # Credentials on the command line are for the target, not for another registry.
            source_options = replace(registry, credential=None)
        image = _open_source(kind, location, source_options)
    else:
        image = _build(kind, source.rstrip(os.sep) or source, no_check=no_check, on_warning=on_warning)
    root = push_image(image, reference, replace(registry, mount_from=tuple(mount_from)), on_progress)
    return PushedImage(reference, root.digest)


def _repository(name: str, target: Reference) -> str:
    """Return a repository of the target's registry, given with or without the host. Raises UsageError."""
    prefix = f"{target.registry}/"
    reference = parse_reference(name if name.startswith(prefix) else f"{prefix}{name}")
    if reference.tag or reference.digest:
        raise UsageError(f"--mount-from {name} names an image", hint="name the repository, without a tag")
    return reference.repository


def _open_source(kind: PayloadKind, location: ImageLocation, options: RegistryOptions) -> Image:
    """Open an image. Raises UsageError if it is of the other kind."""
    from everpath.oci.payload import find_payload  # noqa: PLC0415 - a folder does not need it

    image = open_image(location, options)
    actual = find_payload(image, str(location)).kind
    if actual != kind:
        raise UsageError(f"{location} is a {actual}, not a {kind}", hint=f"everpath {actual} push")
    return image


def _build(kind: PayloadKind, folder: str, *, no_check: bool, on_warning: Callable[[str], None]) -> Image:
    """Build the image of a folder in memory, with the default options."""
    from everpath.app.images.build import ImageBuildOptions  # noqa: PLC0415 - imports the loaders
    from everpath.app.images.bundle import bundle_image_spec  # noqa: PLC0415 - imports the loaders
    from everpath.app.images.catalog import catalog_image_spec  # noqa: PLC0415 - imports the loaders
    from everpath.oci.build import build_image  # noqa: PLC0415 - as above

    options = ImageBuildOptions(no_check=no_check)
    if kind == "bundle":
        return build_image(bundle_image_spec(folder, options, on_warning=on_warning))
    return build_image(catalog_image_spec(folder, options))
