"""What `status` and `plan` say when something is in the way, and what a page shows of it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from commandline import ROOT
from operators_at_work import (
    CLUSTER,
    annotated,
    asked_for,
    edited,
    settled,
    status,
    with_faults,
    worked,
    worked_until,
)
from schemas import conforms
from searchkeeper.cli.app import cli
from searchkeeper.cli.sources import of_world
from searchkeeper.releases import newest
from searchkeeper.testing.demo import sample_cluster
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.upgrade.ledger import UPGRADED_NODES
from tales import Silent, at_work

OLD, NEW = "2.19.4", "3.4.0"
NEWEST = newest().version
Told = Callable[..., Result]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """A command, asked of a world in memory; from `outside` only we cannot reach its engine."""

    def ask(world: FakeCluster, *arguments: str, silent: bool = False, outside: bool = False) -> Result:
        source = of_world(world, newest())
        if silent or outside:
            source = replace(source, driver=lambda _: Silent(world), is_outside=outside)
        for command in ("plan", "status", "versions"):
            monkeypatch.setattr(f"searchkeeper.cli.{command}.sources", lambda **_: source)
        return CliRunner().invoke(cli, arguments)

    return ask


def stalled(**upgrade: object) -> FakeCluster:
    """The sample, upgraded to a version whose image nobody can pull."""
    world = edited(sample_cluster(newest(), OLD), upgrade={"rollback": "Manual", **upgrade})
    settled(world, NEWEST)
    edited(with_faults(world, v3_4_0=PodFault.IMAGE), version=NEW)
    return worked_until(world, NEWEST, lambda it: status(it).get("phase") == "Stalled")


def given_up() -> FakeCluster:
    return worked(annotated(stalled(), rollback=OLD), NEWEST)


def test_a_stall_looks_as_the_page_shows_it(told: Told) -> None:
    answer = told(stalled(), "status", "--upgrade")

    page = (ROOT / "docs/operator/using.md").read_text(encoding="utf-8")
    assert answer.exit_code == 1
    assert answer.output in page


def test_a_version_that_was_given_up_is_said_to_be(told: Told) -> None:
    answer = told(given_up(), "status", "--upgrade")

    assert f"{OLD} → {NEW} not begun" in answer.output
    assert "change the spec to try again" in answer.output
    assert "RolledBack at" in answer.output
    assert "rollback:" not in answer.output


def test_the_way_back_is_shown_the_way_it_goes(told: Told) -> None:
    world = annotated(stalled(), rollback=OLD)
    worked_until(world, NEWEST, lambda it: status(it).get("phase") == "RollingBack")

    assert f"RollingBack, {NEW} → {OLD}, " in told(world, "status", "--upgrade").output


def test_nobody_watches_for_what_was_given_up(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("searchkeeper.cli.status.time.sleep", lambda _: pytest.fail("it looks again"))

    assert told(given_up(), "status", "--watch").exit_code == 0


def test_nobody_watches_for_what_is_refused(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("searchkeeper.cli.status.time.sleep", lambda _: pytest.fail("it looks again"))

    assert told(asked_for(version="9.0.0"), "status", "--watch").exit_code == 1


def test_whoever_watches_sees_the_last_step_done(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    world = edited(sample_cluster(newest(), OLD), version=NEW)
    worked_until(world, NEWEST, lambda it: status(it).get("engineVersion") == NEW)
    monkeypatch.setattr("searchkeeper.cli.status.time.sleep", lambda _: worked(world, NEWEST, ticks=1))

    answer = told(world, "status", "--upgrade", "--watch")

    *_, before, last = answer.output.split("SearchCluster ")
    assert "not available" in before
    assert last.startswith(f"search/logs: Running, every node runs {NEW}, 7/7 ready\n")
    assert last.splitlines()[1].startswith(f"  {OLD} → {NEW}: Finished at")


@pytest.mark.parametrize("arguments", [("plan",), ("status",), ("status", "--upgrade")])
def test_a_refused_version_is_exit_code_1_and_says_why(told: Told, arguments: tuple[str, ...]) -> None:
    world = worked(edited(sample_cluster(newest(), NEW), version=OLD), NEWEST, ticks=2)

    answer = told(world, *arguments)

    assert answer.exit_code == 1
    assert f"{OLD} is older than {NEW}" in answer.output


def test_what_is_waited_for_is_the_cause_and_not_what_follows_from_it(told: Told) -> None:
    world = asked_for(dashboards={"enabled": True})
    at_work(world, Silent(world), NEWEST)

    answer = told(world, "status", silent=True)

    assert answer.output.splitlines()[1].endswith("timed out")


def test_from_outside_status_says_what_the_operator_said(told: Told) -> None:
    answer = told(sample_cluster(newest(), OLD), "status", outside=True)

    assert answer.exit_code == 0
    assert answer.stdout.splitlines()[1].split()[-1] == "-"
    assert "kubectl port-forward -n search service/logs 9200" in answer.stderr


def test_from_outside_a_plan_says_that_it_lacks_the_engine(told: Told) -> None:
    answer = told(edited(sample_cluster(newest(), OLD), version=NEW), "plan", outside=True)

    assert "does not answer from here; the verdicts are those without it" in answer.stderr
    assert "✗  EngineReachable" in answer.stdout


def paused_halfway() -> FakeCluster:
    world = edited(sample_cluster(newest(), OLD), version=NEW)
    worked_until(world, NEWEST, lambda it: UPGRADED_NODES in status(it)["ledger"])
    return worked(edited(world, upgrade={"paused": True}), NEWEST, ticks=60)


def way_back(world: FakeCluster) -> str:
    found = {each["type"]: each["message"] for each in status(world)["conditions"]}
    return str(found["RollbackPossible"])


def test_from_outside_a_plan_repeats_what_the_operator_said_of_the_way_back(told: Told) -> None:
    world = paused_halfway()
    answer = told(world, "plan", outside=True)

    said = f"not known from here; the operator said: possible to {OLD} until logs-data-1 is replaced"
    assert way_back(world).startswith(f"possible to {OLD} until logs-data-1 is replaced")
    assert f"Rollback: {said}" in answer.stdout
    assert "not possible" not in answer.stdout
    assert "Deadline" not in answer.stdout


def test_an_engine_that_is_silent_to_all_closes_the_way_back(told: Told) -> None:
    answer = told(paused_halfway(), "plan", silent=True)

    assert f"Rollback: not possible to {OLD}: the engine does not answer" in answer.stdout
    assert "Deadline" in answer.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("plan",), 1, "default/logs: Refused, engine not there yet → 9.0.0"),
        (("plan",), 1, "may run nothing  0 of 3 pods on 9.0.0"),
        (("status",), 1, "default/logs  Refused  0/3"),
        (("versions",), 0, "  refused: 9.0.0 is newer than 3.4.0"),
    ],
)
def test_a_version_that_would_be_refused_is_refused_before_it_is_applied(
    arguments: tuple[str, ...], code: int, words: str
) -> None:
    manifest = """
