"""The node agent with real controllers: Deployments and Jobs behave as in a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.servers.api import Api, Object
from tests.e2e.servers.containers import Container, Execution, Exited, NoProcess, Program
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.node_agent import NodeAgent
from tests.e2e.servers.polling import wait_until

pytestmark = pytest.mark.e2e

NAMESPACE: Final = "node-agent"
CORE: Final = f"/api/v1/namespaces/{NAMESPACE}"
DEPLOYMENTS: Final = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
JOBS: Final = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
TIMEOUT: Final = 300.0


@pytest.fixture(scope="module")
def api(plane: ControlPlane, agent: NodeAgent) -> Iterator[Api]:
    plane.api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    yield plane.api
    agent.check_running()


def template(name: str, image: str, **spec: object) -> Object:
    return {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "c", "image": image}], **spec},
    }


def deployment(name: str, image: str) -> Object:
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": {"app": name}},
        "template": template(name, image),
        "strategy": {"type": "Recreate"},
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def list_pods(api: Api, name: str) -> list[Object]:
    return api.items(f"{CORE}/pods?labelSelector=app%3D{name}")


def test_deployment_becomes_ready_rolls_out_and_is_deleted(api: Api, agent: NodeAgent) -> None:
    agent.images.register("node-agent/web:*", NoProcess())
    api.create(DEPLOYMENTS, deployment("web", "node-agent/web:1"))
    wait_until(
        "both pods are ready",
        lambda: api.get(f"{DEPLOYMENTS}/web")["status"].get("readyReplicas") == 2,
        TIMEOUT,
    )
    before = {pod["metadata"]["uid"] for pod in list_pods(api, "web")}
    assert len({pod["status"]["podIP"] for pod in list_pods(api, "web")}) == 2
    changed = [{"name": "c", "image": "node-agent/web:2"}]
    api.patch(f"{DEPLOYMENTS}/web", {"spec": {"template": {"spec": {"containers": changed}}}})

    def is_rolled_out() -> bool:
        status = api.get(f"{DEPLOYMENTS}/web")["status"]
        return bool(status["observedGeneration"] == 2 and status.get("updatedReplicas") == 2)

    wait_until("both pods are replaced", is_rolled_out, TIMEOUT)
    assert not before & {pod["metadata"]["uid"] for pod in list_pods(api, "web")}
    api.delete(f"{DEPLOYMENTS}/web", {"propagationPolicy": "Foreground"})
    wait_until("all pods are deleted", lambda: not list_pods(api, "web"), TIMEOUT)


def test_crash_looping_deployment_is_never_ready(api: Api, agent: NodeAgent) -> None:
    agent.images.register("node-agent/crash", Exited(1))
    api.create(DEPLOYMENTS, deployment("crash", "node-agent/crash"))

    def restarts() -> list[int]:
        found = [pod["status"].get("containerStatuses", [{}])[0] for pod in list_pods(api, "crash")]
        return [status.get("restartCount", 0) for status in found]

    wait_until("both pods have restarted", lambda: len(restarts()) == 2 and min(restarts()) >= 1, TIMEOUT)
    assert "readyReplicas" not in api.get(f"{DEPLOYMENTS}/crash")["status"]
    api.delete(f"{DEPLOYMENTS}/crash", {"propagationPolicy": "Foreground"})
    wait_until("all pods are deleted", lambda: not list_pods(api, "crash"), TIMEOUT)


@pytest.mark.parametrize(("image", "end"), [("good", "Complete"), ("bad", "Failed")])
def test_job_has_the_result_of_its_program(api: Api, agent: NodeAgent, image: str, end: str) -> None:
    def start_program(container: Container) -> Execution:
        assert container.credentials().is_file()
        return Program(["test", container.image, "=", "node-agent/good"])

    agent.images.register(f"node-agent/{image}", start_program)
    spec = {"backoffLimit": 0, "template": template(image, f"node-agent/{image}", restartPolicy="Never")}
    api.create(JOBS, {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": image}, "spec": spec})

    def has_ended() -> bool:
        found = api.get(f"{JOBS}/{image}").get("status", {}).get("conditions") or []
        return any(condition["type"] == end and condition["status"] == "True" for condition in found)

    wait_until(f"the Job is {end}", has_ended, TIMEOUT)
