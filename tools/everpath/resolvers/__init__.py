"""Three readers of one graph: opm decides what is published, OLM v0 and v1 decide what users get.

Each mirrors the code it is named after, not its documentation; `make conformance` compares them with it.
"""

from __future__ import annotations

__all__ = ["MEMORY", "ResolverName"]

from typing import Final, Literal

ResolverName = Literal["v0", "v1"]

#: Channels whose answers are remembered: rules ask one channel after another, a package rule all of its own.
MEMORY: Final = 64
