"""`everpath simulate`: options, errors and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from everpath.app.inputs.served_catalogs import ServedCatalog, parse_served_catalogs
from everpath.errors import UsageError
from tests.support.commandline import ROOT, Everpath
from tests.support.schemas import conforms

STREAMS = ROOT / "tests/everpath/golden/transcripts/streams"
COMMUNITY, CERTIFIED = str(STREAMS / "community"), str(STREAMS / "certified")


def rows(everpath: Everpath, *arguments: str) -> list[dict[str, Any]]:
    answer = everpath("simulate", *arguments, "-o", "json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    conforms("simulate", found)
    rows: list[dict[str, Any]] = found["paths"]
    return rows


def short_paths(everpath: Everpath, *arguments: str) -> list[str]:
    """`stable v0 0.1.0 0.1.1 head`, a line for each path."""
    return [
        " ".join([r["channel"], r["resolver"], *(n.rpartition("v")[2] for n in r["hops"]), r["end"]])
        for r in rows(everpath, *arguments)
    ]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--fresh",),
        ("--starting-csv", "searchkeeper.v0.1.0"),
        ("--approval", "Manual"),
        ("--switch",),
        ("--channels", "*"),
        ("--version-range", "0.x"),
        ("--upgrade-constraint-policy", "SelfCertified"),
        ("--installed", "0.1.0"),
        (CERTIFIED,),
    ],
)
def test_json_matches_its_schema(everpath: Everpath, options: tuple[str, ...]) -> None:
    assert rows(everpath, COMMUNITY, *options)


def test_paths_have_their_fields_in_order(everpath: Everpath) -> None:
    keys = ["package", "channel", "installed", "resolver", "next", "hops", "end", "reason"]
    assert all(list(row) == keys for row in rows(everpath, COMMUNITY))


def test_option_or_configuration_selects_one_resolver(everpath: Everpath, here: Path) -> None:
    assert {r["resolver"] for r in rows(everpath, COMMUNITY, "--olm", "v1")} == {"v1"}
    (here / "everpath.yaml").write_text("olm: v0\nchannels: [stable]\n")
    found = rows(everpath, COMMUNITY)
    assert {(r["resolver"], r["channel"]) for r in found} == {("v0", "stable")}


def test_options_for_another_resolver_than_the_configured_one_are_rejected(
    everpath: Everpath, here: Path
) -> None:
    (here / "everpath.yaml").write_text("olm: v0\n")
    answer = everpath("simulate", COMMUNITY, "--version-range", "1")
    assert answer.code == 2
    assert answer.err.endswith("hint: the configuration selects v0; add --olm v1\n")


def test_to_channel_alone_is_a_switch(everpath: Everpath) -> None:
    found = rows(everpath, COMMUNITY, "--to-channel", "candidate", "--installed", "0.2.1")
    assert [(r["channel"], r["from"]) for r in found] == [("candidate", ["stable"])] * 2


def test_channel_list_may_have_spaces(everpath: Everpath) -> None:
    assert {r["channel"] for r in rows(everpath, COMMUNITY, "--channels", "stable, candidate")} == {
        "stable,candidate"
    }


def test_priority_is_part_of_the_path_or_an_option(everpath: Everpath) -> None:
    in_path = short_paths(
        everpath, f"a={COMMUNITY}", f"b={CERTIFIED}@10", "-c", "stable", "--installed", "0.1.1"
    )
    as_option = short_paths(
        everpath,
        f"a={COMMUNITY}",
        f"b={CERTIFIED}",
        "--priority",
        "b=10",
        "-c",
        "stable",
        "--installed",
        "0.1.1",
    )
    assert in_path == as_option == ["stable v0 0.2.2 head", "stable v1 0.2.3 head", "stable v0 0.2.3 head"]


def test_packages_are_simulated_independently(everpath: Everpath, here: Path) -> None:
    text = (STREAMS / "certified" / "catalog.yaml").read_text()
    (here / "other.yaml").write_text(text.replace("searchkeeper", "other"))
    found = rows(everpath, "other.yaml", CERTIFIED, "--fresh", "--olm", "v0")
    assert [(r["package"], r["catalog"]) for r in found] == [
        ("other", "other.yaml"),
        ("searchkeeper", "certified"),
    ]


# Versions that are in no catalog


def test_unknown_version_of_one_package_is_simulated_with_a_note(everpath: Everpath) -> None:
    answer = everpath("simulate", CERTIFIED, "--installed", "0.2.0", "-o", "json")
    assert (answer.code, answer.err) == (
        0,
        (
            "note: 0.2.0 is in no catalog; taken for searchkeeper.v0.2.0 of version 0.2.0\n"
            "note: did you mean 0.2.3?\n"
        ),
    )
    assert [r["next"] for r in json.loads(answer.out)["paths"]] == ["searchkeeper.v0.2.3"] * 2


def test_quiet_prints_only_the_tables(everpath: Everpath) -> None:
    answer = everpath("simulate", CERTIFIED, "--installed", "0.2.0", "-q")
    assert (answer.code, answer.err) == (0, "")
    assert "INSTALLED" in answer.out
    assert "upgrade paths in" not in answer.out


def test_name_without_version_is_matched_by_name(everpath: Everpath) -> None:
    answer = everpath("simulate", CERTIFIED, "--installed", "zzz")
    assert "note: zzz is in no catalog; taken to be of an unknown version\n" in answer.err
    assert answer.code == 0


@pytest.mark.parametrize("option", ["--installed", "--starting-csv"])
def test_unknown_name_with_several_packages_is_an_error(everpath: Everpath, here: Path, option: str) -> None:
    text = (STREAMS / "certified" / "catalog.yaml").read_text()
    (here / "other.yaml").write_text(text.replace("searchkeeper", "other"))
    answer = everpath("simulate", "other.yaml", CERTIFIED, option, "other.v0.2.4")
    assert (answer.code, answer.err) == (
        2,
        (
            "error: nothing in 2 packages is called 'other.v0.2.4' or has that version\n"
            "hint: did you mean 'other.v0.2.3'? "
            "select a package with -p to simulate a version that is in no catalog\n"
        ),
    )


def test_only_packages_with_the_name_are_simulated(everpath: Everpath, here: Path) -> None:
    text = (STREAMS / "certified" / "catalog.yaml").read_text()
    (here / "other.yaml").write_text(text.replace("searchkeeper", "other"))
    for option in ("--installed", "--starting-csv"):
        found = rows(everpath, "other.yaml", CERTIFIED, option, "other.v0.2.3")
        assert {r["package"] for r in found} == {"other"}


def test_misspelled_package_or_channel_is_an_error(everpath: Everpath) -> None:
    assert everpath("simulate", COMMUNITY, "-p", "searchkeper").code == 2
    for option in ("--to-channel", "--channels"):
        answer = everpath("simulate", COMMUNITY, option, "candidat")
        assert (answer.code, answer.err) == (
            2,
            "error: no channel is called 'candidat'\nhint: did you mean 'candidate'?\n",
        )


# Options that exclude each other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--installed", "x", "--fresh"], "--installed and --fresh exclude each other"),
        (["--fresh", "--starting-csv", "x"], "--fresh and --starting-csv exclude each other"),
        (["--fresh", "--switch"], "--fresh and --switch exclude each other"),
        (["--starting-csv", "x", "--to-channel", "c"], "--starting-csv and --switch exclude each other"),
        (["--channels", "a", "-c", "a"], "--channels and --channel exclude each other"),
        (["--channels", "a", "--switch"], "--channels and --switch exclude each other"),
        (["--channels", "a", "--olm", "v0"], "--channels is for OLM v1"),
        (["--version-range", "1", "--olm", "v0"], "--version-range is for OLM v1"),
        (
            ["--upgrade-constraint-policy", "SelfCertified", "--olm", "v0"],
            "--upgrade-constraint-policy is for OLM v1",
        ),
        (
            ["--version-range", "1", "--starting-csv", "x"],
            "--version-range is for OLM v1, --starting-csv for OLM v0",
        ),
        (["--olm", "v1", "--starting-csv", "op.v1.2.3"], "--starting-csv is for OLM v0"),
        (["--version-range", "foo"], "--version-range 'foo' is invalid: improper constraint: foo"),
        (["--installed", ""], "--installed '': a name is empty"),
        (["--starting-csv", " "], "--starting-csv ' ': a name is empty"),
        (["--olm", "v1", "--approval", "Manual"], "--approval Manual is for OLM v0"),
        (["--fail-on", " ,"], "--fail-on ' ,': a name is empty"),
        (["-p", ""], "-p/--package '': a name is empty"),
        (["-c", "stable,,candidate"], "-c/--channel 'stable,,candidate': a name is empty"),
        (["--to-channel", ""], "--to-channel '': a name is empty"),
        (["--channels", ""], "--channels '': a name is empty"),
        (["--channels", "stable, ,candidate"], "--channels 'stable, ,candidate': a name is empty"),
        (["--fail-on", "head"], "--fail-on 'head' is not an end of a path"),
        (["--priority", "community=2147483648"], "the priority of catalog 'community' is out of bounds"),
        (["--priority", "community=-2147483649"], "the priority of catalog 'community' is out of bounds"),
        (["--priority", "x"], "--priority 'x' is not NAME=N"),
        (["--priority", "comunity=1"], "no catalog is called 'comunity'"),
    ],
)
def test_contradictory_or_invalid_options_are_rejected(
    everpath: Everpath, options: list[str], message: str
) -> None:
    answer = everpath("simulate", COMMUNITY, *options)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {message}\nhint: ")


def test_hint_for_starting_csv_under_v1_is_a_version_range(everpath: Everpath) -> None:
    answer = everpath("simulate", COMMUNITY, "--olm", "v1", "--starting-csv", "op.v1.2.3")
    assert answer.err.endswith("hint: a ClusterExtension is pinned with --version-range 1.2.3\n")


# Exit codes and files


def test_stranded_path_fails_only_with_fail_on(everpath: Everpath) -> None:
    assert everpath("simulate", COMMUNITY).code == 0
    assert everpath("simulate", COMMUNITY, "--fail-on", "stranded,loop").code == 1
    assert everpath("simulate", COMMUNITY, "--fail-on", "loop", "--fail-on", "error").code == 0
    assert everpath("simulate", COMMUNITY, "-c", "stable", "--fail-on", "stranded").code == 0


@pytest.mark.parametrize("options", [("--fresh",), ("--switch",), ("--fail-on", "stranded")])
def test_nothing_to_simulate_is_an_error(everpath: Everpath, here: Path, options: tuple[str, ...]) -> None:
    (here / "catalog.yaml").write_text("schema: olm.package\nname: p\ndefaultChannel: stable\n")
    answer = everpath("simulate", "catalog.yaml", *options)
    assert (answer.code, answer.out) == (2, "")
    assert "there is nothing to simulate" in answer.err
    assert everpath("simulate", "catalog.yaml").code == 0


def test_readable_parts_are_simulated_and_exit_code_is_3(everpath: Everpath, here: Path) -> None:
    (here / "broken.yaml").write_text((STREAMS / "certified" / "catalog.yaml").read_text() + "---\n[}\n")
    answer = everpath("simulate", "broken.yaml")
    assert answer.code == 3
    assert "1 part could not be read" in answer.err
    assert "searchkeeper.v0.2.3" in answer.out


def test_missing_path_is_an_error(everpath: Everpath) -> None:
    assert everpath("simulate", "a=nowhere@5").code == 3


def test_output_file_has_the_whole_report(everpath: Everpath, here: Path) -> None:
    answer = everpath("simulate", COMMUNITY, "-o", "json", "--output-file", "paths.json")
    assert (answer.code, answer.out) == (0, "")
    conforms("simulate", json.loads((here / "paths.json").read_text()))


def test_colour_needs_a_terminal_or_force_color(everpath: Everpath, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in everpath("simulate", COMMUNITY).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in everpath("simulate", COMMUNITY).out
    assert "\x1b" not in everpath("simulate", COMMUNITY, "-o", "csv").out


# Names of catalogs


def test_catalog_is_named_explicitly_or_after_its_folder(here: Path) -> None:
    assert parse_served_catalogs(["x=a/b@-7", "a/b/", "a/b", "-"]) == (
        ServedCatalog("x", "a/b", -7),
        ServedCatalog("b", "a/b/"),
        ServedCatalog("b-2", "a/b"),
        ServedCatalog("stdin", "-"),
    )


def test_existing_path_is_not_split(here: Path) -> None:
    (here / "x=y@3").mkdir()
    assert parse_served_catalogs(["x=y@3"]) == (ServedCatalog("x=y@3", "x=y@3"),)


def test_two_catalogs_of_the_same_name_are_rejected() -> None:
    with pytest.raises(UsageError, match="two catalogs are called 'x'"):
        parse_served_catalogs(["x=a", "x=b"])


def test_explicit_name_is_not_given_to_another_catalog() -> None:
    assert [one.name for one in parse_served_catalogs(["b", "b=a"])] == ["b-2", "b"]


def test_digest_is_not_a_priority() -> None:
    assert parse_served_catalogs(["quay.io/me/catalog@sha256:0123"])[0].priority == 0


def test_version_range_that_the_api_server_refuses_has_a_warning(everpath: Everpath) -> None:
    asked = ("simulate", COMMUNITY, "--olm", "v1", "--version-range", "0.1.0 - 0.2.0")
    answer = everpath(*asked, "-o", "json")
    warning_text = (
        "warning: the API server would refuse a ClusterExtension with version '0.1.0 - 0.2.0': invalid"
    )
    assert answer.err.startswith(warning_text)
    [warning] = json.loads(answer.out)["warnings"]
    assert answer.err == f"warning: {warning}\n"
    conforms("simulate", json.loads(answer.out))
    assert everpath(*asked).code == answer.code == 0
    usual = everpath(*asked[:-1], ">=0.1.0, <=0.2.0", "-o", "json")
    assert (usual.err, "warnings" in json.loads(usual.out)) == ("", False)
