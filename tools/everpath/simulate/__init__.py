"""What OLM does to a cluster: for every installed version the next hop, the whole walk, and where it ends.

The policies answer one question or all next hops of a channel; here their answers become walks, and walks
become rows that say in words how they end.
"""

from __future__ import annotations

__all__ = ["Asked", "Line", "Row", "Scenario", "Sheet", "Terms", "released", "rows", "sheets"]

from everpath.simulate.installed import Asked, released
from everpath.simulate.results import Line, Row, Sheet, rows
from everpath.simulate.scenario import Scenario, Terms, sheets
