"""Tab completion, in real shells where there are any."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from commandline import ROOT, Everpath


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_a_script_that_asks_us(everpath: Everpath, shell: str) -> None:
    answer = everpath("completion", shell)
    assert answer.code == 0
    assert "_EVERPATH_COMPLETE" in answer.out


def test_an_unknown_shell_is_a_wrong_command_line(everpath: Everpath) -> None:
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


@pytest.mark.skipif(shutil.which("bash") is None, reason="this system has no bash")
def test_bash_completes_commands_options_and_values(installed: dict[str, str]) -> None:
    assert offered(installed, "val") == ["validate-graph"]
    assert offered(installed, "list", "") == ["bundles", "channels", "packages"]
    assert "--fail-on" in offered(installed, "validate-graph", "--fa")
    assert offered(installed, "validate-graph", "--fail-on", "n") == ["note", "never"]
