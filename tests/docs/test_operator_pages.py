"""The tables of the operator's pages match the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from console import ROOT
from searchkeeper.api.reasons import Reason
from searchkeeper.api.status import SummaryType
from searchkeeper.planner.actions import closure
from searchkeeper.reconcilers.deletion import DELETION_RECONCILER
from searchkeeper.reconcilers.invalid_spec import INVALID_SPEC_RECONCILER
from searchkeeper.reconcilers.unsupported_version import UNSUPPORTED_VERSION_RECONCILER
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS, POOL_RECONCILERS
from searchkeeper.releases import releases
from tests.support.searchkeeper.operator_manifests import overlay

PAGES = ROOT / "docs/operator"
CONFIG = ROOT / "operator/config"


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the table whose first column has this heading."""
    text = (PAGES / page).read_text(encoding="utf-8")
    [table] = re.findall(rf"^\| {re.escape(heading)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, flags=re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]


def test_every_configuration_version_is_listed_with_its_releases() -> None:
    listed = {
        int(version.strip("| ")): (int(min_version), shipped_by)
        for version, _, min_version, shipped_by in rows("lifecycle.md", "version")
    }

    assert listed == {
        version: (
            reconciler.min_version,
            ", ".join(each.version for each in releases() if version in each.configurations),
        )
        for version, reconciler in CLUSTER_RECONCILERS.items()
    }


def defaults(schema: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each field with a default, as the page writes them."""
    for name, field in schema.get("properties", {}).items():
        if "items" in field:
            yield from defaults(field["items"], f"{path}{name}[].")
        elif "properties" in field:
            yield from defaults(field, f"{path}{name}.")
        elif "default" in field:
            yield f"`{path}{name}`", str(field["default"]).replace("False", "false")


def test_every_default_is_listed() -> None:
    definition = yaml.safe_load((CONFIG / "crd/searchclusters.yaml").read_text(encoding="utf-8"))
    spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]

    assert dict(rows("resources.md", "field")) == dict(defaults(spec))


@pytest.mark.parametrize("kind", ["searchclusters", "searchpools"])
def test_short_names_and_columns_are_listed(kind: str) -> None:
    spec = yaml.safe_load((CONFIG / f"crd/{kind}.yaml").read_text(encoding="utf-8"))["spec"]
    columns = ", ".join(each["name"].lower() for each in spec["versions"][0]["additionalPrinterColumns"])
    [short] = spec["names"]["shortNames"]

    assert [spec["names"]["kind"], f"`{short}`", columns] in [row[:3] for row in rows("resources.md", "kind")]


def test_applied_manifests_have_the_documented_namespace() -> None:
    """Without it `kubectl apply` could create the Role and the Deployment in different namespaces."""
    manifests = [*overlay("rbac"), *overlay("manager")]
    namespaced = [
        each for each in manifests if not each["kind"].startswith("Cluster") and each["kind"] != "Namespace"
    ]

    assert {each["metadata"].get("namespace") for each in namespaced} == {"searchkeeper"}
    assert "kubectl create namespace searchkeeper\n" in (PAGES / "running.md").read_text(encoding="utf-8")


# The planner sets these for any action.
PLANNER_REASONS = {"ActionError", "Done", "OperationDenied", "PrerequisiteNotMet", "WaitingForOtherAction"}


def first_cells(heading: str) -> list[str]:
    """The first column of the table below a heading of the page about conditions."""
    text = (PAGES / "conditions.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)


def test_every_summary_condition_is_listed() -> None:
    assert first_cells("Summary conditions") == [str(name) for name in SummaryType]


def test_every_action_is_listed() -> None:
    others = (DELETION_RECONCILER, INVALID_SPEC_RECONCILER, UNSUPPORTED_VERSION_RECONCILER)
    reconcilers: list[Any] = [*CLUSTER_RECONCILERS.values(), *POOL_RECONCILERS.values(), *others]
    actions = {action.name for each in reconcilers for action in closure(each.actions)}
    assert first_cells("Actions") == sorted(actions)


def test_every_reason_is_listed() -> None:
    assert first_cells("Reasons") == sorted({*map(str, Reason), *PLANNER_REASONS})


def test_every_listed_event_has_a_reason() -> None:
    assert set(first_cells("Events")) <= set(map(str, Reason))
