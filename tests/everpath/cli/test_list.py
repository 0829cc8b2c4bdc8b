"""`everpath list`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commandline import Everpath
from tests.support.everpath.catalogs import write_fbc
from tests.support.schemas import conforms

DRAWING = """
    [stable]
    op.v1.2.0: op.v1.1.0 / op.v1.0.0 / >=1.0.0 <1.2.0
    op.v1.0.0
    op.v1.1.0
    [fast]
    op.v1.2.0
    op.v1.10.0: op.v1.2.0
"""


@pytest.fixture(autouse=True)
def catalog(here: Path) -> Path:
    write_fbc(here, "b1: a1\na1", "another")
    return write_fbc(here, DRAWING, "op")


def test_packages_have_default_channel_and_head(everpath: Everpath) -> None:
    answer = everpath("list", "packages", "catalog")
    assert answer.code == 0
    assert answer.out == (
        "NAME     DEFAULT  HEAD       VERSION  CHANNELS  BUNDLES\n"
        "another  stable   b1         1.0.0    1         2\n"
        "op       stable   op.v1.2.0  1.2.0    2         4\n"
    )


def test_default_channel_has_a_star(everpath: Everpath) -> None:
    assert everpath("list", "channels", "-p", "op").out == (
        "PACKAGE  CHANNEL  DEFAULT  HEAD        VERSION  ENTRIES\n"
        "op       fast              op.v1.10.0  1.10.0   2\n"
        "op       stable   *        op.v1.2.0   1.2.0    3\n"
    )


def test_bundles_are_sorted_by_version_and_have_edges(everpath: Everpath) -> None:
    assert everpath("list", "bundles", "-p", "op").out == (
        "PACKAGE  CHANNEL  BUNDLE      VERSION  REPLACES   SKIPS      SKIP RANGE\n"
        "op       fast     op.v1.10.0  1.10.0   op.v1.2.0\n"
        "op       fast     op.v1.2.0   1.2.0\n"
        "op       stable   op.v1.2.0   1.2.0    op.v1.1.0  op.v1.0.0  >=1.0.0 <1.2.0\n"
        "op       stable   op.v1.1.0   1.1.0\n"
        "op       stable   op.v1.0.0   1.0.0\n"
    )


@pytest.mark.parametrize("kind", ["packages", "channels", "bundles"])
def test_json_keeps_its_schema(everpath: Everpath, kind: str) -> None:
    document = json.loads(everpath("list", kind, "-o", "json").out)
    conforms("list", document)
    assert document[kind]


def test_bundle_has_its_image(everpath: Everpath) -> None:
    rows = json.loads(everpath("list", "bundles", "-p", "op", "-c", "fast", "-o", "json").out)["bundles"]
    assert rows[0] == {
        "package": "op",
        "channel": "fast",
        "name": "op.v1.10.0",
        "version": "1.10.0",
        "replaces": "op.v1.2.0",
        "skips": [],
        "skipRange": None,
        "image": "registry.example/op:1.10.0",
    }


def test_entry_without_bundle_has_no_version(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "b?: a\na", "holey")
    rows = json.loads(everpath("list", "bundles", "-p", "holey", "-o", "json").out)["bundles"]
    assert [(row["name"], row["version"], row["image"] is None) for row in rows] == [
        ("a", "1.0.0", False),
        ("b", None, True),
    ]
    [head] = json.loads(everpath("list", "channels", "-p", "holey", "-o", "json").out)["channels"]
    assert (head["head"], head["version"]) == ("b", None)


def test_name_format_lists_names_only(everpath: Everpath) -> None:
    assert everpath("list", "packages", "-o", "name").out == "another\nop\n"
    assert everpath("list", "channels", "-o", "name").out == "another/stable\nop/fast\nop/stable\n"
    assert everpath("list", "bundles", "-p", "op", "-o", "name").out.split() == [
        "op.v1.10.0",
        "op.v1.2.0",
        "op.v1.1.0",
        "op.v1.0.0",
    ]


def test_bundle_in_no_channel_is_listed(everpath: Everpath, catalog: Path) -> None:
    file = catalog / "op.yaml"
    file.write_text(file.read_text().replace("- name: op.v1.0.0\n", ""))
    rows = json.loads(everpath("list", "bundles", "-p", "op", "-o", "json").out)["bundles"]
    assert [row["name"] for row in rows if row["channel"] is None] == ["op.v1.0.0"]
    narrowed = json.loads(everpath("list", "bundles", "-p", "op", "-c", "fast", "-o", "json").out)["bundles"]
    assert {row["channel"] for row in narrowed} == {"fast"}


def test_channel_with_several_heads_has_no_head(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "b\na", "forked")
    [row] = json.loads(everpath("list", "channels", "-p", "forked", "-o", "json").out)["channels"]
    assert (row["head"], row["version"]) == (None, None)


def test_packages_without_the_selected_channel_are_left_out(everpath: Everpath) -> None:
    assert everpath("list", "packages", "-c", "fast", "-o", "name").out == "op\n"


def test_unknown_name_is_a_usage_error(everpath: Everpath) -> None:
    answer = everpath("list", "channels", "-p", "anoter")
    assert (answer.code, answer.out) == (2, "")
    assert "did you mean 'another'?" in answer.err


def test_unreadable_part_exits_with_3(everpath: Everpath, catalog: Path) -> None:
    (catalog / "torn.yaml").write_text("schema: [\n")
    answer = everpath("list", "packages", "-o", "name")
    assert (answer.code, answer.out) == (3, "another\nop\n")
    assert answer.err == "warning: 1 part could not be read; everpath validate-graph says which\n"


def test_list_ignores_findings_in_readable_documents(everpath: Everpath, catalog: Path) -> None:
    file = catalog / "op.yaml"
    file.write_text(file.read_text().replace("name: op\n", "name: op\nname: op\n", 1))
    assert "EP002" in everpath("validate-graph", "-o", "concise").out
    answer = everpath("list", "packages", "-o", "name")
    assert (answer.code, answer.out, answer.err) == (0, "another\nop\n", "")


def test_control_characters_do_not_reach_the_terminal(everpath: Everpath, catalog: Path) -> None:
    file = catalog / "op.yaml"
    file.write_text(file.read_text().replace("op.v1.0.0", '"op\\e[2J"'))
    for output in ("text", "name"):
        assert "\x1b" not in everpath("list", "bundles", "-o", output).out


def test_several_heads_are_shown(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "c: a\nb: a\na")
    listed = everpath("list", "channels", "-p", "p")
    assert listed.out.splitlines()[1].split() == ["p", "stable", "*", "b,", "c", "3"]
    (channel,) = json.loads(everpath("list", "channels", "-p", "p", "-o", "json").out)["channels"]
    assert (channel["head"], channel["heads"]) == (None, ["b", "c"])


def test_long_cell_is_shortened(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "f: - / a, b, c, d, e\ng: - / a, b, c, d")
    out = everpath("list", "bundles").out
    assert "a, b, c and 2 more" in out
    assert "a, b, c, d" in out


@pytest.mark.parametrize("words", [[], ["all"]])
def test_list_without_a_command_suggests_all_commands(everpath: Everpath, words: list[str]) -> None:
    answer = everpath("list", *words)
    assert answer.code == 2
    assert answer.err == (
        "error: list needs one of packages, channels and bundles\n"
        "hint: 'everpath list packages', 'everpath list channels' or 'everpath list bundles'\n"
    )


def test_path_instead_of_a_command_is_part_of_the_suggestion(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "a")
    assert "'everpath list packages catalog'" in everpath("list", "catalog").err


def test_misspelled_command_has_a_suggestion(everpath: Everpath) -> None:
    assert everpath("list", "bundels").err.endswith("hint: 'everpath list bundles'\n")


def test_list_is_written_to_a_file(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "a")
    printed = everpath("list", "bundles", "-o", "json").out
    answer = everpath("list", "bundles", "-o", "json", "--output-file", "list.json")
    assert (answer.code, answer.out) == (0, "")
    assert (here / "list.json").read_text() == printed
