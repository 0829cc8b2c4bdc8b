"""`everpath catalog push` and `everpath bundle push`: an image to a registry, the tag last."""

from __future__ import annotations

__all__ = ["push_bundle", "push_catalog"]

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from everpath.app.image_inputs import is_image
from everpath.cli.output import write_output
from everpath.cli.registry_options import (
    RegistryOptions,
    TransferReporter,
    registry_options,
    transfer_options,
)
from everpath.errors import ExitCode, UsageError
from everpath.oci.references import Reference, parse_reference
from everpath.oci.transports import parse_location

if TYPE_CHECKING:
    from everpath.oci.descriptors import Image
    from everpath.oci.registry import ClientOptions

_mount_option: Final = click.option(
    "--mount-from",
    metavar="REPOSITORY",
    multiple=True,
    help="A repository of the same registry that may have the blobs already; may be repeated.",
)

_check_option: Final = click.option(
    "--no-check", is_flag=True, help="Build and push also a folder that opm or OLM would refuse."
)


@click.command("push", short_help="Push a catalog image to a registry.")
@click.argument("source")
@click.argument("target")
@_mount_option
@_check_option
@registry_options
@transfer_options
def push_catalog(source: str, target: str, **options: Any) -> int:
    """Send the image of a catalog to a registry. Blobs that are there are not sent; the tag comes last.

    SOURCE is oci:DIR[:TAG], oci-archive:FILE[:TAG], docker-archive:FILE, an image of a registry, or the
    folder of a catalog, which is built as `everpath catalog build` does. TARGET is HOST/REPOSITORY:TAG. A
    push that broke off leaves no tag, and is finished by another one.

    \b
    $ everpath catalog push catalog/ quay.io/me/catalog:v1
    $ everpath catalog push oci-archive:catalog.oci.tar quay.io/me/catalog:v1 --print-digest
    $ everpath catalog push oci:out:v1 localhost:5000/catalog:v1 --insecure

    \b
    Exit codes:
      0  the tag is there        3  an image that cannot be read
      1  what opm would refuse   4  a registry that does not answer, or refuses
      2  a wrong command line
    """
    return _push("catalog", source, target, options)


@click.command("push", short_help="Push a bundle image to a registry.")
@click.argument("source")
@click.argument("target")
@_mount_option
@_check_option
@registry_options
@transfer_options
def push_bundle(source: str, target: str, **options: Any) -> int:
    """Send the image of a bundle to a registry. Blobs that are there are not sent; the tag comes last.

    SOURCE is oci:DIR[:TAG], oci-archive:FILE[:TAG], docker-archive:FILE, an image of a registry, or the
    folder of a bundle, which is built as `everpath bundle build` does. TARGET is HOST/REPOSITORY:TAG. A push
    that broke off leaves no tag, and is finished by another one.

    \b
    $ everpath bundle push bundles/searchkeeper/0.3.1 quay.io/me/searchkeeper-bundle:v0.3.1
    $ everpath bundle push oci-archive:bundle.oci.tar quay.io/me/searchkeeper-bundle:v0.3.1 --print-digest

    \b
    Exit codes:
      0  the tag is there        3  an image that cannot be read
      1  what OLM would refuse   4  a registry that does not answer, or refuses
      2  a wrong command line
    """
    return _push("bundle", source, target, options)


def _push(kind: str, source: str, target: str, options: dict[str, Any]) -> int:
    from everpath.oci.registry import push_image  # noqa: PLC0415 - brings HTTP and TLS along

    reference = _target(target)
    mounts = [*(_repository(name, reference) for name in options["mount_from"]), *_home(source, reference)]
    chosen = RegistryOptions.from_parameters(options).client_options(mount_from=tuple(mounts))
    image = _image(kind, source, _for_source(source, reference, chosen), no_check=options["no_check"])
    if isinstance(image, ExitCode):
        return image
    with TransferReporter(quiet=options["quiet"]) as told:
        root = push_image(image, reference, chosen, told)
    named = str(reference) if reference.tag or reference.digest else f"{reference}:latest"
    said = root.digest if options["print_digest"] else f"{named} is {reference.name}@{root.digest}"
    write_output([f"{said}\n"], None, machine=False)
    return ExitCode.CLEAN


def _home(source: str, target: Reference) -> Iterator[str]:
    """The repository that an image of the same registry comes from: it has all the blobs."""
    located = parse_location(source) if is_image(source) else None
    if located is not None and located.reference is not None and _are_neighbours(located.reference, target):
        yield located.reference.repository


def _are_neighbours(one: Reference, other: Reference) -> bool:
    return one.registry == other.registry


def _for_source(source: str, target: Reference, options: ClientOptions) -> ClientOptions:
    """The name and password of the command line are for the target: another registry does not get them."""
    located = parse_location(source) if is_image(source) else None
    if located is None or located.reference is None or _are_neighbours(located.reference, target):
        return options
    return replace(options, credential=None)


def _target(text: str) -> Reference:
    """Where the image goes. Raises UsageError for a place on disk."""
    located = parse_location(text)
    if located.reference is None:
        hint = "everpath catalog build and bundle build write it there with --output"
        raise UsageError(f"{text} is not in a registry", hint=hint)
    return located.reference


def _repository(name: str, reference: Reference) -> str:
    """A repository of the target's registry, with or without its host. Raises UsageError for another's."""
    whole = parse_reference(
        name if name.startswith(f"{reference.registry}/") else f"{reference.registry}/{name}"
    )
    if whole.tag or whole.digest:
        raise UsageError(f"--mount-from {name} names an image", hint="name the repository, without a tag")
    return whole.repository


def _image(kind: str, source: str, options: ClientOptions, *, no_check: bool) -> Image | ExitCode:
    """What is to be sent; an exit code for a folder that is not worth it, which has been told."""
    if not is_image(source):
        return _built(kind, source.rstrip(os.sep) or source, no_check=no_check)
    from everpath.oci.payload import find_payload  # noqa: PLC0415
    from everpath.oci.transports import open_image  # noqa: PLC0415

    located = parse_location(source)
    image = open_image(located, options)
    found = find_payload(image, str(located)).kind
    if found != kind:
        raise UsageError(f"{located} is a {found}, not a {kind}", hint=f"everpath {found} push")
    return image


def _built(kind: str, folder: str, *, no_check: bool) -> Image | ExitCode:
    """The image of a folder, in memory, as the command for that builds it without options."""
    from everpath.cli.commands import bundle_build, catalog_build  # noqa: PLC0415 - all loaders
    from everpath.cli.image_build_options import Request  # noqa: PLC0415
    from everpath.oci.build import ImageSpec, build_image  # noqa: PLC0415

    request = Request(no_check=no_check)
    recipe = (bundle_build if kind == "bundle" else catalog_build).recipe_of(folder, request)
    return build_image(recipe) if isinstance(recipe, ImageSpec) else recipe
