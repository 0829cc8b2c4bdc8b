"""What is asked of a catalog of which something could not be read: the answer says so, and exits with 3."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalogs import write_fbc
from commandline import Everpath

QUESTIONS = {
    "why": ("why", "catalog", "--installed", "1.0.0"),
    "paths": ("paths", "catalog"),
    "graph": ("graph", "catalog"),
    "range explain": ("range", "explain", ">=1.0.0", "--in", "catalog"),
}

NOTHING = "nothing in 0 packages is called '1.0.0' or has that version"


@pytest.fixture(autouse=True)
def catalog(here: Path) -> Path:
    """A catalog with one file that does not parse, and no other."""
    folder = here / "catalog"
    folder.mkdir()
    (folder / "broken.yaml").write_text("schema: [\n")
    return folder


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_a_catalog_of_which_no_package_could_be_read_is_unreadable(
    everpath: Everpath, question: tuple[str, ...]
) -> None:
    answer = everpath(*question)
    assert (answer.code, answer.out) == (3, "")
    assert answer.err.splitlines() == [
        "error: there is no package here, and 1 part could not be read",
        "hint: everpath validate-graph says which",
    ]


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_a_catalog_that_was_read_and_has_no_package_is_the_wrong_one(
    everpath: Everpath, catalog: Path, question: tuple[str, ...]
) -> None:
    (catalog / "broken.yaml").write_text("schema: some.other\nname: op\n")
    answer = everpath(*question)
    assert (answer.code, answer.err.splitlines()[0]) == (2, "error: there is no package here")


@pytest.mark.parametrize("option", ["--installed", "--starting-csv"])
def test_what_runs_may_be_in_the_part_that_could_not_be_read(everpath: Everpath, option: str) -> None:
    answer = everpath("simulate", "catalog", option, "1.0.0")
    assert answer.code == 3
    assert answer.err.splitlines()[0] == f"error: {NOTHING}, and 1 part could not be read"


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_a_name_that_nothing_is_called_may_be_in_the_part_that_could_not_be_read(
    everpath: Everpath, catalog: Path, question: tuple[str, ...]
) -> None:
    write_fbc(catalog, "b: a\na", "op")
    answer = everpath(*question, "-p", "other")
    assert answer.code == 3
    assert "no package is called 'other', and 1 part could not be read" in answer.err
    (catalog / "broken.yaml").unlink()
    assert everpath(*question, "-p", "other").code == 2


def test_the_report_says_why_a_name_may_be_missing(everpath: Everpath, catalog: Path) -> None:
    write_fbc(catalog, "b: a\na", "op")
    answer = everpath("validate-graph", "catalog", "-p", "other", "-o", "concise")
    assert (answer.code, "EP001" in answer.out) == (3, True)


def test_a_package_without_channels_may_have_some_in_the_part_that_could_not_be_read(
    everpath: Everpath, catalog: Path
) -> None:
    (catalog / "op.yaml").write_text("schema: olm.package\nname: op\ndefaultChannel: stable\n")
    answer = everpath("graph", "catalog")
    assert (answer.code, "op has no channel to draw, and 1 part could not be read" in answer.err) == (3, True)


def test_versions_that_a_range_matches_are_those_that_could_be_read(
    everpath: Everpath, catalog: Path
) -> None:
    write_fbc(catalog, "v2: v1\nv1", "op")
    answer = everpath("range", "explain", ">=1.0.0", "--in", "catalog")
    assert answer.code == 3
    assert answer.out
    assert answer.err == "warning: 1 part could not be read; everpath validate-graph says which\n"


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("nowhere", "cannot read nowhere: No such file or directory"),
        ("empty", "empty contains no catalog"),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_of_several_paths_those_that_can_be_read_are_judged(
    everpath: Everpath, here: Path, missing: str, said: str, is_first: bool
) -> None:
    (here / "empty").mkdir()
    (here / "other").mkdir()
    write_fbc(here / "other", "b: a\nc: a\na", "op")
    paths = (missing, "other") if is_first else ("other", missing)
    answer = everpath("validate-graph", *paths, "--select", "fork", "-o", "concise")
    assert answer.code == 3
    assert "EP203" in answer.out
    assert answer.err.startswith(f"error: {said}\nhint: ")


def test_a_package_may_be_in_the_path_that_could_not_be_read(everpath: Everpath, here: Path) -> None:
    (here / "other").mkdir()
    write_fbc(here / "other", "b: a\na", "op")
    assert everpath("validate-graph", "other", "nowhere", "-p", "third").code == 3


def test_of_paths_of_which_none_can_be_read_there_is_no_report(everpath: Everpath) -> None:
    answer = everpath("validate-graph", "nowhere", "neither")
    assert (answer.code, answer.out) == (3, "")
    assert answer.err.splitlines()[0] == (
        "error: cannot read nowhere: No such file or directory; "
        "cannot read neither: No such file or directory"
    )


def test_a_configured_package_that_is_not_there_is_named(everpath: Everpath, here: Path) -> None:
    (here / "everpath.yaml").write_text("packages: [other]\n")
    answer = everpath("why", "catalog", "--installed", "1.0.0")
    assert (answer.code, "no package is called 'other'" in answer.err) == (3, True)
