"""What may be served is what opm accepts; `make conformance` holds each of these catalogs against opm."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents import text
from everpath.errors import EverpathError
from everpath.loaders.fbc import catalog
from everpath.server.catalog import snapshot as snapshots
from everpath.server.catalog.snapshot import take_snapshot
from opm_refusals import ACCEPTED, REFUSALS

#: What only a look into metadata shows.
_HIDDEN = [law for law in REFUSALS if "olm.csv.metadata has" in law]


@pytest.fixture
def at_a_glance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every catalog is read as large ones are."""
    monkeypatch.setattr(snapshots, "_FULLY_PARSED_SIZE", 0)
    monkeypatch.setattr(catalog, "_CHECKED_WHOLE", 0)
    monkeypatch.setattr(catalog, "_PARSED_WHOLE", 0)


def written(folder: Path, law: str) -> str:
    (folder / "catalog.yaml").write_text(text(REFUSALS[law][1]))
    return str(folder)


@pytest.mark.parametrize("law", REFUSALS)
def test_a_catalog_that_opm_refuses_is_not_served(tmp_path: Path, law: str) -> None:
    with pytest.raises(EverpathError):
        take_snapshot(written(tmp_path, law), {"EVERPATH_CACHE": "off"})


@pytest.mark.parametrize("law", [law for law in REFUSALS if law not in _HIDDEN])
@pytest.mark.usefixtures("at_a_glance")
def test_a_large_one_is_not_served_either(tmp_path: Path, law: str) -> None:
    with pytest.raises(EverpathError):
        take_snapshot(written(tmp_path, law), {"EVERPATH_CACHE": "off"})


@pytest.mark.parametrize("law", _HIDDEN)
@pytest.mark.usefixtures("at_a_glance")
def test_what_metadata_hides_is_left_to_a_closer_look(tmp_path: Path, law: str) -> None:
    snapshot = take_snapshot(written(tmp_path, law), {"EVERPATH_CACHE": "off"})
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
            for step in channel.entries:
                assert snapshot.queries.get_bundle(package.name, channel.name, step).csvName == step
