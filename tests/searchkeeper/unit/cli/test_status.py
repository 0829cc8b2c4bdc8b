"""`searchkeeper status`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import yaml

from searchkeeper.cli.errors import ApiServerUnreachable
from searchkeeper.cli.sources import fake_cluster_source
from searchkeeper.cli.status import _describe_text, status_data
from searchkeeper.describe import ClusterDescription, ConditionSummary
from searchkeeper.kubernetes.operations import Key
from searchkeeper.releases import newest
from searchkeeper.testing.demo import describe_sample
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from tests.support.commandline import ROOT
from tests.support.schemas import conforms
from tests.support.searchkeeper.operator_runs import (
    annotate,
    edit_spec,
    new_cluster,
    reconcile_for_ticks,
    reconcile_until,
    reconcile_until_converged,
    set_pod_faults,
    status,
)
from tests.support.searchkeeper.operator_scenarios import UnreachableEnginePorts
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

SLEEP = "searchkeeper.cli.status.time.sleep"


def stalled_upgrade(**upgrade: object) -> FakeCluster:
    """The sample, stalled in an upgrade to a version whose image cannot be pulled."""
    cluster = edit_spec(sample(), upgrade={"rollback": "Manual", **upgrade})
    reconcile_until_converged(cluster, NEWEST)
    edit_spec(set_pod_faults(cluster, v3_4_0=PodFault.IMAGE), version=NEW)
    return reconcile_until(cluster, lambda it: status(it).get("phase") == "Stalled", NEWEST)


def cluster_after_rollback() -> FakeCluster:
    return reconcile_for_ticks(annotate(stalled_upgrade(), rollback=OLD), ticks=40)


def test_status_has_upgrade_steps_and_point_of_no_return() -> None:
    [cluster] = invoke_json("status", "--embedded", "--upgrade")["clusters"]

    states = [step["state"] for step in cluster["upgrade"]["steps"]]
    assert states == ["done", "next", *["waiting"] * 6]
    assert cluster["upgrade"]["rollback"].startswith("possible to 2.19.4 until")
    assert cluster["phase"] == "Upgrading"


def test_one_cluster_is_described_and_several_are_listed() -> None:
    two = f"{VALID}---\n{VALID.replace('name: logs', 'name: shop')}"
    described = invoke("status", "-f", "-", stdin=VALID).stdout
    listed = invoke("status", "-f", "-", stdin=two).stdout
    wide = invoke("status", "-f", "-", "-o", "wide", stdin=VALID).stdout

    assert described.startswith("Name:           logs\nNamespace:      default\nPhase:          Pending\n")
    assert "\nConditions:\n  Type " in described
    assert [line.split()[:2] for line in listed.splitlines()] == [
        ["NAMESPACE", "NAME"],
        ["default", "logs"],
        ["default", "shop"],
    ]
    assert "CONFIGURATION" not in listed
    assert "CONFIGURATION" in wide.splitlines()[0]


def with_summary(description: ClusterDescription) -> ClusterDescription:
    return replace(
        description,
        conditions=(
            ConditionSummary("Ready", "True", "AllNodesReady", "7 of 7 nodes are ready"),
            ConditionSummary("Progressing", "False", "NoUpgrade", ""),
            ConditionSummary("Degraded", "False", "Healthy", ""),
        ),
    )


def test_summary_conditions_come_before_actions() -> None:
    text = "\n".join(_describe_text(with_summary(describe_sample(cluster_to_sample(), newest())), None))

    lines = text.partition("Conditions:\n")[2].splitlines()
    assert [line.split()[0] for line in lines[:5]] == [
        "Type",
        "Ready",
        "Progressing",
        "Degraded",
        "UpgradeStarted",
    ]


def cluster_to_sample() -> FakeCluster:
    return edit_spec(sample(), version=NEW)


def test_summary_conditions_are_in_json() -> None:
    data = status_data(with_summary(describe_sample(sample(), newest())))

    assert [each["type"] for each in data["conditions"]] == ["Ready", "Progressing", "Degraded"]
    conforms("searchkeeper-status", {"version": 2, "clusters": [data]})


def test_yaml_equals_json() -> None:
    text = invoke("status", "--embedded", "-o", "yaml").output
    assert yaml.safe_load(text) == invoke_json("status", "--embedded")


def test_status_reads_list_that_kubectl_prints() -> None:
    objects = list(cluster_to_upgrade().state.cluster.objects.values())
    text = yaml.safe_dump(json.loads(json.dumps({"kind": "List", "items": objects})))

    assert invoke_json("status", "-f", "-", stdin=text)["clusters"][0]["ready"] == "5/5"


def test_stalled_cluster_is_exit_code_1() -> None:
    text = manifests_of(cluster_to_upgrade()).replace("phase: Running\n", "phase: Stalled\n")

    assert invoke("status", "-f", "-", stdin=text).exit_code == 1


def test_page_shows_stalled_upgrade_as_printed(invoke_on: InvokeOn) -> None:
    result = invoke_on(stalled_upgrade(), "status", "--upgrade")

    page = (ROOT / "docs/operator/using.md").read_text(encoding="utf-8")
    assert result.exit_code == 1
    assert result.output in page


@pytest.mark.exhaustive
def test_abandoned_version_is_shown_as_not_started(invoke_on: InvokeOn) -> None:
    result = invoke_on(cluster_after_rollback(), "status", "--upgrade")

    assert f"{OLD} → {NEW} not started" in result.output
    assert "change the spec to try again" in result.output
    assert "RolledBack at" in result.output
    assert "Rollback:" not in result.output


def test_rollback_is_shown_in_its_direction(invoke_on: InvokeOn) -> None:
    cluster = annotate(stalled_upgrade(), rollback=OLD)
    reconcile_until(cluster, lambda it: status(it).get("phase") == "RollingBack", NEWEST)

    assert f"RollingBack, {NEW} → {OLD}, " in invoke_on(cluster, "status", "--upgrade").output


def test_headline_is_the_cause_and_not_its_effect(invoke_on: InvokeOn) -> None:
    cluster = new_cluster(dashboards={"enabled": True})
    reconcile_for_ticks(cluster, UnreachableEnginePorts(cluster), NEWEST, ticks=30)

    result = invoke_on(cluster, "status", "-o", "wide", is_unreachable=True)

    assert result.output.splitlines()[1].endswith("timed out")


def test_status_without_reachable_engine_shows_stored_conditions(invoke_on: InvokeOn) -> None:
    result = invoke_on(sample(), "status", "-o", "wide", is_remote=True)

    assert result.exit_code == 0
    assert result.stdout.splitlines()[1].split()[-1] == "-"
    assert "conditions are those that the operator stored" in result.stderr
    assert "kubectl port-forward -n search service/logs 9200" in result.stderr


def fail_on_sleep(_: float) -> None:
    pytest.fail("status watches")


@pytest.mark.exhaustive
def test_watch_ends_at_once_for_abandoned_version(
    invoke_on: InvokeOn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SLEEP, fail_on_sleep)

    assert invoke_on(cluster_after_rollback(), "status", "--watch").exit_code == 0


def test_watch_ends_at_once_for_refused_version(invoke_on: InvokeOn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SLEEP, fail_on_sleep)

    assert invoke_on(new_cluster(version="9.0.0"), "status", "--watch").exit_code == 1


def test_watch_ends_when_upgrade_is_finished(invoke_on: InvokeOn, monkeypatch: pytest.MonkeyPatch) -> None:
    intervals: list[float] = []
    cluster = cluster_to_upgrade()

    def sleep(seconds: float) -> None:
        intervals.append(seconds)
        reconcile_until_converged(cluster, NEWEST)

    monkeypatch.setattr(SLEEP, sleep)
    result = invoke_on(cluster, "status", "--upgrade", "--watch")

    assert result.exit_code == 0
    assert len(intervals) == 1
    assert "Running, every node runs 3.4.0" in result.output
    assert "2.19.4 → 3.4.0: Finished at" in result.output


@pytest.mark.exhaustive
def test_watch_shows_last_step_done(invoke_on: InvokeOn, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = edit_spec(sample(), version=NEW)
    reconcile_until(cluster, lambda it: status(it).get("engineVersion") == NEW, NEWEST)
    monkeypatch.setattr(SLEEP, lambda _: reconcile_for_ticks(cluster, ticks=1))

    result = invoke_on(cluster, "status", "--upgrade", "--watch")

    *_, before, last = result.output.split("SearchCluster ")
    assert "is not available" in before
    assert last.startswith(f"search/logs: Running, every node runs {NEW}, 7/7 ready\n")
    assert last.splitlines()[1].startswith(f"  {OLD} → {NEW}: Finished at")


class FlakySource:
    """A source whose API server fails for a number of requests after the first one."""

    def __init__(self, cluster: FakeCluster, failures: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self._failures, self._cluster, self._requests = failures, cluster, 0
        self._source = fake_cluster_source(cluster, newest())
        self.clusters = self._source.clusters
        monkeypatch.setattr("searchkeeper.cli.status.open_source", lambda **_: self)
        monkeypatch.setattr(SLEEP, lambda _: None)

    def describe_status(self, key: Key) -> ClusterDescription:
        self._requests += 1
        if self._requests > 1 and self._failures:
            self._failures -= 1
            raise ApiServerUnreachable("500 timeout")
        if self._requests > 1:
            reconcile_until_converged(self._cluster, NEWEST)
        return self._source.describe_status(key)


def test_watch_retries_failed_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    FlakySource(cluster_to_upgrade(), 5, monkeypatch)
    result = invoke("status", "--watch")

    assert result.exit_code == 0
    assert result.stderr == "note: 500 timeout; retrying\n" * 5


def test_watch_ends_after_six_failed_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    FlakySource(cluster_to_upgrade(), 6, monkeypatch)
    result = invoke("status", "--watch")

    assert result.exit_code == 4
    assert result.stderr.endswith("error: 500 timeout\n")
