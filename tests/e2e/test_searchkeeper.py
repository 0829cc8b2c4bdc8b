"""The operator as a process with its own ServiceAccount, on a real API server with real controllers.

The engine is a fake that serves HTTP, and the pods run no process. At the end of each test the sandbox checks
the recorded run against the invariants.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from tests.e2e.operator_sandbox import OPERATOR, POOLS, TIMEOUT, OperatorSandbox, terminate
from tests.e2e.servers.api import Object
from tests.e2e.servers.polling import wait_until

pytestmark = pytest.mark.e2e


def is_unchanged_between_renewals(sandbox: OperatorSandbox) -> bool:
    """Whether no object changes between two renewals of the Lease, in which there are several reconciles.

    Controllers may still write shortly after the operator.
    """
    before, renewed = sandbox.list_resource_versions(), sandbox.get_lease()["renewTime"]
    wait_until("the Lease is renewed", lambda: sandbox.get_lease()["renewTime"] != renewed, TIMEOUT)
    return sandbox.list_resource_versions() == before


def test_cluster_is_created_upgraded_scaled_and_deleted(sandbox: OperatorSandbox) -> None:
    sandbox.create_cluster()
    with sandbox.run_operator():
        sandbox.wait_until_running("2.19.4")
        wait_until("nothing is written", lambda: is_unchanged_between_renewals(sandbox), TIMEOUT)

        sandbox.recorder.create_index("books")
        sandbox.edit_spec(version="1.3.0")
        events = wait_until("a warning is emitted", lambda: list_warnings(sandbox), TIMEOUT)
        assert [(each["reason"], each["count"]) for each in events] == [("VersionRefused", 1)]
        sandbox.edit_spec(version="3.4.0")
        sandbox.wait_until_running("3.4.0")
        assert [name for name in sandbox.recorder.node_starts if name.endswith("3.4.0")][:2] == [
            "logs-data-0 3.4.0",
            "logs-data-1 3.4.0",
        ]

        sandbox.edit_spec(pools=[{**POOLS[0], "replicas": 3}, POOLS[1]])
        sandbox.wait_until_running("3.4.0", 6)
        sandbox.edit_spec(pools=POOLS)
        sandbox.wait_until_running("3.4.0", 5)

        sandbox.api.delete(f"{sandbox.group}/searchclusters/logs")
        wait_until(
            "the SearchCluster is deleted",
            lambda: not sandbox.api.items(f"{sandbox.group}/searchclusters"),
            TIMEOUT,
        )
        wait_until("its pods are deleted", lambda: not sandbox.list_pods(), TIMEOUT)
    assert sandbox.api.items(f"{sandbox.core}/persistentvolumeclaims"), "the volumes are kept"


def list_warnings(sandbox: OperatorSandbox) -> list[Object]:
    """Return the warning events of the operator."""
    events = sandbox.api.items(f"{sandbox.core}/events")
    return [
        each for each in events if each["type"] == "Warning" and each["source"].get("component") == OPERATOR
    ]


def test_upgrade_finishes_although_the_operator_is_killed_three_times(sandbox: OperatorSandbox) -> None:
    sandbox.create_cluster()
    chance = random.Random(7)
    process = sandbox.start_operator()
    try:
        sandbox.wait_until_running("2.19.4")
        sandbox.recorder.create_index("books")
        sandbox.edit_spec(version="3.4.0")
        for _ in range(3):
            version = str(sandbox.get_cluster()["metadata"]["resourceVersion"])
            for _ in range(chance.randint(1, 6)):
                version = wait_until("the status changes", partial(next_version, sandbox, version), TIMEOUT)
            process.kill()
            process.wait(10)
            process = sandbox.start_operator()
        sandbox.wait_until_running("3.4.0")
    finally:
        terminate(process)


def next_version(sandbox: OperatorSandbox, before: str) -> str:
    """The resource version of the SearchCluster if it has changed or the upgrade is finished, else empty."""
    version = str(sandbox.get_cluster()["metadata"]["resourceVersion"])
    return version if version != before or sandbox.is_running("3.4.0") else ""


def test_upgrade_is_rolled_back_when_the_spec_is_reverted(sandbox: OperatorSandbox) -> None:
    """With three data nodes: the upgraded one is drained before its volume is deleted."""
    sandbox.create_cluster(pools=[{**POOLS[0], "replicas": 3}, POOLS[1]])
    with sandbox.run_operator():
        sandbox.wait_until_running("2.19.4", 6)
        sandbox.recorder.create_index("books")
        sandbox.edit_spec(version="3.4.0")
        wait_until(
            "a node is upgraded",
            lambda: "logs-data-0 3.4.0" in sandbox.recorder.node_starts,
            TIMEOUT,
        )
        sandbox.edit_spec(version="2.19.4")
        wait_until(
            "the node is rolled back",
            lambda: "logs-data-0 2.19.4" in node_starts_since_upgrade(sandbox),
            TIMEOUT,
        )
        sandbox.wait_until_running("2.19.4", 6)
        assert "logs-managers-0 3.4.0" not in sandbox.recorder.node_starts
        assert sandbox.get_status()["upgrade"]["history"][-1]["result"] == "RolledBack"


def node_starts_since_upgrade(sandbox: OperatorSandbox) -> list[str]:
    """The starts of nodes since the first one was upgraded."""
    starts = sandbox.recorder.node_starts
    return starts[starts.index("logs-data-0 3.4.0") :]


def test_operator_that_lost_its_lease_writes_nothing(sandbox: OperatorSandbox) -> None:
    """The check at the end fails on a write of a process that does not hold the Lease."""
    sandbox.create_cluster()
    with (
        sandbox.run_operator("--identity", "one") as one,
        sandbox.run_operator("--identity", "other") as other,
    ):
        sandbox.wait_until_running("2.19.4")
        sandbox.recorder.create_index("books")
        sandbox.edit_spec(version="3.4.0")
        wait_until(
            "a node is upgraded",
            lambda: "logs-data-0 3.4.0" in sandbox.recorder.node_starts,
            TIMEOUT,
        )
        holder = sandbox.get_lease()["holderIdentity"]
        with suspend(one if holder.startswith("one_") else other):
            wait_until(
                "the other operator acquires the Lease",
                lambda: sandbox.get_lease()["holderIdentity"] != holder,
                TIMEOUT,
            )
            version = str(sandbox.get_cluster()["metadata"]["resourceVersion"])
            wait_until("the status changes", partial(next_version, sandbox, version), TIMEOUT)
        sandbox.wait_until_running("3.4.0")
        wait_until(
            "the former leader logs that it lost the Lease",
            lambda: '"msg": "lost lease"' in sandbox.log.read_text(),
            TIMEOUT,
        )
    writers = {each.client for each in sandbox.recorder.history().requests if each.key.kind != "Lease"}
    assert len(writers) == 2, "both operators have written"


@contextmanager
def suspend(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Stop a process with SIGSTOP, and continue it at the end of the block."""
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)
