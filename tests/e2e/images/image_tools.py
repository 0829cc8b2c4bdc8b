"""Run skopeo and umoci."""

from __future__ import annotations

__all__ = ["inspect_image", "program", "run_tool"]

import json
import os
import shutil
import subprocess
from typing import Any

import pytest


def program(name: str) -> str:
    """Return the path of a program; skip the test if it is missing, or fail if EVERPATH_REAL is set."""
    found = shutil.which(name)
    if found is None and os.environ.get("EVERPATH_REAL"):
        raise FileNotFoundError(f"there is no {name} on the PATH; `scripts/real-parts` installs it")
    if found is None:
        pytest.skip(f"there is no {name} on the PATH; `scripts/real-parts` installs it")
    return found


def run_tool(name: str, *arguments: str) -> str:
    """Run a program that must succeed, and return its output."""
    done = subprocess.run(
        [program(name), *arguments], capture_output=True, text=True, check=False, timeout=180
    )
    assert done.returncode == 0, f"{name} {' '.join(arguments)}: {done.stderr}"
    return done.stdout


def inspect_image(image: str, *options: str) -> Any:
    """Return the output of `skopeo inspect`."""
    return json.loads(run_tool("skopeo", "inspect", *options, image))
