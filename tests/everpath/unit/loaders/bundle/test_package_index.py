"""The cached index of a repository: used only if it is up to date, complete, and of this user."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from everpath import __version__
from everpath.file_cache import FileCache
from everpath.loaders.bundle import package_index
from everpath.loaders.bundle.folder_reader import TIMESTAMP_RESOLUTION_NS, FolderReader
from everpath.loaders.bundle.package_index import load_records
from everpath.loaders.partition import WHOLE, Partition
from everpath.loaders.sources import MAX_DOCUMENT
from everpath.model import UpdateMode
from tests.support.everpath.bundles import csv, problems, read_packages, write, write_bundle
from tests.support.everpath.cache_folders import much_later

CSV = "op/1.0.0/manifests/op.v1.0.0.clusterserviceversion.yaml"

posix = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are POSIX's")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "operators"
    write_bundle(
        folder / "op" / "1.0.0", "op.v1.0.0", channels="stable,beta", notes={"olm.skipRange": "<1.0.0"}
    )
    write_bundle(folder / "op" / "1.1.0", "op.v1.1.0", replaces="op.v1.0.0", skips=["op.v1.0.1"])
    write_bundle(folder / "other" / "1.0.0", "other.v1.0.0")
    dependencies = "dependencies: [{type: olm.package, value: {packageName: x, version: '>1.0.0'}}]"
    write(folder, {"op/ci.yaml": "updateGraph: semver", "op/1.0.0/metadata/dependencies.yaml": dependencies})
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> FileCache:
    return FileCache(tmp_path / "cache", much_later)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the files that are read."""
    files: list[str] = []
    read = FolderReader.read

    def noted(self: FolderReader, file: str, limit: int = MAX_DOCUMENT) -> bytes:
        files.append(file)
        return read(self, file, limit)

    monkeypatch.setattr(FolderReader, "read", noted)
    return files


def _ignores_the_index(repository: Path, cache: FileCache, opened: list[str]) -> bool:
    """Return whether the next load ignores the index; the catalog must be the same as without an index."""
    del opened[:]
    catalog = read_packages(repository, cache=cache)
    is_anew = len(opened) > 0
    assert catalog == read_packages(repository)
    return is_anew


def test_second_load_opens_no_file_and_has_the_same_catalog(
    repository: Path, cache: FileCache, opened: list[str]
) -> None:
    first = read_packages(repository, cache=cache)
    assert len(opened) == 8
    assert not _ignores_the_index(repository, cache, opened)
    assert read_packages(repository, cache=cache) == first
    assert problems(first) == [("unknown-update-mode", "ci.yaml")]


def test_index_does_not_depend_on_the_default_mode(
    repository: Path, cache: FileCache, opened: list[str]
) -> None:
    (repository / "op" / "ci.yaml").unlink()
    read_packages(repository, cache=cache)
    del opened[:]
    catalog = read_packages(repository, cache=cache, default_mode=UpdateMode.REPLACES)
    assert not opened
    assert {p.declarations[0].mode for p in catalog.packages} == {UpdateMode.REPLACES}


