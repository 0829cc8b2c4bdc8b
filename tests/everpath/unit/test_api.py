"""`import everpath`: its names, what its functions accept and return, and the script of the docs."""

from __future__ import annotations

import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import everpath
from everpath.resolvers import ResolverName
from tests.support.commandline import ROOT
from tests.support.everpath.catalogs import write_fbc

DOCS = ROOT / "docs/python-api.md"

STABLE_NAMES = [
    "Catalog",
    "Comparison",
    "EverpathError",
    "Explanation",
    "Finding",
    "PathEnd",
    "Range",
    "Report",
    "Severity",
    "UpgradePath",
    "Version",
    "__version__",
    "compare",
    "explain",
    "lint",
    "load",
    "upgrade_paths",
]

FORKED = "op.v3.0.0: op.v1.0.0\nop.v2.0.0: op.v1.0.0\nop.v1.0.0"
CHAIN = "op.v3.0.0: op.v2.0.0\nop.v2.0.0: op.v1.0.0\nop.v1.0.0"


@pytest.fixture
def chain(tmp_path: Path) -> everpath.Catalog:
    return everpath.load(write_fbc(tmp_path, CHAIN, "op"))


@pytest.fixture
def forked(tmp_path: Path) -> Path:
    return write_fbc(tmp_path, FORKED, "op")


def test_stable_names_do_not_change() -> None:
    assert everpath.__all__ == STABLE_NAMES
    assert dir(everpath) == sorted(STABLE_NAMES)


@pytest.mark.parametrize("name", STABLE_NAMES)
def test_every_name_is_documented_and_importable(name: str) -> None:
    assert getattr(everpath, name)
    assert name == "__version__" or f"`{name}" in DOCS.read_text()


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'check'"):
        _ = everpath.check


def test_no_module_has_the_name_of_a_function() -> None:
    # Importing everpath.compare would replace the function everpath.compare by the module.
    modules = {module.name for module in pkgutil.iter_modules(everpath.__path__)}
    assert modules.isdisjoint(everpath.__all__)


def test_import_loads_no_other_module() -> None:
    script = "import sys, everpath; print([m for m in sys.modules if m.startswith('everpath.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_load_accepts_text_and_path_objects(forked: Path) -> None:
    assert everpath.load(str(forked)) == everpath.load(forked)


def test_load_raises_an_everpath_error_for_a_missing_path(tmp_path: Path) -> None:
    with pytest.raises(everpath.EverpathError, match="nowhere"):
        everpath.load(tmp_path / "nowhere")


def test_finding_has_file_line_rule_and_fix(forked: Path) -> None:
    report = everpath.lint(everpath.load(forked), select=["fork"])
    (finding,) = report.findings
    assert (finding.rule, finding.severity) == ("EP203", everpath.Severity.ERROR)
    assert finding.file == str(forked / "op.yaml")
    assert "op.v1.0.0" in forked.joinpath("op.yaml").read_text().splitlines()[finding.line - 1]
    assert finding.column > 0
    assert finding.fix


def test_select_and_ignore_choose_rules(forked: Path) -> None:
    assert {finding.rule for finding in everpath.lint(forked, select=["EP203"]).findings} == {"EP203"}
    assert "EP203" not in {finding.rule for finding in everpath.lint(forked, ignore=["fork"]).findings}


def test_one_name_counts_as_a_list_of_one(forked: Path) -> None:
    assert everpath.lint(forked, select="EP203") == everpath.lint(forked, select=["EP203"])
    assert everpath.lint(forked, packages="op", channels="stable").packages == 1


@pytest.mark.parametrize("limit", [{"packages": "other"}, {"channels": "other"}, {"resolver": "other"}])
def test_unknown_name_is_an_error_not_a_clean_result(forked: Path, limit: dict[str, Any]) -> None:
    with pytest.raises(everpath.EverpathError, match="'other'"):
        everpath.lint(forked, **limit)
    with pytest.raises(everpath.EverpathError, match="'other'"):
        everpath.compare(forked, forked, **limit)


