"""Layers into a folder, from strangers: regular files and folders come out, inside of the folder, or nothing.

What the layers say is laid out in memory first, contents are spooled under numbers, and only what is wanted
of the finished picture gets a name on disk. No link is ever made: one to a file inside becomes a copy of it.
"""

from __future__ import annotations

__all__ = ["LIMIT", "fill", "unpack"]

import errno
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from typing import Final, NamedTuple

from everpath.atomic_files import draft_folder, folder_aside
from everpath.errors import UnreadableInput, UsageError
from everpath.oci.descriptors import Descriptor, Image, Platform
from everpath.oci.inflating import Allowance, layer_pieces
from everpath.oci.platforms import diff_ids_of, manifest_for, parts_of
from everpath.oci.tar_reader import NotTar, Pieces, TarEntry, TarReader

#: How many bytes all layers may unpack to, also those of a base that are read only to get past them.
LIMIT: Final = 4 << 30

_MOST_MEMBERS: Final = 1_000_000
# What Linux takes for a path, far more folders than anybody nests, and what all names may take in memory.
_LONGEST_NAME: Final = 4096
_DEEPEST: Final = 128
_MOST_NAMES: Final = 256 << 20
_WHITEOUT: Final = ".wh."
_OPAQUE: Final = ".wh..wh..opq"
_MOST_LINKS: Final = 16


def unpack(
    image: Image,
    folder: str,
    *,
    prefixes: Iterable[str] = (),
    platform: Platform | None = None,
    limit: int = LIMIT,
) -> tuple[str, ...]:
    """Unpack one platform's files into a folder that is not there yet, or empty. Returns their names, sorted.

    Prefixes are folders (or files) of the image, as `/configs`; without any, all of it is wanted. Raises
    UnreadableInput for a layer that is damaged, leaves the folder or holds what is no file, and UsageError
    where the folder cannot be written; either leaves nothing behind.
    """
    target = Path(folder)
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise UsageError(f"{folder} is not empty", hint="name a folder that is not there yet")
    with draft_folder(target) as draft, folder_aside(target) as spool:
        return fill(image, draft, spool, prefixes=prefixes, platform=platform, limit=limit)


def fill(
    image: Image,
    folder: Path,
    spool: Path,
    *,
    prefixes: Iterable[str] = (),
    platform: Platform | None = None,
    limit: int = LIMIT,
) -> tuple[str, ...]:
    """The same into an empty folder, by way of another one on the same file system. Raises OSError, too.

    Where that fails, both are worth nothing.
    """
    manifest = manifest_for(image, platform)
    _, layers = parts_of(image, manifest)
    wanted = tuple(prefix.strip("/") for prefix in prefixes if prefix.strip("/"))
    allowance = Allowance(limit)
    picture = _Picture(spool, wanted)
    for layer, diff_id in zip(layers, diff_ids_of(image, manifest, len(layers)), strict=True):
        picture.lay(layer, layer_pieces(image.content, layer, allowance, diff_id))
    return picture.develop(folder, allowance)


class _Kept(NamedTuple):
    """A file whose content is spooled, or a symbolic link and where it points."""

    spool: Path | None = None
    target: str = ""
    is_executable: bool = False


#: Names from the root of the image; a folder is None, as nothing but its name is kept.
_Entries = dict[str, _Kept | None]


@dataclass(slots=True)
class _Census:
    """How much was seen. Raises UnreadableInput for more than any image has."""

    members: int = 0
    length: int = 0

    def add(self, name: str) -> None:
        self.members += 1
        self.length += len(name)
        if self.members > _MOST_MEMBERS:
            raise UnreadableInput(f"the image has more than {_MOST_MEMBERS:,} files")
        if self.length > _MOST_NAMES:
            raise UnreadableInput(f"the names of the image's files take more than {_MOST_NAMES >> 20} MiB")


@dataclass(slots=True)
class _Layer:
    """What one layer brings, and what it takes away from those below it."""

    census: _Census
    entries: _Entries = field(default_factory=dict)
    implied: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    emptied: set[str] = field(default_factory=set)

    def put(self, name: str, kept: _Kept | None) -> None:
        """Raises UnreadableInput for a name that is a folder and something else, or leads through such."""
        if len(name) > _LONGEST_NAME or name.count("/") >= _DEEPEST:
            raise _refused(f"{name[:60]}…", "its path is longer than any")
        for above in filter(None, _above(name)):
            if above not in self.entries:
                self.census.add(above)
                self.implied.add(above)
                self.entries[above] = None
            elif self.entries[above] is not None:
                raise _refused(name, f"{above} is no folder")
        if kept is not None:
            if name in self.entries and self.entries[name] is None:
                raise _refused(name, "it is a folder, too")
            self.emptied.add(name)
        self.implied.discard(name)
        self.entries[name] = kept

    def over(self, below: _Entries) -> _Entries:
        """Both together. Cost: the names below times their depth."""
        left = {name: kept for name, kept in below.items() if not self._hides(name)}
        for name in self.implied:
            if left.get(name) is not None:
                raise _refused(f"{name}/", f"{name} is no folder")
        return left | self.entries

    def _hides(self, name: str) -> bool:
        return name in self.gone or any(above in self.gone or above in self.emptied for above in _above(name))


