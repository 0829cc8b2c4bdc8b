"""Models the entry point of the OpenSearch image: the settings that OpenSearch gets from a pod."""

from __future__ import annotations

__all__ = ["HOME", "mounts", "settings", "variables"]

import base64
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from searchkeeper.kubernetes.operations import Manifest

HOME: Final = "/usr/share/opensearch"
_IS_SETTING: Final = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")


def settings(
    pod: Mapping[str, Any], objects: Iterable[Manifest], name: str, labels: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The settings of a node: its file, overridden by non-empty variables that are named like settings.

    Raises AssertionError if the image would exit: its demo configuration needs a password.
    """
    environment = variables(pod, name, labels)
    assert environment.get("DISABLE_INSTALL_DEMO_CONFIG") == "true"
    assert not {*environment} & {"OPENSEARCH_HOME", "OPENSEARCH_PATH_CONF"}
    file: dict[str, Any] = yaml.safe_load(_file(pod, objects, f"{HOME}/config/opensearch.yml"))
    overrides = {key: text for key, text in environment.items() if _IS_SETTING.match(key) and text}
    return {**file, **overrides}


def variables(pod: Mapping[str, Any], name: str, labels: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of the OpenSearch container in a pod of this name, with these labels."""
    fields = {"metadata.name": name}
    fields |= {f"metadata.labels['{key}']": text for key, text in (labels or {}).items()}
    return {
        each["name"]: fields[each["valueFrom"]["fieldRef"]["fieldPath"]]
        if "valueFrom" in each
        else each.get("value", "")
        for each in pod["containers"][0]["env"]
    }


def mounts(pod: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The volume at each mount path, with the `subPath` of the mount."""
    volumes = {each["name"]: each for each in pod["volumes"]}
    return {
        each["mountPath"]: {**volumes.get(each["name"], {}), "subPath": each.get("subPath")}
        for each in pod["containers"][0]["volumeMounts"]
    }


def _file(pod: Mapping[str, Any], objects: Iterable[Manifest], path: str) -> str:
    volume = mounts(pod)[path]
    kind, name = ("ConfigMap", "name") if "configMap" in volume else ("Secret", "secretName")
    source = volume["configMap" if "configMap" in volume else "secret"]
    [data] = [
        each["data"] for each in objects if (each["kind"], each["metadata"]["name"]) == (kind, source[name])
    ]
    [key] = [item["key"] for item in source["items"] if item["path"] == volume["subPath"]]
    return str(data[key]) if kind == "ConfigMap" else base64.b64decode(data[key]).decode()
