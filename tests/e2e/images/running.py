"""Programs as a user runs them: in a folder, with a home of their own and no proxy."""

from __future__ import annotations

__all__ = ["everpath", "ran", "skopeo"]

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from commandline import ROOT
from e2e.images.trusted import program


def ran(
    *command: str | Path, cwd: Path, check: bool = True, **options: Any
) -> subprocess.CompletedProcess[str]:
    """A program with a home of its own, and no proxy."""
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
    """As a user runs it; the registry is allowed to speak plain HTTP."""
    host = options.pop("trusted", "")
    env = {"PYTHONPATH": str(ROOT / "tools"), "EVERPATH_CACHE": "off", "EVERPATH_INSECURE": host}
    return ran(sys.executable, "-m", "everpath", *arguments, cwd=cwd, check=check, env=env, **options)


def skopeo(*arguments: str, cwd: Path) -> str:
    return ran(program("skopeo"), "--insecure-policy", *arguments, cwd=cwd).stdout
