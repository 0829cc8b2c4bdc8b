"""`podTemplate`: what users may set in the pods of a pool or of Dashboards, and what the operator keeps.

The schema has the supported fields of a pod. Inside of them the API server validates, when the StatefulSet is
applied. What the operator sets itself is refused here, by name.
"""

from __future__ import annotations

__all__ = [
    "DASHBOARDS",
    "NODES",
    "POD_TEMPLATE_SCHEMA",
    "ManagedPod",
    "is_managed_label",
    "pod_template_errors",
]

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from searchkeeper.api.schema import Schema

_OPEN: Final[Schema] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXT: Final[Schema] = {"type": "string"}
_TEXTS: Final[Schema] = {"type": "object", "additionalProperties": _TEXT}
_LIST: Final[Schema] = {"type": "array", "x-kubernetes-list-type": "atomic", "items": _OPEN}
_NAME: Final[Schema] = {"description": "Name of the item.", **_TEXT}
_NAMED_LIST: Final[Schema] = {
    **_LIST,
    "items": {**_OPEN, "required": ["name"], "properties": {"name": _NAME}},
}
_METADATA: Final[Mapping[str, Schema]] = {"annotations": _TEXTS, "labels": _TEXTS}
# The supported fields of a PodSpec. The API server reports any other one as unknown.
_SPEC: Final[Mapping[str, Schema]] = {
    "affinity": _OPEN,
    "automountServiceAccountToken": {"type": "boolean"},
    "containers": _NAMED_LIST,
    "dnsConfig": _OPEN,
    "dnsPolicy": _TEXT,
    "hostAliases": _LIST,
    "imagePullSecrets": _LIST,
    "initContainers": _NAMED_LIST,
    "nodeSelector": _TEXTS,
    "priorityClassName": _TEXT,
    "runtimeClassName": _TEXT,
    "schedulerName": _TEXT,
    "securityContext": _OPEN,
    "serviceAccountName": _TEXT,
    "terminationGracePeriodSeconds": {"type": "integer", "format": "int64", "minimum": 0},
    "tolerations": _LIST,
    "topologySpreadConstraints": _LIST,
    "volumes": _NAMED_LIST,
}
POD_TEMPLATE_SCHEMA: Final[Schema] = {
    "properties": {
        kind: {
            "description": description,
            "type": "object",
            "properties": {
                name: {"description": f"{name} of a pod, as in Kubernetes.", **schema}
                for name, schema in properties.items()
            },
        }
        for kind, description, properties in (
            ("metadata", "Labels and annotations of the pods.", _METADATA),
            ("spec", "Fields of a PodSpec.", _SPEC),
        )
    }
}

_CONTAINER_FIELDS: Final = (
    "env",
    "livenessProbe",
    "name",
    "resources",
    "securityContext",
    "startupProbe",
    "volumeMounts",
)
# Selectors of all configuration versions, and what Kubernetes sets in pods of a StatefulSet or Deployment.
_LABELS: Final = frozenset(
    {
        "app",
        "app.kubernetes.io/component",
        "app.kubernetes.io/instance",
        "app.kubernetes.io/managed-by",
        "app.kubernetes.io/name",
        "apps.kubernetes.io/pod-index",
        "controller-revision-hash",
        "pod-template-hash",
        "pool",
        "statefulset.kubernetes.io/pod-name",
    }
)
_OWN_PREFIX: Final = "search.everpath.dev/"


@dataclass(frozen=True, slots=True)
class ManagedPod:
    """The parts of a pod that the operator sets: the name of its container, and names that are taken."""

    container: str
    init_containers: frozenset[str]
    volumes: frozenset[str]
    mount_paths: frozenset[str]
    variables: frozenset[str]


