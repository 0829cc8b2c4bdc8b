"""The cache of indexes: when it is used and when it is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from everpath.errors import EverpathError
from everpath.server.catalog.snapshot import CatalogSnapshot, take_snapshot
from everpath.server.index import builder
from everpath.server.index import cache as index_cache
from tests.support.everpath.catalogs import write_fbc


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the catalogs whose index was not in the cache."""
    paths: list[str] = []
    original = builder.load_index

    def load_index(name: str, *arguments: object, **options: object) -> object:
        paths.append(name)
        return original(name, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(builder, "load_index", load_index)
    # The real fingerprint is None if everpath was edited in the last seconds.
    monkeypatch.setattr(index_cache, "code_fingerprint", lambda _: "this everpath")
    return paths


def _take(catalog: Path, cache: Path) -> CatalogSnapshot:
    return take_snapshot(str(catalog), {"EVERPATH_CACHE": str(cache)})


def _heads(snapshot: CatalogSnapshot) -> list[str]:
    return [c.csvName for c in snapshot.queries.get_package("p").channels]


def test_the_index_of_an_unchanged_catalog_is_cached(tmp_path: Path, loaded: list[str]) -> None:
    catalog = write_fbc(tmp_path, "b: a\na")
    first = _take(catalog, tmp_path / "cache")
    again = _take(catalog, tmp_path / "cache")
    assert len(loaded) == 1
    assert list(again.queries.list_bundles()) == list(first.queries.list_bundles())
    assert again.queries.get_bundle("p", "stable", "b") == first.queries.get_bundle("p", "stable", "b")
    assert again.is_fully_parsed


def test_a_changed_byte_invalidates_the_cache(tmp_path: Path, loaded: list[str]) -> None:
    """Size and times stay the same: the cache compares contents."""
    catalog = write_fbc(tmp_path, "b: a\na")
    _take(catalog, tmp_path / "cache")
    file = catalog / "p.yaml"
    status = file.stat()
    file.write_text(file.read_text().replace("name: b", "name: c"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert _heads(_take(catalog, tmp_path / "cache")) == ["c"]
    assert len(loaded) == 2


def test_a_refused_catalog_is_not_cached(tmp_path: Path, loaded: list[str]) -> None:
    catalog = write_fbc(tmp_path, "b: a\nc: a\na")
    for _ in range(2):
        with pytest.raises(EverpathError):
            _take(catalog, tmp_path / "cache")
    assert len(loaded) == 2


@pytest.mark.parametrize("content", [b"", b"everpath cache\n", b"\0" * 100])
def test_a_damaged_cache_file_is_ignored(tmp_path: Path, loaded: list[str], content: bytes) -> None:
    catalog, cache = write_fbc(tmp_path, "a"), tmp_path / "cache"
    _take(catalog, cache)
    (file,) = cache.iterdir()
    file.write_bytes(content or file.read_bytes()[:-1])
    assert _heads(_take(catalog, cache)) == ["a"]
    assert len(loaded) == 2


def test_a_cache_file_that_other_users_can_write_is_ignored(tmp_path: Path, loaded: list[str]) -> None:
    catalog, cache = write_fbc(tmp_path, "a"), tmp_path / "cache"
    _take(catalog, cache)
    (file,) = cache.iterdir()
    file.chmod(0o666)
    _take(catalog, cache)
    assert len(loaded) == 2


def test_an_index_of_another_version_of_everpath_is_ignored(
    tmp_path: Path, loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog, cache = write_fbc(tmp_path, "a"), tmp_path / "cache"
    _take(catalog, cache)
    monkeypatch.setattr(index_cache, "code_fingerprint", lambda _: "another everpath")
    _take(catalog, cache)
    assert len(loaded) == 2


def test_a_cache_folder_that_cannot_be_written_is_ignored(tmp_path: Path, loaded: list[str]) -> None:
    (tmp_path / "cache").write_text("a file")
    catalog = write_fbc(tmp_path, "a")
    for _ in range(2):
        assert _heads(_take(catalog, tmp_path / "cache")) == ["a"]
    assert len(loaded) == 2


def test_off_disables_the_cache(tmp_path: Path, loaded: list[str]) -> None:
    catalog = write_fbc(tmp_path, "a")
    for _ in range(2):
        take_snapshot(str(catalog), {"EVERPATH_CACHE": "off"})
    assert len(loaded) == 2


def test_a_completed_check_is_cached(tmp_path: Path, loaded: list[str]) -> None:
    catalog, cache = write_fbc(tmp_path, "a"), tmp_path / "cache"
    text = (catalog / "p.yaml").read_text()
    (catalog / "p.yaml").write_text(f"{text}# {'x' * (1 << 20)}\n")
    first = _take(catalog, cache)
    assert not first.is_fully_parsed
    assert not _take(catalog, cache).is_fully_parsed
    first.mark_fully_parsed()
    assert _take(catalog, cache).is_fully_parsed
    assert len(loaded) == 1


def test_a_thorough_load_does_not_use_the_cache(tmp_path: Path, loaded: list[str]) -> None:
    catalog = write_fbc(tmp_path, "a")
    _take(catalog, tmp_path / "cache")
    snapshot = take_snapshot(str(catalog), {"EVERPATH_CACHE": str(tmp_path / "cache")}, thorough=True)
    assert snapshot.is_fully_parsed
    assert len(loaded) == 2
