"""A single bundle folder as a catalog: what its release would look like, read in full."""

from __future__ import annotations

__all__ = ["load_bundle_folder"]

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.apis import with_apis
from everpath.loaders.bundle.bundle_model import Places, add_notes, add_packages, build_bundle
from everpath.loaders.bundle.bundle_summary import annotated_package, summarize_bundle, unreadable_note
from everpath.loaders.bundle.detect import Layout, find_layouts
from everpath.loaders.bundle.folder_reader import FolderReader, folder_name
from everpath.loaders.bundle.summaries import BundleSummary, Note
from everpath.model import UpdateMode
from everpath.model.builder import CatalogBuilder


def load_bundle_folder(path: str, builder: CatalogBuilder, mode: UpdateMode = UpdateMode.REPLACES) -> None:
    """Read one bundle, every manifest of it. Raises `UnreadableInput` when the folder cannot be listed.

    Its edges are those its CSV asks for, unless another mode is wished: alone, it has no place in an order.
    Where no annotation names its package, its CSV's name does, up to the version; else its folder.
    """
    reader = FolderReader(path, is_thorough=True)
    layouts = find_layouts(reader, "")
    if not layouts:
        raise UnreadableInput(f"{path} is not a bundle: it has no manifests folder", file=path)
    notes: list[Note] = []
    facts = _facts(reader, layouts, notes)
    files = Places(path)
    name = facts.csv.name if facts else None
    package = annotated_package(reader, layouts[0]) or (name or "").partition(".v")[0] or folder_name(path)
    add_notes(builder, files, notes, package, name)
    if facts is not None:
        add_packages(builder, [build_bundle(facts, package, files, builder)], mode, alone=True)


def _facts(reader: FolderReader, layouts: list[Layout], notes: list[Note]) -> BundleSummary | None:
    try:
        facts = summarize_bundle(reader, "", layouts, notes, every_file=True)
    except UnreadableInput as error:
        notes.append(unreadable_note("", error))
        return None
    return with_apis(reader, layouts[0], facts, notes) if facts is not None else None
