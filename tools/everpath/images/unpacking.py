"""Layers into a folder, from strangers: regular files and folders come out, inside of the folder, or nothing.

What the layers say is laid out in memory first, contents are spooled under numbers, and only what is wanted
of the finished picture gets a name on disk. No link is ever made: one to a file inside becomes a copy of it.
"""

from __future__ import annotations

__all__ = ["LIMIT", "unpack"]

import io
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile, copyfileobj
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final, NamedTuple, cast

from everpath.errors import UnreadableInput, UsageError
from everpath.images.content import Descriptor, Image, Platform
from everpath.images.drafts import draft_folder
from everpath.images.inflating import Allowance, layer_pieces
from everpath.images.platforms import manifest_for, parts_of

#: How many bytes all layers may unpack to, also those of a base that are read only to get past them.
LIMIT: Final = 4 << 30

_MOST_MEMBERS: Final = 1_000_000
_WHITEOUT: Final = ".wh."
_OPAQUE: Final = ".wh..wh..opq"
_PIECE: Final = 1 << 20
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
    _, layers = parts_of(image, manifest_for(image, platform))
    wanted = tuple(prefix.strip("/") for prefix in prefixes if prefix.strip("/"))
    allowance = Allowance(limit)
    with draft_folder(target) as draft, TemporaryDirectory(dir=target.parent, prefix=".everpath.") as spool:
        picture = _Picture(Path(spool), wanted)
        for layer in layers:
            picture.lay(layer, layer_pieces(image.content, layer, allowance))
        return picture.develop(draft, allowance)


class _Kept(NamedTuple):
    """A file whose content is spooled, or a symbolic link and where it points."""

    spool: Path | None = None
    target: str = ""
    is_executable: bool = False


#: Names from the root of the image; a folder is None, as nothing but its name is kept.
_Entries = dict[str, _Kept | None]


@dataclass(slots=True)
class _Layer:
    """What one layer brings, and what it takes away from those below it."""

    entries: _Entries = field(default_factory=dict)
    implied: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    emptied: set[str] = field(default_factory=set)

    def put(self, name: str, kept: _Kept | None) -> None:
        """Raises UnreadableInput for a name that is a folder and something else, or leads through such."""
        for above in filter(None, _above(name)):
            if above not in self.entries:
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
    seen: int = 0

    def lay(self, layer: Descriptor, pieces: Iterator[bytes]) -> None:
        """Put a layer on top: what it takes away first, wherever in the archive that stands."""
        stream = _Stream(pieces)
        fresh = _Layer()
        try:
            with tarfile.open(fileobj=cast(BinaryIO, stream), mode="r|", errors="surrogateescape") as archive:
                while (member := archive.next()) is not None:
                    self._take(archive, member, fresh)
                    archive.members = []  # type: ignore[attr-defined]
        except (tarfile.TarError, ValueError, OverflowError, EOFError) as error:
            raise UnreadableInput(
                f"the layer {layer.digest} is no tar archive: {error}", hint=_HINT
            ) from error
        stream.drain()
        self.entries = fresh.over(self.entries)

    def _take(self, archive: tarfile.TarFile, member: tarfile.TarInfo, fresh: _Layer) -> None:
        self.seen += 1
        if self.seen > _MOST_MEMBERS:
            raise UnreadableInput(f"the image has more than {_MOST_MEMBERS:,} files")
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

    def _kept(self, archive: tarfile.TarFile, member: tarfile.TarInfo, fresh: _Layer) -> _Kept | None:
        if member.isdir():
            return None
        if member.issym():
            return _Kept(target=member.linkname)
        if member.islnk():
            original = _safe(member.linkname)
            kept = fresh.entries.get(original) or self.entries.get(original)
            if kept is None:
                raise _refused(
                    member.name, f"it is a hard link to {original}, which is no file unpacked here"
                )
            return kept
        if not member.isreg() or member.issparse():
            raise _refused(member.name, "it is neither a file nor a folder")
        return _Kept(self._spool(archive, member), is_executable=bool(member.mode & 0o100))

    def _spool(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> Path:
        path = self.spools / str(self.seen)
        content = archive.extractfile(member)
        assert content is not None
        with path.open("xb") as stream:
            copyfileobj(content, stream, _PIECE)
        return path

    def develop(self, root: Path, allowance: Allowance) -> tuple[str, ...]:
        """Give files their names, all of them below a root. Copies count as what comes out of a layer."""
        placed: dict[Path, Path] = {}
        files = []
        for name, entry in sorted(self.entries.items()):
            path = root / name
            if entry is None:
                path.mkdir(exist_ok=True)
                continue
            kept = self._followed(name)
            assert kept.spool is not None
            if (twin := placed.get(kept.spool)) is not None:
                allowance.spend(twin.stat().st_size)
                copyfile(twin, path)
            else:
                placed[kept.spool] = kept.spool.rename(path)
            path.chmod(0o755 if kept.is_executable else 0o644)
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


class _Stream(io.RawIOBase):
    """Pieces as the stream that tarfile reads."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held = b""

    def read(self, size: int = -1) -> bytes:
        while len(self._held) < size and (piece := next(self._pieces, None)) is not None:
            self._held += piece
        found, self._held = self._held[:size], self._held[size:]
        return found

    def drain(self) -> None:
        """Read what is behind the archive: only a whole blob can be told from a damaged one."""
        for _ in self._pieces:
            pass
