"""The manifests of operator/config, as the kustomizations list them."""

from __future__ import annotations

__all__ = ["CONFIG", "overlay", "rbac"]

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from tests.support.commandline import ROOT

CONFIG: Final = ROOT / "operator/config"
_RBAC: Final = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ServiceAccount")


def overlay(name: str) -> list[dict[str, Any]]:
    """Every object that `kubectl apply -k operator/config/NAME` creates, before patches."""
    return list(_resources(CONFIG / name))


def rbac(name: str) -> list[dict[str, Any]]:
    """The ServiceAccount of the operator in an overlay, its roles and their bindings."""
    user_roles = ("searchkeeper-viewer", "searchkeeper-editor")
    return [
        each for each in overlay(name) if each["kind"] in _RBAC and each["metadata"]["name"] not in user_roles
    ]


def _resources(folder: Path) -> Iterator[dict[str, Any]]:
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))
    for name in kustomization["resources"]:
        path = (folder / name).resolve()
        if path.is_dir():
            yield from _resources(path)
        else:
            yield from yaml.safe_load_all(path.read_text(encoding="utf-8"))
