"""The cache of manifests that were parsed."""

from __future__ import annotations

import errno
import os

import pytest

from everpath.server.catalog.temporary_files import BundleManifests, ManifestCache

KEY = ("p", "a")


def test_manifests_are_loaded_once() -> None:
    cache = ManifestCache()
    loaded = []

    def load(csv: str) -> BundleManifests:
        loaded.append(csv)
        return BundleManifests(csv, (csv, "é"))

    for _ in range(3):
        assert cache.get(("p", "a"), lambda: load("a")) == ("a", ("a", "é"))
        assert cache.get(("p", "b"), lambda: load("")) == ("", ("", "é"))
    assert loaded == ["a", ""]


def test_manifests_are_loaded_again_if_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", fail)
    cache = ManifestCache()
    for csv in ("one", "two"):
        manifests = BundleManifests(csv, ())
        assert cache.get(KEY, lambda found=manifests: found) == manifests  # type: ignore[misc]


def test_a_failed_load_is_not_cached() -> None:
    def fail() -> BundleManifests:
        raise ValueError("no manifest")

    cache = ManifestCache()
    with pytest.raises(ValueError, match="no manifest"):
        cache.get(KEY, fail)
    assert cache.get(KEY, lambda: BundleManifests("a", ())) == ("a", ())
