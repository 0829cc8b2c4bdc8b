"""Random CustomResourceDefinitions, edited versions of them, and their objects."""

from __future__ import annotations

__all__ = [
    "Definition",
    "Pair",
    "edited",
    "random_definition",
    "random_object",
    "random_pair",
]

from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any, Final, NamedTuple

Schema = dict[str, Any]
Definition = dict[str, Any]
Edit = Callable[[Random, Schema], None]

NAMES: Final = ("a", "b", "c", "d")
_WORDS: Final = ("", "a", "x", "xy", "abc", "10s", "2020-01-02T10:11:12Z", "ü")
_SCALARS: Final[dict[str, tuple[Any, ...]]] = {
    "string": _WORDS,
    "boolean": (True, False),
    "integer": (*range(-3, 7), 12, 2**40),
    "number": (-2.5, 0.5, 1, 3, 6, 1e300),
}
_VERSIONS: Final = ("v1alpha1", "v1alpha2", "v1beta1", "v1", "v2", "beta")
_BOUNDS: Final = {
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


class Pair(NamedTuple):
    """The installed CRD, the new one, and the edits between them."""

    old: Definition
    new: Definition
    edits: tuple[str, ...]


def random_pair(random: Random) -> Pair:
    return edited(random, random_definition(random))


def edited(random: Random, old: Definition) -> Pair:
    """Return a CRD and the same with one or two edits, rarely with none."""
    new = deepcopy(old)
    del new["status"]
    names = random.choices(tuple(EDITS), k=random.choice((0, 1, 1, 1, 1, 1, 2, 2)))
    for name in names:
        EDITS[name](random, new)
    return Pair(old, new, tuple(names))


def random_definition(random: Random) -> Definition:
    """Return an installed CRD with one to three versions, and its stored versions."""
    names = random.sample(_VERSIONS, random.choice((1, 1, 1, 2, 2, 3)))
    root = _root(random)
    versions = [_version(name, deepcopy(root), served=random.random() < 0.85) for name in names]
    random.choice(versions)["storage"] = True
    if len(versions) > 1 and random.random() < 0.5:
        _in_a_schema(random, versions[:1], random.choice(tuple(_SCHEMA_EDITS.values())))
    strategy = "Webhook" if len(names) > 1 and random.random() < 0.3 else "None"
    stored = [v["name"] for v in versions if v["storage"] or random.random() < 0.3]
    return _definition(versions, random.choice(("Namespaced", "Cluster")), strategy, stored)


def _definition(versions: list[dict[str, Any]], scope: str, strategy: str, stored: list[str]) -> Definition:
    spec = {
        "group": "acme.io",
        "scope": scope,
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "conversion": _conversion(strategy),
        "versions": versions,
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.acme.io"},
        "spec": spec,
        "status": {"storedVersions": stored, "conditions": [{"type": "Established", "status": "True"}]},
    }


def _version(name: str, schema: Schema, *, served: bool = True) -> dict[str, Any]:
    return {"name": name, "served": served, "storage": False, "schema": {"openAPIV3Schema": schema}}


def _conversion(strategy: str) -> dict[str, Any]:
    if strategy == "None":
        return {"strategy": strategy}
    config = {"service": {"namespace": "n", "name": "s", "path": "/convert", "port": 443}}
    return {
        "strategy": strategy,
        "webhook": {"clientConfig": config, "conversionReviewVersions": ["v1"]},
    }


def _root(random: Random) -> Schema:
    base: Schema = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
    }
    return {"type": "object", "properties": {**base, "spec": _fields(random, 0)}}


def _fields(random: Random, depth: int) -> Schema:
    names = random.sample(NAMES, random.randint(1, 3))
    made: Schema = {
        "type": "object",
        "properties": {name: random_schema(random, depth + 1) for name in names},
    }
    if random.random() < 0.3:
        made["required"] = random.sample(names, 1)
    return made


