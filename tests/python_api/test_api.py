"""`import everpath`: its names, what its functions accept and return, and the script of the docs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import everpath
from catalogs import write_fbc
from everpath.resolvers import ResolverName

DOCS = Path(__file__).parents[2] / "docs/python-api.md"

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


def test_functions_stay_functions_after_packages_of_the_same_name_are_imported() -> None:
    script = "import everpath, everpath.compare.matrix, everpath.explain.trace, everpath.upgrade_paths.path"
    check = "print(*(callable(f) for f in (everpath.compare, everpath.explain, everpath.upgrade_paths)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{script}; {check}"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True True True\n"


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


def test_lint_of_other_packages_finds_nothing(forked: Path) -> None:
    assert everpath.lint(forked, packages=["other"]).findings == ()


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
    assert everpath.compare(chain, chain).stranded == 0
    assert everpath.compare(chain, new, resolver="v0").stranded == 1


def test_explain_returns_the_decision(chain: everpath.Catalog) -> None:
    explanation = everpath.explain(chain, "op", "1.0.0", resolver="v0")
    assert len(explanation.explanations) == 1
    assert explanation.reaches_goal


def test_explain_of_a_new_installation_uses_the_default_channel(chain: everpath.Catalog) -> None:
    explanation = everpath.explain(chain, "op")
    assert explanation.query.channel == chain.by_name["op"].default_channel
    assert explanation.query.installed is None


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
