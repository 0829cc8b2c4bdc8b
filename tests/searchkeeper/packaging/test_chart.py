"""The Helm chart: the same operator as operator/config, with values.

Helm renders the templates where `helm` is installed or EVERPATH_HELM names it. The other tests read the
files: rules contain no template actions, so they can be compared with operator/config.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator, ValidationError, validate  # type: ignore[import-untyped]

from searchkeeper.releases import newest
from tests.support.commandline import ROOT
from tests.support.searchkeeper.operator_manifests import CONFIG, overlay

CHART = ROOT / "operator/chart"
TEMPLATES = sorted((CHART / "templates").iterdir())
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))


def config(kind: str, name: str = "searchkeeper") -> dict[str, Any]:
    [found] = [
        each for each in overlay("default") if (each["kind"], each["metadata"]["name"]) == (kind, name)
    ]
    return found


def leaves(values: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict) and value and name != "resources":
            yield from leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}"


def rules_of_template(name: str) -> list[list[dict[str, Any]]]:
    """The rules of each role in a template, which contain no template actions."""
    found = []
    for document in (CHART / "templates" / name).read_text(encoding="utf-8").split("\n---\n"):
        _, marker, rest = document.partition("\nrules:\n")
        if marker:
            found.append(yaml.safe_load(f"rules:\n{rest}")["rules"])
    return found


@pytest.mark.parametrize("key", ["version", "appVersion"])
def test_chart_has_the_version_of_the_newest_release(key: str) -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert chart[key] == newest().version


def test_chart_and_csv_require_the_same_kubernetes() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    file = CONFIG / "manifests/searchkeeper.clusterserviceversion.yaml"
    csv = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert chart["kubeVersion"] == f">={csv['spec']['minKubeVersion']}-0"
    capabilities = chart["annotations"]["artifacthub.io/operatorCapabilities"]
    assert capabilities == csv["metadata"]["annotations"]["capabilities"]


def test_crds_of_the_chart_are_those_of_operator_config() -> None:
    """Links: Helm follows them when it loads and packages a chart."""
    crds = {file.name: file.read_bytes() for file in (CHART / "crds").iterdir()}
    files = [file for file in (CONFIG / "crd").glob("*.yaml") if file.name != "kustomization.yaml"]
    assert crds == {file.name: file.read_bytes() for file in files}


def test_default_values_fit_their_schema() -> None:
    Draft7Validator.check_schema(SCHEMA)
    validate(VALUES, SCHEMA)


@pytest.mark.parametrize(
    "values",
    [
        {"watchNamespaces": ["search", "logs"]},
        {"imagePullSecrets": [{"name": "registry"}]},
        {"tolerations": [{"key": "a", "operator": "Exists"}]},
        {"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}}},
    ],
)
def test_schema_accepts(values: dict[str, Any]) -> None:
    validate(values, SCHEMA)


@pytest.mark.parametrize(
    "values",
    [
        {"watchNamespace": "search"},
        {"watchNamespaces": "search"},
        {"watchNamespaces": ["Search"]},
        {"watchNamespaces": ["a", "a"]},
        {"image": {"tag": 1.0, "repository": "a"}},
        {"image": {"repository": "a", "pullPolicy": "Sometimes"}},
        {"serviceMonitor": {"enabled": "yes"}},
    ],
)
def test_schema_rejects(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        validate(values, SCHEMA)


def test_every_value_is_used_and_every_used_value_is_declared() -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in TEMPLATES)
    assert set(re.findall(r"\.Values\.([\w.]+)", text)) == set(leaves(VALUES))


def test_readme_lists_every_value() -> None:
    text = (CHART / "README.md").read_text(encoding="utf-8")
    listed = {name for row in re.findall(r"^\| (`.+?) \|", text, re.MULTILINE) for name in row.split(", ")}
    assert {name.strip("`") for name in listed} == set(leaves(VALUES))


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_blocks_of_a_template_are_closed(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    actions = re.findall(r"\{\{-?\s*(\w+)", text)
    assert text.count("{{") == text.count("}}")
    assert sum(each in ("if", "range", "with", "define") for each in actions) == actions.count("end")


def test_operator_gets_the_rules_of_operator_config() -> None:
    assert rules_of_template("role.yaml") == [config("ClusterRole")["rules"]]


def test_operator_gets_the_leader_election_rules_without_those_of_olm() -> None:
    expected = [
        rule
        for rule in config("Role", "searchkeeper-leader")["rules"]
        if rule["apiGroups"] != ["operators.coreos.com"]
    ]
    assert rules_of_template("leader_election_role.yaml") == [expected]


def test_user_roles_are_those_of_operator_config() -> None:
    roles = [config("ClusterRole", f"searchkeeper-{name}") for name in ("viewer", "editor")]
    assert rules_of_template("user_roles.yaml") == [each["rules"] for each in roles]


def run_helm(*arguments: str, values: dict[str, Any] | None = None) -> subprocess.CompletedProcess[str]:
    helm = (
        os.environ.get("EVERPATH_HELM")
        or shutil.which("helm")
        or pytest.skip("helm is not installed; `make conformance` builds it")
    )
    return subprocess.run(
        [helm, *arguments],
        input=json.dumps(values or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def render(*options: str, **values: Any) -> list[dict[str, Any]]:
    arguments = ("--namespace", "operators", "--kube-version", "1.29.0", "--values", "-", *options)
    done = run_helm("template", "searchkeeper", str(CHART), *arguments, values=values)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def one(objects: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    [found] = [each for each in objects if each["kind"] == kind]
    return found


def container(objects: list[dict[str, Any]]) -> dict[str, Any]:
    [found] = one(objects, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def bindings(objects: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    """Where the operator's ClusterRole is bound."""
    return sorted(
        (each["kind"], each["metadata"].get("namespace"))
        for each in objects
        if each.get("roleRef", {}).get("kind") == "ClusterRole"
    )


