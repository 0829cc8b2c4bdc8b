"""What becomes of everything that can go wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from catalogs import write_fbc
from commandline import ROOT, Everpath
from everpath.cli.commands import rules_
from everpath.cli.entry_point import run
from everpath.errors import EverpathError, Unreachable, UnreadableInput, UsageError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("m", hint="h"), 2),
        (UnreadableInput("m", hint="h"), 3),
        (Unreachable("m", hint="h"), 4),
    ],
)
def test_an_error_is_told_with_its_hint_and_its_exit_code(
    everpath: Everpath, monkeypatch: pytest.MonkeyPatch, error: EverpathError, code: int
) -> None:
    monkeypatch.setattr(rules_, "all_rules", _raises(error))
    answer = everpath("rules")
    assert (answer.code, answer.out, answer.err) == (code, "", "error: m\nhint: h\n")


def _raises(error: BaseException) -> Callable[..., object]:
    def fail(*_: object) -> object:
        raise error

    return fail


def test_the_text_of_an_error_cannot_write_to_the_terminal(
    everpath: Everpath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules_, "all_rules", _raises(UsageError("one\x1b[2J\ntwo")))
    assert everpath("rules").err == "error: one\\x1b[2J\n       two\n"


def test_errors_are_coloured_only_when_wanted(everpath: Everpath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_, "all_rules", _raises(UsageError("m")))
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert everpath("rules").err == "\x1b[1;31merror\x1b[0m: m\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert everpath("rules").err == "error: m\n"


def test_an_unexpected_exception_is_one_sentence_and_where_to_report_it(
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


def test_an_interrupt_is_answered_briefly(everpath: Everpath, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_reader_who_leaves_is_left_in_peace(arguments: list[str]) -> None:
    readable, writable = os.pipe()
    os.close(readable)
    with _popen(*arguments, stdout=writable) as process:
        os.close(writable)
        _, err = process.communicate(timeout=60)
    assert err == b""
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_an_error_that_says_so() -> None:
    with Path("/dev/full").open("wb") as full, _popen("rules", stdout=full.fileno()) as process:
        _, err = process.communicate(timeout=60)
    assert err.decode() == "error: cannot write to standard output: No space left on device\n"
    assert process.returncode == 2


def test_a_report_that_cannot_be_written_is_an_error(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "b: a\na")
    answer = everpath("validate-graph", "--output-file", "no/such/folder.txt")
    assert answer.code == 2
    assert answer.err == "error: cannot write to no/such/folder.txt: No such file or directory\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["completion", "bash"]])
def test_what_click_prints_onto_a_full_disk_is_the_same_error(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full, _popen(*arguments, stdout=full.fileno()) as process:
        _, err = process.communicate(timeout=60)
    assert err.decode() == "error: cannot write to standard output: No space left on device\n"
    assert process.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("arguments", "code"), [(["rules", "nope"], 2), (["nope"], 2), (["validate-graph", "nope"], 3)]
)
def test_an_error_that_nobody_can_be_told_keeps_its_exit_code(arguments: list[str], code: int) -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [sys.executable, "-m", "everpath", *arguments],
            stderr=full,
            check=False,
            timeout=60,
            env={**os.environ, "PYTHONPATH": str(ROOT / "tools")},
        )
    assert process.returncode == code


def test_a_refusal_of_the_operating_system_that_names_a_file_is_about_that_file(
    everpath: Everpath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules_, "all_rules", _raises(PermissionError(13, "Permission denied", "a/b")))
    answer = everpath("rules")
    assert (answer.code, answer.err) == (3, "error: cannot read a/b: Permission denied\n")


def test_closed_standard_input_is_an_unreadable_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert run(["validate-graph", "-"]) == 3
    assert capsys.readouterr().err.startswith("error: cannot read standard input: it is closed\nhint: pipe")


def test_standard_input_without_a_byte_is_told_as_that(everpath: Everpath) -> None:
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
    expected = (
        "error: cannot tell the current folder: No such file or directory\nhint: cd to one that exists\n"
    )
    assert everpath("validate-graph", str(catalog), "--no-config").code == 0
    for options in (["--no-config", "-o", "sarif"], []):
        answer = everpath("validate-graph", str(catalog), *options)
        assert (answer.code, answer.err) == (2, expected)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="this system has no /proc")
def test_a_file_that_opens_but_cannot_be_read_is_about_the_input_not_the_output(
    everpath: Everpath, here: Path
) -> None:
    catalog = write_fbc(here, "b: a\na")
    (catalog / "memory.yaml").symlink_to("/proc/self/mem")
    answer = everpath("validate-graph", "-o", "concise")
    assert (answer.code, answer.err) == (3, "")
    assert (
        "catalog/memory.yaml: EP001 error unreadable-document: opm cannot read catalog/memory.yaml"
        in answer.out
    )
