"""What an API server refuses of our resources, in words: the schemas of the definitions, and their rules.

Those about changes are an API server's alone: it knows what was there before. What an older definition has
let in is refused by the operator in the same words, but for what harms nobody.
"""

from __future__ import annotations

__all__ = ["EXAMPLES", "RULES", "schema_errors", "spec_errors", "validated_spec"]

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final

from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.api.crds import CLUSTERS, NAME_LENGTH_RULE, NAME_RULE, SECRET_NAME_RULE, crds
from searchkeeper.api.schema import Rule, Schema
from searchkeeper.api.spec import HAS_MANAGERS_RULE, ClusterSpec

_TYPES: Final[Mapping[str, tuple[type | tuple[type, ...], str]]] = {
    "object": (Mapping, "a mapping"),
    "array": ((list, tuple), "a list"),
    "string": (str, "text"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
}
_WIDTHS: Final = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
_OPEN: Final = "x-kubernetes-preserve-unknown-fields"
# What a text looks like where a pattern says so, by the name of its field.
EXAMPLES: Final = {
    "version": "2.19.4",
    "size": "100Gi",
    "storageClass": "fast-ssd",
    "name": "data-hot",
    "tlsSecret": "logs-tls",
    "credentialsSecret": "logs-admin",
}
_NAMED: Final = frozenset(EXAMPLES) - {"version", "size"}
# Words that YAML 1.1 reads as true or false, unless they are quoted.
_YES: Final = ("true", "yes", "on", "y")
_NO: Final = ("false", "no", "off", "n")
# A label has to hold both names, and a hash after them.
_NAMES: Final = 51


def _has_voters(pools: Any) -> bool:
    return any("cluster_manager" in each["roles"] and each["replicas"] > 0 for each in pools)


def _is_service_name(cluster: Any) -> bool:
    return re.fullmatch("[a-z]([-a-z0-9]*[a-z0-9])?", cluster["metadata"]["name"]) is not None


def _has_fitting_names(cluster: Any) -> bool:
    longest = max(len(pool["name"]) for pool in cluster["spec"]["pools"])
    return len(cluster["metadata"]["name"]) + longest <= _NAMES


def _has_others_secrets(cluster: Any) -> bool:
    name, security = cluster["metadata"]["name"], cluster["spec"].get("security") or {}
    return security.get("credentialsSecret") not in (f"{name}-config", f"{name}-credentials")


# What the rules say in CEL, which nobody evaluates here.
RULES: Final[Mapping[Rule, Callable[[Any], bool]]] = {
    HAS_MANAGERS_RULE: _has_voters,
    NAME_RULE: _is_service_name,
    NAME_LENGTH_RULE: _has_fitting_names,
    SECRET_NAME_RULE: _has_others_secrets,
}
# What harms nobody who runs with it: other limits than those of the definitions, None for no limit at all.
_BORNE: Final[Mapping[str, Mapping[str, Any]]] = {
    # A version that is none is refused as a version, and all else is looked after.
    "spec": {"required": ["pools"]},
    "spec.pools": {"maxItems": None},
    # What counts are both names together.
    "spec.pools[].name": {"maxLength": None},
    # Twice is once.
    "spec.pools[].roles": {"maxItems": None, "x-kubernetes-list-type": None},
    "spec.pools[].replicas": {"maximum": None},
    # Whatever Kubernetes takes for a size: nodes keep what they were made with, and nobody could edit it.
    "spec.pools[].storage.size": {
        "maxLength": None,
        "pattern": r"^(?=.*[1-9])\d*\.?\d*([KMGTPE]i|[mkMGTPE]|[eE]\d+)?$",
    },
    "spec.dashboards.replicas": {"maximum": None},
    # Less than the least counts as the least.
    "spec.upgrade.maxBatch": {"minimum": None},
    "spec.upgrade.healthDeadlineSeconds": {"minimum": None},
}
# Not for the operator to judge: what it has said itself.
_UNASKED: Final = ("spec.version", "status")
# Of rules those that name a Secret of the operator's own, which is never taken for the user's.
_BORNE_RULES: Final = (SECRET_NAME_RULE.holds,)
_BY_TEXT: Final = {rule.holds: holds for rule, holds in RULES.items()}


def schema_errors(manifest: Mapping[str, Any]) -> list[str]:
    """Every reason to refuse a SearchCluster or SearchPool, with its path; none for any other kind.

    Rules are asked, as an API server does, where nothing else is wrong.
    """
    schema = _schemas().get((str(manifest.get("apiVersion")), str(manifest.get("kind"))))
    if schema is None:
        return []
    return [*_misshapen(schema, manifest, "")] or [*_broken(schema, manifest, "")]


def spec_errors(manifest: Mapping[str, Any]) -> list[str]:
    """What is wrong with a SearchCluster's spec, and no operator could follow.

    Where today's definition would refuse what harms nobody, nobody has to edit what works.
    """
    schema = _followed()
    return [*_misshapen(schema, manifest, "")] or [*_broken(schema, manifest, "")]


def validated_spec(manifest: Mapping[str, Any]) -> tuple[ClusterSpec, str | None]:
    """Of a SearchCluster; and what is wrong with it where nobody could follow it, which leaves it empty."""
    wrong = "; ".join(spec_errors(manifest))
    if wrong:
        return ClusterSpec("", ()), f"the spec cannot be followed: {wrong}"
    return decode_cluster_spec(manifest["spec"]), None


@lru_cache(maxsize=1)
def _followed() -> Schema:
    """The schema of a SearchCluster without what harms nobody."""
    [version] = crds()[CLUSTERS.plural]["spec"]["versions"]
    return _without_borne(version["schema"]["openAPIV3Schema"], "")


def _without_borne(schema: Schema, path: str) -> Schema:
    """What nobody has declared is borne, too: an API server drops it."""
    made = {**schema, _OPEN: True, **_BORNE.get(path, {})}
    if "properties" in schema:
        inner = {name: (each, _inside(path, name)) for name, each in schema["properties"].items()}
        made["properties"] = {
            name: _without_borne(*each) for name, each in inner.items() if each[1] not in _UNASKED
        }
    if "items" in schema:
        made["items"] = _without_borne(schema["items"], f"{path}[]")
    rules = [each for each in schema.get("x-kubernetes-validations", ()) if each["rule"] not in _BORNE_RULES]
    made["x-kubernetes-validations"] = rules
    return {name: each for name, each in made.items() if each is not None}


@lru_cache(maxsize=1)
def _schemas() -> Mapping[tuple[str, str], Schema]:
    return {
        (f"{each['spec']['group']}/{version['name']}", each["spec"]["names"]["kind"]): version["schema"][
            "openAPIV3Schema"
        ]
        for each in crds().values()
        for version in each["spec"]["versions"]
    }


def _misshapen(schema: Schema, thing: Any, path: str) -> Iterator[str]:
    expected, name = _TYPES[schema["type"]]
    if schema["type"] == "integer" and isinstance(thing, float) and thing.is_integer():
        # To an API server 2.0 is a whole number.
        thing = int(thing)
    if not isinstance(thing, expected) or (isinstance(thing, bool) and schema["type"] != "boolean"):
        yield f"{path}: must be {name}{_like(schema, path)}, and is {_shown(thing)}{_remedy(schema, thing)}"
    elif isinstance(thing, Mapping):
        yield from _misshapen_object(schema, thing, path)
    elif isinstance(thing, list | tuple):
        yield from _misshapen_list(schema, thing, path)
    else:
        is_plain = not isinstance(thing, str) or (thing != "" and thing.isprintable())
        shown = str(thing) if is_plain else _shown(thing)
        yield from (f"{path}: {shown} {wrong}" for wrong in _out_of_bounds(schema, thing, path))


def _misshapen_object(schema: Schema, thing: Mapping[str, Any], path: str) -> Iterator[str]:
    """What is null counts as absent, as it does for an API server, but for a field that nobody knows."""
    for name in schema.get("required", ()):
        if thing.get(name) is None:
            yield f"{_inside(path, name)}: is missing"
    for name, each in thing.items():
        inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        if inner is not None:
            yield from _misshapen(inner, each, _inside(path, name)) if each is not None else ()
        elif "properties" in schema and path.startswith("spec") and not schema.get(_OPEN):
            near = get_close_matches(str(name), schema["properties"], n=1)
            meant = f": did you mean {near[0]}?" if near else ""
            yield f"{_inside(path, name)}: there is no such field{meant}"


def _misshapen_list(schema: Schema, thing: list[Any] | tuple[Any, ...], path: str) -> Iterator[str]:
    if len(thing) < schema.get("minItems", 0):
        yield f"{path}: has {len(thing)} items, and must have {schema['minItems']} at least"
    if len(thing) > schema.get("maxItems", len(thing)):
        yield f"{path}: has {len(thing)} items, and may have {schema['maxItems']} at most"
    for number, each in enumerate(thing):
        yield from _misshapen(schema["items"], each, f"{path}[{number}]")
    yield from (f"{path}: {each} is there twice" for each in _doubles(schema, thing))


def _doubles(schema: Schema, thing: list[Any] | tuple[Any, ...]) -> Iterator[str]:
    keys = schema.get("x-kubernetes-list-map-keys")
    if schema.get("x-kubernetes-list-type") == "set":
        names = [str(each) for each in thing]
    elif keys:
        mappings = (each for each in thing if isinstance(each, Mapping))
        names = [" ".join(str(each.get(key)) for key in keys) for each in mappings]
    else:
        return
    yield from (name for name, count in Counter(names).items() if count > 1)


def _out_of_bounds(schema: Schema, thing: Any, path: str = "") -> Iterator[str]:
    if thing not in schema.get("enum", [thing]):
        yield f"is none of {', '.join(schema['enum'])}"
    if isinstance(thing, int):
        least, most = _WIDTHS.get(schema.get("format", ""), (thing, thing))
        least, most = schema.get("minimum", least), schema.get("maximum", most)
        if thing < least:
            yield f"is less than {least}"
        if thing > most:
            yield f"is more than {most}"
        return
    if not schema.get("minLength", 0) <= len(thing) <= schema.get("maxLength", len(thing)):
        yield f"has {len(thing)} characters, which is too {'few' if not thing else 'many'}"
    if not _matches(schema.get("pattern", ""), thing):
        is_name = path.rpartition(".")[2] in _NAMED
        yield f"is not{_like(schema, path)}" + (": small letters, digits and hyphens" if is_name else "")


def _like(schema: Schema, path: str) -> str:
    """What a text with a pattern looks like; whoever has to write one reads no regular expressions."""
    if "pattern" not in schema:
        return ""
    return f" like {EXAMPLES.get(path.rpartition('.')[2], schema['pattern'])}"


def _remedy(schema: Schema, thing: Any) -> str:
    """What would be right, where quotes decide: YAML reads Off as false, and "false" as a text."""
    match schema["type"], thing:
        case "string", bool():
            words = (each for each in schema.get("enum", ()) if each.lower() in (_YES if thing else _NO))
            told = (f': write "{each}", with quotes: YAML reads {each} as {_shown(thing)}' for each in words)
            return next(told, "")
        case "string", int() | float() if not [*_out_of_bounds(schema, str(thing))]:
            return f': write "{thing}", with quotes'
        case "boolean", str() if thing.lower() in (*_YES, *_NO):
            return f": write {_shown(thing.lower() in _YES)}, without quotes"
        case "integer", str() if re.fullmatch(r"-?\d+", thing, re.ASCII):
            return f": write {thing}, without quotes"
    return ""


def _matches(pattern: str, text: str) -> bool:
    """As Go has it: `$` is the end itself, not a line's, and digits are ten."""
    return re.search(pattern.replace("$", r"\Z"), text, re.ASCII) is not None


def _broken(schema: Schema, thing: Any, path: str) -> Iterator[str]:
    for rule in schema.get("x-kubernetes-validations", ()):
        holds = _BY_TEXT.get(rule["rule"])
        if holds is not None and not holds(thing):
            yield f"{path}: {rule['message']}".removeprefix(": ")
    if isinstance(thing, Mapping):
        for name, inner in schema.get("properties", {}).items():
            if thing.get(name) is not None:
                yield from _broken(inner, thing[name], _inside(path, name))


def _inside(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(thing: Any) -> str:
    """As whoever wrote it would know it again."""
    if isinstance(thing, Mapping | list | tuple):
        return "a mapping" if isinstance(thing, Mapping) else "a list"
    if isinstance(thing, str):
        return f"the text {json.dumps(thing, ensure_ascii=False)}" if thing else "empty text"
    if isinstance(thing, bool):
        return str(thing).lower()
    if isinstance(thing, int | float):
        return f"the number {thing}"
    return "null" if thing is None else str(thing)
