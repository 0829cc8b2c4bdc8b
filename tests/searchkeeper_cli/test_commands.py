"""`searchkeeper`: what its commands say about the sample in memory, about files, and about a cluster."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from commandline import ROOT
from managers import serve_api, wait_until, write_kubeconfig
from operators_at_work import asked_for, edited, settled, status
from schemas import conforms
from searchkeeper.cli.app import cli
from searchkeeper.cli.errors import NoAnswer
from searchkeeper.cli.output import bar, table
from searchkeeper.cli.sources import of_world
from searchkeeper.describe import ClusterDescription
from searchkeeper.kubernetes.operations import Key
from searchkeeper.manager.engine_clients import FakeEngineClient
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.releases import newest
from searchkeeper.testing.fake_cluster import FakeCluster


def said(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(cli, arguments, input=stdin)


def data(*arguments: str, stdin: str = "") -> Any:
    answer = said(*arguments, "-o", "json", stdin=stdin)
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


def upgraded_halfway() -> FakeCluster:
    world = asked_for()
    settled(world, newest().version)
    return edited(world, version="3.4.0")


def manifests(world: FakeCluster) -> str:
    return yaml.safe_dump_all(json.loads(json.dumps(list(world.state.cluster.objects.values()))))


def test_whoever_has_a_name_that_is_needed_is_what_a_cluster_is_held_up_by() -> None:
    world = asked_for()
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "logs", "namespace": "search"}}
    world.create(service)
    answer = said("plan", "-f", "-", stdin=manifests(world))
    assert "Service logs belongs to somebody else" in answer.output
    assert "create Service logs\n" not in answer.output


def test_help_imports_neither_the_client_nor_the_metrics() -> None:
    script = "import sys; from searchkeeper.cli.app import cli; cli(['--help'], standalone_mode=False)"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

    assert "click" in imported
    assert not imported & {
        "prometheus_client",
        "kubernetes",
        "asyncio",
        "yaml",
        "semver",
        "searchkeeper.reconcile",
    }


@pytest.mark.parametrize("command", ["run", "plan", "status", "versions"])
def test_every_command_has_examples_in_its_help(command: str) -> None:
    answer = said(command, "--help")

    assert answer.exit_code == 0
    assert f"  searchkeeper {command}" in answer.output


def test_a_plan_names_the_next_pod_and_every_gate() -> None:
    [cluster] = data("plan", "--embedded")["clusters"]

    gates = {gate["gate"]: gate["open"] for gate in cluster["next"]["gates"]}
    assert cluster["next"]["pod"] == "logs-data-1"
    assert {"NotPaused", "EngineReachable", "PodsReady", "QuorumSafe", "LastCopySafe", "BatchSafe"} <= set(
        gates
    )
    assert [each["pool"] for each in cluster["order"]] == ["data", "managers"]
    assert "until logs-data-1 is replaced" in cluster["wayBack"]
    assert cluster["writes"]


def test_a_plan_for_people_says_the_same() -> None:
    text = said("plan", "--embedded").output

    assert "Next pod: logs-data-1 of pool data: every gate is open" in text
    assert re.search(r"✓ +QuorumSafe +nothing stands against it", text)
    assert "Rollback: back to 2.19.4 until logs-data-1 is replaced" in text
    assert "others are true" in text
    assert "others are true" not in said("plan", "--embedded", "--all").output


def test_versions_name_every_component_and_who_is_done() -> None:
    found = data("versions", "--embedded")

    done = {each["name"]: each["done"] for each in found["clusters"][0]["components"]}
    assert found["operator"] == newest().version
    assert (done["logs-data-0"], done["logs-data-1"], done["logs-dashboards"]) == (True, False, False)
    assert len(done) == 8
    assert "7 still to go" in said("versions", "--embedded").output


def test_status_tells_the_steps_of_an_upgrade_and_its_point_of_no_return() -> None:
    [cluster] = data("status", "--embedded", "--upgrade")["clusters"]

    states = [step["state"] for step in cluster["upgrade"]["steps"]]
    assert states == ["done", "next", *["waiting"] * 6]
    assert cluster["upgrade"]["wayBack"].startswith("back to 2.19.4 until")
    assert cluster["phase"] == "Upgrading"


def test_yaml_says_what_json_says() -> None:
    assert yaml.safe_load(said("status", "--embedded", "-o", "yaml").output) == data("status", "--embedded")


@pytest.mark.parametrize("command", ["plan", "status", "versions"])
def test_machine_output_is_what_its_schema_says(command: str) -> None:
    conforms(f"searchkeeper-{command}", data(command, "--embedded"))
    conforms(f"searchkeeper-{command}", data(command, "-f", "-", stdin=manifests(asked_for())))


def test_a_file_of_manifests_does_instead_of_a_cluster(tmp_path: Path) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text(manifests(upgraded_halfway()), encoding="utf-8")

    [cluster] = data("plan", "-f", str(file))["clusters"]

    assert cluster["engine"] == {"running": "2.19.4", "target": "3.4.0"}
    assert cluster["next"]["pod"] == "logs-data-0"
    assert all(gate["open"] for gate in cluster["next"]["gates"])


def test_what_kubectl_prints_can_be_piped_in() -> None:
    objects = list(upgraded_halfway().state.cluster.objects.values())
    listed = yaml.safe_dump(json.loads(json.dumps({"kind": "List", "items": objects})))

    assert data("status", "-f", "-", stdin=listed)["clusters"][0]["ready"] == "5/5"


def test_a_manifest_as_somebody_writes_it_is_enough() -> None:
    sample = """
