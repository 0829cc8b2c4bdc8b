"""`everpath simulate`: what is typed, what is refused, and what ends with which exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commandline import Everpath
from everpath.app.served_catalogs import ServedCatalog, parse_served_catalogs
from everpath.errors import UsageError
from schemas import conforms

STREAMS = Path(__file__).parent / "golden" / "streams"
COMMUNITY, CERTIFIED = str(STREAMS / "community"), str(STREAMS / "certified")


def rows(everpath: Everpath, *arguments: str) -> list[dict[str, Any]]:
    answer = everpath("simulate", *arguments, "-o", "json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    conforms("simulate", found)
    rows: list[dict[str, Any]] = found["paths"]
    return rows


def ways(everpath: Everpath, *arguments: str) -> list[str]:
    """`stable v0 0.1.0 0.1.1 head`, a line for each row."""
    return [
        " ".join([r["channel"], r["policy"], *(n.rpartition("v")[2] for n in r["hops"]), r["end"]])
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
def test_every_answer_is_as_the_schema_says(everpath: Everpath, options: tuple[str, ...]) -> None:
    assert rows(everpath, COMMUNITY, *options)


def test_a_row_has_the_fields_of_the_contract_in_its_order(everpath: Everpath) -> None:
    keys = ["package", "channel", "installed", "policy", "next", "hops", "end", "reason"]
    assert all(list(row) == keys for row in rows(everpath, COMMUNITY))


def test_one_policy_may_be_asked_also_by_the_configuration(everpath: Everpath, here: Path) -> None:
    assert {r["policy"] for r in rows(everpath, COMMUNITY, "--policy", "v1")} == {"v1"}
    (here / "everpath.yaml").write_text("policy: v0\nchannels: [stable]\n")
    found = rows(everpath, COMMUNITY)
    assert {(r["policy"], r["channel"]) for r in found} == {("v0", "stable")}


def test_what_is_for_another_policy_than_the_configured_one_is_refused(
    everpath: Everpath, here: Path
) -> None:
    (here / "everpath.yaml").write_text("policy: v0\n")
    answer = everpath("simulate", COMMUNITY, "--version-range", "1")
    assert answer.code == 2
    assert answer.err.endswith("hint: the configuration says v0; add --policy v1\n")


def test_to_channel_alone_is_a_switch(everpath: Everpath) -> None:
    found = rows(everpath, COMMUNITY, "--to-channel", "candidate", "--installed", "0.2.1")
    assert [(r["channel"], r["from"]) for r in found] == [("candidate", ["stable"])] * 2


def test_a_list_of_channels_may_have_blanks(everpath: Everpath) -> None:
    assert {r["channel"] for r in rows(everpath, COMMUNITY, "--channels", "stable, candidate")} == {
        "stable,candidate"
    }


def test_priorities_are_said_with_the_path_or_apart(everpath: Everpath) -> None:
    beside = ways(everpath, f"a={COMMUNITY}", f"b={CERTIFIED}@10", "-c", "stable", "--installed", "0.1.1")
    apart = ways(
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
    assert beside == apart == ["stable v0 0.2.2 head", "stable v1 0.2.3 head", "stable v0 0.2.3 head"]


def test_several_packages_are_answered_each_for_itself(everpath: Everpath, here: Path) -> None:
    text = (STREAMS / "certified" / "catalog.yaml").read_text()
    (here / "other.yaml").write_text(text.replace("searchkeeper", "other"))
    found = rows(everpath, "other.yaml", CERTIFIED, "--fresh", "--policy", "v0")
    assert [(r["package"], r["catalog"]) for r in found] == [
        ("other", "other.yaml"),
        ("searchkeeper", "certified"),
    ]


# What is nowhere


def test_of_one_package_something_that_is_nowhere_is_answered_with_a_note(everpath: Everpath) -> None:
    answer = everpath("simulate", CERTIFIED, "--installed", "0.2.0", "-o", "json")
    assert (answer.code, answer.err) == (
        0,
        (
            "note: 0.2.0 is in no catalog; taken for searchkeeper.v0.2.0 of version 0.2.0\n"
            "note: did you mean 0.2.3?\n"
        ),
    )
    assert [r["next"] for r in json.loads(answer.out)["paths"]] == ["searchkeeper.v0.2.3"] * 2


def test_quiet_is_only_the_walks(everpath: Everpath) -> None:
    answer = everpath("simulate", CERTIFIED, "--installed", "0.2.0", "-q")
    assert (answer.code, answer.err) == (0, "")
    assert "INSTALLED" in answer.out
    assert "walks in" not in answer.out


def test_a_name_without_a_version_is_matched_by_name(everpath: Everpath) -> None:
    answer = everpath("simulate", CERTIFIED, "--installed", "zzz")
    assert "note: zzz is in no catalog; taken to be of an unknown version\n" in answer.err
    assert answer.code == 0


@pytest.mark.parametrize("option", ["--installed", "--starting-csv"])
def test_of_several_packages_it_is_asked_which(everpath: Everpath, here: Path, option: str) -> None:
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


def test_only_packages_that_have_it_are_answered_for(everpath: Everpath, here: Path) -> None:
    text = (STREAMS / "certified" / "catalog.yaml").read_text()
    (here / "other.yaml").write_text(text.replace("searchkeeper", "other"))
    for option in ("--installed", "--starting-csv"):
        found = rows(everpath, "other.yaml", CERTIFIED, option, "other.v0.2.3")
        assert {r["package"] for r in found} == {"other"}


def test_a_misspelled_package_or_target_is_an_error(everpath: Everpath) -> None:
    assert everpath("simulate", COMMUNITY, "-p", "searchkeper").code == 2
    for option in ("--to-channel", "--channels"):
        answer = everpath("simulate", COMMUNITY, option, "candidat")
        assert (answer.code, answer.err) == (
            2,
            "error: no channel is called 'candidat'\nhint: did you mean 'candidate'?\n",
        )


# What cannot be meant together


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--installed", "x", "--fresh"], "--installed and --fresh exclude each other"),
        (["--fresh", "--starting-csv", "x"], "--fresh and --starting-csv exclude each other"),
        (["--fresh", "--switch"], "--fresh and --switch exclude each other"),
        (["--starting-csv", "x", "--to-channel", "c"], "--starting-csv and --switch exclude each other"),
        (["--channels", "a", "-c", "a"], "--channels takes the place of -c and --switch"),
        (["--channels", "a", "--switch"], "--channels takes the place of -c and --switch"),
        (["--channels", "a", "--policy", "v0"], "--channels is for OLM v1"),
        (["--version-range", "1", "--policy", "v0"], "--version-range is for OLM v1"),
        (
            ["--upgrade-constraint-policy", "SelfCertified", "--policy", "v0"],
            "--upgrade-constraint-policy is for OLM v1",
        ),
        (
            ["--version-range", "1", "--starting-csv", "x"],
            "--version-range is for OLM v1, --starting-csv for OLM v0",
        ),
        (["--policy", "v1", "--starting-csv", "op.v1.2.3"], "--starting-csv is for OLM v0"),
        (["--version-range", "foo"], "--version-range 'foo' is invalid: improper constraint: foo"),
        (["--installed", ""], "an empty name is nothing to ask about"),
        (["--installed", " "], "an empty name is nothing to ask about"),
        (["--policy", "v1", "--approval", "Manual"], "--approval Manual is for OLM v0"),
        (["--fail-on", " ,"], "--fail-on ' ,': a name is empty"),
        (["-p", ""], "-p/--package '': a name is empty"),
        (["-c", "stable,,candidate"], "-c/--channel 'stable,,candidate': a name is empty"),
        (["--to-channel", ""], "--to-channel '': a name is empty"),
        (["--channels", ""], "--channels '': a name is empty"),
        (["--channels", "stable, ,candidate"], "--channels 'stable, ,candidate': a name is empty"),
        (["--fail-on", "head"], "no walk ends in 'head'"),
        (["--priority", "community=2147483648"], "the priority of catalog 'community' is out of bounds"),
        (["--priority", "community=-2147483649"], "the priority of catalog 'community' is out of bounds"),
        (["--priority", "x"], "--priority 'x' is not NAME=N"),
        (["--priority", "comunity=1"], "no catalog is called 'comunity'"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    everpath: Everpath, options: list[str], message: str
) -> None:
    answer = everpath("simulate", COMMUNITY, *options)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {message}\nhint: ")


def test_a_pin_is_what_v1_has_for_starting_csv(everpath: Everpath) -> None:
    answer = everpath("simulate", COMMUNITY, "--policy", "v1", "--starting-csv", "op.v1.2.3")
    assert answer.err.endswith("hint: a ClusterExtension is pinned with --version-range 1.2.3\n")


# Exit codes and files


def test_a_walk_that_ends_badly_is_a_failure_only_if_that_is_asked(everpath: Everpath) -> None:
    assert everpath("simulate", COMMUNITY).code == 0
    assert everpath("simulate", COMMUNITY, "--fail-on", "stranded,loop").code == 1
    assert everpath("simulate", COMMUNITY, "--fail-on", "loop", "--fail-on", "error").code == 0
    assert everpath("simulate", COMMUNITY, "-c", "stable", "--fail-on", "stranded").code == 0


@pytest.mark.parametrize("options", [("--fresh",), ("--switch",), ("--fail-on", "stranded")])
def test_a_question_or_a_gate_is_not_answered_with_nothing(
    everpath: Everpath, here: Path, options: tuple[str, ...]
) -> None:
    (here / "catalog.yaml").write_text("schema: olm.package\nname: p\ndefaultChannel: stable\n")
    answer = everpath("simulate", "catalog.yaml", *options)
    assert (answer.code, answer.out) == (2, "")
    assert "there is nobody to simulate" in answer.err
    assert everpath("simulate", "catalog.yaml").code == 0


def test_what_could_not_be_read_is_said_and_the_rest_answered(everpath: Everpath, here: Path) -> None:
    (here / "broken.yaml").write_text((STREAMS / "certified" / "catalog.yaml").read_text() + "---\n[}\n")
    answer = everpath("simulate", "broken.yaml")
    assert answer.code == 3
    assert "1 part could not be read" in answer.err
    assert "searchkeeper.v0.2.3" in answer.out


def test_a_path_that_is_not_there_is_an_error(everpath: Everpath) -> None:
    assert everpath("simulate", "a=nowhere@5").code == 3


def test_answers_go_to_a_file_whole(everpath: Everpath, here: Path) -> None:
    answer = everpath("simulate", COMMUNITY, "-o", "json", "--output-file", "walks.json")
    assert (answer.code, answer.out) == (0, "")
    conforms("simulate", json.loads((here / "walks.json").read_text()))


def test_colour_is_for_terminals_and_who_forces_it(
    everpath: Everpath, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b" not in everpath("simulate", COMMUNITY).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in everpath("simulate", COMMUNITY).out
    assert "\x1b" not in everpath("simulate", COMMUNITY, "-o", "csv").out


# Names of catalogs


def test_a_catalog_is_called_as_is_said_or_after_its_folder(here: Path) -> None:
    assert parse_served_catalogs(["x=a/b@-7", "a/b/", "a/b", "-"]) == (
        ServedCatalog("x", "a/b", -7),
        ServedCatalog("b", "a/b/"),
        ServedCatalog("b-2", "a/b"),
        ServedCatalog("stdin", "-"),
    )


def test_a_path_that_exists_is_itself(here: Path) -> None:
    (here / "x=y@3").mkdir()
    assert parse_served_catalogs(["x=y@3"]) == (ServedCatalog("x=y@3", "x=y@3"),)


def test_two_catalogs_have_two_names() -> None:
    with pytest.raises(UsageError, match="two catalogs are called 'x'"):
        parse_served_catalogs(["x=a", "x=b"])


def test_a_name_that_is_said_is_not_given_to_another() -> None:
    assert [one.name for one in parse_served_catalogs(["b", "b=a"])] == ["b-2", "b"]


def test_a_digest_is_no_priority() -> None:
    assert parse_served_catalogs(["quay.io/me/catalog@sha256:0123"])[0].priority == 0


def test_a_version_range_that_no_api_server_takes_is_answered_with_a_warning(everpath: Everpath) -> None:
    asked = ("simulate", COMMUNITY, "--policy", "v1", "--version-range", "0.1.0 - 0.2.0")
    answer = everpath(*asked, "-o", "json")
    words = "warning: the API server would refuse a ClusterExtension with version '0.1.0 - 0.2.0': invalid"
    assert answer.err.startswith(words)
    [warning] = json.loads(answer.out)["warnings"]
    assert answer.err == f"warning: {warning}\n"
    conforms("simulate", json.loads(answer.out))
    assert everpath(*asked).code == answer.code == 0
    usual = everpath(*asked[:-1], ">=0.1.0, <=0.2.0", "-o", "json")
    assert (usual.err, "warnings" in json.loads(usual.out)) == ("", False)
