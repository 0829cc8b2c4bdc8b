"""Unpacking of untrusted images: only regular files and folders, only below the target folder, or nothing.

The contents of files are spooled under numbers while the layers are merged in memory. Files get their names
at the end. No link is created: a link to a file of the image becomes a copy.
"""

from __future__ import annotations

__all__ = ["MAX_UNPACKED_SIZE", "unpack_image", "unpack_into"]

import errno
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from typing import Final, NamedTuple

from everpath.atomic_files import atomic_folder, scratch_folder
from everpath.errors import UnreadableInput, UsageError
from everpath.oci.configs import load_diff_ids
from everpath.oci.descriptors import Descriptor, Image, Platform
from everpath.oci.layers import SizeBudget, layer_tar_chunks
from everpath.oci.manifests import config_and_layers
from everpath.oci.platforms import select_manifest
from everpath.oci.tar_reader import ChunkSource, InvalidTar, TarEntry, TarReader

#: The size of all layers after decompression, including files that are not unpacked.
MAX_UNPACKED_SIZE: Final = 4 << 30

_MAX_MEMBERS: Final = 1_000_000
_MAX_PATH_LENGTH: Final = 4096  # PATH_MAX of Linux
_MAX_PATH_DEPTH: Final = 128
_MAX_TOTAL_NAME_LENGTH: Final = 256 << 20
_MAX_LINK_DEPTH: Final = 16
_WHITEOUT: Final = ".wh."
_OPAQUE_WHITEOUT: Final = ".wh..wh..opq"


def unpack_image(
    image: Image,
    folder: str,
    *,
    prefixes: Iterable[str] = (),
    platform: Platform | None = None,
    max_size: int = MAX_UNPACKED_SIZE,
) -> tuple[str, ...]:
    """Unpack the files of one platform into a new or empty folder, and return their names in order.

    `prefixes` are the folders or files to unpack, such as `/configs`; by default everything is. Raises
    UnreadableInput for a layer that is damaged, or contains anything but files and folders inside the
    image, and UsageError if the folder cannot be written. Nothing is written then.
    """
    target = Path(folder)
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise UsageError(f"{folder} is not empty", hint="name a folder that does not exist")
    with atomic_folder(target) as new, scratch_folder(beside=target) as spool:
        return unpack_into(image, new, spool, prefixes=prefixes, platform=platform, max_size=max_size)


def unpack_into(
    image: Image,
    folder: Path,
    spool: Path,
    *,
    prefixes: Iterable[str] = (),
    platform: Platform | None = None,
    max_size: int = MAX_UNPACKED_SIZE,
) -> tuple[str, ...]:
    """Unpack as `unpack_image` does, but not atomically: delete the folder after an exception.

    `folder` and `spool` must be empty and on one file system. Raises OSError too.
    """
    manifest = select_manifest(image, platform)
    _, layers = config_and_layers(image, manifest)
    budget = SizeBudget(max_size)
    tree = _FileTree(spool, tuple(prefix.strip("/") for prefix in prefixes if prefix.strip("/")))
    for layer, diff_id in zip(layers, load_diff_ids(image, manifest, len(layers)), strict=True):
        tree.apply_layer(layer, layer_tar_chunks(image.blobs, layer, budget, diff_id))
    return tree.write(folder, budget)


class _Node(NamedTuple):
    """A file with spooled content, or a symbolic link with its target."""

    spool: Path | None = None
    link_target: str = ""
    is_executable: bool = False


#: Nodes by their paths from the root of the image. A folder is None.
_Nodes = dict[str, _Node | None]


@dataclass(slots=True)
class _MemberCount:
    """Number and total length of the names of an image so far."""

    members: int = 0
    name_length: int = 0

    def add(self, name: str) -> None:
        """Count a name. Raises UnreadableInput when a limit is exceeded."""
        self.members += 1
        self.name_length += len(name)
        if self.members > _MAX_MEMBERS:
            raise UnreadableInput(f"the image has more than {_MAX_MEMBERS:,} files")
        if self.name_length > _MAX_TOTAL_NAME_LENGTH:
            raise UnreadableInput(
                f"the names of the image's files take more than {_MAX_TOTAL_NAME_LENGTH >> 20} MiB"
            )


@dataclass(slots=True)
class _LayerChanges:
    """What a layer adds, and what it hides of the layers below."""

    count: _MemberCount
    nodes: _Nodes = field(default_factory=dict)
    #: Folders that the layer does not contain, but that are parents of its members.
    implied_folders: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    #: Paths below which nothing of the lower layers remains.
    opaque: set[str] = field(default_factory=set)

    def add(self, name: str, node: _Node | None) -> None:
        """Add a member. Raises UnreadableInput if its path is too long or leads through a file or link."""
        if len(name) > _MAX_PATH_LENGTH or name.count("/") >= _MAX_PATH_DEPTH:
            raise _forbidden_member(f"{name[:60]}…", "its path is too long")
        for parent in filter(None, _parents(name)):
            if parent not in self.nodes:
                self.count.add(parent)
                self.implied_folders.add(parent)
                self.nodes[parent] = None
            elif self.nodes[parent] is not None:
                raise _forbidden_member(name, f"{parent} is not a folder")
        if node is not None:
            if name in self.nodes and self.nodes[name] is None:
                raise _forbidden_member(name, "it is a folder, too")
            self.opaque.add(name)
        self.implied_folders.discard(name)
        self.nodes[name] = node

    def merge_onto(self, lower: _Nodes) -> _Nodes:
        """Return the nodes of the lower layers with these changes."""
        remaining = {name: node for name, node in lower.items() if not self._hides(name)}
        for name in self.implied_folders:
            if remaining.get(name) is not None:
                raise _forbidden_member(f"{name}/", f"{name} is not a folder")
        return remaining | self.nodes

    def _hides(self, name: str) -> bool:
        return name in self.deleted or any(
            parent in self.deleted or parent in self.opaque for parent in _parents(name)
        )


