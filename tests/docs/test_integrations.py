"""The GitHub actions, the pre-commit hook and the package metadata."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from console import ROOT

ACTION = ROOT / ".github" / "actions" / "validate-graph"


def document(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_both_actions_differ_only_in_the_path_of_the_script() -> None:
    short, long = document(ROOT / "action.yml"), document(ACTION / "action.yml")
    [short_step], [long_step] = short["runs"].pop("steps"), long["runs"].pop("steps")
    assert short == long
    assert short_step.pop("run") == '"$GITHUB_ACTION_PATH/.github/actions/validate-graph/run.sh"'
    assert long_step.pop("run") == '"$GITHUB_ACTION_PATH/run.sh"'
    assert short_step == long_step


def test_every_input_of_the_action_is_documented() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert [name for name in document(ROOT / "action.yml")["inputs"] if f"| `{name}` |" not in page] == []


@pytest.fixture
def runner(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a runner on which the action has installed everpath."""
    tool = tmp_path / "everpath-venv" / "bin" / "everpath"
    tool.parent.mkdir(parents=True)
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m everpath "$@"\n')
    tool.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "EVERPATH_"))}
    path = f"{ROOT / 'tools'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return kept | {
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_ACTIONS": "true",
        "PYTHONPATH": path,
        "EVERPATH_CACHE": "off",
    }


def act(runner: dict[str, str], cwd: Path = ROOT, **inputs: str) -> subprocess.CompletedProcess[str]:
    env = runner | {f"EVERPATH_{name.upper()}": value for name, value in inputs.items()}
    return subprocess.run(
        [ACTION / "run.sh"], env=env, cwd=cwd, capture_output=True, text=True, check=False, timeout=60
    )


def test_action_writes_annotations_and_fails(runner: dict[str, str]) -> None:
    done = act(runner, path="examples/01-first-finding/before")
    assert done.returncode == 1, done.stderr
    assert "::error" in done.stdout


def test_action_passes_for_a_clean_catalog(runner: dict[str, str]) -> None:
    assert act(runner, path="examples/01-first-finding/after examples/03-rollback/after").returncode == 0


def test_action_validates_every_line_of_its_paths(runner: dict[str, str]) -> None:
    lines = "examples/01-first-finding/after\nexamples/01-first-finding/before\n"
    assert act(runner, path=lines).returncode == 1


def test_action_uses_every_line_of_its_options(runner: dict[str, str]) -> None:
    done = act(runner, path="examples/01-first-finding/before", args="--olm v1\n--ignore EP218\n")
    assert done.returncode == 0, done.stdout


def test_configuration_applies_to_empty_inputs(runner: dict[str, str], tmp_path: Path) -> None:
    catalog = ROOT / "examples" / "03-rollback" / "before"
    (tmp_path / "everpath.yaml").write_text(f"paths: ['{catalog}']\nignore: [EP207]\nfail-on: warning\n")
    assert act(runner, cwd=tmp_path).returncode == 1


def test_action_uses_its_options(runner: dict[str, str]) -> None:
    done = act(runner, path="examples/01-first-finding/before", args="--olm v1 --ignore EP218")
    assert done.returncode == 0, done.stdout


def test_action_fails_on_the_given_severity(runner: dict[str, str]) -> None:
    path, args = "examples/03-rollback/before", "--ignore EP207"
    assert act(runner, path=path, args=args, fail_on="error").returncode == 0
    assert act(runner, path=path, args=args, fail_on="warning").returncode == 1


def test_action_writes_sarif_even_if_it_fails(runner: dict[str, str], tmp_path: Path) -> None:
    sarif = tmp_path / "everpath.sarif"
    done = act(runner, path="examples/01-first-finding/before", sarif=str(sarif))
    assert done.returncode == 1
    assert "::error" in done.stdout
    assert '"2.1.0"' in sarif.read_text(encoding="utf-8")


def test_action_fails_for_an_unknown_option(runner: dict[str, str], tmp_path: Path) -> None:
    assert act(runner, args="--no-such-option", sarif=str(tmp_path / "x")).returncode == 2


@pytest.mark.parametrize(
    "name",
    [
        "catalog/acme/catalog.yaml",
        "catalogs/v4.20/acme/catalog.json",
        "operators/acme/ci.yaml",
        "everpath.yaml",
        "my-catalog/acme.yml",
        "fbc/acme/index.json",
        "configs/acme/catalog.yaml",
        "v4.18/acme/operator.yaml",
        "releases.yaml",
        "pyproject.toml",
        "catalog/.indexignore",
    ],
)
def test_hook_runs_for_catalog_files(name: str) -> None:
    [hook] = document(ROOT / ".pre-commit-hooks.yaml")
    assert re.search(hook["files"], name)


@pytest.mark.parametrize("name", ["README.md", "main.go", "pkg/catalog_test.go", "go.mod"])
def test_hook_does_not_run_for_other_files(name: str) -> None:
    [hook] = document(ROOT / ".pre-commit-hooks.yaml")
    assert not re.search(hook["files"], name)


def test_hook_uses_the_paths_of_the_configuration() -> None:
    [hook] = document(ROOT / ".pre-commit-hooks.yaml")
    assert "args" not in hook
    assert hook["pass_filenames"] is False


def test_package_metadata_refers_to_existing_files() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for folder in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        assert (ROOT / folder / "__init__.py").is_file()


def test_every_dependency_has_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r'^    "[A-Za-z-]+(?:>=[\d.]+)?",.*$', text, flags=re.MULTILINE)
    assert len(named) >= 10
    assert [line for line in named if "#" not in line] == []
