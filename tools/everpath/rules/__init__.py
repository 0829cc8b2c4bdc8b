"""The laws of a catalog: one small function each, grouped by what they look at."""

from __future__ import annotations

__all__ = ["load_rules"]

from functools import cache
from importlib import import_module
from typing import Final

#: Modules that hold rules about catalogs, in the order of their ids.
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

#: Modules that hold rules about bundles' folders, or need them. A look at a catalog need not wait for them.
CONTENTS_MODULES: Final = (
    "bundle.layout",
    "bundle.manifests",
    "bundle.csv",
    "bundle.examples",
    "bundle.crds",
    "bundle.crd_serving",
    "bundle.wholes",
    "bundle.hub",
    "bundle.removed_apis",
    "bundle.practices",
    "bundle.objects",
    "bundle.package_files",
    "upgrades",
)


def load_rules(*, contents: bool = True) -> None:
    """Import every module of rules, so that the registry is complete; or all but those about folders."""
    _load(RULE_MODULES)
    if contents:
        _load(CONTENTS_MODULES)


@cache
def _load(modules: tuple[str, ...]) -> None:
    for module in modules:
        import_module(f"everpath.rules.{module}")
