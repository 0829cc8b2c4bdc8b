"""Catalogs that can be read only in part: commands report that and exit with 3."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commandline import Everpath
from tests.support.everpath.catalogs import write_fbc

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
def test_catalog_without_readable_package_is_unreadable(
    everpath: Everpath, question: tuple[str, ...]
) -> None:
    answer = everpath(*question)
    assert (answer.code, answer.out) == (3, "")
    assert answer.err.splitlines() == [
        "error: there is no package here, and 1 part could not be read",
        "hint: everpath validate-graph says which",
    ]


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_readable_catalog_without_package_is_a_usage_error(
    everpath: Everpath, catalog: Path, question: tuple[str, ...]
) -> None:
    (catalog / "broken.yaml").write_text("schema: some.other\nname: op\n")
    answer = everpath(*question)
    assert (answer.code, answer.err.splitlines()[0]) == (2, "error: there is no package here")


@pytest.mark.parametrize("option", ["--installed", "--starting-csv"])
def test_unknown_installed_version_may_be_in_an_unreadable_part(everpath: Everpath, option: str) -> None:
    answer = everpath("simulate", "catalog", option, "1.0.0")
    assert answer.code == 3
    assert answer.err.splitlines()[0] == f"error: {NOTHING}, and 1 part could not be read"


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_unknown_name_may_be_in_an_unreadable_part(
    everpath: Everpath, catalog: Path, question: tuple[str, ...]
) -> None:
    write_fbc(catalog, "b: a\na", "op")
    answer = everpath(*question, "-p", "other")
    assert answer.code == 3
    assert "no package is called 'other', and 1 part could not be read" in answer.err
    (catalog / "broken.yaml").unlink()
    assert everpath(*question, "-p", "other").code == 2


def test_report_lists_the_unreadable_part(everpath: Everpath, catalog: Path) -> None:
    write_fbc(catalog, "b: a\na", "op")
    answer = everpath("validate-graph", "catalog", "-p", "other", "-o", "concise")
    assert (answer.code, "EP001" in answer.out) == (3, True)


def test_channels_may_be_in_an_unreadable_part(everpath: Everpath, catalog: Path) -> None:
    (catalog / "op.yaml").write_text("schema: olm.package\nname: op\ndefaultChannel: stable\n")
    answer = everpath("graph", "catalog")
    assert (answer.code, "op has no channel to draw, and 1 part could not be read" in answer.err) == (3, True)


def test_range_explain_uses_readable_versions(everpath: Everpath, catalog: Path) -> None:
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
def test_readable_paths_are_linted(
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


def test_package_may_be_in_an_unreadable_path(everpath: Everpath, here: Path) -> None:
    (here / "other").mkdir()
    write_fbc(here / "other", "b: a\na", "op")
    assert everpath("validate-graph", "other", "nowhere", "-p", "third").code == 3


def test_no_report_if_no_path_is_readable(everpath: Everpath) -> None:
    answer = everpath("validate-graph", "nowhere", "neither")
    assert (answer.code, answer.out) == (3, "")
    assert answer.err.splitlines()[0] == (
        "error: cannot read nowhere: No such file or directory; "
        "cannot read neither: No such file or directory"
    )


def test_unknown_package_of_the_configuration_is_an_error(everpath: Everpath, here: Path) -> None:
    (here / "everpath.yaml").write_text("packages: [other]\n")
    answer = everpath("why", "catalog", "--installed", "1.0.0")
    assert (answer.code, "no package is called 'other'" in answer.err) == (3, True)
