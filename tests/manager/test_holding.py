"""What OLM is told, and when that is news, as single decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from few_pools import manifest, with_objects
from searchkeeper.api.codec import format_timestamp
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.operator_condition import (
    OPERATOR_CONDITION,
    UPGRADE_BLOCKERS,
    upgrade_blocker,
    upgradeable_patch,
)
from searchkeeper.planner import Ledger
from searchkeeper.planner.denied_operations import denied_entry
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import REPLACED_PODS
from worlds import pool, world

DATA = pool("data", 2)
SEEN = world(DATA)
POD = Key("v1", "Pod", "search", "data-0")
ITS_SET = Key("apps/v1", "StatefulSet", "search", "logs-data")
GONE: Ledger = Ledger.of({REPLACED_PODS: (("data-0", "uid-data-0"),)})


def refused(ledger: Ledger, write: Delete) -> Ledger:
    line, entry = denied_entry("PodsCurrent", write, "exceeded quota")
    return ledger.with_changes({line: entry})


def test_whoever_is_away_holds_it() -> None:
    assert upgrade_blocker(SEEN, GONE, ()) == "data-0 is being replaced"
    assert upgrade_blocker(SEEN, Ledger(), ()) is None


def test_whoever_may_not_be_deleted_does_not_as_long_as_it_is_there() -> None:
    there = refused(GONE, Delete(POD, "uid-data-0", "1"))
    assert upgrade_blocker(SEEN, there, ()) is None
    assert upgrade_blocker(replace(SEEN, pools=()), there, ()) == "data-0 is being replaced"
    another = refused(GONE, Delete(POD._replace(name="data-1"), "uid-data-1", "1"))
    assert upgrade_blocker(SEEN, another, ()) == "data-0 is being replaced"


def test_pods_that_are_about_to_be_let_go_hold_it_and_nothing_else_that_goes() -> None:
    assert upgrade_blocker(SEEN, Ledger(), [Delete(ITS_SET, "u", "1", orphan=True)])
    assert upgrade_blocker(SEEN, Ledger(), [Delete(ITS_SET, "u", "1")]) is None


OWNED = {"ownerReferences": [{"kind": "StatefulSet", "name": "logs-data"}]}


@pytest.mark.parametrize(
    ("object_", "holds"),
    [
        (manifest("apps/v1", "StatefulSet", "logs-data", deletionTimestamp="now"), True),
        (manifest("apps/v1", "StatefulSet", "logs-data"), False),
        (manifest("v1", "Pod", "data-0"), True),
        (manifest("v1", "Pod", "data-0", **OWNED), False),
        (manifest("v1", "Service", "logs", deletionTimestamp="now"), False),
    ],
    ids=["a set that goes", "a set", "an orphan", "a pod", "something else"],
)
def test_pods_between_two_stateful_sets_hold_it(object_: Manifest, holds: bool) -> None:
    there: ClusterSnapshot = with_objects(SEEN, object_)
    assert (upgrade_blocker(there, Ledger(), ()) is not None) is holds


CLUSTER = SEEN.cluster.key
NOW = 1000


def condition(**more: Any) -> Manifest:
    """As OLM makes it."""
    return {**manifest(*OPERATOR_CONDITION, "searchkeeper"), **more}


def told(found: Manifest, why: str | None, now: int = NOW) -> Patch | None:
    return upgradeable_patch(found, CLUSTER, why, exists=lambda _: True, now=now)


def after(found: Manifest, why: str | None, now: int = NOW) -> Manifest:
    """What it is then."""
    patch = told(found, why, now)
    assert patch is not None
    note = patch.changes["metadata"]["annotations"]
    metadata = {**found["metadata"], "annotations": {} if note[UPGRADE_BLOCKERS] is None else note}
    return {**found, "metadata": metadata, "spec": patch.changes["spec"]}


def said(found: Manifest) -> tuple[str, str, str]:
    [only] = found["spec"]["conditions"]
    return only["status"], only["reason"], only["lastTransitionTime"]


def test_what_it_says_already_is_not_said_again() -> None:
    for why in ("data-0 is being replaced", None):
        assert told(after(condition(), why), why, NOW + 1) is None


def test_its_moment_is_that_of_the_last_turn() -> None:
    held_back = after(condition(spec={}), "data-0 is being replaced")
    assert said(held_back) == ("False", "StepUnderWay", format_timestamp(NOW))
    later = after(held_back, "data-1 is being replaced", NOW + 5)
    assert said(later) == ("False", "StepUnderWay", format_timestamp(NOW))
    assert said(after(later, None, NOW + 9)) == ("True", "AtRest", format_timestamp(NOW + 9))


def test_who_holds_it_is_written_down_again_where_somebody_has_taken_that_away() -> None:
    """Else whoever holds it beside us would be forgotten with us."""
    why = "data-0 is being replaced"
    found = after(condition(), why)
    bare = {**found, "metadata": {**found["metadata"], "annotations": None}}
    assert after(bare, why) == found
