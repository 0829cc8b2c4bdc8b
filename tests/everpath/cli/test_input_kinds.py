"""Every kind of input has a loader."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import everpath as surface
from everpath.loaders.catalog_loader import load
from everpath.model import UpdateMode
from tests.support.commandline import Everpath
from tests.support.everpath.catalogs import fbc


def csv(name: str, version: str, replaces: str = "") -> str:
    edge = f"\n  replaces: {replaces}" if replaces else ""
    return (
        dedent(f"""\
        apiVersion: operators.coreos.com/v1alpha1
        kind: ClusterServiceVersion
        metadata:
          name: {name}
        spec:
          version: {version}""")
        + f"{edge}\n"
    )


ANNOTATIONS = """\
annotations:
  operators.operatorframework.io.bundle.package.v1: op
  operators.operatorframework.io.bundle.channels.v1: stable
  operators.operatorframework.io.bundle.channel.default.v1: stable
"""


def bundle(folder: Path, version: str, replaces: str = "") -> Path:
    (folder / "manifests").mkdir(parents=True)
    (folder / "metadata").mkdir()
    (folder / "manifests" / "op.clusterserviceversion.yaml").write_text(
        csv(f"op.v{version}", version, replaces)
    )
    (folder / "metadata" / "annotations.yaml").write_text(ANNOTATIONS)
    return folder


def edges(path: Path | str, **options: Any) -> dict[str, str | None]:
    catalog = load(str(path), **options).catalog
    return {e.name: e.replaces for p in catalog.packages for c in p.channels for e in c.entries}


def test_a_file_or_folder_of_documents_is_a_file_based_catalog(tmp_path: Path) -> None:
    (tmp_path / "op.yaml").write_text(fbc("b: a\na"))
    assert edges(tmp_path) == edges(tmp_path / "op.yaml") == {"b": "a", "a": None}


def test_bundle_folder_is_a_catalog_with_one_bundle(tmp_path: Path) -> None:
    assert edges(bundle(tmp_path / "bundle", "1.0.0", "op.v0.9.0")) == {"op.v1.0.0": "op.v0.9.0"}


def test_update_mode_of_an_operators_repository_makes_its_edges(tmp_path: Path) -> None:
    for version in ("1.0.0", "1.1.0"):
        bundle(tmp_path / "operators" / "op" / version, version)
    assert edges(tmp_path)["op.v1.1.0"] == "op.v1.0.0"
    assert edges(tmp_path, default_mode=UpdateMode.REPLACES)["op.v1.1.0"] is None
    assert edges(tmp_path / "operators") == edges(tmp_path / "operators" / "op") == edges(tmp_path)


def test_a_package_manifest_folder_has_the_channels_of_its_package_file(tmp_path: Path) -> None:
    (tmp_path / "op.package.yaml").write_text(
        "packageName: op\nchannels:\n  - name: stable\n    currentCSV: op.v2.0.0\n"
    )
    (tmp_path / "one.clusterserviceversion.yaml").write_text(csv("op.v1.0.0", "1.0.0"))
    (tmp_path / "two.clusterserviceversion.yaml").write_text(csv("op.v2.0.0", "2.0.0", "op.v1.0.0"))
    assert edges(tmp_path) == {"op.v1.0.0": None, "op.v2.0.0": "op.v1.0.0"}


def test_trailing_slash_of_a_path_is_removed(tmp_path: Path) -> None:
    bundle(tmp_path / "b", "1.0.0")
    catalog = load(f"{tmp_path}/b/").catalog
    [found] = catalog.packages[0].bundles
    assert found.place.file == f"{tmp_path}/b/manifests/op.clusterserviceversion.yaml"
    assert catalog.name == f"{tmp_path}/b"


@pytest.mark.parametrize("folder", ["empty", "missing"])
def test_empty_or_missing_folder_is_an_error(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(surface.EverpathError) as caught:
        load(str(tmp_path / folder))
    assert caught.value.exit_code == 3


def test_list_uses_the_update_mode(everpath: Everpath, here: Path) -> None:
    for version in ("1.0.0", "1.1.0"):
        bundle(here / "operators" / "op" / version, version)
    by_version = everpath("list", "bundles", ".", "-o", "json")
    assert json.loads(by_version.out)["bundles"][0]["replaces"] == "op.v1.0.0"
    by_edges = everpath("list", "bundles", ".", "-o", "json", "--default-update-mode", "replaces-mode")
    assert json.loads(by_edges.out)["bundles"][0]["replaces"] is None
    (here / "everpath.yaml").write_text("default-update-mode: replaces-mode\n")
    assert everpath("list", "bundles", ".", "-o", "json").out == by_edges.out


def test_api_loads_and_lints(tmp_path: Path) -> None:
    (tmp_path / "op.yaml").write_text(fbc("c: a\nb: a\na"))
    report = surface.lint(surface.load(str(tmp_path)))
    assert "fork" in {finding.name for finding in report.findings}
    assert report.worst is surface.Severity.ERROR


def test_every_name_of_the_api_exists() -> None:
    assert {name for name in surface.__all__ if not hasattr(surface, name)} == set()
    assert dir(surface) == sorted(surface.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        surface.nothing  # noqa: B018