NODES: Final = ManagedPod(
    container="opensearch",
    init_containers=frozenset({"keystore", "plugins", "users"}),
    volumes=frozenset(
        {"certificates", "config", "data", "keystore", "keystore-entries", "plugins", "users"},
    ),
    mount_paths=frozenset(
        {
            "/usr/share/opensearch/config/certificates",
            "/usr/share/opensearch/config/opensearch-security/internal_users.yml",
            "/usr/share/opensearch/config/opensearch.keystore",
            "/usr/share/opensearch/config/opensearch.yml",
            "/usr/share/opensearch/data",
            "/usr/share/opensearch/plugins",
        }
    ),
    variables=frozenset(
        {
            "DISABLE_INSTALL_DEMO_CONFIG",
            "DISABLE_SECURITY_PLUGIN",
            "OPENSEARCH_HOME",
            "OPENSEARCH_PATH_CONF",
        }
    ),
)
DASHBOARDS: Final = ManagedPod(
    container="dashboards",
    init_containers=frozenset(),
    volumes=frozenset({"certificates"}),
    mount_paths=frozenset({"/usr/share/opensearch-dashboards/config/certificates"}),
    variables=frozenset(
        {
            "DISABLE_SECURITY_DASHBOARDS_PLUGIN",
            "OPENSEARCH_HOSTS",
            "OPENSEARCH_PASSWORD",
            "OPENSEARCH_SSL_CERTIFICATEAUTHORITIES",
            "OPENSEARCH_SSL_VERIFICATIONMODE",
            "OPENSEARCH_USERNAME",
        }
    ),
)


def is_managed_label(name: str) -> bool:
    """Whether the operator or Kubernetes sets this label of pods."""
    return name in _LABELS or name.startswith(_OWN_PREFIX)


def pod_template_errors(
    template: Mapping[str, Any], path: str, managed: ManagedPod
) -> Iterator[tuple[str, str]]:
    """Yield the path and the message of each part that would break what the operator sets.

    The template must match the schema.
    """
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    for kind in ("labels", "annotations"):
        for name in metadata.get(kind) or ():
            if name.startswith(_OWN_PREFIX) or (kind == "labels" and is_managed_label(name)):
                yield f"{path}.metadata.{kind}.{name}", "Forbidden: the operator sets it: use another name"
    for name in sorted(set(spec) - set(_SPEC)):
        yield f"{path}.spec.{name}", f"Forbidden: not supported; supported are {', '.join(_SPEC)}"
    lists: dict[str, list[Mapping[str, Any]]] = {
        name: spec.get(name) or [] for name in ("containers", "initContainers", "volumes")
    }
    for name, items in lists.items():
        yield from _duplicates(f"{path}.spec.{name}", "name", items)
    own = [number for number, each in enumerate(lists["containers"]) if each["name"] == managed.container]
    for number in own[:1]:
        yield from _container_errors(
            lists["containers"][number], f"{path}.spec.containers[{number}]", managed
        )
    taken = {"initContainers": managed.init_containers | {managed.container}, "volumes": managed.volumes}
    for name, reserved in taken.items():
        for number, item in enumerate(lists[name]):
            if item["name"] in reserved:
                message = f'Forbidden: "{item["name"]}" is a name of the operator: use another one'
                yield f"{path}.spec.{name}[{number}].name", message


def _container_errors(
    container: Mapping[str, Any], path: str, managed: ManagedPod
) -> Iterator[tuple[str, str]]:
    for name in container:
        if name not in _CONTAINER_FIELDS:
            supported = ", ".join(_CONTAINER_FIELDS)
            yield f"{path}.{name}", f"Forbidden: the operator sets it; supported are {supported}"
    for name, key in (("env", "name"), ("volumeMounts", "mountPath")):
        items = container.get(name) or []
        if not isinstance(items, list | tuple) or not all(_has_key(item, key) for item in items):
            yield f"{path}.{name}", f"Invalid value: must be a list of objects, each with a {key}"
            return
        yield from _duplicates(f"{path}.{name}", key, items)
    for number, variable in enumerate(container.get("env") or ()):
        if "." in variable["name"]:
            message = "Forbidden: the image takes it for a setting of OpenSearch: write it in config"
            yield f"{path}.env[{number}].name", message
        elif variable["name"] in managed.variables:
            yield f"{path}.env[{number}].name", f'Forbidden: the operator sets "{variable["name"]}"'
    for number, mount in enumerate(container.get("volumeMounts") or ()):
        mount_path = mount["mountPath"].rstrip("/")
        hidden = [own for own in sorted(managed.mount_paths) if f"{own}/".startswith(f"{mount_path}/")]
        if hidden:
            message = f"Forbidden: it would hide {hidden[0]}: mount a file or a folder beside it"
            yield f"{path}.volumeMounts[{number}].mountPath", message


def _has_key(item: Any, key: str) -> bool:
    return isinstance(item, Mapping) and isinstance(item.get(key), str)


def _duplicates(path: str, key: str, items: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for number, item in enumerate(items):
        if item[key] in seen:
            yield f"{path}[{number}].{key}", f'Duplicate value: "{item[key]}"'
        seen.add(item[key])
