"""Everpath as its users have it: installed from a wheel, alone, on the quickest Python of the machine.

The environment of this checkout is a developer's: editable, full of tools that dependencies look for, and on
whatever Python was there, which may have been built without optimisations. Nobody runs everpath so.
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

from bench.measure import best_of

ROOT = Path(__file__).resolve().parents[2]

_NAMES: Final = ("python3", *(f"python3.{minor}" for minor in range(11, 20)))
_ALWAYS: Final = ("/usr/local/bin", "/usr/bin")

_WHO: Final = """
import json, os, sys
print(json.dumps([os.path.realpath(sys.executable), sys.implementation.name, sys.version.split()[0],
                  sys.version_info >= (3, 11)]))
"""

# What a run of everpath is made of: modules and classes, and then loops over small objects.
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
    """Everpath in an environment of its own; `chosen` says which Python it has, and why that one."""

    python: str
    command: tuple[str, ...]
    chosen: str


def interpreters(folders: Iterable[str] | None = None) -> list[Interpreter]:
    """The Pythons that everpath can be installed for, each once; the one that runs this comes first."""
    named = [f"{folder}/{name}" for folder in folders or _folders() for name in _NAMES]
    found = (_interpreter(path) for path in (_own(), *named) if which(path))
    return list(dict.fromkeys(filter(None, found)))


def _folders() -> Iterator[str]:
    """Where programs are; not the environment that runs this, which has the Python it was made from."""
    here = str(Path(sys.executable).parent)
    yield from (folder for folder in os.get_exec_path() if folder != here)
    yield from _ALWAYS


def _own() -> str:
    """The Python of which the environment that runs this was made."""
    return str(Path(sys.executable).resolve())


def _interpreter(path: str) -> Interpreter | None:
    asked = subprocess.run([path, "-I", "-c", _WHO], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        return None
    real, implementation, version, is_supported = json.loads(asked.stdout)
    return Interpreter(real, version) if implementation == "cpython" and is_supported else None


def quickest(found: Sequence[Interpreter], rounds: int = 5) -> list[tuple[float, Interpreter]]:
    """The interpreters with the seconds of processor time that a piece of work takes, the quickest first.

    They take turns, so that whatever else the machine does hits all of them; of each the best run counts.
    """
    seconds = dict.fromkeys(found, float("inf"))
    for _ in range(rounds if len(found) > 1 else 1):
        for one in found:
            seconds[one] = min(seconds[one], best_of(1, (one.path, "-I", "-c", _WORK)).cpu)
    return sorted((taken, one) for one, taken in seconds.items())


def installed(folder: Path, ranked: Sequence[tuple[float, Interpreter]], extra: str = "") -> Installed:
    """Everpath, and an extra of it, on the quickest Python it can be installed for; else as it is here."""
    for _, one in ranked:
        if _install(one, folder, f"{ROOT}[{extra}]" if extra else str(ROOT)):
            chosen = _sentence(one, ranked, extra)
            return Installed(str(folder / "bin/python"), (str(folder / "bin/everpath"),), chosen)
    here = Path(sys.executable)
    said = f"the environment of this checkout, Python {sys.version.split()[0]}: no other could be made"
    return Installed(str(here), (str(here), "-m", "everpath"), said)


def _install(one: Interpreter, folder: Path, what: str) -> bool:
    """Whether an environment could be made. Some Pythons have no pip: that of another installs for them."""
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
    best = f"the quickest here it could be installed for (at a piece of work: {others})"
    alone = f"with nothing but everpath{f'[{extra}]' if extra else ''} beside it"
    return f"Python {one.version}, {best if len(ranked) > 1 else 'the only one here'}, {alone}"
