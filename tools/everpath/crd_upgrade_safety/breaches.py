"""What breaks when one release's definitions take the place of another's."""

from __future__ import annotations

__all__ = ["Breach", "Fate", "Fates", "Kind", "breaches"]

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

from everpath.crd_upgrade_safety.definitions import Definition, Version
from everpath.crd_upgrade_safety.preflight import Refusal, between_served, refusals
from everpath.crd_upgrade_safety.schemas import Change, changes
from everpath.crd_upgrade_safety.schemas import Kind as SchemaKind
from everpath.model import Place

Kind = (
    SchemaKind
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
#: What becomes of an upgrade that breaks something.
Fate = Literal[
    "carries it out",
    "refuses it",
    "refuses it where an object does not comply",
    "never ends it, as the API server refuses it",
]

_CARRIED_OUT: Final = "carries it out"
_REFUSED: Final = "refuses it"
#: How many fields a sentence names before it only counts.
_NAMED: Final = 3


class Fates(NamedTuple):
    """What each generation of OLM does with the upgrade, because of this alone."""

    v0: Fate = _CARRIED_OUT
    v1: Fate = _CARRIED_OUT


class Breach(NamedTuple):
    """One thing that breaks, where the new release states it (or no longer does)."""

    kind: Kind
    definition: str
    version: str
    sentence: str
    place: Place
    fates: Fates = Fates()


def breaches(
    old: Iterable[Definition], new: Iterable[Definition], stored: Mapping[str, frozenset[str]]
) -> Iterator[Breach]:
    """Everything that objects of the old definitions may suffer under the new ones, and what OLM refuses.

    `stored` says, by definition, in which versions objects may lie on disk: a cluster remembers every
    version it ever stored, not only the last.
    """
    by_name = {definition.name: definition for definition in new}
    for before in old:
        after = by_name.get(before.name)
        if after is None:
            sentence = f"{before.name} is not in the bundle any more: nobody looks after its objects"
            yield Breach("definition-removed", before.name, "", sentence, before.place)
        else:
            yield from _changed(before, after, stored.get(before.name, frozenset()))


def _changed(old: Definition, new: Definition, stored: frozenset[str]) -> Iterator[Breach]:
    if old.scope != new.scope and new.scope:
        sentence = f"{old.name} was {old.scope} and is {new.scope}: a scope cannot change"
        fates = Fates("never ends it, as the API server refuses it", _REFUSED)
        yield Breach("scope-changed", old.name, "", sentence, new.place.at("spec", "scope"), fates)
    yield from _removed(old, new, stored)
    if _loses_conversion(old, new):
        sentence = f"{old.name} converted its versions by {old.conversion} and does not any more"
        yield Breach("conversion-lost", old.name, "", sentence, new.place.at("spec"))
    yield from _narrowed(old, new)
    yield from _differing(new)


def _removed(old: Definition, new: Definition, stored: frozenset[str]) -> Iterator[Breach]:
    place = new.place.at("spec", "versions")
    for name in sorted({*old.versions, *stored}):
        if name not in new.versions and name in stored:
            sentence = f"{old.name} drops {name}, in which objects may be stored: OLM refuses the upgrade"
            yield Breach("stored-removed", old.name, name, sentence, place, Fates(_REFUSED, _REFUSED))
        elif _is_served(old, name) and not _is_served(new, name):
            sentence = f"{old.name} does not serve {name} any more: clients that ask for it fail"
            yield Breach("served-removed", old.name, name, sentence, place)


def _is_served(definition: Definition, version: str) -> bool:
    return version in definition.versions and definition.versions[version].is_served


def _loses_conversion(old: Definition, new: Definition) -> bool:
    several = sum(version.is_served for version in new.versions.values()) > 1
    return old.conversion != new.conversion and new.conversion == "None" and several


def _narrowed(old: Definition, new: Definition) -> Iterator[Breach]:
    """What of each version's schema breaks objects, and then what OLM v1 refuses though nothing breaks."""
    refused = list(refusals(old, new))
    told: set[Refusal] = set()
    for name, before in old.versions.items():
        after = new.versions.get(name)
        if after is not None and before.is_served:
            for change in changes(before.schema, after.schema):
                caught = [r for r in refused if r.version == name and _covers(r, _location(change.path))]
                told.update(caught)
                fates = Fates(_fate_v0(change, new, after), _REFUSED if caught else _CARRIED_OUT)
                sentence = f"{old.name} {name}: {change.sentence}"
                yield Breach(change.kind, old.name, name, sentence, after.place.at("schema"), fates)
    yield from _merely_refused(old.name, new, [r for r in refused if r not in told])


def _fate_v0(change: Change, new: Definition, version: Version) -> Fate:
    """OLM v0 validates what is served before and after; a webhook it trusts to convert the rest."""
    is_asked = change.is_validated and version.is_served and new.conversion != "Webhook"
    return "refuses it where an object does not comply" if is_asked else _CARRIED_OUT


def _location(path: str) -> str:
    return path.replace("[]", "[*]").replace(".*", "[*]")


def _covers(refusal: Refusal, location: str) -> bool:
    """Whether a change at a location is what the preflight refuses: there, or of a list or map around it."""
    if refusal.is_inside:
        return location.startswith(f"{refusal.location}[*]")
    around = (f"{location}.", f"{location}[") if refusal.is_gone else ()
    return refusal.location == location or refusal.location.startswith(around)


def _merely_refused(name: str, new: Definition, left: list[Refusal]) -> Iterator[Breach]:
    """One breach a version for all that OLM v1 refuses there and nobody suffers from."""
    for version in sorted({refusal.version for refusal in left}):
        sentence = f"{name} {version}: OLM v1 cannot tell that it is safe to change {_fields(left, version)}"
        place = new.versions[version].place.at("schema")
        yield Breach("change-refused", name, version, sentence, place, Fates(v1=_REFUSED))


def _differing(new: Definition) -> Iterator[Breach]:
    """What OLM v1 refuses of the new definition alone, whatever it takes the place of."""
    for newer, left in between_served(new):
        older = left[0].version
        sentence = f"{new.name} serves {older} and {newer}, which differ in {_fields(left, older)}"
        place = new.versions[newer].place.at("schema")
        yield Breach("served-versions-refused", new.name, newer, sentence, place, Fates(v1=_REFUSED))
    if new.conversion != "Webhook" and not any(v.is_served for v in new.versions.values()):
        sentence = f"{new.name} serves no version at all"
        place = new.place.at("spec", "versions")
        yield Breach("served-versions-refused", new.name, "", sentence, place, Fates(v1=_REFUSED))


def _fields(left: list[Refusal], version: str) -> str:
    """The fields in words: the first few, and how many more. A list is not named beside its items."""
    here = [r for r in left if r.version == version]
    named = [r for r in here if not (r.is_inside and any(_covers(r, o.location) for o in here))]
    words = [_words(r) for r in named[:_NAMED]]
    more = len(named) - len(words)
    return ", ".join(words) + (f" and {more} more" if more else "")


def _words(refusal: Refusal) -> str:
    field = refusal.location or "the object"
    return f"{field} (gone)" if refusal.is_gone else f"{field} ({', '.join(refusal.keys)})"
