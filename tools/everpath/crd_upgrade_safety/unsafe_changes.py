"""What breaks, and what OLM refuses, when CRDs of a bundle are replaced with those of its successor."""

from __future__ import annotations

__all__ = ["ChangeKind", "OlmResponse", "OlmResponses", "UnsafeChange", "find_unsafe_changes"]

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from everpath.crd_upgrade_safety.crd import CrdVersion, CustomResourceDefinition
from everpath.crd_upgrade_safety.preflight import (
    RefusedChange,
    refused_changes,
    served_version_differences,
)
from everpath.crd_upgrade_safety.schema_changes import SchemaChange, SchemaChangeKind, compare_schemas
from everpath.model import Place

ChangeKind = (
    SchemaChangeKind
    | Literal[
        "definition-removed",
        "stored-removed",
        "served-removed",
        "scope-changed",
        "conversion-lost",
        "change-refused",
        "served-versions-refused",
    ]
)

#: A message names this many fields and counts the others.
_MAX_NAMED_FIELDS: Final = 3


class OlmResponse(StrEnum):
    """What OLM does with an upgrade that contains an unsafe change, as reports word it."""

    UPGRADES = "carries it out"
    REFUSES = "refuses it"
    REFUSES_INVALID_OBJECTS = "refuses it if an object is invalid"
    NEVER_COMPLETES = "never completes it, because the API server refuses it"


class OlmResponses(NamedTuple):
    """The responses of OLM v0 and OLM v1 to one change."""

    v0: OlmResponse = OlmResponse.UPGRADES
    v1: OlmResponse = OlmResponse.UPGRADES


class UnsafeChange(NamedTuple):
    """A change that breaks objects or clients, or that OLM refuses. `place` is in the new CRD, if any."""

    kind: ChangeKind
    crd: str
    version: str
    message: str
    place: Place
    responses: OlmResponses = OlmResponses()


_REFUSED_BY_V1: Final = OlmResponses(v1=OlmResponse.REFUSES)


def find_unsafe_changes(
    old: Iterable[CustomResourceDefinition],
    new: Iterable[CustomResourceDefinition],
    stored_versions: Mapping[str, frozenset[str]],
) -> Iterator[UnsafeChange]:
    """Yield every unsafe change from the old CRDs to the new ones.

    `stored_versions` has, by CRD name, the versions in which objects may be stored, as in
    `status.storedVersions`: every version that was ever the storage version, not only the last one.
    """
    by_name = {crd.name: crd for crd in new}
    for before in old:
        after = by_name.get(before.name)
        if after is None:
            message = f"{before.name} is missing from the new bundle: no operator reconciles its objects"
            yield UnsafeChange("definition-removed", before.name, "", message, before.place)
        else:
            yield from _crd_changes(before, after, stored_versions.get(before.name, frozenset()))


def _crd_changes(
    old: CustomResourceDefinition, new: CustomResourceDefinition, stored_versions: frozenset[str]
) -> Iterator[UnsafeChange]:
    if old.scope != new.scope and new.scope:
        message = f"the scope of {old.name} changes from {old.scope} to {new.scope}, which Kubernetes forbids"
        responses = OlmResponses(OlmResponse.NEVER_COMPLETES, OlmResponse.REFUSES)
        yield UnsafeChange("scope-changed", old.name, "", message, new.place.at("spec", "scope"), responses)
    yield from _removed_versions(old, new, stored_versions)
    served = sum(version.is_served for version in new.versions.values())
    if old.conversion != new.conversion and new.conversion == "None" and served > 1:
        message = f"{old.name} no longer converts between its versions (before: {old.conversion})"
        yield UnsafeChange("conversion-lost", old.name, "", message, new.place.at("spec"))
    yield from _schema_changes(old, new)
    yield from _refused_served_versions(new)


