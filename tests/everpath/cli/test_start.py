"""The start of `everpath`: help, version, and imported modules."""

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

from everpath import __version__
from everpath.cli.group import COMMANDS, cli
from tests.support.commandline import ROOT, Everpath
from tests.support.everpath.bundles import csv, write
from tests.support.everpath.catalogs import fbc, write_fbc
from tests.support.everpath.package_manifests import crd, owning, package_file

# Modules that --help must not import: parsers, the core, the network, and slow ones of the standard library.
_HEAVY = {
    *("yaml", "msgspec", "semver", "json", "xml", "tomllib", "csv", "sqlite3"),
    *("asyncio", "urllib", "http", "email", "ssl", "socket", "logging", "subprocess", "multiprocessing"),
    *("hashlib", "zipfile", "tarfile", "importlib.metadata", "dataclasses", "difflib"),
    *("everpath.model", "everpath.graph", "everpath.rules", "everpath.loaders", "everpath.reporters"),
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


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=60, env=env
    )


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_imports_nothing_heavy(argument: str) -> None:
    names = imported_by(argument)
    assert "click" in names
    assert {name for name in names for heavy in _HEAVY if f"{name}.".startswith(f"{heavy}.")} == set()


#: Modules that linting a clean catalog must not import; each takes milliseconds.
_NEEDLESS = {
    *(
        "pathlib",
        "shutil",
        "difflib",
        "semver",
        "argparse",
        "pickle",
        "signal",
        "urllib",
        "traceback",
        "yaml",
    ),
    *(
        "click.shell_completion",
        "everpath.model.bundle_contents",
        "everpath.rules.bundle",
        "everpath.loaders.source_positions",
    ),
}


_RUN = """
import sys
from everpath.cli.entry_point import run
run(sys.argv[1:])
print('', *sys.modules, sep=chr(10))
"""


@pytest.mark.parametrize("options", [(), ("--no-config",)], ids=" ".join)
def test_linting_imports_no_unneeded_module(tmp_path: Path, options: tuple[str, ...]) -> None:
    write_fbc(tmp_path, "op.v2.0.0: op.v1.0.0\nop.v1.0.0", "op")
    done = python("-c", _RUN, "validate-graph", str(tmp_path), *options)
    assert done.stdout.startswith("Nothing wrong")
    names = set(done.stdout.splitlines())
    assert "everpath.rules.graph.successors" in names
    assert {
        name for name in names for needless in _NEEDLESS if f"{name}.".startswith(f"{needless}.")
    } == set()


_PREPARED = """
import sys
from everpath.loaders.catalog_loader import load, preload_modules
preload_modules(sys.argv[1])
before = set(sys.modules)
load(sys.argv[1])
print(*(name for name in sys.modules.keys() - before if name.startswith(("everpath.loaders.fbc", "msgspec"))))
print("msgspec" in before)
"""


@pytest.mark.parametrize("is_json", [True, False])
def test_child_processes_import_no_prepared_module(tmp_path: Path, is_json: bool) -> None:
    text = '{"schema": "olm.package", "name": "op"}' if is_json else "schema: olm.package\nname: op\n"
    (tmp_path / f"catalog.{'json' if is_json else 'yaml'}").write_text(text)
    assert python("-c", _PREPARED, str(tmp_path)).stdout == f"\n{is_json}\n"


def test_output_is_flushed_at_the_end() -> None:
    ending = "sys.stdout.write('half'), sys.stderr.write('why')"
    done = python(
        "-c",
        f"import sys\nfrom everpath.cli import entry_point as e\ne.run = lambda: ({ending}, 3)[-1]\ne.main()",
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "half", "why")


def test_profiled_run_exits_normally(tmp_path: Path) -> None:
    done = python("-m", "cProfile", "-o", str(tmp_path / "profile"), "-m", "everpath", "--version")
    assert done.returncode == 0
    assert (tmp_path / "profile").stat().st_size


def test_help_lists_every_command_with_its_summary(everpath: Everpath) -> None:
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

#: The catalog before it, for the examples of `compare`.
_PUBLISHED = """
    searchkeeper.v0.2.2: searchkeeper.v0.1.1 / searchkeeper.v0.2.1, searchkeeper.v0.2.0
    searchkeeper.v0.2.1: searchkeeper.v0.1.1
    searchkeeper.v0.2.0: searchkeeper.v0.1.1
    searchkeeper.v0.1.1: searchkeeper.v0.1.0 / - / <0.1.1
    searchkeeper.v0.1.0
"""


#: A bundle without the CRD it owns, for the example of `bundle validate`.
_CSV = """\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: op.v1.2.0
  annotations:
    alm-examples: '[{"apiVersion": "example.com/v1", "kind": "Op"}]'
spec:
  displayName: Op
  version: 1.2.0
  minKubeVersion: 1.29.0
  installModes: [{type: AllNamespaces, supported: true}]
  install: {strategy: deployment, spec: {deployments: []}}
  customresourcedefinitions:
    owned:
    - name: ops.example.com
      version: v1
      kind: Op
"""