apiVersion: search.everpath.dev/v1alpha1
kind: SearchCluster
metadata: {name: logs}
spec: {version: 9.0.0, pools: [{name: all, roles: [data, cluster_manager], replicas: 3}]}
"""
    answer = CliRunner().invoke(cli, (*arguments, "-f", "-"), input=manifest)

    assert answer.exit_code == code
    assert words in answer.output


@pytest.mark.parametrize("arguments", [("plan",), ("status", "--upgrade")])
def test_where_a_version_is_refused_nobody_waits_for_a_stall(arguments: tuple[str, ...]) -> None:
    sample = (ROOT / "operator/config/samples/searchcluster.yaml").read_text(encoding="utf-8")

    accepted, refused = (
        CliRunner().invoke(cli, (*arguments, "-f", "-"), input=sample.replace("2.19.4", version)).stdout
        for version in (OLD, "9.0.0")
    )

    assert "then it counts as stalled" in accepted
    assert "9.0.0" in refused
    assert "then it counts as stalled" not in refused


def test_of_a_new_cluster_whose_version_is_refused_no_node_is_made() -> None:
    world = worked(asked_for(version="9.0.0"), NEWEST, ticks=5)

    made = {key.kind for key in world.state.cluster.objects} - {"SearchCluster"}
    assert status(world)["phase"] == "Refused"
    assert made == {"ConfigMap", "PodDisruptionBudget", "Secret", "Service"}


@pytest.mark.parametrize(
    ("arguments", "package"),
    [(("status",), "kubernetes.config"), (("plan",), "kubernetes.config"), (("run",), "kopf")],
)
def test_what_is_not_installed_is_told_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "searchkeeper.cli.operate", raising=False)

    answer = CliRunner().invoke(cli, arguments)

    assert answer.exit_code == 2
    assert "pip install '.[operator]' in a clone, or pip install 'everpath[operator]'" in answer.output


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("status", "--embedded", "--watch"), "--watch needs a cluster"),
        (("run", "--to", NEW), "go with --embedded"),
        (("run", "--from", OLD), "go with --embedded"),
        (("run", "--embedded", "-n", "search"), "--namespace is for a cluster, and --embedded has none"),
        (("run", "--embedded", "--once"), "--once is for a cluster"),
        *(
            ((command, *place, "--engine", "http://localhost:9200"), f"--engine is for a cluster, and {name}")
            for command in ("plan", "status", "versions")
            for place, name in (
                (("--embedded",), "--embedded has none"),
                (("-f", "-"), "--filename has none"),
            )
        ),
    ],
)
def test_options_without_a_use_are_refused(arguments: tuple[str, ...], complaint: str) -> None:
    answer = CliRunner().invoke(cli, arguments)

    assert answer.exit_code == 2
    assert complaint in answer.output


def test_a_cluster_that_is_not_there_yet_has_something_to_go(told: Told) -> None:
    sample = ("-f", str(ROOT / "operator/config/samples/searchcluster.yaml"))
    plan, upgrade, versions = (
        CliRunner().invoke(cli, (*command, *sample)).output
        for command in (("plan",), ("status", "--upgrade"), ("versions",))
    )

    assert "None" not in plan
    assert "0 of 4 pods on 2.19.4" in plan
    assert "Pending, 2.19.4 not there yet, 0/7 ready" in upgrade
    assert re.search(r"logs-managers-2 +- +2.19.4", versions)
    assert "9 still to go" in versions


def test_a_spec_that_nobody_can_follow_is_named_beside_the_others(told: Told) -> None:
    world = edited(sample_cluster(newest(), OLD), upgrade={"rollback": "Sometimes"})
    found = asked_for().get(CLUSTER) or {}
    world.create({**found, "metadata": {"name": "shop", "namespace": "search"}})
    flaw = "spec.upgrade.rollback: Sometimes is none of Automatic, Manual, Off"

    for command in ("plan", "status", "versions"):
        answer = told(world, command)
        assert answer.exception is None or isinstance(answer.exception, SystemExit)
        assert f"the spec cannot be followed: {flaw}" in answer.output
        assert "search/shop" in answer.output
        assert answer.exit_code == (0 if command == "versions" else 1)
        conforms(f"searchkeeper-{command}", json.loads(told(world, command, "-o", "json").stdout))


def test_the_release_is_told() -> None:
    assert CliRunner().invoke(cli, ("--version",)).output == f"searchkeeper {NEWEST}\n"
