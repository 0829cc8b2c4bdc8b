"""Starting: what `everpath` alone says, and what it costs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from catalogs import fbc, write_fbc
from commandline import ROOT, Everpath
from everpath import __version__
from everpath.cli.app import COMMANDS, cli

# What --help has no use for: parsers, the core, the network, and what the standard library drags along.
_HEAVY = {
    *("yaml", "msgspec", "semver", "json", "xml", "tomllib", "csv", "sqlite3"),
    *("asyncio", "urllib", "http", "email", "ssl", "socket", "logging", "subprocess", "multiprocessing"),
    *("hashlib", "zipfile", "tarfile", "importlib.metadata", "dataclasses", "difflib"),
    *("everpath.model", "everpath.graph", "everpath.rules", "everpath.formats", "everpath.outputs"),
}


def imported_by(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "everpath", *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tools")},
    )
    return {
        line.rpartition("|")[2].strip()
        for line in done.stderr.splitlines()
        if line.startswith("import time:")
    }


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_imports_nothing_heavy(argument: str) -> None:
    names = imported_by(argument)
    assert "click" in names
    assert {name for name in names for heavy in _HEAVY if f"{name}.".startswith(f"{heavy}.")} == set()


def test_help_lists_every_command_with_the_sentence_it_says_of_itself(everpath: Everpath) -> None:
    shown = everpath("--help").out
    ctx = click.Context(cli)
    for name, entry in COMMANDS.items():
        command = cli.get_command(ctx, name)
        assert command is not None
        assert command.name == name
        assert command.get_short_help_str(200) == entry.summary
        assert f"{name} " in shown
        assert entry.summary in shown


def leaves(command: click.Command, words: tuple[str, ...]) -> list[tuple[str, ...]]:
    if not isinstance(command, click.Group):
        return [words]
    ctx = click.Context(command)
    found = []
    for name in command.list_commands(ctx):
        below = command.get_command(ctx, name)
        assert below is not None
        found += leaves(below, (*words, name))
    return found


@pytest.mark.parametrize("words", leaves(cli, ()), ids=" ".join)
def test_the_help_of_every_command_has_an_example(everpath: Everpath, words: tuple[str, ...]) -> None:
    answer = everpath(*words, "--help")
    assert answer.code == 0
    assert f"everpath {' '.join(words)}" in answer.out.partition("\n")[2]


#: The catalog of the examples that help prints.
_EXAMPLE = {
    "op": "op.v3: op.v1\nop.v2: op.v1\nop.v1",
    "searchkeeper": """
        [stable]
        searchkeeper.v0.2.2: searchkeeper.v0.1.1 / searchkeeper.v0.2.1
        searchkeeper.v0.2.1: searchkeeper.v0.1.1
        searchkeeper.v0.1.1: searchkeeper.v0.1.0 / - / <0.1.1
        searchkeeper.v0.1.0
        [candidate]
        searchkeeper.v0.3.0: searchkeeper.v0.2.2
        searchkeeper.v0.2.2: searchkeeper.v0.1.1 / searchkeeper.v0.2.1
        searchkeeper.v0.2.1: searchkeeper.v0.1.1
        searchkeeper.v0.1.1: searchkeeper.v0.1.0 / - / <0.1.1
        searchkeeper.v0.1.0
    """,
}

#: What was published before it, for the examples that compare.
_PUBLISHED = """
    searchkeeper.v0.2.2: searchkeeper.v0.1.1 / searchkeeper.v0.2.1, searchkeeper.v0.2.0
    searchkeeper.v0.2.1: searchkeeper.v0.1.1
    searchkeeper.v0.2.0: searchkeeper.v0.1.1
    searchkeeper.v0.1.1: searchkeeper.v0.1.0 / - / <0.1.1
    searchkeeper.v0.1.0
"""


def samples(text: str) -> Iterator[tuple[str, list[str]]]:
    """Commands in a help text with the lines said to follow them."""
    for command, _, block in (part.partition("\n") for part in text.split("\n  $ ")[1:]):
        said = re.split("\n\n(?:  Exit codes|Options):", f"\n{block}")[0]
        lines = [line[2:] for line in said.splitlines()[1:]]
        while lines and not lines[-1].strip():
            lines.pop()
        yield command, lines


@pytest.mark.parametrize("words", leaves(cli, ()), ids=" ".join)
def test_the_examples_of_the_help_are_true(everpath: Everpath, here: Path, words: tuple[str, ...]) -> None:
    for package, drawing in _EXAMPLE.items():
        write_fbc(here, drawing, package)
    (here / "published").mkdir()
    (here / "published" / "searchkeeper.yaml").write_text(fbc(_PUBLISHED, "searchkeeper"))
    for command, expected in samples(everpath(*words, "--help").out):
        if expected:
            said = everpath(*shlex.split(command)[1:]).out.splitlines()
            kept = expected[: expected.index("...")] if "..." in expected else expected
            assert said[: len(kept)] == [line.rstrip() for line in kept]


def test_the_version_is_that_of_the_distribution(everpath: Everpath) -> None:
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["version"]
    declared = re.search(hatch["pattern"], (ROOT / hatch["path"]).read_text(), re.MULTILINE)
    assert declared is not None
    assert declared["version"] == __version__
    assert everpath("--version").out == f"everpath {__version__}\n"


def test_exit_codes_are_in_the_help(everpath: Everpath) -> None:
    for words in ((), ("validate-graph",), ("range", "explain")):
        assert "Exit codes" in everpath(*words, "--help").out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["validate"], "No such command 'validate'. Did you mean 'validate-graph'?"),
        (["lst"], "No such command 'lst'. Did you mean 'list'?"),
        (["zzzzzz"], "No such command 'zzzzzz'."),
        (["validate-graph", "--selct", "x"], "--select"),
        (["validate-graph", "-o", "yaml"], "'yaml' is not one of"),
        (["rules", "forc"], "did you mean 'fork'?"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_one(
    everpath: Everpath, arguments: list[str], expected: str
) -> None:
    answer = everpath(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert expected in answer.err
