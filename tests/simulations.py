"""Simulations of drawn graphs, and rows short enough to read in a test."""

from __future__ import annotations

__all__ = ["answer", "answered", "brief", "simulated", "sources"]

from collections.abc import Sequence

from everpath.resolvers.cluster_extension import Source
from everpath.simulate import Row, Scenario, Sheet, released, results, sheets
from graphs import package_graph


def sources(*drawings: str, priorities: Sequence[int] = ()) -> list[Source]:
    """Catalogs `a`, `b`, … each with the package of a drawing."""
    ranks = [*priorities, *([0] * len(drawings))]
    return [Source(chr(ord("a") + i), ranks[i], package_graph(text)) for i, text in enumerate(drawings)]


def simulated(
    drawing: str | Sequence[Source], scenario: Scenario | None = None, installed: str | None = None
) -> list[Sheet]:
    """The sheets of a drawing, or of several catalogs."""
    served = sources(drawing) if isinstance(drawing, str) else drawing
    asked = released([s.package for s in served if s.package], installed) if installed is not None else None
    return list(sheets(served, scenario or Scenario(), asked, named=len(served) > 1))


def answered(
    drawing: str | Sequence[Source], scenario: Scenario | None = None, installed: str | None = None
) -> list[Row]:
    """The rows of the same."""
    return list(results(simulated(drawing, scenario, installed)))


def answer(drawing: str, installed: str, policy: str, channel: str = "stable") -> Row:
    """The one row about an installed version."""
    [row] = (
        r for r in answered(drawing) if (r.installed, r.policy, r.channel) == (installed, policy, channel)
    )
    return row


def brief(found: Sequence[Row]) -> list[str]:
    """`v0 b1 → b2 → b3 head`, a line for each row."""
    return [f"{r.policy} {' → '.join((r.installed or '-', *r.path))} {r.end}" for r in found]
