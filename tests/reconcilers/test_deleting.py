"""What is done for a cluster that is deleted, as single decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from few_pools import manifest, scene, with_objects
from rolls import notes
from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import Delete, EmitEvent, EngineCall, Key, Patch
from searchkeeper.opensearch.calls import Exclude
from searchkeeper.opensearch.view import Unreachable
from searchkeeper.planner import Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.reconcilers.deletion import engine_settings_restored, finalizer_removed, orphans_deleted
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import DELETING, EXCLUDED
from worlds import engine, pod, pool, world

DATA = pool("data", 2)
SET: dict[str, Entry] = {"engine__excluded": ("data-0",)}


def seen(*, is_silent: bool = False, observing_since: int = 0, **differences: Any) -> ClusterSnapshot:
    view = Unreachable("timed out") if is_silent else engine([DATA], excluded=frozenset({"data-0"}))
    return replace(world(DATA, snapshot=view), observing_since=observing_since, **differences)


def tidied(there: ClusterSnapshot, **lines: Any) -> Result:
    return engine_settings_restored.run(scene(there, **lines))


def test_where_nothing_was_set_nothing_is_undone() -> None:
    assert tidied(seen()).is_true


def test_since_when_it_is_undone_is_noted_first() -> None:
    """A moment that is still to come was noted by another clock."""
    assert notes(tidied(seen(), **SET)) == {DELETING: 1000}
    assert notes(tidied(seen(), **SET, deleting=1001)) == {DELETING: 1000}
    assert tidied(seen(), **SET, deleting=1000).operations == (EngineCall(Exclude(frozenset())),)


def test_an_engine_that_never_answers_does_not_hold_the_cluster_for_ever() -> None:
    found = tidied(seen(is_silent=True), **SET, deleting=100)
    [event] = found.operations
    assert isinstance(event, EmitEvent)
    assert notes(found) == {EXCLUDED: None}
    assert tidied(seen(is_silent=True), **SET, deleting=101).reason == "EngineUnreachable"


def test_whoever_has_just_begun_to_look_is_patient() -> None:
    assert tidied(seen(is_silent=True, observing_since=101), **SET, deleting=0).reason == "EngineUnreachable"


def of_pods(*owned: str) -> ClusterSnapshot:
    """Both pods, of which these belong to a StatefulSet."""
    owner = [{"kind": "StatefulSet", "name": "logs-data"}]
    made = [
        manifest("v1", "Pod", each.name, **({"ownerReferences": owner} if each.name in owned else {}))
        for each in DATA.pods
    ]
    return with_objects(seen(), *made)


def test_a_pod_that_belongs_to_nobody_goes_and_no_other() -> None:
    """I8."""
    [write] = orphans_deleted.run(scene(of_pods("data-0"))).operations
    assert write == Delete(Key("v1", "Pod", "search", "data-1"), "uid-data-1", "1")
    assert orphans_deleted.run(scene(of_pods("data-0", "data-1"))).is_true


def test_one_that_goes_already_is_not_sent_away_again() -> None:
    going = replace(DATA, pods=(DATA.pods[0], pod("data-1", is_terminating=True)))
    assert orphans_deleted.run(scene(replace(of_pods("data-0"), pools=(going,)))).is_true


@pytest.mark.parametrize(("metadata", "waits"), [({"deletionTimestamp": "now"}, True), ({}, False)], ids=str)
def test_a_stateful_set_that_lets_its_pods_go_is_waited_for(metadata: dict[str, str], waits: bool) -> None:
    """Who belongs to it now belongs to nobody then."""
    its_set = manifest("apps/v1", "StatefulSet", "logs-data", **metadata)
    found = orphans_deleted.run(scene(with_objects(of_pods("data-0", "data-1"), its_set)))
    assert (found.reason == "Orphaning") is waits
    another = manifest("v1", "Service", "logs", **metadata)
    assert orphans_deleted.run(scene(with_objects(of_pods("data-0", "data-1"), another))).is_true


def test_finalizers_of_others_stay() -> None:
    there = seen()
    held = replace(there, cluster=replace(there.cluster, finalizers=("others", names.FINALIZER)))
    [patch] = finalizer_removed.run(scene(held)).operations
    assert isinstance(patch, Patch)
    assert patch.changes == {"metadata": {"finalizers": ["others"]}}
    assert finalizer_removed.run(scene(there)).is_true
