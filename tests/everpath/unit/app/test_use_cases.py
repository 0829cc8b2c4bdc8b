"""The use cases of simulate, graph, list, range and validate-graph, called from Python without click.

They return data: nothing is printed, and errors are exceptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from everpath.app.config.config import Config
from everpath.app.draw_graph import draw_graph
from everpath.app.explain_range import explain_range
from everpath.app.inputs.inputs import Inputs
from everpath.app.inputs.served_catalogs import parse_served_catalogs
from everpath.app.lint import lint_inputs
from everpath.app.list_catalog import list_bundles, list_channels, list_packages
from everpath.app.simulate import simulate
from everpath.errors import UnreadableInput, UsageError
from everpath.ranges import RangeError
from everpath.rules.lint import Selection
from everpath.simulate import Scenario
from everpath.upgrade_path.hops import PathEnd
from tests.support.everpath.catalogs import write_fbc

CHAIN = "op.v1.2.0: op.v1.1.0\nop.v1.1.0: op.v1.0.0\nop.v1.0.0"
STRANDED = "op.v1.2.0: - / op.v1.1.0\nop.v1.1.0: - / op.v1.0.0\nop.v1.0.0"
FORK = "op.v1.2.0: op.v1.0.0\nop.v1.1.0: op.v1.0.0\nop.v1.0.0"


@pytest.fixture(autouse=True)
def _nothing_is_printed(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("EVERPATH_CACHE", "off")
    yield
    assert capfd.readouterr() == ("", "")


def inputs_of(folder: Path, drawing: str, package: str = "op") -> Inputs:
    return Inputs([str(write_fbc(folder, drawing, package))], Config())


def torn_inputs(folder: Path) -> Inputs:
    """A catalog with a document that cannot be parsed."""
    catalog = write_fbc(folder, CHAIN, "op")
    (catalog / "torn.yaml").write_text("schema: [\n")
    return Inputs([str(catalog)], Config())


# simulate


def test_simulate_returns_a_path_for_each_version_and_resolver(tmp_path: Path) -> None:
    result = simulate(inputs_of(tmp_path, STRANDED), Scenario())
    ends = {(path.installed, path.resolver): path.end for path in result.paths}
    assert len(ends) == 6
    assert [key for key, end in ends.items() if end is PathEnd.STRANDED] == [("op.v1.0.0", "v0")]
    assert (result.notes, result.opm_errors, result.catalogs.unread) == ((), (), 0)


def test_simulate_returns_notes_about_an_unknown_version(tmp_path: Path) -> None:
    result = simulate(inputs_of(tmp_path, CHAIN), Scenario(("v0",)), installed="1.1.5")
    assert [path.installed for path in result.paths] == ["op.v1.1.5"]
    assert result.notes[0] == "1.1.5 is in no catalog; taken for op.v1.1.5 of version 1.1.5"


def test_simulate_names_and_ranks_several_catalogs(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    low = write_fbc(tmp_path / "a", "op.v1.1.0: op.v1.0.0\nop.v1.0.0", "op")
    high = write_fbc(tmp_path / "b", CHAIN, "op")
    catalogs = parse_served_catalogs([f"low={low}", f"high={high}@5"])
    inputs = Inputs([catalog.path for catalog in catalogs], Config())
    result = simulate(inputs, Scenario(("v1",)), catalogs=catalogs, installed="op.v1.0.0")
    assert result.catalogs.names == ("low", "high")
    assert {path.sources for path in result.paths} == {("high", "high")}


def test_simulate_returns_the_errors_of_opm(tmp_path: Path) -> None:
    result = simulate(inputs_of(tmp_path, FORK), Scenario())
    assert [(catalog, error.channel) for catalog, error in result.opm_errors] == [(None, "stable")]


def test_simulate_rejects_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no package is called 'po'"):
        simulate(inputs_of(tmp_path, CHAIN), Scenario(), packages=["po"])
    with pytest.raises(UsageError, match="no channel is called 'fast'"):
        simulate(inputs_of(tmp_path, CHAIN), Scenario(channels=frozenset(["fast"])))


def test_simulate_counts_parts_that_cannot_be_read(tmp_path: Path) -> None:
    result = simulate(torn_inputs(tmp_path), Scenario())
    assert (result.catalogs.unread, len(list(result.paths))) == (1, 6)


# graph


def test_draw_graph_returns_a_drawing_for_each_channel_with_findings(tmp_path: Path) -> None:
    drawing = draw_graph(inputs_of(tmp_path, f"[stable]\n{FORK}\n[alpha]\nop.v1.0.0"))
    assert [each.diagram.channel for each in drawing.channels] == ["stable", "alpha"]
    fork = next(finding for finding in drawing.channels[0].findings if finding.name == "fork")
    assert (Path(fork.file).name, fork.line > 0) == ("op.yaml", True)


def test_draw_graph_highlights_installed_versions_and_returns_notes(tmp_path: Path) -> None:
    drawing = draw_graph(inputs_of(tmp_path, CHAIN), installed=["1.0.0", "0.9.0"])
    assert [each.name for each in drawing.channels[0].installed] == ["op.v1.0.0", "op.v0.9.0"]
    assert drawing.notes[0].startswith("0.9.0 is in no catalog")


def test_draw_graph_needs_the_name_of_one_of_several_packages(tmp_path: Path) -> None:
    inputs_of(tmp_path, CHAIN)
    with pytest.raises(UsageError, match=r"the input has 2 packages \(op and other\)"):
        draw_graph(inputs_of(tmp_path, CHAIN, "other"))
    [channel] = draw_graph(inputs_of(tmp_path, CHAIN, "other"), "other").channels
    assert channel.diagram.package == "other"


# list


def test_list_functions_return_typed_rows(tmp_path: Path) -> None:
    drawing = f"[stable]\n{CHAIN}\n[fast]\nop.v1.2.0"
    [package] = list_packages(inputs_of(tmp_path, drawing))
    assert (package.name, package.head, package.channels, package.bundles) == ("op", "op.v1.2.0", 2, 3)
    channels = list_channels(inputs_of(tmp_path, drawing))
    assert [(each.name, each.is_default, each.entries) for each in channels] == [
        ("fast", False, 1),
        ("stable", True, 3),
    ]
    bundles = list_bundles(inputs_of(tmp_path, drawing), channels=["stable"])
    assert [(each.version, each.replaces) for each in bundles] == [
        ("1.2.0", "op.v1.1.0"),
        ("1.1.0", "op.v1.0.0"),
        ("1.0.0", None),
    ]


def test_list_functions_reject_unknown_names_and_count_unread_parts(tmp_path: Path) -> None:
    inputs = torn_inputs(tmp_path)
    assert [row.name for row in list_packages(inputs)] == ["op"]
    assert inputs.unread == 1
    with pytest.raises(UnreadableInput, match="no package is called 'x', and 1 part could not be read"):
        list_bundles(torn_inputs(tmp_path), ["x"])


# range


def test_explain_range_returns_sentences_and_matches(tmp_path: Path) -> None:
    report = explain_range(">=1.1.0 <1.2.0", ["1.1.5", "1.2.0"], inputs=inputs_of(tmp_path, CHAIN))
    assert report.explanation.meaning == ("matches every version from 1.1.0 (included) to 1.2.0 (excluded)",)
    assert [match.matches for match in report.versions] == [True, False]
    assert report.explanation.published is not None
    assert list(map(str, report.explanation.published.matched)) == ["1.1.0"]


def test_explain_range_raises_for_invalid_ranges_and_versions() -> None:
    with pytest.raises(RangeError):
        explain_range("<v1.2.3")
    with pytest.raises(UsageError, match="'x' is not a version"):
        explain_range("<1.2.3", ["x"])


# validate-graph


def test_lint_inputs_returns_one_report_for_all_inputs(tmp_path: Path) -> None:
    report = lint_inputs(inputs_of(tmp_path, FORK), Selection())
    assert "fork" in {finding.name for finding in report.findings}


def test_lint_inputs_raises_if_no_input_can_be_read(tmp_path: Path) -> None:
    missing, present = str(tmp_path / "missing"), str(write_fbc(tmp_path, CHAIN))
    with pytest.raises(UnreadableInput):
        lint_inputs(Inputs([missing], Config()), Selection())
    inputs = Inputs([missing, present], Config())
    assert lint_inputs(inputs, Selection()).packages == 1
    assert [error.file for error in inputs.failed] == [missing]


def test_lint_inputs_rejects_an_unknown_package(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no package is called 'po'"):
        lint_inputs(inputs_of(tmp_path, CHAIN), Selection(packages=frozenset(["po"])))
