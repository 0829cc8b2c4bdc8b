"""What a server remembers from one start to the next, and when it does not believe it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from catalogs import write_fbc
from everpath.errors import EverpathError
from everpath.server.catalog.snapshot import CatalogSnapshot, take_snapshot
from everpath.server.index import builder
from everpath.server.index import cache as index_cache


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The catalogs that were judged anew, by path."""
    found: list[str] = []
    original = builder.load_index

    def noted(name: str, *arguments: object, **options: object) -> object:
        found.append(name)
        return original(name, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(builder, "load_index", noted)
    # As if nobody had edited everpath within the last seconds.
    monkeypatch.setattr(index_cache, "fingerprint", lambda _: "this everpath")
    return found


def _taken(catalog: Path, cache: Path) -> CatalogSnapshot:
    return take_snapshot(str(catalog), {"EVERPATH_CACHE": str(cache)})


def _heads(snapshot: CatalogSnapshot) -> list[str]:
    return [c.csvName for c in snapshot.queries.get_package("p").channels]


def test_a_catalog_that_is_the_same_is_not_judged_again(tmp_path: Path, judged: list[str]) -> None:
    catalog = write_fbc(tmp_path, "b: a\na")
    first = _taken(catalog, tmp_path / "cache")
    again = _taken(catalog, tmp_path / "cache")
    assert len(judged) == 1
    assert list(again.queries.list_bundles()) == list(first.queries.list_bundles())
    assert again.queries.get_bundle("p", "stable", "b") == first.queries.get_bundle("p", "stable", "b")
    assert again.is_fully_parsed


def test_another_byte_makes_another_catalog(tmp_path: Path, judged: list[str]) -> None:
    """Even with the same size and times: it is known by what is in it."""
    catalog = write_fbc(tmp_path, "b: a\na")
    _taken(catalog, tmp_path / "cache")
    file = catalog / "p.yaml"
    status = file.stat()
    file.write_text(file.read_text().replace("name: b", "name: c"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert _heads(_taken(catalog, tmp_path / "cache")) == ["c"]
    assert len(judged) == 2


def test_a_refused_catalog_is_not_remembered(tmp_path: Path, judged: list[str]) -> None:
    catalog = write_fbc(tmp_path, "b: a\nc: a\na")
    for _ in range(2):
        with pytest.raises(EverpathError):
            _taken(catalog, tmp_path / "cache")
    assert len(judged) == 2


@pytest.mark.parametrize("torn", [b"", b"everpath index\n", b"\0" * 100])
def test_a_torn_file_is_not_believed(tmp_path: Path, judged: list[str], torn: bytes) -> None:
    catalog, cache = write_fbc(tmp_path, "a"), tmp_path / "cache"
    _taken(catalog, cache)
    (file,) = cache.iterdir()
    file.write_bytes(torn or file.read_bytes()[:-1])
    assert _heads(_taken(catalog, cache)) == ["a"]
    assert len(judged) == 2


def test_what_another_may_have_written_is_not_believed(tmp_path: Path, judged: list[str]) -> None:
    catalog, cache = write_fbc(tmp_path, "a"), tmp_path / "cache"
    _taken(catalog, cache)
    (file,) = cache.iterdir()
    file.chmod(0o666)
    _taken(catalog, cache)
    assert len(judged) == 2


def test_what_another_everpath_found_is_not_believed(
    tmp_path: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog, cache = write_fbc(tmp_path, "a"), tmp_path / "cache"
    _taken(catalog, cache)
    monkeypatch.setattr(index_cache, "fingerprint", lambda _: "another everpath")
    _taken(catalog, cache)
    assert len(judged) == 2


def test_a_folder_that_cannot_be_written_costs_time_and_nothing_else(
    tmp_path: Path, judged: list[str]
) -> None:
    (tmp_path / "cache").write_text("a file")
    catalog = write_fbc(tmp_path, "a")
    for _ in range(2):
        assert _heads(_taken(catalog, tmp_path / "cache")) == ["a"]
    assert len(judged) == 2


def test_off_keeps_nothing(tmp_path: Path, judged: list[str]) -> None:
    catalog = write_fbc(tmp_path, "a")
    for _ in range(2):
        take_snapshot(str(catalog), {"EVERPATH_CACHE": "off"})
    assert len(judged) == 2


def test_that_it_was_looked_at_closely_is_remembered(tmp_path: Path, judged: list[str]) -> None:
    catalog, cache = write_fbc(tmp_path, "a"), tmp_path / "cache"
    text = (catalog / "p.yaml").read_text()
    (catalog / "p.yaml").write_text(f"{text}# {'x' * (1 << 20)}\n")
    first = _taken(catalog, cache)
    assert not first.is_fully_parsed
    assert not _taken(catalog, cache).is_fully_parsed
    first.mark_fully_parsed()
    assert _taken(catalog, cache).is_fully_parsed
    assert len(judged) == 1


def test_every_byte_is_looked_at_if_one_asks_for_it(tmp_path: Path, judged: list[str]) -> None:
    catalog = write_fbc(tmp_path, "a")
    _taken(catalog, tmp_path / "cache")
    snapshot = take_snapshot(str(catalog), {"EVERPATH_CACHE": str(tmp_path / "cache")}, thorough=True)
    assert snapshot.is_fully_parsed
    assert len(judged) == 2
