"""Options and output of `bundle build` and `catalog build`."""

from __future__ import annotations

__all__ = ["build_options", "print_build_errors", "write_built_image"]

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import click

from everpath.app.images.build import BuildRejected, BuiltImage, ImageBuildOptions
from everpath.cli.diagnostics import print_opm_error
from everpath.cli.options.common import comma_list
from everpath.cli.options.groups import option_group
from everpath.cli.output import write_output
from everpath.errors import UsageError
from everpath.oci.descriptors import Platform
from everpath.oci.layers import COMPRESSIONS
from everpath.oci.platforms import parse_platform
from everpath.reporters.formatting import printable
from everpath.wording import count

F = TypeVar("F", bound=Callable[..., Any])


def _parse_pairs(_ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Return `KEY=VALUE` options as a mapping. Raises UsageError."""
    option = param.opts[0]
    pairs: dict[str, str] = {}
    for text in values:
        key, equals, value = text.partition("=")
        is_text = not any("\ud800" <= character <= "\udfff" for character in text)
        if not key or not equals or not is_text:
            raise UsageError(
                f"{option} {printable(text)!r} is not KEY=VALUE", hint=f"write {option} KEY=VALUE"
            )
        if pairs.setdefault(key, value) != value:
            raise UsageError(f"{option} gives {key} two values", hint="give one of them")
    return pairs


def _parse_platforms(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[Platform, ...]:
    return tuple(map(parse_platform, comma_list(ctx, param, values)))


_image_options: Final = option_group(
    "options",
    ImageBuildOptions,
    click.option(
        "-o",
        "--output",
        metavar="LOCATION",
        help="oci:FOLDER, oci-archive:FILE or docker-archive:FILE.  [default: oci-archive:NAME.oci.tar]",
    ),
    click.option("--tag", metavar="TAG", help="Tag of the image; NAME:TAG for a docker-archive."),
    click.option(
        "--label",
        "labels",
        metavar="KEY=VALUE",
        multiple=True,
        callback=_parse_pairs,
        help="Another label of the image; may be repeated.",
    ),
    click.option(
        "--annotation",
        "annotations",
        metavar="KEY=VALUE",
        multiple=True,
        callback=_parse_pairs,
        help="An annotation of the manifests; may be repeated.",
    ),
    click.option(
        "--platform",
        "platforms",
        metavar="OS/ARCH",
        multiple=True,
        callback=_parse_platforms,
        help="A platform; may be repeated.  [default: linux on amd64, arm64, ppc64le and s390x]",
    ),
    click.option(
        "--compression",
        type=click.Choice(COMPRESSIONS),
        default="gzip",
        show_default=True,
        help="Compression of the layer.",
    ),
    click.option("--no-check", is_flag=True, help="Build also what opm or OLM would reject."),
)


def build_options(command: F) -> F:
    """Add the options of builds: `options`, an `ImageBuildOptions`, `print_digest` and `dry_run`."""
    digest = click.option("--print-digest", is_flag=True, help="Print only the digest.")
    dry_run = click.option(
        "--dry-run", is_flag=True, help="List the files and the digest, and write nothing."
    )
    return _image_options(digest(dry_run(command)))


@contextmanager
def print_build_errors() -> Iterator[None]:
    """Print each reason for which a build is rejected, with its source line."""
    try:
        yield
    except BuildRejected as rejection:
        for error in rejection.errors:
            print_opm_error(error, rejection.sources)
        raise


def write_built_image(built: BuiltImage, *, print_digest: bool, dry_run: bool) -> None:
    """Write an image, and print where it is and its digest. A dry run lists its files instead."""
    if not dry_run:
        built.write()
    if print_digest:
        write_output([f"{built.digest}\n"], None, machine=True)
        return
    lines = [f"{'add':<7} /{printable(name)}\n" for name in built.files] if dry_run else []
    written = printable(f"{'would be ' if dry_run else ''}written to {built.location}")
    platforms = ", ".join(map(str, built.platforms))
    lines.append(f"{count(len(built.files), 'file')} for {platforms} {written}\n{built.digest}\n")
    write_output(lines, None, machine=False)
