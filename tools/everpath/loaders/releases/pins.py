"""Which digest a tag stands for: the file that `pins:` and `--pin` name.

Two forms are read, since two kinds of tools write them: lines IMAGE:TAG=IMAGE@sha256:…, like those of the
mapping.txt of `oc adm catalog mirror` and oc-mirror, and one JSON or YAML mapping from image to image, as
`operator-manifest-tools pinning resolve` prints it, which pins for operator-sdk.
"""

from __future__ import annotations

__all__ = ["load_pins"]

import re
from collections.abc import Iterator
from typing import Final

from everpath.errors import ReleasesError, UnreadableInput
from everpath.loaders.releases.fields import describe_value
from everpath.loaders.sources import MEBIBYTE, Sources
from everpath.parsing import yaml_parser

_LARGEST: Final = 16 * MEBIBYTE
_PINNED: Final = re.compile(r"\S+@sha256:[0-9a-f]{64}")
_HINT: Final = "a line is IMAGE:TAG=IMAGE@sha256:…; `skopeo inspect docker://IMAGE:TAG` prints the digest"


def load_pins(file: str, sources: Sources) -> dict[str, str]:
    """What each image is pinned to. Raises ReleasesError for a line that is none, with its number.

    An image that is named by a digest already is left out: such lines say where it is mirrored.
    """
    try:
        content = sources.read(file, _LARGEST).removeprefix(b"\xef\xbb\xbf")
    except UnreadableInput as error:
        hint = "`pins:` or --pin names it: make it, or name another"
        raise UnreadableInput(error.message, hint=hint, file=file) from error
    is_document = content.lstrip()[:1] == b"{" or file.endswith((".json", ".yaml", ".yml"))
    found: dict[str, str] = {}
    for line, image, pinned in (_document if is_document else _lines)(content, file):
        if "@" in image:
            continue
        if not _PINNED.fullmatch(pinned):
            raise _wrong(file, line, f"{image} is to be pinned to {pinned or 'nothing'}, which has no digest")
        if found.setdefault(image, pinned) != pinned:
            raise _wrong(file, line, f"{image} is pinned twice: to {found[image]} and to {pinned}")
    return found


def _lines(content: bytes, file: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        text = line.strip()
        if text and not text.startswith("#"):
            image, equals, pinned = (part.strip() for part in text.partition("="))
            if not equals or not image:
                raise _wrong(file, number, f"{text[:80]!r} says nothing of a digest")
            yield number, image, pinned


def _document(content: bytes, file: str) -> Iterator[tuple[int, str, str]]:
    try:
        parsed = yaml_parser.parse(content)
    except yaml_parser.ParseError as error:
        raise _wrong(file, error.line, error.message) from error
    if not isinstance(parsed.value, dict):
        raise _wrong(
            file, 1, f"a mapping from image to image should be here, not {describe_value(parsed.value)}"
        )
    for image, pinned in parsed.value.items():
        if not isinstance(pinned, str):
            raise _wrong(file, 1, f"{image} is to be pinned to {describe_value(pinned)}")
        yield 1, image, pinned


def _wrong(file: str, line: int, message: str) -> ReleasesError:
    return ReleasesError(f"{file}:{line}: {message}", hint=_HINT, file=file)