def test_unknown_resolver_is_an_error(chain: everpath.Catalog) -> None:
    with pytest.raises(everpath.EverpathError, match="'v2'"):
        everpath.upgrade_paths(chain, "op", resolver="v2")  # type: ignore[arg-type]
    with pytest.raises(everpath.EverpathError, match="'v2'"):
        everpath.explain(chain, "op", resolver="v2")  # type: ignore[arg-type]


def test_compare_accepts_a_package_that_only_the_new_catalog_has(
    tmp_path: Path, chain: everpath.Catalog
) -> None:
    (tmp_path / "new").mkdir()
    new = write_fbc(tmp_path / "new", "added.v1.0.0", "added")
    (change,) = everpath.compare(chain, new, packages="added").changes
    assert change.kind == "package-added"


def test_lint_rejects_an_unknown_rule(forked: Path) -> None:
    with pytest.raises(everpath.EverpathError, match="'forc'"):
        everpath.lint(forked, select=["forc"])


@pytest.mark.parametrize("resolver", ["v0", "v1"])
def test_upgrade_paths_have_hops_and_end(chain: everpath.Catalog, resolver: ResolverName) -> None:
    paths = {path.installed: path for path in everpath.upgrade_paths(chain, "op", resolver=resolver)}
    assert list(paths["op.v1.0.0"].hops) == ["op.v2.0.0", "op.v3.0.0"]
    assert paths["op.v1.0.0"].end is everpath.PathEnd.HEAD
    assert len(paths) == 3


def test_upgrade_path_of_one_version_given_as_text_or_object(chain: everpath.Catalog) -> None:
    by_text = everpath.upgrade_paths(chain, "op", installed="2.0.0")
    by_object = everpath.upgrade_paths(chain, "op", installed=everpath.Version.parse("2.0.0"))
    assert [path.installed for path in by_text] == ["op.v2.0.0"]
    assert by_text == by_object


def test_upgrade_paths_of_one_channel(tmp_path: Path) -> None:
    drawing = "[a]\nop.v1.0.0\n[b]\nop.v2.0.0: op.v1.0.0\nop.v1.0.0"
    catalog = everpath.load(write_fbc(tmp_path, drawing, "op"))
    assert {path.channel for path in everpath.upgrade_paths(catalog, "op", "b")} == {"b"}


@pytest.mark.parametrize(("package", "channel"), [("other", None), ("op", "other")])
def test_unknown_package_and_channel_are_errors(
    chain: everpath.Catalog, package: str, channel: str | None
) -> None:
    with pytest.raises(everpath.EverpathError, match="'other'"):
        everpath.upgrade_paths(chain, package, channel)


def test_compare_counts_stranded_versions(tmp_path: Path, chain: everpath.Catalog) -> None:
    (tmp_path / "new").mkdir()
    new = write_fbc(tmp_path / "new", "op.v3.0.0: op.v2.0.0\nop.v2.0.0", "op")
    assert everpath.compare(chain, chain).regression_count == 0
    comparison = everpath.compare(chain, new, resolver="v0")
    assert comparison.regression_count == 1
    positions = [change.position for change in comparison.changes]
    assert {position.file for position in positions if position is not None} == {f"{new}/op.yaml"}


def test_explain_returns_the_decision(chain: everpath.Catalog) -> None:
    explanation = everpath.explain(chain, "op", "1.0.0", resolver="v0")
    assert len(explanation.explanations) == 1
    assert explanation.reaches_goal


def test_explain_of_a_new_installation_uses_the_default_channel(chain: everpath.Catalog) -> None:
    explanation = everpath.explain(chain, "op")
    assert explanation.query.channel == chain.by_name["op"].default_channel
    assert explanation.query.installed is None


@pytest.mark.parametrize("name", ["load", "lint", "upgrade_paths", "compare", "explain"])
def test_page_has_the_signature_and_every_argument(name: str) -> None:
    parameters = inspect.signature(getattr(everpath, name)).parameters.values()
    signature = inspect.Signature([p.replace(annotation=inspect.Parameter.empty) for p in parameters])
    assert f"### `{name}{signature}`" in DOCS.read_text().splitlines()
    documented = _first_cells("Functions") | _first_cells(f"{name}{signature}")
    assert {p.name for p in parameters} <= documented


