"""Packages of OperatorHub, migrated to file-based catalogs, keep every upgrade path.

The corpus has no CRDs: each bundle gets the CRDs that it owns.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.loaders.catalog_loader import load
from everpath.loaders.packagemanifest.migration import Migration
from everpath.model import Catalog
from tests.support.everpath.bundles import write
from tests.support.everpath.package_manifests import complete, walks

pytestmark = pytest.mark.corpus

#: Every package with this step; docs/corpus.md has the figures for all.
_STEP = 40


def _migrated(source: Path, target: Path) -> Catalog:
    catalog = load(str(source)).catalog
    migration = Migration(str(source))
    for package in catalog.packages:
        write(target, migration.migrate_package(package).files)
    return catalog


def test_package_manifests_keep_every_upgrade_path(operatorhub: Path, tmp_path: Path) -> None:
    """litmuschaos is the only package that still has package manifests."""
    source = complete(operatorhub / "operators/litmuschaos", tmp_path / "litmuschaos")
    before = _migrated(source, tmp_path / "new")
    assert [package.name for package in before.packages] == ["litmuschaos"]
    assert walks(load(str(tmp_path / "new/catalog")).catalog) == walks(before)
    assert walks(load(str(tmp_path / "new/bundles")).catalog) == walks(before)
    assert len(list((tmp_path / "new/bundles/litmuschaos").glob("*/metadata/annotations.yaml"))) == 8


def test_bundles_of_every_fortieth_package_keep_every_upgrade_path(operatorhub: Path, tmp_path: Path) -> None:
    names = sorted(path.name for path in (operatorhub / "operators").iterdir() if path.is_dir())[::_STEP]
    for name in names:
        source = complete(operatorhub / "operators" / name, tmp_path / "old" / name)
        before = _migrated(source, tmp_path / "new" / name)
        assert walks(load(str(tmp_path / "new" / name / "catalog")).catalog) == walks(before), name
    assert len(names) == 12
