"""`everpath catalog pull` and `everpath bundle pull`: pull the files of an image, or copy the image."""

from __future__ import annotations

__all__ = ["pull_bundle", "pull_catalog"]

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from everpath.app.images.pull import pull
from everpath.cli.options.registry import TransferReporter, registry_options, transfer_options
from everpath.cli.output import write_output
from everpath.errors import ExitCode

if TYPE_CHECKING:
    from everpath.oci.payload import PayloadKind
    from everpath.oci.registry import RegistryOptions

F = TypeVar("F", bound=Callable[..., Any])


def _pull_options(command: F) -> F:
    output = click.option(
        "-o",
        "--output",
        metavar="OUT",
        help="A folder for the files, or oci:DIR[:TAG], oci-archive:FILE or docker-archive:FILE for the "
        "image.  [default: a folder with the name of the repository]",
    )
    return output(registry_options(transfer_options(command)))


@click.command("pull", short_help="Pull a catalog, or its image.")
@click.argument("image")
@_pull_options
def pull_catalog(**options: Any) -> int:
    """Pull the file-based catalog of an image, or the image itself. All files are written or none.

    IMAGE is HOST/REPOSITORY:TAG or @DIGEST, oci:DIR[:TAG], oci-archive:FILE[:TAG] or docker-archive:FILE.
    Only the folder that the label of the image names is written. The digest of every blob is verified.

    \b
    $ everpath catalog pull quay.io/me/catalog:v1 -o catalog/
    $ everpath catalog pull quay.io/me/catalog:v1 -o oci:mirror:v1

    \b
    Exit codes:
      0  pulled             3  an image that cannot be read, or is not a catalog
      2  invalid options    4  a registry does not respond, or denies access
    """
    return _pull("catalog", **options)


@click.command("pull", short_help="Pull a bundle, or its image.")
@click.argument("image")
@_pull_options
def pull_bundle(**options: Any) -> int:
    """Pull the bundle of an image (manifests/, metadata/, tests/), or the image itself.

    IMAGE is HOST/REPOSITORY:TAG or @DIGEST, oci:DIR[:TAG], oci-archive:FILE[:TAG] or docker-archive:FILE.
    The digest of every blob is verified. All files are written or none.

    \b
    $ everpath bundle pull quay.io/me/searchkeeper-bundle:v0.3.1 -o bundles/searchkeeper/0.3.1
    $ everpath bundle pull quay.io/me/searchkeeper-bundle:v0.3.1 -o oci-archive:bundle.tar

    \b
    Exit codes:
      0  pulled             3  an image that cannot be read, or is not a bundle
      2  invalid options    4  a registry does not respond, or denies access
    """
    return _pull("bundle", **options)


def _pull(
    kind: PayloadKind,
    *,
    image: str,
    output: str | None,
    registry: RegistryOptions,
    print_digest: bool,
    quiet: bool,
) -> int:
    with TransferReporter(quiet=quiet) as reporter:
        pulled = pull(kind, image, output, registry, on_progress=reporter)
    write_output([f"{pulled.digest if print_digest else pulled}\n"], None, machine=False)
    return ExitCode.CLEAN
