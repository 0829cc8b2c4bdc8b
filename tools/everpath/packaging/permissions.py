"""The RBAC of the operator's manifests as a ClusterServiceVersion states it: by service account.

OLM makes the service accounts, roles and bindings itself, from `spec.install.spec`. A role that is bound to
nobody the operator runs as (the usual viewer and editor roles) is none of OLM's: it stays a manifest.
"""

from __future__ import annotations

__all__ = ["Grants", "account_of", "grants"]

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from everpath.contents import Manifest
from everpath.packaging.operator import Operator
from everpath.shapes import mapping, mappings, text

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
    inside, seen = _stated(accounts, operator.role_bindings, roles)
    everywhere, seen_everywhere = _stated(accounts, operator.cluster_role_bindings, roles)
    claimed = seen | seen_everywhere
    all_rbac = (
        *operator.roles,
        *operator.cluster_roles,
        *operator.role_bindings,
        *operator.cluster_role_bindings,
    )
    return Grants(inside, everywhere, tuple(m for m in all_rbac if (m.kind, m.name) not in claimed))


def account_of(deployment: Mapping[str, Any]) -> str:
    """The service account a deployment's pods run as."""
    return text(mapping(deployment, "spec", "template", "spec"), "serviceAccountName") or "default"


def _stated(
    accounts: Iterable[str], bindings: Iterable[Manifest], roles: Mapping[tuple[str, str], Manifest]
) -> tuple[list[dict[str, Any]], set[tuple[str, str]]]:
    bindings = tuple(bindings)
    stated, claimed = [], set()
    for account in accounts:
        rules: list[Rule] = []
        for binding in bindings:
            if account in _bound(binding):
                role = roles.get(_role_of(binding))
                rules.extend(mappings(role.body, "rules") if role else ())
                claimed |= {(binding.kind, binding.name), _role_of(binding)}
        if rules:
            stated.append({"serviceAccountName": account, "rules": _distinct(rules)})
    return stated, claimed


def _bound(binding: Manifest) -> Iterator[str]:
    for subject in mappings(binding.body, "subjects"):
        if subject.get("kind") == "ServiceAccount":
            yield text(subject, "name")


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
