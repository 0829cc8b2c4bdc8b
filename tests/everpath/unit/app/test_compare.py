"""Compare catalogs from Python, without the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.app.compare import compare_catalogs, compare_input_sequence, compare_inputs, is_failure
from everpath.app.config.config import Config
from everpath.app.inputs.inputs import Inputs
from everpath.comparison.catalogs import ComparisonScope
from everpath.errors import UsageError
from everpath.model import Catalog
from everpath.reporters.comparison.report import COMPARISON_FORMATS, DisplayOptions, reporter
from everpath.rules.findings import Severity
from tests.support.everpath.catalogs import write_fbc

CHAIN = "op.v3.0.0: op.v2.0.0\nop.v2.0.0: op.v1.0.0\nop.v1.0.0"
PRUNED = "op.v3.0.0: op.v2.0.0\nop.v2.0.0"
SHORTCUT = f"op.v4.0.0: op.v2.0.0 / op.v3.0.0\n{CHAIN}"


def _catalog(folder: Path, drawing: str, package: str = "op") -> str:
    folder.mkdir(exist_ok=True)
    return str(write_fbc(folder, drawing, package))


@pytest.fixture
def old(tmp_path: Path) -> str:
    return _catalog(tmp_path / "old", CHAIN)


@pytest.fixture
def new(tmp_path: Path) -> str:
    return _catalog(tmp_path / "new", PRUNED)


def _inputs(*paths: str) -> Inputs:
    return Inputs(paths, Config())


def test_report_has_stranded_versions_and_their_positions(old: str, new: str) -> None:
    report = compare_inputs(_inputs(old, new), ComparisonScope(resolvers=("v0",)))
    assert (report.old, report.new, report.comparison.regression_count) == (old, new, 1)
    [change] = [change for change in report.comparison.changes if change.severity is Severity.ERROR]
    assert change.installed == ("op.v1.0.0",)
    assert change.position is not None
    assert (change.position.file, change.position.line > 0) == (f"{new}/op.yaml", True)


def test_changes_below_the_lowest_severity_have_no_position(old: str, new: str) -> None:
    report = compare_inputs(_inputs(old, new), lowest=Severity.ERROR)
    located = {change.severity for change in report.comparison.changes if change.position is not None}
    assert located == {Severity.ERROR}
    assert any(change.severity is Severity.NOTE for change in report.comparison.changes)


def test_comparison_prints_nothing(old: str, new: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path(new, "torn.yaml").write_text("schema: [\n")
    report = compare_inputs(_inputs(old, new))
    assert [(part.catalog, part.position.line) for part in report.unread_parts] == [(new, 1)]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("scope", "warning"),
    [
        (ComparisonScope(packages=frozenset(["newer"])), "the old catalog has no package newer"),
        (ComparisonScope(channels=frozenset(["fast"])), "the old catalog has no channel fast"),
    ],
)
def test_selected_name_that_only_the_new_catalog_has_is_a_warning(
    tmp_path: Path, old: str, scope: ComparisonScope, warning: str
) -> None:
    new = _catalog(tmp_path / "more", f"[stable]\n{CHAIN}\n[fast]\nop.v3.0.0")
    _catalog(tmp_path / "more", CHAIN, "newer")
    [text] = compare_inputs(_inputs(old, new), scope).warnings
    assert text.startswith(warning)


def test_unknown_package_is_an_error(old: str, new: str) -> None:
    with pytest.raises(UsageError, match="no package is called 'other'"):
        compare_inputs(_inputs(old, new), ComparisonScope(packages=frozenset(["other"])))


def test_folder_of_one_bundle_is_an_error(old: str) -> None:
    [whole] = _inputs(old).catalogs(None)
    [package] = whole.packages
    [declaration] = package.declarations
    single = Catalog("one", (package._replace(declarations=(declaration._replace(is_single_bundle=True),)),))
    with pytest.raises(UsageError, match="one is the folder of one bundle"):
        compare_catalogs(whole, single, locate=_inputs(old).locate)


def test_sequence_has_the_given_names_and_an_update_for_each_step(old: str, new: str) -> None:
    report = compare_input_sequence(
        _inputs(old, old, new), ["1", "2", "3"], ComparisonScope(resolvers=("v0",))
    )
    assert report.catalogs == ("1", "2", "3")
    assert [update.regression_count for update in report.matrix.updates] == [0, 1]
    assert all(change.position is not None for change in report.matrix.updates[1].changes)


@pytest.mark.parametrize(
    ("drawing", "failing"),
    [(CHAIN, set()), (PRUNED, {"stranded", "different-path"}), (SHORTCUT, {"different-path"})],
)
def test_fail_on_selects_what_is_a_failure(tmp_path: Path, old: str, drawing: str, failing: set[str]) -> None:
    comparison = compare_inputs(_inputs(old, _catalog(tmp_path / "next", drawing))).comparison
    assert {
        each for each in ("stranded", "different-path", "never") if is_failure(comparison, each)
    } == failing


@pytest.mark.parametrize("output", COMPARISON_FORMATS)
def test_every_reporter_renders_the_report(old: str, new: str, output: str) -> None:
    pair = compare_inputs(_inputs(old, new))
    matrix = compare_input_sequence(_inputs(old, new), ["1", "2"])
    for report in (pair, matrix):
        assert "op.v1.0.0" in "".join(reporter(output)(report, DisplayOptions()))


@pytest.mark.parametrize(("stranded", "is_noted"), [(8, False), (9, True)])
def test_text_says_that_long_lists_are_abbreviated(tmp_path: Path, stranded: int, is_noted: bool) -> None:
    others = "\n".join(f"op.v{n}.0.0" for n in range(1, stranded + 1))
    old = _catalog(tmp_path / "old", f"op.v99.0.0: - / - / <99.0.0\n{others}")
    new = _catalog(tmp_path / "new", f"op.v99.0.0\n{others}")
    report = compare_inputs(_inputs(old, new), ComparisonScope(resolvers=("v1",)))
    options = DisplayOptions(show=Severity.ERROR)
    assert [len(change.installed) for change in options.visible_changes(report.comparison.changes)] == [
        stranded
    ]
    assert ("lists of names are abbreviated" in "".join(reporter("text")(report, options))) == is_noted


def test_unknown_format_is_an_error() -> None:
    with pytest.raises(KeyError):
        reporter("xml")
