"""Random bundle folders: valid ones, and ones with an error in a manifest or in the metadata."""

from __future__ import annotations

__all__ = ["random_bundle"]

import json
from collections.abc import Mapping
from copy import deepcopy
from random import Random
from typing import Any, Final

_WRONG: Final[tuple[Any, ...]] = (
    None,
    True,
    5,
    1.5,
    -1,
    2**40,
    "x",
    "",
    [],
    {},
    ["x"],
    {"a": 1},
    [None],
    "5",
    "1.0",
)


def random_bundle(random: Random) -> Mapping[str, str]:
    """Return the files of a bundle by name, most of them as JSON, which is YAML too."""
    csv, crds = _csv(random), [_crd(random, number) for number in range(random.randint(0, 2))]
    _own(random, csv, crds)
    documents = [csv, *crds]
    if random.random() < 0.4:
        victim = random.choice(documents)
        for _ in range(random.randint(1, 2)):
            _spoil(random, victim)
    files = {f"manifests/{name}": _text(random, body) for name, body in _named(random, documents)}
    return {**files, **_metadata(random)}


def _named(random: Random, documents: list[Any]) -> list[tuple[str, Any]]:
    named = [
        (f"{number}.{random.choice(('yaml', 'json', 'yml', 'txt'))}", d) for number, d in enumerate(documents)
    ]
    if random.random() < 0.1:
        named.append(
            (
                "zz.yaml",
                random.choice(([1], {"kind": ""}, {"a": 1}, "text", {"kind": "Service", "spec": {"x": 1.0}})),
            )
        )
    if random.random() < 0.05:
        named.append((".hidden.yaml", {"kind": "Secret"}))
    return named


def _text(random: Random, body: Any) -> str:
    text = json.dumps(body, indent=random.choice((None, 1)))
    choice = random.random()
    if choice < 0.2:
        return f"---\n# a comment\n{text}\n"
    if choice < 0.25:
        return f"# a header\n---\n{text}\n"
    return text + "\n---\nkind: Other\n" if choice < 0.3 else text


def _csv(random: Random) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "displayName": "Op <1> & more",
        "description": random.choice(("An operator\n", "", None)),
        "version": random.choice(("1.0.0", "1.0.0", "1.0.0", "1.0.0", "v1.0", "1.0.0+1", "bad")),
        "maturity": "alpha",
        "minKubeVersion": "1.20.0",
        "keywords": ["a", None],
        "provider": {"name": "Us", "URL": "https://example.com"},
        "links": [{"name": "Docs", "url": "https://example.com"}],
        "maintainers": [{"name": "Me", "email": "me@example.com"}, {}],
        "icon": [{"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}],
        "installModes": [{"type": "OwnNamespace", "supported": True}, {"type": "AllNamespaces"}],
        "nativeAPIs": [{"group": "g", "version": "v1", "kind": "K"}],
        "install": {
            "strategy": random.choice(("deployment", "deployment", "Deployment")),
            "spec": _install(random),
        },
        "apiservicedefinitions": {"owned": [_service(random)], "required": []},
        "customresourcedefinitions": {
            "required": [{"name": "things.example.com", "kind": "Thing", "version": "v1"}]
        },
        "relatedImages": [{"name": "b", "image": "r.example/b:1"}, {"name": "a", "image": "r.example/a:1"}],
        "webhookdefinitions": [
            {"type": "ConversionWebhook", "generateName": "x", "targetPort": 5, "sideEffects": "None"}
        ],
        "skips": ["op.v0.9.0"],
    }
    for key in random.sample(sorted(spec), random.randint(0, 6)):
        del spec[key]
    if random.random() < 0.15:
        spec["release"] = random.choice(("1", 2, 2.5, "rc.1", "", True, 1e7, "a..b"))
    metadata: dict[str, Any] = {
        "name": "op.v1.0.0",
        "annotations": {"capabilities": "Basic Install"},
        "labels": {"a": "b"},
    }
    if random.random() < 0.3:
        metadata["annotations"]["olm.properties"] = random.choice(_ANNOTATED)
    if random.random() < 0.1:
        metadata["creationTimestamp"] = random.choice(
            (None, "2024-01-02T03:04:05Z", "2024-01-02T03:04:05.1+01:00", "2024-01-02", "")
        )
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": metadata,
        "spec": spec,
    }


