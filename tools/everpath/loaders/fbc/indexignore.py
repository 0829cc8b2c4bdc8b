"""`.indexignore`: which files of a catalog's folder opm ignores.

The syntax is gitignore's as go-git implements it. It differs from git's: a file that is re-included below an
ignored folder is read, `**` has a meaning only between slashes, only `^` negates a class, and white space
around a line is removed.
"""

from __future__ import annotations

__all__ = ["IgnoreRules"]

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

_ANY_FOLDERS: Final = "**"


class _Pattern(NamedTuple):
    """One line of an ignore file. It applies only to paths below `folder`, the folder of that file."""

    folder: tuple[str, ...]
    steps: tuple[str, ...]
    includes: bool
    only_folders: bool

    @classmethod
    def of(cls, line: str, folder: tuple[str, ...]) -> _Pattern:
        body = line.removeprefix("!")
        steps = tuple(body.removesuffix("/").split("/"))
        return cls(folder, steps, line.startswith("!"), body.endswith("/"))

    def matches(self, path: Sequence[str]) -> bool:
        """Return whether the line applies to a file, by its name or by a folder above it."""
        if len(path) <= len(self.folder) or tuple(path[: len(self.folder)]) != self.folder:
            return False
        inside = path[len(self.folder) :]
        return self._matches_path(inside) if len(self.steps) > 1 else self._matches_name(inside)

    def _matches_name(self, path: Sequence[str]) -> bool:
        """Match a pattern without a slash: the first part of the path that matches decides."""
        index = next((i for i, part in enumerate(path) if _matches_glob(self.steps[0], part)), None)
        return index is not None and not (self.only_folders and index == len(path) - 1)

    def _matches_path(self, path: Sequence[str]) -> bool:
        """Match a pattern with a slash from the start of the path. Everything below a match matches too."""
        left = list(path)
        anywhere = matched = False
        for i, step in enumerate(self.steps):
            if step in ("", _ANY_FOLDERS):
                anywhere = step == _ANY_FOLDERS and i < len(self.steps) - 1
                continue
            if _ANY_FOLDERS in step or not left:
                return False
            at = next(
                (n for n, part in enumerate(left if anywhere else left[:1]) if _matches_glob(step, part)),
                None,
            )
            if at is None:
                return False
            matched, anywhere = True, False
            del left[: at + 1]
        return matched and not (self.only_folders and not left)


class IgnoreRules:
    """The lines of all ignore files of a folder. The last one that matches a file decides."""

    def __init__(self) -> None:
        self._patterns: list[_Pattern] = []

    def extend(self, lines: Iterable[str], folder: tuple[str, ...]) -> None:
        """Add the lines of one folder's ignore file. Call it in the order of `catalog_files`."""
        trimmed = (line.strip() for line in lines)
        self._patterns.extend(
            _Pattern.of(line, folder) for line in trimmed if line and not line.startswith("#")
        )

    def ignores(self, path: Sequence[str]) -> bool:
        """Return whether a file is ignored."""
        for pattern in reversed(self._patterns):
            if pattern.matches(path):
                return not pattern.includes
        return False


@lru_cache(maxsize=1024)
def _matches_glob(glob: str, name: str) -> bool:
    pattern = _expression(glob)
    return pattern is not None and pattern.fullmatch(name) is not None


_STAR: Final = "[^/]*"


@lru_cache(maxsize=256)
def _expression(glob: str) -> re.Pattern[str] | None:
    """Translate a glob of Go's filepath.Match to a regular expression; None if it is malformed."""
    try:
        return re.compile(_join(_translate(iter(glob))), re.DOTALL)
    except (ValueError, re.error):
        return None


def _join(pieces: Iterable[str]) -> str:
    """Join the pieces of a glob.

    The text after a star matches at its first occurrence, without backtracking: a later occurrence only
    leaves less for the stars that follow, and trying them all takes exponential time.
    """
    runs = [""]
    for piece in pieces:
        if piece == _STAR:
            runs.append("")
        else:
            runs[-1] += piece
    first, *others = runs
    if not others:
        return first
    *middle, last = others
    return first + "".join(f"(?>[^/]*?{run})" for run in middle if run) + _STAR + last


def _translate(characters: Iterator[str]) -> Iterator[str]:
    for character in characters:
        if character == "*":
            yield _STAR
        elif character == "?":
            yield "[^/]"
        elif character == "[":
            yield _class(characters)
        else:
            yield re.escape(_next(characters) if character == "\\" else character)


def _class(characters: Iterator[str]) -> str:
    """Translate `[a-z]` or `[^a-z]`. It needs at least one member, and no bare dash or bracket."""
    first = _next(characters)
    members = ["[^" if first == "^" else "["]
    character = _next(characters) if first == "^" else first
    while character != "]" or len(members) == 1:
        low = high = _member(character, characters)
        character = _next(characters)
        if character == "-":
            high = _member(_next(characters), characters)
            character = _next(characters)
        members.append(f"{re.escape(low)}-{re.escape(high)}")
    return "".join(members) + "]"


def _member(character: str, characters: Iterator[str]) -> str:
    if character in "-]":
        raise ValueError("a bare dash or bracket in a class")
    return _next(characters) if character == "\\" else character


def _next(characters: Iterator[str]) -> str:
    character = next(characters, None)
    if character is None:
        raise ValueError("an incomplete glob")
    return character
