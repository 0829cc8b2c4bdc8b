"""What of a folder goes into an image: regular files of its own, under the names that OLM looks for."""

from __future__ import annotations

__all__ = ["CONFIGS", "CONFIGS_LABEL", "BundleFiles", "bundle_files", "catalog_members", "on_base"]

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.folder import is_metadata_name
from everpath.loaders.bundle.shape import YAML, Layout, find_layouts
from everpath.loaders.bundle.visits import Visit, join
from everpath.loaders.fbc.tree import Unusable, catalog_files
from everpath.loaders.sources import Sources
from everpath.oci.layers import Member

#: Where a catalog is in its image, and the label that says so.
CONFIGS: Final = "configs"
CONFIGS_LABEL: Final = "operators.operatorframework.io.index.configs.v1"

# Everything that lies in a folder of a layer below is gone.
_WHITEOUT: Final = ".wh."
_OPAQUE: Final = ".wh..wh..opq"

_ITSELF: Final = "put what it leads to in its place"


class BundleFiles(NamedTuple):
    """The files of a bundle, and the names of those that OLM does not read and that are left out."""

    members: tuple[Member, ...]
    left_out: tuple[str, ...] = ()


def catalog_members(path: str) -> list[Member]:
    """The files that opm reads of a catalog's folder, or a single one, below /configs.

    What .indexignore leaves out stays out. Raises UnreadableInput for what is no file, or not of the folder.
    """
    if not Path(path).is_dir():
        return [Member(f"{CONFIGS}/{Path(path).name}", path)]
    files = catalog_files(path, Sources())
    for file in files:
        if isinstance(file, Unusable):
            hint = f"name it in .indexignore, or take it out of the folder: {Path(file.path).name}"
            raise UnreadableInput(f"cannot read {file.path}: {file.reason}", hint=hint, file=file.path)
    if not files:
        hint = "give the folder that opm would serve; .indexignore may leave out too much"
        raise UnreadableInput(f"{path} holds no file of a catalog", hint=hint, file=path)
    names = (os.path.relpath(file.path, path) for file in files)
    return list(_members(path, ((f"{CONFIGS}/{name.replace(os.sep, '/')}", name) for name in names)))


def on_base(members: Iterable[Member]) -> list[Member]:
    """The same on top of another image: nothing of a catalog in there stays, and opm can write to /tmp."""
    return [Member(f"{CONFIGS}/{_OPAQUE}", b""), *members, Member("tmp", None, 0o1777)]


def bundle_files(path: str) -> BundleFiles:
    """The files of a bundle as OLM expects them: /manifests, /metadata, and /tests where there is one.

    Raises UnreadableInput where there is no bundle, or a file of it is somewhere else.
    """
    visit = Visit(path)
    layouts = find_layouts(visit, "")
    if not layouts:
        hint = "give the folder that holds manifests/ and metadata/"
        raise UnreadableInput(f"{path} is not a bundle: it has no manifests folder", hint=hint, file=path)
    layout = layouts[0]
    files = [*_manifests(layout), *_metadata(visit, layout), *_tests(visit, layout)]
    return BundleFiles(tuple(_members(path, files)), tuple(_strays(visit, layout)))


def _manifests(layout: Layout) -> Iterator[tuple[str, str]]:
    for name in layout.files:
        if layout.metadata != layout.manifests or not is_metadata_name(name):
            yield f"manifests/{name}", join(layout.manifests, name)


def _metadata(visit: Visit, layout: Layout) -> Iterator[tuple[str, str]]:
    if layout.metadata is None:
        return
    is_shared = layout.metadata == layout.manifests
    for name in visit.listing(layout.metadata, hidden=True).files:
        if is_metadata_name(name) if is_shared else _is_metadata(name):
            yield f"metadata/{name}", join(layout.metadata, name)


def _is_metadata(name: str) -> bool:
    """opm looks into every file of metadata/, and finds something in YAML alone, also in a hidden one."""
    return not name.startswith(".") or name.endswith(YAML)


def _tests(visit: Visit, layout: Layout) -> Iterator[tuple[str, str]]:
    """The scorecard's files, in folders of any depth, beside the manifests."""
    root = layout.manifests.rpartition(os.sep)[0] if layout.manifests != layout.metadata else ""
    if "tests" not in visit.listing(root).folders:
        return
    stack = ["tests"]
    while stack:
        folder = stack.pop()
        path = join(visit.root, join(root, folder))
        if Path(path).is_symlink():
            # It may lead in a circle.
            raise UnreadableInput(f"{path} is a link to a folder", hint=_ITSELF, file=path)
        listing = visit.listing(join(root, folder))
        stack += (join(folder, name) for name in listing.folders)
        for name in listing.files:
            file = join(folder, name)
            yield file.replace(os.sep, "/"), join(root, file)


def _strays(visit: Visit, layout: Layout) -> Iterator[str]:
    """What else is in the folders of manifests and metadata: OLM reads neither folders nor hidden files."""
    for folder in filter(None, dict.fromkeys((layout.manifests, layout.metadata))):
        listing = visit.listing(folder, hidden=True)
        yield from (f"{join(folder, name)}{os.sep}" for name in listing.folders)
        hidden = (name for name in listing.files if name.startswith("."))
        kept = _is_metadata if folder == layout.metadata else lambda _: False
        yield from (join(folder, name) for name in hidden if not kept(name))


def _members(root: str, names: Iterable[tuple[str, str]]) -> Iterator[Member]:
    """Files by their names in the image. A link is followed, but never out of the folder.

    Else whoever can change a catalog could put any file of the machine that builds it into its image.
    """
    home = os.path.realpath(root)
    whereabouts = _Whereabouts()
    for inside, name in names:
        file = join(root, name)
        actual = whereabouts.of(file)
        if os.path.commonpath((home, actual)) != home:
            raise UnreadableInput(
                f"{file} is a link to {actual}, which is outside of {root}", hint=_ITSELF, file=file
            )
        if any(part.startswith(_WHITEOUT) for part in inside.split("/")):
            message = f"{file} cannot be in an image: names that start with {_WHITEOUT} delete files there"
            raise UnreadableInput(message, hint="rename it, or take it out of the folder", file=file)
        yield Member(inside, file)


class _Whereabouts:
    """Where files really are. Folders are asked once: a catalog may have thousands of files."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, file: str) -> str:
        if Path(file).is_symlink():
            return os.path.realpath(file)
        folder, _, name = file.rpartition(os.sep)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return join(self._folders[folder], name)
