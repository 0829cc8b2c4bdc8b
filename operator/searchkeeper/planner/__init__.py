"""Versioned reconcilers made of actions with prerequisites. Knows nothing of search, Kubernetes or time.

A cycle is a pure function: what was observed and the ledger go in; conditions, the next ledger and the
writes come out. Whoever calls it reads, writes and waits.
"""

from __future__ import annotations

__all__ = [
    "ACTION_ERROR",
    "ERROR_DEADLINE",
    "NOT_COUNTED",
    "OPERATION_DENIED",
    "STALLED_PREFIX",
    "Action",
    "ActionOperations",
    "Condition",
    "Ledger",
    "LedgerChange",
    "Operation",
    "Order",
    "Plan",
    "Reconciler",
    "Records",
    "Result",
    "Status",
    "UnsupportedVersion",
    "action",
    "choose_reconciler",
    "done",
    "in_progress",
    "plan",
    "wait",
    "waiting_for",
    "waiting_without_change",
]

from searchkeeper.planner.actions import ACTION_ERROR, ERROR_DEADLINE, Action, action
from searchkeeper.planner.conditions import Condition
from searchkeeper.planner.denied_operations import OPERATION_DENIED
from searchkeeper.planner.ledger import Ledger
from searchkeeper.planner.planning import STALLED_PREFIX, ActionOperations, Order, Plan, Records, plan
from searchkeeper.planner.reconciler import Reconciler, UnsupportedVersion, choose_reconciler
from searchkeeper.planner.results import LedgerChange, Operation, Result, Status, done, in_progress, wait
from searchkeeper.planner.waits import NOT_COUNTED, waiting_for, waiting_without_change
