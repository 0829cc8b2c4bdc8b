"""Errors: messages, hints and exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from everpath.cli.commands.validate import rules_
from everpath.cli.entry_point import run
from everpath.errors import EverpathError, Unreachable, UnreadableInput, UsageError
from tests.support.commandline import ROOT, Everpath
from tests.support.everpath.catalogs import write_fbc


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("m", hint="h"), 2),
        (UnreadableInput("m", hint="h"), 3),
        (Unreachable("m", hint="h"), 4),
    ],
)
def test_error_has_a_hint_and_an_exit_code(
    everpath: Everpath, monkeypatch: pytest.MonkeyPatch, error: EverpathError, code: int
) -> None:
    monkeypatch.setattr(rules_, "all_rules", _raises(error))
    answer = everpath("rules")
    assert (answer.code, answer.out, answer.err) == (code, "", "error: m\nhint: h\n")


def _raises(error: BaseException) -> Callable[..., object]:
    def fail(*_: object) -> object:
        raise error

    return fail


def test_control_characters_of_an_error_are_escaped(
    everpath: Everpath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules_, "all_rules", _raises(UsageError("one\x1b[2J\ntwo")))
    assert everpath("rules").err == "error: one\\x1b[2J\n       two\n"


def test_errors_are_coloured_only_on_a_terminal(everpath: Everpath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_, "all_rules", _raises(UsageError("m")))
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert everpath("rules").err == "\x1b[1;31merror\x1b[0m: m\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert everpath("rules").err == "error: m\n"


def test_internal_error_is_one_sentence_with_the_issue_tracker(
    everpath: Everpath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules_, "all_rules", _raises(ZeroDivisionError("oops")))
    answer = everpath("rules")
    assert answer.code == 70
    assert "internal error: ZeroDivisionError: oops" in answer.err
    assert "EVERPATH_TRACEBACK=1" in answer.err
    assert "Traceback" not in answer.err
    monkeypatch.setenv("EVERPATH_TRACEBACK", "1")
    assert "Traceback" in everpath("rules").err


def test_interrupt_has_a_short_message(everpath: Everpath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_, "all_rules", _raises(KeyboardInterrupt()))
    answer = everpath("rules")
    assert answer.code == 130
    assert answer.err.strip() == "everpath: interrupted"


def _popen(*arguments: str, stdout: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "everpath", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tools")},
    )


@pytest.mark.parametrize("arguments", [["rules"], ["--help"]])
def test_closed_pipe_is_no_error(arguments: list[str]) -> None:
    readable, writable = os.pipe()
    os.close(readable)
    with _popen(*arguments, stdout=writable) as process:
        os.close(writable)
        _, err = process.communicate(timeout=60)
    assert err == b""
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_full_disk_is_an_error() -> None:
    with Path("/dev/full").open("wb") as full, _popen("rules", stdout=full.fileno()) as process:
        _, err = process.communicate(timeout=60)
    assert err.decode() == "error: cannot write to standard output: No space left on device\n"
    assert process.returncode == 2


def test_a_report_that_cannot_be_written_is_an_error(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "b: a\na")
    answer = everpath("validate-graph", "--output-file", "no/such/folder.txt")
    assert answer.code == 2
    assert answer.err.startswith("error: cannot write no/such/folder.txt: No such file or directory\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["completion", "bash"]])
def test_full_disk_is_the_same_error_for_output_of_click(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full, _popen(*arguments, stdout=full.fileno()) as process:
        _, err = process.communicate(timeout=60)
    assert err.decode() == "error: cannot write to standard output: No space left on device\n"
    assert process.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("arguments", "code"), [(["rules", "nope"], 2), (["nope"], 2), (["validate-graph", "nope"], 3)]
)
def test_exit_code_is_kept_without_standard_error(arguments: list[str], code: int) -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [sys.executable, "-m", "everpath", *arguments],
            stderr=full,
            check=False,
            timeout=60,
            env={**os.environ, "PYTHONPATH": str(ROOT / "tools")},
        )
    assert process.returncode == code


def test_os_error_is_reported_with_its_file(everpath: Everpath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_, "all_rules", _raises(PermissionError(13, "Permission denied", "a/b")))
    answer = everpath("rules")
    assert (answer.code, answer.err) == (3, "error: cannot read a/b: Permission denied\n")


def test_closed_standard_input_is_unreadable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert run(["validate-graph", "-"]) == 3
    assert capsys.readouterr().err.startswith("error: cannot read standard input: it is closed\nhint: pipe")


def test_empty_standard_input_is_reported(everpath: Everpath) -> None:
    answer = everpath("validate-graph", "-")
    assert answer.code == 3
    assert answer.err.startswith("error: standard input is empty\nhint: does the command before the pipe")


def test_standard_input_that_cannot_be_read_is_an_unreadable_input() -> None:
    with Path(os.devnull).open("wb") as only_writable:
        process = subprocess.run(
            [sys.executable, "-m", "everpath", "validate-graph", "-"],
            stdin=only_writable,
            capture_output=True,
            check=False,
            timeout=60,
            env={**os.environ, "PYTHONPATH": str(ROOT / "tools")},
        )
    assert process.returncode == 3
    assert process.stderr == b"error: cannot read standard input: Bad file descriptor\n"


def test_a_path_too_long_for_the_system_is_an_unreadable_input(everpath: Everpath) -> None:
    name = "a" * 5000
    answer = everpath("validate-graph", name)
    assert (answer.code, answer.err) == (3, f"error: cannot read {name}: File name too long\n")


def test_a_deleted_current_folder_is_an_error_only_if_it_is_needed(everpath: Everpath, here: Path) -> None:
    catalog = write_fbc(here, "b: a\na")
    folder = here / "gone"
    folder.mkdir()
    os.chdir(folder)
    folder.rmdir()
    expected = "error: the current folder does not exist\nhint: cd to one that exists\n"
    assert everpath("validate-graph", str(catalog), "--no-config").code == 0
    for options in (["--no-config", "-o", "sarif"], []):
        answer = everpath("validate-graph", str(catalog), *options)
        assert (answer.code, answer.err) == (2, expected)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="this system has no /proc")
def test_read_error_is_an_input_error(everpath: Everpath, here: Path) -> None:
    catalog = write_fbc(here, "b: a\na")
    (catalog / "memory.yaml").symlink_to("/proc/self/mem")
    answer = everpath("validate-graph", "-o", "concise")
    assert (answer.code, answer.err) == (3, "")
    assert (
        "catalog/memory.yaml: EP001 error unreadable-document: opm cannot read catalog/memory.yaml"
        in answer.out
    )
