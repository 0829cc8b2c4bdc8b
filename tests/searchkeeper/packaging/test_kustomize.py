"""`kubectl apply -k operator/config/default` and `…/namespaced` install the operator without OLM."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.searchkeeper.operator_manifests import CONFIG, overlay

COMMON = {
    ("Namespace", "searchkeeper"),
    ("CustomResourceDefinition", "searchclusters.search.everpath.dev"),
    ("CustomResourceDefinition", "searchpools.search.everpath.dev"),
    ("ServiceAccount", "searchkeeper"),
    ("ClusterRole", "searchkeeper"),
    ("ClusterRole", "searchkeeper-viewer"),
    ("ClusterRole", "searchkeeper-editor"),
    ("Role", "searchkeeper-leader"),
    ("RoleBinding", "searchkeeper-leader"),
    ("Deployment", "searchkeeper"),
    ("Service", "searchkeeper-metrics"),
}
CLUSTER_SCOPED = ("Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding")
FOLDERS = sorted(file.parent for file in CONFIG.rglob("kustomization.yaml"))


def identities(objects: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(each["kind"], each["metadata"]["name"]) for each in objects}


def one(objects: list[dict[str, Any]], kind: str, name: str = "searchkeeper") -> dict[str, Any]:
    [found] = [each for each in objects if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def build(folder: Path) -> list[dict[str, Any]]:
    """The output of kubectl's own kustomize."""
    kubectl = shutil.which("kubectl") or pytest.skip("kubectl is not installed")
    done = subprocess.run(
        [kubectl, "kustomize", str(folder)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def variables(deployment: dict[str, Any]) -> dict[str, dict[str, Any]]:
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    return {each["name"]: each for each in container["env"]}


def test_default_overlay_installs_everything_for_all_namespaces() -> None:
    assert identities(overlay("default")) == COMMON | {("ClusterRoleBinding", "searchkeeper")}


def test_namespaced_overlay_binds_the_cluster_role_in_one_namespace_only() -> None:
    assert identities(overlay("namespaced")) == COMMON | {("RoleBinding", "searchkeeper")}
    binding = one(overlay("namespaced"), "RoleBinding")
    assert binding["roleRef"]["kind"] == "ClusterRole"
    assert binding["roleRef"]["name"] == "searchkeeper"


@pytest.mark.parametrize("name", ["default", "namespaced"])
def test_namespaced_objects_and_subjects_are_in_the_namespace_of_the_operator(name: str) -> None:
    objects = overlay(name)
    namespaced = [each for each in objects if each["kind"] not in CLUSTER_SCOPED]
    subjects = [subject for each in objects for subject in each.get("subjects", ())]
    assert {each["metadata"].get("namespace") for each in namespaced} == {"searchkeeper"}
    assert {subject["namespace"] for subject in subjects} == {"searchkeeper"}
    assert not [
        each for each in objects if each["kind"] in CLUSTER_SCOPED and "namespace" in each["metadata"]
    ]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_kustomization_lists_every_manifest_of_its_folder(folder: Path) -> None:
    listed = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]
    files = {file.name for file in folder.glob("*.yaml")} - {"kustomization.yaml"}
    assert {name for name in listed if not name.startswith("../")} == files


def test_metrics_service_selects_the_pod_and_names_its_port() -> None:
    objects = overlay("default")
    service, deployment = one(objects, "Service", "searchkeeper-metrics"), one(objects, "Deployment")
    template = deployment["spec"]["template"]
    ports = {each["name"]: each["containerPort"] for each in template["spec"]["containers"][0]["ports"]}
    [port] = service["spec"]["ports"]
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    assert (port["name"], port["port"], ports[port["targetPort"]]) == ("metrics", 9090, 9090)


def test_service_monitor_is_outside_of_default_and_selects_the_metrics_service() -> None:
    [monitor] = overlay("prometheus")
    service = one(overlay("default"), "Service", "searchkeeper-metrics")
    [endpoint] = monitor["spec"]["endpoints"]
    assert monitor["kind"] == "ServiceMonitor"
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert endpoint["port"] in [port["name"] for port in service["spec"]["ports"]]
    assert "ServiceMonitor" not in {each["kind"] for each in overlay("default")}


def test_operator_fits_the_pod_security_standard_of_its_namespace() -> None:
    """`restricted`; no uid or fsGroup is set, as OpenShift's restricted-v2 SCC assigns them."""
    objects = overlay("default")
    labels = one(objects, "Namespace")["metadata"]["labels"]
    pod = one(objects, "Deployment")["spec"]["template"]["spec"]
    contexts = [pod["securityContext"], *(each["securityContext"] for each in pod["containers"])]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    fixed = {"runAsUser", "runAsGroup", "fsGroup", "supplementalGroups"}
    assert not [context for context in contexts if fixed & context.keys()]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_kubectl_builds_what_the_kustomizations_list(folder: Path) -> None:
    assert identities(build(folder)) == identities(overlay(folder.name))


@pytest.mark.exhaustive
def test_kubectl_builds_an_operator_that_watches_its_own_namespace() -> None:
    everywhere, here = (one(build(CONFIG / name), "Deployment") for name in ("default", "namespaced"))
    fields = [variables(each)["WATCH_NAMESPACE"]["valueFrom"]["fieldRef"] for each in (everywhere, here)]
    assert [each["fieldPath"] for each in fields] == [
        "metadata.annotations['olm.targetNamespaces']",
        "metadata.namespace",
    ]
    assert list(variables(everywhere)) == list(variables(here))


def test_an_overlay_of_a_user_changes_namespace_and_image(tmp_path: Path) -> None:
    image = {"name": "searchkeeper", "newName": "registry.example.com/searchkeeper", "newTag": "v1"}
    # kustomize accepts no absolute paths.
    base = Path(*[".."] * (len(tmp_path.resolve().parts) - 1), *CONFIG.resolve().parts[1:], "default")
    text = yaml.safe_dump({"resources": [str(base)], "namespace": "operators", "images": [image]})
    (tmp_path / "kustomization.yaml").write_text(text, encoding="utf-8")
    objects = build(tmp_path)
    subjects = [subject for each in objects for subject in each.get("subjects", ())]
    [container] = one(objects, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert {each["metadata"].get("namespace") for each in objects} == {None, "operators"}
    assert {subject["namespace"] for subject in subjects} == {"operators"}
    assert one(objects, "Namespace", "operators")
    assert container["image"] == "registry.example.com/searchkeeper:v1"
