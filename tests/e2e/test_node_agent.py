"""The node agent with real controllers: Deployments and Jobs do as in a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from e2e.stand.api import Api, Object
from e2e.stand.containers import Container, Ended, Fate, Feigned, Program
from e2e.stand.control_plane import ControlPlane
from e2e.stand.node_agent import NodeAgent
from e2e.stand.waiting import until

pytestmark = pytest.mark.e2e

NAMESPACE: Final = "node-agent"
CORE: Final = f"/api/v1/namespaces/{NAMESPACE}"
DEPLOYMENTS: Final = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
JOBS: Final = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
LONG: Final = 300.0


@pytest.fixture(scope="module")
def api(plane: ControlPlane, agent: NodeAgent) -> Iterator[Api]:
    plane.api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    yield plane.api
    agent.must_run()


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


def pods(api: Api, name: str) -> list[Object]:
    return api.items(f"{CORE}/pods?labelSelector=app%3D{name}")


def test_a_deployment_gets_ready_rolls_and_goes(api: Api, agent: NodeAgent) -> None:
    agent.images.offer("node-agent/web:*", Feigned())
    api.create(DEPLOYMENTS, deployment("web", "node-agent/web:1"))
    until("both are ready", lambda: api.get(f"{DEPLOYMENTS}/web")["status"].get("readyReplicas") == 2, LONG)
    first = {pod["metadata"]["uid"] for pod in pods(api, "web")}
    assert len({pod["status"]["podIP"] for pod in pods(api, "web")}) == 2
    changed = [{"name": "c", "image": "node-agent/web:2"}]
    api.merge(f"{DEPLOYMENTS}/web", {"spec": {"template": {"spec": {"containers": changed}}}})

    def has_rolled() -> bool:
        status = api.get(f"{DEPLOYMENTS}/web")["status"]
        return bool(status["observedGeneration"] == 2 and status.get("updatedReplicas") == 2)

    until("both are new", has_rolled, LONG)
    assert not first & {pod["metadata"]["uid"] for pod in pods(api, "web")}
    api.delete(f"{DEPLOYMENTS}/web", {"propagationPolicy": "Foreground"})
    until("no pod is left", lambda: not pods(api, "web"), LONG)


def test_a_crash_loop_is_never_ready(api: Api, agent: NodeAgent) -> None:
    agent.images.offer("node-agent/crash", Ended(1))
    api.create(DEPLOYMENTS, deployment("crash", "node-agent/crash"))

    def restarts() -> list[int]:
        found = [pod["status"].get("containerStatuses", [{}])[0] for pod in pods(api, "crash")]
        return [status.get("restartCount", 0) for status in found]

    until("both have crashed again", lambda: len(restarts()) == 2 and min(restarts()) >= 1, LONG)
    assert "readyReplicas" not in api.get(f"{DEPLOYMENTS}/crash")["status"]
    api.delete(f"{DEPLOYMENTS}/crash", {"propagationPolicy": "Foreground"})
    until("no pod is left", lambda: not pods(api, "crash"), LONG)


@pytest.mark.parametrize(("image", "end"), [("good", "Complete"), ("bad", "Failed")])
def test_a_job_is_as_good_as_its_program(api: Api, agent: NodeAgent, image: str, end: str) -> None:
    def work(container: Container) -> Fate:
        assert container.credentials().is_file()
        return Program(["test", container.image, "=", "node-agent/good"])

    agent.images.offer(f"node-agent/{image}", work)
    spec = {"backoffLimit": 0, "template": template(image, f"node-agent/{image}", restartPolicy="Never")}
    api.create(JOBS, {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": image}, "spec": spec})

    def has_ended() -> bool:
        found = api.get(f"{JOBS}/{image}").get("status", {}).get("conditions") or []
        return any(condition["type"] == end and condition["status"] == "True" for condition in found)

    until(f"it is {end}", has_ended, LONG)