@pytest.mark.conformance
def test_helm_renders_the_objects_of_the_default_overlay() -> None:
    """Except the namespace, which Helm creates, and the CRDs, which are no templates."""
    rendered = render()
    kinds = [each["kind"] for each in overlay("default")]
    expected = [kind for kind in kinds if kind not in ("Namespace", "CustomResourceDefinition")]
    assert sorted(each["kind"] for each in rendered) == sorted(expected)


@pytest.mark.conformance
def test_helm_renders_the_pod_of_operator_config() -> None:
    rendered = one(render(), "Deployment")["spec"]
    expected = config("Deployment")["spec"]
    [ours], [theirs] = rendered["template"]["spec"]["containers"], expected["template"]["spec"]["containers"]
    assert ours.pop("image") == f"registry.example.com/everpath/searchkeeper:v{newest().version}"
    assert ours.pop("imagePullPolicy") == "IfNotPresent"
    del theirs["image"]
    ours_env, theirs_env = ({each["name"]: each for each in body.pop("env")} for body in (ours, theirs))
    assert ours_env.pop("WATCH_NAMESPACE") == {"name": "WATCH_NAMESPACE", "value": ""}
    del theirs_env["WATCH_NAMESPACE"]
    assert ours_env == theirs_env
    assert rendered["template"]["spec"] == expected["template"]["spec"]
    assert rendered["strategy"] == expected["strategy"]
    labels = rendered["template"]["metadata"]["labels"]
    assert rendered["selector"]["matchLabels"].items() <= labels.items()


@pytest.mark.conformance
def test_helm_binds_the_role_in_all_namespaces_by_default() -> None:
    assert bindings(render()) == [("ClusterRoleBinding", None)]


@pytest.mark.conformance
def test_helm_binds_the_role_in_the_watched_namespaces_only() -> None:
    rendered = render(watchNamespaces=["search", "logs"])
    watched = {each["name"]: each for each in container(rendered)["env"]}["WATCH_NAMESPACE"]["value"]
    assert bindings(rendered) == [("RoleBinding", "logs"), ("RoleBinding", "search")]
    assert watched == "search,logs"
    assert {subject["namespace"] for each in rendered for subject in each.get("subjects", ())} == {
        "operators"
    }


@pytest.mark.conformance
def test_helm_passes_scheduling_values_to_the_pod() -> None:
    scheduling = {
        "nodeSelector": {"kubernetes.io/arch": "amd64"},
        "tolerations": [{"key": "infra", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": {}},
        "imagePullSecrets": [{"name": "registry"}],
    }
    rendered = render(**scheduling, resources={"limits": {"memory": "1Gi"}}, image={"tag": "dev"})
    pod = one(rendered, "Deployment")["spec"]["template"]["spec"]
    assert {key: pod[key] for key in scheduling} == scheduling
    assert container(rendered)["resources"]["limits"] == {"memory": "1Gi"}
    assert container(rendered)["image"].endswith(":dev")


@pytest.mark.conformance
def test_helm_renders_a_service_monitor_on_request() -> None:
    rendered = render(serviceMonitor={"enabled": True, "labels": {"release": "prometheus"}})
    monitor, service = one(rendered, "ServiceMonitor"), one(rendered, "Service")
    [endpoint] = monitor["spec"]["endpoints"]
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert endpoint["port"] == service["spec"]["ports"][0]["name"] == "metrics"


@pytest.mark.conformance
def test_helm_installs_the_crds_of_operator_config() -> None:
    rendered = [each for each in render("--include-crds") if each["kind"] == "CustomResourceDefinition"]
    files = (CONFIG / "crd" / name for name in ("searchclusters.yaml", "searchpools.yaml"))
    assert rendered == [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]


@pytest.mark.conformance
def test_helm_packages_the_content_of_linked_crds(tmp_path: Path) -> None:
    done = run_helm("package", str(CHART), "--destination", str(tmp_path))
    assert done.returncode == 0, done.stderr
    with tarfile.open(tmp_path / f"searchkeeper-{newest().version}.tgz") as archive:
        crds = [member for member in archive.getmembers() if "/crds/" in member.name]
    assert len(crds) == 2
    assert all(member.isfile() and member.size for member in crds)


@pytest.mark.conformance
def test_helm_lint_finds_nothing() -> None:
    done = run_helm("lint", str(CHART), "--strict", "--kube-version", "1.29.0")
    assert done.returncode == 0, done.stdout


@pytest.mark.conformance
def test_helm_rejects_an_unknown_value() -> None:
    done = run_helm(
        "template", "searchkeeper", str(CHART), "--kube-version", "1.29.0", "--set", "watchNamespace=a"
    )
    assert done.returncode != 0
    assert "watchNamespace" in done.stderr


@pytest.mark.conformance
@pytest.mark.parametrize("release", ["searchkeeper", "x" * 53])
def test_helm_names_fit_into_labels(release: str) -> None:
    done = run_helm("template", release, str(CHART), "--kube-version", "1.29.0")
    assert done.returncode == 0, done.stderr
    names = [each["metadata"]["name"] for each in yaml.safe_load_all(done.stdout) if each]
    assert max(map(len, names)) <= 63
    assert len({*names}) >= 5
