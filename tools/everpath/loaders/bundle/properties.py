"""The properties a bundle folder has once it is rendered into a catalog (opm render).

Of several olm.package the last counts, and the order is: properties.yaml, what annotations.yaml and the CSV
imply, the CSV's annotation olm.properties.
"""

from __future__ import annotations

__all__ = ["render_properties"]

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from everpath.loaders.bundle.apis import GVK
from everpath.loaders.bundle.csv_summary import PROPERTIES
from everpath.loaders.bundle.summaries import BundleSummary, Note, Pointer, TypedValue
from everpath.model import Place, Property

_PACKAGE: Final = "olm.package"
_ANNOTATION: Final = ("metadata", "annotations", PROPERTIES)


def render_properties(
    bundle: BundleSummary, package: str, place: Callable[[str, Pointer], Place], notes: list[Note]
) -> tuple[Property, ...]:
    """The properties, sorted by type and value. `place` makes places of file names and pointers."""
    implied = [_implied_package(bundle, package)] if bundle.csv.version else []
    if bundle.properties or bundle.dependencies or bundle.csv.properties:
        annotated = _annotated(bundle, notes)
        required = map(_required, bundle.dependencies)
        implied = _rendered([*bundle.properties, *implied, *annotated, *required])
    return tuple([Property(value.type, value.value, place(value.file, value.pointer)) for value in implied])


def _implied_package(bundle: BundleSummary, package: str) -> TypedValue:
    value = {"packageName": package, "version": bundle.csv.version or ""}
    if bundle.csv.release:
        value["release"] = bundle.csv.release
    return TypedValue(_PACKAGE, value, ("spec", "version"), bundle.csv_file)


def _required(dependency: TypedValue) -> TypedValue:
    """A dependency as a property. All but these two are copied: an olm.label becomes a provided one."""
    kind, value = dependency.type, dependency.value
    if kind == GVK:
        kind = "olm.gvk.required"
    elif kind == _PACKAGE and isinstance(value, dict):
        kind = "olm.package.required"
        value = {"packageName": value.get("packageName"), "versionRange": value.get("version")}
    return TypedValue(kind, value, dependency.pointer, dependency.file)


def _annotated(bundle: BundleSummary, notes: list[Note]) -> Iterator[TypedValue]:
    """The properties of the CSV's annotation, which is a JSON list in a string."""
    text = bundle.csv.properties
    if not text:
        return
    try:
        listed: Any = json.loads(text)
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list) or not all(
        isinstance(p, dict) and isinstance(p.get("type"), str) for p in listed
    ):
        message = f"the annotation {PROPERTIES} is not a JSON list of properties"
        notes.append(Note("wrong-type", message, file=bundle.csv_file, pointer=_ANNOTATION))
        return
    for item in listed:
        yield TypedValue(item["type"], item.get("value"), _ANNOTATION, bundle.csv_file)


def _rendered(values: Iterable[TypedValue]) -> list[TypedValue]:
    """Without repetitions, with the last olm.package alone, in order."""
    unique: dict[tuple[str, str], TypedValue] = {}
    for found in values:
        if found.type == _PACKAGE:
            unique = {key: kept for key, kept in unique.items() if key[0] != _PACKAGE}
        unique.setdefault((found.type, _json(found.value)), found)
    return [unique[key] for key in sorted(unique)]


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