def _removed_versions(
    old: CustomResourceDefinition, new: CustomResourceDefinition, stored_versions: frozenset[str]
) -> Iterator[UnsafeChange]:
    def is_served(crd: CustomResourceDefinition, version: str) -> bool:
        return version in crd.versions and crd.versions[version].is_served

    place = new.place.at("spec", "versions")
    for name in sorted({*old.versions, *stored_versions}):
        if name not in new.versions and name in stored_versions:
            message = f"{old.name} removes {name}, in which objects may be stored: OLM refuses the upgrade"
            responses = OlmResponses(OlmResponse.REFUSES, OlmResponse.REFUSES)
            yield UnsafeChange("stored-removed", old.name, name, message, place, responses)
        elif is_served(old, name) and not is_served(new, name):
            message = f"{old.name} no longer serves {name}: requests for it fail"
            yield UnsafeChange("served-removed", old.name, name, message, place)


def _schema_changes(old: CustomResourceDefinition, new: CustomResourceDefinition) -> Iterator[UnsafeChange]:
    """Changes of each version's schema that break objects, then those that only the preflight refuses."""
    refused = list(refused_changes(old, new))
    reported: set[RefusedChange] = set()
    for name, before in old.versions.items():
        after = new.versions.get(name)
        if after is not None and before.is_served:
            for change in compare_schemas(before.schema, after.schema):
                location = change.path.replace("[]", "[*]").replace(".*", "[*]")
                causes = [r for r in refused if r.version == name and _covers(r, location)]
                reported.update(causes)
                responses = OlmResponses(
                    _v0_response(change, new, after),
                    OlmResponse.REFUSES if causes else OlmResponse.UPGRADES,
                )
                message = f"{old.name} {name}: {change.message}"
                place = after.place.at("schema")
                yield UnsafeChange(change.kind, old.name, name, message, place, responses)
    others = [change for change in refused if change not in reported]
    for name in sorted({change.version for change in others}):
        fields = _describe_fields([change for change in others if change.version == name])
        message = f"{old.name} {name}: OLM v1 does not recognise these changes as safe: {fields}"
        place = new.versions[name].place.at("schema")
        yield UnsafeChange("change-refused", old.name, name, message, place, _REFUSED_BY_V1)


def _v0_response(change: SchemaChange, new: CustomResourceDefinition, version: CrdVersion) -> OlmResponse:
    """OLM v0 validates objects in versions that are served before and after, unless a webhook converts."""
    if change.is_validated and version.is_served and new.conversion != "Webhook":
        return OlmResponse.REFUSES_INVALID_OBJECTS
    return OlmResponse.UPGRADES


def _covers(refused: RefusedChange, location: str) -> bool:
    """Whether the preflight refuses the change at a location, or refuses it in the list or map around it."""
    if refused.is_of_items:
        return location.startswith(f"{refused.location}[*]")
    children = (f"{location}.", f"{location}[") if refused.is_removal else ()
    return refused.location == location or refused.location.startswith(children)


def _refused_served_versions(crd: CustomResourceDefinition) -> Iterator[UnsafeChange]:
    """What OLM v1 refuses in the new CRD alone, at every upgrade."""
    for newer, differences in served_version_differences(crd):
        older = differences[0].version
        message = f"{crd.name} serves {older} and {newer}, which differ in {_describe_fields(differences)}"
        place = crd.versions[newer].place.at("schema")
        yield UnsafeChange("served-versions-refused", crd.name, newer, message, place, _REFUSED_BY_V1)
    if crd.conversion != "Webhook" and not any(v.is_served for v in crd.versions.values()):
        message = f"{crd.name} serves no version"
        place = crd.place.at("spec", "versions")
        yield UnsafeChange("served-versions-refused", crd.name, "", message, place, _REFUSED_BY_V1)


def _describe_fields(changes: list[RefusedChange]) -> str:
    """The first fields with their keywords, and the number of others; no list whose items are named."""
    named = [c for c in changes if not (c.is_of_items and any(_covers(c, o.location) for o in changes))]
    fields = [
        f"{change.location or 'the object'} ({', '.join(change.keywords) or 'removed'})"
        for change in named[:_MAX_NAMED_FIELDS]
    ]
    more = len(named) - len(fields)
    return ", ".join(fields) + (f" and {more} more" if more else "")
