"""The operator's Deployment: harmless, and what the command that it starts expects."""

from __future__ import annotations

import re
from typing import Any

import click
import pytest
import yaml

from commandline import ROOT
from searchkeeper.cli.run import run
from searchkeeper.images import PUBLISHED, Images, images_from_options
from searchkeeper.manager.endpoints import respond
from searchkeeper.manager.health import Health
from searchkeeper.manager.metrics import Metrics


@pytest.fixture
def pod() -> dict[str, Any]:
    file = ROOT / "operator/config/manager/deployment.yaml"
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]["template"]["spec"]
    return found


@pytest.fixture
def container(pod: dict[str, Any]) -> dict[str, Any]:
    [found] = pod["containers"]
    assert isinstance(found, dict)
    return found


def options() -> dict[str, click.Option]:
    return {each.name: each for each in run.params if isinstance(each, click.Option) and each.name}


def test_it_runs_as_nobody_in_particular_and_writes_nowhere(
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


def test_what_it_may_use_is_bounded(container: dict[str, Any]) -> None:
    assert set(container["resources"]["requests"]) == {"cpu", "memory"}
    assert "memory" in container["resources"]["limits"]


def test_it_starts_the_command_there_is(container: dict[str, Any]) -> None:
    """The image's entry point is the program."""
    image = (ROOT / "operator/Dockerfile").read_text(encoding="utf-8")
    command, *rest = container["args"]
    assert 'ENTRYPOINT ["/venv/bin/searchkeeper"]' in image.splitlines()
    assert "command" not in container
    assert command == run.name
    run.make_context("run", rest)


def test_what_the_image_copies_is_in_its_context_and_nothing_else_is() -> None:
    image = (ROOT / "operator/Dockerfile").read_text(encoding="utf-8")
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", image, re.MULTILINE)
    wanted = {name for line in copies for name in line.split()}
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = {line.removeprefix("!") for line in lines if line.startswith("!")}

    assert "*" in lines
    assert kept - {"operator"} == wanted


@pytest.mark.parametrize("probe", ["startupProbe", "livenessProbe", "readinessProbe"])
def test_a_probe_asks_what_is_answered(container: dict[str, Any], probe: str) -> None:
    health = Health()
    health.watching.set()
    asked = container[probe]["httpGet"]
    assert respond(asked["path"], health, Metrics())[0] == 200
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    listening = {name: str(options()[f"{name}_address"].default) for name in ("health", "metrics")}
    assert {name: text.rpartition(":")[2] for name, text in listening.items()} == {
        name: str(port) for name, port in ports.items()
    }
    assert asked["port"] in ports


def test_every_variable_is_one_that_somebody_reads(container: dict[str, Any]) -> None:
    read = {each.envvar for each in options().values()} - {None}
    given = {each["name"] for each in container["env"]}
    assert given <= read
    assert {"WATCH_NAMESPACE", "POD_NAMESPACE", "POD_NAME"} <= given


def test_the_images_that_it_relates_to_are_those_that_are_deployed(container: dict[str, Any]) -> None:
    """With another registry in their place they come from there."""
    given = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    names = [str(options()[name].envvar) for name in ("engine_image", "dashboards_image")]
    assert images_from_options(*(given[name] for name in names)) == PUBLISHED
    mirrored = (given[name].replace("docker.io", "mirror.example.com:5000") for name in names)
    assert images_from_options(*mirrored) == Images(
        "mirror.example.com:5000/opensearchproject/opensearch",
        "mirror.example.com:5000/opensearchproject/opensearch-dashboards",
    )


def test_the_operator_has_time_to_end_between_two_writes(pod: dict[str, Any]) -> None:
    assert pod["terminationGracePeriodSeconds"] >= 30
