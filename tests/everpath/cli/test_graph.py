"""`everpath graph`: selection of package, channels and versions; messages and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from everpath.loaders.notation import parse
from tests.docs.example_catalogs import file_based_catalog
from tests.support.commandline import ROOT, Everpath
from tests.support.schemas import conforms


def write_catalog(here: Path, drawing: str, package: str = "op") -> None:
    with (here / "catalog.json").open("a", encoding="utf-8") as file:
        file.write(file_based_catalog(parse(drawing, package)))


def test_single_package_needs_no_name(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "b: a\na")
    answer = everpath("graph", "catalog.json")
    assert answer.code == 0
    assert answer.out.startswith("package op, channel stable (default): 2 entries, head b\n")


def test_one_of_several_packages_must_be_named(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "b: a\na")
    write_catalog(here, "d: c\nc", "other")
    answer = everpath("graph", "catalog.json")
    assert answer.code == 2
    assert answer.err == (
        "error: graph draws one package; the input has 2 packages (op and other)\n"
        "hint: -p NAME; `everpath list packages catalog.json` lists them\n"
    )
    assert everpath("graph", "catalog.json", "-p", "other").code == 0


def test_quiet_prints_only_the_drawing(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "b: a\na")
    answer = everpath("graph", "catalog.json", "-q", "--installed", "7.0.0", "--output-file", "drawing.txt")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_unknown_channel_has_a_suggestion(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "b: a\na")
    answer = everpath("graph", "catalog.json", "-c", "stabel")
    assert (answer.code, answer.err) == (
        2,
        "error: no channel is called 'stabel'\nhint: did you mean 'stable'?\n",
    )


def test_default_channel_is_first(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "[alpha]\na\n[stable]\nb: a\na\n%default stable")
    heads = [
        line for line in everpath("graph", "catalog.json").out.splitlines() if line.startswith("package")
    ]
    assert [line.split()[3] for line in heads] == ["stable", "alpha:"]


def test_package_without_channels_is_an_error(here: Path, everpath: Everpath) -> None:
    (here / "catalog.json").write_text('{"schema": "olm.package", "name": "op", "defaultChannel": "x"}')
    answer = everpath("graph", "catalog.json")
    assert answer.code == 2
    assert answer.err == (
        "error: op has no channel to draw\n"
        "hint: `everpath list bundles catalog.json -p op` shows what it has\n"
    )


@pytest.mark.parametrize("given", ["op.v1.0.0", "1.0.0", "v1.0.0"])
def test_installed_is_a_name_or_a_version(here: Path, everpath: Everpath, given: str) -> None:
    write_catalog(here, "op.v1.1.0: op.v1.0.0\nop.v1.0.0")
    out = everpath("graph", "catalog.json", "--installed", given).out
    assert "OLM v0: op.v1.0.0 → op.v1.1.0: reaches the head in 1 hop\n" in out


@pytest.mark.parametrize("given", ["", " "])
def test_empty_installed_version_is_rejected(here: Path, everpath: Everpath, given: str) -> None:
    write_catalog(here, "op.v1.1.0: op.v1.0.0\nop.v1.0.0")
    run = everpath("graph", "catalog.json", "--installed", given)
    assert run.code == 2
    assert f"--installed {given!r}: a name is empty" in run.err


def test_installed_version_need_not_be_in_the_catalog(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "op.v1.1.0: op.v1.0.0 / - / <1.1.0\nop.v1.0.0")
    out = everpath("graph", "catalog.json", "--installed", "0.4.2").out
    assert "OLM v1: op.v0.4.2 → op.v1.1.0: reaches the head in 1 hop\n" in out


def test_misspelled_installed_name_has_a_suggestion(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "op.v1.1.0: op.v1.0.0\nop.v1.0.0")
    answer = everpath("graph", "catalog.json", "--installed", "opp.v1.0.0")
    assert answer.code == 0
    assert answer.err.endswith("note: did you mean op.v1.0.0?\n")


def test_drawing_is_written_to_a_file_with_a_message(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "b: a\na")
    answer = everpath("graph", "catalog.json", "-o", "svg", "--output-file", "graph.svg")
    assert (answer.out, answer.err) == ("", "1 channel drawn, written to graph.svg.\n")
    assert Xml.parse(here / "graph.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_json_matches_its_schema_and_has_positions_of_findings(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "b3: - / b2\nb2: - / b1\nb1")
    answer = everpath("graph", "catalog.json", "-o", "json", "--installed", "0.0.1")
    found = json.loads(answer.out)
    conforms("graph", found)
    [error] = [f for f in found["channels"][0]["findings"] if f["severity"] == "error"]
    assert (error["rule"], error["file"], error["line"]) == ("EP206", "catalog.json", 2)
    assert [row["isEntry"] for row in found["channels"][0]["installed"]] == [False, False]


def test_page_has_positions_of_findings(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "b3: - / b2\nb2: - / b1\nb1")
    assert '"where":"catalog.json:2"' in everpath("graph", "catalog.json", "-o", "html").out


def test_waived_findings_are_left_out(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "b3: - / b2\nb2: - / b1\nb1")
    assert "EP206" in everpath("graph", "catalog.json").out
    (here / "everpath.yaml").write_text("waivers:\n- {rule: EP206, reason: no cluster runs b1}\n")
    assert "EP206" not in everpath("graph", "catalog.json").out


def test_flowchart_over_the_limit_of_github_has_a_warning(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "\n".join(f"b{i}: b{i - 1} / b{i - 2}" for i in range(2, 300)))
    answer = everpath("graph", "catalog.json", "-o", "mermaid")
    assert answer.code == 0
    assert "warning: the flowchart of stable has 596 arrows, and GitHub draws 500" in answer.err


def test_unreadable_part_has_a_warning_and_exit_code_3(here: Path, everpath: Everpath) -> None:
    write_catalog(here, "b: a\na")
    (here / "torn.json").write_text('{"schema": "olm.bundle", "name": ')
    answer = everpath("graph", ".")
    assert answer.code == 3
    assert "1 part could not be read" in answer.err
    assert "head b" in answer.out


def test_flowchart_in_the_docs_is_current(everpath: Everpath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs/commands/graph.md").read_text(encoding="utf-8")
    assert everpath("graph", "docs/commands/graph/catalog.yaml", "-c", "fast", "-o", "mermaid").out in page
