"""The bundle of the newest release has what reviewers of operator catalogs expect."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from searchkeeper.releases import newest
from tests.support.commandline import ROOT
from tests.support.searchkeeper.operator_manifests import overlay

BUNDLE = ROOT / "bundles/searchkeeper" / newest().version


@pytest.fixture(scope="module")
def manifests() -> list[dict[str, Any]]:
    files = sorted((BUNDLE / "manifests").iterdir())
    return [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]


@pytest.fixture(scope="module")
def csv(manifests: list[dict[str, Any]]) -> dict[str, Any]:
    [found] = [each for each in manifests if each["kind"] == "ClusterServiceVersion"]
    return found


def rules(kind: str, name: str) -> list[dict[str, Any]]:
    [role] = [each for each in overlay("rbac") if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    found: list[dict[str, Any]] = role["rules"]
    return found


def test_rules_are_permissions_in_the_target_namespaces_not_in_the_cluster(csv: dict[str, Any]) -> None:
    install = csv["spec"]["install"]["spec"]
    assert "clusterPermissions" not in install
    [permission] = install["permissions"]
    assert permission["serviceAccountName"] == "searchkeeper"
    expected = [*rules("ClusterRole", "searchkeeper"), *rules("Role", "searchkeeper-leader")]
    assert permission["rules"] == expected


def test_every_rule_is_about_a_namespaced_resource(csv: dict[str, Any]) -> None:
    """A Role cannot grant access to cluster-scoped resources."""
    [permission] = csv["spec"]["install"]["spec"]["permissions"]
    groups = {group for rule in permission["rules"] for group in rule["apiGroups"]}
    cluster_scoped = {
        "nodes",
        "namespaces",
        "persistentvolumes",
        "customresourcedefinitions",
        "storageclasses",
    }
    resources = {name for rule in permission["rules"] for name in rule["resources"]}
    assert not cluster_scoped & resources
    assert not {"rbac.authorization.k8s.io", "apiextensions.k8s.io", "*"} & groups


def test_bundle_holds_a_metrics_service_and_no_kustomization(manifests: list[dict[str, Any]]) -> None:
    assert sorted((each["kind"], each["metadata"]["name"]) for each in manifests) == [
        ("ClusterRole", "searchkeeper-editor"),
        ("ClusterRole", "searchkeeper-viewer"),
        ("ClusterServiceVersion", f"searchkeeper.v{newest().version}"),
        ("CustomResourceDefinition", "searchclusters.search.everpath.dev"),
        ("CustomResourceDefinition", "searchpools.search.everpath.dev"),
        ("Service", "searchkeeper-metrics"),
    ]


def test_metrics_service_selects_the_pod_that_olm_creates(
    manifests: list[dict[str, Any]], csv: dict[str, Any]
) -> None:
    [service] = [each for each in manifests if each["kind"] == "Service"]
    [deployment] = csv["spec"]["install"]["spec"]["deployments"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    assert "namespace" not in service["metadata"]


def test_capability_level_does_not_claim_backups(csv: dict[str, Any]) -> None:
    assert csv["metadata"]["annotations"]["capabilities"] == "Seamless Upgrades"


@pytest.mark.parametrize(
    "name",
    [
        "alm-examples",
        "categories",
        "certified",
        "containerImage",
        "description",
        "repository",
        "support",
        "operatorframework.io/suggested-namespace",
        *(
            f"features.operators.openshift.io/{feature}"
            for feature in (
                "cnf",
                "cni",
                "csi",
                "disconnected",
                "fips-compliant",
                "proxy-aware",
                "tls-profiles",
                "token-auth-aws",
                "token-auth-azure",
                "token-auth-gcp",
            )
        ),
    ],
)
def test_csv_has_the_annotation(csv: dict[str, Any], name: str) -> None:
    value = csv["metadata"]["annotations"][name]
    assert value
    assert not name.startswith("features.") or value in ("true", "false")


def test_openshift_versions_follow_from_the_minimum_kubernetes_version(csv: dict[str, Any]) -> None:
    """OpenShift 4.N has Kubernetes 1.(N+13)."""
    annotations = yaml.safe_load((BUNDLE / "metadata/annotations.yaml").read_text(encoding="utf-8"))
    minor = int(csv["spec"]["minKubeVersion"].split(".")[1])
    assert annotations["annotations"]["com.redhat.openshift.versions"] == f"v4.{minor - 13}"


def test_consoles_hide_the_kinds_that_only_the_operator_creates(csv: dict[str, Any]) -> None:
    hidden = json.loads(csv["metadata"]["annotations"]["operators.operatorframework.io/internal-objects"])
    owned = {each["name"] for each in csv["spec"]["customresourcedefinitions"]["owned"]}
    assert set(hidden) <= owned
    assert "searchclusters.search.everpath.dev" not in hidden


def test_examples_are_the_samples(csv: dict[str, Any]) -> None:
    folder = ROOT / "operator/config/samples"
    samples = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in folder.glob("*.yaml")]
    examples = json.loads(csv["metadata"]["annotations"]["alm-examples"])

    def named(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(objects, key=lambda each: str(each["metadata"]["name"]))

    assert named(examples) == named(samples)


def test_no_uid_or_group_is_fixed(csv: dict[str, Any]) -> None:
    text = json.dumps(csv["spec"]["install"])
    assert not [key for key in ("runAsUser", "runAsGroup", "fsGroup", "supplementalGroups") if key in text]
