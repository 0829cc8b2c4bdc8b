"""RBAC manifests become permissions in `spec.install.spec`."""

from __future__ import annotations

from typing import Any

from everpath.model.bundle_contents import Manifest
from tests.support.everpath.operator_projects import csv, deployment, files, manifest

RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
OTHER = {"apiGroups": [""], "resources": ["services"], "verbs": ["get"]}


def role(kind: str, name: str, *rules: dict[str, Any]) -> Manifest:
    return manifest(kind, name, "rbac.authorization.k8s.io/v1", rules=list(rules))


def binding(kind: str, name: str, to: tuple[str, str], *accounts: str) -> Manifest:
    return manifest(
        kind,
        name,
        "rbac.authorization.k8s.io/v1",
        roleRef={"kind": to[0], "name": to[1]},
        subjects=[{"kind": "ServiceAccount", "name": account} for account in accounts or ("acme",)],
    )


def install_spec(*manifests: Manifest) -> dict[str, Any]:
    spec: dict[str, Any] = csv(deployment(), *manifests)["spec"]["install"]["spec"]
    return spec


def test_bound_roles_become_permissions_and_cluster_permissions() -> None:
    spec = install_spec(
        role("Role", "in", RULE),
        binding("RoleBinding", "in", ("Role", "in")),
        role("ClusterRole", "all", OTHER),
        binding("ClusterRoleBinding", "all", ("ClusterRole", "all")),
    )
    assert spec["permissions"] == [{"serviceAccountName": "acme", "rules": [RULE]}]
    assert spec["clusterPermissions"] == [{"serviceAccountName": "acme", "rules": [OTHER]}]


def test_a_cluster_role_in_a_role_binding_becomes_a_permission() -> None:
    spec = install_spec(role("ClusterRole", "x", RULE), binding("RoleBinding", "x", ("ClusterRole", "x")))
    assert spec["permissions"] == [{"serviceAccountName": "acme", "rules": [RULE]}]
    assert "clusterPermissions" not in spec


def test_a_rule_of_two_roles_is_listed_once() -> None:
    spec = install_spec(
        role("Role", "a", RULE),
        role("Role", "b", RULE, OTHER),
        binding("RoleBinding", "a", ("Role", "a")),
        binding("RoleBinding", "b", ("Role", "b")),
    )
    assert spec["permissions"][0]["rules"] == [RULE, OTHER]


def test_an_unbound_role_stays_a_manifest() -> None:
    bundle = files(deployment(), role("ClusterRole", "viewer", RULE))
    assert "manifests/viewer_clusterrole.yaml" in bundle


def test_objects_that_olm_creates_are_not_in_the_bundle() -> None:
    bundle = files(
        deployment(),
        manifest("ServiceAccount", "acme"),
        manifest("Namespace", "acme"),
        role("Role", "in", RULE),
        binding("RoleBinding", "in", ("Role", "in")),
        role("ClusterRole", "all", RULE),
        binding("ClusterRoleBinding", "all", ("ClusterRole", "all")),
    )
    assert [name for name in bundle if name.startswith("manifests/")] == [
        "manifests/acme.clusterserviceversion.yaml"
    ]


def test_a_role_of_another_service_account_stays_a_manifest() -> None:
    bundle = files(
        deployment(), role("Role", "in", RULE), binding("RoleBinding", "in", ("Role", "in"), "other")
    )
    install = bundle["manifests/acme.clusterserviceversion.yaml"]["spec"]["install"]["spec"]
    assert "permissions" not in install
    assert {"manifests/in_role.yaml", "manifests/in_rolebinding.yaml"} <= bundle.keys()


def test_permissions_are_grouped_by_service_account() -> None:
    bundle = csv(
        deployment("one", "zoe"),
        deployment("two", "acme"),
        deployment("three", "idle"),
        role("Role", "a", RULE),
        role("Role", "z", OTHER),
        binding("RoleBinding", "a", ("Role", "a"), "zoe", "acme"),
        binding("RoleBinding", "z", ("Role", "z"), "zoe"),
    )
    assert bundle["spec"]["install"]["spec"]["permissions"] == [
        {"serviceAccountName": "acme", "rules": [RULE]},
        {"serviceAccountName": "zoe", "rules": [RULE, OTHER]},
    ]


def test_permissions_are_sorted_by_service_account() -> None:
    accounts = [f"account-{letter}" for letter in "hgfedcba"]
    bundle = csv(
        *(deployment(account, account) for account in accounts),
        role("Role", "in", RULE),
        binding("RoleBinding", "in", ("Role", "in"), *accounts),
    )
    found = bundle["spec"]["install"]["spec"]["permissions"]
    assert [permission["serviceAccountName"] for permission in found] == sorted(accounts)


def test_a_deployment_without_a_service_account_uses_default() -> None:
    bundle = csv(
        deployment(account=""),
        role("Role", "in", RULE),
        binding("RoleBinding", "in", ("Role", "in"), "default"),
    )
    assert bundle["spec"]["install"]["spec"]["permissions"] == [
        {"serviceAccountName": "default", "rules": [RULE]}
    ]


def test_a_binding_to_an_unknown_role_stays_a_manifest() -> None:
    bundle = files(
        deployment(), binding("ClusterRoleBinding", "auth", ("ClusterRole", "system:auth-delegator"))
    )
    assert "manifests/auth_clusterrolebinding.yaml" in bundle
    assert (
        "clusterPermissions"
        not in bundle["manifests/acme.clusterserviceversion.yaml"]["spec"]["install"]["spec"]
    )


def test_a_role_that_is_also_bound_to_others_stays_a_manifest() -> None:
    remaining = {"manifests/in_role.yaml", "manifests/both_rolebinding.yaml"}
    shared = binding("RoleBinding", "both", ("Role", "in"), "acme", "other")
    bundle = files(deployment(), role("Role", "in", RULE), shared)
    assert remaining <= bundle.keys()
    install = bundle["manifests/acme.clusterserviceversion.yaml"]["spec"]["install"]["spec"]
    assert install["permissions"] == [{"serviceAccountName": "acme", "rules": [RULE]}]
    second = binding("RoleBinding", "both", ("Role", "in"), "other")
    own = binding("RoleBinding", "own", ("Role", "in"))
    bundle = files(deployment(), role("Role", "in", RULE), own, second)
    assert remaining <= bundle.keys()
    assert "manifests/own_rolebinding.yaml" not in bundle


def test_a_user_is_not_the_service_account_of_the_same_name() -> None:
    user_binding = binding("RoleBinding", "in", ("Role", "in"))
    user_binding.body["subjects"][0]["kind"] = "User"
    bundle = files(deployment(), role("Role", "in", RULE), user_binding)
    assert {"manifests/in_role.yaml", "manifests/in_rolebinding.yaml"} <= bundle.keys()
    assert "permissions" not in bundle["manifests/acme.clusterserviceversion.yaml"]["spec"]["install"]["spec"]


def test_a_binding_without_subjects_stays_a_manifest() -> None:
    empty_binding = binding("RoleBinding", "in", ("Role", "in"))
    empty_binding.body["subjects"].clear()
    assert "manifests/in_rolebinding.yaml" in files(deployment(), role("Role", "in", RULE), empty_binding)
