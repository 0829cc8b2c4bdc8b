"""The APIs a bundle provides and requires, as opm takes them from its CRDs and its CSV."""

from __future__ import annotations

__all__ = ["GVK", "with_apis"]

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace as with_fields

from everpath.errors import UnreadableInput
from everpath.formats.bundle_folder import Layout, unreadable_note
from everpath.formats.facts import BundleFacts, Note, Pointer, TypedValue
from everpath.formats.first_document import Broken, first_document
from everpath.formats.typed import Typed
from everpath.formats.visits import Visit, join

GVK: Final = "olm.gvk"


def with_apis(visit: Visit, layout: Layout, bundle: BundleFacts, notes: list[Note]) -> BundleFacts:
    """The bundle with an olm.gvk for each API its manifests define or its CSV asks for.

    Cost: every manifest is parsed, which a repository of thousands of bundles cannot afford.
    """
    provided: list[TypedValue] = []
    required: list[TypedValue] = []
    for file in (join(layout.manifests, name) for name in layout.files):
        document = _document(visit, file, notes)
        if document.get("kind") == "CustomResourceDefinition":
            provided.extend(_definitions(document, file))
        elif file == bundle.csv_file:
            typed = Typed()
            provided.extend(_described(typed, document, file, "apiservicedefinitions", "owned"))
            required.extend(_described(typed, document, file, "customresourcedefinitions", "required"))
            required.extend(_described(typed, document, file, "apiservicedefinitions", "required"))
            notes.extend(note.at(file) for note in typed.notes)
    return with_fields(
        bundle,
        properties=(*bundle.properties, *provided),
        dependencies=(*bundle.dependencies, *required),
    )


def _document(visit: Visit, file: str, notes: list[Note]) -> Mapping[str, Any]:
    """The mapping a manifest is; of anything else opm drops the file, with a warning."""
    try:
        value = first_document(visit.read(file)).value
    except (UnreadableInput, Broken) as error:
        note = unreadable_note(file, error)
        if note not in notes:
            notes.append(note)
        return {}
    return value if isinstance(value, dict) else {}


def _definitions(document: Mapping[str, Any], file: str) -> Iterator[TypedValue]:
    """One API a version of a CRD, served or not; v1beta1 may name its only version apart."""
    typed = Typed()
    spec = typed.mapping(document, "spec")
    group = typed.text(spec, "spec", "group") or ""
    kind = typed.text(typed.mapping(spec, "spec", "names"), "spec", "names", "kind") or ""
    versions = [v.get("name") for v in typed.items(spec, "spec", "versions") if isinstance(v, dict)]
    for version in dict.fromkeys([*versions, typed.text(spec, "spec", "version")]):
        if isinstance(version, str):
            yield _gvk(group, kind, version, file, ("spec", "versions"))


def _described(
    typed: Typed, csv: Mapping[str, Any], file: str, section: str, list_name: str
) -> Iterator[TypedValue]:
    """The APIs a CSV lists; the name of a CRD is its plural, a dot, and its group."""
    listed = typed.mapping(typed.mapping(csv, "spec"), "spec", section)
    for index, item in enumerate(typed.items(listed, "spec", section, list_name)):
        if not isinstance(item, dict):
            typed.refuse(item, "a mapping", ("spec", section, list_name, index))
            continue
        at: Pointer = ("spec", section, list_name, index)
        kind, version = (typed.text(item, *at, key) or "" for key in ("kind", "version"))
        if section == "customresourcedefinitions":
            group = (typed.text(item, *at, "name") or "").partition(".")[2]
        else:
            group = typed.text(item, *at, "group") or ""
        yield _gvk(group, kind, version, file, at)


def _gvk(group: str, kind: str, version: str, file: str, pointer: Pointer) -> TypedValue:
    return TypedValue(GVK, {"group": group, "kind": kind, "version": version}, pointer, file)
