"""What one place of a schema asks for that it did not ask for before."""

from __future__ import annotations

__all__ = ["Json", "Narrowing", "canonical", "is_same", "kind_of_value", "narrowings", "takes_anything"]

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

Json = Mapping[str, Any]

INT_OR_STRING: Final = "integer or string"
_UPPER: Final = ("maximum", "maxLength", "maxItems", "maxProperties")
_LOWER: Final = ("minimum", "minLength", "minItems", "minProperties")
#: Nothing is shorter than empty: a first one of nought asks for nothing. Of numbers it does.
_NEVER_BELOW_NOUGHT: Final = ("minLength", "minItems", "minProperties")
_NUMBERS: Final = ("integer", "number")
#: The types that a keyword says something about; all of them where it is not listed.
_ABOUT: Final = {
    **dict.fromkeys(("maximum", "minimum", "multipleOf"), _NUMBERS),
    **dict.fromkeys(("maxLength", "minLength", "pattern"), ("string",)),
    **dict.fromkeys(("maxItems", "minItems", "uniqueItems"), ("array",)),
    **dict.fromkeys(("maxProperties", "minProperties", "required"), ("object",)),
}
#: Each with the keyword without which it says nothing.
_SWITCHES: Final = {
    "exclusiveMaximum": ("maximum", "must stay below its maximum"),
    "exclusiveMinimum": ("minimum", "must stay above its minimum"),
    "uniqueItems": ("uniqueItems", "must not hold an item twice"),
}
_TEXT_FORMATS: Final = (
    "bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4",
    "uuid5", "isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "date",
    "duration", "datetime", "k8sshortname", "k8slongname",
)  # fmt: skip
#: What the API server checks, by type; hyphens do not count.
_FORMATS: Final = {
    "": _TEXT_FORMATS,
    "string": _TEXT_FORMATS,
    "integer": ("int32",),
    "number": ("float",),
}
_KEEPS_UNKNOWN: Final = "x-kubernetes-preserve-unknown-fields"
_EITHER: Final = [{"type": "integer"}, {"type": "string"}]


class Narrowing(NamedTuple):
    """One demand more. `is_validated` where a validator of schemas notices: rules in CEL are not such."""

    sentence: str
    is_validated: bool = True


def narrowings(old: Json, new: Json) -> Iterator[Narrowing]:
    """Every demand of the new schema at this place, not below it, that the old one did not make."""
    new = _to_the_point(new)
    for sentence in (*_bounds(old, new), *_words(old, new), *_demands(old, new), *_combined(old, new)):
        yield Narrowing(sentence)
    for sentence in (*_rules(old, new), *_lists(old, new)):
        yield Narrowing(sentence, is_validated=False)


def _to_the_point(schema: Json) -> Json:
    """A schema without keywords about values of another type: they ask nothing."""
    kind = kind_of_value(schema)
    if kind in ("", INT_OR_STRING):
        return schema
    return {key: value for key, value in schema.items() if kind in _ABOUT.get(key, (kind,))}


def kind_of_value(schema: Json) -> str:
    """The type that a schema states; "" where it takes every type."""
    if schema.get("x-kubernetes-int-or-string") is True:
        return INT_OR_STRING
    found = schema.get("type")
    return found if isinstance(found, str) else ""


def takes_anything(schema: Json) -> bool:
    """Whether fields that a schema does not name are kept."""
    return schema.get(_KEEPS_UNKNOWN) is True or schema.get("additionalProperties") is True


def canonical(value: object) -> str:
    """A value as Go compares it: true is not 1, and 1.0 is."""
    return json.dumps(_whole(value), sort_keys=True)


def is_same(old: Json, new: Json) -> bool:
    """Whether two schemas are written alike: the quick way to leave what did not change."""
    return repr(old) == repr(new)


