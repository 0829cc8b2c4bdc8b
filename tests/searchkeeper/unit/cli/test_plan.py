"""`searchkeeper plan`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.upgrade.ledger import UPGRADED_NODES
from tests.support.commandline import ROOT
from tests.support.schemas import conforms
from tests.support.searchkeeper.managers import serve_api, write_kubeconfig
from tests.support.searchkeeper.operator_runs import (
    edit_spec,
    new_cluster,
    reconcile_for_ticks,
    reconcile_until,
    status,
)
from tests.support.searchkeeper.searchkeeper_commands import (
    NEW,
    NEWEST,
    OLD,
    VALID,
    InvokeOn,
    cluster_to_upgrade,
    invoke,
    invoke_json,
    manifests_of,
    sample,
)

SAMPLE = ROOT / "operator/config/samples/searchcluster.yaml"


def test_plan_has_next_pod_with_every_gate() -> None:
    [cluster] = invoke_json("plan", "--embedded")["clusters"]

    gates = {gate["gate"]: gate["open"] for gate in cluster["nextPod"]["gates"]}
    assert cluster["nextPod"]["name"] == "logs-data-1"
    assert {"NotPaused", "EngineReachable", "PodsReady", "QuorumSafe", "LastCopySafe", "BatchSafe"} <= set(
        gates
    )
    assert [pool["name"] for pool in cluster["pools"]] == ["data", "managers"]
    assert "until logs-data-1 is replaced" in cluster["rollback"]
    assert cluster["operations"]


def test_plan_text_has_next_pod_gates_and_rollback() -> None:
    text = invoke("plan", "--embedded").output

    assert "Operations of the next reconcile\n  patch status of SearchCluster logs\n" in text
    assert "Gates for logs-data-1, the next pod of pool data: all open" in text
    assert re.search(r"✓ +QuorumSafe +open", text)
    assert "Rollback\n  possible to 2.19.4 until logs-data-1 is replaced" in text


def test_plan_hides_true_actions_unless_all_is_given() -> None:
    assert "more actions are True" in invoke("plan", "--embedded").output
    text = invoke("plan", "--embedded", "--all").output
    assert "more actions are True" not in text
    assert re.search(r"^    VersionAccepted +True", text, flags=re.MULTILINE)


@pytest.mark.parametrize("command", ["plan", "status", "versions"])
def test_json_matches_schema(command: str) -> None:
    conforms(f"searchkeeper-{command}", invoke_json(command, "--embedded"))
    conforms(f"searchkeeper-{command}", invoke_json(command, "-f", "-", stdin=manifests_of(new_cluster())))


def test_plan_of_file_equals_plan_of_cluster(tmp_path: Path) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text(manifests_of(cluster_to_upgrade()), encoding="utf-8")

    [cluster] = invoke_json("plan", "-f", str(file))["clusters"]

    assert cluster["engine"] == {"running": OLD, "target": NEW}
    assert cluster["nextPod"]["name"] == "logs-data-0"
    assert all(gate["open"] for gate in cluster["nextPod"]["gates"])


def test_plan_accepts_manifest_without_server_fields() -> None:
    [cluster] = invoke_json("plan", "-f", "-", stdin=VALID)["clusters"]

    assert cluster["cluster"] == "default/logs"
    assert any(operation.startswith("create ") for operation in cluster["operations"])


def test_plan_reads_cluster_through_its_api_server(tmp_path: Path) -> None:
    with serve_api(cluster_to_upgrade()) as face:
        kubeconfig = write_kubeconfig(face, tmp_path)

        [cluster] = invoke_json("plan", "--kubeconfig", str(kubeconfig), "--engine", "embedded")["clusters"]

    assert cluster["cluster"] == "search/logs"
    assert cluster["nextPod"]["name"] == "logs-data-0"


def test_foreign_object_with_needed_name_blocks_plan() -> None:
    cluster = new_cluster()
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "logs", "namespace": "search"}}
    cluster.create(service)

    result = invoke("plan", "-f", "-", stdin=manifests_of(cluster))

    assert re.search(r"ClientServiceApplied +False", result.output)
    assert "Service logs belongs to " in result.output
    assert "create Service logs\n" not in result.output


def test_older_operator_that_cannot_reconcile_cluster_names_releases() -> None:
    result = invoke("plan", "-f", "-", "--release", "0.1.0", stdin=manifests_of(cluster_to_upgrade()))

    assert result.exit_code == 1
    assert "operator 0.1.0 cannot reconcile it: configuration" in result.output


def test_plan_without_reachable_engine_says_so(invoke_on: InvokeOn) -> None:
    result = invoke_on(edit_spec(sample(), version=NEW), "plan", is_remote=True)

    assert "is not reachable from here; the plan is made without it" in result.stderr
    assert "✗  EngineReachable" in result.stdout


def paused_upgrade() -> FakeCluster:
    cluster = edit_spec(sample(), version=NEW)
    reconcile_until(cluster, lambda it: UPGRADED_NODES in status(it)["ledger"], NEWEST)
    return reconcile_for_ticks(edit_spec(cluster, upgrade={"paused": True}), ticks=60)


def test_plan_without_reachable_engine_repeats_rollback_of_operator(invoke_on: InvokeOn) -> None:
    cluster = paused_upgrade()
    stored = {each["type"]: each["message"] for each in status(cluster)["conditions"]}["RollbackPossible"]
    result = invoke_on(cluster, "plan", is_remote=True)

    assert stored.startswith(f"possible to {OLD} until logs-data-1 is replaced")
    expected = f"unknown without the engine; last reported by the operator: {stored}"
    assert f"Rollback\n  {expected}\n" in result.stdout
    assert re.search(r"RollbackPossible +False +\w+ +unknown without the engine", result.stdout)
    assert "Deadline" not in result.stdout


@pytest.mark.exhaustive
def test_rollback_is_blocked_while_engine_is_unreachable_for_operator(invoke_on: InvokeOn) -> None:
    result = invoke_on(paused_upgrade(), "plan", is_unreachable=True)

    rollback = result.stdout.partition("Rollback\n")[2]
    assert OLD in rollback.splitlines()[0]
    assert "the engine does not answer" in rollback.splitlines()[0]
    assert "Deadline" in rollback


@pytest.mark.parametrize("arguments", [("plan",), ("status",), ("status", "--upgrade")])
def test_refused_version_is_exit_code_1_with_reason(invoke_on: InvokeOn, arguments: tuple[str, ...]) -> None:
    cluster = reconcile_for_ticks(edit_spec(sample(NEW), version=OLD), ticks=2)

    result = invoke_on(cluster, *arguments)

    assert result.exit_code == 1
    assert f"{OLD} is older than {NEW}" in result.output


@pytest.mark.parametrize(
    ("arguments", "exit_code", "text"),
    [
        (("plan",), 1, "default/logs: Refused, engine not deployed → 9.0.0"),
        (("plan",), 1, "none       0/3 pods on 9.0.0"),
        (("status", "-o", "wide"), 1, "default    logs  Refused  0/3"),
        (("versions",), 0, "  refused: 9.0.0 is newer than 3.4.0"),
    ],
)
def test_version_is_refused_before_it_is_applied(
    arguments: tuple[str, ...], exit_code: int, text: str
) -> None:
    result = invoke(*arguments, "-f", "-", stdin=VALID.replace(OLD, "9.0.0"))

    assert result.exit_code == exit_code
    assert text in result.output


@pytest.mark.parametrize("arguments", [("plan",), ("status", "--upgrade")])
def test_refused_version_has_no_deadline(arguments: tuple[str, ...]) -> None:
    text = SAMPLE.read_text(encoding="utf-8")

    accepted, refused = (
        invoke(*arguments, "-f", "-", stdin=text.replace(OLD, version)).stdout for version in (OLD, "9.0.0")
    )

    assert "then the cluster is stalled" in accepted
    assert "9.0.0" in refused
    assert "then the cluster is stalled" not in refused


def test_new_cluster_with_refused_version_gets_no_nodes() -> None:
    cluster = reconcile_for_ticks(new_cluster(version="9.0.0"), ticks=5)

    created = {key.kind for key in cluster.state.cluster.objects} - {"SearchCluster"}
    assert status(cluster)["phase"] == "Refused"
    assert created == {"ConfigMap", "PodDisruptionBudget", "Secret", "Service"}


def test_cluster_that_is_not_deployed_has_pending_components() -> None:
    plan, upgrade, versions = (
        invoke(*command, "-f", str(SAMPLE)).output
        for command in (("plan",), ("status", "--upgrade"), ("versions",))
    )

    assert "None" not in plan
    assert "0/4 pods on 2.19.4" in plan
    assert "Pending, 2.19.4 not deployed, 0/7 ready" in upgrade
    assert re.search(r"logs-managers-2 +- +2.19.4", versions)
    assert "9 not up to date" in versions


def test_invalid_spec_is_named_beside_other_clusters(invoke_on: InvokeOn) -> None:
    cluster = edit_spec(sample(), upgrade={"rollback": "Sometimes"})
    manifest = yaml.safe_load(VALID)
    cluster.create({**manifest, "metadata": {"name": "shop", "namespace": "search"}})
    flaw = r"spec\.upgrade\.rollback: .*Sometimes.*Automatic.*Manual.*Off"

    for command in ("plan", "status", "versions"):
        result = invoke_on(cluster, command)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert re.search(flaw, result.output)
        assert "shop" in result.output
        assert result.exit_code == (0 if command == "versions" else 1)
        conforms(f"searchkeeper-{command}", json.loads(invoke_on(cluster, command, "-o", "json").stdout))
