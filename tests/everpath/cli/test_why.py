"""`everpath why`: the command line, its exit codes, and the JSON contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commandline import Everpath
from tests.support.everpath.catalogs import fbc, write_fbc
from tests.support.schemas import conforms

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


def explain(everpath: Everpath, *arguments: str, code: int) -> dict[str, Any]:
    answer = everpath("why", *arguments, "-o", "json")
    assert answer.code == code, answer.err
    document: dict[str, Any] = json.loads(answer.out)
    conforms("why", document)
    return document


def test_stranded_version_exits_with_one_and_has_a_fix(everpath: Everpath) -> None:
    document = explain(everpath, "-p", "op", "--installed", "1.0.0", code=1)
    assert document["installed"] == {"name": "op.v1.0.0", "version": "1.0.0", "known": True}
    v0, v1 = document["explanations"]
    assert (v0["resolver"], v0["next"], v0["end"]) == ("v0", None, "stranded")
    assert (v1["resolver"], v1["next"], v1["end"]) == ("v1", "op.v1.1.0", "head")
    (fix,) = v0["fixes"]
    assert (fix["rule"], fix["fix"]) == ("EP206", "add op.v1.0.0 to the skips of op.v1.2.0")
    assert fix["file"] == "catalog/op.yaml"
    assert fix["line"] > 0


def test_version_that_reaches_the_head_exits_with_zero(everpath: Everpath) -> None:
    document = explain(everpath, "-p", "op", "--installed", "op.v1.1.0", "-c", "stable", code=0)
    assert [answer["path"] for answer in document["explanations"]] == [["op.v1.2.0"], ["op.v1.2.0"]]
    assert [answer["failure"] for answer in document["explanations"]] == [None, None]


def test_version_that_reaches_the_head_has_one_check_for_each_resolver(everpath: Everpath) -> None:
    reaches_head = everpath("why", "-p", "op", "--installed", "op.v1.1.0", "-c", "stable")
    stranded = everpath("why", "-p", "op", "--installed", "1.0.0")
    assert (reaches_head.code, stranded.code) == (0, 1)
    assert reaches_head.out.count("$ kubectl") == 2
    assert "more if the cluster behaves differently: see -o json and https://" in reaches_head.out
    assert stranded.out.count("$ kubectl") > 4
    assert "if the cluster behaves differently" not in stranded.out


def test_quiet_prints_no_checks(everpath: Everpath) -> None:
    quiet = everpath("why", "-p", "op", "--installed", "1.0.0", "-q")
    assert (quiet.code, "Check on the cluster" in quiet.out) == (1, False)


def test_olm_option_selects_one_resolver(everpath: Everpath) -> None:
    for resolver, code in (("v0", 1), ("v1", 0)):
        document = explain(everpath, "-p", "op", "--installed", "1.0.0", "--olm", resolver, code=code)
        assert [answer["resolver"] for answer in document["explanations"]] == [resolver]
        assert {check["resolver"] for check in document["checks"]} == {resolver}


def test_failure_has_the_error_message_of_the_resolver(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "b2\nb1", "op")
    v0, _ = explain(everpath, "-p", "op", "--installed", "b1", code=1)["explanations"]
    assert v0["failure"]["kind"] == "several heads"
    assert v0["failure"]["message"].endswith('found in channel "stable" of package "op": b1, b2')


def test_failure_without_a_stable_message_has_none(everpath: Everpath) -> None:
    v1 = explain(everpath, "-p", "op", "--installed", "unheard-of", code=1)["explanations"][1]
    assert v1["failure"] == {"kind": "unreadable version", "names": ["unheard-of"], "message": None}


@pytest.mark.parametrize(
    ("installed", "channel"),
    [("op.v1.0.0", "stable"), ("op.v1.10.0", "fast"), ("op.v0.9.0", "old"), ("op.v7.0.0", "stable")],
)
def test_channel_is_the_default_channel_or_one_with_the_installed_version(
    everpath: Everpath, installed: str, channel: str
) -> None:
    answer = everpath("why", "-p", "op", "--installed", installed, "-o", "json")
    assert json.loads(answer.out)["channel"] == channel


def test_channel_that_does_not_exist_is_explained(everpath: Everpath) -> None:
    document = explain(everpath, "-p", "op", "--installed", "1.0.0", "-c", "stabel", code=1)
    assert [answer["failure"]["kind"] for answer in document["explanations"]] == ["no channel", "no bundles"]
    assert document["explanations"][0]["fixes"][0]["fix"].endswith("did you mean stable?")


def test_package_is_found_by_the_installed_csv(everpath: Everpath) -> None:
    assert explain(everpath, "--installed", "op.v1.2.0", code=0)["package"] == "op"


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
            ["-p", "op", "--starting-csv", "op.v1.0.0", "--olm", "v1"],
            "--starting-csv is for OLM v0",
            "a ClusterExtension is pinned with --version-range 1.0.0",
        ),
    ],
)
def test_missing_or_conflicting_option_has_a_hint(
    everpath: Everpath, arguments: list[str], message: str, hint: str
) -> None:
    answer = everpath("why", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"error: {message}\nhint: {hint}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fresh", "--olm", "v0", "--version-range", "1.x"], "--version-range is for OLM v1"),
        (["--fresh", "--olm", "v0", "--channels", "*"], "--channels is for OLM v1"),
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
def test_option_that_would_have_no_effect_is_rejected(
    everpath: Everpath, arguments: list[str], message: str
) -> None:
    answer = everpath("why", "-p", "op", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {message}")


def test_version_range_that_the_api_server_refuses_is_a_warning(
    everpath: Everpath,
) -> None:
    asked = ("why", "-p", "op", "--fresh", "-o", "json")
    answer = everpath(*asked, "--olm", "v1", "--version-range", "1.*.1 || 1.0.0")
    found = json.loads(answer.out)
    conforms("why", found)
    assert answer.err == f"warning: {found['warnings'][0]}\n"
    assert "would refuse a ClusterExtension with version '1.*.1 || 1.0.0'" in answer.err
    assert "warnings" not in json.loads(everpath(*asked).out)


def test_version_of_several_csvs_is_ambiguous(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "a@1.0.0: b\nb@1.0.0", "op")
    answer = everpath("why", "-p", "op", "--installed", "1.0.0")
    assert answer.code == 2
    assert answer.err.startswith("error: several CSVs have version 1.0.0: a, b\n")


def test_new_installation_and_starting_csv_are_explained(everpath: Everpath) -> None:
    fresh = explain(everpath, "-p", "op", "--fresh", code=0)
    assert fresh["installed"] is None
    assert [answer["next"] for answer in fresh["explanations"]] == ["op.v1.2.0", "op.v1.2.0"]
    pinned = explain(everpath, "-p", "op", "--starting-csv", "op.v1.1.0", code=0)
    assert [answer["path"] for answer in pinned["explanations"]] == [["op.v1.1.0", "op.v1.2.0"]]


def test_fields_of_the_cluster_extension_change_the_decision(everpath: Everpath) -> None:
    asked = ("-p", "op", "--installed", "1.0.0", "--olm", "v1")
    (joined,) = explain(everpath, *asked, "--channels", "*", code=0)["explanations"]
    assert (joined["channels"], joined["next"]) == ([], "op.v1.10.0")
    (pinned,) = explain(everpath, *asked, "--version-range", "1.2.0", code=1)["explanations"]
    assert pinned["failure"]["kind"] == "no bundles"
    certified = ("--upgrade-constraint-policy", "SelfCertified")
    (free,) = explain(everpath, *asked, "--version-range", "1.2.0", *certified, code=0)["explanations"]
    assert free["next"] == "op.v1.2.0"


def test_several_catalogs_are_those_of_one_cluster(everpath: Everpath, here: Path) -> None:
    (here / "more").mkdir()
    write_fbc(here / "more", "op.v1.3.0: op.v1.2.0", "op")
    asked = ("-p", "op", "--installed", "op.v1.2.0", "main=catalog", "other=more/catalog")
    document = explain(everpath, *asked, "--priority", "other=5", code=0)
    assert [(a["resolver"], a["catalog"], a["next"]) for a in document["explanations"]] == [
        ("v0", "main", None),
        ("v0", "other", "op.v1.3.0"),
        ("v1", "other", "op.v1.3.0"),
    ]


def test_explanation_is_written_to_a_file(everpath: Everpath, here: Path) -> None:
    answer = everpath("why", "-p", "op", "--installed", "1.1.0", "--output-file", "why.txt")
    assert (answer.code, answer.out) == (0, "")
    assert (here / "why.txt").read_text().startswith("package op, channel stable: op.v1.1.0 (1.1.0)")


def test_unreadable_part_is_a_warning_and_the_rest_is_explained(everpath: Everpath, here: Path) -> None:
    (here / "catalog" / "torn.yaml").write_text("schema: olm.bundle\nname: [")
    answer = everpath("why", "-p", "op", "--installed", "1.1.0")
    assert answer.code == 3
    assert answer.out.startswith("package op, channel stable")
    assert "1 part could not be read" in answer.err


def test_large_channel_shows_twelve_candidates(everpath: Everpath, here: Path) -> None:
    lines = [f"op.v{n}.0.0: op.v{n - 1}.0.0 / - / >={n - 1}.0.0 <{n}.0.0" for n in range(60, 1, -1)]
    write_fbc(here, "\n".join([*lines, "op.v1.0.0"]), "op")
    answer = everpath("why", "-p", "op", "--installed", "30.0.0", "--olm", "v0")
    candidates = [line for line in answer.out.splitlines() if line.startswith("    op.")]
    assert len(candidates) == 12
    assert any("taken" in line and line.strip().startswith("op.v31.0.0 ") for line in candidates)
    assert "    and 48 more, none of which accepts it (-o json lists them)\n" in answer.out


def test_control_characters_in_names_are_escaped(everpath: Everpath, here: Path) -> None:
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
    ("catalog", "fix"),
    [
        (NO_CHANNEL, "publish a channel of p, which has none, with an entry for each bundle"),
        (
            NO_CHANNEL + NO_ENTRY,
            "add entries to stable: opm rejects a channel without entries",
        ),
    ],
)
def test_package_without_channels_or_entries_has_a_fix(everpath: Everpath, catalog: str, fix: str) -> None:
    answer = everpath("why", "-", "--fresh", stdin=catalog)
    assert answer.code == 1
    assert answer.out.count(f"fix: {fix}\n") == 2


def test_unknown_channel_of_a_cluster_extension_has_a_fix(everpath: Everpath) -> None:
    answer = everpath("why", "-p", "op", "--fresh", "--olm", "v1", "-c", "nightly")
    assert "fix: let channels name one that the package has (fast, old, stable)" in answer.out


def test_empty_output_file_is_rejected(everpath: Everpath) -> None:
    answer = everpath("why", "-p", "op", "--fresh", "--output-file", "")
    assert (answer.code, answer.err.splitlines()[0]) == (2, "error: --output-file is empty")


def test_entry_with_an_empty_name_is_shown_as_quotes(everpath: Everpath) -> None:
    catalog = NO_CHANNEL.replace('"b1"', '""') + NO_ENTRY.replace("[]", '[{"name": ""}, {"name": "x"}]')
    answer = everpath("why", "-", "--installed", "0.1.0", stdin=catalog)
    assert answer.out.startswith('package p, channel stable: "" (0.1.0) is installed\n')
    assert 'and "" is not upgraded.' in answer.out
    assert "nothing is installed" not in answer.out


def test_of_two_channels_with_the_same_name_v1_uses_the_last(everpath: Everpath, here: Path) -> None:
    again = fbc("b: - / - / <2.0.0\na").split("---\n")[2]
    (here / "twice.yaml").write_text(fbc("b: a\na") + "---\n" + again)
    out = everpath("why", "twice.yaml", "--installed", "a", "--olm", "v1").out
    assert "b  taken        has the skipRange '<2.0.0', which contains 1.0.0, and ranks first\n" in out