apiVersion: search.everpath.dev/v1alpha1
kind: SearchCluster
metadata: {name: logs}
spec: {version: 2.19.4, pools: [{name: all, roles: [data, cluster_manager], replicas: 3}]}
"""
    [cluster] = data("plan", "-f", "-", stdin=sample)["clusters"]

    assert cluster["cluster"] == "default/logs"
    assert any(write.startswith("create ") for write in cluster["writes"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: [", "expected"),
        ("kind: Pod", "no Kubernetes object"),
        ("- 1", "no Kubernetes object"),
        ("", "no SearchCluster"),
    ],
)
def test_what_cannot_be_read_is_told(text: str, complaint: str) -> None:
    answer = said("plan", "-f", "-", stdin=text)

    assert answer.exit_code == 3
    assert complaint in answer.output


def test_a_cluster_that_is_not_there_is_told_with_those_that_are() -> None:
    answer = said("status", "shop", "--embedded")

    assert answer.exit_code == 3
    assert "there is no SearchCluster shop; there are logs" in answer.output


def test_a_file_that_names_no_namespace_is_of_the_one_that_is_asked_for() -> None:
    sample = ("-f", str(ROOT / "operator/config/samples/searchcluster.yaml"))

    for command in ("plan", "status", "versions"):
        [asked], [usual] = (data(command, *place, *sample)["clusters"] for place in (("-n", "search"), ()))
        assert asked["cluster"] == "search/logs"
        assert usual["cluster"] == "default/logs"


@pytest.mark.parametrize("nothing", ["", '""', "null"])
def test_an_empty_namespace_is_none(nothing: str) -> None:
    sample = (ROOT / "operator/config/samples/searchcluster.yaml").read_text(encoding="utf-8")
    text = sample.replace("  name: logs\n", f"  name: logs\n  namespace: {nothing}\n")

    [cluster] = data("plan", "-f", "-", "-n", "search", stdin=text)["clusters"]

    assert cluster["cluster"] == "search/logs"


@pytest.mark.parametrize(
    ("arguments", "place"), [(("-f", "-"), " in -"), (("--embedded",), ""), (("logs", "--embedded"), "")]
)
def test_a_cluster_of_another_namespace_is_told_with_its_own(arguments: tuple[str, ...], place: str) -> None:
    answer = said("plan", *arguments, "-n", "other", stdin=manifests(asked_for()))

    assert answer.exit_code == 3
    assert f" in namespace other{place}: there is SearchCluster logs in namespace search\n" in answer.stderr
    assert "hint: -n names the namespace to look at; without it all of them are\n" in answer.stderr
    assert "kubectl" not in answer.stderr


def test_one_place_to_look_at_is_enough(tmp_path: Path) -> None:
    answer = said("plan", "--embedded", "--kubeconfig", str(tmp_path / "config"))

    assert answer.exit_code == 2
    assert "exclude each other" in answer.output


def test_a_release_that_is_none_is_told_with_those_that_are() -> None:
    answer = said("plan", "--embedded", "--release", "9.9.9")

    assert answer.exit_code == 2
    assert "there is no release 9.9.9; there are 0.1.0" in answer.output


def test_an_operator_that_is_too_old_says_who_can() -> None:
    world = upgraded_halfway()
    answer = said("plan", "-f", "-", "--release", "0.1.0", stdin=manifests(world))

    assert answer.exit_code == 1
    assert "operator 0.1.0 cannot take it: configuration" in answer.output


def test_a_stalled_cluster_is_exit_code_1() -> None:
    world = upgraded_halfway()
    text = manifests(world).replace("phase: Running\n", "phase: Stalled\n")

    assert said("status", "-f", "-", stdin=text).exit_code == 1


def test_a_cluster_is_asked_through_its_api_server(tmp_path: Path) -> None:
    with serve_api(upgraded_halfway()) as face:
        file = write_kubeconfig(face, tmp_path)
        where = ("--kubeconfig", str(file), "--engine", "embedded")

        [cluster] = data("plan", *where)["clusters"]

    assert cluster["cluster"] == "search/logs"
    assert cluster["next"]["pod"] == "logs-data-0"


def test_an_api_server_that_does_not_answer_is_exit_code_4(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(
        "{apiVersion: v1, kind: Config, current-context: a, users: [],"
        " contexts: [{name: a, context: {cluster: a, user: a}}],"
        ' clusters: [{name: a, cluster: {server: "http://127.0.0.1:9"}}]}',
        encoding="utf-8",
    )
    answer = said("status", "--kubeconfig", str(file))
    assert answer.exit_code == 4
    assert "hint: is it running, and is it the right one?" in answer.stderr


def test_no_cluster_at_all_is_told_with_the_remedy(tmp_path: Path) -> None:
    answer = said("status", "--kubeconfig", str(tmp_path / "nothing"))

    assert answer.exit_code == 2
    assert "--embedded needs none" in answer.output


def test_run_embedded_ends_with_what_was_seen() -> None:
    answer = said("run", "--embedded")

    last = answer.output.splitlines()[-1]
    assert answer.exit_code == 0
    assert last.startswith("7 nodes run 3.4.0 after ")
    assert "no shard was without a copy at any moment" in last
    assert "the elected manager went last" in last


def test_run_embedded_works_as_any_release() -> None:
    answer = said("run", "--embedded", "--release", "0.3.1", "--to", "3.2.0")

    assert answer.exit_code == 0
    assert "nodes run 3.2.0" in answer.output


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--to", "2.17.0"), "is older than"),
        (("--to", "9.0.0"), "leaves out a major version"),
        (("--release", "0.2.0", "--to", "3.0.0"), "newer than 2.19.4"),
    ],
)
def test_run_embedded_refuses_what_the_operator_would(arguments: tuple[str, ...], complaint: str) -> None:
    answer = said("run", "--embedded", *arguments)

    assert answer.exit_code == 2
    assert complaint in answer.output


def test_an_address_without_a_port_is_told() -> None:
    assert "is not HOST:PORT" in said("run", "--health-address", "localhost").output


def test_a_bar_is_as_full_as_its_share() -> None:
    assert [bar(share, 4) for share in (0, 0.5, 1)] == ["░░░░", "██░░", "████"]


def test_a_table_pads_all_but_the_last_column() -> None:
    assert table([("a", "b"), ("long", "c")]) == "a     b\nlong  c"


def test_an_upgrade_is_drawn_anew_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("searchkeeper.cli.embedded_run._SECONDS", 0)
    monkeypatch.setattr("searchkeeper.cli.embedded_run._is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "90")

    text = said("run", "--embedded").output

    assert re.search(r"\x1b\[\d+A\x1b\[J", text)
    assert "█████████████████████░░░ 7 of 8 steps" in text
    assert "Running, every node runs 3.4.0" in text
    cut = {line for line in text.splitlines() if line.startswith("  rollback: ") and line.endswith("…")}
    assert {len(line) for line in cut} == {89}


def test_watching_ends_when_nothing_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []
    world = upgraded_halfway()

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        settled(world, newest().version)

    monkeypatch.setattr("searchkeeper.cli.status.time.sleep", sleep)
    monkeypatch.setattr("searchkeeper.cli.status.sources", lambda **_: of_world(world, newest()))
    answer = said("status", "--upgrade", "--watch")

    assert answer.exit_code == 0
    assert len(looks) == 1
    assert "Running, every node runs 3.4.0" in answer.output
    assert "2.19.4 → 3.4.0: Finished at" in answer.output


class Hiccups:
    """A source that is silent for so many looks, after the first one."""

    def __init__(self, world: FakeCluster, silent: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left, self._world, self._looks = silent, world, 0
        self._source = of_world(world, newest())
        self.clusters = self._source.clusters
        monkeypatch.setattr("searchkeeper.cli.status.sources", lambda **_: self)
        monkeypatch.setattr("searchkeeper.cli.status.time.sleep", lambda _: None)

    def events_emitted(self, key: Key) -> ClusterDescription:
        self._looks += 1
        if self._looks > 1 and self.left:
            self.left -= 1
            raise NoAnswer("500 hiccup")
        if self._looks > 1:
            settled(self._world, newest().version)
        return self._source.events_emitted(key)


def test_whoever_watches_passes_over_a_hiccup(monkeypatch: pytest.MonkeyPatch) -> None:
    Hiccups(upgraded_halfway(), 5, monkeypatch)
    answer = said("status", "--watch")

    assert answer.exit_code == 0
    assert answer.stderr == "note: 500 hiccup; looking again\n" * 5


def test_whoever_watches_ends_when_the_silence_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    Hiccups(upgraded_halfway(), 6, monkeypatch)
    answer = said("status", "--watch")

    assert answer.exit_code == 4
    assert answer.stderr.endswith("error: 500 hiccup\n")


def test_once_works_off_what_can_be_done_and_ends(tmp_path: Path) -> None:
    with serve_api(asked_for()) as face:
        where = (
            "--kubeconfig",
            str(write_kubeconfig(face, tmp_path)),
            "--engine",
            "embedded",
            "-n",
            "search",
        )
        answer = said("run", "--once", *where)
        again = said("run", "--once", *where)
        kinds = {key.kind for key in face.api.world.state.cluster.objects}

    assert (answer.exit_code, again.exit_code) == (0, 0), answer.output
    assert answer.output == "search/logs: waiting\n"
    assert {"SearchPool", "StatefulSet", "Service", "Lease"} <= kinds


def test_once_tells_what_an_engine_refuses_and_leaves_the_lease_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise CallFailed("PUT /_cluster/settings: 500 nope")

    monkeypatch.setattr(FakeEngineClient, "execute", refuse)
    with serve_api(upgraded_halfway()) as face:
        where = ("--kubeconfig", str(write_kubeconfig(face, tmp_path)), "--engine", "embedded")
        answer = said("run", "--once", "--lease-namespace", "search", *where)
        lease = face.kube.get(LeaderLease.lease_key("search"))

    assert answer.exit_code == 3
    assert "error: search/logs: the engine call failed: PUT" in answer.output
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == ""


MIRROR = "mirror.example.com:5000/opensearch"


def engine_images(world: FakeCluster) -> set[str]:
    sets = (each for key, each in world.state.cluster.objects.items() if key.kind == "StatefulSet")
    return {each["spec"]["template"]["spec"]["containers"][0]["image"] for each in sets}


def test_once_takes_images_from_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELATED_IMAGE_OPENSEARCH", f"{MIRROR}:3.4.0")
    with serve_api(asked_for()) as face:
        where = (
            "--kubeconfig",
            str(write_kubeconfig(face, tmp_path)),
            "--engine",
            "embedded",
            "-n",
            "search",
        )
        said("run", "--once", *where)
        assert engine_images(face.api.world) == {f"{MIRROR}:2.19.4"}


def test_the_operator_as_a_process_ends_with_a_signal(tmp_path: Path) -> None:
    with serve_api(asked_for()) as face:
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
                _, logged = process.communicate(timeout=120)
            finally:
                process.kill()

    lines = [json.loads(line) for line in logged.splitlines()]
    assert process.returncode == 0
    assert (lines[0]["msg"].split()[0], lines[-1]["msg"]) == ("starting", "stopped")
    assert [line["resource"] for line in lines if line.get("write") == "create"][-1].startswith("StatefulSet")
    assert engine_images(face.api.world) == {f"{MIRROR}:2.19.4"}
