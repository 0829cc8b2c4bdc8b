"""`everpath catalog push` and `everpath bundle push`: push an image to a registry."""

from __future__ import annotations

__all__ = ["push_bundle", "push_catalog"]

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from everpath.app.images.push import push
from everpath.cli.options.registry import TransferReporter, registry_options, transfer_options
from everpath.cli.output import print_warnings, write_output
from everpath.errors import ExitCode

if TYPE_CHECKING:
    from everpath.oci.payload import PayloadKind
    from everpath.oci.registry import RegistryOptions

F = TypeVar("F", bound=Callable[..., Any])


def _push_options(command: F) -> F:
    mount_from = click.option(
        "--mount-from",
        metavar="REPOSITORY",
        multiple=True,
        help="A repository of the same registry that may have the blobs already; may be repeated.",
    )
    no_check = click.option(
        "--no-check", is_flag=True, help="Build and push also a folder that opm or OLM would reject."
    )
    return mount_from(no_check(registry_options(transfer_options(command))))


@click.command("push", short_help="Push a catalog image to a registry.")
@click.argument("source")
@click.argument("target")
@_push_options
def push_catalog(**options: Any) -> int:
    """Push the image of a catalog to a registry. Existing blobs are not sent again; the tag is set last.

    SOURCE is oci:DIR[:TAG], oci-archive:FILE[:TAG], docker-archive:FILE, an image in a registry, or the
    folder of a catalog, which is built as `everpath catalog build` does. TARGET is HOST/REPOSITORY:TAG. An
    interrupted push leaves no tag; run the same command again to complete it.

    \b
    $ everpath catalog push catalog/ quay.io/me/catalog:v1
    $ everpath catalog push oci-archive:catalog.oci.tar quay.io/me/catalog:v1 --print-digest
    $ everpath catalog push oci:out:v1 localhost:5000/catalog:v1 --insecure

    \b
    Exit codes:
      0  pushed                       3  an image that cannot be read
      1  a catalog that opm rejects   4  a registry does not respond, or denies access
      2  invalid options
    """
    return _push("catalog", **options)


@click.command("push", short_help="Push a bundle image to a registry.")
@click.argument("source")
@click.argument("target")
@_push_options
def push_bundle(**options: Any) -> int:
    """Push the image of a bundle to a registry. Existing blobs are not sent again; the tag is set last.

    SOURCE is oci:DIR[:TAG], oci-archive:FILE[:TAG], docker-archive:FILE, an image in a registry, or the
    folder of a bundle, which is built as `everpath bundle build` does. TARGET is HOST/REPOSITORY:TAG. An
    interrupted push leaves no tag; run the same command again to complete it.

    \b
    $ everpath bundle push bundles/searchkeeper/0.3.1 quay.io/me/searchkeeper-bundle:v0.3.1
    $ everpath bundle push oci-archive:bundle.oci.tar quay.io/me/searchkeeper-bundle:v0.3.1 --print-digest

    \b
    Exit codes:
      0  pushed                         3  an image that cannot be read
      1  a bundle that OLM cannot use   4  a registry does not respond, or denies access
      2  invalid options
    """
    return _push("bundle", **options)


def _push(  # noqa: PLR0913 - a parameter for each option
    kind: PayloadKind,
    *,
    source: str,
    target: str,
    mount_from: tuple[str, ...],
    no_check: bool,
    registry: RegistryOptions,
    print_digest: bool,
    quiet: bool,
) -> int:
    from everpath.cli.options.image_build import print_build_errors  # noqa: PLC0415 - imports the loaders

    with print_build_errors(), TransferReporter(quiet=quiet) as reporter:
        pushed = push(
            kind,
            source,
            target,
            replace(registry, mount_from=mount_from),
            no_check=no_check,
            on_progress=reporter,
            on_warning=lambda warning: print_warnings([warning]),
        )
    write_output([f"{pushed.digest if print_digest else pushed}\n"], None, machine=False)
    return ExitCode.CLEAN
