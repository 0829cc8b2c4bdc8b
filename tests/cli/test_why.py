"""`everpath why`: the command line, its exit codes, and the JSON contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from catalogs import fbc, write_fbc
from commandline import Everpath
from schemas import conforms

DRAWING = """
    [stable]
    op.v1.2.0: - / op.v1.1.0
    op.v1.1.0: - / op.v1.0.0
    op.v1.0.0
    [fast]
    op.v1.10.0: - / - / <1.10.0
    [old]
    op.v0.9.0
"""


@pytest.fixture(autouse=True)
def catalog(here: Path) -> Path:
    write_fbc(here, "b1: a1\na1", "another")
    return write_fbc(here, DRAWING, "op")


def told(everpath: Everpath, *arguments: str, code: int) -> dict[str, Any]:
    answer = everpath("why", *arguments, "-o", "json")
    assert answer.code == code, answer.err
    document: dict[str, Any] = json.loads(answer.out)
    conforms("why", document)
    return document


def test_who_stays_behind_is_a_finding(everpath: Everpath) -> None:
    document = told(everpath, "-p", "op", "--installed", "1.0.0", code=1)
    assert document["installed"] == {"name": "op.v1.0.0", "version": "1.0.0", "known": True}
    v0, v1 = document["explanations"]
    assert (v0["policy"], v0["next"], v0["end"]) == ("v0", None, "stranded")
    assert (v1["policy"], v1["next"], v1["end"]) == ("v1", "op.v1.1.0", "head")
    (remedy,) = v0["fixes"]
    assert (remedy["rule"], remedy["fix"]) == ("EP206", "add op.v1.0.0 to the skips of op.v1.2.0")
    assert remedy["file"] == "catalog/op.yaml"
    assert remedy["line"] > 0


def test_who_arrives_is_none(everpath: Everpath) -> None:
    document = told(everpath, "-p", "op", "--installed", "op.v1.1.0", "-c", "stable", code=0)
    assert [answer["path"] for answer in document["explanations"]] == [["op.v1.2.0"], ["op.v1.2.0"]]
    assert [answer["failure"] for answer in document["explanations"]] == [None, None]


def test_who_arrives_is_sent_to_the_cluster_in_a_few_lines(everpath: Everpath) -> None:
    arrived = everpath("why", "-p", "op", "--installed", "op.v1.1.0", "-c", "stable")
    stays = everpath("why", "-p", "op", "--installed", "1.0.0")
    assert (arrived.code, stays.code) == (0, 1)
    assert arrived.out.count("$ kubectl") == 2
    assert "more if the cluster behaves differently: see -o json and https://" in arrived.out
    assert stays.out.count("$ kubectl") > 4
    assert "if the cluster does otherwise" not in stays.out


def test_quiet_is_only_the_answer(everpath: Everpath) -> None:
    quiet = everpath("why", "-p", "op", "--installed", "1.0.0", "-q")
    assert (quiet.code, "Check on the cluster" in quiet.out) == (1, False)


def test_one_policy_is_asked_alone(everpath: Everpath) -> None:
    for policy, code in (("v0", 1), ("v1", 0)):
        document = told(everpath, "-p", "op", "--installed", "1.0.0", "--policy", policy, code=code)
        assert [answer["policy"] for answer in document["explanations"]] == [policy]
        assert {check["policy"] for check in document["checks"]} == {policy}


def test_a_failure_has_the_resolver_s_words(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "b2\nb1", "op")
    v0, _ = told(everpath, "-p", "op", "--installed", "b1", code=1)["explanations"]
    assert v0["failure"]["kind"] == "several heads"
    assert v0["failure"]["message"].endswith('found in channel "stable" of package "op": b1, b2')


def test_a_failure_without_stable_words_has_none(everpath: Everpath) -> None:
    v1 = told(everpath, "-p", "op", "--installed", "unheard-of", code=1)["explanations"][1]
    assert v1["failure"] == {"kind": "unreadable version", "names": ["unheard-of"], "message": None}


@pytest.mark.parametrize(
    ("installed", "channel"),
    [("op.v1.0.0", "stable"), ("op.v1.10.0", "fast"), ("op.v0.9.0", "old"), ("op.v7.0.0", "stable")],
)
def test_the_channel_is_the_default_one_or_one_that_has_it(
    everpath: Everpath, installed: str, channel: str
) -> None:
    answer = everpath("why", "-p", "op", "--installed", installed, "-o", "json")
    assert json.loads(answer.out)["channel"] == channel


def test_a_channel_that_does_not_exist_is_answered(everpath: Everpath) -> None:
    document = told(everpath, "-p", "op", "--installed", "1.0.0", "-c", "stabel", code=1)
    assert [answer["failure"]["kind"] for answer in document["explanations"]] == ["no channel", "no bundles"]
    assert document["explanations"][0]["fixes"][0]["fix"].endswith("did you mean stable?")


def test_the_package_is_found_by_what_is_installed(everpath: Everpath) -> None:
    assert told(everpath, "--installed", "op.v1.2.0", code=0)["package"] == "op"


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (
            ["-p", "op"],
            "no installed version is given",
            "--installed NAME or --installed VERSION; --fresh if nothing is installed",
        ),
        (
            ["-p", "op", "--installed", "1.0.0", "--fresh"],
            "--installed and --fresh exclude each other",
            "leave one of them out",
        ),
        (
            ["--fresh"],
            "no package is given; the input has 2 packages (another and op)",
            "-p NAME; `everpath list packages` lists them",
        ),
        (["-p", "opp", "--fresh"], "no package is called 'opp'", "did you mean 'op'?"),
        (
            ["-p", "op", "--fresh", "--channels", "stable,fats"],
            "no channel is called 'fats'",
            "did you mean 'fast'?",
        ),
        (
            ["-p", "op", "--starting-csv", "op.v1.0.0", "--policy", "v1"],
            "--starting-csv is for OLM v0",
            "a ClusterExtension is pinned with --version-range 1.0.0",
        ),
    ],
)
def test_a_question_that_cannot_be_answered_says_what_is_missing(
    everpath: Everpath, arguments: list[str], message: str, hint: str
) -> None:
    answer = everpath("why", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"error: {message}\nhint: {hint}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fresh", "--policy", "v0", "--version-range", "1.x"], "--version-range is for OLM v1"),
        (["--fresh", "--policy", "v0", "--channels", "*"], "--channels is for OLM v1"),
        (
            ["--starting-csv", "op.v1.0.0", "--version-range", "1.x"],
            "--version-range is for OLM v1, --starting-csv for OLM v0",
        ),
        (
            ["--fresh", "--version-range", "junk"],
            "--version-range 'junk' is invalid: improper constraint: junk",
        ),
        (["--installed", ""], "--installed is empty"),
        (["--installed", " "], "--installed is empty"),
        (["--starting-csv", ""], "--starting-csv is empty"),
        (["--fresh", "-p", ""], "-p/--package '': a name is empty"),
        (["--fresh", "-c", " "], "-c/--channel ' ': a name is empty"),
        (["--fresh", "--channels", "stable,"], "--channels 'stable,': a name is empty"),
        (["one=.@2147483648", "--fresh"], "the priority of catalog 'one' is out of bounds"),
        (
            ["one=.", "--fresh", "--priority", "one=-2147483649"],
            "the priority of catalog 'one' is out of bounds",
        ),
        (["one=.", "--fresh", "--priority", f"one={'9' * 5000}"], "the priority of catalog 'one' is out of"),
    ],
)
def test_no_option_is_ignored(everpath: Everpath, arguments: list[str], message: str) -> None:
    answer = everpath("why", "-p", "op", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {message}")


def test_a_version_range_that_no_api_server_takes_is_answered_with_a_warning(
    everpath: Everpath,
) -> None:
    asked = ("why", "-p", "op", "--fresh", "-o", "json")
    answer = everpath(*asked, "--policy", "v1", "--version-range", "1.*.1 || 1.0.0")
    found = json.loads(answer.out)
    conforms("why", found)
    assert answer.err == f"warning: {found['warnings'][0]}\n"
    assert "would refuse a ClusterExtension with version '1.*.1 || 1.0.0'" in answer.err
    assert "warnings" not in json.loads(everpath(*asked).out)


def test_a_version_of_several_bundles_must_be_named(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "a@1.0.0: b\nb@1.0.0", "op")
    answer = everpath("why", "-p", "op", "--installed", "1.0.0")
    assert answer.code == 2
    assert answer.err.startswith("error: several CSVs have version 1.0.0: a, b\n")


def test_nothing_installed_and_a_starting_csv_are_questions_too(everpath: Everpath) -> None:
    fresh = told(everpath, "-p", "op", "--fresh", code=0)
    assert fresh["installed"] is None
    assert [answer["next"] for answer in fresh["explanations"]] == ["op.v1.2.0", "op.v1.2.0"]
    pinned = told(everpath, "-p", "op", "--starting-csv", "op.v1.1.0", code=0)
    assert [answer["path"] for answer in pinned["explanations"]] == [["op.v1.1.0", "op.v1.2.0"]]


def test_the_terms_of_a_cluster_extension(everpath: Everpath) -> None:
    asked = ("-p", "op", "--installed", "1.0.0", "--policy", "v1")
    (joined,) = told(everpath, *asked, "--channels", "*", code=0)["explanations"]
    assert (joined["channels"], joined["next"]) == ([], "op.v1.10.0")
    (pinned,) = told(everpath, *asked, "--version-range", "1.2.0", code=1)["explanations"]
    assert pinned["failure"]["kind"] == "no bundles"
    certified = ("--upgrade-constraint-policy", "SelfCertified")
    (free,) = told(everpath, *asked, "--version-range", "1.2.0", *certified, code=0)["explanations"]
    assert free["next"] == "op.v1.2.0"


def test_several_catalogs_are_those_of_one_cluster(everpath: Everpath, here: Path) -> None:
    (here / "more").mkdir()
    write_fbc(here / "more", "op.v1.3.0: op.v1.2.0", "op")
    asked = ("-p", "op", "--installed", "op.v1.2.0", "main=catalog", "other=more/catalog")
    document = told(everpath, *asked, "--priority", "other=5", code=0)
    assert [(a["policy"], a["catalog"], a["next"]) for a in document["explanations"]] == [
        ("v0", "main", None),
        ("v0", "other", "op.v1.3.0"),
        ("v1", "other", "op.v1.3.0"),
    ]


def test_the_answer_can_go_to_a_file(everpath: Everpath, here: Path) -> None:
    answer = everpath("why", "-p", "op", "--installed", "1.1.0", "--output-file", "why.txt")
    assert (answer.code, answer.out) == (0, "")
    assert (here / "why.txt").read_text().startswith("package op, channel stable: op.v1.1.0 (1.1.0)")


def test_what_cannot_be_read_is_said_and_the_rest_is_answered(everpath: Everpath, here: Path) -> None:
    (here / "catalog" / "torn.yaml").write_text("schema: olm.bundle\nname: [")
    answer = everpath("why", "-p", "op", "--installed", "1.1.0")
    assert answer.code == 3
    assert answer.out.startswith("package op, channel stable")
    assert "1 part could not be read" in answer.err


def test_a_large_channel_is_told_in_a_few_lines(everpath: Everpath, here: Path) -> None:
    lines = [f"op.v{n}.0.0: op.v{n - 1}.0.0 / - / >={n - 1}.0.0 <{n}.0.0" for n in range(60, 1, -1)]
    write_fbc(here, "\n".join([*lines, "op.v1.0.0"]), "op")
    answer = everpath("why", "-p", "op", "--installed", "30.0.0", "--policy", "v0")
    looks = [line for line in answer.out.splitlines() if line.startswith("    op.")]
    assert len(looks) == 12
    assert any("taken" in line and line.strip().startswith("op.v31.0.0 ") for line in looks)
    assert "    and 48 more, none of which accepts it (-o json lists them)\n" in answer.out


def test_names_cannot_write_to_the_terminal(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "op.v2.0.0: - / evil", "op")
    for file in (here / "catalog").rglob("*.yaml"):
        file.write_text(file.read_text().replace("evil", r'"\e[31mevil"'))
    answer = everpath("why", "-p", "op", "--installed", "op.v1.0.0")
    assert "\x1b" not in answer.out
    assert "\\x1b[31mevil" in answer.out


NO_CHANNEL = """
{"schema": "olm.package", "name": "p", "defaultChannel": "stable"}
{"schema": "olm.bundle", "name": "b1", "package": "p", "image": "r.example/p:1", "properties":
 [{"type": "olm.package", "value": {"packageName": "p", "version": "0.1.0"}}]}
