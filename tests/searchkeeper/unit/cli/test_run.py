"""`searchkeeper run`: once, as a process, and with --embedded."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from searchkeeper.cli.options import parse_address
from searchkeeper.describe import StepState
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.releases import newest
from searchkeeper.testing.demo import upgrade
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_engine_client import FakeEngineClient
from tests.support.commandline import ROOT
from tests.support.searchkeeper.managers import serve_api, wait_until, write_kubeconfig
from tests.support.searchkeeper.operator_runs import new_cluster, status
from tests.support.searchkeeper.searchkeeper_commands import NEW, cluster_to_upgrade, invoke, sample

MIRROR = "mirror.example.com:5000/opensearch"


@pytest.mark.exhaustive
def test_embedded_upgrade_ends_with_summary() -> None:
    result = invoke("run", "--embedded")

    last = result.output.splitlines()[-1]
    assert result.exit_code == 0
    assert last.startswith("7 nodes run 3.4.0 after ")
    assert "the engine was never red" in last
    assert "the elected cluster manager was replaced last" in last


@pytest.mark.exhaustive
def test_embedded_upgrade_logs_every_replaced_pod() -> None:
    """PodsCurrent names each pod in its own messages, one after the other, in rollout order."""
    order: list[str] = []
    for description in upgrade(sample(), newest(), NEW):
        current = [step.name for step in description.steps if step.state is StepState.CURRENT]
        order += [name for name in current if name not in order]
    lines = [line for line in invoke("run", "--embedded").output.splitlines() if " PodsCurrent " in line]
    logged = [name for line in lines for name in re.findall(r"\blogs-(?:data|managers)-\d\b", line)]

    assert len(order) == 7
    assert list(dict.fromkeys(logged)) == order


@pytest.mark.exhaustive
def test_embedded_upgrade_runs_as_any_release() -> None:
    result = invoke("run", "--embedded", "--release", "0.3.1", "--to", "3.2.0")

    assert result.exit_code == 0
    assert "nodes run 3.2.0" in result.output


@pytest.mark.exhaustive
def test_embedded_upgrade_starts_from_oldest_version_of_release() -> None:
    result = invoke("run", "--embedded", "--release", "0.1.0")

    assert result.exit_code == 0
    assert "OpenSearch 2.17.0 in memory" in result.output
    assert "7 nodes run 2.19.4" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "2.17.0"), "is older than"),
        (("--to", "9.0.0"), "major version"),
        (("--release", "0.2.0", "--to", "3.0.0"), "newer than 2.19.4"),
    ],
)
def test_embedded_upgrade_refuses_what_the_operator_refuses(arguments: tuple[str, ...], message: str) -> None:
    result = invoke("run", "--embedded", *arguments)

    assert result.exit_code == 2
    assert message in result.output


def test_embedded_upgrade_to_the_same_version_is_an_error() -> None:
    result = invoke("run", "--embedded", "--from", "3.4.0", "--to", "3.4.0")

    assert result.exit_code == 2
    assert "nothing to upgrade: --from and --to are both 3.4.0" in result.output


@pytest.mark.exhaustive
def test_embedded_upgrade_is_redrawn_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("searchkeeper.cli.embedded_run._SECONDS_A_FRAME", 0)
    monkeypatch.setattr("searchkeeper.cli.embedded_run._is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")

    text = invoke("run", "--embedded").output

    frames = re.split(r"\x1b\[\d+A\x1b\[J", text.partition("\n\n")[2])
    assert len(frames) > 20
    assert "█████████████████████░░░ 7 of 8 steps" in text
    assert "Running, every node runs 3.4.0" in text
    for before, after in zip(frames, re.findall(r"\x1b\[(\d+)A", text), strict=False):
        assert before.count("\n") == int(after)
    widths = {len(line) for frame in frames[:-1] for line in frame.splitlines()}
    assert max(widths) <= 59
    assert any("\n             " in frame.partition("Rollback:")[2] for frame in frames)


@pytest.mark.parametrize("text", ["localhost", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1", "127.0.0.1:²"])
def test_address_without_valid_port_is_an_error(text: str) -> None:
    result = invoke("run", "--health-address", text)

    assert result.exit_code == 2
    assert f"{text!r} is not HOST:PORT" in result.output


def test_ipv6_address_without_brackets_is_an_error() -> None:
    result = invoke("run", "--health-address", "::1:8080")

    assert result.exit_code == 2
    assert "'::1:8080' is not HOST:PORT: put the IPv6 address in brackets, [::1]:8080" in result.output


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8080", ("127.0.0.1", 8080)),
        (":8080", ("0.0.0.0", 8080)),
        ("[::]:18080", ("::", 18080)),
        ("[::1]:0", ("::1", 0)),
    ],
)
def test_address_is_host_and_port(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("seconds", ["nan", "inf", "0"])
def test_resync_must_be_a_finite_positive_number(seconds: str) -> None:
    assert invoke("run", "--resync", seconds).exit_code == 2


def test_occupied_port_is_an_error(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(
        "{current-context: x, contexts: [{name: x, context: {cluster: x, user: x}}],"
        " clusters: [{name: x, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: x, user: {}}]}"
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        result = invoke("run", "--kubeconfig", str(kubeconfig), "--health-address", f"127.0.0.1:{port}")

    assert result.exit_code == 2
    assert f"127.0.0.1:{port}: Address already in use" in result.output


def test_once_reconciles_until_nothing_is_left_to_do(tmp_path: Path) -> None:
    with serve_api(new_cluster()) as face:
        where = (
            "--kubeconfig",
            str(write_kubeconfig(face, tmp_path)),
            "--engine",
            "embedded",
            "-n",
            "search",
        )
        first = invoke("run", "--once", *where)
        second = invoke("run", "--once", *where)
        kinds = {key.kind for key in face.api.world.state.cluster.objects}

    assert (first.exit_code, second.exit_code) == (0, 0), first.output
    assert first.output.startswith("search/logs: wait")
    assert len(first.output.splitlines()) == 1
    assert {"SearchPool", "StatefulSet", "Service", "Lease"} <= kinds


def test_once_reports_engine_error_and_releases_lease(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise CallFailed("PUT /_cluster/settings: 500 nope")

    monkeypatch.setattr(FakeEngineClient, "execute", fail)
    with serve_api(cluster_to_upgrade()) as face:
        where = ("--kubeconfig", str(write_kubeconfig(face, tmp_path)), "--engine", "embedded")
        result = invoke("run", "--once", "--lease-namespace", "search", *where)
        lease = face.kube.get(LeaderLease.lease_key("search"))

    assert result.exit_code == 3
    assert "error: search/logs: the engine " in result.output
    assert "PUT /_cluster/settings: 500 nope" in result.output
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == ""


def engine_images(cluster: FakeCluster) -> set[str]:
    sets = (each for key, each in cluster.state.cluster.objects.items() if key.kind == "StatefulSet")
    return {each["spec"]["template"]["spec"]["containers"][0]["image"] for each in sets}


def test_engine_image_comes_from_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELATED_IMAGE_OPENSEARCH", f"{MIRROR}:3.4.0")
    with serve_api(new_cluster()) as face:
        where = (
            "--kubeconfig",
            str(write_kubeconfig(face, tmp_path)),
            "--engine",
            "embedded",
            "-n",
            "search",
        )
        invoke("run", "--once", *where)
        assert engine_images(face.api.world) == {f"{MIRROR}:2.19.4"}


@pytest.mark.exhaustive
def test_operator_process_stops_on_sigterm(tmp_path: Path) -> None:
    with serve_api(new_cluster()) as face:
        command = [
            *(sys.executable, "-m", "searchkeeper", "run", "--engine", "embedded", "--namespace", "search"),
            *("--kubeconfig", str(write_kubeconfig(face, tmp_path)), "--lease-namespace", "search"),
            *("--health-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0", "--resync", "0.2"),
            *("--engine-image", MIRROR),
        ]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT / "operator") as process:
            try:
                wait_until(
                    face.api,
                    lambda: status(face.api.world).get("phase") == "Running",
                    what="a running cluster",
                )
                process.terminate()
                _, log = process.communicate(timeout=120)
            finally:
                process.kill()

    lines = [json.loads(line) for line in log.splitlines()]
    assert process.returncode == 0
    assert lines[0]["msg"].startswith("starting searchkeeper")
    assert lines[-1]["msg"] == "stopped"
    assert [line["msg"] for line in lines if line.get("operation") == "create"][-1].endswith(
        "StatefulSet logs-managers"
    )
    assert engine_images(face.api.world) == {f"{MIRROR}:2.19.4"}
