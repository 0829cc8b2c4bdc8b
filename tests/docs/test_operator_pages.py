"""What the pages of the operator list is what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from console import ROOT
from operator_manifests import overlay
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS
from searchkeeper.releases import releases

PAGES = ROOT / "docs/operator"
CONFIG = ROOT / "operator/config"


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the table that begins with this heading."""
    text = (PAGES / page).read_text(encoding="utf-8")
    [table] = re.findall(rf"^\| {re.escape(heading)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, flags=re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]


def test_every_configuration_version_is_listed_with_who_ships_it() -> None:
    shown = {
        int(first.strip("| ")): (int(least), ships)
        for first, _, least, ships in rows("lifecycle.md", "version")
    }

    assert shown == {
        version: (
            procedure.min_version,
            ", ".join(each.version for each in releases() if version in each.configurations),
        )
        for version, procedure in CLUSTER_RECONCILERS.items()
    }


def defaults(schema: Any, path: str = "") -> Iterator[tuple[str, str]]:
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


def test_what_is_applied_from_a_folder_has_the_namespace_of_the_page() -> None:
    """Without one, `kubectl apply` would put the operator's own rights into another namespace than it."""
    made = [*overlay("rbac"), *overlay("manager")]
    namespaced = [
        each for each in made if not each["kind"].startswith("Cluster") and each["kind"] != "Namespace"
    ]

    assert {each["metadata"].get("namespace") for each in namespaced} == {"searchkeeper"}
    assert "kubectl create namespace searchkeeper\n" in (PAGES / "running.md").read_text(encoding="utf-8")
