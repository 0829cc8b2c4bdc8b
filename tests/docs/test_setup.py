"""`make` finds a Python or reports what is missing, and does not set up twice."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import copy, copytree, ignore_patterns, which

import pytest

from console import ROOT

TOOLS = ("sh", "cat", "dirname", "rm", "make", "awk", "touch", "mkdir", "chmod")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a fresh clone for make, with a `bin` folder beside it that is the whole PATH."""
    folder = tmp_path / "checkout"
    # Other tests create and delete bytecode when they import these scripts.
    copytree(ROOT / "scripts", folder / "scripts", ignore=ignore_patterns("__pycache__"))
    for name in ("Makefile", "pyproject.toml"):
        copy(ROOT / name, folder / name)
    (tmp_path / "bin").mkdir()
    for name in TOOLS:
        (tmp_path / "bin" / name).symlink_to(which(name) or pytest.skip(f"there is no {name} here"))
    return folder


def program(checkout: Path, name: str, body: str) -> None:
    """Add a program to the PATH."""
    file = checkout.parent / "bin" / name
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    file.chmod(0o755)


def python(checkout: Path, name: str) -> None:
    """Add a fake Python of a supported version, whose venvs install nothing."""
    venv = "mkdir -p .venv/bin; echo '#!/bin/sh' > .venv/bin/python; chmod +x .venv/bin/python"
    program(checkout, name, f'case "$*" in "-m venv"*) echo {name} makes a venv; {venv};; esac')


def make(checkout: Path, target: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", target],
        cwd=checkout,
        env={"PATH": str(checkout.parent / "bin")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_without_a_supported_python_there_is_a_hint(checkout: Path) -> None:
    program(checkout, "python3", "exit 1")
    done = make(checkout, "docs-check")
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert "PYTHON=/path/to/python make" in done.stderr
    assert not (checkout / ".venv").exists()


def test_newer_python_is_preferred_to_an_old_python3(checkout: Path) -> None:
    program(checkout, "python3", "exit 1")
    python(checkout, "python3.12")
    assert "python3.12 makes a venv" in make(checkout, "docs-check").stdout


def test_python_without_venv_is_reported_with_a_hint(checkout: Path) -> None:
    program(checkout, "python3", 'case "$*" in "-m venv"*) exit 1;; esac')
    done = make(checkout, "docs-check")
    assert done.returncode != 0
    assert "apt install python3-venv" in done.stderr


def test_uv_is_used_if_it_is_installed(checkout: Path) -> None:
    python(checkout, "python3")
    program(checkout, "uv", "echo uv $*; mkdir -p .venv/bin")
    done = make(checkout, "docs-check")
    assert "uv pip install --quiet --python .venv/bin/python --editable .[dev]" in done.stdout
    assert "makes a venv" not in done.stdout


def test_second_run_sets_nothing_up(checkout: Path) -> None:
    python(checkout, "python3")
    first, second = make(checkout, "docs-check"), make(checkout, "docs-check")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert "setting up" in first.stderr
    assert "installing everpath" in first.stderr
    assert first.stderr.rstrip().endswith("ready: .venv/bin/everpath")
    assert "setting up" not in second.stderr


def test_a_moved_checkout_is_set_up_again(checkout: Path) -> None:
    python(checkout, "python3")
    make(checkout, "docs-check")
    moved = checkout.rename(checkout.with_name("elsewhere"))
    assert "setting up" in make(moved, "docs-check").stderr


def test_help_needs_no_python(checkout: Path) -> None:
    done = make(checkout, "help")
    assert done.returncode == 0
    assert all(f"make {target}" in done.stdout for target in ("run", "test", "lint", "bench", "conformance"))
    assert not (checkout / ".venv").exists()
