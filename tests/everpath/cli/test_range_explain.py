"""`everpath range explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commandline import Everpath
from tests.support.everpath.catalogs import write_fbc
from tests.support.schemas import conforms


def test_range_is_explained_in_sentences(everpath: Everpath) -> None:
    answer = everpath("range", "explain", ">=1.0.0 <1.2.3", "--version", "1.2.3-rc.1", "--version", "1.2.3")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "matches every version from 1.0.0 (included) to 1.2.3 (excluded)",
        "pre-releases of 1.0.0, such as 1.0.0-rc.1, are not matched; >=1.0.0-0 would include them",
        "pre-releases of 1.2.3, such as 1.2.3-rc.1, are matched; <1.2.3-0 would exclude them",
        "all other pre-releases within the range are matched",
        "1.2.3-rc.1: matches",
        "1.2.3: does not match",
    ]


def test_invalid_range_is_underlined_and_exits_with_1(everpath: Everpath) -> None:
    answer = everpath("range", "explain", "<v1.2.3")
    assert answer.code == 1
    first, caret, *rest = answer.out.splitlines()
    assert first == "<v1.2.3"
    assert caret.startswith(" ^")
    assert rest == ["write '<1.2.3'"]


@pytest.mark.parametrize("text", ["<1.0.0\x1b[2J", "<1.0.0 || \x1b"])
def test_control_characters_of_a_range_do_not_reach_the_terminal(everpath: Everpath, text: str) -> None:
    assert "\x1b" not in everpath("range", "explain", text).out


def test_version_that_crashes_the_resolver_is_reported(everpath: Everpath) -> None:
    answer = everpath("range", "explain", "<1.0.0 || || >2.0.0", "--version", "1.5.0")
    assert "1.5.0: crashes OLM's resolver" in answer.out


@pytest.mark.parametrize("text", [">=1.0.0", "<v1", "<1.0.0 || || >2.0.0", "1.0.0 - 2.0.0"])
def test_json_keeps_its_schema(everpath: Everpath, text: str) -> None:
    answer = everpath("range", "explain", text, "--version", "1.5.0", "-o", "json")
    document = json.loads(answer.out)
    conforms("range-explain", document)
    assert (document["error"] is None) == (answer.code == 0)


def test_published_versions_are_grouped_by_match(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "[stable]\nop.v1.2.0: op.v1.1.0\nop.v1.1.0\n[fast]\nop.v2.0.0", "op")
    answer = everpath("range", "explain", "<1.2.0", "--in", "catalog", "-o", "json")
    assert answer.code == 0
    document = json.loads(answer.out)
    conforms("range-explain", document)
    assert document["published"] == {"matched": ["1.1.0"], "unmatched": ["1.2.0", "2.0.0"], "crashing": []}
    narrowed = everpath("range", "explain", "<1.2.0", "--in", "catalog", "-p", "op", "-c", "fast")
    assert "matches 0 of 1 published versions" in narrowed.out


def test_catalog_with_several_packages_needs_a_package(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "a", "one")
    write_fbc(here, "a", "two")
    answer = everpath("range", "explain", ">1.0.0", "--in", "catalog")
    assert answer.code == 2
    assert "name one with -p" in answer.err
    wrong = everpath("range", "explain", ">1.0.0", "--in", "catalog", "-p", "oen")
    assert wrong.code == 2
    assert "did you mean 'one'?" in wrong.err


def test_invalid_version_is_a_usage_error(everpath: Everpath) -> None:
    answer = everpath("range", "explain", ">1.0.0", "--version", "x")
    assert answer.code == 2
    assert "'x' is not a version" in answer.err


def test_report_is_written_to_a_file(everpath: Everpath, tmp_path: Path) -> None:
    file = tmp_path / "range.txt"
    answer = everpath("range", "explain", ">=1.0.0 <2.0.0", "--output-file", str(file))
    assert (answer.code, answer.out) == (0, "")
    assert file.read_text().startswith("matches every version from 1.0.0")
    answer = everpath("range", "explain", "<v1", "--output-file", str(file))
    assert (answer.code, answer.out) == (1, "")
    assert file.read_text().startswith("<v1\n")
