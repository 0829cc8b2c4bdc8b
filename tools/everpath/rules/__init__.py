"""The laws of a catalog: one small function each, grouped by what they look at."""

from __future__ import annotations

__all__ = ["load_rules"]

from functools import cache
from importlib import import_module
from typing import Final

#: Modules that hold rules, in the order of their ids.
RULE_MODULES: Final = (
    "documents",
    "packages",
    "channels",
    "heads",
    "stranding",
    "successors",
    "edges",
    "streams",
    "ranges",
    "bundles",
    "naming",
    "properties",
    "manifests",
    "deprecations",
    "exemptions",
)


@cache
def load_rules() -> None:
    """Import every module of rules, so that the registry is complete."""
    for module in RULE_MODULES:
        import_module(f"everpath.rules.{module}")
