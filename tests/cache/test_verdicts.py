"""What was found in a folder is found again without a look, while nothing has changed that it hangs on."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bundles import write
from everpath.app import lint_cache
from everpath.app.config import Config
from everpath.app.inputs import Inputs
from everpath.app.lint import _PathLinter
from everpath.file_cache import FileCache
from everpath.loaders.bundle.package_index import load_records
from everpath.model import Bundle, Catalog, Package, Place
from everpath.rules.findings import Finding, Severity
from everpath.rules.lint import Selection
from everpath.rules.registry import find_rules
from remembering import freshly_judged, judged, much_later, write_version

posix = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are POSIX's")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Three packages, each with something to find."""
    root = tmp_path / "operators"
    for package in "abc":
        write(root, {f"{package}/ci.yaml": "updateGraph: replaces-mode\n"})
        write_version(root, package, "1.0.0")
        write_version(root, package, "1.1.0", replaces=f"{package}.v1.0.0")
        write_version(root, package, "1.2.0", replaces=f"{package}.v1.0.0")
    return root


@pytest.fixture
def cache(tmp_path: Path) -> FileCache:
    return FileCache(tmp_path / "cache", much_later)


def file(cache: FileCache) -> Path:
    """Where verdicts are kept."""
    (found,) = cache.folder.glob("*.findings")
    return found


def test_what_has_not_changed_is_not_judged_again_and_the_report_is_the_same(
    repository: Path, cache: FileCache
) -> None:
    fresh = freshly_judged(repository)
    assert {f.package for f in fresh.findings} == {"a", "b", "c"}
    assert judged(repository, cache) == (fresh, ["a", "b", "c"])
    assert judged(repository, cache) == (fresh, [])


def test_only_the_folder_that_changed_is_judged_again(repository: Path, cache: FileCache) -> None:
    judged(repository, cache)
    write_version(repository, "b", "1.2.0", replaces="b.v1.1.0")
    fresh = freshly_judged(repository)
    assert judged(repository, cache) == (fresh, ["b"])
    assert judged(repository, cache) == (fresh, [])