def test_relative_and_absolute_paths_share_an_index(
    repository: Path, cache: FileCache, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read_packages(repository, cache=cache)
    monkeypatch.chdir(repository.parent)
    assert not _ignores_the_index(Path("operators"), cache, opened)


def _rewrite(repository: Path) -> None:
    """Write other content of the same size, with the old modification time."""
    file = repository / CSV
    status = file.stat()
    file.write_text(file.read_text().replace("<1.0.0", "<0.9.0"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def _replace(repository: Path) -> None:
    """Move another file over the old one."""
    write(repository, {"new": (repository / CSV).read_text().replace("<1.0.0", "<0.9.0")})
    (repository / "new").replace(repository / CSV)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a CSV is rewritten": _rewrite,
    "a CSV is replaced": _replace,
    "a CSV is moved": lambda root: (root / CSV).rename(
        root / "op/1.0.0/manifests/a.clusterserviceversion.yaml"
    ),
    "a CSV is removed": lambda root: (root / CSV).unlink(),
    "a second CSV comes": lambda root: write(
        root, {"op/1.0.0/manifests/a.clusterserviceversion.yaml": csv("a.v1.0.0")}
    ),
    "annotations change": lambda root: write(root, {"op/1.0.0/metadata/annotations.yaml": "a: b"}),
    "properties come": lambda root: write(
        root, {"op/1.0.0/metadata/p.yaml": "properties: [{type: x, value: 1}]"}
    ),
    "a version comes": lambda root: write_bundle(root / "op" / "1.2.0", "op.v1.2.0"),
    "a version goes": lambda root: shutil.rmtree(root / "op" / "1.1.0"),
    "a layout changes": lambda root: (root / "op/1.1.0/manifests").rename(root / "op/1.1.0/elsewhere"),
    "the mode changes": lambda root: write(root, {"op/ci.yaml": "updateGraph: replaces-mode"}),
    "the mode goes": lambda root: (root / "op" / "ci.yaml").unlink(),
    "a mode comes": lambda root: write(root, {"other/ci.yaml": "updateGraph: replaces-mode"}),
    "a package comes": lambda root: write_bundle(root / "new" / "1.0.0", "new.v1.0.0"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_change_invalidates_the_index(
    repository: Path, cache: FileCache, opened: list[str], change: Callable[[Path], object]
) -> None:
    before = read_packages(repository, cache=cache)
    change(repository)
    assert _ignores_the_index(repository, cache, opened)
    assert read_packages(repository, cache=cache) != before
    assert not _ignores_the_index(repository, cache, opened)


def test_only_the_changed_package_is_loaded_again(
    repository: Path, cache: FileCache, opened: list[str]
) -> None:
    read_packages(repository, cache=cache)
    write_bundle(repository / "other" / "1.1.0", "other.v1.1.0")
    del opened[:]
    read_packages(repository, cache=cache)
    assert [Path(file).parts[0] for file in opened] == ["1.0.0", "1.0.0", "1.1.0", "1.1.0"]


def test_removed_package_is_removed_from_the_index(
    repository: Path, cache: FileCache, opened: list[str]
) -> None:
    read_packages(repository, cache=cache)
    shutil.rmtree(repository / "other")
    assert not _ignores_the_index(repository, cache, opened)
    assert list(load_records(cache, str(repository))) == ["op"]


def test_complete_index_is_not_written_again(repository: Path, cache: FileCache) -> None:
    read_packages(repository, cache=cache)
    written = cache.file(str(repository), "index").stat().st_ino
    read_packages(repository, cache=cache)
    assert cache.file(str(repository), "index").stat().st_ino == written


def test_file_that_changed_while_it_was_read_is_not_cached(
    repository: Path, tmp_path: Path, opened: list[str]
) -> None:
    newest = max(max(p.stat().st_mtime_ns, p.stat().st_ctime_ns) for p in repository.rglob("*"))
    for clock, is_trusted in (
        (newest, False),
        (newest + TIMESTAMP_RESOLUTION_NS, False),
        (newest + TIMESTAMP_RESOLUTION_NS + 1, True),
    ):
        cache = FileCache(tmp_path / str(clock), lambda now=clock: now)  # type: ignore[misc]
        read_packages(repository, cache=cache)
        assert _ignores_the_index(repository, cache, opened) is not is_trusted


def test_file_with_a_time_in_the_future_is_not_cached(
    repository: Path, cache: FileCache, opened: list[str]
) -> None:
    future = time.time_ns() + 10**6 * TIMESTAMP_RESOLUTION_NS
    os.utime(repository / CSV, ns=(future, future))
    read_packages(repository, cache=cache)
    assert _ignores_the_index(repository, cache, opened)
    assert list(load_records(cache, str(repository))) == ["other"]


def test_unreadable_file_is_not_cached(
    repository: Path, cache: FileCache, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, flags: int) -> int:
        raise PermissionError(13, "Permission denied", path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        assert "unreadable-document" in dict(problems(read_packages(repository, cache=cache)))
    assert not load_records(cache, str(repository))
    assert _ignores_the_index(repository, cache, opened)


@posix
@pytest.mark.skipif(sys.platform == "darwin", reason="its file system takes UTF-8 names only")
def test_undecodable_names_are_loaded_but_not_cached(repository: Path, cache: FileCache) -> None:
    (repository / "op" / "1.0.0" / "metadata" / os.fsdecode(b"\xff.yaml")).write_text("")
    catalog = read_packages(repository, cache=cache)
    assert [p.name for p in catalog.packages] == ["op"]
    assert list(load_records(cache, str(repository))) == ["other"]


@posix
@pytest.mark.skipif(sys.platform == "darwin", reason="its file system takes UTF-8 names only")
def test_package_folder_with_an_undecodable_name_is_loaded_but_not_cached(
    repository: Path, cache: FileCache
) -> None:
    write_bundle(repository / os.fsdecode(b"\xff") / "1.0.0", "op.v2.0.0")
    catalog = read_packages(repository, cache=cache)
    assert "op.v2.0.0" in catalog.by_name["op"].by_name
    assert sorted(load_records(cache, str(repository))) == ["op", "other"]


def test_thorough_load_uses_no_index(repository: Path, cache: FileCache, opened: list[str]) -> None:
    read_packages(repository, cache=cache)
    del opened[:]
    read_packages(repository, cache=cache, thorough=True)
    assert opened


@pytest.mark.parametrize("keep", [0, 1, 14, 15, 46, 47, 48, 200, -1])
def test_truncated_index_is_ignored(repository: Path, cache: FileCache, opened: list[str], keep: int) -> None:
    read_packages(repository, cache=cache)
    file = cache.file(str(repository), "index")
    file.write_bytes(file.read_bytes()[:keep])
    assert load_records(cache, str(repository)) == {}
    assert _ignores_the_index(repository, cache, opened)
    assert not _ignores_the_index(repository, cache, opened)


@pytest.mark.parametrize("at", [0, 20, 60, 300, -1])
def test_index_with_one_wrong_bit_is_ignored(repository: Path, cache: FileCache, at: int) -> None:
    read_packages(repository, cache=cache)
    file = cache.file(str(repository), "index")
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)
    assert load_records(cache, str(repository)) == {}


def test_other_file_in_place_of_the_index_is_ignored(repository: Path, cache: FileCache) -> None:
    key = (package_index._FORMAT, __version__)
    cache.save(str(repository), "index", key, b"\x93\x01\x02\x03")
    assert cache.load(str(repository), "index", key) is not None
    assert load_records(cache, str(repository)) == {}


def test_index_of_another_repository_is_ignored(repository: Path, cache: FileCache) -> None:
    read_packages(repository, cache=cache)
    elsewhere = str(repository.parent / "elsewhere")
    shutil.copy(cache.file(str(repository), "index"), cache.file(elsewhere, "index"))
    assert load_records(cache, elsewhere) == {}


@pytest.mark.parametrize(("name", "value"), [("__version__", "0.0.0"), ("_FORMAT", 0)])
def test_index_of_another_version_is_ignored(
    repository: Path, cache: FileCache, monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(package_index, name, value)
        read_packages(repository, cache=cache)
        assert load_records(cache, str(repository))
    assert load_records(cache, str(repository)) == {}


@posix
def test_index_of_another_user_is_ignored(
    repository: Path, cache: FileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_packages(repository, cache=cache)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert load_records(cache, str(repository)) == {}


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_index_that_others_can_write_is_ignored(repository: Path, cache: FileCache, mode: int) -> None:
    read_packages(repository, cache=cache)
    cache.file(str(repository), "index").chmod(mode)
    assert load_records(cache, str(repository)) == {}


@posix
def test_a_link_in_place_of_the_index_is_not_followed(repository: Path, cache: FileCache) -> None:
    read_packages(repository, cache=cache)
    file = cache.file(str(repository), "index")
    target = file.rename(file.with_name("target"))
    file.symlink_to(target)
    assert load_records(cache, str(repository)) == {}


@posix
def test_a_pipe_in_place_of_the_index_does_not_block(repository: Path, cache: FileCache) -> None:
    file = cache.file(str(repository), "index")
    file.parent.mkdir()
    os.mkfifo(file)
    assert load_records(cache, str(repository)) == {}


@posix
def test_only_the_owner_can_read_the_index(repository: Path, cache: FileCache) -> None:
    read_packages(repository, cache=cache)
    assert cache.file(str(repository), "index").stat().st_mode & 0o777 == 0o600
    assert cache.folder.stat().st_mode & 0o777 == 0o700
    assert len(list(cache.folder.iterdir())) == 1


def test_cache_folder_that_cannot_be_written_is_no_error(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = FileCache(tmp_path / "file" / "cache", much_later)
    assert read_packages(repository, cache=cache) == read_packages(repository)


def test_index_that_cannot_be_renamed_leaves_the_old_one(
    repository: Path, cache: FileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_packages(repository, cache=cache)
    before = cache.file(str(repository), "index").read_bytes()
    write_bundle(repository / "op" / "1.2.0", "op.v1.2.0")

    def refuse(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", refuse)
    read_packages(repository, cache=cache)
    assert [file.read_bytes() for file in cache.folder.iterdir()] == [before]


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert FileCache.from_environment({}) is None
    assert FileCache.from_environment({"EVERPATH_CACHE": "x"}) is not None


def test_cache_folder_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    folders = {
        name: cache and cache.folder
        for name, cache in {
            "off": FileCache.from_environment({"EVERPATH_CACHE": "off"}),
            "named": FileCache.from_environment({"EVERPATH_CACHE": "/x", "XDG_CACHE_HOME": "/y"}),
            "xdg": FileCache.from_environment({"XDG_CACHE_HOME": str(tmp_path / "y")}),
            "relative xdg": FileCache.from_environment({"XDG_CACHE_HOME": "y"}),
            "home": FileCache.from_environment({}),
        }.items()
    }
    assert folders == {
        "off": None,
        "named": Path("/x"),
        "xdg": tmp_path / "y" / "everpath",
        "relative xdg": tmp_path / ".cache" / "everpath",
        "home": tmp_path / ".cache" / "everpath",
    }


def test_each_partition_has_its_own_index(repository: Path, cache: FileCache, opened: list[str]) -> None:
    def names(partition: Partition) -> set[str]:
        found = read_packages(repository, cache=cache, partition=partition)
        return {bundle.name for package in found.packages for bundle in package.bundles}

    parts = [{"op.v1.0.0", "op.v1.1.0"}, {"other.v1.0.0"}]
    assert [names(Partition(number, 2)) for number in (0, 1)] == parts
    opened.clear()
    assert [names(Partition(number, 2)) for number in (0, 1)] == parts
    assert not opened
    assert names(WHOLE) == parts[0] | parts[1]
    assert opened, "the index of a partition must not pass for that of the whole"
