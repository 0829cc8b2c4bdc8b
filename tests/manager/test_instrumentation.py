"""What an operator tells: a line for each answer that changed and each write, figures, and no more."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from operators_at_work import CLUSTER, asked_for, edited, settled, status, with_faults, worked, worked_until
from searchkeeper.manager.instrumentation import InstrumentedApi, InstrumentedEngine
from searchkeeper.manager.logging import Log, configure_logging
from searchkeeper.manager.metrics import Metrics
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import newest
from searchkeeper.testing.demo import sample_cluster
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault

PASSWORD = "c3dvcmRmaXNo"


@pytest.fixture
def heard() -> Iterator[io.StringIO]:
    """Everything that is logged; whoever logged before gets their handlers back."""
    root, stream = logging.getLogger(), io.StringIO()
    before, level = root.handlers[:], root.level
    configure_logging(stream)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)


def lines(heard: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in heard.getvalue().splitlines()]


def told(cycles: int, **spec: Any) -> Metrics:
    world, metrics = asked_for(**spec), Metrics()
    metadata, data = {"name": "admin", "namespace": "search"}, {"username": "cm9vdA==", "password": PASSWORD}
    world.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
    telling = InstrumentedApi(world, Log(), metrics, "search/logs")
    driver = InstrumentedEngine(world, telling)
    while telling.cycle < cycles:
        telling.begin()
        if not reconcile(telling, driver, CLUSTER, newest(), world.state.now).wrote:
            world.tick()
        if telling.cycle == cycles // 2:
            edited(world, version="3.4.0")
    return metrics


def test_the_sequence_of_actions_can_be_read(heard: io.StringIO) -> None:
    told(120)

    found = lines(heard)
    roll = [each["reason"] for each in found if each.get("action") == "PodsCurrent"]
    start = roll.index("HoldingShards")
    assert roll[start : start + 4] == ["HoldingShards", "Flushing", "ReplacingPod", "PodsComeBack"]
    deletes = [each["resource"] for each in found if each.get("write") == "delete"]
    assert deletes[:2] == ["Pod logs-data-0", "Pod logs-data-1"]
    assert {each["cluster"] for each in found} == {"search/logs"}
    assert [each["cycle"] for each in found] == sorted(each["cycle"] for each in found)


def test_the_same_answer_is_not_told_twice(heard: io.StringIO) -> None:
    told(30)

    answers = [(each["resource"], each["action"]) for each in lines(heard) if "action" in each]
    found = [(each["status"], each["reason"]) for each in lines(heard) if "action" in each]
    last: dict[Any, Any] = {}
    for place, answer in zip(answers, found, strict=True):
        assert last.get(place) != answer
        last[place] = answer
    assert "PrerequisiteNotMet" not in {reason for _, reason in found}


def test_no_line_has_anything_of_the_credentials_in_it(heard: io.StringIO) -> None:
    told(60, security={"credentialsSecret": "admin"})

    assert "Secret logs-credentials" in {each["resource"] for each in lines(heard) if "write" in each}
    assert PASSWORD not in heard.getvalue()
    assert "swordfish" not in heard.getvalue()


def test_an_action_that_fails_for_long_is_counted_among_the_stalls(heard: io.StringIO) -> None:
    metrics = Metrics()
    broken = {"type": "PoolsApplied", "status": "Unknown", "reason": "Error"}
    for words in ("ValueError: no number", "stalled: ValueError: no number"):
        telling = InstrumentedApi(asked_for(), Log(), metrics, "search/logs")
        telling.hear(CLUSTER, {"conditions": [{**broken, "message": words}]})
        telling.measure()

    assert metrics.value("searchkeeper_stalls", cluster="search/logs") == 1
    assert lines(heard)[0]["message"] == "ValueError: no number"


def looked_at(world: FakeCluster, metrics: Metrics) -> InstrumentedApi:
    """One cycle of an operator that has just begun to lead."""
    telling = InstrumentedApi(world, Log(), metrics, "search/logs")
    telling.begin()
    reconcile(telling, InstrumentedEngine(world, telling), CLUSTER, newest(), world.state.now)
    telling.measure()
    return telling


def test_whoever_has_just_begun_has_all_figures_without_a_write() -> None:
    world = edited(
        sample_cluster(newest(), "2.19.4"), upgrade={"rollback": "Off", "healthDeadlineSeconds": 30}
    )
    settled(world, newest().version)
    edited(with_faults(world, v3_4_0=PodFault.IMAGE), version="3.4.0")
    worked_until(world, newest().version, lambda it: status(it).get("phase") == "Stalled")
    worked(world, newest().version, ticks=3)
    metrics = Metrics()
    looked_at(world, metrics)

    assert metrics.value("searchkeeper_writes_total") == 0
    assert metrics.value("searchkeeper_phase", phase="Stalled") == 1
    assert metrics.value("searchkeeper_stalls") > 0
    assert metrics.value("searchkeeper_waits", resource="SearchCluster logs") > 0
    assert 0 < metrics.value("searchkeeper_upgrade_progress") < 1


def test_figures_are_of_the_pools_that_there_are_and_of_no_other_cluster() -> None:
    world, metrics = asked_for(), Metrics()
    settled(world, newest().version)
    found = world.get(CLUSTER)
    assert found is not None
    world.create({**found, "metadata": {"name": "shop", "namespace": "search"}, "status": {}})
    worked(world, newest().version, ticks=1)
    metrics.set("searchkeeper_waits", 2, cluster="search/logs", resource="SearchPool logs-gone")
    metrics.set("searchkeeper_waits", 2, cluster="search/shop", resource="SearchPool shop-data")
    looked_at(world, metrics)

    names = set(re.findall(r'searchkeeper_waits{cluster="search/logs",resource="(.+?)"}', metrics.text()))
    assert names == {"SearchCluster logs", "SearchPool logs-data", "SearchPool logs-managers"}
    assert metrics.value("searchkeeper_waits", cluster="search/shop") == 2


def test_nodes_that_have_left_do_not_count_for_how_far_an_upgrade_is() -> None:
    world, metrics = asked_for(), Metrics()
    settled(world, newest().version)
    telling = looked_at(world, metrics)
    telling._seen.nodes["logs-data-9"] = "1.3.0"
    edited(world, version="3.4.0")
    settled(world, newest().version)
    for _ in range(2):
        telling.begin()
        reconcile(telling, InstrumentedEngine(world, telling), CLUSTER, newest(), world.state.now)
        telling.measure()

    assert set(telling._seen.nodes.values()) == {"3.4.0"}


def test_a_cycle_beats_with_every_request() -> None:
    world, beats = asked_for(), list[str]()
    telling = InstrumentedApi(world, Log(), Metrics(), "search/logs", lambda: beats.append("alive"))
    telling.begin()
    before = len(beats)
    reconcile(telling, InstrumentedEngine(world, telling), CLUSTER, newest(), world.state.now)

    assert before == 1
    assert len(beats) > 10


def test_writes_are_counted_by_kind(heard: io.StringIO) -> None:
    metrics = told(40)

    operations = [each for each in lines(heard) if each.get("write") == "create"]
    assert metrics.value("searchkeeper_writes_total", write="create") == len(operations)
    assert metrics.value("searchkeeper_writes_total", write="create", kind="SearchPool") == 2


def test_an_error_is_one_line_with_its_trace(heard: io.StringIO) -> None:
    try:
        raise ValueError("out of\nthe blue")
    except ValueError:
        Log(cluster="search/logs").error("a fault", trace=True)

    [line] = lines(heard)
    assert (line["level"], line["message"], line["cluster"]) == ("error", "a fault", "search/logs")
    assert "ValueError" in line["error"]


def test_libraries_are_heard_only_when_something_is_wrong(heard: io.StringIO) -> None:
    logging.getLogger("kopf.something").info("fine")
    logging.getLogger("kopf.something").warning("not fine")

    assert [(each["logger"], each["message"]) for each in lines(heard)] == [("kopf.something", "not fine")]


def test_a_phase_is_one_at_a_time() -> None:
    metrics = Metrics()
    metrics.set_only("searchkeeper_phase", 1, "phase", "Running", cluster="a")
    metrics.set_only("searchkeeper_phase", 1, "phase", "Running", cluster="b")
    metrics.set_only("searchkeeper_phase", 1, "phase", "Upgrading", cluster="a")

    assert metrics.value("searchkeeper_phase", cluster="a") == 1
    assert metrics.value("searchkeeper_phase", phase="Running") == 1


def test_of_a_cluster_that_is_gone_only_counters_stay() -> None:
    metrics = Metrics()
    metrics.set("searchkeeper_waits", 2, cluster="a", resource="x")
    metrics.add("searchkeeper_cycles_total", cluster="a")
    metrics.forget(cluster="a")

    assert metrics.value("searchkeeper_waits") == 0
    assert metrics.value("searchkeeper_cycles_total") == 1
