"""Install everpath as users do: from a wheel, without other packages, on the fastest Python of the machine.

The environment of the checkout is different: it is editable, has development tools that some dependencies
import, and may have a Python that was built without optimisations.
"""

from __future__ import annotations

__all__ = ["Installed", "Interpreter", "installed", "interpreters", "quickest"]

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from shutil import rmtree, which
from typing import Final, NamedTuple

from tests.bench.measure import best_of

ROOT = Path(__file__).resolve().parents[2]

_NAMES: Final = ("python3", *(f"python3.{minor}" for minor in range(11, 20)))
_ALWAYS: Final = ("/usr/local/bin", "/usr/bin")

_WHO: Final = """
import json, os, sys
print(json.dumps([os.path.realpath(sys.executable), sys.implementation.name, sys.version.split()[0],
                  sys.version_info >= (3, 11)]))
"""

# A workload like a run of everpath: it defines modules and classes, then loops over small objects.
_WORK: Final = """
import json, re, typing, inspect, dataclasses, decimal, datetime
made = [typing.NamedTuple(f"T{i}", [("a", int), ("b", str)]) for i in range(100)]
found = {}
for i in range(60_000):
    name = f"op.v1.{i % 977}.{i % 13}"
    found.setdefault(name, []).append(made[i % 100](i, name.partition(".v")[2]))
total = sum(len(rows) for name, rows in sorted(found.items()) if name.endswith(".1"))
"""


class Interpreter(NamedTuple):
    """A Python of this machine."""

    path: str
    version: str


class Installed(NamedTuple):
    """Everpath in its own environment; `chosen` is a sentence about its Python."""

    python: str
    command: tuple[str, ...]
    chosen: str


def interpreters(folders: Iterable[str] | None = None) -> list[Interpreter]:
    """Return the Pythons that everpath supports, each once; the running one is first."""
    named = [f"{folder}/{name}" for folder in folders or _folders() for name in _NAMES]
    found = (_interpreter(path) for path in (_own(), *named) if which(path))
    return list(dict.fromkeys(filter(None, found)))


def _folders() -> Iterator[str]:
    """Return the folders of the PATH, without the running environment."""
    here = str(Path(sys.executable).parent)
    yield from (folder for folder in os.get_exec_path() if folder != here)
    yield from _ALWAYS


def _own() -> str:
    """Return the Python that the running environment was created from."""
    return str(Path(sys.executable).resolve())


def _interpreter(path: str) -> Interpreter | None:
    asked = subprocess.run([path, "-I", "-c", _WHO], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        return None
    real, implementation, version, is_supported = json.loads(asked.stdout)
    return Interpreter(real, version) if implementation == "cpython" and is_supported else None


def quickest(found: Sequence[Interpreter], rounds: int = 5) -> list[tuple[float, Interpreter]]:
    """Return the interpreters with the processor time of a workload, fastest first.

    They run in turns, so that other load on the machine affects all of them. The best run of each counts.
    """
    seconds = dict.fromkeys(found, float("inf"))
    for _ in range(rounds if len(found) > 1 else 1):
        for one in found:
            seconds[one] = min(seconds[one], best_of(1, (one.path, "-I", "-c", _WORK)).cpu)
    return sorted((taken, one) for one, taken in seconds.items())


def installed(folder: Path, ranked: Sequence[tuple[float, Interpreter]], extra: str = "") -> Installed:
    """Install everpath with an extra on the fastest Python; if that fails, return the one of the checkout."""
    for _, one in ranked:
        if _install(one, folder, f"{ROOT}[{extra}]" if extra else str(ROOT)):
            chosen = _sentence(one, ranked, extra)
            return Installed(str(folder / "bin/python"), (str(folder / "bin/everpath"),), chosen)
    here = Path(sys.executable)
    said = f"the environment of this checkout, Python {sys.version.split()[0]}: no other could be made"
    return Installed(str(here), (str(here), "-m", "everpath"), said)


def _install(one: Interpreter, folder: Path, what: str) -> bool:
    """Create an environment and return whether it worked. For a Python without pip, another one installs."""
    rmtree(folder, ignore_errors=True)
    python = str(folder / "bin/python")
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--disable-pip-version-check",
    )
    uv = ("uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", python)
    steps = ((one.path, "-m", "venv", "--without-pip", str(folder)), (*(uv if which("uv") else pip), what))
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"no environment for {one.path}: {done.stderr.strip()[-300:]}", file=sys.stderr)
            return False
    return True


def _sentence(one: Interpreter, ranked: Sequence[tuple[float, Interpreter]], extra: str) -> str:
    others = ", ".join(f"{other.version} {taken * 1000:.0f} ms" for taken, other in ranked)
    best = f"the fastest of this machine (workload: {others})"
    alone = f"in an environment with only everpath{f'[{extra}]' if extra else ''}"
    return f"Python {one.version}, {best if len(ranked) > 1 else 'the only one of this machine'}, {alone}"
