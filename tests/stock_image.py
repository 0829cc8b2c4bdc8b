"""What the entry point of OpenSearch's own image makes of a pod, as far as starting an engine goes."""

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


def settings(pod: Mapping[str, Any], objects: Iterable[Manifest], name: str) -> dict[str, Any]:
    """What the engine of this pod is told: its file, outranked by variables that are called like settings.

    Those without a value are not handed on. Raises AssertionError where the image would give up: its demo
    wants a password.
    """
    given = variables(pod, name)
    assert given.get("DISABLE_INSTALL_DEMO_CONFIG") == "true"
    assert not {*given} & {"OPENSEARCH_HOME", "OPENSEARCH_PATH_CONF"}
    found: dict[str, Any] = yaml.safe_load(_file(pod, objects, f"{HOME}/config/opensearch.yml"))
    return {**found, **{key: text for key, text in given.items() if _IS_SETTING.match(key) and text}}


def variables(pod: Mapping[str, Any], name: str) -> dict[str, str]:
    """Those of the engine's container, for a pod of this name."""
    found = pod["containers"][0]["env"]
    assert [each["name"] for each in found if "valueFrom" in each] == ["node.name"]
    return {each["name"]: name if "valueFrom" in each else each.get("value", "") for each in found}


def mounts(pod: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The volume at each path, with the name of the file in it where only that is mounted."""
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
