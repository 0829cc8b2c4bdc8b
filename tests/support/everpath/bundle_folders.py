"""A valid bundle, and functions that write it to a folder and lint the folder."""

from __future__ import annotations

__all__ = [
    "ANNOTATIONS",
    "CRD",
    "CSV",
    "Files",
    "Json",
    "good_bundle",
    "lay_out",
    "lint_folder",
    "rich_bundle",
]

import json
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

from everpath.loaders.bundle.bundle_folder import ValidationTarget, load_bundle_for_validation
from everpath.rules.bundle.validators import OPTIONAL
from everpath.rules.findings import Finding
from everpath.rules.lint import BUNDLE_SUBJECTS, SelectedRules, Selection, lint_bundle

Json = dict[str, Any]

#: The files of a folder: an object is written as JSON, which is YAML too, a text as it stands.
Files = dict[str, Any]

CSV: Final = "manifests/acme.clusterserviceversion.yaml"
CRD: Final = "manifests/caches.example.com.yaml"
ANNOTATIONS: Final = "metadata/annotations.yaml"

_KEYS: Final = "operators.operatorframework.io.bundle."
_EXAMPLE: Final = {"apiVersion": "example.com/v1", "kind": "Cache", "metadata": {"name": "one"}}

_CSV: Final[Json] = {
    "apiVersion": "operators.coreos.com/v1alpha1",
    "kind": "ClusterServiceVersion",
    "metadata": {
        "name": "acme.v1.0.0",
        "annotations": {
            "alm-examples": json.dumps([_EXAMPLE]),
            "capabilities": "Basic Install",
            "categories": "Database, Storage",
        },
    },
    "spec": {
        "displayName": "Acme",
        "version": "1.0.0",
        "minKubeVersion": "1.29.0",
        "provider": {"name": "Acme"},
        "maintainers": [{"name": "Team", "email": "team@example.com"}],
        "links": [{"name": "Docs", "url": "https://example.com/docs"}],
        "icon": [{"mediatype": "image/png", "base64data": "aWNvbg=="}],
        "installModes": [
            {"type": "OwnNamespace", "supported": False},
            {"type": "SingleNamespace", "supported": False},
            {"type": "MultiNamespace", "supported": False},
            {"type": "AllNamespaces", "supported": True},
        ],
        "customresourcedefinitions": {
            "owned": [
                {
                    "name": "caches.example.com",
                    "version": "v1",
                    "kind": "Cache",
                    "description": "A cache",
                    "resources": [{"name": "", "kind": "Pod", "version": "v1"}],
                }
            ]
        },
        "relatedImages": [{"name": "acme", "image": "registry.example.com/acme:v1.0.0"}],
        "install": {
            "strategy": "deployment",
            "spec": {
                "clusterPermissions": [
                    {
                        "serviceAccountName": "acme",
                        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
                    }
                ],
                "deployments": [
                    {
                        "name": "acme",
                        "spec": {
                            "replicas": 1,
                            "selector": {"matchLabels": {"name": "acme"}},
                            "template": {
                                "metadata": {"labels": {"name": "acme"}},
                                "spec": {
                                    "serviceAccountName": "acme",
                                    "containers": [
                                        {
                                            "name": "manager",
                                            "image": "registry.example.com/acme:v1.0.0",
                                            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                                        }
                                    ],
                                },
                            },
                        },
                    }
                ],
            },
        },
    },
}

_CRD: Final[Json] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "caches.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "caches", "singular": "cache", "kind": "Cache", "listKind": "CacheList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"host": {"type": "string"}}},
                            "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
                        },
                    }
                },
                "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    {"name": "Phase", "type": "string", "jsonPath": ".status.phase"}
                ],
            }
        ],
    },
}

_ANNOTATIONS: Final[Json] = {
    "annotations": {
        f"{_KEYS}mediatype.v1": "registry+v1",
        f"{_KEYS}manifests.v1": "manifests/",
        f"{_KEYS}metadata.v1": "metadata/",
        f"{_KEYS}package.v1": "acme",
        f"{_KEYS}channels.v1": "stable",
        f"{_KEYS}channel.default.v1": "stable",
    }
}


