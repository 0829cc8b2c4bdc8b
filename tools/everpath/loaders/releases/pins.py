"""Loads the file of image digests of `pins:` and `--pin`.

Two formats are supported: lines IMAGE:TAG=IMAGE@sha256:…, as in the mapping.txt of `oc adm catalog mirror`
and oc-mirror, and a JSON or YAML mapping from image to image, as `operator-manifest-tools pinning resolve`
prints.
"""

from __future__ import annotations

__all__ = ["load_pins"]

import re
from collections.abc import Iterator
from typing import Final

from everpath.errors import ReleasesError, UnreadableInput
from everpath.loaders.fields import describe_value
from everpath.loaders.sources import MEBIBYTE, Sources
from everpath.parsing import yaml_parser

_MAX_SIZE: Final = 16 * MEBIBYTE
_PINNED_REFERENCE: Final = re.compile(r"\S+@sha256:[0-9a-f]{64}")
_HINT: Final = "write IMAGE:TAG=IMAGE@sha256:…; `skopeo inspect docker://IMAGE:TAG` prints the digest"


def load_pins(file: str, sources: Sources) -> dict[str, str]:
    """Return the pinned reference of each image. Raises ReleasesError with the line of an invalid entry.

    Images that have a digest are left out: such lines describe mirrors.
    """
    try:
        content = sources.read(file, _MAX_SIZE).removeprefix(b"\xef\xbb\xbf")
    except UnreadableInput as error:
        hint = "create the file, or change `pins:` or --pin"
        raise UnreadableInput(error.message, hint=hint, file=file) from error
    is_document = content.lstrip()[:1] == b"{" or file.endswith((".json", ".yaml", ".yml"))
    found: dict[str, str] = {}
    for line, image, pinned in (_document if is_document else _lines)(content, file):
        if "@" in image:
            continue
        if not _PINNED_REFERENCE.fullmatch(pinned):
            raise _error(file, line, f"the pinned reference of {image} has no digest: {pinned or 'nothing'}")
        if found.setdefault(image, pinned) != pinned:
            raise _error(file, line, f"{image} has two pinned references: {found[image]} and {pinned}")
    return found


def _lines(content: bytes, file: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        text = line.strip()
        if text and not text.startswith("#"):
            image, equals, pinned = (part.strip() for part in text.partition("="))
            if not equals or not image:
                raise _error(file, number, f"{text[:80]!r} has no digest")
            yield number, image, pinned


def _document(content: bytes, file: str) -> Iterator[tuple[int, str, str]]:
    try:
        parsed = yaml_parser.parse(content)
    except yaml_parser.ParseError as error:
        raise _error(file, error.line, error.message) from error
    if not isinstance(parsed.value, dict):
        raise _error(
            file, 1, f"the file must be a mapping from image to image, not {describe_value(parsed.value)}"
        )
    for image, pinned in parsed.value.items():
        if not isinstance(pinned, str):
            raise _error(
                file, 1, f"the pinned reference of {image} must be text, not {describe_value(pinned)}"
            )
        yield 1, image, pinned


def _error(file: str, line: int, message: str) -> ReleasesError:
    return ReleasesError(f"{file}:{line}: {message}", hint=_HINT, file=file)