_ANNOTATED: Final = (
    '[{"type": "olm.maxOpenShiftVersion", "value": "4.15"}]',
    '[{"type": "olm.package", "value": {"packageName": "other", "version": "2.0.0"}}]',
    '[{"type": "olm.gvk", "value": {"group": "g", "kind": "K", "version": "v1"}}]',
    '[{"Type": "t", "value": [2, {"b": 1, "a": 2}]}]',
    '[{"type": "olm.gvk", "value": "x"}]',
    '[{"type": 5, "value": 1}, null, {"value": null}, {"type": "only"}]',
    "not json",
    "{}",
    "[]",
)


def _install(random: Random) -> dict[str, Any]:
    container = {
        "name": "manager",
        "image": random.choice(("r.example/op:1", "r.example/a:1", "img.example/op:v1.0.0")),
        "args": ["--leader-elect"],
        "env": [
            {"name": "A", "value": "b"},
            {"name": "P", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "livenessProbe": {
            "httpGet": {"path": "/", "port": random.choice((8080, "http"))},
            "periodSeconds": 20,
        },
        "resources": {
            "limits": {
                "cpu": random.choice(
                    ("500m", 1, 0.5, "1e3", "-1", "1Gi", "x") if random.random() < 0.5 else ("1",)
                ),
                "memory": "128Mi",
            }
        },
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    pod = {
        "containers": [container],
        "initContainers": [{"name": "init", "image": "r.example/init:1"}],
        "serviceAccountName": "op",
        "terminationGracePeriodSeconds": 10,
        "volumes": [
            {"name": "v", "emptyDir": {"sizeLimit": "1Gi"}},
            {"name": "s", "secret": {"defaultMode": 420}},
        ],
        "affinity": {"nodeAffinity": {}},
    }
    deployment = {
        "name": "op",
        "label": {"a": "b"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"a": "b"}},
            "strategy": {"rollingUpdate": {"maxSurge": "25%"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod},
        },
    }
    permissions = [
        {"serviceAccountName": "op", "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}]}
    ]
    return {
        "deployments": [deployment],
        "permissions": permissions,
        "clusterPermissions": deepcopy(permissions),
    }


def _service(random: Random) -> dict[str, Any]:
    service = {"name": "s", "group": "s.example.com", "version": "v1", "kind": "S", "containerPort": 443}
    if random.random() < 0.5:
        service["specDescriptors"] = [
            {
                "path": "p",
                "x-descriptors": ["urn:x"],
                "value": random.choice(({"b<": 1, "a": "<&>"}, None, "v")),
            }
        ]
    return service


def _crd(random: Random, number: int) -> dict[str, Any]:
    kind = f"Kind{number}"
    schema = {
        "type": "object",
        "required": ["spec"],
        "properties": {
            "spec": {
                "type": "object",
                "minimum": 1.5,
                "maxLength": 10,
                "enum": ["a", 1, None],
                "items": random.choice(({"type": "string"}, [{"type": "string"}])),
                "additionalProperties": random.choice((True, {"type": "string"})),
                "x-kubernetes-preserve-unknown-fields": True,
                "x-kubernetes-validations": [{"rule": "true"}],
                "default": {"a": 1},
            }
        },
    }
    versions = [
        {"name": v, "served": True, "storage": v == "v1", "schema": {"openAPIV3Schema": schema}}
        for v in ("v1", "v1beta1")
    ]
    spec: dict[str, Any] = {
        "group": "example.com",
        "names": {"kind": kind, "plural": f"{kind.lower()}s", "shortNames": ["k"]},
        "scope": "Namespaced",
        "versions": versions[: random.randint(1, 2)],
    }
    api = random.choice((*["v1"] * 12, *["v1beta1"] * 6, "v2"))
    if api == "v1beta1" and random.random() < 0.7:
        spec["version"] = "v1alpha1"
    group = "apiextensions.k8s.io" if random.random() < 0.97 else random.choice(("example.com", "a/b"))
    return {
        "apiVersion": f"{group}/{api}",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.example.com"},
        "spec": spec,
    }


def _own(random: Random, csv: dict[str, Any], crds: list[dict[str, Any]]) -> None:
    """Let the CSV own the CRDs of the bundle, sometimes others."""
    owned: list[Any] = []
    for crd in crds:
        names, version = crd["spec"]["names"], crd["spec"]["versions"][0]["name"]
        owned.append(
            {"name": crd["metadata"]["name"], "kind": names["kind"], "version": version, "displayName": "D"}
        )
    if random.random() < 0.1:
        owned.append(random.choice(_STRANGERS))
    csv["spec"].setdefault("customresourcedefinitions", {})["owned"] = owned


def _metadata(random: Random) -> dict[str, str]:
    annotations: dict[str, Any] = {
        "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
        "operators.operatorframework.io.bundle.package.v1": random.choice(
            (*["op"] * 20, 5, 1.5, True, 1e7, ["op"])
        ),
        "operators.operatorframework.io.bundle.channels.v1": random.choice(("stable", "a,b", 4.1)),
    }
    files = {"metadata/annotations.yaml": json.dumps({"annotations": annotations})}
    if random.random() < 0.5:
        # Block style: opm reads a flow mapping as JSON, which does not convert numbers to text.
        files["metadata/annotations.yaml"] = "annotations:\n" + "".join(
            f"  {k}: {json.dumps(v)}\n" for k, v in annotations.items()
        )
    if random.random() < 0.3:
        files["metadata/dependencies.yaml"] = json.dumps({"dependencies": random.choice(_DEPENDENCIES)})
    if random.random() < 0.3:
        files["metadata/properties.yaml"] = "# first\n" * random.randint(0, 1) + json.dumps(
            {"properties": random.choice(_PROPERTIES)}
        )
    if random.random() < 0.05:
        files[random.choice(("metadata/.a.yaml", "metadata/README.md"))] = random.choice(
            ("# hi: there\n", files["metadata/annotations.yaml"])
        )
    if random.random() < 0.02:
        del files["metadata/annotations.yaml"]
    return files


_STRANGERS: Final[tuple[Any, ...]] = (
    {"name": "nodot"},
    {"name": "x.example.com", "kind": "X", "version": "v1"},
    None,
)

_DEPENDENCIES: Final[tuple[Any, ...]] = (
    [{"type": "olm.gvk", "value": {"group": "g", "kind": "K", "version": "v1"}}],
    [
        {"type": "olm.package", "value": {"packageName": "dep", "version": ">=1.0.0 <2.0.0"}},
        {"type": "olm.label", "value": {"label": "x"}},
    ],
    [{"type": "olm.constraint", "value": {"failureMessage": "<no>", "cel": {"rule": "true"}}}],
    [{"type": "olm.gvk", "value": {"group": 5}}],
    [{"type": "olm.package", "value": "x"}],
    [{"type": 5, "value": {"z": 1, "a": 2}}],
    ["x"],
    {},
)

_PROPERTIES: Final[tuple[Any, ...]] = (
    [
        {"type": "olm.maxOpenShiftVersion", "value": "4.15"},
        {"type": "olm.maxOpenShiftVersion", "value": "4.15"},
    ],
    [{"type": "olm.package", "value": {"packageName": "first", "version": "0.0.1", "release": "7"}}],
    [
        {"type": "olm.gvk", "value": {"Group": "g", "kind": "K", "version": "v1"}},
        {"type": "t", "value": {"b": 2**60, "a": 1.5}},
    ],
    [{"type": "olm.gvk"}],
    [{"type": "olm.package", "value": None}],
    [{"type": "olm.csv.metadata", "value": {"displayName": "x"}}],
    [{"type": "olm.bundle.object", "value": {"data": "e30="}}],
    [None, {"type": "x", "value": None}],
    "x",
)


def _spoil(random: Random, value: Any) -> None:
    """Replace one value of a document."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = random.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and random.random() < 0.8:
            value = value[key]
            continue
        if key not in ("kind", "apiVersion") or random.random() < 0.3:
            value[key] = deepcopy(random.choice(_WRONG))
        return
