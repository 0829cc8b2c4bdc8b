"""The APIs a bundle provides and requires, as opm takes them from its CRDs and its CSV."""

from __future__ import annotations

__all__ = ["GVK", "with_apis"]

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace as with_fields

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.bundle_summary import unreadable_note
from everpath.loaders.bundle.detect import Layout
from everpath.loaders.bundle.folder_reader import FolderReader, join
from everpath.loaders.bundle.summaries import BundleSummary, Note, Pointer, TypedValue
from everpath.loaders.typed import Typed
from everpath.parsing.first_document import ParseError, first_document

GVK: Final = "olm.gvk"


def with_apis(
    reader: FolderReader, layout: Layout, bundle: BundleSummary, notes: list[Note]
) -> BundleSummary:
    """The bundle with an olm.gvk for each API its manifests define or its CSV asks for.

    Cost: every manifest is parsed, which a repository of thousands of bundles cannot afford.
    """
    provided: list[TypedValue] = []
    required: list[TypedValue] = []
    for file in (join(layout.manifests, name) for name in layout.files):
        document = _document(reader, file, notes)
        if document.get("kind") == "CustomResourceDefinition":
            provided.extend(_definitions(document, file))
        elif file == bundle.csv_file:
            owned, asked = _described(document, file, notes)
            provided += owned
            required += asked
    return with_fields(
        bundle,
        properties=(*bundle.properties, *provided),
        dependencies=(*bundle.dependencies, *required),
    )


def _document(reader: FolderReader, file: str, notes: list[Note]) -> Mapping[str, Any]:
    """The mapping a manifest is; of anything else opm drops the file, with a warning."""
    try:
        value = first_document(reader.read(file)).value
    except (UnreadableInput, ParseError) as error:
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
    csv: Mapping[str, Any], file: str, notes: list[Note]
) -> tuple[list[TypedValue], list[TypedValue]]:
    """The APIs a CSV itself provides, and those it requires. A `spec` that is none is reported elsewhere."""
    typed = Typed()
    spec = csv.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    services = typed.mapping(spec, "spec", "apiservicedefinitions")
    resources = typed.mapping(spec, "spec", "customresourcedefinitions")
    owned = list(_listed(typed, services, file, "apiservicedefinitions", "owned"))
    required = [
        *_listed(typed, resources, file, "customresourcedefinitions", "required"),
        *_listed(typed, services, file, "apiservicedefinitions", "required"),
    ]
    notes.extend(note.at(file) for note in typed.notes)
    return owned, required


def _listed(
    typed: Typed, section: Mapping[str, Any], file: str, name: str, list_name: str
) -> Iterator[TypedValue]:
    """The name of a CRD is its plural, a dot, and its group; a service has its group by itself."""
    for index, item in enumerate(typed.items(section, "spec", name, list_name)):
        at: Pointer = ("spec", name, list_name, index)
        if not isinstance(item, dict):
            typed.refuse(item, "a mapping", at)
            continue
        kind, version, crd, group = (
            typed.text(item, *at, key) or "" for key in ("kind", "version", "name", "group")
        )
        yield _gvk(
            group if name == "apiservicedefinitions" else crd.partition(".")[2], kind, version, file, at
        )


def _gvk(group: str, kind: str, version: str, file: str, pointer: Pointer) -> TypedValue:
    return TypedValue(GVK, {"group": group, "kind": kind, "version": version}, pointer, file)