def _exchange(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def _bury(root: Path) -> None:
    (root / "operators").mkdir()
    for package in "abc":
        (root / package).rename(root / "operators" / package)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a CSV changes": lambda root: write_version(root, "b", "1.2.0", replaces="b.v1.1.0"),
    "a mode changes": lambda root: write(root, {"b/ci.yaml": "updateGraph: semver-mode\n"}),
    "a mode goes": lambda root: (root / "b" / "ci.yaml").unlink(),
    "annotations change": lambda root: write(root, {"b/1.0.0/metadata/annotations.yaml": "a: b"}),
    "a version comes": lambda root: write_version(root, "b", "1.3.0", replaces="b.v1.2.0"),
    "a version goes": lambda root: shutil.rmtree(root / "b" / "1.2.0"),
    "a package comes": lambda root: write_version(root, "d", "1.0.0", replaces="d.v0.9.0"),
    "a package goes": lambda root: shutil.rmtree(root / "b"),
    "a package gets another name": lambda root: (root / "b").rename(root / "d"),
    "two folders are exchanged": lambda root: _exchange(root / "a", root / "b"),
    "a folder speaks about another's package": lambda root: write_version(root, "d", "2.0.0", package="a"),
    "packages move into operators/": _bury,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_after_any_change_the_report_is_that_of_a_fresh_look(
    repository: Path, cache: FileCache, change: Callable[[Path], object]
) -> None:
    before, _ = judged(repository, cache)
    change(repository)
    fresh = freshly_judged(repository)
    assert fresh != before
    assert [judged(repository, cache)[0] for _ in range(3)] == [fresh] * 3


def test_folders_that_speak_about_one_package_are_judged_together_each_time(
    repository: Path, cache: FileCache
) -> None:
    write_version(repository, "d", "2.0.0", package="a", replaces="a.v1.2.0")
    fresh = freshly_judged(repository)
    assert judged(repository, cache)[0] == fresh
    assert judged(repository, cache) == (fresh, ["a"])


STAMPS = {"": (0, 0, 0, 0)}


def _bundle(package: str, folder: str) -> Bundle:
    return Bundle(f"{package}.v1", package, "1.0.0", Place(f"operators/{folder}/1.0.0/csv.yaml"))


def _reached(cache: FileCache, catalog: Catalog, *findings: Finding) -> list[str]:
    """The folders on which a verdict is kept, of a, b and c."""
    written = lint_cache.LintCache(cache, "operators", ())
    written.skip_unchanged("operators", [])
    written.record_stamps({"a": STAMPS, "b": STAMPS, "c": STAMPS})
    return sorted(written.encode(catalog, findings))


def test_no_verdict_is_kept_on_folders_that_share_a_package(cache: FileCache) -> None:
    shared = Package("p", bundles=(_bundle("p", "a"), _bundle("p", "b")))
    own = Package("q", bundles=(_bundle("q", "c"),))
    assert _reached(cache, Catalog("test", (shared, own))) == ["c"]
    assert _reached(cache, Catalog("test", (own,))) == ["a", "b", "c"]


def test_no_verdict_is_kept_on_a_folder_with_a_finding_about_another_s_package(cache: FileCache) -> None:
    catalog = Catalog("test", (Package("p", bundles=(_bundle("p", "a"),)),))

    def finding(file: str) -> Finding:
        return Finding("EP203", "fork", Severity.ERROR, Place(file), "a fork", package="p")

    assert _reached(cache, catalog, finding("operators/a/1.0.0/csv.yaml")) == ["a", "b", "c"]
    assert _reached(cache, catalog, finding("operators/b/1.0.0/csv.yaml")) == ["c"]
    assert _reached(cache, catalog, finding("elsewhere/a/1.0.0/csv.yaml")) == []


def test_no_verdict_is_kept_under_a_name_that_is_no_text(cache: FileCache) -> None:
    written = lint_cache.LintCache(cache, "operators", ())
    written.skip_unchanged("operators", [])
    written.record_stamps({"\udcff": STAMPS, "a": STAMPS})
    assert list(written.encode(Catalog("test"), ())) == ["a"]


def test_a_verdict_of_wrong_types_does_not_stand(cache: FileCache) -> None:
    written, read = (lint_cache.LintCache(cache, "operators", ()) for _ in range(2))
    written.skip_unchanged("operators", [])
    written.record_stamps({"a": STAMPS})
    encoded = written.encode(Catalog("test"), ())
    written.save((), {"a": encoded["a"], "b": b"\x01"})
    assert not read.skip_unchanged("operators", ["b"])
    assert list(read._cached) == ["a", "b"]


def test_a_folder_that_joins_another_s_package_costs_one_fresh_look_at_all(
    repository: Path, cache: FileCache
) -> None:
    judged(repository, cache)
    write_version(repository, "d", "2.0.0", package="a", replaces="a.v1.2.0")
    assert [judged(repository, cache)[1] for _ in range(3)] == [
        ["a", "a", "b", "c"],
        ["a", "b", "c"],
        ["a"],
    ]


def test_what_can_only_be_judged_as_a_whole_is_judged_once(tmp_path: Path, cache: FileCache) -> None:
    channel = "{schema: olm.channel, package: a, name: stable, entries: [{name: a.v1}]}"
    write(tmp_path / "catalog", {"a.yaml": channel})
    assert judged(tmp_path / "catalog", cache) == (freshly_judged(tmp_path / "catalog"), ["a"])


def test_a_single_package_is_remembered_too(repository: Path, cache: FileCache) -> None:
    fresh = freshly_judged(repository / "a")
    assert judged(repository / "a", cache) == (fresh, ["a"])
    assert judged(repository / "a", cache) == (fresh, [])


def test_another_question_is_not_answered_with_what_was_found(repository: Path, cache: FileCache) -> None:
    judged(repository, cache)
    for selection in (
        Selection(rules=find_rules(["fork"])),
        Selection(ignored=find_rules(["fork"])),
        Selection(policy="v0"),
        Selection(packages=frozenset({"a"})),
        Selection(channels=frozenset({"beta"})),
    ):
        report, packages = judged(repository, cache, selection)
        assert report == freshly_judged(repository, selection)
        assert packages == ["a", "b", "c"]


def test_another_mode_is_another_question(repository: Path, cache: FileCache) -> None:
    for package in "abc":
        (repository / package / "ci.yaml").unlink()
    first, _ = judged(repository, cache)
    mode = "replaces-mode"
    second, packages = judged(repository, cache, mode=mode)
    assert second == freshly_judged(repository, mode=mode) != first
    assert packages == ["a", "b", "c"]


@pytest.mark.parametrize("limit", [{"packages": frozenset("a")}, {"channels": frozenset({"stable"})}])
def test_a_limited_run_does_not_drive_out_what_is_known(
    repository: Path, cache: FileCache, limit: dict[str, frozenset[str]]
) -> None:
    judged(repository, cache)
    judged(repository, cache, Selection(**limit))  # type: ignore[arg-type]
    assert judged(repository, cache)[1] == []


def test_findings_name_files_as_the_user_named_the_folder(
    repository: Path, cache: FileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged(repository, cache)
    monkeypatch.chdir(repository.parent)
    report, _ = judged("operators", cache)
    assert report == freshly_judged("operators")
    assert all(f.place.file.startswith("operators" + os.sep) for f in report.findings)


def test_a_thorough_run_remembers_nothing(repository: Path, cache: FileCache) -> None:
    judged(repository, cache)
    assert judged(repository, cache, thorough=True)[1] == ["a", "b", "c"]


@pytest.mark.parametrize("sources", ["another", None])
def test_what_other_sources_found_is_not_believed(
    repository: Path, cache: FileCache, monkeypatch: pytest.MonkeyPatch, sources: str | None
) -> None:
    judged(repository, cache)
    monkeypatch.setattr(lint_cache, "code_fingerprint", lambda _: sources)
    assert judged(repository, cache)[1] == ["a", "b", "c"]


def test_where_sources_cannot_be_told_nothing_is_remembered(
    repository: Path, cache: FileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lint_cache, "code_fingerprint", lambda _: None)
    judged(repository, cache)
    assert judged(repository, cache)[1] == ["a", "b", "c"]
    assert not list(cache.folder.glob("*.findings"))


def test_what_was_found_is_not_written_again(repository: Path, cache: FileCache) -> None:
    judged(repository, cache)
    written = file(cache).stat().st_ino
    judged(repository, cache)
    assert file(cache).stat().st_ino == written


def test_what_is_gone_is_forgotten(repository: Path, cache: FileCache) -> None:
    judged(repository, cache)
    size = file(cache).stat().st_size
    shutil.rmtree(repository / "c")
    judged(repository, cache)
    assert file(cache).stat().st_size < size * 3 / 4


def test_facts_of_what_was_not_judged_again_are_kept(repository: Path, cache: FileCache) -> None:
    judged(repository, cache)
    write_version(repository, "b", "1.2.0", replaces="b.v1.1.0")
    judged(repository, cache)
    assert sorted(load_records(cache, str(repository))) == ["a", "b", "c"]


def test_a_file_that_may_change_once_more_under_its_stamp_is_judged_again(
    repository: Path, tmp_path: Path
) -> None:
    moment = FileCache(tmp_path / "cache", lambda: (repository / "c" / "ci.yaml").stat().st_ctime_ns)
    fresh = freshly_judged(repository)
    assert [judged(repository, moment) for _ in range(2)] == [(fresh, ["a", "b", "c"])] * 2


@pytest.mark.parametrize("keep", [0, 1, 14, 15, 46, 47, 48, 200, -1])
def test_a_torn_file_is_not_believed(repository: Path, cache: FileCache, keep: int) -> None:
    fresh, _ = judged(repository, cache)
    file(cache).write_bytes(file(cache).read_bytes()[:keep])
    assert judged(repository, cache) == (fresh, ["a", "b", "c"])
    assert judged(repository, cache) == (fresh, [])


@pytest.mark.parametrize("at", [0, 20, 60, 300, -1])
def test_a_file_with_one_wrong_bit_is_not_believed(repository: Path, cache: FileCache, at: int) -> None:
    fresh, _ = judged(repository, cache)
    content = bytearray(file(cache).read_bytes())
    content[at] ^= 1
    file(cache).write_bytes(content)
    assert judged(repository, cache) == (fresh, ["a", "b", "c"])


def test_what_was_found_elsewhere_is_not_believed(repository: Path, cache: FileCache, tmp_path: Path) -> None:
    judged(repository, cache)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(repository, elsewhere)
    shutil.copy(file(cache), cache.file(str(elsewhere), kind="findings"))
    assert judged(elsewhere, cache) == (freshly_judged(elsewhere), ["a", "b", "c"])


@posix
def test_what_others_may_have_written_is_not_believed(repository: Path, cache: FileCache) -> None:
    judged(repository, cache)
    file(cache).chmod(0o620)
    assert judged(repository, cache)[1] == ["a", "b", "c"]


@posix
@pytest.mark.skipif(sys.platform == "darwin", reason="its file system takes UTF-8 names only")
def test_a_folder_whose_name_is_no_text_is_judged_each_time(repository: Path, cache: FileCache) -> None:
    write_version(repository, os.fsdecode(b"\xff"), "1.0.0", package="d", replaces="d.v0.9.0")
    fresh = freshly_judged(repository)
    assert judged(repository, cache)[0] == fresh
    assert judged(repository, cache) == (fresh, ["d"])


def test_a_repository_without_anything_to_judge_is_no_less_so_the_second_time(
    tmp_path: Path, cache: FileCache
) -> None:
    write(tmp_path / "operators", {"a/1.0.0/manifests/crd.yaml": "kind: CustomResourceDefinition\n"})
    write(tmp_path / "operators", {"a/1.0.0/metadata/annotations.yaml": "annotations: {}\n"})
    fresh = freshly_judged(tmp_path)
    assert [judged(tmp_path, cache)[0] for _ in range(3)] == [fresh] * 3


def test_what_a_child_found_can_be_told_to_its_parent() -> None:
    part = _PathLinter(Inputs((), Config()), "", Selection()).lint_part(Catalog("empty"), None)
    assert pickle.loads(pickle.dumps(part)) == part


def test_many_who_remember_at_once_all_say_the_same(repository: Path, tmp_path: Path) -> None:
    """In processes of their own, of which each has children: shares differ, what is kept does not."""
    typed = [sys.executable, "-m", "everpath", "validate-graph", str(repository), "--no-config", "-j"]
    around = {**os.environ, "EVERPATH_CACHE": str(tmp_path / "cache")}

    def started(jobs: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*typed, str(jobs)], env=around, stdout=subprocess.PIPE)

    said = {process.communicate()[0] for process in [started(jobs) for jobs in (1, 2, 3, 1, 2, 3)]}
    assert len(said) == 1
    assert b"3 packages" in said.pop()
