"""PodDisruptionBudgets: how they count, and when they allow an eviction."""

from __future__ import annotations

from typing import Any

import pytest

from searchkeeper.kubernetes.api import Unavailable
from searchkeeper.kubernetes.operations import Delete, Key, Manifest
from searchkeeper.testing.fake_kubernetes.controllers import run_until_stable
from searchkeeper.testing.fake_kubernetes.disruption_budgets import evict
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_kubernetes.manifests import is_terminating, merge_patched, selects
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore, create, delete, replace_object
from tests.support.searchkeeper.stateful_sets import DATA, cluster_with, run, stateful_set

BUDGET = Key("policy/v1", "PodDisruptionBudget", "search", "budget")
IN_DATA = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["data", "hot"]}]}


def budget(name: str = "budget", **spec: Any) -> Manifest:
    plain = {"maxUnavailable": 1, "selector": {"matchLabels": {"pool": "data"}}}
    metadata = {"name": name, "namespace": "search"}
    return {"apiVersion": BUDGET.api, "kind": BUDGET.kind, "metadata": metadata, "spec": {**plain, **spec}}


def with_budgets(*budgets: Manifest, faults: dict[str, PodFault] | None = None, **spec: Any) -> ObjectStore:
    """Three running pods with budgets."""
    cluster = cluster_with(stateful_set(**spec))
    for each in budgets:
        cluster, _ = create(cluster, each, now=0)
    return run(cluster, faults)


def status(cluster: ObjectStore) -> Manifest:
    return dict(run_until_stable(cluster, now=0).objects[BUDGET]["status"])


def pod(ordinal: int) -> Key:
    return Key("v1", "Pod", "search", f"data-{ordinal}")


def evict_pods(cluster: ObjectStore, *ordinals: int) -> ObjectStore:
    for ordinal in ordinals:
        cluster = evict(cluster, pod(ordinal), now=0)
    return cluster


def test_second_eviction_waits_for_the_first_pod_to_be_ready() -> None:
    cluster = evict_pods(with_budgets(budget()), 0)
    with pytest.raises(Unavailable, match="budget allows no disruption of data-1"):
        evict_pods(cluster, 1)
    assert is_terminating(evict_pods(run(cluster), 1).objects[pod(1)])


def test_missing_pod_counts_as_unavailable() -> None:
    """The budget counts the replicas of the controller, not the existing pods."""
    cluster = with_budgets(budget(), podManagementPolicy="OrderedReady")
    cluster = run(evict_pods(cluster, 0), {"data-0": PodFault.PENDING})
    assert status(cluster)["expectedPods"] == 3
    assert status(cluster)["disruptionsAllowed"] == 0


def test_pod_without_controller_is_healthy_but_not_expected() -> None:
    """So `maxUnavailable` allows one eviction too many; `minAvailable` does not."""
    two = stateful_set(labels={"pool": "hot"}, replicas=1)
    two = merge_patched(two, {"metadata": {"name": "hot"}})
    cluster = run(create(with_budgets(budget(selector=IN_DATA)), two, now=0)[0])
    hot = Key(DATA.api, DATA.kind, "search", "hot")
    cluster = run_until_stable(delete(cluster, Delete(hot, "", "", orphan=True), now=0), now=0)
    assert {name: status(cluster)[name] for name in ("expectedPods", "currentHealthy")} == {
        "expectedPods": 3,
        "currentHealthy": 4,
    }
    assert status(cluster)["disruptionsAllowed"] == 2
    counted = merge_patched(cluster.objects[BUDGET], {"spec": {"maxUnavailable": None, "minAvailable": 3}})
    assert status(replace_object(cluster, counted)[0])["disruptionsAllowed"] == 1


def test_no_disruption_is_allowed_without_any_controller() -> None:
    cluster = run_until_stable(
        delete(with_budgets(budget()), Delete(DATA, "", "", orphan=True), now=0), now=0
    )
    assert status(cluster)["disruptionsAllowed"] == 0


def test_pod_under_two_budgets_is_never_evicted() -> None:
    with pytest.raises(Unavailable, match="data-0 has 2 disruption budgets"):
        evict_pods(with_budgets(budget(), budget("other", selector=IN_DATA)), 0)


def test_budget_of_other_pods_is_ignored() -> None:
    other = budget("other", selector={"matchLabels": {"pool": "other"}})
    assert is_terminating(evict_pods(with_budgets(budget(), other), 0).objects[pod(0)])


def test_changed_budget_allows_nothing_before_it_is_observed() -> None:
    cluster, _ = replace_object(with_budgets(budget()), budget(maxUnavailable=2))
    with pytest.raises(Unavailable, match="allows no disruption"):
        evict_pods(cluster, 0)
    assert len([o for o in evict_pods(run(cluster), 0, 1).objects.values() if is_terminating(o)]) == 2


def test_pending_pod_is_evicted_without_budget() -> None:
    cluster = run(evict_pods(with_budgets(budget()), 0), {"data-0": PodFault.PENDING})
    assert is_terminating(evict_pods(cluster, 0).objects[pod(0)])


BROKEN = {f"data-{n}": PodFault.CRASH for n in range(2)}


def test_unready_pod_is_not_evicted_while_too_few_are_healthy() -> None:
    with pytest.raises(Unavailable, match="allows no disruption"):
        evict_pods(with_budgets(budget(), faults=BROKEN), 0)


def test_always_allow_evicts_unready_pods() -> None:
    always = budget(unhealthyPodEvictionPolicy="AlwaysAllow")
    assert is_terminating(evict_pods(with_budgets(always, faults=BROKEN), 0, 1).objects[pod(1)])


def test_unready_pod_is_evicted_while_enough_are_healthy() -> None:
    broken = with_budgets(budget(), faults={"data-0": PodFault.CRASH})
    assert is_terminating(evict_pods(broken, 0).objects[pod(0)])


def expression(operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "pool", "operator": operator, "values": [*values]}]}


SELECTORS: dict[str, tuple[dict[str, Any] | None, list[str | None]]] = {
    "In": (expression("In", "data", "hot"), ["data"]),
    "NotIn, also without the label": (expression("NotIn", "data", "hot"), ["edge", None]),
    "Exists": (expression("Exists"), ["data", "edge"]),
    "DoesNotExist": (expression("DoesNotExist"), [None]),
    "labels and expressions both have to match": (
        {"matchLabels": {"pool": "edge"}, **expression("In", "data")},
        [],
    ),
    "empty": ({}, []),
    "missing": (None, []),
}


def pod_with_label(pool: str | None) -> Manifest:
    return {"metadata": {"labels": {} if pool is None else {"pool": pool}}}


@pytest.mark.parametrize("case", SELECTORS.values(), ids=SELECTORS)
def test_selector_matches_when_every_part_matches(
    case: tuple[dict[str, Any] | None, list[str | None]],
) -> None:
    selector, matching = case
    assert [pool for pool in ("data", "edge", None) if selects(selector, pod_with_label(pool))] == matching