def random_schema(random: Random, depth: int = 0) -> Schema:
    """A structural schema, with a constraint or two."""
    kinds = ("string", "integer", "number", "boolean", "either", "anything")
    kind = random.choice(kinds if depth > 2 else (*kinds, "object", "object", "array", "array", "map", "map"))
    made = _bare(random, kind, depth)
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        _SCHEMA_EDITS[random.choice(_CONSTRAINTS)](random, made)
    return made


def _bare(random: Random, kind: str, depth: int) -> Schema:
    if kind == "object":
        return _fields(random, depth)
    if kind == "array":
        return {"type": "array", "items": random_schema(random, depth + 1)}
    if kind == "map":
        return {"type": "object", "additionalProperties": random_schema(random, depth + 1)}
    if kind == "either":
        both: Schema = {"anyOf": [{"type": "integer"}, {"type": "string"}]} if random.random() < 0.5 else {}
        return {"x-kubernetes-int-or-string": True, **both}
    if kind == "anything":
        typed: Schema = {"type": "object"} if random.random() < 0.6 else {}
        return {"x-kubernetes-preserve-unknown-fields": True, **typed}
    return {"type": kind}


def random_value(random: Random, schema: Schema, depth: int = 0) -> Any:
    """Return a value that is often valid for a schema; without unknown fields."""
    if schema.get("nullable") and random.random() < 0.3:
        return None
    if schema.get("enum") and random.random() < 0.7:
        return random.choice(schema["enum"])
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        kind = random.choice(("integer", "string"))
    elif kind is None:
        kind = random.choice(("integer", "string", "boolean", "array", "object"))
    if kind == "object":
        return _object_value(random, schema, depth)
    if kind == "array":
        below = schema.get("items", {})
        return [random_value(random, below, depth + 1) for _ in range(random.randint(0, 3))]
    return random.choice(_SCALARS[kind])


def _object_value(random: Random, schema: Schema, depth: int) -> dict[str, Any]:
    made = {}
    for name, below in schema.get("properties", {}).items():
        if random.random() < (0.95 if name in schema.get("required", ()) else 0.75):
            made[name] = random_value(random, below, depth + 1)
    others = schema.get("additionalProperties")
    if others is True or schema.get("x-kubernetes-preserve-unknown-fields"):
        others = {}
    if isinstance(others, dict) and depth < 6:
        free = [name for name in NAMES if name not in schema.get("properties", {})]
        for name in random.sample(free, random.randint(0, len(free))):
            made[name] = random_value(random, others, depth + 1)
    return made


def random_object(random: Random, version: dict[str, Any]) -> dict[str, Any]:
    """Return an object of one version."""
    made = random_value(random, version["schema"]["openAPIV3Schema"])
    head = {"apiVersion": f"acme.io/{version['name']}", "kind": "Widget", "metadata": {"name": "w"}}
    return {**(made if isinstance(made, dict) else {}), **head}


def _places(schema: Schema) -> Iterator[Schema]:
    """Yield every schema inside another one, without anyOf and the like."""
    yield schema
    for name, inner in schema.get("properties", {}).items():
        if name not in ("apiVersion", "kind", "metadata"):
            yield from _places(inner)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from _places(schema[key])


def _in_a_schema(random: Random, versions: list[dict[str, Any]], edit: Edit) -> None:
    version = random.choice(versions)
    root = version["schema"]["openAPIV3Schema"]
    edit(random, random.choice([place for place in _places(root) if place is not root] or [root]))


def _bound(side: int) -> Edit:
    def edit(random: Random, schema: Schema) -> None:
        fitting = _BOUNDS.get(schema.get("type", ""))
        keys = fitting if fitting and random.random() < 0.9 else random.choice(tuple(_BOUNDS.values()))
        _put(random, schema, keys[side], random.randint(0, 4))

    return edit


def _put(random: Random, schema: Schema, key: str, value: Any) -> None:
    """Set a keyword, or remove it."""
    if key in schema and random.random() < 0.4:
        del schema[key]
    else:
        schema[key] = value


