"""What a disruption budget counts, and what an eviction makes of it."""

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
from stateful_sets import DATA, run, running, stateful_set

BUDGET = Key("policy/v1", "PodDisruptionBudget", "search", "budget")
IN_DATA = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["data", "hot"]}]}


def budget(name: str = "budget", **spec: Any) -> Manifest:
    plain = {"maxUnavailable": 1, "selector": {"matchLabels": {"pool": "data"}}}
    metadata = {"name": name, "namespace": "search"}
    return {"apiVersion": BUDGET.api, "kind": BUDGET.kind, "metadata": metadata, "spec": {**plain, **spec}}


def under(*budgets: Manifest, faults: dict[str, PodFault] | None = None, **spec: Any) -> ObjectStore:
    """Three pods that run, with budgets over them."""
    cluster = running(stateful_set(**spec))
    for each in budgets:
        cluster, _ = create(cluster, each, now=0)
    return run(cluster, faults)


def status(cluster: ObjectStore) -> Manifest:
    return dict(run_until_stable(cluster, now=0).objects[BUDGET]["status"])


def pod(ordinal: int) -> Key:
    return Key("v1", "Pod", "search", f"data-{ordinal}")


def evicted(cluster: ObjectStore, *ordinals: int) -> ObjectStore:
    for ordinal in ordinals:
        cluster = evict(cluster, pod(ordinal), now=0)
    return cluster


def test_one_may_go_and_the_next_when_it_is_back() -> None:
    cluster = evicted(under(budget()), 0)
    with pytest.raises(Unavailable, match="budget allows no disruption of data-1"):
        evicted(cluster, 1)
    assert is_terminating(evicted(run(cluster), 1).objects[pod(1)])


def test_a_pod_that_is_missing_is_away() -> None:
    """Not the pods that there are count, but those that their controller wants."""
    cluster = under(budget(), podManagementPolicy="OrderedReady")
    cluster = run(evicted(cluster, 0), {"data-0": PodFault.PENDING})
    assert status(cluster)["expectedPods"] == 3
    assert status(cluster)["disruptionsAllowed"] == 0


def test_pods_without_a_controller_are_healthy_but_not_wanted() -> None:
    """So that others could go in their place, unless they are counted by whoever made the budget."""
    two = stateful_set(labels={"pool": "hot"}, replicas=1)
    two = merge_patched(two, {"metadata": {"name": "hot"}})
    cluster = run(create(under(budget(selector=IN_DATA)), two, now=0)[0])
    hot = Key(DATA.api, DATA.kind, "search", "hot")
    cluster = run_until_stable(delete(cluster, Delete(hot, "", "", orphan=True), now=0), now=0)
    assert {name: status(cluster)[name] for name in ("expectedPods", "currentHealthy")} == {
        "expectedPods": 3,
        "currentHealthy": 4,
    }
    assert status(cluster)["disruptionsAllowed"] == 2
    counted = merge_patched(cluster.objects[BUDGET], {"spec": {"maxUnavailable": None, "minAvailable": 3}})
    assert status(replace_object(cluster, counted)[0])["disruptionsAllowed"] == 1


def test_where_no_pod_has_a_controller_none_may_go() -> None:
    cluster = run_until_stable(delete(under(budget()), Delete(DATA, "", "", orphan=True), now=0), now=0)
    assert status(cluster)["disruptionsAllowed"] == 0


def test_a_pod_under_two_budgets_is_never_evicted() -> None:
    with pytest.raises(Unavailable, match="data-0 has 2 disruption budgets"):
        evicted(under(budget(), budget("other", selector=IN_DATA)), 0)


def test_a_budget_over_other_pods_does_not_count() -> None:
    other = budget("other", selector={"matchLabels": {"pool": "other"}})
    assert is_terminating(evicted(under(budget(), other), 0).objects[pod(0)])


def test_after_a_change_nobody_goes_before_it_is_counted_again() -> None:
    cluster, _ = replace_object(under(budget()), budget(maxUnavailable=2))
    with pytest.raises(Unavailable, match="allows no disruption"):
        evicted(cluster, 0)
    assert len([o for o in evicted(run(cluster), 0, 1).objects.values() if is_terminating(o)]) == 2


def test_a_pod_that_has_not_started_is_nobodys_loss() -> None:
    cluster = run(evicted(under(budget()), 0), {"data-0": PodFault.PENDING})
    assert is_terminating(evicted(cluster, 0).objects[pod(0)])


BROKEN = {f"data-{n}": PodFault.CRASH for n in range(2)}


def test_of_too_many_broken_pods_none_is_evicted() -> None:
    with pytest.raises(Unavailable, match="allows no disruption"):
        evicted(under(budget(), faults=BROKEN), 0)


def test_unless_the_budget_says_that_they_may_always_go() -> None:
    always = budget(unhealthyPodEvictionPolicy="AlwaysAllow")
    assert is_terminating(evicted(under(always, faults=BROKEN), 0, 1).objects[pod(1)])


def test_a_broken_pod_among_enough_healthy_ones_may_go() -> None:
    broken = under(budget(), faults={"data-0": PodFault.CRASH})
    assert is_terminating(evicted(broken, 0).objects[pod(0)])


def asks(operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "pool", "operator": operator, "values": [*values]}]}


SELECTORS: dict[str, tuple[dict[str, Any] | None, list[str | None]]] = {
    "In": (asks("In", "data", "hot"), ["data"]),
    "NotIn, also without the label": (asks("NotIn", "data", "hot"), ["edge", None]),
    "Exists": (asks("Exists"), ["data", "edge"]),
    "DoesNotExist": (asks("DoesNotExist"), [None]),
    "both have to hold": ({"matchLabels": {"pool": "edge"}, **asks("In", "data")}, []),
    "nothing is asked": ({}, []),
    "there is none": (None, []),
}


def labelled(pool: str | None) -> Manifest:
    return {"metadata": {"labels": {} if pool is None else {"pool": pool}}}


@pytest.mark.parametrize("case", SELECTORS.values(), ids=SELECTORS)
def test_a_selector_is_of_those_for_whom_all_of_it_holds(
    case: tuple[dict[str, Any] | None, list[str | None]],
) -> None:
    selector, chosen = case
    assert [pool for pool in ("data", "edge", None) if selects(selector, labelled(pool))] == chosen
