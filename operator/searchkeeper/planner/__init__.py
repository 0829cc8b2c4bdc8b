"""Versioned reconcilers made of actions with prerequisites. Knows no OpenSearch, no Kubernetes and no clock.

A plan is a pure function of a snapshot and the ledger. It returns conditions, the next ledger and operations.
The caller observes, persists and executes.
"""

from __future__ import annotations

__all__ = [
    "ACTION_ERROR",
    "DONE",
    "ERROR_DEADLINE",
    "NOT_COUNTED",
    "NO_DEADLINE",
    "OPERATION_DENIED",
    "PREREQUISITE_NOT_MET",
    "STALLED_ACTIONS",
    "USER_DEADLINE",
    "WAITING_FOR_OTHER_ACTION",
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

from searchkeeper.planner.actions import ACTION_ERROR, ERROR_DEADLINE, PREREQUISITE_NOT_MET, Action, action
from searchkeeper.planner.conditions import Condition
from searchkeeper.planner.denied_operations import OPERATION_DENIED
from searchkeeper.planner.ledger import Ledger
from searchkeeper.planner.planning import (
    STALLED_ACTIONS,
    WAITING_FOR_OTHER_ACTION,
    ActionOperations,
    Order,
    Plan,
    Records,
    plan,
)
from searchkeeper.planner.reconciler import Reconciler, UnsupportedVersion, choose_reconciler
from searchkeeper.planner.results import (
    DONE,
    NO_DEADLINE,
    USER_DEADLINE,
    LedgerChange,
    Operation,
    Result,
    Status,
    done,
    in_progress,
    wait,
)
from searchkeeper.planner.waits import NOT_COUNTED, waiting_for, waiting_without_change
