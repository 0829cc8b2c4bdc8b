"""The tools that people trust with images, to ask what they think of ours."""

from __future__ import annotations

__all__ = ["inspected", "program", "ran"]

import json
import os
import shutil
import subprocess
from typing import Any

import pytest


def program(name: str) -> str:
    """Where a program is. Without it a test is skipped, but not in a run that asked for the real parts."""
    found = shutil.which(name)
    if found is None and os.environ.get("EVERPATH_REAL"):
        raise FileNotFoundError(f"there is no {name} on the PATH; `scripts/real-parts` installs it")
    if found is None:
        pytest.skip(f"there is no {name} on the PATH; `scripts/real-parts` installs it")
    return found


def ran(name: str, *arguments: str) -> str:
    """What a program prints, which has to succeed."""
    done = subprocess.run(
        [program(name), *arguments], capture_output=True, text=True, check=False, timeout=180
    )
    assert done.returncode == 0, f"{name} {' '.join(arguments)}: {done.stderr}"
    return done.stdout


def inspected(image: str, *options: str) -> Any:
    """What skopeo says of an image."""
    return json.loads(ran("skopeo", "inspect", *options, image))
