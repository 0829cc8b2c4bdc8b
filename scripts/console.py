"""Run the commands in the console blocks of the docs, and compare or replace their output.

A ```console block is a session: `$ command`, continued on lines that begin with `> `, then its output. The
commands of a block share one shell, which starts in a copy of the repository. Sessions can run in parallel.

    python scripts/console.py           compare, and print the differences
    python scripts/console.py --write   write the output into the pages
"""

from __future__ import annotations

__all__ = ["ROOT", "Session", "Step", "main", "pages", "play", "sessions"]

import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent

_BLOCK: Final = re.compile(r"^```console\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK: Final = "\x1e"
_ENTRY: Final = "import sys; sys.argv[0] = '{0}'; from {0}.cli import main; main()"
# Settings of this machine must not affect a page.
_PRIVATE: Final = ("EVERPATH_", "GITHUB_", "FORCE_COLOR", "CI")
_SOURCES: Final = (str(ROOT / "tools"), str(ROOT / "operator"))
_WRITABLE: Final = ("bundles", "catalog", "examples", "operator")
# Other processes write and delete bytecode there while it is copied.
_PASSING: Final = shutil.ignore_patterns("__pycache__")


@dataclass(frozen=True, slots=True)
class Step:
    """One command and its output on the page."""

    command: str
    output: str


@dataclass(frozen=True, slots=True)
class Session:
    """One console block: its page, its first line, the span of its text in the page, and its steps."""

    page: Path
    line: int
    span: tuple[int, int]
    steps: tuple[Step, ...]


def pages() -> list[Path]:
    """Return all pages of the repository, sorted."""
    folders = [ROOT / "docs", ROOT / "examples"]
    return sorted([*ROOT.glob("*.md"), *(page for folder in folders for page in folder.rglob("*.md"))])


def sessions(page: Path) -> Iterator[Session]:
    """Yield the console blocks of a page."""
    text = page.read_text(encoding="utf-8")
    for block in _BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 2
        yield Session(page, line, block.span("body"), tuple(_steps(block["body"])))


def _steps(body: str) -> Iterator[Step]:
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, *rest = part.rstrip("\n").split("\n")
        while rest and rest[0].startswith("> "):
            command += "\n" + rest.pop(0)[2:]
        yield Step(command, "\n".join(rest))


def play(session: Session) -> tuple[Step, ...]:
    """Run the commands of a session and return them with their output (standard output and error)."""
    script = "".join(f"{s.command}\n__code=$?; printf '{_MARK}'; (exit $__code)\n" for s in session.steps)
    with tempfile.TemporaryDirectory() as folder:
        _install_commands(Path(folder))
        stage = _stage(Path(folder))
        done = subprocess.run(
            ["sh", "-c", script],
            cwd=stage,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
    outputs = done.stdout.split(_MARK)
    return tuple(Step(s.command, out.rstrip("\n")) for s, out in zip(session.steps, outputs, strict=False))


def _stage(folder: Path) -> Path:
    """Create the folder of a session: the repository, with copies of the folders that commands write to."""
    stage = folder / "repository"
    stage.mkdir()
    for entry in ROOT.iterdir():
        if entry.name in _WRITABLE:
            shutil.copytree(entry, stage / entry.name, symlinks=True, ignore=_PASSING)
        else:
            (stage / entry.name).symlink_to(entry)
    return stage


def _install_commands(folder: Path) -> None:
    """Create both commands, which run the code of this checkout with this Python."""
    for name in ("everpath", "searchkeeper"):
        tool, entry = folder / name, _ENTRY.format(name)
        tool.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(entry)} "$@"\n')
        tool.chmod(0o755)


def _environment(folder: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_PRIVATE)}
    return kept | {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([*_SOURCES, *filter(None, [os.environ.get("PYTHONPATH")])]),
        # Temporary files of a session are deleted with its folder.
        "TMPDIR": folder,
        "EVERPATH_CACHE": "off",
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
    }


def _pasted(page: Path) -> str:
    """Return the text of a page with the present output of every session."""
    text = page.read_text(encoding="utf-8")
    for session in reversed(list(sessions(page))):
        start, end = session.span
        text = text[:start] + "".join(map(_shown, play(session))) + text[end:]
    return text


def _shown(step: Step) -> str:
    command = step.command.replace("\n", "\n> ")
    return f"$ {command}\n" + (f"{step.output}\n" if step.output else "")


def main(arguments: list[str]) -> int:
    """Compare or write all pages; return the exit code."""
    stale = 0
    for page in pages():
        before, after = page.read_text(encoding="utf-8"), _pasted(page)
        if before == after:
            continue
        name = str(page.relative_to(ROOT))
        if "--write" in arguments:
            page.write_text(after, encoding="utf-8")
            print(f"{name}: written")
        else:
            stale = 1
            lines = difflib.unified_diff(
                before.splitlines(), after.splitlines(), name, "present output", lineterm=""
            )
            print("\n".join(lines))
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