def _enumerate(random: Random, schema: Schema) -> None:
    pool: tuple[Any, ...] = {"string": _WORDS, "integer": (0, 1, 2), "boolean": (True, False)}.get(
        schema.get("type", ""), ()
    )
    if not pool:
        return
    values = schema.setdefault("enum", [])
    if values and random.random() < 0.4:
        values.pop(random.randrange(len(values)))
    else:
        values += [v for v in random.sample(pool, random.randint(1, 2)) if v not in values]
    if not values or random.random() < 0.15:
        del schema["enum"]


def _word(key: str, *values: str) -> Edit:
    def edit(random: Random, schema: Schema) -> None:
        if schema.get("type") == "string" or key in ("description", "title"):
            _put(random, schema, key, random.choice(values))

    return edit


def _format(random: Random, schema: Schema) -> None:
    values = {
        "string": ("date-time", "duration", "byte", "nonsense", "password"),
        "integer": ("int32", "int64"),
        "number": ("float", "double"),
    }
    if schema.get("type") in values:
        _put(random, schema, "format", random.choice(values[schema["type"]]))


def _switch(key: str, *kinds: str) -> Edit:
    def edit(random: Random, schema: Schema) -> None:
        if (not kinds or schema.get("type") in kinds) and schema.pop(key, None) is None:
            schema[key] = True

    return edit


def _multiple(random: Random, schema: Schema) -> None:
    if schema.get("type") in ("integer", "number"):
        _put(random, schema, "multipleOf", random.randint(1, 4))


def _require(random: Random, schema: Schema) -> None:
    if schema.get("properties"):
        name = random.choice(tuple(schema["properties"]))
        names = schema.setdefault("required", [])
        names.remove(name) if name in names else names.append(name)
        if not names:
            del schema["required"]


def _default(random: Random, schema: Schema) -> None:
    values: dict[str, tuple[Any, ...]] = {
        "string": _WORDS,
        "integer": (0, 1, 3),
        "boolean": (True, False),
        "array": ([],),
        "object": ({},),
    }
    _put(random, schema, "default", random.choice(values.get(schema.get("type", ""), (1, "a"))))


def _retype(random: Random, schema: Schema) -> None:
    for key in ("x-kubernetes-int-or-string", "anyOf", "type"):
        schema.pop(key, None)
    kind = random.choice(("string", "integer", "number", "boolean", "either", "object", "any"))
    schema.update(_bare(random, kind, 3) if kind != "any" else {})


def _add_field(random: Random, schema: Schema) -> None:
    if schema.get("type") == "object" and "additionalProperties" not in schema:
        free = [name for name in NAMES if name not in schema.get("properties", {})]
        if free:
            schema.setdefault("properties", {})[random.choice(free)] = random_schema(random, 2)


def _remove_field(random: Random, schema: Schema) -> None:
    fields = schema.get("properties", {})
    if fields:
        name = random.choice(tuple(fields))
        del fields[name]
        schema["required"] = [n for n in schema.get("required", ()) if n != name]
        if not schema["required"]:
            del schema["required"]
        if not fields:
            del schema["properties"]


def _remap(random: Random, schema: Schema) -> None:
    """Replace properties by additionalProperties, or the reverse."""
    if schema.get("type") == "object":
        schema.pop("required", None)
        was = schema.pop("additionalProperties", None), schema.pop("properties", None)
        choice = random.random()
        if choice < 0.3:
            schema["additionalProperties"] = True
        elif was[0] is None:
            schema["additionalProperties"] = random_schema(random, 3)
        elif choice < 0.7:
            schema["properties"] = {random.choice(NAMES): random_schema(random, 3)}


def _list_type(random: Random, schema: Schema) -> None:
    if schema.get("type") == "array":
        kind = random.choice(("atomic", "set", "map"))
        _put(random, schema, "x-kubernetes-list-type", kind)
        if schema.get("x-kubernetes-list-type") == "map":
            schema["x-kubernetes-list-map-keys"] = [random.choice(NAMES)]


def _map_type(random: Random, schema: Schema) -> None:
    if schema.get("type") == "object":
        _put(random, schema, "x-kubernetes-map-type", random.choice(("atomic", "granular")))


