"""Validates resources as the API server does, with error messages in its style.

CLI commands validate files before any API server sees them. The operator validates specs that an older CRD
accepted. Transition rules, which compare with the stored object, are left to the API server.
"""

from __future__ import annotations

__all__ = ["EXAMPLES", "RULES", "FieldError", "parse_cluster_spec", "schema_errors", "spec_errors"]

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final

from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.api.crds import CLUSTERS, NAME_LENGTH_RULE, NAME_RULE, SECRET_NAME_RULE, crds
from searchkeeper.api.pod_template import (
    DASHBOARDS,
    NODES,
    ManagedPod,
    is_managed_label,
    pod_template_errors,
)
from searchkeeper.api.schema import Rule, Schema
from searchkeeper.api.settings import setting_errors
from searchkeeper.api.spec import HAS_MANAGERS_RULE, SEARCH_RULE, WARM_RULE, ClusterSpec

_TYPES: Final[Mapping[str, tuple[type | tuple[type, ...], str]]] = {
    "object": (Mapping, "an object"),
    "array": ((list, tuple), "a list"),
    "string": (str, "a string"),
    "integer": (int, "an integer"),
    "boolean": (bool, "true or false"),
}
_INTEGER_RANGES: Final = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
_PRESERVE_UNKNOWN: Final = "x-kubernetes-preserve-unknown-fields"
# Valid values of fields that have a pattern. Messages show them instead of regular expressions.
EXAMPLES: Final = {
    "version": "2.19.4",
    "size": "100Gi",
    "storageClass": "fast-ssd",
    "name": "data-hot",
    "tlsSecret": "logs-tls",
    "credentialsSecret": "logs-admin",
    "snapshotRepository": "nightly",
    "keystoreSecret": "logs-keystore",
    "topologyKey": "topology.kubernetes.io/zone",
}
_OBJECT_NAMES: Final = frozenset(EXAMPLES) - {"version", "size", "snapshotRepository", "topologyKey"}
# Unquoted words that YAML 1.1 reads as true or false.
_YAML_TRUE: Final = ("true", "yes", "on", "y")
_YAML_FALSE: Final = ("false", "no", "off", "n")