@dataclass(slots=True)
class _FileTree:
    """The merged files of the layers so far."""

    spool: Path
    prefixes: tuple[str, ...]
    nodes: _Nodes = field(default_factory=dict)
    count: _MemberCount = field(default_factory=_MemberCount)

    def apply_layer(self, layer: Descriptor, chunks: Iterator[bytes]) -> None:
        """Merge a layer. Its whiteouts hide only files of lower layers, in any order."""
        source = ChunkSource(chunks)
        archive = TarReader(source)
        changes = _LayerChanges(self.count)
        try:
            for entry in archive:
                self._apply_entry(archive, entry, changes)
        except InvalidTar as error:
            raise UnreadableInput(
                f"the layer {layer.digest} is not a tar archive: {error}",
                hint="pull or build the image again",
            ) from error
        source.drain()
        self.nodes = changes.merge_onto(self.nodes)

    def _apply_entry(self, archive: TarReader, entry: TarEntry, changes: _LayerChanges) -> None:
        self.count.add(entry.name)
        name = _path_in_image(entry.name)
        parent, _, last = name.rpartition("/")
        if last == _OPAQUE_WHITEOUT:
            changes.opaque.add(parent)
        elif last.startswith(_WHITEOUT):
            changes.deleted.add(f"{parent}/{last.removeprefix(_WHITEOUT)}".lstrip("/"))
        elif name and (not self.prefixes or any(f"{name}/".startswith(f"{each}/") for each in self.prefixes)):
            changes.add(name, self._create_node(archive, entry, changes))

    def _create_node(self, archive: TarReader, entry: TarEntry, changes: _LayerChanges) -> _Node | None:
        if entry.kind == "folder":
            return None
        if entry.kind == "symlink":
            return _Node(link_target=entry.link)
        if entry.kind == "hardlink":
            original = _path_in_image(entry.link)
            node = changes.nodes.get(original) or self.nodes.get(original)
            if node is None:
                reason = f"it is a hard link to {original}, which is not an unpacked file"
                raise _forbidden_member(entry.name, reason)
            return node
        if entry.kind == "other":
            raise _forbidden_member(entry.name, "it is neither a file nor a folder")
        path = self.spool / str(self.count.members)
        with path.open("xb") as stream:
            stream.writelines(archive.content())
        return _Node(path, is_executable=bool(entry.mode & 0o100))

    def write(self, root: Path, budget: SizeBudget) -> tuple[str, ...]:
        """Move the files to their names below a folder, and return the names. Copies count for the budget."""
        placed: dict[Path, Path] = {}
        files = []
        for name, node in sorted(self.nodes.items()):
            try:
                if node is None:
                    (root / name).mkdir(exist_ok=True)
                    continue
                _place_file(self._resolve_link(name), root / name, placed, budget)
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    reason = "its name is too long for this file system"
                    raise _forbidden_member(f"{name[:60]}…", reason) from error
                raise
            files.append(name)
        return tuple(files)

    def _resolve_link(self, name: str) -> _Node:
        """Return the file at a path, through symbolic links. Raises UnreadableInput if there is none."""
        path = name
        for _ in range(_MAX_LINK_DEPTH):
            node = self.nodes.get(path)
            if node is None:
                break
            if node.spool is not None:
                return node
            path = _link_path(path, node.link_target)
        raise _forbidden_member(name, "it is a link that does not lead to a file of the image")


def _place_file(node: _Node, path: Path, placed: dict[Path, Path], budget: SizeBudget) -> None:
    """Move the spooled content of a file to its path, or copy it if it was moved before."""
    assert node.spool is not None
    if (first := placed.get(node.spool)) is not None:
        budget.spend(first.stat().st_size)
        copyfile(first, path)
    else:
        placed[node.spool] = node.spool.rename(path)
    path.chmod(0o755 if node.is_executable else 0o644)


def _path_in_image(name: str) -> str:
    """Return the path of a member in the image. Raises UnreadableInput if it leaves the image."""
    if name.startswith("/") or "\0" in name or ".." in name.split("/"):
        raise _forbidden_member(name, "its path leaves the image")
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def _parents(name: str) -> Iterator[str]:
    """Yield the parent folders of a path, from the root, which is the empty string."""
    parts = name.split("/")
    for depth in range(len(parts)):
        yield "/".join(parts[:depth])


def _link_path(name: str, target: str) -> str:
    """Return the path that a link points to; an empty one, which is not a node, if it leaves the image."""
    parts = [] if target.startswith("/") else name.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _forbidden_member(name: str, reason: str) -> UnreadableInput:
    return UnreadableInput(
        f"the image contains {name!r}, and {reason}",
        hint="nothing was unpacked; do not use the image before its author has explained that file",
    )
