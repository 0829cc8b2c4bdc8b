"""A single bundle folder as a catalog: what its release would look like, read in full."""

from __future__ import annotations

__all__ = ["read_bundle_folder"]

from everpath.assembly import Assembly
from everpath.errors import UnreadableInput
from everpath.formats.apis import with_apis
from everpath.formats.bundle_folder import find_layouts, read_bundle, unreadable_note
from everpath.formats.bundle_model import Files, add_notes, add_packages, bundle_of
from everpath.formats.facts import BundleFacts, Note
from everpath.formats.visits import Visit, folder_name
from everpath.model import UpdateMode


def read_bundle_folder(path: str, assembly: Assembly, mode: UpdateMode = UpdateMode.REPLACES) -> None:
    """Read one bundle, every manifest of it. Raises `UnreadableInput` when the folder cannot be listed.

    Its edges are those its CSV asks for, unless another mode is wished: alone, it has no place in an order.
    """
    notes: list[Note] = []
    facts = _facts(path, notes)
    files, folder = Files(path), folder_name(path)
    package = facts.annotations.package if facts else None
    add_notes(assembly, files, notes, package or folder, facts.csv.name if facts else None)
    if facts is not None:
        add_packages(assembly, [bundle_of(facts, folder, files, assembly)], mode)


def _facts(path: str, notes: list[Note]) -> BundleFacts | None:
    visit = Visit(path, is_thorough=True)
    layouts = find_layouts(visit, "")
    if not layouts:
        raise UnreadableInput(f"{path} is not a bundle: it has no manifests folder", file=path)
    try:
        facts = read_bundle(visit, "", layouts, notes, every_file=True)
    except UnreadableInput as error:
        notes.append(unreadable_note("", error))
        return None
    return with_apis(visit, layouts[0], facts, notes) if facts is not None else None
