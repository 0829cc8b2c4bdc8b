"""What kubectl shows of a cluster at rest, during an upgrade and after it, on a real API server."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Final

import pytest

from tests.e2e.operator_sandbox import TIMEOUT, OperatorSandbox, operator_sandbox
from tests.e2e.servers.api import conditions
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.processes import WorkDir
from tests.support.commandline import ROOT

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed"),
]

PAGE: Final = ROOT / "docs/operator/kubectl.md"


@pytest.fixture
def sandbox(
    plane: ControlPlane, work_dir: WorkDir, operator_prerequisites: None
) -> Iterator[OperatorSandbox]:
    with operator_sandbox(plane, work_dir, "search") as created:
        yield created


@pytest.fixture
def kubectl(plane: ControlPlane) -> Callable[[str], str]:
    def run(line: str) -> str:
        command = ["kubectl", "--kubeconfig", str(plane.kubeconfig), "-n", "search", *line.split()]
        done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=TIMEOUT)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def sessions(page: str) -> list[tuple[str, list[str]]]:
    """The commands of a page with the lines of their output."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL):
        for line in filter(None, block.splitlines()):
            if line.startswith("$ kubectl "):
                found.append((line.removeprefix("$ kubectl "), []))
            else:
                found[-1][1].append(line)
    return found


def masked(line: str) -> str:
    """A line without what differs from run to run: times, ages, generations and the width of columns."""
    line = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "TIME", line)
    line = re.sub(r"\b(\d+m)?\d+s\b", "AGE", line)
    return re.sub(r"\s+", " ", re.sub(r"(Generation:\s+)\d+", r"\1N", line)).strip()


def missing_lines(documented: list[str], shown: str) -> list[str]:
    """The documented lines that are not shown, in this order. Lines may be left out where the page has …"""
    lines, position, missing = [masked(line) for line in shown.splitlines() if line], 0, []
    may_skip = False
    for line in documented:
        if line == "…":
            may_skip = True
            continue
        rest = lines[position:] if may_skip else lines[position : position + 1]
        if masked(line) in rest:
            position += rest.index(masked(line)) + 1
        else:
            missing.append(line)
        may_skip = False
    return missing


def test_kubectl_shows_what_the_docs_show(sandbox: OperatorSandbox, kubectl: Callable[[str], str]) -> None:
    documented = iter(sessions(PAGE.read_text(encoding="utf-8")))

    def compare(line: str) -> None:
        command, lines = next(documented)
        assert command == line
        shown = kubectl(line)
        if line.startswith("events"):
            # kubectl sorts by whole seconds: events of the same second come in any order.
            assert sorted(map(masked, lines)) == sorted(map(masked, shown.splitlines())), shown
        else:
            assert missing_lines(lines, shown) == [], shown

    sandbox.create_cluster()
    with sandbox.run_operator():
        compare("wait searchcluster/logs --for=condition=Ready --timeout=3m")
        compare("get searchclusters")
        sandbox.recorder.create_index("books")
        before = {each["metadata"]["uid"] for each in sandbox.list_pods()}
        sandbox.edit_spec(version="3.4.0")
        wait_until("the first pod is deleted", lambda: is_deleted(sandbox, before), TIMEOUT)
        sandbox.edit_spec(upgrade={"paused": True})
        wait_until("the pause is reported", lambda: is_paused(sandbox), TIMEOUT)
        compare("get searchclusters")
        compare("get searchpools")
        compare("describe searchcluster logs")
        sandbox.edit_spec(upgrade={"paused": False})
        compare("wait searchcluster/logs --for=jsonpath={.status.engineVersion}=3.4.0 --timeout=3m")
        compare("wait searchcluster/logs --for=condition=Ready --timeout=3m")
        compare("events --for searchcluster/logs")
    assert next(documented, None) is None


def is_deleted(sandbox: OperatorSandbox, before: set[str]) -> bool:
    """Whether one of these pods is terminating or gone."""
    pods = [each["metadata"] for each in sandbox.list_pods()]
    return not before <= {each["uid"] for each in pods if "deletionTimestamp" not in each}


def is_paused(sandbox: OperatorSandbox) -> bool:
    """Whether the first node has returned and the cluster waits for the end of the pause."""
    messages: dict[str, str] = {each["type"]: each["message"] for each in conditions(sandbox.get_cluster())}
    return (
        messages["Ready"].endswith("1 of 5 nodes done; engine is green")
        and messages["PodsCurrent"] == "spec.upgrade.paused is set"
    )