def _cel(random: Random, schema: Schema) -> None:
    rules = schema.setdefault("x-kubernetes-validations", [])
    if rules and random.random() < 0.5:
        rules[0] = {**rules[0], "message": random.choice(("no", "never"))}
    elif rules and random.random() < 0.5:
        rules.pop()
    else:
        rules.append({"rule": random.choice(("true", "self == self", "self == oldSelf"))})
    if not rules:
        del schema["x-kubernetes-validations"]


def _combine(random: Random, schema: Schema) -> None:
    """Add anyOf and the like, as far as a structural schema allows it."""
    key = random.choice(("allOf", "anyOf", "oneOf", "not"))
    made = random.choice(
        ({"minimum": 1}, {"maximum": 3}, {"pattern": "x"}, {"maxLength": 1}, {"enum": [1, "a"]})
    )
    if key == "not":
        _put(random, schema, key, made)
        return
    members = schema.setdefault(key, [])
    members.pop() if members and random.random() < 0.4 else members.append(made)
    if not members:
        del schema[key]


_SCHEMA_EDITS: Final[dict[str, Edit]] = {
    "lower bound": _bound(0),
    "upper bound": _bound(1),
    "enum": _enumerate,
    "pattern": _word("pattern", "^x", "y$", "^[a-z]*$"),
    "format": _format,
    "description": _word("description", "one", "another"),
    "title": _word("title", "one", "another"),
    "nullable": _switch("nullable"),
    "exclusive maximum": _switch("exclusiveMaximum", "integer", "number"),
    "multiple": _multiple,
    "required": _require,
    "default": _default,
    "type": _retype,
    "field added": _add_field,
    "field removed": _remove_field,
    "entries": _remap,
    "unknown fields": _switch("x-kubernetes-preserve-unknown-fields", "object"),
    "list type": _list_type,
    "map type": _map_type,
    "CEL": _cel,
    "combined": _combine,
}
_CONSTRAINTS: Final = (
    "lower bound", "upper bound", "enum", "pattern", "format", "description", "nullable", "multiple",
    "default", "exclusive maximum", "unknown fields", "list type", "CEL", "combined",
)  # fmt: skip


def _scope(_random: Random, new: Definition) -> None:
    new["spec"]["scope"] = "Cluster" if new["spec"]["scope"] == "Namespaced" else "Namespaced"


def _served(random: Random, new: Definition) -> None:
    version = random.choice(new["spec"]["versions"])
    version["served"] = not version["served"]


def _drop_version(random: Random, new: Definition) -> None:
    versions = new["spec"]["versions"]
    if len(versions) > 1:
        gone = versions.pop(random.randrange(len(versions)))
        if gone["storage"]:
            versions[0]["storage"] = True


def _new_version(random: Random, new: Definition) -> None:
    versions = new["spec"]["versions"]
    free = [name for name in _VERSIONS if name not in {v["name"] for v in versions}]
    schema = deepcopy(random.choice(versions)["schema"]["openAPIV3Schema"])
    versions.append(_version(random.choice(free), schema))
    if random.random() < 0.5:
        _in_a_schema(random, versions[-1:], random.choice(tuple(_SCHEMA_EDITS.values())))


def _storage(random: Random, new: Definition) -> None:
    for version in new["spec"]["versions"]:
        version["storage"] = False
    random.choice(new["spec"]["versions"])["storage"] = True


def _convert(random: Random, new: Definition) -> None:
    new["spec"]["conversion"] = _conversion(random.choice(("None", "Webhook")))


def _anywhere(edit: Edit) -> Callable[[Random, Definition], None]:
    return lambda random, new: _in_a_schema(random, new["spec"]["versions"], edit)


#: Every edit by its name.
EDITS: Final[dict[str, Callable[[Random, Definition], None]]] = {
    **{name: _anywhere(edit) for name, edit in _SCHEMA_EDITS.items()},
    "scope": _scope,
    "served": _served,
    "version dropped": _drop_version,
    "version added": _new_version,
    "storage": _storage,
    "conversion": _convert,
}
