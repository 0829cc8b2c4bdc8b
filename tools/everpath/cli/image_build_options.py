"""What `bundle build` and `catalog build` share: where an image goes, what it says, and how that is told."""

from __future__ import annotations

__all__ = [
    "Request",
    "build_options",
    "created",
    "pairs",
    "place",
    "platforms",
    "tell_refusals",
    "write",
]

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click

from everpath.cli.diagnostics import print_refusal
from everpath.cli.options import comma_list
from everpath.cli.output import write_output as write_text
from everpath.errors import UsageError
from everpath.loaders.sources import Sources
from everpath.model import OpmError
from everpath.oci.build import ImageSpec, build_image
from everpath.oci.descriptors import Image, Platform
from everpath.oci.layers import COMPRESSIONS, Compression
from everpath.oci.platforms import parse_platform, platform_manifests
from everpath.oci.tar_writer import MAX_MTIME
from everpath.oci.transports import ImageLocation, parse_location
from everpath.reporters.formatting import count, printable

F = TypeVar("F", bound=Callable[..., Any])

_EPOCH: Final = "SOURCE_DATE_EPOCH"
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/@-]{0,254}")
_NAMED_TAG: Final = re.compile(r"[a-z0-9][a-z0-9._:/-]*:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


class Request(NamedTuple):
    """The options of both commands."""

    output: str | None = None
    tag: str | None = None
    labels: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    compression: Compression = "gzip"
    print_digest: bool = False
    dry_run: bool = False
    no_check: bool = False


def build_options(command: F) -> F:
    """The options that both take."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS: Final = (
    click.option(
        "-o",
        "--output",
        metavar="WHERE",
        help="oci:FOLDER, oci-archive:FILE or docker-archive:FILE.  [default: oci-archive:NAME.oci.tar]",
    ),
    click.option(
        "--tag", metavar="TAG", help="What the image is called there; docker-archive wants NAME:TAG."
    ),
    click.option(
        "--label", "labels", metavar="KEY=VALUE", multiple=True, help="A label more; may be repeated."
    ),
    click.option(
        "--annotation",
        "annotations",
        metavar="KEY=VALUE",
        multiple=True,
        help="An annotation of the manifests; may be repeated.",
    ),
    click.option(
        "--platform",
        "platforms",
        metavar="OS/ARCH",
        multiple=True,
        callback=comma_list,
        help="A platform; may be repeated.  [default: linux on amd64, arm64, ppc64le and s390x]",
    ),
    click.option(
        "--compression",
        type=click.Choice(COMPRESSIONS),
        default="gzip",
        show_default=True,
        help="How the layer is compressed.",
    ),
    click.option("--print-digest", is_flag=True, help="Print the digest and nothing else."),
    click.option("--dry-run", is_flag=True, help="List the files and the digest, and write nothing."),
    click.option("--no-check", is_flag=True, help="Build also what opm or OLM would refuse."),
)


def pairs(option: str, given: Iterable[str], fixed: Mapping[str, str] | None = None) -> dict[str, str]:
    """`KEY=VALUE` as a mapping. Raises UsageError, also for a key whose value is fixed to another."""
    found: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not key or not equals or not _is_text(text):
            raise UsageError(f"{option} {printable(text)!r} says nothing", hint=f"write {option} KEY=VALUE")
        if found.setdefault(key, value) != value:
            raise UsageError(f"{option} gives {key} two values", hint="give one of them")
        if fixed is not None and fixed.get(key, value) != value:
            raise UsageError(
                f"{option} {key}={value} contradicts what the image holds: {fixed[key]}",
                hint="OLM goes by this label: leave the option out, and change what the folder says",
            )
    return found


def _is_text(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def created(environment: Mapping[str, str]) -> int:
    """The time that all files have, and the image: SOURCE_DATE_EPOCH, else the start of 1970."""
    stated = environment.get(_EPOCH, "")
    if not stated:
        return 0
    if not (stated.isascii() and stated.isdigit() and len(stated) < 20 and int(stated) <= MAX_MTIME):
        raise UsageError(
            f"{_EPOCH} is {printable(stated)!r}, which is no time",
            hint=f"set it to seconds since 1970, up to {MAX_MTIME}, as `git log -1 --format=%ct` prints them",
        )
    return int(stated)


def platforms(request: Request, where: ImageLocation) -> tuple[Platform, ...]:
    """Those that were asked for; a docker-archive has room for one."""
    found = tuple(dict.fromkeys(map(parse_platform, request.platforms)))
    if where.transport != "docker-archive":
        return found
    if len(found) > 1:
        raise UsageError(
            "a docker-archive holds one platform", hint="name one --platform, or write an oci-archive"
        )
    return found or (Platform("linux", "amd64"),)


def place(request: Request, source: str, name: str) -> ImageLocation:
    """Where the image of a folder goes, and under which tag; by default here, called after the folder.

    Raises UsageError. What a folder says must not lead to another one, nor be taken for a tag.
    """
    file = name if _FILE_NAME.fullmatch(name) else "image"
    output = request.output if request.output is not None else f"oci-archive:{file}.oci.tar"
    where = parse_location(output)
    if where.transport == "docker":
        raise UsageError(
            f"{request.output} is in a registry, and build writes files",
            hint="`everpath bundle push` and `everpath catalog push` send them there",
        )
    _require_outside(where.path, source)
    if None not in (request.tag, where.tag) and request.tag != where.tag:
        raise UsageError(
            f"--tag {request.tag} and --output {where} name two tags", hint="leave one of them out"
        )
    tag = request.tag if request.tag is not None else where.tag
    if tag is not None and not _TAG.fullmatch(tag):
        raise UsageError(
            f"{printable(tag)!r} is no tag", hint="write it like v1.0.0 or registry.example/op:v1"
        )
    if tag is not None and where.transport == "docker-archive" and not _NAMED_TAG.fullmatch(tag):
        raise UsageError(f"{tag!r} names no image to docker load", hint=f"write --tag NAME:{tag}")
    return ImageLocation(where.transport, None, where.path, tag)


def _require_outside(output: str, source: str) -> None:
    """An image in the folder it is made of would be part of the next one."""
    here, there = Path(output).resolve(), Path(source).resolve()
    if here == there or there in here.parents:
        raise UsageError(
            f"{output} is inside of {source}, and would be part of the next image",
            hint=f"write it somewhere else: -o oci-archive:../{there.name}.oci.tar",
        )


def write(request: Request, recipe: ImageSpec, where: ImageLocation) -> None:
    """Build, write and tell."""
    image = build_image(recipe)
    digest = _digest(image, where)
    if not request.dry_run:
        _write(image, where)
    if request.print_digest:
        write_text([f"{digest}\n"], None, machine=True)
        return
    files = [member.name for member in recipe.members if member.is_file]
    for name in files if request.dry_run else ():
        click.echo(f"{'add':<7} /{printable(name)}")
    done = f"would be written to {where}" if request.dry_run else f"written to {where}"
    names = ", ".join(str(platform) for platform, _ in platform_manifests(image))
    write_text(
        [f"{count(len(files), 'file')} for {names} {printable(done)}\n{digest}\n"], None, machine=False
    )


def _digest(image: Image, where: ImageLocation) -> str:
    """What pins the image; a docker-archive has no manifest, and its image goes by its ID."""
    if where.transport != "docker-archive":
        return image.root.digest
    from everpath.oci.docker_archives import image_id  # noqa: PLC0415

    return image_id(image)


def _write(image: Image, where: ImageLocation) -> None:
    if where.transport == "oci":
        from everpath.oci.layouts import write_layout  # noqa: PLC0415

        write_layout(image, where.path, where.tag)
    elif where.transport == "oci-archive":
        from everpath.oci.oci_archives import write_oci_archive  # noqa: PLC0415

        write_oci_archive(image, where.path, where.tag)
    else:
        from everpath.oci.docker_archives import write_docker_archive  # noqa: PLC0415

        write_docker_archive(image, where.path, where.tag)


def tell_refusals(refusals: Sequence[OpmError], sources: Sources, what: str) -> bool:
    """Every refusal with its line; whether there is one."""
    for refusal in refusals:
        print_refusal(refusal, sources)
    if refusals:
        click.echo(f"error: no image was built: {what}; --no-check builds it all the same", err=True)
    return bool(refusals)