def write_bundle(folder: Path) -> None:
    stated = {"mediatype": "registry+v1", "manifests": "manifests/", "metadata": "metadata/"}
    stated |= {"package": "op", "channels": "stable"}
    lines = (f"  operators.operatorframework.io.bundle.{key}.v1: {value}\n" for key, value in stated.items())
    (folder / "manifests").mkdir(parents=True)
    (folder / "metadata").mkdir()
    (folder / "manifests" / "op.clusterserviceversion.yaml").write_text(_CSV)
    (folder / "metadata" / "annotations.yaml").write_text(f"annotations:\n{''.join(lines)}")


def write_manifests(root: Path) -> None:
    """Write package manifests for the examples in help texts."""
    old, new = (csv(f"op.v{version}", **owning("things.example.com")) for version in ("1.0.0", "1.1.0"))
    one = {"op.package.yaml": package_file(stable="op.v1.0.0")}
    files = {"op.v1.0.0.clusterserviceversion.yaml": old, "things.crd.yaml": crd()}
    write(root / "flat", one | files)
    write(root / "manifests", one | files)
    write(root / "nested", one)
    write(root / "nested/1.0.0", {"op.yaml": old, "things.crd.yaml": crd()})
    write(root / "nested/1.1.0", {"op.yaml": new, "things.crd.yaml": crd()})
    headless = "packageName: op\nchannels:\n- name: stable\n"
    write(root / "m", {"op.package.yaml": headless, "op.yaml": old})


def samples(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands in a help text with their output."""
    for command, _, block in (part.partition("\n") for part in text.split("\n  $ ")[1:]):
        said = re.split("\n\n(?:  Exit codes|Options):", f"\n{block}")[0]
        lines = [line[2:] for line in said.splitlines()[1:]]
        while lines and not lines[-1].strip():
            lines.pop()
        yield command, lines


@pytest.mark.parametrize("words", leaves(cli, ()), ids=" ".join)
def test_examples_of_the_help_have_this_output(
    everpath: Everpath, here: Path, words: tuple[str, ...]
) -> None:
    for package, drawing in _EXAMPLE.items():
        write_fbc(here, drawing, package)
    (here / "published").mkdir()
    (here / "published" / "searchkeeper.yaml").write_text(fbc(_PUBLISHED, "searchkeeper"))
    write_bundle(here / "bundles" / "op" / "1.2.0")
    write_manifests(here)
    for command, expected in samples(everpath(*words, "--help").out):
        if expected:
            said = everpath(*shlex.split(command)[1:]).out.splitlines()
            kept = expected[: expected.index("...")] if "..." in expected else expected
            assert len(said) >= len(kept)
            for line, shown in zip(said, kept, strict=False):
                # Help lines are short: one that ends in `...` shows the beginning of the output line.
                assert line.startswith(shown[:-3]) if shown.endswith("...") else line == shown.rstrip()


def test_the_version_is_that_of_the_distribution(everpath: Everpath) -> None:
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["version"]
    declared = re.search(hatch["pattern"], (ROOT / hatch["path"]).read_text(), re.MULTILINE)
    assert declared is not None
    assert declared["version"] == __version__
    assert everpath("--version").out == f"everpath {__version__}\n"


def test_hint_has_all_similar_options(everpath: Everpath) -> None:
    error, hint = everpath("validate-graph", "--nope").err.splitlines()
    assert error.startswith("error: no such option")
    assert "mean" not in error
    assert hint == "hint: did you mean '--ignore' or '--no-progress'?"


def test_exit_codes_are_in_the_help(everpath: Everpath) -> None:
    for words in ((), ("validate-graph",), ("range", "explain")):
        assert "Exit codes" in everpath(*words, "--help").out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["validate"], "error: no such command 'validate'\nhint: did you mean 'validate-graph'?\n"),
        (["lst"], "error: no such command 'lst'\nhint: did you mean 'list'?\n"),
        (["zzzzzz"], "error: no such command 'zzzzzz'\nhint: `everpath --help` shows the usage\n"),
        (["validate-graph", "--selct", "x"], "\nhint: did you mean '--select'"),
        (
            ["range", "explain"],
            "error: missing argument 'RANGE'\nhint: `everpath range explain --help` shows the usage\n",
        ),
        (["validate-graph", "-o", "yaml"], "'yaml' is not one of"),
        (["rules", "forc"], "did you mean 'fork'?"),
    ],
)
def test_misspelt_word_has_a_suggestion(everpath: Everpath, arguments: list[str], expected: str) -> None:
    answer = everpath(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert expected in answer.err
