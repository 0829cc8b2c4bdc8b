"""Shutdown: what the operator waits for, and which process holds the Lease afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from searchkeeper.cli import operate
from searchkeeper.kubernetes.api import Unavailable
from searchkeeper.manager.fencing import ShuttingDown
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.manager.shutdown import EXIT_DEADLINE
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.commandline import ROOT
from tests.support.searchkeeper.managers import (
    ApiServerAccess,
    DisconnectingApi,
    HangingEngine,
    run_manager,
    serve_api,
    wait_until,
    write_kubeconfig,
)
from tests.support.searchkeeper.operator_runs import CLUSTER, new_cluster

# An operator whose main coroutine never ends.
HANGING = """
import time
from searchkeeper.cli import main
from searchkeeper.manager import shutdown
from searchkeeper.manager.manager import Manager

shutdown._CLEANUP_TIMEOUT = 0.5
run = Manager.run

async def run_and_hang(manager):
    await run(manager)
    time.sleep(1000)

Manager.run = run_and_hang
main()
"""


def holder(access: ApiServerAccess) -> str:
    lease = access.kube.get(LeaderLease.lease_key("search"))
    assert lease is not None
    return str(lease["spec"]["holderIdentity"])


def test_hanging_engine_delays_neither_the_lease_nor_the_exit() -> None:
    engine = HangingEngine()
    with serve_api(new_cluster()) as access, run_manager(access, engine=engine) as running:
        wait_until(access.api, lambda: engine.reads > 0)
        running.stop()

        assert not engine.released.is_set()
        assert holder(access) == ""
        engine.released.set()


def test_write_in_progress_ends_before_the_lease_is_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started, release, done = threading.Event(), threading.Event(), threading.Event()
    with serve_api(new_cluster()) as access:
        kube = DisconnectingApi(access.kube)
        plain = kube.patch_status

        def patch_slowly(*arguments: Any) -> Any:
            started.set()
            assert release.wait(120)
            try:
                return plain(*arguments)
            finally:
                assert holder(access) == "one"
                done.set()

        monkeypatch.setattr(kube, "patch_status", patch_slowly)
        with run_manager(access, kube=kube) as running:
            wait_until(access.api, started.is_set)
            running.manager.stop()
            assert holder(access) == "one"
            release.set()
        assert done.is_set()
        assert holder(access) == ""


def test_hanging_write_is_not_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("searchkeeper.manager.shutdown._LAST_WRITE_TIMEOUT", 0.2)
    started, release = threading.Event(), threading.Event()
    with serve_api(new_cluster()) as access:
        kube = DisconnectingApi(access.kube)

        def hang(*_: Any) -> Any:
            started.set()
            release.wait(120)

        monkeypatch.setattr(kube, "patch_status", hang)
        with run_manager(access, kube=kube) as running:
            wait_until(access.api, started.is_set)
        assert not running.thread.is_alive()
        assert holder(access) == "one"
        release.set()


def test_manager_without_clusters_releases_the_lease() -> None:
    with serve_api(FakeCluster()) as access, run_manager(access) as running:
        wait_until(access.api, lambda: running.manager.lease.is_leader)
        running.stop()

        assert holder(access) == ""


def test_hanging_event_loop_does_not_keep_the_lease() -> None:
    release = threading.Event()
    with serve_api(new_cluster()) as access, run_manager(access) as running:
        wait_until(access.api, lambda: running.manager.lease.is_leader and CLUSTER in running.manager._loops)
        running.manager._loops[CLUSTER].task.get_loop().call_soon_threadsafe(release.wait, 120)
        running.manager.stop()

        wait_until(access.api, lambda: holder(access) == "", what="the release of the lease")
        assert running.thread.is_alive()
        release.set()


def test_hanging_watch_is_not_awaited() -> None:
    """The client may run a program for its credentials, which hangs."""
    started, release = threading.Event(), threading.Event()

    class HangingWatch:
        def list_with_version(self, *_: Any) -> Any:
            started.set()
            release.wait(240)
            raise Unavailable("released")

        def watch(self, *_: Any) -> Any:
            raise AssertionError("no watch without a list")

    with serve_api(FakeCluster()) as access, run_manager(access, watch=HangingWatch()) as running:
        wait_until(access.api, started.is_set)
        running.stop()

        assert not release.is_set()
        release.set()


def test_reads_end_with_the_shutdown() -> None:
    """A hundred reconciles would otherwise use the CPU time of the shutdown."""
    with serve_api(new_cluster()) as access:
        kube = DisconnectingApi(access.kube)
        with run_manager(access, kube=kube) as running:
            wait_until(access.api, lambda: CLUSTER in running.manager._loops)
            api = running.manager._loops[CLUSTER]._api
            running.stop()
            with pytest.raises(ShuttingDown):
                api.get(CLUSTER)
            with pytest.raises(ShuttingDown):
                api.list(CLUSTER.api, CLUSTER.kind, CLUSTER.namespace, {})


def command(*options: str) -> list[str]:
    """Arguments of an operator that listens on free ports."""
    addresses = ("--health-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0")
    return [
        "run",
        "--engine",
        "embedded",
        "-n",
        "search",
        "--lease-namespace",
        "search",
        *addresses,
        *options,
    ]


@pytest.mark.exhaustive
def test_process_that_does_not_end_exits_with_a_stack_trace(tmp_path: Path) -> None:
    with serve_api(FakeCluster()) as access:
        kubeconfig = ("--kubeconfig", str(write_kubeconfig(access, tmp_path)))
        program = [sys.executable, "-c", HANGING, *command(*kubeconfig)]
        with subprocess.Popen(program, stderr=subprocess.PIPE, text=True, cwd=ROOT / "operator") as process:
            try:
                wait_until(
                    access.api,
                    lambda: access.kube.get(LeaderLease.lease_key("search")) is not None,
                    what="the lease",
                )
                process.send_signal(signal.SIGTERM)
                _, logged = process.communicate(timeout=120)
            finally:
                process.kill()
        assert holder(access) == ""
    lines = [json.loads(line) for line in logged.splitlines()]
    [line] = [line for line in lines if line["msg"] == "shutdown timed out; exiting"]
    assert process.returncode == 1
    assert "operator: " in line["error"]


def test_signal_to_another_thread_is_handled() -> None:
    """A signal that arrives just before a join starts does not interrupt it either."""
    handled, done, end_bystander = threading.Event(), threading.Event(), threading.Event()
    bystander = threading.Thread(target=end_bystander.wait, daemon=True)
    bystander.start()
    before = signal.signal(signal.SIGUSR1, lambda *_: handled.set())
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})

    def work() -> None:
        # The main thread joins this one by then.
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGUSR1)
        if handled.wait(20):
            done.set()

    try:
        assert operate._run_in_thread(work) == []
        assert done.is_set()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        signal.signal(signal.SIGUSR1, before)
        end_bystander.set()


def test_exit_deadline_is_shorter_than_the_grace_period() -> None:
    file = ROOT / "operator/config/manager/deployment.yaml"
    pod = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > EXIT_DEADLINE
