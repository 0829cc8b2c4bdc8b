"""A catalog is served if opm accepts it. `make conformance` runs opm on each of these catalogs."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.errors import EverpathError
from everpath.loaders.fbc import loader
from everpath.server.catalog import snapshot as snapshot_module
from everpath.server.catalog.snapshot import take_snapshot
from tests.support.everpath.documents import text
from tests.support.everpath.opm_refusals import ACCEPTED, REFUSALS

#: Refusals for values of `olm.csv.metadata`.
_IN_METADATA = [refusal for refusal in REFUSALS if "olm.csv.metadata has" in refusal]


@pytest.fixture
def metadata_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of `olm.csv.metadata` are skipped, as in large catalogs."""
    monkeypatch.setattr(snapshot_module, "_FULLY_PARSED_SIZE", 0)
    monkeypatch.setattr(loader, "_CHECKED_SIZE", 0)
    monkeypatch.setattr(loader, "_PARSED_SIZE", 0)


def write_refused(folder: Path, refusal: str) -> str:
    (folder / "catalog.yaml").write_text(text(REFUSALS[refusal][1]))
    return str(folder)


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_catalog_that_opm_rejects_is_not_served(tmp_path: Path, refusal: str) -> None:
    with pytest.raises(EverpathError):
        take_snapshot(write_refused(tmp_path, refusal), {"EVERPATH_CACHE": "off"})


@pytest.mark.parametrize("refusal", [refusal for refusal in REFUSALS if refusal not in _IN_METADATA])
@pytest.mark.usefixtures("metadata_skipped")
def test_a_large_catalog_that_opm_rejects_is_not_served(tmp_path: Path, refusal: str) -> None:
    with pytest.raises(EverpathError):
        take_snapshot(write_refused(tmp_path, refusal), {"EVERPATH_CACHE": "off"})


@pytest.mark.parametrize("refusal", _IN_METADATA)
@pytest.mark.usefixtures("metadata_skipped")
def test_invalid_metadata_of_a_large_catalog_is_found_only_by_a_thorough_load(
    tmp_path: Path, refusal: str
) -> None:
    snapshot = take_snapshot(write_refused(tmp_path, refusal), {"EVERPATH_CACHE": "off"})
    assert not snapshot.is_fully_parsed
    assert len(list(snapshot.queries.list_bundles())) >= 1
    with pytest.raises(EverpathError, match=r"olm\.csv\.metadata"):
        take_snapshot(str(tmp_path), {"EVERPATH_CACHE": "off"}, thorough=True)


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_catalog_that_opm_accepts_is_served(tmp_path: Path, name: str) -> None:
    (tmp_path / "catalog.yaml").write_text(text(ACCEPTED[name]))
    snapshot = take_snapshot(str(tmp_path), {"EVERPATH_CACHE": "off"})
    assert list(snapshot.queries.list_packages())
    for package in snapshot.index.packages.values():
        for channel in package.channels.values():
            for entry in channel.entries:
                assert snapshot.queries.get_bundle(package.name, channel.name, entry).csvName == entry
