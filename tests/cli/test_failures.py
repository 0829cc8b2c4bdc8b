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
from everpath.cli import rules_
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
