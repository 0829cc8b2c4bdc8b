"""`everpath graph`: which package, which channels, which version, and what is said beside the picture."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from commandline import ROOT, Everpath
from docs.example_catalogs import file_based_catalog
from everpath.loaders.notation import parse
from schemas import conforms


def lay_out(here: Path, drawing: str, package: str = "op") -> None:
    with (here / "catalog.json").open("a", encoding="utf-8") as file:
        file.write(file_based_catalog(parse(drawing, package)))


def test_the_only_package_needs_no_name(here: Path, everpath: Everpath) -> None:
    lay_out(here, "b: a\na")
    answer = everpath("graph", "catalog.json")
    assert answer.code == 0
    assert answer.out.startswith("package op, channel stable (default): 2 entries, head b\n")


def test_of_several_packages_one_must_be_chosen(here: Path, everpath: Everpath) -> None:
    lay_out(here, "b: a\na")
    lay_out(here, "d: c\nc", "other")
    answer = everpath("graph", "catalog.json")
    assert answer.code == 2
    assert answer.err == (
        "error: a picture shows one package, and there are 2: op, other\n"
        "hint: -p NAME; `everpath list packages catalog.json` lists them\n"
    )
    assert everpath("graph", "catalog.json", "-p", "other").code == 0


def test_quiet_is_only_the_picture(here: Path, everpath: Everpath) -> None:
    lay_out(here, "b: a\na")
    answer = everpath("graph", "catalog.json", "-q", "--installed", "7.0.0", "--output-file", "picture.txt")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_an_unknown_channel_is_told_with_the_one_that_was_meant(here: Path, everpath: Everpath) -> None:
    lay_out(here, "b: a\na")
    answer = everpath("graph", "catalog.json", "-c", "stabel")
    assert (answer.code, answer.err) == (
        2,
        "error: no channel is called 'stabel'\nhint: did you mean 'stable'?\n",
    )


def test_the_default_channel_comes_first(here: Path, everpath: Everpath) -> None:
    lay_out(here, "[alpha]\na\n[stable]\nb: a\na\n%default stable")
    heads = [
        line for line in everpath("graph", "catalog.json").out.splitlines() if line.startswith("package")
    ]
    assert [line.split()[3] for line in heads] == ["stable", "alpha:"]


def test_a_package_without_channels_cannot_be_drawn(here: Path, everpath: Everpath) -> None:
    (here / "catalog.json").write_text('{"schema": "olm.package", "name": "op", "defaultChannel": "x"}')
    answer = everpath("graph", "catalog.json")
    assert answer.code == 2
    assert answer.err == (
        "error: op has no channel to draw\n"
        "hint: `everpath list bundles catalog.json -p op` shows what it has\n"
    )


@pytest.mark.parametrize("given", ["op.v1.0.0", "1.0.0", "v1.0.0"])
def test_an_installed_version_is_a_name_or_a_version(here: Path, everpath: Everpath, given: str) -> None:
    lay_out(here, "op.v1.1.0: op.v1.0.0\nop.v1.0.0")
    out = everpath("graph", "catalog.json", "--installed", given).out
    assert "OLM v0: op.v1.0.0 → op.v1.1.0: reaches the head in 1 hop\n" in out


@pytest.mark.parametrize("given", ["", " "])
def test_an_installed_version_is_not_empty(here: Path, everpath: Everpath, given: str) -> None:
    lay_out(here, "op.v1.1.0: op.v1.0.0\nop.v1.0.0")
    run = everpath("graph", "catalog.json", "--installed", given)
    assert run.code == 2
    assert "--installed is empty" in run.err


def test_an_installed_version_may_be_nowhere(here: Path, everpath: Everpath) -> None:
    lay_out(here, "op.v1.1.0: op.v1.0.0 / - / <1.1.0\nop.v1.0.0")
    out = everpath("graph", "catalog.json", "--installed", "0.4.2").out
    assert "OLM v1: op.v0.4.2 → op.v1.1.0: reaches the head in 1 hop\n" in out


def test_a_misspelled_installed_name_is_told_with_the_one_that_was_meant(
    here: Path, everpath: Everpath
) -> None:
    lay_out(here, "op.v1.1.0: op.v1.0.0\nop.v1.0.0")
    answer = everpath("graph", "catalog.json", "--installed", "opp.v1.0.0")
    assert answer.code == 0
    assert answer.err.endswith("note: did you mean op.v1.0.0?\n")


def test_a_picture_in_a_file_is_whole_and_announced(here: Path, everpath: Everpath) -> None:
    lay_out(here, "b: a\na")
    answer = everpath("graph", "catalog.json", "-o", "svg", "--output-file", "graph.svg")
    assert (answer.out, answer.err) == ("", "1 channel drawn, written to graph.svg.\n")
    assert Xml.parse(here / "graph.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_json_keeps_its_contract_and_says_where_each_finding_is_written(
    here: Path, everpath: Everpath
) -> None:
    lay_out(here, "b3: - / b2\nb2: - / b1\nb1")
    answer = everpath("graph", "catalog.json", "-o", "json", "--installed", "0.0.1")
    found = json.loads(answer.out)
    conforms("graph", found)
    [error] = [f for f in found["channels"][0]["findings"] if f["severity"] == "error"]
    assert (error["rule"], error["file"], error["line"]) == ("EP206", "catalog.json", 2)
    assert [row["isEntry"] for row in found["channels"][0]["installed"]] == [False, False]


def test_a_page_says_where_each_finding_is_written(here: Path, everpath: Everpath) -> None:
    lay_out(here, "b3: - / b2\nb2: - / b1\nb1")
    assert '"where":"catalog.json:2"' in everpath("graph", "catalog.json", "-o", "html").out


def test_a_waived_finding_is_not_drawn(here: Path, everpath: Everpath) -> None:
    lay_out(here, "b3: - / b2\nb2: - / b1\nb1")
    assert "EP206" in everpath("graph", "catalog.json").out
    (here / "everpath.yaml").write_text("waivers:\n- {rule: EP206, reason: nobody runs b1}\n")
    assert "EP206" not in everpath("graph", "catalog.json").out


def test_a_flowchart_that_github_will_not_draw_is_worth_a_word(here: Path, everpath: Everpath) -> None:
    lay_out(here, "\n".join(f"b{i}: b{i - 1} / b{i - 2}" for i in range(2, 300)))
    answer = everpath("graph", "catalog.json", "-o", "mermaid")
    assert answer.code == 0
    assert "warning: the flowchart of stable has 596 arrows, and GitHub draws 500" in answer.err


def test_what_could_not_be_read_is_told_and_ends_in_three(here: Path, everpath: Everpath) -> None:
    lay_out(here, "b: a\na")
    (here / "torn.json").write_text('{"schema": "olm.bundle", "name": ')
    answer = everpath("graph", ".")
    assert answer.code == 3
    assert "1 part could not be read" in answer.err
    assert "head b" in answer.out


def test_the_flowchart_in_the_docs_is_the_one_that_is_printed(
    everpath: Everpath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs/commands/graph.md").read_text(encoding="utf-8")
    assert everpath("graph", "docs/commands/graph/catalog.yaml", "-c", "fast", "-o", "mermaid").out in page
