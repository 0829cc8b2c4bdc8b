"""Run everpath and skopeo in a folder, with their own home folder and without a proxy."""

from __future__ import annotations

__all__ = ["everpath", "run_command", "skopeo"]

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.e2e.images.image_tools import program
from tests.support.commandline import ROOT


def run_command(
    *command: str | Path, cwd: Path, check: bool = True, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program that does not inherit the environment; it must succeed if `check` is set."""
    home = cwd / "home"
    home.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), **options.pop("env", {})}
    done = subprocess.run(
        list(map(str, command)),
        check=False,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        **options,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def everpath(
    *arguments: str, cwd: Path, check: bool = True, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run everpath. The registry `trusted` may use plain HTTP."""
    host = options.pop("trusted", "")
    env = {"PYTHONPATH": str(ROOT / "tools"), "EVERPATH_CACHE": "off", "EVERPATH_INSECURE": host}
    return run_command(sys.executable, "-m", "everpath", *arguments, cwd=cwd, check=check, env=env, **options)


def skopeo(*arguments: str, cwd: Path) -> str:
    return run_command(program("skopeo"), "--insecure-policy", *arguments, cwd=cwd).stdout
