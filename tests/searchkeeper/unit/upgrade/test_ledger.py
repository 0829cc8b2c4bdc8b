"""The ledger entries of an upgrade."""

from __future__ import annotations

from searchkeeper.planner.actions import closure
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS
from searchkeeper.upgrade.ledger import (
    ABANDONED,
    ACTIONS_WAITING_FOR_NODES,
    BATCH_SIZE,
    PODS_CURRENT,
    REPLACED_PODS,
    UpgradeLedger,
)


def test_actions_whose_waits_are_read_exist_in_every_reconciler() -> None:
    assert PODS_CURRENT in ACTIONS_WAITING_FOR_NODES
    for reconciler in CLUSTER_RECONCILERS.values():
        names = {action.name for action in closure(reconciler.actions)}
        assert names >= set(ACTIONS_WAITING_FOR_NODES)


def test_malformed_entries_count_as_missing() -> None:
    ledger = UpgradeLedger.of({REPLACED_PODS: (("data-0", "uid"), "data-1", ("data-2",)), ABANDONED: "3.4.0"})
    assert ledger.replaced_pods == {"data-0": "uid"}
    assert ledger.abandoned is None
    assert UpgradeLedger.of({REPLACED_PODS: "data-0"}).replaced_pods == {}


def test_batch_size_belongs_to_one_pool() -> None:
    ledger = UpgradeLedger.of({BATCH_SIZE: ("data", 4)})
    assert (ledger.batch_size("data"), ledger.batch_size("managers")) == (4, 1)
