"""The operator's Deployment: restricted, and consistent with the command that it runs."""

from __future__ import annotations

import re
from typing import Any

import click
import pytest
import yaml

from searchkeeper.cli.run import run
from searchkeeper.images import PUBLISHED, Images, images_from_options
from searchkeeper.manager.endpoints import respond
from searchkeeper.manager.health import Health
from searchkeeper.manager.metrics import Metrics
from tests.support.commandline import ROOT


@pytest.fixture
def pod() -> dict[str, Any]:
    file = ROOT / "operator/config/manager/deployment.yaml"
    spec: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]["template"]["spec"]
    return spec


@pytest.fixture
def container(pod: dict[str, Any]) -> dict[str, Any]:
    [only] = pod["containers"]
    assert isinstance(only, dict)
    return only


def options() -> dict[str, click.Option]:
    return {each.name: each for each in run.params if isinstance(each, click.Option) and each.name}


def test_pod_runs_without_root_and_with_a_read_only_root_filesystem(
    pod: dict[str, Any], container: dict[str, Any]
) -> None:
    assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["serviceAccountName"] == "searchkeeper"
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    assert all("emptyDir" in volume for volume in pod["volumes"])


def test_container_has_resource_requests_and_a_memory_limit(container: dict[str, Any]) -> None:
    assert set(container["resources"]["requests"]) == {"cpu", "memory"}
    assert "memory" in container["resources"]["limits"]


def test_arguments_are_valid_for_the_entry_point(container: dict[str, Any]) -> None:
    image = (ROOT / "operator/Dockerfile").read_text(encoding="utf-8")
    command, *rest = container["args"]
    assert 'ENTRYPOINT ["/venv/bin/searchkeeper"]' in image.splitlines()
    assert "command" not in container
    assert command == run.name
    run.make_context("run", rest)


def test_build_context_has_exactly_the_files_that_the_image_copies() -> None:
    image = (ROOT / "operator/Dockerfile").read_text(encoding="utf-8")
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", image, re.MULTILINE)
    copied = {name for line in copies for name in line.split()}
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = {line.removeprefix("!") for line in lines if line.startswith("!")}

    assert "*" in lines
    assert kept - {"operator"} == copied


@pytest.mark.parametrize("probe", ["startupProbe", "livenessProbe", "readinessProbe"])
def test_probe_requests_an_endpoint_that_exists(container: dict[str, Any], probe: str) -> None:
    health = Health()
    health.watching.set()
    request = container[probe]["httpGet"]
    assert respond(request["path"], health, Metrics())[0] == 200
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    listening = {name: str(options()[f"{name}_address"].default) for name in ("health", "metrics")}
    assert {name: text.rpartition(":")[2] for name, text in listening.items()} == {
        name: str(port) for name, port in ports.items()
    }
    assert request["port"] in ports


def test_every_environment_variable_belongs_to_an_option(container: dict[str, Any]) -> None:
    known = {each.envvar for each in options().values()} - {None}
    env = {each["name"] for each in container["env"]}
    assert env <= known
    assert {"WATCH_NAMESPACE", "POD_NAMESPACE", "POD_NAME"} <= env


def test_related_images_are_the_deployed_ones_and_can_be_mirrored(container: dict[str, Any]) -> None:
    env = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    names = [str(options()[name].envvar) for name in ("engine_image", "dashboards_image")]
    assert images_from_options(*(env[name] for name in names)) == PUBLISHED
    mirrored = (env[name].replace("docker.io", "mirror.example.com:5000") for name in names)
    assert images_from_options(*mirrored) == Images(
        "mirror.example.com:5000/opensearchproject/opensearch",
        "mirror.example.com:5000/opensearchproject/opensearch-dashboards",
    )


def test_grace_period_is_long_enough_for_a_reconcile(pod: dict[str, Any]) -> None:
    assert pod["terminationGracePeriodSeconds"] >= 30
