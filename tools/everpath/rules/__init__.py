"""Rules for catalogs and bundles, and the linter that runs them."""

from __future__ import annotations

__all__ = ["load_rules"]

from functools import cache
from importlib import import_module
from typing import Final

#: Modules with rules about catalogs, by rule id.
RULE_MODULES: Final = (
    "documents",
    "packages",
    "channels",
    "graph.heads",
    "graph.stranding",
    "graph.successors",
    "graph.edges",
    "graph.streams",
    "graph.skip_ranges",
    "bundles",
    "naming",
    "properties",
    "csv_keys",
    "deprecations",
    "waiver_rules",
)

#: Modules with rules about bundle folders. Commands that read only catalogs do not import them.
CONTENTS_MODULES: Final = (
    "bundle.layout",
    "bundle.manifests",
    "bundle.csv",
    "bundle.alm_examples",
    "bundle.crds",
    "bundle.crd_serving",
    "bundle.consistency",
    "bundle.operatorhub",
    "bundle.removed_apis",
    "bundle.good_practices",
    "bundle.objects",
    "bundle.package_manifests",
    "crd_upgrades",
)


def load_rules(*, contents: bool = True) -> None:
    """Import the modules that register rules; without `contents`, not those about bundle folders."""
    _load(RULE_MODULES)
    if contents:
        _load(CONTENTS_MODULES)


@cache
def _load(modules: tuple[str, ...]) -> None:
    for module in modules:
        import_module(f"everpath.rules.{module}")
