"""The kopf shell at work: clusters come up, are upgraded, change hands and end."""

from __future__ import annotations

import socket
import threading
import time
import urllib.error
import urllib.request
from dataclasses import replace
from typing import Any

import pytest

from operators_at_work import CLUSTER, asked_for, edited, status
from searchkeeper.executor import DeniedOperation
from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Patch
from searchkeeper.manager.endpoints import serve_endpoints
from searchkeeper.manager.health import Health
from searchkeeper.manager.metrics import Metrics
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.reconcile import ReconcileOutcome
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.api_server import FakeApiServer, expired_line
from searchkeeper.testing.fake_kubernetes.watch_history import Compacted
from shells import SHORT, CutCable, Facing, facing, started, until


def runs(api: FakeApiServer, version: str = "2.19.4") -> bool:
    found = status(api.world)
    return found.get("phase") == "Running" and found.get("engineVersion") == version


def is_done(api: FakeApiServer, version: str) -> bool:
    """Running, and nothing of the upgrade is left in the ledger."""
    return runs(api, version) and "upgrade" not in status(api.world).get("ledger", {})


def upgraded(face: Facing, version: str = "3.4.0") -> None:
    with face.api.alone() as world:
        edited(world, version=version)


def test_a_cluster_that_is_asked_for_comes_up() -> None:
    with facing(asked_for()) as face, started(face) as shell:
        until(face.api, lambda: runs(face.api), what="a running cluster")
        until(face.api, lambda: shell.operator.health.is_ready)

        assert {node.version for node in face.api.world.state.engine.nodes} == {"2.19.4"}
        assert (
            shell.operator.metrics.value("searchkeeper_writes_total", kind="StatefulSet", write="create") == 2
        )
        until(face.api, lambda: shell.operator.metrics.value("searchkeeper_phase", phase="Running") == 1)


def test_nothing_of_kopf_is_left_on_our_resources() -> None:
    with facing(asked_for()) as face, started(face):
        until(face.api, lambda: runs(face.api))

        written = [repr(each) for each in face.api.world.state.cluster.objects.values()]

    assert not [text for text in written if "kopf" in text]


def test_a_cluster_at_rest_is_written_to_by_nobody() -> None:
    with facing(asked_for()) as face, started(face) as shell:
        until(face.api, lambda: runs(face.api) and _converged(shell) > 0)
        operations, converged = _writes(shell), _converged(shell)

        until(face.api, lambda: _converged(shell) >= converged + 3)

        assert _writes(shell) == operations


def _writes(shell: Any) -> float:
    found: float = shell.operator.metrics.value("searchkeeper_writes_total")
    return found


def _converged(shell: Any) -> float:
    found: float = shell.operator.metrics.value("searchkeeper_cycles_total", outcome="converged")
    return found


def test_an_upgrade_goes_through() -> None:
    with facing(asked_for()) as face, started(face) as shell:
        until(face.api, lambda: runs(face.api))
        upgraded(face)
        progress = shell.operator.metrics
        until(face.api, lambda: 0 < progress.value("searchkeeper_upgrade_progress") < 1, what="a half")

        until(face.api, lambda: is_done(face.api, "3.4.0"), what="3.4.0")

        until(face.api, lambda: progress.value("searchkeeper_upgrade_progress") == 1, what="the whole")
        assert {node.version for node in face.api.world.state.engine.nodes} == {"3.4.0"}
        assert face.api.world.state.engine.allocation is None


def test_a_refused_version_is_one_event_and_no_write_to_a_pod() -> None:
    with facing(asked_for()) as face, started(face):
        until(face.api, lambda: runs(face.api))
        pods = _pods(face)
        upgraded(face, "1.3.0")

        until(face.api, lambda: bool(face.kube.list("v1", "Event", "search", {})), what="an event")
        events = face.kube.list("v1", "Event", "search", {})

        assert [(each["reason"], each["type"], each["count"]) for each in events] == [
            ("Downgrade", "Warning", 1)
        ]
        assert _pods(face) == pods


def _pods(face: Facing) -> list[str]:
    return [pod["metadata"]["uid"] for pod in face.kube.list("v1", "Pod", "search", {})]


