"""What the images of bundles and catalogs have in common: options, where they are written, and errors."""

from __future__ import annotations

__all__ = [
    "BuildRejected",
    "BuiltImage",
    "ImageBuildOptions",
    "image_labels",
    "output_location",
    "output_platforms",
    "source_date_epoch",
]

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from everpath.errors import EverpathError, ExitCode, UsageError
from everpath.loaders.sources import Sources
from everpath.model import OpmError
from everpath.oci.build import ImageSpec, build_image
from everpath.oci.descriptors import Image, Platform
from everpath.oci.layers import Compression
from everpath.oci.platforms import platform_manifests
from everpath.oci.tar_writer import MAX_MTIME
from everpath.oci.transports import ImageLocation, parse_location, write_image
from everpath.reporters.formatting import printable

_EPOCH: Final = "SOURCE_DATE_EPOCH"
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/@-]{0,254}")
_NAMED_TAG: Final = re.compile(r"[a-z0-9][a-z0-9._:/-]*:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBuildOptions:
    """How to build an image, and where to write it.

    `output` is `oci:FOLDER`, `oci-archive:FILE` or `docker-archive:FILE`; by default an oci-archive in the
    current folder, with the name of the content. Without `platforms` the image has the default ones, or those
    of its base. `no_check` builds also what opm or OLM would reject.
    """

    output: str | None = None
    tag: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    platforms: Sequence[Platform] = ()
    compression: Compression = "gzip"
    no_check: bool = False


class BuildRejected(EverpathError):
    """The content is not what opm or OLM can use, for the reasons in `errors`. No image was built."""

    def __init__(
        self, problem: str, errors: Sequence[OpmError], sources: Sources, *, is_unreadable: bool
    ) -> None:
        super().__init__(f"no image was built: {problem}", hint="--no-check builds it all the same")
        self.errors = errors
        self.sources = sources
        self.exit_code = ExitCode.UNREADABLE if is_unreadable else ExitCode.FINDINGS


class BuiltImage:
    """An image in memory, and the location to write it to."""

    def __init__(self, spec: ImageSpec, location: ImageLocation) -> None:
        self.image: Image = build_image(spec)
        self.location = location
        #: The paths of the files that the build adds.
        self.files = [member.name for member in spec.members if member.is_file]

    @property
    def digest(self) -> str:
        """The digest that identifies the image; a docker-archive has no manifest, only an image ID."""
        if self.location.transport != "docker-archive":
            return self.image.root.digest
        from everpath.oci.docker_archives import image_id  # noqa: PLC0415 - rarely needed

        return image_id(self.image)

    @property
    def platforms(self) -> list[Platform]:
        return [platform for platform, _ in platform_manifests(self.image)]

    def write(self) -> None:
        """Write the image to its location. Raises UsageError."""
        write_image(self.image, self.location)


def source_date_epoch(environment: Mapping[str, str] = os.environ) -> int:
    """Return the time of the image and all of its files: SOURCE_DATE_EPOCH, else 0. Raises UsageError."""
    text = environment.get(_EPOCH, "")
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= MAX_MTIME):
        raise UsageError(
            f"{_EPOCH} is {printable(text)!r}, not a time",
            hint=f"set it to seconds since 1970, up to {MAX_MTIME}, as `git log -1 --format=%ct` prints them",
        )
    return int(text)


def image_labels(content_labels: Mapping[str, str], options: ImageBuildOptions) -> dict[str, str]:
    """Return the labels of the content and of the options. Raises UsageError for a contradiction."""
    for key, value in options.labels.items():
        if content_labels.get(key, value) != value:
            raise UsageError(
                f"--label {key}={value} contradicts the content of the image: {content_labels[key]}",
                hint="OLM reads this label: leave the option out, and change the content",
            )
    return {**content_labels, **options.labels}


def output_platforms(options: ImageBuildOptions, location: ImageLocation) -> tuple[Platform, ...]:
    """Return the platforms to build; a docker-archive has only one. Raises UsageError."""
    platforms = tuple(dict.fromkeys(options.platforms))
    if location.transport != "docker-archive":
        return platforms
    if len(platforms) > 1:
        raise UsageError(
            "a docker-archive holds one platform", hint="name one --platform, or write an oci-archive"
        )
    return platforms or (Platform("linux", "amd64"),)


def output_location(options: ImageBuildOptions, source: str, name: str) -> ImageLocation:
    """Return where to write the image of a source, with its tag. `name` is that of the default file.

    Raises UsageError for a registry, an invalid tag, and a path inside the source: the next image would
    contain this one. A name that is not safe as a file name is not used.
    """
    file = name if _FILE_NAME.fullmatch(name) else "image"
    location = parse_location(options.output if options.output is not None else f"oci-archive:{file}.oci.tar")
    if location.transport == "docker":
        raise UsageError(
            f"{options.output} is in a registry, and build writes files",
            hint="`everpath bundle push` and `everpath catalog push` push to a registry",
        )
    output_path, source_path = Path(location.path).resolve(), Path(source).resolve()
    if output_path == source_path or source_path in output_path.parents:
        raise UsageError(
            f"{location.path} is inside {source}, and would be part of the next image",
            hint=f"write it to another folder: -o oci-archive:../{source_path.name}.oci.tar",
        )
    if None not in (options.tag, location.tag) and options.tag != location.tag:
        raise UsageError(
            f"--tag {options.tag} and --output {location} name two tags", hint="leave one of them out"
        )
    tag = options.tag if options.tag is not None else location.tag
    if tag is not None and not _TAG.fullmatch(tag):
        raise UsageError(
            f"{printable(tag)!r} is not a valid tag", hint="write it like v1.0.0 or registry.example/op:v1"
        )
    if tag is not None and location.transport == "docker-archive" and not _NAMED_TAG.fullmatch(tag):
        raise UsageError(f"docker load needs a name for tag {tag!r}", hint=f"write --tag NAME:{tag}")
    return ImageLocation(location.transport, None, location.path, tag)
