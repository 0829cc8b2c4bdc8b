"""`everpath catalog pull` and `everpath bundle pull`: from an image to files, or to a copy of the image."""

from __future__ import annotations

__all__ = ["pull_bundle", "pull_catalog"]

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everpath.cli.output import write_output
from everpath.cli.registry_options import (
    RegistryOptions,
    TransferReporter,
    registry_options,
    transfer_options,
)
from everpath.errors import UsageError
from everpath.oci.transports import ImageLocation, parse_location

if TYPE_CHECKING:
    from everpath.oci.descriptors import Image

_output_option = click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="A folder for the files, or oci:DIR[:TAG], oci-archive:FILE, docker-archive:FILE for the image.  "
    "[default: a folder called like the repository]",
)


@click.command("pull", short_help="Pull a catalog, or its image.")
@click.argument("image")
@_output_option
@registry_options
@transfer_options
def pull_catalog(image: str, **options: Any) -> None:
    """Fetch the file-based catalog out of an image, or the image itself. All of it arrives, or nothing.

    IMAGE is HOST/REPOSITORY:TAG or @DIGEST, oci:DIR[:TAG], oci-archive:FILE[:TAG] or docker-archive:FILE.
    Only the folder that the image's label names is written; every blob is checked against its digest.

    \b
    $ everpath catalog pull quay.io/me/catalog:v1 -o catalog/
    $ everpath catalog pull quay.io/me/catalog:v1 -o oci:mirror:v1

    \b
    Exit codes:
      0  fetched                 3  an image that cannot be read, or is no catalog
      2  a wrong command line    4  a registry that does not answer, or refuses
    """
    _pull("catalog", image, options)


@click.command("pull", short_help="Pull a bundle, or its image.")
@click.argument("image")
@_output_option
@registry_options
@transfer_options
def pull_bundle(image: str, **options: Any) -> None:
    """Fetch a bundle (manifests/, metadata/, tests/) out of an image, or the image itself. All or nothing.

    IMAGE is HOST/REPOSITORY:TAG or @DIGEST, oci:DIR[:TAG], oci-archive:FILE[:TAG] or docker-archive:FILE.
    Every blob is checked against its digest.

    \b
    $ everpath bundle pull quay.io/me/searchkeeper-bundle:v0.3.1 -o bundles/searchkeeper/0.3.1
    $ everpath bundle pull quay.io/me/searchkeeper-bundle:v0.3.1 -o oci-archive:bundle.tar

    \b
    Exit codes:
      0  fetched                 3  an image that cannot be read, or is no bundle
      2  a wrong command line    4  a registry that does not answer, or refuses
    """
    _pull("bundle", image, options)


def _pull(kind: str, text: str, options: dict[str, Any]) -> None:
    from everpath.oci.registry import with_progress  # noqa: PLC0415
    from everpath.oci.transports import open_image  # noqa: PLC0415 - brings HTTP and TLS along

    located = parse_location(text)
    out = options["output"] or _usual(located)
    target = _target(out)
    with TransferReporter(quiet=options["quiet"]) as told:
        image = open_image(located, RegistryOptions.from_parameters(options).client_options())
        if target is None:
            _extract(kind, with_progress(image, told), out, str(located))
        else:
            _copy(with_progress(image, told), target, located)
    digest = image.root.digest
    said = digest if options["print_digest"] else f"{located} ({digest}) is in {out}."
    write_output([f"{said}\n"], None, machine=False)


def _usual(located: ImageLocation) -> str:
    if located.reference is None:
        raise UsageError("there is no name for what is pulled", hint="-o OUT says where it goes")
    return located.reference.repository.rpartition("/")[2]


def _target(out: str) -> ImageLocation | None:
    """Where a copy of the image goes; None for a folder of files."""
    if not out.startswith(("oci:", "oci-archive:", "docker-archive:")):
        if out.startswith("docker://"):
            raise UsageError(f"{out} is in a registry", hint="everpath catalog push copies an image there")
        return None
    return parse_location(out)


def _extract(kind: str, image: Image, folder: str, name: str) -> None:
    from everpath.oci.payload import extract_payload, find_payload  # noqa: PLC0415

    _require_free(folder)
    payload = find_payload(image, name)
    if payload.kind != kind:
        raise UsageError(f"{name} is a {payload.kind}, not a {kind}", hint=f"everpath {payload.kind} pull")
    # Its parents may stay if it fails, empty as they are.
    Path(folder).parent.mkdir(parents=True, exist_ok=True)
    extract_payload(image, payload, folder, name)


def _require_free(folder: str) -> None:
    path = Path(folder)
    if path.is_symlink() or (path.exists() and (not path.is_dir() or any(path.iterdir()))):
        raise UsageError(f"{folder} is there, and not empty", hint="name another folder with -o")


def _copy(image: Image, target: ImageLocation, source: ImageLocation) -> None:
    tag = target.tag or (source.reference.tag if source.reference else source.tag)
    if target.transport == "oci":
        from everpath.oci.layouts import write_layout  # noqa: PLC0415

        write_layout(image, target.path, tag)
    elif target.transport == "oci-archive":
        from everpath.oci.oci_archives import write_oci_archive  # noqa: PLC0415

        write_oci_archive(image, target.path, tag)
    else:
        from everpath.oci.docker_archives import write_docker_archive  # noqa: PLC0415

        name = target.tag or (
            f"{source.reference.name}:{source.reference.tag or 'latest'}" if source.reference else None
        )
        write_docker_archive(image, target.path, name)