def good_bundle() -> Files:
    """The files of a bundle that nothing is wrong with, to be broken at will."""
    return deepcopy({CSV: _CSV, CRD: _CRD, ANNOTATIONS: _ANNOTATIONS})


def rich_bundle() -> Files:
    """The good bundle with some of everything that rules look at, and still nothing wrong with it."""
    files = good_bundle()
    _enrich_crd(files[CRD])
    _enrich_csv(files[CSV])
    constraint = {"failureMessage": "needs it", "cel": {"rule": "properties.exists(p, p.type == 'a')"}}
    values = {
        "olm.package": {"packageName": "other", "version": ">=1.0.0"},
        "olm.gvk": {"group": "a.b", "kind": "C", "version": "v1"},
        "olm.label": {"label": "x"},
        "olm.constraint": constraint,
    }
    dependencies = [{"type": kind, "value": value} for kind, value in values.items()]
    owner = {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1"}
    about = {"name": "r", "labels": {"a": "b"}, "finalizers": ["a/b"], "ownerReferences": [owner]}
    rule = {"apiGroups": ["a"], "resources": ["b"], "verbs": ["get"], "resourceNames": ["c"]}
    return files | {
        "metadata/dependencies.yaml": {"dependencies": dependencies},
        "manifests/role.yaml": _object("rbac.authorization.k8s.io/v1", "Role", metadata=about, rules=[rule]),
        "manifests/budget.yaml": _object("policy/v1", "PodDisruptionBudget", spec={"maxUnavailable": 1}),
        "manifests/class.yaml": _object(
            "scheduling.k8s.io/v1", "PriorityClass", value=1, globalDefault=False
        ),
        "manifests/account.yaml": _object("v1", "ServiceAccount"),
    }


def _object(api: str, kind: str, **fields: Any) -> Json:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "thing"}, **fields}


def _enrich_crd(crd: Json) -> None:
    crd["metadata"] |= {"labels": {"a": "b"}, "annotations": {"c": "d"}}
    crd["spec"]["names"] |= {"shortNames": ["ca"], "categories": ["all"]}
    service = {"name": "acme", "namespace": "acme", "path": "/convert", "port": 443}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"service": service}}
    crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    paths = {
        "specReplicasPath": ".spec.a",
        "statusReplicasPath": ".status.a",
        "labelSelectorPath": ".status.b",
    }
    [version] = crd["spec"]["versions"]
    version["subresources"]["scale"] = paths
    version["selectableFields"] = [{"jsonPath": ".spec.host"}]


def _enrich_csv(csv: Json) -> None:
    api = {"group": "w.x", "version": "v1", "kind": "W"}
    examples = [_EXAMPLE, {"apiVersion": "w.x/v1", "kind": "W"}]
    csv["metadata"]["annotations"]["alm-examples"] = json.dumps(examples)
    webhook: Json = {"type": "ConversionWebhook", "generateName": "a.b", "sideEffects": "None"}
    webhook |= {"admissionReviewVersions": ["v1"], "conversionCRDs": ["caches.example.com"]}
    csv["spec"] |= {
        "replaces": "acme.v0.8.0",
        "skips": ["acme.v0.9.0"],
        "labels": {"a": "b"},
        "keywords": ["cache"],
        "cleanup": {"enabled": True},
        "webhookdefinitions": [webhook],
        "apiservicedefinitions": {
            "owned": [{"name": "ws", "deploymentName": "acme", "containerPort": 443, **api}]
        },
    }
    required = {"name": "rs.example.org", "version": "v1", "kind": "R", "description": "Another API"}
    csv["spec"]["customresourcedefinitions"]["required"] = [required]


def lay_out(files: Files, folder: Path) -> Path:
    """Write the files below a folder; a name that ends in a slash is a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            text = content if isinstance(content, str) else json.dumps(content, indent=1)
            path.write_text(text, encoding="utf-8")
    return folder


def lint_folder(folder: Path, surroundings: ValidationTarget | None = None) -> tuple[Finding, ...]:
    """Return the findings of all rules for a bundle folder, including the optional ones."""
    selection = Selection(subjects=BUNDLE_SUBJECTS, validators=frozenset(OPTIONAL))
    target = load_bundle_for_validation(str(folder), surroundings or ValidationTarget())
    return lint_bundle(target, SelectedRules(selection)).findings
