"""The files of a catalog or bundle folder that go into its image, under the names that OLM expects."""

from __future__ import annotations

__all__ = ["CONFIGS_FOLDER", "BundleMembers", "bundle_members", "catalog_members", "members_on_base"]

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.bundle_summary import is_metadata_name
from everpath.loaders.bundle.detect import MANIFEST_SUFFIXES, BundleLayout, find_layouts
from everpath.loaders.bundle.folder_reader import FolderReader, join
from everpath.loaders.fbc.catalog_files import UnreadableFile, catalog_files
from everpath.loaders.sources import Sources
from everpath.oci.tar_writer import TarMember

#: The folder of a catalog in its image.
CONFIGS_FOLDER: Final = "configs"

_WHITEOUT: Final = ".wh."
# Hides everything that lower layers have in the same folder.
_OPAQUE_WHITEOUT: Final = ".wh..wh..opq"
_LINK_HINT: Final = "replace the link with what it points to"


class BundleMembers(NamedTuple):
    """The files of a bundle, and the names of the files that are left out because OLM ignores them."""

    members: tuple[TarMember, ...]
    left_out: tuple[str, ...] = ()


def catalog_members(path: str) -> list[TarMember]:
    """Return the files that opm reads of a catalog folder, or a single file, below /configs.

    Files that .indexignore excludes are left out. Raises UnreadableInput for anything but regular files in
    the folder itself.
    """
    if not Path(path).is_dir():
        return [TarMember(f"{CONFIGS_FOLDER}/{Path(path).name}", path)]
    files = catalog_files(path, Sources())
    for file in files:
        if isinstance(file, UnreadableFile):
            hint = f"exclude it in .indexignore, or remove it from the folder: {Path(file.path).name}"
            raise UnreadableInput(f"cannot read {file.path}: {file.reason}", hint=hint, file=file.path)
    if not files:
        hint = "give the folder that opm would serve; .indexignore may exclude too much"
        raise UnreadableInput(f"{path} has no file of a catalog", hint=hint, file=path)
    names = (os.path.relpath(file.path, path) for file in files)
    in_image = ((f"{CONFIGS_FOLDER}/{name.replace(os.sep, '/')}", name) for name in names)
    return list(_members_inside(path, in_image))


def members_on_base(members: Iterable[TarMember]) -> list[TarMember]:
    """Add what a catalog needs on a base image: hide a catalog of the base, and let opm write to /tmp."""
    return [
        TarMember(f"{CONFIGS_FOLDER}/{_OPAQUE_WHITEOUT}", b""),
        *members,
        TarMember("tmp", None, 0o1777),
    ]


def bundle_members(path: str) -> BundleMembers:
    """Return the files of a bundle, below /manifests, /metadata and, if there are any, /tests.

    Raises UnreadableInput if there is no bundle, or if a file of it lies outside of the folder.
    """
    reader = FolderReader(path)
    layouts = find_layouts(reader, "")
    if not layouts:
        hint = "give the folder that contains manifests/ and metadata/"
        raise UnreadableInput(f"{path} is not a bundle: it has no manifests folder", hint=hint, file=path)
    layout = layouts[0]
    files = [*_manifest_files(layout), *_metadata_files(reader, layout), *_test_files(reader, layout)]
    return BundleMembers(tuple(_members_inside(path, files)), tuple(_files_ignored_by_olm(reader, layout)))


# The functions below yield pairs: the name of a file in the image, and its path in the folder of the bundle.


def _manifest_files(layout: BundleLayout) -> Iterator[tuple[str, str]]:
    for name in layout.files:
        if layout.metadata != layout.manifests or not is_metadata_name(name):
            yield f"manifests/{name}", join(layout.manifests, name)


def _metadata_files(reader: FolderReader, layout: BundleLayout) -> Iterator[tuple[str, str]]:
    if layout.metadata is None:
        return
    is_metadata = is_metadata_name if layout.metadata == layout.manifests else _is_read_by_opm
    for name in reader.list_folder(layout.metadata, hidden=True).files:
        if is_metadata(name):
            yield f"metadata/{name}", join(layout.metadata, name)


def _is_read_by_opm(name: str) -> bool:
    """True for a file of metadata/ that opm may use: it opens hidden files too, but understands only YAML."""
    return not name.startswith(".") or name.endswith(MANIFEST_SUFFIXES)


def _test_files(reader: FolderReader, layout: BundleLayout) -> Iterator[tuple[str, str]]:
    """Yield the files of scorecard tests, in folders of any depth beside the manifests."""
    root = layout.manifests.rpartition(os.sep)[0] if layout.manifests != layout.metadata else ""
    if "tests" not in reader.list_folder(root).folders:
        return
    stack = ["tests"]
    while stack:
        folder = stack.pop()
        path = join(reader.root, join(root, folder))
        if Path(path).is_symlink():
            # Links between folders may form a cycle.
            raise UnreadableInput(f"{path} is a link to a folder", hint=_LINK_HINT, file=path)
        listing = reader.list_folder(join(root, folder))
        stack += (join(folder, name) for name in listing.folders)
        for name in listing.files:
            file = join(folder, name)
            yield file.replace(os.sep, "/"), join(root, file)


def _files_ignored_by_olm(reader: FolderReader, layout: BundleLayout) -> Iterator[str]:
    """Yield the subfolders and hidden files of manifests and metadata, which OLM does not read."""
    for folder in filter(None, dict.fromkeys((layout.manifests, layout.metadata))):
        listing = reader.list_folder(folder, hidden=True)
        yield from (f"{join(folder, name)}{os.sep}" for name in listing.folders)
        for name in listing.files:
            if name.startswith(".") and not (folder == layout.metadata and _is_read_by_opm(name)):
                yield join(folder, name)


def _members_inside(root: str, files: Iterable[tuple[str, str]]) -> Iterator[TarMember]:
    """Yield files by their names in the image. Raises UnreadableInput for a link that leaves the folder.

    Such a link would let the author of a catalog copy any file of the build machine into its image.
    """
    real_root = os.path.realpath(root)
    real_folders: dict[str, str] = {}
    for name_in_image, name in files:
        file = join(root, name)
        if Path(file).is_symlink():
            real_path = os.path.realpath(file)
        else:
            # Each folder is resolved once: a catalog may have thousands of files.
            folder, _, last = file.rpartition(os.sep)
            if folder not in real_folders:
                real_folders[folder] = os.path.realpath(folder)
            real_path = join(real_folders[folder], last)
        if os.path.commonpath((real_root, real_path)) != real_root:
            raise UnreadableInput(
                f"{file} is a link to {real_path}, which is outside of {root}", hint=_LINK_HINT, file=file
            )
        if any(part.startswith(_WHITEOUT) for part in name_in_image.split("/")):
            raise UnreadableInput(
                f"{file} cannot be in an image: names that start with {_WHITEOUT} delete files there",
                hint="rename it, or remove it from the folder",
                file=file,
            )
        yield TarMember(name_in_image, file)
