"""The operator's image: labels, license, and a distribution with the operator only."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from searchkeeper.releases import newest
from tests.support.commandline import ROOT

OPERATOR = ROOT / "operator"
DOCKERFILE = (OPERATOR / "Dockerfile").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((OPERATOR / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = {
    ".".join(file.relative_to(OPERATOR).with_suffix("").parts).removesuffix(".__init__"): file
    for file in (OPERATOR / "searchkeeper").rglob("*.py")
}


def imports(module: str) -> Iterator[str]:
    """The modules that a module imports, also inside functions. `from a import b` may import a module a.b."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def packed() -> set[str]:
    """The modules that the wheel contains."""
    excluded = [
        OPERATOR / path.lstrip("/")
        for path in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]
    ]
    return {name for name, file in MODULES.items() if not any(file.is_relative_to(path) for path in excluded)}


def labels() -> dict[str, str]:
    instructions = re.findall(r"^LABEL (.+?)(?<!\\)$", DOCKERFILE, re.MULTILINE | re.DOTALL)
    return dict(re.findall(r'([\w.]+)="([^"]*)"', "\n".join(instructions)))


@pytest.mark.parametrize(
    "name",
    [
        *("name", "vendor", "maintainer", "version", "release", "summary", "description"),
        *(
            f"org.opencontainers.image.{key}"
            for key in ("title", "description", "vendor", "version", "revision", "licenses", "url", "source")
        ),
    ],
)
def test_image_has_the_label(name: str) -> None:
    assert labels()[name]


def test_labels_of_the_version_come_from_build_arguments() -> None:
    found = labels()
    arguments = re.findall(r"^ARG (\w+)=", DOCKERFILE, re.MULTILINE)
    assert found["version"] == found["org.opencontainers.image.version"] == "${VERSION}"
    assert {name for value in found.values() for name in re.findall(r"\$\{(\w+)\}", value)} == set(arguments)


def test_image_contains_the_license() -> None:
    assert re.search(r"^COPY .*LICENSE /licenses/", DOCKERFILE, re.MULTILINE)


def test_image_runs_as_a_numeric_user_that_is_not_root() -> None:
    [user] = re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE)
    assert all(int(part) > 0 for part in user.split(":"))


def test_image_copies_neither_the_toolchain_nor_the_tests() -> None:
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    assert {name for line in copies for name in line.split()} == {
        "LICENSE",
        "operator/pyproject.toml",
        "operator/searchkeeper",
    }


def test_wheel_contains_every_module_but_the_test_doubles() -> None:
    assert packed() == {name for name in MODULES if not name.startswith("searchkeeper.testing")}


@pytest.mark.parametrize(
    "command",
    [("run", "--embedded"), ("plan", "--embedded"), ("plan", "--filename", "cluster.yaml")],
    ids=" ".join,
)
def test_image_says_that_it_has_no_cluster_in_memory(command: tuple[str, ...], tmp_path: Path) -> None:
    """The modules of the wheel alone, in a process of their own."""
    for name in packed():
        file = tmp_path / MODULES[name].relative_to(OPERATOR)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(MODULES[name].read_bytes())
    (tmp_path / "searchkeeper/releases.json").write_bytes(
        (OPERATOR / "searchkeeper/releases.json").read_bytes()
    )
    (tmp_path / "cluster.yaml").write_bytes((OPERATOR / "config/samples/searchcluster.yaml").read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "searchkeeper", *command],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path)},
        text=True,
    )
    assert done.returncode == 2
    assert "the image of the operator does not contain the cluster in memory" in done.stderr


def test_excluded_paths_exist() -> None:
    excluded = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]
    assert [path for path in excluded if not (OPERATOR / path.lstrip("/")).exists()] == []


def test_dependencies_are_the_packages_that_the_operator_imports() -> None:
    tops = {name.partition(".")[0] for module in packed() for name in imports(module)}
    foreign = tops - {"searchkeeper", "__future__"} - sys.stdlib_module_names
    by_import = packages_distributions()
    imported = {by_import[name][0].lower().replace("_", "-") for name in foreign}
    declared = {re.split(r"[<>=~! ]", each)[0].lower() for each in PROJECT["project"]["dependencies"]}
    assert declared == imported


def test_versions_of_dependencies_agree_with_the_pyproject_of_the_repository() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = {*project["dependencies"], *project["optional-dependencies"]["operator"]}
    declared = {each for each in PROJECT["project"]["dependencies"] if not each.startswith("urllib3")}
    assert declared <= known


def test_version_is_that_of_the_newest_release() -> None:
    version = PROJECT["tool"]["hatch"]["version"]
    text = (OPERATOR / version["path"]).read_text(encoding="utf-8")
    found = re.search(version["pattern"], text, re.MULTILINE)
    assert found is not None
    assert found["version"] == newest().version


def test_hatchling_builds_the_wheel(tmp_path: Path) -> None:
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="hatchling is not installed")
    [file] = wheel.WheelBuilder(str(OPERATOR)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(file) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        [entry_points] = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
        text = archive.read(entry_points).decode()
    expected = {MODULES[name].relative_to(OPERATOR).as_posix() for name in packed()}
    assert names == {*expected, "searchkeeper/releases.json"}
    assert "searchkeeper = searchkeeper.cli:main" in text