def _whole(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _whole(inner) for key, inner in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value


def _bounds(old: Json, new: Json) -> Iterator[str]:
    for key in _UPPER:
        was, now = _number(old, key), _number(new, key)
        if now is not None and (was is None or now < was):
            yield f"must have {key} at most {now}" + _before(was)
    for key in _LOWER:
        was, now = _number(old, key), _number(new, key)
        least = was if was is not None or key not in _NEVER_BELOW_NOUGHT else 0
        if now is not None and (least is None or now > least):
            yield f"must have {key} at least {now}" + _before(was)
    for key, (partner, told) in _SWITCHES.items():
        if new.get(key) is True and partner in new and not (old.get(key) is True and partner in old):
            yield told
    was, now = _number(old, "multipleOf"), _number(new, "multipleOf")
    if now and (was is None or not (was / now).is_integer()):
        yield f"must be a multiple of {now}" + _before(was)


def _words(old: Json, new: Json) -> Iterator[str]:
    before, after = _list(old, "enum"), _list(new, "enum")
    kept = set(map(canonical, after))
    gone = [value for value in before if canonical(value) not in kept]
    if after and not before:
        yield f"must be one of {_listed(after)}, and could be anything before"
    elif after and gone:
        yield f"may not be {_listed(gone)} any more"
    if new.get("pattern") and new["pattern"] != old.get("pattern"):
        yield f"must match the pattern {new['pattern']}" + _before(old.get("pattern"))
    if (wanted := _format(new)) and wanted != _format(old):
        yield f"must match the format {new['format']}" + _before(old.get("format"))
    if old.get("nullable") is True and new.get("nullable") is not True:
        yield "may not be null any more"


def _format(schema: Json) -> str:
    """The format as far as somebody checks it: every integer is an int64, and what is unknown is dropped."""
    stated = schema.get("format")
    plain = stated.replace("-", "") if isinstance(stated, str) else ""
    return plain if plain in _FORMATS.get(kind_of_value(schema), ()) else ""


def _demands(old: Json, new: Json) -> Iterator[str]:
    known = {name for name in _list(old, "required") if isinstance(name, str)}
    wanted = {name for name in _list(new, "required") if isinstance(name, str)}
    for name in sorted(wanted - known):
        yield f"requires {name}, which objects of before need not have"


def _combined(old: Json, new: Json) -> Iterator[str]:
    """Schemas combined: one more of `allOf` narrows, one less of `anyOf`; of the others any change may."""
    was, now = ({key: _members(s, key) for key in ("allOf", "anyOf", "oneOf")} for s in (old, new))
    if not set(now["allOf"]) <= set(was["allOf"]):
        yield "must meet allOf, which asks for more than before"
    is_wider = was["anyOf"] and set(was["anyOf"]) <= set(now["anyOf"])
    if now["anyOf"] and not is_wider and not _is_either(new):
        yield "must meet anyOf, which allows less than before"
    if now["oneOf"] and now["oneOf"] != was["oneOf"]:
        yield "must meet oneOf, which is another than before"
    if isinstance(new.get("not"), Mapping) and canonical(new["not"]) != canonical(old.get("not")):
        yield "must not meet what stands under not, which is another than before"


def _is_either(schema: Json) -> bool:
    """Whether `anyOf` only says once more that a value is an integer or a string."""
    return kind_of_value(schema) == INT_OR_STRING and schema.get("anyOf") == _EITHER


def _members(schema: Json, key: str) -> list[str]:
    return sorted(canonical(member) for member in _list(schema, key))


def _rules(old: Json, new: Json) -> Iterator[str]:
    stated = {_rule(item) for item in _list(old, "x-kubernetes-validations")}
    for rule in map(_rule, _list(new, "x-kubernetes-validations")):
        if rule and rule not in stated:
            yield f"must satisfy {rule}, which nobody checked before"


def _lists(old: Json, new: Json) -> Iterator[str]:
    kind, keys = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"
    is_other = (old.get(kind), old.get(keys)) != (new.get(kind), new.get(keys))
    if is_other and new.get(kind) in ("set", "map"):
        yield f"must be a {new[kind]}: a list that holds an item twice is refused"
    embedded = "x-kubernetes-embedded-resource"
    if new.get(embedded) is True and old.get(embedded) is not True:
        yield "must be a whole object, with apiVersion, kind and metadata"


def _rule(item: object) -> str:
    found = item.get("rule") if isinstance(item, Mapping) else None
    return found if isinstance(found, str) else ""


def _number(schema: Json, key: str) -> float | None:
    found = schema.get(key)
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def _list(schema: Json, key: str) -> list[Any]:
    found = schema.get(key)
    return found if isinstance(found, list) else []


def _before(old: object) -> str:
    return f" (before: {old})" if old is not None else ", and had no limit before"


def _listed(values: list[Any]) -> str:
    return ", ".join(map(repr, values))