def test_of_two_operators_only_the_one_with_the_lease_writes() -> None:
    with facing(asked_for()) as face, started(face, "one") as one:
        until(face.api, lambda: one.operator.lease.is_ours)
        with started(face, "two") as two:
            until(face.api, lambda: two.operator.health.is_ready and runs(face.api))
            upgraded(face)
            until(face.api, lambda: is_done(face.api, "3.4.0"))

            assert _writes(one) > 0
            assert _writes(two) == 0


def test_another_operator_takes_over_when_one_ends() -> None:
    with (
        facing(asked_for()) as face,
        started(face, "one", lease=SHORT) as one,
        started(face, "two", lease=SHORT) as two,
    ):
        until(face.api, lambda: one.operator.lease.is_ours or two.operator.lease.is_ours)
        first, second = (one, two) if one.operator.lease.is_ours else (two, one)
        first.stop()

        until(face.api, lambda: (second.operator.lease.epoch or 0) > 0 and runs(face.api))


@pytest.mark.parametrize("operations", [3, 17, 31])
def test_what_a_killed_operator_began_the_next_one_finishes(operations: int) -> None:
    with facing(asked_for()) as face:
        cable = CutCable(face.kube, writes_left=None)
        with started(face, "killed", kube=cable, lease=SHORT):
            until(face.api, lambda: runs(face.api))
            cable.writes_left = len(cable.operations) + operations
            upgraded(face)
            until(face.api, lambda: cable.is_cut, what="the cut")
        assert not is_done(face.api, "3.4.0")

        with started(face, "next", lease=SHORT):
            until(face.api, lambda: is_done(face.api, "3.4.0"), what="3.4.0")

        assert face.api.world.state.engine.allocation is None


def test_an_operator_that_is_stopped_writes_nothing_more_and_gives_the_lease_back() -> None:
    with facing(asked_for()) as face, started(face) as shell:
        until(face.api, lambda: _writes(shell) > 5)
        shell.stop()
        revision = face.api.revision

        lease = face.kube.get(Key("coordination.k8s.io/v1", "Lease", "search", "searchkeeper"))

        assert face.api.revision == revision
        assert lease is not None
        assert lease["spec"]["holderIdentity"] == ""


def is_of_a_cycle(_: str, __: str, ___: str, labels: Any) -> bool:
    """Whether a list is asked for by a cycle, for one cluster; beside them all of our kinds are listed."""
    return bool(labels)


