"""A single bundle folder as a catalog: what its release would look like, read in full."""

from __future__ import annotations

__all__ = ["read_bundle_folder"]

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.apis import with_apis
from everpath.loaders.bundle.bundle_model import Files, add_notes, add_packages, bundle_of
from everpath.loaders.bundle.bundle_summary import named_package, read_bundle, unreadable_note
from everpath.loaders.bundle.detect import Layout, find_layouts
from everpath.loaders.bundle.folder_reader import Visit, folder_name
from everpath.loaders.bundle.summaries import BundleFacts, Note
from everpath.model import UpdateMode
from everpath.model.builder import CatalogBuilder


def read_bundle_folder(path: str, builder: CatalogBuilder, mode: UpdateMode = UpdateMode.REPLACES) -> None:
    """Read one bundle, every manifest of it. Raises `UnreadableInput` when the folder cannot be listed.

    Its edges are those its CSV asks for, unless another mode is wished: alone, it has no place in an order.
    Where no annotation names its package, its CSV's name does, up to the version; else its folder.
    """
    visit = Visit(path, is_thorough=True)
    layouts = find_layouts(visit, "")
    if not layouts:
        raise UnreadableInput(f"{path} is not a bundle: it has no manifests folder", file=path)
    notes: list[Note] = []
    facts = _facts(visit, layouts, notes)
    files = Files(path)
    name = facts.csv.name if facts else None
    package = named_package(visit, layouts[0]) or (name or "").partition(".v")[0] or folder_name(path)
    add_notes(builder, files, notes, package, name)
    if facts is not None:
        add_packages(builder, [bundle_of(facts, package, files, builder)], mode, alone=True)


def _facts(visit: Visit, layouts: list[Layout], notes: list[Note]) -> BundleFacts | None:
    try:
        facts = read_bundle(visit, "", layouts, notes, every_file=True)
    except UnreadableInput as error:
        notes.append(unreadable_note("", error))
        return None
    return with_apis(visit, layouts[0], facts, notes) if facts is not None else None