#: Fields for reporters and the command line.
INTERNAL_FIELDS = {
    everpath.Finding: {
        "evidence",
        "fails",
        "names_entry",
        "place",
        "position",
        "related",
        "sort_key",
        "unreadable",
    },
    everpath.Report: {"bundles", "failing", "waived", "with_positions"},
    everpath.UpgradePath: {
        "at_goal",
        "catalog",
        "describe",
        "failure",
        "in_missing_channel",
        "origins",
        "sources",
    },
    everpath.Comparison: {"properties", "without_channels"},
    everpath.Explanation: {"query"},
    everpath.Version: {"key", "minor_stream", "parse"},
}


@pytest.mark.parametrize(
    "cls",
    [
        everpath.Catalog,
        everpath.Comparison,
        everpath.Explanation,
        everpath.Finding,
        everpath.Report,
        everpath.UpgradePath,
        everpath.Version,
    ],
)
def test_page_has_every_field(cls: type) -> None:
    inherited = {"count", "index"} if issubclass(cls, tuple) else set()
    fields = {name for name in dir(cls) if not name.startswith("_")} - inherited
    fields |= {name for base in cls.__mro__ for name in inspect.get_annotations(base)}
    assert _first_cells(cls.__name__) - {"count"} == fields - INTERNAL_FIELDS.get(cls, set())


def _first_cells(heading: str) -> set[str]:
    """Return the names in the first column of the tables below a heading of the page."""
    title = rf"\n#+ `?{re.escape(heading)}`?\n"
    section = re.split(r"\n#+ ", re.split(title, DOCS.read_text())[1])[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| ")]
    return {name for cell in cells for name in re.findall(r"`(\w+)", cell)}


def test_use_cases_of_the_page_exist() -> None:
    section = DOCS.read_text().split("\n## Use cases\n")[1]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    assert len(rows) > 5
    for modules, functions in rows:
        exported = {
            name
            for module in re.findall(r"`([\w.]+)`", modules)
            for name in import_module(f"everpath.app.{module}").__all__
        }
        assert set(re.findall(r"`(\w+)`", functions)) <= exported


def test_release_script_of_the_docs_releases(tmp_path: Path) -> None:
    script = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)[1]
    shutil.copytree(DOCS.parents[1] / "examples/08-release", tmp_path / "project")
    (tmp_path / "project/release.py").write_text(script.replace("0.4.0", "1.2.1"))
    done = subprocess.run(
        [sys.executable, "release.py"], cwd=tmp_path / "project", capture_output=True, text=True, check=True
    )
    assert "1.2.1" in (tmp_path / "project/catalog/releases.yaml").read_text()
    assert "catalog.yaml" in done.stdout


@pytest.mark.exhaustive
@pytest.mark.parametrize(("drawing", "code"), [(CHAIN, 0), (FORKED, 1)])
def test_script_of_the_docs_runs(tmp_path: Path, drawing: str, code: int) -> None:
    match = re.search(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert match is not None
    assert len(match[1].splitlines()) <= 17
    (tmp_path / "test_catalog.py").write_text(match[1])
    write_fbc(tmp_path, drawing, "op")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", "."],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout
    assert (code == 0) == ("op.v2.0.0" not in done.stdout)


@pytest.mark.parametrize(("version", "is_contained"), [("1.1.0", True), ("2.0.0", False)])
def test_range_contains_versions_as_text_or_objects(version: str, is_contained: bool) -> None:
    version_range = everpath.Range.parse(">=1.0.0 <2.0.0")
    assert version_range.contains(version) is is_contained
    assert version_range.contains(everpath.Version.parse(version)) is is_contained


def test_range_raises_value_error_for_a_text_that_is_no_version() -> None:
    with pytest.raises(ValueError, match="is not a version"):
        everpath.Range.parse(">=1.0.0").contains("1.x")
