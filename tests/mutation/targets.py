"""Which modules are mutated, and which tests must detect the mutants."""

from __future__ import annotations

__all__ = ["ALL", "GROUPS", "ROOT", "Group", "mutants_of", "name_of", "path_of"]

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mutation.mutants import Mutant, mutants

ROOT: Final = Path(__file__).resolve().parents[2]
_OPERATOR: Final = "searchkeeper"


@dataclass(frozen=True, slots=True)
class Group:
    """Modules, and the tests that must detect their mutants. Modules of everpath have no prefix."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


def _operator_modules(package: str) -> tuple[str, ...]:
    """Return every module of a package of searchkeeper."""
    folder = ROOT / "operator" / "searchkeeper" / package
    names = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    return tuple(f"{_OPERATOR}.{package}.{name}" for name in names)


GROUPS: Final = (
    Group(
        (
            "graph",
            "scc",
            "resolvers.olm_v0",
            "resolvers.olm_v1",
            "resolvers.opm",
            "resolvers.opm_revalidation",
            "resolvers.subscription",
            "resolvers.cluster_extension",
            "resolvers.cluster_extension_crd",
            "resolvers.catalog_candidates",
            "rules.graph.heads",
            "rules.graph.stranding",
            "rules.graph.successors",
            "rules.graph.edges",
            "rules.graph.streams",
            "rules.graph.skip_ranges",
            "wording",
            "rules.findings",
            "rules.waivers",
            "rules.waiver_rules",
        ),
        (
            "tests/everpath/unit/rules/graph",
            "tests/everpath/unit/rules",
            "tests/everpath/unit/rules/test_single_bundle.py",
            "tests/everpath/unit/resolvers",
            "tests/everpath/properties/test_graph_and_resolvers.py",
            "tests/everpath/properties/test_opm_edits.py",
        ),
    ),
    Group(
        ("upgrade_path.hops", "upgrade_path.goals"),
        (
            "tests/everpath/unit/resolvers",
            "tests/everpath/unit/simulate",
            # Not all of tests/everpath/unit/paths: test_growth counts work, which tracing changes.
            "tests/searchkeeper/scenarios/test_every_catalog_path.py",
            "tests/everpath/properties/test_simulation.py",
            "tests/everpath/properties/test_paths.py",
        ),
    ),
    Group(
        ("rules.fixes.edits", "rules.fixes.trials", "rules.fixes.conflicts", "rules.fixes.verify"),
        (
            "tests/everpath/unit/rules/graph",
            "tests/everpath/unit/rules/fixes/test_fixes.py",
            "tests/everpath/unit/rules/fixes/test_conflicts.py",
            "tests/everpath/unit/rules/fixes/test_trials.py",
        ),
    ),
    Group(("rules.lint", "rules.registry"), ("tests/everpath/unit/rules",)),
    Group(
        (
            "rules.documents",
            "rules.packages",
            "rules.channels",
            "rules.bundles",
            "rules.naming",
            "rules.properties",
            "rules.csv_keys",
            "rules.deprecations",
            "rules.cel",
            "rules.constraints",
            "rules.image_references",
            "rules.bundle_versions",
            "go_types.decoding",
            "go_types.properties",
        ),
        (
            "tests/everpath/unit/rules",
            "tests/everpath/unit/rules",
            "tests/everpath/unit/rules",
            "tests/everpath/unit/rules",
            "tests/everpath/unit/rules",
            "tests/everpath/unit/rules",
            "tests/everpath/unit/rules",
        ),
    ),
    Group(
        (
            "crd_upgrade_safety.unsafe_changes",
            "crd_upgrade_safety.constraints",
            "crd_upgrade_safety.crd",
            "crd_upgrade_safety.preflight",
            "crd_upgrade_safety.schema_changes",
            "crd_upgrade_safety.upgrades",
            "rules.crd_upgrades",
        ),
        (
            "tests/everpath/unit/crd_upgrade_safety",
            "tests/everpath/properties/test_crds.py",
            "tests/everpath/unit/rules/test_crd_upgrades.py",
        ),
    ),
    Group(("rules.opm_errors",), ("tests/everpath/unit/rules",)),
    Group(
        (
            "rules.kubernetes_names",
            "rules.bundle.urls",
            "rules.bundle.alm_examples",
            "rules.bundle.operatorhub",
            "rules.bundle.layout",
            "rules.bundle.objects",
            "rules.bundle.package_manifests",
            "rules.bundle.good_practices",
            "rules.bundle.validators",
            "manifest_access",
            "rules.bundle.consistency",
        ),
        (
            "tests/everpath/unit/rules/bundle/test_alm_examples.py",
            "tests/everpath/unit/rules/bundle/test_operatorhub.py",
            "tests/everpath/unit/rules/bundle/test_layout.py",
            "tests/everpath/unit/rules/test_kubernetes_names.py",
            "tests/everpath/unit/rules/bundle/test_urls.py",
            "tests/everpath/unit/rules/test_declarations.py",
            "tests/everpath/unit/rules/bundle/test_objects.py",
            "tests/everpath/unit/rules/bundle/test_package_manifests.py",
            "tests/everpath/unit/rules/bundle/test_good_practices.py",
            "tests/everpath/unit/rules/bundle/test_validators.py",
            "tests/everpath/unit/test_manifest_access.py",
            "tests/everpath/unit/rules/bundle/test_consistency.py",
        ),
    ),
    Group(
        (
            "rules.bundle.crd_serving",
            "rules.bundle.crds",
            "rules.bundle.csv",
            "rules.bundle.manifests",
            "rules.bundle.removed_apis",
        ),
        (
            "tests/everpath/unit/rules/bundle/test_crd_serving.py",
            "tests/everpath/unit/rules/bundle/test_crds.py",
            "tests/everpath/unit/rules/bundle/test_csv.py",
            "tests/everpath/unit/rules/bundle/test_manifests.py",
            "tests/everpath/unit/rules/bundle/test_removed_apis.py",
        ),
    ),
    Group(
        ("versions",), ("tests/everpath/unit/versions", "tests/everpath/properties/test_versions_order.py")
    ),
    Group(
        ("ranges._hazards",),
        (
            "tests/everpath/unit/ranges/test_hazards.py",
            "tests/everpath/unit/ranges/test_errors.py",
            "tests/everpath/unit/ranges/test_explain.py",
            "tests/everpath/unit/ranges/test_panics.py",
            "tests/everpath/properties/test_ranges_evaluation.py",
        ),
    ),
    Group(
        (
            "bundlegen.bundle",
            "bundlegen.csv",
            "bundlegen.descriptors",
            "bundlegen.images",
            "bundlegen.operator_manifests",
            "bundlegen.permissions",
            "bundlegen.webhooks",
        ),
        ("tests/everpath/unit/bundlegen",),
    ),
    Group(
        (
            "releases.csv_edges",
            "releases.validation",
            "releases.release_plan",
            "releases.channel_edges",
            "releases.reconstruction",
            "releases.model",
        ),
        (
            "tests/everpath/unit/releases/test_bundle_edges.py",
            "tests/everpath/unit/releases/test_checks.py",
            "tests/everpath/unit/releases/test_release_plan.py",
            "tests/everpath/unit/releases/test_edges.py",
            "tests/everpath/unit/loaders/releases/test_parser.py",
            "tests/everpath/unit/releases/test_reconstruction.py",
            "tests/everpath/unit/releases/test_source.py",
            "tests/everpath/properties/test_releases.py",
        ),
    ),
    Group(_operator_modules("planner"), ("tests/searchkeeper/unit/planner",)),
    Group(_operator_modules("upgrade"), ("tests/searchkeeper/unit/upgrade",)),
    Group(_operator_modules("reconcilers"), ("tests/searchkeeper/unit/reconcilers",)),
    Group(
        (f"{_OPERATOR}.reconcile",), ("tests/searchkeeper/unit/reconcilers", "tests/searchkeeper/scenarios")
    ),
)

ALL: Final = tuple(module for group in GROUPS for module in group.modules)


def name_of(module: str) -> str:
    """Return the full name of a module."""
    return module if module.startswith(f"{_OPERATOR}.") else f"everpath.{module}"


def path_of(module: str) -> Path:
    source = ROOT / ("operator" if module.startswith(f"{_OPERATOR}.") else "tools")
    return source / f"{name_of(module).replace('.', '/')}.py"


def mutants_of(module: str) -> list[Mutant]:
    return list(mutants(module, path_of(module).read_text()))
