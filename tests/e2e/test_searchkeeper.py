"""The operator, as a process with its own account, on a real API server with real controllers.

Its engine is in memory, behind pods that pretend, and is reached as a real one is. Whatever happens, the API
server's own log of it is held to the laws at the end of each test: that is the stage's affair.
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

from e2e.searchkeeper_stage import LONG, OPERATOR, POOLS, Stage, ended
from e2e.stand.api import Object
from e2e.stand.waiting import until

pytestmark = pytest.mark.e2e


def is_left_alone(stage: Stage) -> bool:
    """Between two renewals of the lease there are a few looks. Controllers write a little later than we."""
    before, moment = stage.revisions(), stage.lease["renewTime"]
    until("a few looks have passed", lambda: stage.lease["renewTime"] != moment, LONG)
    return stage.revisions() == before


def test_a_cluster_comes_up_is_upgraded_scaled_and_deleted(stage: Stage) -> None:
    stage.ask_for()
    with stage.operator():
        stage.until_it_runs("2.19.4")
        until("nobody writes to a cluster at rest", lambda: is_left_alone(stage), LONG)

        stage.snapshot.index("books")
        stage.edit(version="1.3.0")
        events = until("it is refused", lambda: _warnings(stage), LONG)
        assert [(each["reason"], each["count"]) for each in events] == [("VersionRefused", 1)]
        stage.edit(version="3.4.0")
        stage.until_it_runs("3.4.0")
        assert [name for name in stage.snapshot.order if name.endswith("3.4.0")][:2] == [
            "logs-data-0 3.4.0",
            "logs-data-1 3.4.0",
        ]

        stage.edit(pools=[{**POOLS[0], "replicas": 3}, POOLS[1]])
        stage.until_it_runs("3.4.0", 6)
        stage.edit(pools=POOLS)
        stage.until_it_runs("3.4.0", 5)

        stage.api.delete(f"{stage.group}/searchclusters/logs")
        until("the cluster is gone", lambda: not stage.api.items(f"{stage.group}/searchclusters"), LONG)
        until("its pods are gone", lambda: not stage.pods(), LONG)
    assert stage.api.items(f"{stage.core}/persistentvolumeclaims"), "the volumes stay"


def _warnings(stage: Stage) -> list[Object]:
    events = stage.api.items(f"{stage.core}/events")
    return [
        each for each in events if each["type"] == "Warning" and each["source"].get("component") == OPERATOR
    ]


def test_an_operator_that_is_killed_again_and_again_gets_there(stage: Stage) -> None:
    stage.ask_for()
    dice = random.Random(7)
    process = stage.start()
    try:
        stage.until_it_runs("2.19.4")
        stage.snapshot.index("books")
        stage.edit(version="3.4.0")
        for _ in range(3):
            seen = str(stage.cluster["metadata"]["resourceVersion"])
            for _ in range(dice.randint(1, 6)):
                seen = until("it moves", partial(_moved, stage, seen), LONG)
            process.kill()
            process.wait(10)
            process = stage.start()
        stage.until_it_runs("3.4.0")
    finally:
        ended(process)


def _moved(stage: Stage, seen: str) -> str:
    """The cluster's next resource version; its last one when it has arrived."""
    version = str(stage.cluster["metadata"]["resourceVersion"])
    return version if version != seen or stage.runs("3.4.0") else ""


def test_an_upgrade_that_is_not_wanted_any_more_is_taken_back(stage: Stage) -> None:
    """Of three nodes, so that the one that goes back can be emptied before its volume goes."""
    stage.ask_for(pools=[{**POOLS[0], "replicas": 3}, POOLS[1]])
    with stage.operator():
        stage.until_it_runs("2.19.4", 6)
        stage.snapshot.index("books")
        stage.edit(version="3.4.0")
        until("a node is new", lambda: "logs-data-0 3.4.0" in stage.snapshot.order, LONG)
        stage.edit(version="2.19.4")
        until("it is back", lambda: "logs-data-0 2.19.4" in _since_new(stage), LONG)
        stage.until_it_runs("2.19.4", 6)
        assert "logs-managers-0 3.4.0" not in stage.snapshot.order
        assert stage.status["upgrade"]["history"][-1]["result"] == "RolledBack"


def _since_new(stage: Stage) -> list[str]:
    """Who has joined since the first node became new."""
    order = stage.snapshot.order
    return order[order.index("logs-data-0 3.4.0") :]


def test_whoever_sleeps_through_its_lease_writes_nothing_when_it_wakes(stage: Stage) -> None:
    stage.ask_for()
    with stage.operator("--identity", "one") as one, stage.operator("--identity", "other") as other:
        stage.until_it_runs("2.19.4")
        stage.snapshot.index("books")
        stage.edit(version="3.4.0")
        until("a node is new", lambda: "logs-data-0 3.4.0" in stage.snapshot.order, LONG)
        holder = stage.lease["holderIdentity"]
        with asleep(one if holder.startswith("one_") else other):
            until("the other one leads", lambda: stage.lease["holderIdentity"] != holder, LONG)
            seen = str(stage.cluster["metadata"]["resourceVersion"])
            until("it moves", partial(_moved, stage, seen), LONG)
        stage.until_it_runs("3.4.0")
        until("the sleeper knows it", lambda: '"msg": "lost lease"' in stage.log.read_text(), LONG)
    writers = {each.client for each in stage.snapshot.history().requests if each.key.kind != "Lease"}
    assert len(writers) == 2, "each of them had its turn"


@contextmanager
def asleep(process: subprocess.Popen[bytes]) -> Iterator[None]:
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)
