"""An engine in memory, with the rules of the real one: votes, joins, and who may hold which copy."""

from __future__ import annotations

__all__ = ["Engine", "Process", "advance", "created", "look", "told", "wiped"]

from searchkeeper.engine.embedded.asking import created, look, told, wiped
from searchkeeper.engine.embedded.state import Engine, Process
from searchkeeper.engine.embedded.time import advance
