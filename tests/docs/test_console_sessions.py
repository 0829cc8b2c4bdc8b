"""The output in console blocks of the docs is the output of everpath."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from console import ROOT, Session, Step, pages, play, sessions

SHOWN = [session for page in pages() for session in sessions(page)]


@pytest.mark.exhaustive(keep=8)
@pytest.mark.parametrize("session", SHOWN, ids=lambda s: f"{s.page.relative_to(ROOT)}:{s.line}")
def test_session_prints_the_output_on_the_page(session: Session) -> None:
    assert play(session) == session.steps, "`make docs` writes the present output"


def page_with(tmp_path: Path, text: str) -> Path:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


def test_only_console_blocks_are_sessions(tmp_path: Path) -> None:
    page = page_with(tmp_path, "```sh\n$ a\n```\n\n```console\n$ b\nout\n$ c\n```\n")
    [session] = sessions(page)
    assert session.steps == (Step("b", "out"), Step("c", ""))
    assert session.line == 6


def test_command_can_have_several_lines(tmp_path: Path) -> None:
    page = page_with(tmp_path, "```console\n$ cat <<END\n> one\n> END\none\n```\n")
    [session] = sessions(page)
    assert play(session) == session.steps == (Step("cat <<END\none\nEND", "one"),)


def test_exit_code_is_available_to_the_next_command(tmp_path: Path) -> None:
    page = page_with(tmp_path, "```console\n$ (exit 3)\n$ echo $?\n?\n```\n")
    [session] = sessions(page)
    assert [step.output for step in play(session)] == ["", "3"]


def test_standard_output_and_standard_error_are_shown(tmp_path: Path) -> None:
    [session] = sessions(page_with(tmp_path, "```console\n$ echo out; echo err >&2\n```\n"))
    assert play(session)[0].output == "out\nerr"


def test_everpath_is_that_of_the_checkout(tmp_path: Path) -> None:
    [session] = sessions(page_with(tmp_path, "```console\n$ head -2 $(command -v everpath)\n```\n"))
    assert sys.executable in play(session)[0].output


def test_settings_of_the_machine_do_not_affect_a_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("EVERPATH_CACHE", "/nowhere")
    [session] = sessions(
        page_with(tmp_path, "```console\n$ echo $GITHUB_ACTIONS $EVERPATH_CACHE $NO_COLOR\n```\n")
    )
    assert play(session)[0].output == "off 1"


def test_files_that_a_session_writes_are_not_kept(tmp_path: Path) -> None:
    page = page_with(tmp_path, "```console\n$ echo mine > examples/mine; cat examples/mine\n```\n")
    [session] = sessions(page)
    assert play(session)[0].output == "mine"
    assert not (ROOT / "examples/mine").exists()
