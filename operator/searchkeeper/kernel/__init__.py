"""Versioned reconcilers made of actions with prerequisites. Knows nothing of search, Kubernetes or time.

A cycle is a pure function: what was observed and the ledger go in; conditions, the next ledger and the
writes come out. Whoever calls it reads, writes and waits.
"""

from __future__ import annotations

__all__ = [
    "DENIED",
    "FAULT",
    "FAULT_PATIENCE",
    "NOBODYS",
    "STALLED",
    "Action",
    "Answer",
    "Condition",
    "Deed",
    "Ledger",
    "Note",
    "Order",
    "Plan",
    "Procedure",
    "Records",
    "Status",
    "Unfit",
    "Write",
    "action",
    "choose",
    "done",
    "plan",
    "unchanged",
    "waited",
    "waiting",
    "working",
]

from searchkeeper.kernel.actions import FAULT, FAULT_PATIENCE, Action, action
from searchkeeper.kernel.answers import Answer, Note, Status, Write, done, waiting, working
from searchkeeper.kernel.conditions import Condition
from searchkeeper.kernel.denials import DENIED
from searchkeeper.kernel.ledger import Ledger
from searchkeeper.kernel.planning import STALLED, Deed, Order, Plan, Records, plan
from searchkeeper.kernel.procedures import Procedure, Unfit, choose
from searchkeeper.kernel.waits import NOBODYS, unchanged, waited
