"""The RBAC of the operator's manifests as a ClusterServiceVersion states it: by service account.

OLM makes the service accounts, roles and bindings itself, from `spec.install.spec`. A role that is bound to
nobody the operator runs as (the usual viewer and editor roles) is none of OLM's: it stays a manifest. So does
a binding to a role that the manifests do not have (`system:auth-delegator`): there are no rules to state.
"""

from __future__ import annotations

__all__ = ["Grants", "account_of", "grants"]

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from everpath.bundlegen.operator_manifests import Operator
from everpath.manifest_access import mapping, mappings, text
from everpath.model.bundle_contents import Manifest

Rule = Mapping[str, Any]


class Grants(NamedTuple):
    """What `spec.install.spec` says, and the manifests that it does not speak of."""

    permissions: list[dict[str, Any]]
    cluster_permissions: list[dict[str, Any]]
    unclaimed: tuple[Manifest, ...]


def grants(operator: Operator) -> Grants:
    """Every rule that a service account of a deployment is bound to; each account once, in order of name."""
    accounts = sorted({account_of(deployment.body) for deployment in operator.deployments})
    roles = {("Role", role.name): role for role in operator.roles}
    roles |= {("ClusterRole", role.name): role for role in operator.cluster_roles}
    bindings = (*operator.role_bindings, *operator.cluster_role_bindings)
    left = [b for b in bindings if _role_of(b) not in roles or not _is_theirs(b, accounts)]
    claimed = {_role_of(b) for b in bindings} - {_role_of(b) for b in left}
    return Grants(
        _stated(accounts, operator.role_bindings, roles),
        _stated(accounts, operator.cluster_role_bindings, roles),
        (*(role for key, role in roles.items() if key not in claimed), *left),
    )


def account_of(deployment: Mapping[str, Any]) -> str:
    """The service account a deployment's pods run as."""
    return text(mapping(deployment, "spec", "template", "spec"), "serviceAccountName") or "default"


def _stated(
    accounts: Iterable[str], bindings: Iterable[Manifest], roles: Mapping[tuple[str, str], Manifest]
) -> list[dict[str, Any]]:
    stated = []
    for account in accounts:
        bound = [_role_of(binding) for binding in bindings if account in _subjects(binding)]
        rules = [rule for key in bound if key in roles for rule in mappings(roles[key].body, "rules")]
        if rules:
            stated.append({"serviceAccountName": account, "rules": _distinct(rules)})
    return stated


def _is_theirs(binding: Manifest, accounts: Iterable[str]) -> bool:
    """Whether the service accounts are all that is bound: for anybody else the binding must stay."""
    subjects = _subjects(binding)
    return bool(subjects) and subjects <= {*accounts}


def _subjects(binding: Manifest) -> set[str | None]:
    """The service accounts that are bound; None for anybody else."""
    subjects = mappings(binding.body, "subjects")
    return {text(each, "name") if each.get("kind") == "ServiceAccount" else None for each in subjects}


def _role_of(binding: Manifest) -> tuple[str, str]:
    reference = mapping(binding.body, "roleRef")
    return text(reference, "kind"), text(reference, "name")


def _distinct(rules: Iterable[Rule]) -> list[Rule]:
    """Two roles often grant the same thing: it is stated once."""
    found: list[Rule] = []
    for rule in rules:
        if rule not in found:
            found.append(rule)
    return found
