"""RBAC manifests as `spec.install.spec` states them."""

from __future__ import annotations

from typing import Any

from everpath.model.bundle_contents import Manifest
from operators import csv, deployment, files, manifest

RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
OTHER = {"apiGroups": [""], "resources": ["services"], "verbs": ["get"]}


def role(kind: str, name: str, *rules: dict[str, Any]) -> Manifest:
    return manifest(kind, name, "rbac.authorization.k8s.io/v1", rules=list(rules))


def bound(kind: str, name: str, to: tuple[str, str], *accounts: str) -> Manifest:
    return manifest(
        kind,
        name,
        "rbac.authorization.k8s.io/v1",
        roleRef={"kind": to[0], "name": to[1]},
        subjects=[{"kind": "ServiceAccount", "name": account} for account in accounts or ("acme",)],
    )


def stated(*manifests: Manifest) -> dict[str, Any]:
    spec: dict[str, Any] = csv(deployment(), *manifests)["spec"]["install"]["spec"]
    return spec


def test_a_bound_role_is_a_permission_and_a_bound_cluster_role_a_cluster_permission() -> None:
    spec = stated(
        role("Role", "in", RULE),
        bound("RoleBinding", "in", ("Role", "in")),
        role("ClusterRole", "all", OTHER),
        bound("ClusterRoleBinding", "all", ("ClusterRole", "all")),
    )
    assert spec["permissions"] == [{"serviceAccountName": "acme", "rules": [RULE]}]
    assert spec["clusterPermissions"] == [{"serviceAccountName": "acme", "rules": [OTHER]}]


def test_a_cluster_role_bound_in_the_namespace_is_granted_in_the_namespace_only() -> None:
    spec = stated(role("ClusterRole", "x", RULE), bound("RoleBinding", "x", ("ClusterRole", "x")))
    assert spec["permissions"] == [{"serviceAccountName": "acme", "rules": [RULE]}]
    assert "clusterPermissions" not in spec


def test_a_rule_that_two_roles_grant_is_stated_once() -> None:
    spec = stated(
        role("Role", "a", RULE),
        role("Role", "b", RULE, OTHER),
        bound("RoleBinding", "a", ("Role", "a")),
        bound("RoleBinding", "b", ("Role", "b")),
    )
    assert spec["permissions"][0]["rules"] == [RULE, OTHER]


def test_a_role_for_people_stays_a_manifest() -> None:
    made = files(deployment(), role("ClusterRole", "viewer", RULE))
    assert "manifests/viewer_clusterrole.yaml" in made


def test_what_olm_makes_itself_is_not_in_the_bundle() -> None:
    made = files(
        deployment(),
        manifest("ServiceAccount", "acme"),
        manifest("Namespace", "acme"),
        role("Role", "in", RULE),
        bound("RoleBinding", "in", ("Role", "in")),
        role("ClusterRole", "all", RULE),
        bound("ClusterRoleBinding", "all", ("ClusterRole", "all")),
    )
    assert [name for name in made if name.startswith("manifests/")] == [
        "manifests/acme.clusterserviceversion.yaml"
    ]


def test_the_role_of_another_account_is_not_the_operator_s() -> None:
    made = files(
        deployment(), role("Role", "in", RULE), bound("RoleBinding", "in", ("Role", "in"), "someone")
    )
    install = made["manifests/acme.clusterserviceversion.yaml"]["spec"]["install"]["spec"]
    assert "permissions" not in install
    assert {"manifests/in_role.yaml", "manifests/in_rolebinding.yaml"} <= made.keys()


def test_each_account_has_its_own_permissions_in_order_of_name() -> None:
    made = csv(
        deployment("one", "zoe"),
        deployment("two", "acme"),
        deployment("three", "idle"),
        role("Role", "a", RULE),
        role("Role", "z", OTHER),
        bound("RoleBinding", "a", ("Role", "a"), "zoe", "acme"),
        bound("RoleBinding", "z", ("Role", "z"), "zoe"),
    )
    assert made["spec"]["install"]["spec"]["permissions"] == [
        {"serviceAccountName": "acme", "rules": [RULE]},
        {"serviceAccountName": "zoe", "rules": [RULE, OTHER]},
    ]


def test_accounts_come_in_order_of_name_however_many_there_are() -> None:
    accounts = [f"account-{letter}" for letter in "hgfedcba"]
    made = csv(
        *(deployment(account, account) for account in accounts),
        role("Role", "in", RULE),
        bound("RoleBinding", "in", ("Role", "in"), *accounts),
    )
    found = made["spec"]["install"]["spec"]["permissions"]
    assert [each["serviceAccountName"] for each in found] == sorted(accounts)


def test_a_deployment_without_an_account_runs_as_the_default_one() -> None:
    made = csv(
        deployment(account=""),
        role("Role", "in", RULE),
        bound("RoleBinding", "in", ("Role", "in"), "default"),
    )
    assert made["spec"]["install"]["spec"]["permissions"] == [
        {"serviceAccountName": "default", "rules": [RULE]}
    ]


def test_a_binding_to_a_role_from_elsewhere_stays_a_manifest() -> None:
    made = files(deployment(), bound("ClusterRoleBinding", "auth", ("ClusterRole", "system:auth-delegator")))
    assert "manifests/auth_clusterrolebinding.yaml" in made
    assert (
        "clusterPermissions"
        not in made["manifests/acme.clusterserviceversion.yaml"]["spec"]["install"]["spec"]
    )


def test_a_role_that_is_bound_to_others_too_stays_for_them() -> None:
    kept = {"manifests/in_role.yaml", "manifests/both_rolebinding.yaml"}
    shared = bound("RoleBinding", "both", ("Role", "in"), "acme", "someone")
    made = files(deployment(), role("Role", "in", RULE), shared)
    assert kept <= made.keys()
    install = made["manifests/acme.clusterserviceversion.yaml"]["spec"]["install"]["spec"]
    assert install["permissions"] == [{"serviceAccountName": "acme", "rules": [RULE]}]
    second = bound("RoleBinding", "both", ("Role", "in"), "someone")
    own = bound("RoleBinding", "own", ("Role", "in"))
    made = files(deployment(), role("Role", "in", RULE), own, second)
    assert kept <= made.keys()
    assert "manifests/own_rolebinding.yaml" not in made


def test_a_person_is_no_service_account_of_that_name() -> None:
    person = bound("RoleBinding", "in", ("Role", "in"))
    person.body["subjects"][0]["kind"] = "User"
    made = files(deployment(), role("Role", "in", RULE), person)
    assert {"manifests/in_role.yaml", "manifests/in_rolebinding.yaml"} <= made.keys()
    assert "permissions" not in made["manifests/acme.clusterserviceversion.yaml"]["spec"]["install"]["spec"]


def test_a_binding_of_nobody_stays_a_manifest() -> None:
    nobody = bound("RoleBinding", "in", ("Role", "in"))
    nobody.body["subjects"].clear()
    assert "manifests/in_rolebinding.yaml" in files(deployment(), role("Role", "in", RULE), nobody)
