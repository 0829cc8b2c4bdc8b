"""`everpath compare`: options, output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commandline import Everpath
from tests.support.everpath.catalogs import fbc
from tests.support.schemas import conforms

CHAIN = "op.v3: op.v2\nop.v2: op.v1\nop.v1"
SHORT = "op.v4: op.v3\nop.v3: op.v2"
SKIPPING = f"op.v4: op.v2 / op.v3\n{CHAIN}"


def _write(name: str, drawing: str, package: str = "op") -> str:
    folder = Path(name)
    folder.mkdir(exist_ok=True)
    (folder / f"{package}.yaml").write_text(fbc(drawing, package))
    return name


@pytest.fixture(autouse=True)
def _catalogs(here: Path) -> None:
    _write("old", CHAIN)
    _write("longer", f"op.v4: op.v3\n{CHAIN}")
    _write("short", SHORT)
    _write("skipping", SKIPPING)


def test_new_head_that_replaces_the_old_one_exits_with_zero(everpath: Everpath) -> None:
    answer = everpath("compare", "old", "longer")
    assert answer.code == 0
    assert "6 upgraded further than before" in answer.out


def test_stranded_version_exits_with_one(everpath: Everpath) -> None:
    answer = everpath("compare", "old", "short")
    assert answer.code == 1
    assert (
        "error[stranded]: Clusters on op.v1 can no longer be upgraded to the head op.v4 under OLM v0 and v1"
        in answer.out
    )
    assert "= fix: add op.v1 to the skips of op.v4" in answer.out


@pytest.mark.parametrize(
    ("new", "fail_on", "code"),
    [
        ("short", "never", 0),
        ("skipping", "stranded", 0),
        ("skipping", "different-path", 1),
        ("longer", "different-path", 0),
    ],
)
def test_fail_on_selects_what_exits_with_one(everpath: Everpath, new: str, fail_on: str, code: int) -> None:
    assert everpath("compare", "old", new, "--fail-on", fail_on).code == code


@pytest.mark.parametrize("new", ["old", "longer", "short", "skipping"])
def test_json_conforms_to_the_schema(everpath: Everpath, new: str) -> None:
    document = json.loads(everpath("compare", "old", new, "-o", "json").out)
    conforms("compare", document)
    assert len(document["rows"]) == document["summary"]["rows"] == 6
    assert sum(document["summary"][row["outcome"]] > 0 for row in document["rows"]) == 6


TWO = "[s1]\nop.v1: op.v0\nop.v0\n[s2]\nop.v3: op.v2\nop.v2: op.v1"


def test_stranded_extension_without_channels_exits_with_one_and_has_rows(
    everpath: Everpath,
) -> None:
    old, new = _write("two", TWO), _write("cut", TWO.replace("op.v2: op.v1", "op.v2"))
    answer = everpath("compare", old, new)
    assert answer.code == 1
    assert (
        "Clusters on op.v0 and op.v1 can no longer be upgraded to op.v3 under OLM v1 without channels"
        in answer.out
    )
    assert "8 unchanged. Without channels in the ClusterExtension, OLM v1 cuts off 2 more." in answer.out
    document = json.loads(everpath("compare", old, new, "-o", "json").out)
    conforms("compare", document)
    assert [row["channel"] for row in document["withoutChannels"]] == [None] * 4
    assert everpath("compare", old, new, "-c", "s2").code == 0
    assert everpath("compare", old, new, "--olm", "v0").code == 0


def test_matrix_has_rows_without_channels_where_they_differ(everpath: Everpath) -> None:
    old, new = _write("two", TWO), _write("cut", TWO.replace("op.v2: op.v1", "op.v2"))
    answer = everpath("compare", "--matrix", f"1={old}", f"2={new}")
    assert answer.code == 1
    assert answer.out.partition("\n\n")[0].splitlines() == [
        "PACKAGE  CHANNEL  INSTALLED  OLM  1        2",
        "op       (none)   op.v1      v1   → op.v3  ! stranded at op.v1",
        "op       (none)   op.v0      v1   → op.v3  ! stranded at op.v1",
    ]
    assert "from 1 to 2: 2 cut off" in answer.out
    assert "1 of 1 catalog update cuts off clusters" in answer.out
    conforms("compare", json.loads(everpath("compare", "--matrix", old, new, "-o", "json").out))


def test_json_lists_parts_that_could_not_be_read(everpath: Everpath) -> None:
    Path("longer/torn.yaml").write_text("schema: [olm.channel\n")
    for arguments in (("old", "longer"), ("--matrix", "old", "longer")):
        answer = everpath("compare", *arguments, "-o", "json")
        document = json.loads(answer.out)
        conforms("compare", document)
        [part] = document["unread"]
        assert (part["catalog"], part["file"], part["line"]) == ("longer", "longer/torn.yaml", 1)
        assert answer.code == 3
        assert "1 part of longer could not be read" in answer.err


def test_release_without_a_replacement_in_a_matrix_exits_with_one(everpath: Everpath) -> None:
    old = _write("before", "op.v3: op.v1\nop.v1")
    new = _write("after", "op.v3: op.v1 / op.v2\nop.v2: - / op.v1.5.0\nop.v1.5.0\nop.v1")
    answer = everpath("compare", "--matrix", old, new, "--olm", "v0")
    assert answer.code == 1
    assert (
        "error[no-replacement]: op/stable: Clusters on op.v1.5.0 get no further updates under OLM v0"
        in answer.out
    )
    assert "no catalog update cuts off clusters; 1 adds a release without a replacement." in answer.out


def test_name_that_contains_more_is_not_taken_for_an_abbreviated_list(everpath: Everpath) -> None:
    """A name may contain spaces, and opm accepts it."""
    paths = []
    for folder, entries in (("is", '{"name": "op"}, {"name": "no more ops", "replaces": "op"}'), ("was", "")):
        more = entries or '{"name": "no more ops"}, {"name": "op", "replaces": "no more ops"}'
        channel = f'{{"schema": "olm.channel", "package": "op", "name": "c", "entries": [{more}]}}'
        Path(folder).mkdir()
        Path(folder, "catalog.yaml").write_text(
            f'{{"schema": "olm.package", "name": "op"}}\n---\n{channel}\n'
        )
        paths.append(folder)
    answer = everpath("compare", *paths)
    assert "no more ops" in answer.out
    assert "abbreviated" not in answer.out


@pytest.mark.exhaustive
def test_long_lists_are_abbreviated_and_json_has_all(everpath: Everpath) -> None:
    names = [f"op.v1.0.{n}" for n in range(60)]
    chain = "\n".join(f"{new}: {old}" for new, old in zip(names[1:], names, strict=False))
    lost = "\n".join(["op.v2: op.v1.0.59", *(f"{name}: {name}" for name in names[:-1]), names[-1]])
    old, new = _write("long", f"{chain}\n{names[0]}"), _write("lost", lost)
    answer = everpath("compare", old, new)
    assert max(map(len, answer.out.splitlines())) < 1_000
    assert "and 51 more can no longer be upgraded" in answer.out
    assert "Long lists of names are abbreviated; -o json has all." in answer.out
    document = json.loads(everpath("compare", old, new, "-o", "json").out)
    conforms("compare", document)
    first = next(change for change in document["changes"] if change["kind"] == "stranded")
    assert first["fix"] == "add op.v1.0.0, op.v1.0.1, op.v1.0.10 and 56 more to the skips of op.v2"
    assert len(first["installed"]) == len(first["fixEntries"][0]["skips"]) == 59


@pytest.mark.exhaustive
@pytest.mark.parametrize("output", ["text", "github"])
def test_long_error_messages_of_olm_are_truncated_and_json_has_all(everpath: Everpath, output: str) -> None:
    names = [f"op.v1.0.{n}" for n in range(200)]
    chain = "\n".join(f"{new}: {old}" for new, old in zip(names[1:], names, strict=False))
    old, new = _write("long", f"{chain}\n{names[0]}"), _write("heads", "\n".join(names))
    shown = everpath("compare", old, new, "--olm", "v0", "-o", output).out
    assert "200 replacement chains were found" in shown
    assert "… (complete in -o json)" in shown
    assert names[-1] not in shown.partition("200 replacement chains")[2].partition("(complete in -o json")[0]
    document = json.loads(everpath("compare", old, new, "--olm", "v0", "-o", "json").out)
    [failing] = [change for change in document["changes"] if change["kind"] == "failing"]
    assert all(name in failing["now"] for name in names)


def test_json_of_a_matrix_conforms_to_the_schema(everpath: Everpath) -> None:
    document = json.loads(everpath("compare", "--matrix", "1=old", "2=longer", "3=short", "-o", "json").out)
    conforms("compare", document)
    assert document["catalogs"] == ["1", "2", "3"]
    assert [update["stranded"] for update in document["updates"]] == [0, 2]


def test_matrix_shows_rows_that_change_and_with_all_every_row(everpath: Everpath) -> None:
    answer = everpath("compare", "--matrix", "4.1=old", "4.2=longer", "4.3=short")
    assert answer.code == 1
    table = answer.out.partition("\n\n")[0].splitlines()
    assert table == [
        "PACKAGE  CHANNEL  INSTALLED  OLM    4.1      4.2      4.3",
        "op       stable   op.v1      v0 v1  → op.v3  → op.v4  ! stranded",
    ]
    everything = everpath("compare", "--matrix", "4.1=old", "4.2=longer", "4.3=short", "--all").out
    assert "op.v4      v0 v1           head     head" in everything


def test_path_with_an_equals_sign_is_a_path_if_it_exists(everpath: Everpath) -> None:
    _write("a=b", CHAIN)
    assert everpath("compare", "--matrix", "a=b", "old").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["old"], "compare takes two catalogs, OLD and NEW, and got 1"),
        (
            ["old", "old", "old"],
            "compare takes two catalogs, OLD and NEW, and got 3; --matrix takes more than two",
        ),
        (["--matrix", "old"], "--matrix takes two catalogs or more"),
        (["old", "short", "-p", "oq"], "no package is called 'oq'"),
        (["old", "short", "-c", "stabel"], "no channel is called 'stabel'"),
    ],
)
def test_invalid_command_line_has_a_hint(everpath: Everpath, arguments: list[str], message: str) -> None:
    answer = everpath("compare", *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert "hint: " in answer.err


def test_package_that_only_the_old_catalog_has_can_be_selected(everpath: Everpath) -> None:
    _write("old", CHAIN, "gone")
    answer = everpath("compare", "old", "longer", "-p", "gone")
    assert answer.code == 1
    assert "error[package-gone]" in answer.out


def test_one_catalog_may_be_standard_input(everpath: Everpath) -> None:
    assert everpath("compare", "-", "short", stdin=fbc(CHAIN, "op")).code == 1
    assert everpath("compare", "-", "-", stdin=fbc(CHAIN, "op")).code == 2


def test_missing_catalog_exits_with_three(everpath: Everpath) -> None:
    assert everpath("compare", "old", "nowhere").code == 3


def test_catalog_that_is_unreadable_in_part_is_compared_and_exits_with_three(everpath: Everpath) -> None:
    Path("longer/torn.yaml").write_text("schema: [\n")
    answer = everpath("compare", "old", "longer")
    assert answer.code == 3
    assert "of longer could not be read" in answer.err
    assert "upgraded further" in answer.out


def test_folder_of_one_bundle_is_rejected(everpath: Everpath) -> None:
    (Path("one") / "manifests").mkdir(parents=True)
    (Path("one") / "metadata").mkdir()
    csv = "kind: ClusterServiceVersion\nmetadata: {name: op.v4}\nspec: {version: 4.0.0}\n"
    Path("one/manifests/op.clusterserviceversion.yaml").write_text(
        f"apiVersion: operators.coreos.com/v1alpha1\n{csv}"
    )
    Path("one/metadata/annotations.yaml").write_text(
        "annotations:\n  operators.operatorframework.io.bundle.package.v1: op\n"
        "  operators.operatorframework.io.bundle.channels.v1: stable\n"
    )
    answer = everpath("compare", "old", "one")
    assert answer.code == 2
    assert "one is the folder of one bundle" in answer.err


def test_olm_option_selects_one_resolver(everpath: Everpath) -> None:
    document = json.loads(everpath("compare", "old", "short", "--olm", "v1", "-o", "json").out)
    assert document["resolvers"] == ["v1"]
    assert {row["resolver"] for row in document["rows"]} == {"v1"}


def test_waivers_do_not_hide_stranded_versions(everpath: Everpath) -> None:
    Path("everpath.yaml").write_text("waivers:\n- {rule: stranded-v0, package: op, reason: known}\n")
    assert everpath("compare", "old", "short").code == 1


def test_all_shows_notes(everpath: Everpath) -> None:
    assert "note[further]" not in everpath("compare", "old", "longer").out
    assert "note[further]" in everpath("compare", "old", "longer", "--all").out


def test_quiet_prints_the_changes_only(everpath: Everpath) -> None:
    assert everpath("compare", "old", "longer", "-q").out == ""


def test_report_is_written_to_a_file(everpath: Everpath) -> None:
    answer = everpath("compare", "old", "short", "-o", "json", "--output-file", "out.json")
    assert answer.out == ""
    assert "Written to out.json." in answer.err
    conforms("compare", json.loads(Path("out.json").read_text()))


def test_github_annotates_only_lines_of_the_new_catalog(
    everpath: Everpath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    _write("old", CHAIN, "gone")
    lines = everpath("compare", "old", "short").out.splitlines()
    gone = [line for line in lines if "package-gone" in line]
    assert gone[0].startswith("::error title=compare package-gone::")
    assert any(line.startswith("::error file=short/op.yaml,line=") for line in lines)
    summary = Path("summary.md").read_text()
    assert summary.startswith("### everpath compare\n")
    assert "| error | stranded |" in summary


def test_control_characters_and_pipes_in_names_are_escaped(everpath: Everpath) -> None:
    Path("old/op.yaml").write_text(fbc(CHAIN, "op").replace("op.v1", '"op|\\e[31mv1"'))
    text = everpath("compare", "old", "short").out
    assert "\x1b" not in text
    assert "\\x1b[31m" in text
    assert "op\\|\\\\x1b" in everpath("compare", "old", "short", "-o", "markdown").out


def test_change_of_severity_error_exits_with_one_unless_fail_on_is_never(everpath: Everpath) -> None:
    _write("before", "op.v3.0.0: op.v2.0.0\nop.v2.0.0")
    _write("dead", "op.v3.0.0: op.v2.0.0 / op.v2.5.0\nop.v2.5.0: - / op.v2.4.0\nop.v2.4.0\nop.v2.0.0")
    answer = everpath("compare", "before", "dead")
    assert "error[no-replacement]: Clusters on op.v2.4.0 get no further updates under OLM v0" in answer.out
    assert answer.code == 1
    assert everpath("compare", "before", "dead", "--fail-on", "never").code == 0


@pytest.mark.parametrize(
    ("option", "name", "kind"), [("-p", "newer", "package"), ("-c", "candidate", "channel")]
)
def test_selected_name_that_only_the_new_catalog_has_is_a_warning(
    everpath: Everpath, option: str, name: str, kind: str
) -> None:
    _write("more", CHAIN)
    _write("more", CHAIN.replace("op.", "newer."), "newer")
    _write("more", f"[stable]\n{CHAIN}\n[candidate]\nop.v3")
    answer = everpath("compare", "old", "more", option, name)
    assert f"warning: the old catalog has no {kind} {name}, so no installed version" in answer.err


def test_matrix_that_fails_on_different_path_reports_the_path(everpath: Everpath) -> None:
    answer = everpath("compare", "--matrix", "1=old", "2=skipping", "--fail-on", "different-path")
    assert answer.code == 1
    assert (
        "warning[different-path]: op/stable: Clusters on op.v1 and op.v2 take a different upgrade path"
        in answer.out
    )


def test_two_catalogs_of_a_matrix_cannot_have_the_same_name(everpath: Everpath) -> None:
    answer = everpath("compare", "--matrix", "1=old", "1=longer")
    assert answer.code == 2
    assert "two catalogs are called 1" in answer.err