@dataclass(slots=True)
class _Picture:
    """What the layers so far come to."""

    spools: Path
    wanted: tuple[str, ...]
    entries: _Entries = field(default_factory=dict)
    census: _Census = field(default_factory=_Census)

    def lay(self, layer: Descriptor, pieces: Iterator[bytes]) -> None:
        """Put a layer on top: what it takes away first, wherever in the archive that stands."""
        source = Pieces(pieces)
        archive = TarReader(source)
        fresh = _Layer(self.census)
        try:
            for member in archive:
                self._take(archive, member, fresh)
        except NotTar as error:
            raise UnreadableInput(
                f"the layer {layer.digest} is no tar archive: {error}", hint=_HINT
            ) from error
        source.drain()
        self.entries = fresh.over(self.entries)

    def _take(self, archive: TarReader, member: TarEntry, fresh: _Layer) -> None:
        self.census.add(member.name)
        name = _safe(member.name)
        parent, _, last = name.rpartition("/")
        if last == _OPAQUE:
            fresh.emptied.add(parent)
        elif last.startswith(_WHITEOUT):
            fresh.gone.add(f"{parent}/{last.removeprefix(_WHITEOUT)}".lstrip("/"))
        elif name and self._is_wanted(name):
            fresh.put(name, self._kept(archive, member, fresh))

    def _is_wanted(self, name: str) -> bool:
        return not self.wanted or any(name == each or name.startswith(f"{each}/") for each in self.wanted)

    def _kept(self, archive: TarReader, member: TarEntry, fresh: _Layer) -> _Kept | None:
        if member.kind == "folder":
            return None
        if member.kind == "symlink":
            return _Kept(target=member.link)
        if member.kind == "hardlink":
            original = _safe(member.link)
            kept = fresh.entries.get(original) or self.entries.get(original)
            if kept is None:
                raise _refused(
                    member.name, f"it is a hard link to {original}, which is no file unpacked here"
                )
            return kept
        if member.kind == "other":
            raise _refused(member.name, "it is neither a file nor a folder")
        return _Kept(self._spool(archive), is_executable=bool(member.mode & 0o100))

    def _spool(self, archive: TarReader) -> Path:
        path = self.spools / str(self.census.members)
        with path.open("xb") as stream:
            stream.writelines(archive.content())
        return path

    def develop(self, root: Path, allowance: Allowance) -> tuple[str, ...]:
        """Give files their names, all of them below a root. Copies count as what comes out of a layer."""
        placed: dict[Path, Path] = {}
        files = []
        for name, entry in sorted(self.entries.items()):
            try:
                if entry is None:
                    (root / name).mkdir(exist_ok=True)
                    continue
                _place(self._followed(name), root / name, placed, allowance)
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    raise _refused(f"{name[:60]}…", "no file here can have so long a name") from error
                raise
            files.append(name)
        return tuple(files)

    def _followed(self, name: str) -> _Kept:
        """The file a name stands for. A link may lead to a file in the picture, and nowhere else."""
        at = name
        for _ in range(_MOST_LINKS):
            kept = self.entries.get(at)
            if kept is None:
                break
            if kept.spool is not None:
                return kept
            at = _joined(at, kept.target)
        raise _refused(name, "it is a link that does not lead to a file inside")


_HINT: Final = "pull or build the image again"


def _place(kept: _Kept, path: Path, placed: dict[Path, Path], allowance: Allowance) -> None:
    """A file under its name; the second of one content is a copy of the first."""
    assert kept.spool is not None
    if (twin := placed.get(kept.spool)) is not None:
        allowance.spend(twin.stat().st_size)
        copyfile(twin, path)
    else:
        placed[kept.spool] = kept.spool.rename(path)
    path.chmod(0o755 if kept.is_executable else 0o644)


def _safe(name: str) -> str:
    """A member's name from the image's root. Raises UnreadableInput for one that leads out of it."""
    if name.startswith("/") or "\0" in name or ".." in name.split("/"):
        raise _refused(name, "its path leaves the image")
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def _above(name: str) -> Iterator[str]:
    """The folders a name is in, the outermost first; the root is called nothing."""
    parts = name.split("/")
    for depth in range(len(parts)):
        yield "/".join(parts[:depth])


def _joined(name: str, target: str) -> str:
    """Where a link at a name points; nowhere, which is no entry, if it climbs out of the root."""
    parts = [] if target.startswith("/") else name.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _refused(name: str, reason: str) -> UnreadableInput:
    return UnreadableInput(
        f"the image holds {name!r}, and {reason}",
        hint="nothing was unpacked; whoever built the image should know why that is in it",
    )
