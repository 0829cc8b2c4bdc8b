"""The permissions in a ClusterServiceVersion, from the RBAC manifests of the operator.

OLM creates ServiceAccounts, roles and bindings itself, from `spec.install.spec`. A role that is not bound to
a ServiceAccount of a deployment, such as a viewer or editor role, stays a manifest. So does a binding to a
role that is not among the manifests, such as `system:auth-delegator`, because its rules are unknown.
"""

from __future__ import annotations

__all__ = ["InstallPermissions", "install_permissions"]

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from everpath.bundlegen.operator_manifests import OperatorManifests
from everpath.manifest_access import mapping, mappings, text
from everpath.model.bundle_contents import Manifest

#: Kind and name of a role.
_RoleRef = tuple[str, str]


class InstallPermissions(NamedTuple):
    """The permissions of `spec.install.spec`, and the RBAC manifests that remain in the bundle."""

    permissions: list[dict[str, Any]]
    cluster_permissions: list[dict[str, Any]]
    remaining: tuple[Manifest, ...]


def install_permissions(operator: OperatorManifests) -> InstallPermissions:
    """The rules that are granted to the ServiceAccounts of the deployments, by account."""
    pods = [mapping(deployment.body, "spec", "template", "spec") for deployment in operator.deployments]
    accounts = sorted({text(pod, "serviceAccountName") or "default" for pod in pods})
    roles = {("Role", role.name): role for role in operator.roles}
    roles |= {("ClusterRole", role.name): role for role in operator.cluster_roles}
    bindings = (*operator.role_bindings, *operator.cluster_role_bindings)
    remaining = [
        binding
        for binding in bindings
        if _role_ref(binding) not in roles or not _subjects(binding) or not _subjects(binding) <= {*accounts}
    ]
    replaced = {_role_ref(binding) for binding in bindings} - {_role_ref(binding) for binding in remaining}
    return InstallPermissions(
        _permissions(accounts, operator.role_bindings, roles),
        _permissions(accounts, operator.cluster_role_bindings, roles),
        (*(role for ref, role in roles.items() if ref not in replaced), *remaining),
    )


def _permissions(
    accounts: Iterable[str], bindings: Iterable[Manifest], roles: Mapping[_RoleRef, Manifest]
) -> list[dict[str, Any]]:
    permissions = []
    for account in accounts:
        rules: list[Mapping[str, Any]] = []
        for binding in bindings:
            role = roles.get(_role_ref(binding))
            if role is not None and account in _subjects(binding):
                rules += mappings(role.body, "rules")
        distinct = [rule for index, rule in enumerate(rules) if rule not in rules[:index]]
        if distinct:
            permissions.append({"serviceAccountName": account, "rules": distinct})
    return permissions


def _subjects(binding: Manifest) -> set[str | None]:
    """The names of the ServiceAccounts in a binding; None stands for all other subjects."""
    subjects = mappings(binding.body, "subjects")
    return {text(item, "name") if item.get("kind") == "ServiceAccount" else None for item in subjects}


def _role_ref(binding: Manifest) -> _RoleRef:
    role_ref = mapping(binding.body, "roleRef")
    return text(role_ref, "kind"), text(role_ref, "name")
