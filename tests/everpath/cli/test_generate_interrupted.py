"""`everpath generate` and `release` write all files or none: killed, on a full disk, or two at once."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from everpath import atomic_files
from everpath.signals import signals_as_interrupt
from tests.support.commandline import Everpath, heeded
from tests.support.everpath.projects import tree, write_operator, write_releases

TWO = """
    - {version: 0.1.0, channels: [stable]}
    - {version: 0.2.0, channels: [stable, fast], from: {replaces: 0.1.0}}
"""


@pytest.fixture
def project(here: Path) -> Path:
    write_operator(here)
    write_releases(here, TWO)
    return here


def test_a_full_disk_restores_everything(
    everpath: Everpath, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everpath("generate")
    write_releases(project, TWO.replace("0.2.0", "0.2.1"))
    before = tree(project)

    def full(draft: Path, _: bytes) -> None:
        del draft
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic_files, "_write_new_file", full)
    answer = everpath("generate")
    assert answer.code == 2
    assert "cannot write bundles/acme/0.2.1/" in answer.err
    assert "No space left on device" in answer.err
    assert tree(project) == before


def test_a_full_temporary_folder_is_an_error_with_its_path(
    everpath: Everpath, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Path, __: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    answer = everpath("generate")
    assert answer.code == 2
    assert re.fullmatch(r"error: cannot write to \S*everpath-\S+: No space left on device\n", answer.err)


def test_leftovers_of_a_killed_run_are_deleted_and_block_freezing(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    left = project / "bundles/acme/0.2.0/manifests/.acme.clusterserviceversion.yaml.123.new"
    left.write_text("half")
    assert everpath("generate", "--check").code == 1
    answer = everpath("release", "0.3.0", "-q")
    assert answer.code == 2
    assert "bundles/acme/0.2.0 may be incomplete" in answer.err
    assert "run everpath generate to complete it" in answer.err
    assert everpath("generate").code == 0
    assert not left.exists()
    assert everpath("release", "0.3.0", "-q").code == 0


def test_a_bundle_with_leftovers_in_the_staging_folder_is_not_frozen(
    everpath: Everpath, project: Path
) -> None:
    everpath("generate")
    left = project / ".catalog.staging/7/new/bundles/acme/0.2.0/manifests/acme.clusterserviceversion.yaml"
    left.parent.mkdir(parents=True)
    left.write_text("half")
    answer = everpath("release", "0.3.0", "-q")
    assert answer.code == 2
    assert "bundles/acme/0.2.0 may be incomplete" in answer.err
    assert everpath("generate").code == 0
    assert not (project / ".catalog.staging").exists()
    assert everpath("release", "0.3.0", "-q").code == 0


def test_leftovers_of_other_files_are_kept(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    others = project / ".catalog.staging/7/new/catalog/other.yaml"
    twice = project / ".catalog.staging/8/old/.catalog.staging/7/old/catalog/releases.yaml"
    for path in (others, twice):
        path.parent.mkdir(parents=True)
        path.write_text("half")
    assert everpath("generate").code == 0
    assert others.exists()
    assert not twice.exists()


def test_without_a_staging_folder_files_are_staged_beside_their_place(
    everpath: Everpath, project: Path
) -> None:
    (project / ".catalog.staging").write_text("in the way")
    assert everpath("generate").code == 0
    assert not [name for name in tree(project) if name.endswith((".new", ".old"))]


def test_the_staging_folder_is_beside_the_folder_of_the_releases_file(
    everpath: Everpath, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "catalog")
    with monkeypatch.context() as patch:
        patch.setattr("everpath.atomic_files._CommitSteps.roll_back", lambda _: None)
        _kill_at(patch, 12)
        everpath("generate")
    assert (project / ".catalog.staging").is_dir()
    assert everpath("generate").code == 0
    assert not (project / ".catalog.staging").exists()


def test_leftovers_beside_the_catalog_are_deleted(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    names = (
        "catalog/.releases.yaml.7.old",
        "catalog/acme/.catalog.yaml.7.new",
        "bundles/acme/.ci.yaml.7.new",
    )
    own = project / "catalog/acme/.notes.yaml.7.old"
    for name in names:
        (project / name).write_text("half")
    own.write_text("mine")
    assert everpath("generate").code == 0
    assert not [name for name in names if (project / name).exists()]
    assert own.exists()


@pytest.mark.exhaustive
def test_a_release_killed_at_any_step_is_completed_by_generate(
    everpath: Everpath, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everpath("generate")
    before = tree(project)
    everpath("release", "0.3.0", "-q")
    after = tree(project)
    monkeypatch.setattr("everpath.atomic_files._CommitSteps.roll_back", lambda _: None)
    for step in range(1, 30):
        shutil.rmtree(project / "bundles")
        shutil.rmtree(project / "catalog")
        for name, content in before.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_bytes(content)
        with monkeypatch.context() as patch:
            _kill_at(patch, step)
            is_over = everpath("release", "0.3.0", "-q").code == 0
        hidden = [name for name in tree(project / "catalog") if name.rpartition("/")[2].startswith(".")]
        assert hidden == [".indexignore"], "opm reads hidden files, too"
        assert everpath("generate").code == 0, step
        assert tree(project) in (before, after), step
        assert not (project / ".catalog.staging").exists()
        if is_over:
            return
    pytest.fail("there are no more steps than that")


@pytest.mark.exhaustive(keep=1)
@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_at_any_step_rolls_the_release_back(
    everpath: Everpath, project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    everpath("generate")
    before = tree(project)
    for step in (1, 5, 9, 10, 11, 12):
        with monkeypatch.context() as patch, heeded(getattr(signal, name)):
            _signal_at(patch, step, getattr(signal, name))
            answer = everpath("release", "0.3.0", "-q")
        assert (answer.code, answer.err.splitlines()[-1]) == (130, "everpath: interrupted"), step
        assert tree(project) == before, step
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def _signal_at(patch: pytest.MonkeyPatch, number: int, signal_number: int) -> None:
    """Send a signal to the process after that step, and more while it rolls back."""
    steps = iter(range(1, number))

    def counted(step: Callable[..., None]) -> Callable[..., None]:
        def run(*arguments: object) -> None:
            step(*arguments)
            if next(steps, None) is None:
                os.kill(os.getpid(), signal_number)

        return run

    for name in ("_make_folder", "_write_new_file", "_link_or_copy", "_rename"):
        patch.setattr(atomic_files, name, counted(getattr(atomic_files, name)))


def test_signals_ignored_by_nohup_stay_ignored() -> None:
    if not hasattr(signal, "SIGHUP"):
        pytest.skip("there is no such signal")
    earlier = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals_as_interrupt():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, earlier)


def _kill_at(patch: pytest.MonkeyPatch, number: int) -> None:
    """End the run at that step, as if it were killed."""
    steps = iter(range(1, number))

    def counted(step: Callable[..., None]) -> Callable[..., None]:
        def run(*arguments: object) -> None:
            if next(steps, None) is None:
                raise KeyboardInterrupt
            step(*arguments)

        return run

    for name in ("_make_folder", "_write_new_file", "_link_or_copy", "_rename"):
        patch.setattr(atomic_files, name, counted(getattr(atomic_files, name)))


def test_a_second_run_waits_for_the_first(
    everpath: Everpath, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")
    holder = os.open(project / "catalog", os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    real = fcntl.flock

    def flock(handle: int, how: int) -> None:
        if not how & fcntl.LOCK_NB:
            os.close(holder)
        real(handle, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    answer = everpath("generate")
    assert answer.err == "waiting for another everpath process in this project\n"
    assert (project / "bundles/acme/0.2.0").is_dir()


@pytest.mark.parametrize("looking", [("generate", "--check"), ("release", "0.3.0", "--dry-run")])
def test_read_only_runs_do_not_wait_for_each_other(
    everpath: Everpath, project: Path, looking: tuple[str, ...]
) -> None:
    fcntl = pytest.importorskip("fcntl")
    everpath("generate")
    holder = os.open(project / "catalog", os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_SH)
    answer = everpath(*looking)
    os.close(holder)
    assert "waiting" not in answer.err