@dataclass(frozen=True, slots=True)
class FieldError:
    """An invalid field. `path` is empty for an error that concerns several fields."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def _has_managers(pools: Any) -> bool:
    return any("cluster_manager" in pool["roles"] and pool["replicas"] > 0 for pool in pools)


def _has_known_roles(spec: Any) -> bool:
    return not _is_before_3(spec) or not any("warm" in pool["roles"] for pool in spec["pools"])


def _has_search_alone(spec: Any) -> bool:
    return _is_before_3(spec) or not any(
        "search" in pool["roles"] and len(pool["roles"]) > 1 for pool in spec["pools"]
    )


def _is_before_3(spec: Any) -> bool:
    return re.match("[0-2][.]", str(spec.get("version"))) is not None


def _has_service_name(cluster: Any) -> bool:
    return re.fullmatch("[a-z]([-a-z0-9]*[a-z0-9])?", cluster["metadata"]["name"]) is not None


def _has_short_names(cluster: Any) -> bool:
    longest = max(len(pool["name"]) for pool in cluster["spec"]["pools"])
    return len(cluster["metadata"]["name"]) + longest <= 51


def _has_unreserved_secret(cluster: Any) -> bool:
    name, security = cluster["metadata"]["name"], cluster["spec"].get("security") or {}
    return security.get("credentialsSecret") not in (f"{name}-config", f"{name}-credentials")


# The CEL rules of the CRDs as Python functions.
RULES: Final[Mapping[Rule, Callable[[Any], bool]]] = {
    HAS_MANAGERS_RULE: _has_managers,
    WARM_RULE: _has_known_roles,
    SEARCH_RULE: _has_search_alone,
    NAME_RULE: _has_service_name,
    NAME_LENGTH_RULE: _has_short_names,
    SECRET_NAME_RULE: _has_unreserved_secret,
}
_CHECKS: Final = {rule.expression: check for rule, check in RULES.items()}
# Limits that the operator does not enforce, because it can work with the value: the user need not edit a
# cluster that runs. None removes a limit.
_TOLERATED: Final[Mapping[str, Mapping[str, Any]]] = {
    # The version policy refuses an invalid version. The rest of the spec is reconciled.
    "spec": {"required": ["pools"]},
    "spec.pools": {"maxItems": None},
    # NAME_LENGTH_RULE limits what matters, the length of both names together.
    "spec.pools[].name": {"maxLength": None},
    "spec.pools[].roles": {"maxItems": None, "x-kubernetes-list-type": None},
    "spec.pools[].replicas": {"maximum": None},
    # Any quantity that Kubernetes accepts. A size can only grow, so the user could not correct it.
    "spec.pools[].storage.size": {
        "maxLength": None,
        "pattern": r"^(?=.*[1-9])\d*\.?\d*([KMGTPE]i|[mkMGTPE]|[eE]\d+)?$",
    },
    "spec.dashboards.replicas": {"maximum": None},
    # The codec raises smaller values to the minimum.
    "spec.upgrade.maxBatch": {"minimum": None},
    "spec.upgrade.healthDeadlineSeconds": {"minimum": None},
}
_TOLERATED_FIELDS: Final = ("spec.version", "status")
# The operator ignores a credentials Secret of a reserved name.
_TOLERATED_RULES: Final = (SECRET_NAME_RULE.expression,)


def schema_errors(manifest: Mapping[str, Any]) -> list[FieldError]:
    """Every reason why the API server rejects a SearchCluster or SearchPool; empty for other kinds."""
    schema = _schemas().get((str(manifest.get("apiVersion")), str(manifest.get("kind"))))
    return [] if schema is None else _errors(schema, manifest)


def spec_errors(manifest: Mapping[str, Any]) -> list[FieldError]:
    """Every reason why the operator cannot reconcile a SearchCluster; fewer than `schema_errors`."""
    return _errors(_tolerant_cluster_schema(), manifest)


def parse_cluster_spec(manifest: Mapping[str, Any]) -> tuple[ClusterSpec, str | None]:
    """The spec of a SearchCluster and None, or an empty spec and the message of the errors in it."""
    errors = "; ".join(map(str, spec_errors(manifest)))
    if errors:
        return ClusterSpec("", ()), f"invalid spec: {errors}"
    return decode_cluster_spec(manifest["spec"]), None


@lru_cache(maxsize=1)
def _schemas() -> Mapping[tuple[str, str], Schema]:
    """The schemas by API version and kind."""
    return {
        (f"{crd['spec']['group']}/{version['name']}", crd["spec"]["names"]["kind"]): version["schema"][
            "openAPIV3Schema"
        ]
        for crd in crds().values()
        for version in crd["spec"]["versions"]
    }


@lru_cache(maxsize=1)
def _tolerant_cluster_schema() -> Schema:
    def tolerant(schema: Schema, path: str) -> Schema:
        # The API server drops unknown fields, so they are tolerated, too.
        result = {**schema, _PRESERVE_UNKNOWN: True, **_TOLERATED.get(path, {})}
        if "properties" in schema:
            result["properties"] = {
                name: tolerant(inner, _join(path, name))
                for name, inner in schema["properties"].items()
                if _join(path, name) not in _TOLERATED_FIELDS
            }
        if "items" in schema:
            result["items"] = tolerant(schema["items"], f"{path}[]")
        result["x-kubernetes-validations"] = [
            rule
            for rule in schema.get("x-kubernetes-validations", ())
            if rule["rule"] not in _TOLERATED_RULES
        ]
        return {name: value for name, value in result.items() if value is not None}

    [version] = crds()[CLUSTERS.plural]["spec"]["versions"]
    return tolerant(version["schema"]["openAPIV3Schema"], "")


def _errors(schema: Schema, manifest: Mapping[str, Any]) -> list[FieldError]:
    """Like the API server, evaluate rules only if nothing else is wrong."""
    return (
        [*_value_errors(schema, manifest, "")]
        or [*_rule_errors(schema, manifest, "")]
        or [*_managed_field_errors(manifest)]
    )


def _managed_field_errors(manifest: Mapping[str, Any]) -> Iterator[FieldError]:
    """What would change a field that the operator sets. The API server accepts it: it has no such rules."""
    spec = manifest["spec"]
    if "pools" not in spec:
        # A SearchPool has what the operator wrote.
        return
    pools = spec["pools"]
    templates: list[tuple[str, Any, ManagedPod]] = [
        (f"spec.pools[{number}].podTemplate", pool.get("podTemplate"), NODES)
        for number, pool in enumerate(pools)
    ]
    dashboards = spec.get("dashboards") or {}
    templates.append(("spec.dashboards.podTemplate", dashboards.get("podTemplate"), DASHBOARDS))
    for path, template, managed in templates:
        for error in pod_template_errors(template or {}, path, managed):
            yield FieldError(*error)
    for number, plugin in enumerate(spec.get("plugins") or ()):
        if re.fullmatch(r"[^-\s]\S*", plugin) is None:
            message = f"Invalid value: {_literal(plugin)}: must be like analysis-icu, without spaces"
            yield FieldError(f"spec.plugins[{number}]", message)
    topology_key = spec.get("topologyKey")
    if topology_key is not None and is_managed_label(topology_key):
        message = "Forbidden: the operator sets this label of pods: use a label of Kubernetes nodes"
        yield FieldError("spec.topologyKey", message)
    configs = {f"spec.pools[{number}].config": pool.get("config") for number, pool in enumerate(pools)}
    for path, settings in {"spec.config": spec.get("config"), **configs}.items():
        for error in setting_errors(settings or {}, path, has_zones=topology_key is not None):
            yield FieldError(*error)


def _value_errors(schema: Schema, value: Any, path: str) -> Iterator[FieldError]:
    if "type" not in schema:
        return
    expected, type_name = _TYPES[schema["type"]]
    if schema["type"] == "integer" and isinstance(value, float) and value.is_integer():
        # The API server accepts 2.0 as an integer.
        value = int(value)
    if not isinstance(value, expected) or (isinstance(value, bool) and schema["type"] != "boolean"):
        message = f"must be {type_name}{_example(schema, path)}{_quoting_hint(schema, value)}"
        yield FieldError(path, f"Invalid value: {_literal(value)}: {message}")
    elif isinstance(value, Mapping):
        yield from _object_errors(schema, value, path)
    elif isinstance(value, list | tuple):
        yield from _list_errors(schema, value, path)
    else:
        yield from (FieldError(path, message) for message in _limit_errors(schema, value, path))


def _object_errors(schema: Schema, value: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    """A null field counts as missing, unless it is unknown. The API server does the same."""
    for name in schema.get("required", ()):
        if value.get(name) is None:
            yield FieldError(_join(path, name), "Required value")
    for name, inner in value.items():
        inner_schema = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        if inner_schema is not None:
            yield from _value_errors(inner_schema, inner, _join(path, name)) if inner is not None else ()
        elif "properties" in schema and path.startswith("spec") and not schema.get(_PRESERVE_UNKNOWN):
            similar = get_close_matches(str(name), schema["properties"], n=1)
            hint = f'; did you mean "{similar[0]}"?' if similar else ""
            yield FieldError(_join(path, name), f"unknown field{hint}")


def _list_errors(schema: Schema, items: Sequence[Any], path: str) -> Iterator[FieldError]:
    if len(items) < schema.get("minItems", 0):
        message = f"should have at least {schema['minItems']} items"
        yield FieldError(path, f"Invalid value: {len(items)} items: {message}")
    if len(items) > schema.get("maxItems", len(items)):
        yield FieldError(path, f"Too many: {len(items)}: must have at most {schema['maxItems']} items")
    for number, item in enumerate(items):
        yield from _value_errors(schema["items"], item, f"{path}[{number}]")
    map_keys = schema.get("x-kubernetes-list-map-keys", ())
    seen = set()
    for number, item in enumerate(items):
        if schema.get("x-kubernetes-list-type") == "set":
            identity = _literal(item)
        elif map_keys and isinstance(item, Mapping):
            identity = "{" + ", ".join(f'"{key}": {_literal(item.get(key))}' for key in map_keys) + "}"
        else:
            continue
        if identity in seen:
            yield FieldError(f"{path}[{number}]", f"Duplicate value: {identity}")
        seen.add(identity)


def _limit_errors(schema: Schema, value: Any, path: str = "") -> Iterator[str]:
    if value not in schema.get("enum", [value]):
        supported = ", ".join(json.dumps(each) for each in schema["enum"])
        yield f"Unsupported value: {_literal(value)}: supported values: {supported}"
    if isinstance(value, int):
        least, most = _INTEGER_RANGES.get(schema.get("format", ""), (value, value))
        least, most = schema.get("minimum", least), schema.get("maximum", most)
        if value < least:
            yield f"Invalid value: {value}: should be greater than or equal to {least}"
        if value > most:
            yield f"Invalid value: {value}: should be less than or equal to {most}"
        return
    if len(value) < schema.get("minLength", 0):
        yield f"Invalid value: {_literal(value)}: should be at least {schema['minLength']} chars long"
    if len(value) > schema.get("maxLength", len(value)):
        yield f"Too long: may not be more than {schema['maxLength']} characters"
    # Go's `$` matches only at the end of the text, and its `\d` only ASCII digits.
    pattern = schema.get("pattern", "").replace("$", r"\Z")
    if re.search(pattern, value, re.ASCII) is None:
        is_object_name = path.rpartition(".")[2] in _OBJECT_NAMES
        allowed = ", with only lowercase letters, digits and hyphens" if is_object_name else ""
        yield f"Invalid value: {_literal(value)}: must be{_example(schema, path)}{allowed}"


def _example(schema: Schema, path: str) -> str:
    """A valid value of a field that has a pattern: users do not read regular expressions."""
    if "pattern" not in schema:
        return ""
    return f" like {EXAMPLES.get(path.rpartition('.')[2], schema['pattern'])}"


def _quoting_hint(schema: Schema, value: Any) -> str:
    """The correct spelling of a value that only has too few or too many quotes in YAML."""
    match schema["type"], value:
        case "string", bool():
            words = _YAML_TRUE if value else _YAML_FALSE
            for member in schema.get("enum", ()):
                if member.lower() in words:
                    return f'; write "{member}" with quotes, because YAML reads {member} as {_literal(value)}'
        case "string", int() | float() if not [*_limit_errors(schema, str(value))]:
            return f'; write "{value}" with quotes'
        case "boolean", str() if value.lower() in (*_YAML_TRUE, *_YAML_FALSE):
            return f"; write {_literal(value.lower() in _YAML_TRUE)} without quotes"
        case "integer", str() if re.fullmatch(r"-?\d+", value, re.ASCII):
            return f"; write {value} without quotes"
    return ""


def _rule_errors(schema: Schema, value: Any, path: str) -> Iterator[FieldError]:
    for rule in schema.get("x-kubernetes-validations", ()):
        check = _CHECKS.get(rule["rule"])
        if check is not None and not check(value):
            yield FieldError(path, f"Invalid value: {rule['message']}" if path else rule["message"])
    if isinstance(value, Mapping):
        for name, inner in schema.get("properties", {}).items():
            if value.get(name) is not None:
                yield from _rule_errors(inner, value[name], _join(path, name))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _literal(value: Any) -> str:
    """A value as JSON; only the type of a list or object, which may be long."""
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, list | tuple):
        return "list"
    return json.dumps(value, ensure_ascii=False, default=str)