class Hanging:
    """Holds up whoever lists anything for a cycle, until it is let go."""

    def __init__(self, cable: CutCable, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_hung, self.let_go = threading.Event(), threading.Event()
        plain = cable.list

        def hang(*arguments: Any) -> Any:
            found = plain(*arguments)
            if is_of_a_cycle(*arguments):
                self.has_hung.set()
                assert self.let_go.wait(120)
            return found

        monkeypatch.setattr(cable, "list", hang)


def test_who_has_lost_the_lease_in_the_middle_of_a_cycle_writes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with facing(asked_for()) as face:
        cable = CutCable(face.kube)
        hanging = Hanging(cable, monkeypatch)
        with started(face, "asleep", kube=cable, lease=SHORT) as asleep:
            until(face.api, hanging.has_hung.is_set)
            monkeypatch.setattr(asleep.operator.lease, "keep", lambda: False)
            with started(face, "awake", lease=SHORT) as awake:
                until(face.api, lambda: awake.operator.lease.is_ours, what="another leader")
                hanging.let_go.set()
                until(face.api, lambda: _failures(asleep, "NotLeader") > 0, what="a refusal")
                until(face.api, lambda: runs(face.api))
        assert cable.operations == []


def test_who_is_stopped_in_the_middle_of_a_cycle_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with facing(asked_for()) as face:
        cable = CutCable(face.kube)
        hanging = Hanging(cable, monkeypatch)
        with started(face, kube=cable) as shell:
            until(face.api, hanging.has_hung.is_set)
            shell.operator.stop()
            hanging.let_go.set()
        assert cable.operations == []


def _failures(shell: Any, error: str) -> float:
    found: float = shell.operator.metrics.value("searchkeeper_failures_total", error=error)
    return found


def test_a_fault_in_a_cycle_costs_no_other_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    with facing(asked_for()) as face:
        broken = CutCable(face.kube)
        faults = iter([ValueError("out of the blue")] * 3)
        good = broken.list

        def flawed(*args: Any) -> Any:
            fault = next(faults, None) if is_of_a_cycle(*args) else None
            if fault is not None:
                raise fault
            return good(*args)

        monkeypatch.setattr(broken, "list", flawed)
        with started(face, kube=broken) as shell:
            until(face.api, lambda: runs(face.api))

            assert shell.operator.metrics.value("searchkeeper_failures_total", error="ValueError") == 3


@pytest.mark.parametrize(
    ("limit", "is_oscillating"),
    [("_SUSPICIOUS", False), ("OSCILLATION_LIMIT", True)],
    ids=["fought over", "to and fro"],
)
def test_writes_without_an_end_are_slowed_down_and_told(
    limit: str, is_oscillating: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(f"searchkeeper.manager.reconcile_loop.{limit}", 10)
    busy = ReconcileOutcome(wrote=True, converged=False, is_oscillating=is_oscillating)
    monkeypatch.setattr("searchkeeper.manager.manager.reconcile", lambda *_, **__: busy)
    caplog.set_level("WARNING", "searchkeeper")
    with facing(FakeCluster()) as face, started(face) as shell:
        shell.operator.pace = replace(shell.operator.pace, busy=60)
        with face.api.alone() as world:
            world.state = asked_for().state
        until(face.api, lambda: "writes without an end" in caplog.text, what="a warning")

        until(face.api, lambda: shell.operator.metrics.value("searchkeeper_cycles_total") == 10)


class Fitful:
    """An engine that answers every other time, once it has begun to."""

    def __init__(self, engine: EngineClient) -> None:
        self.engine = engine
        self.is_fitful = False
        self.looks = 0

    def get_state(self) -> EngineView | Unreachable:
        self.looks += self.is_fitful
        return Unreachable("timed out") if self.looks % 2 else self.engine.get_state()

    def execute(self, call: Call) -> None:
        self.engine.execute(call)


def test_other_words_in_a_status_are_no_reason_to_hurry() -> None:
    with facing(asked_for()) as face:
        engine = Fitful(face.api)
        with started(face, driver=engine) as shell:
            until(face.api, lambda: runs(face.api))
            shell.operator.pace = replace(shell.operator.pace, busy=60)
            engine.is_fitful = True
            until(face.api, lambda: engine.looks > 0, what="a look")
            time.sleep(2)
            # Others may wake it, too; in haste it would have looked dozens of times.
            assert engine.looks < 5


def test_what_is_refused_is_told_and_asked_for_at_a_slower_and_slower_pace(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    denial = DeniedOperation("DisruptionBudgetsApplied", Delete(CLUSTER, "", ""), Rejected("exceeded quota"))
    denied = ReconcileOutcome(wrote=False, converged=False, denied=(denial,))
    monkeypatch.setattr("searchkeeper.manager.manager.reconcile", lambda *_, **__: denied)
    caplog.set_level("WARNING", "searchkeeper")
    with facing(asked_for()) as face, started(face) as shell:
        shell.operator.pace = replace(shell.operator.pace, least_backoff=0.01, most_backoff=600, resync=60)
        metrics = shell.operator.metrics
        until(face.api, lambda: metrics.value("searchkeeper_failures_total", error="Rejected") > 3)
        time.sleep(2)
        assert metrics.value("searchkeeper_cycles_total", outcome="denied") < 12
        assert "refused: asking again" in caplog.text


def test_what_is_refused_is_told_also_where_something_else_was_written(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The ledger has an event before it is sent: nobody would hear of it any more."""
    denial = DeniedOperation(
        "EventsEmitted", EmitEvent(CLUSTER, "Stalled", "no image"), Rejected("no right to do that")
    )
    outcomes = iter([ReconcileOutcome(wrote=True, converged=False, denied=(denial,))])
    rest = ReconcileOutcome(wrote=False, converged=True)
    monkeypatch.setattr("searchkeeper.manager.manager.reconcile", lambda *_, **__: next(outcomes, rest))
    caplog.set_level("WARNING", "searchkeeper")
    with facing(asked_for()) as face, started(face) as shell:
        metrics = shell.operator.metrics
        until(face.api, lambda: metrics.value("searchkeeper_cycles_total", outcome="converged") > 0)
        assert metrics.value("searchkeeper_failures_total", error="Rejected") == 1
        assert "refused: not told" in caplog.text


def test_a_loop_that_hangs_fails_the_liveness_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    with facing(asked_for()) as face:
        cable = CutCable(face.kube)
        hanging = Hanging(cable, monkeypatch)
        with started(face, kube=cable, lease=SHORT) as shell:
            health = shell.operator.health
            health._too_old = 1.2
            until(face.api, hanging.has_hung.is_set)
            until(face.api, lambda: "search/logs: silent" in str(health.complaints()), what="a complaint")
            hanging.let_go.set()

            until(face.api, lambda: health.is_alive, what="an end of it")


def test_the_endpoint_answers_probes_and_prometheus() -> None:
    now = [0.0]
    health, metrics = Health(too_old=60, clock=lambda: now[0]), Metrics()
    metrics.add("searchkeeper_cycles_total", cluster='search/"logs"', outcome="wrote")
    with serve_endpoints(("127.0.0.1", 0), health, metrics) as url:
        assert _asked(f"{url}/healthz") == (200, "ok\n")
        assert _asked(f"{url}/readyz")[0] == 503
        health.is_watching = True
        assert _asked(f"{url}/readyz") == (200, "ok\n")
        line = 'searchkeeper_cycles_total{cluster="search/\\"logs\\"",outcome="wrote"} 1\n'
        assert line in _asked(f"{url}/metrics")[1]
        assert _asked(f"{url}/else")[0] == 404
        now[0] = 61
        assert _asked(f"{url}/healthz")[0] == 500
        assert _asked(f"{url}/readyz")[0] == 503


def test_the_endpoint_answers_at_an_ipv6_address_too() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("there is no IPv6 here")
    with serve_endpoints(("::1", 0), Health(), Metrics()) as url:
        assert url.startswith("http://[::1]:")
        assert _asked(f"{url}/healthz") == (200, "ok\n")


_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _asked(url: str) -> tuple[int, str]:
    try:
        with _DIRECTLY.open(url, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_a_deleted_cluster_ends_its_loop() -> None:
    with facing(asked_for()) as face, started(face) as shell:
        until(face.api, lambda: runs(face.api))
        with face.api.alone() as world:
            found = world.get(CLUSTER)
            assert found is not None
            world.patch(_without_finalizers(found))
            world.delete(_deletion(found))

        until(face.api, lambda: not shell.operator._loops, what="the end of the loop")
        until(face.api, lambda: shell.operator.metrics.value("searchkeeper_phase") == 0)


def _without_finalizers(found: Any) -> Any:
    return Patch(Key.of(found), {"metadata": {"finalizers": None}}, "")


def _deletion(found: Any) -> Any:
    return Delete(Key.of(found), found["metadata"]["uid"], "")


def test_olm_is_told_to_wait_while_a_pod_is_away() -> None:
    key = Key("operators.coreos.com/v2", "OperatorCondition", "search", "searchkeeper")
    with facing(asked_for()) as face, started(face, operator_condition=key):
        metadata = {"name": key.name, "namespace": key.namespace}
        face.kube.create({"apiVersion": key.api, "kind": key.kind, "metadata": metadata, "spec": {}})
        until(face.api, lambda: runs(face.api))
        upgraded(face)

        until(face.api, lambda: _upgradeable(face, key) == "False", what="a hold")
        until(face.api, lambda: is_done(face.api, "3.4.0") and _upgradeable(face, key) == "True")


def _upgradeable(face: Facing, key: Key) -> str | None:
    found = (face.kube.get(key) or {})["spec"].get("conditions") or ()
    return next((each["status"] for each in found if each["type"] == "Upgradeable"), None)


def test_a_watch_that_is_too_old_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is so short that watches fall behind it; nothing else wakes a cluster at rest."""
    told: list[bytes] = []

    def too_old(error: Compacted) -> bytes:
        told.append(expired_line(error))
        return told[-1]

    monkeypatch.setattr("searchkeeper.testing.fake_kubernetes.http_server.expired_line", too_old)
    with facing(asked_for(), remembers=3) as face, started(face) as shell:
        shell.operator.pace = replace(shell.operator.pace, resync=3600)
        until(face.api, lambda: runs(face.api) and _converged(shell) > 0)
        upgraded(face)
        until(face.api, lambda: is_done(face.api, "3.4.0"), what="3.4.0")
    assert told
