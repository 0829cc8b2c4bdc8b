"""Shell completion, tested in the shells that are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from everpath.cli import completion
from tests.support.commandline import ROOT, Everpath
from tests.support.everpath.catalogs import write_fbc


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_completion_script(everpath: Everpath, shell: str) -> None:
    answer = everpath("completion", shell)
    assert answer.code == 0
    assert "_EVERPATH_COMPLETE" in answer.out


def test_unknown_shell_is_a_usage_error(everpath: Everpath) -> None:
    assert everpath("completion", "tcsh").code == 2


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """An environment in which `everpath` is a command."""
    program = tmp_path / "everpath"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m everpath "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "tools")}


# Calls the function the script has registered, as pressing the Tab key does.
_PRESS_TAB = """
eval "$(everpath completion bash)"
COMP_WORDS=({words}) COMP_CWORD={last}
_everpath_completion everpath
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def offered(environment: dict[str, str], *words: str) -> list[str]:
    script = _PRESS_TAB.format(words=" ".join(f"'{w}'" for w in ("everpath", *words)), last=len(words))
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=environment,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("bash") is None, reason="this system has no bash")
def test_bash_completes_commands_options_and_values(installed: dict[str, str]) -> None:
    assert offered(installed, "val") == ["validate-graph"]
    assert offered(installed, "list", "") == ["bundles", "channels", "packages"]
    assert "--fail-on" in offered(installed, "validate-graph", "--fa")
    assert offered(installed, "validate-graph", "--fail-on", "n") == ["note", "never"]


Process = Callable[..., subprocess.CompletedProcess[str]]


def items(process: Process, *words: str) -> list[str]:
    """What is offered for the last word."""
    line = {"COMP_WORDS": " ".join(("everpath", *words)), "COMP_CWORD": str(len(words))}
    answer = process(_EVERPATH_COMPLETE="bash_complete", **line)
    assert (answer.returncode, answer.stderr) == (0, "")
    return [found.partition(",")[2] for found in answer.stdout.splitlines() if found]


@pytest.mark.exhaustive
def test_rules_are_completed_by_id_and_name(process: Process) -> None:
    assert items(process, "rules", "EP90") == ["EP901", "EP902"]
    assert items(process, "rules", "hidden-c") == ["hidden-cycle"]
    for option in ("--select", "--ignore"):
        assert items(process, "validate-graph", option, "fork,EP90") == ["fork,EP901", "fork,EP902"]


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize(
    "words",
    [("validate-graph", "{}"), ("list", "bundles", "{}"), ("range", "explain", "1.x", "--in", "{}")],
)
def test_names_of_a_small_catalog_are_completed(process: Process, here: Path, words: tuple[str, ...]) -> None:
    write_fbc(here, "[beta]\nb: a\na", "first")
    path = str(write_fbc(here, "b: a\na", "second"))
    line = [word.format(path) for word in words]
    assert items(process, *line, "-p", "") == ["first", "second"]
    assert items(process, *line, "-c", "") == ["beta", "stable"]
    assert items(process, *line, "-p", "second", "-c", "") == ["stable"]


def test_names_of_the_default_path_are_completed(process: Process, here: Path) -> None:
    write_fbc(here, "b: a\na", "first")
    assert items(process, "validate-graph", "-p", "f") == ["first"]


@pytest.mark.parametrize("path", ["nope", "-", "/dev/null", "torn"])
def test_unreadable_catalog_has_no_completions_and_no_error(process: Process, here: Path, path: str) -> None:
    (here / "torn").write_text("{")
    assert items(process, "validate-graph", path, "-p", "") == []


@pytest.mark.parametrize("limit", ["_MAX_BYTES", "_MAX_FILES"])
def test_large_catalog_is_not_loaded_for_completion(
    here: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    catalog = str(write_fbc(here, "b: a\na"))
    assert completion._is_small(catalog)
    monkeypatch.setattr(completion, limit, 0)
    assert not completion._is_small(catalog)
    assert not completion._is_small(f"{catalog}/p.yaml") or limit == "_MAX_FILES"
