"""The real opm accepts our catalog and bundles, and renders the committed files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from everpath.loaders.fbc.blobs import load_blobs
from everpath.loaders.sources import Sources
from tests.everpath.conformance.bundle_verdicts import said_upstream
from tests.everpath.conformance.oracle import Oracle
from tests.support.commandline import ROOT

pytestmark = pytest.mark.conformance

CATALOG: Final = ROOT / "catalog/searchkeeper/catalog.yaml"
_IMAGE: Final = "registry.example.com/everpath/searchkeeper-bundle:v{{.Version}}"
_FOLDERS: Final = sorted(path for path in (ROOT / "bundles/searchkeeper").iterdir() if path.is_dir())


@pytest.mark.parametrize("folder", _FOLDERS, ids=lambda folder: folder.name)
def test_opm_renders_a_bundle_as_in_the_catalog(oracle: Oracle, folder: Path) -> None:
    blobs = load_blobs(str(CATALOG), Sources())
    held = {blob["name"]: blob for blob in blobs if blob["schema"] == "olm.bundle"}
    question = {"ask": "render", "folders": [str(folder)], "output": "json", "image": _IMAGE}
    answer = oracle.ask({**question, "migrate": "bundle-object-to-csv-metadata"})
    assert answer["ok"], answer
    assert json.loads(answer["text"]) == held[f"searchkeeper.v{folder.name}"]


@pytest.mark.parametrize("folder", _FOLDERS, ids=lambda folder: folder.name)
def test_validators_of_upstream_have_no_errors_for_a_bundle(oracle: Oracle, folder: Path) -> None:
    assert said_upstream(oracle.ask({"ask": "bundle", "folder": str(folder)})) == set()


def test_opm_accepts_the_catalog(oracle: Oracle) -> None:
    assert oracle.ask({"ask": "opm", "catalog": CATALOG.read_text()}) == {"accepts": True}