"""
NO_ENTRY = """
{"schema": "olm.channel", "package": "p", "name": "stable", "entries": []}
"""


@pytest.mark.parametrize(
    ("catalog", "remedy"),
    [
        (NO_CHANNEL, "publish a channel of p, which has none, with an entry for each bundle"),
        (
            NO_CHANNEL + NO_ENTRY,
            "add entries to stable: a channel without any serves nobody, and opm refuses it",
        ),
    ],
)
def test_a_package_that_serves_nothing_has_a_remedy(everpath: Everpath, catalog: str, remedy: str) -> None:
    answer = everpath("why", "-", "--fresh", stdin=catalog)
    assert answer.code == 1
    assert answer.out.count(f"fix: {remedy}\n") == 2


def test_channels_that_a_package_has_not_are_no_choice_for_v1(everpath: Everpath) -> None:
    answer = everpath("why", "-p", "op", "--fresh", "--policy", "v1", "-c", "nightly")
    assert "fix: let channels name one that the package has (fast, old, stable)" in answer.out


def test_a_report_goes_to_no_file_without_a_name(everpath: Everpath) -> None:
    answer = everpath("why", "-p", "op", "--fresh", "--output-file", "")
    assert (answer.code, answer.err.splitlines()[0]) == (2, "error: --output-file is empty")


def test_an_entry_without_a_name_is_not_nothing(everpath: Everpath) -> None:
    catalog = NO_CHANNEL.replace('"b1"', '""') + NO_ENTRY.replace("[]", '[{"name": ""}, {"name": "x"}]')
    answer = everpath("why", "-", "--installed", "0.1.0", stdin=catalog)
    assert answer.out.startswith('package p, channel stable: "" (0.1.0) is installed\n')
    assert 'and "" is not upgraded.' in answer.out
    assert "nothing is installed" not in answer.out


def test_of_two_channels_of_one_name_v1_is_explained_by_the_last(everpath: Everpath, here: Path) -> None:
    again = fbc("b: - / - / <2.0.0\na").split("---\n")[2]
    (here / "twice.yaml").write_text(fbc("b: a\na") + "---\n" + again)
    out = everpath("why", "twice.yaml", "--installed", "a", "--policy", "v1").out
    assert "b  taken        has the skipRange '<2.0.0', which contains 1.0.0, and ranks first\n" in out
