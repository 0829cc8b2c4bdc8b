"""`everpath validate-graph` from the command line to the exit code."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support.commandline import Everpath
from tests.support.everpath.catalogs import fbc, write_fbc
from tests.support.schemas import conforms

CLEAN = "op.v2: op.v1\nop.v1"
#: Two entries replace one (errors); the head is older than what it skips (warnings); notes.
BROKEN = """
    [stable]
    op.v3: op.v1
    op.v2: op.v1
    op.v1
    [fast]
    op.v1: - / op.v4
    op.v4
"""
NOTED = "op.v2: op.v1 / - / >=0.5.0 <0.6.0\nop.v1"


def rules_of(answer_out: str) -> list[str]:
    return sorted({finding["rule"] for finding in json.loads(answer_out)["findings"]})


def test_a_clean_catalog_exits_with_0(everpath: Everpath, here: Path) -> None:
    write_fbc(here, CLEAN, "op")
    answer = everpath("validate-graph", "catalog")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == "Nothing wrong in 1 package, 1 channel and 2 entries.\n"


def test_findings_exit_with_1(everpath: Everpath, here: Path) -> None:
    write_fbc(here, BROKEN, "op")
    assert everpath("validate-graph", "catalog").code == 1


@pytest.mark.parametrize(
    ("fail_on", "code"), [("error", 0), ("warning", 0), ("note", 1), ("never", 0), (None, 0)]
)
def test_fail_on_decides_between_0_and_1(
    everpath: Everpath, here: Path, fail_on: str | None, code: int
) -> None:
    write_fbc(here, NOTED, "op")
    options = ("--fail-on", fail_on) if fail_on else ()
    assert everpath("validate-graph", *options).code == code


def test_fail_on_never_exits_with_0_for_errors(everpath: Everpath, here: Path) -> None:
    write_fbc(here, BROKEN, "op")
    assert everpath("validate-graph", "--fail-on", "never").code == 0


def test_missing_path_exits_with_3(everpath: Everpath, here: Path) -> None:
    answer = everpath("validate-graph", "nowhere")
    assert (answer.code, answer.out) == (3, "")
    assert answer.err.startswith("error: cannot read nowhere: No such file or directory\nhint: ")


@pytest.mark.parametrize("fail_on", ["error", "never"])
def test_unreadable_part_exits_with_3_and_the_rest_is_linted(
    everpath: Everpath, here: Path, fail_on: str
) -> None:
    catalog = write_fbc(here, BROKEN, "op")
    (catalog / "torn.yaml").write_text("schema: [\n")
    answer = everpath("validate-graph", "-o", "json", "--fail-on", fail_on)
    assert answer.code == 3
    assert {"EP001", "EP203"} <= set(rules_of(answer.out))


def test_default_path_is_catalog_or_the_current_folder(everpath: Everpath, here: Path) -> None:
    (here / "op.yaml").write_text(fbc(CLEAN, "op"))
    assert everpath("validate-graph", "-o", "json").code == 0
    write_fbc(here, BROKEN, "op")
    assert everpath("validate-graph", "-o", "json").code == 1


def test_each_path_is_linted(everpath: Everpath, here: Path) -> None:
    (here / "one.yaml").write_text(fbc(CLEAN, "op"))
    (here / "two.yaml").write_text(fbc(CLEAN, "op"))
    answer = everpath("validate-graph", "one.yaml", "two.yaml", "-o", "json")
    assert answer.code == 0
    assert json.loads(answer.out)["summary"]["packages"] == 2


def test_standard_input_is_a_catalog(everpath: Everpath, here: Path) -> None:
    answer = everpath(
        "validate-graph", "-", "-o", "concise", "-q", "--select", "fork", stdin=fbc(BROKEN, "op")
    )
    assert answer.code == 1
    assert answer.out.startswith("-:14:")
    assert everpath("validate-graph", "-", "-", stdin=fbc(CLEAN)).code == 2


def test_rules_are_selected_and_ignored_by_id_prefix_and_name(everpath: Everpath, here: Path) -> None:
    write_fbc(here, BROKEN, "op")

    def asked(*options: str) -> list[str]:
        return rules_of(everpath("validate-graph", "-o", "json", *options).out)

    everything = asked()
    assert asked("--select", "fork") == ["EP203"]
    assert (
        asked("--select", "EP202,fork")
        == asked("--select", "EP202", "--select", "EP203")
        == ["EP202", "EP203"]
    )
    assert asked("--select", "EP2") == [rule for rule in everything if rule.startswith("EP2")]
    assert asked("--ignore", "EP2") == [rule for rule in everything if not rule.startswith("EP2")]
    assert asked("--select", "EP2", "--ignore", "fork") == [
        rule for rule in everything if rule.startswith("EP2") and rule != "EP203"
    ]


def test_unknown_rule_is_a_usage_error(everpath: Everpath, here: Path) -> None:
    write_fbc(here, CLEAN, "op")
    answer = everpath("validate-graph", "--select", "forc")
    assert (answer.code, answer.err) == (2, "error: no rule is called 'forc'\nhint: did you mean 'fork'?\n")


def test_olm_option_leaves_out_rules_of_the_other_resolver(everpath: Everpath, here: Path) -> None:
    write_fbc(here, BROKEN, "op")

    def asked(resolver: str) -> set[str]:
        return set(rules_of(everpath("validate-graph", "-o", "json", "--olm", resolver).out))

    assert "EP207" in asked("v1") - asked("v0")
    assert asked("v0") | asked("v1") == asked("both")
    write_fbc(here, "op.v3: - / op.v2\nop.v2: - / op.v1\nop.v1", "op")
    assert "EP206" in asked("v0") - asked("v1")


def test_packages_and_channels_limit_the_report(everpath: Everpath, here: Path) -> None:
    write_fbc(here, BROKEN, "op")
    write_fbc(here, CLEAN.replace("op", "other"), "other")
    assert everpath("validate-graph", "-p", "other").code == 0
    assert everpath("validate-graph", "--package-name", "op").code == 1
    answer = everpath("validate-graph", "-p", "op", "-c", "fast", "-o", "json")
    document = json.loads(answer.out)
    assert document["summary"]["channels"] == 1
    assert {finding["channel"] for finding in document["findings"]} <= {"fast", None}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-p", "opp"], "error: no package is called 'opp'\nhint: did you mean 'op'?\n"),
        (
            ["-p", "zzz"],
            "error: no package is called 'zzz'\nhint: `everpath list packages` lists what there is\n",
        ),
        (["-c", "stabel"], "error: no channel is called 'stabel'\nhint: did you mean 'stable'?\n"),
    ],
)
def test_unknown_name_is_a_usage_error(
    everpath: Everpath, here: Path, options: list[str], message: str
) -> None:
    write_fbc(here, CLEAN, "op")
    answer = everpath("validate-graph", *options)
    assert (answer.code, answer.out, answer.err) == (2, "", message)


@pytest.mark.parametrize(
    ("paths", "listing"),
    [
        (["mine"], "everpath list packages mine"),
        (["my own"], "everpath list packages 'my own'"),
        (["mine", "my own"], "everpath list packages PATH"),
    ],
)
def test_unknown_name_has_the_list_command_as_hint(
    everpath: Everpath, here: Path, paths: list[str], listing: str
) -> None:
    for path in ("mine", "my own"):
        (here / path).mkdir()
        write_fbc(here / path, CLEAN, "op")
    answer = everpath("validate-graph", *paths, "-p", "zzz")
    assert answer.err == f"error: no package is called 'zzz'\nhint: `{listing}` lists what there is\n"


def test_channel_of_another_package_is_unknown(everpath: Everpath, here: Path) -> None:
    write_fbc(here, CLEAN, "op")
    write_fbc(here, "[fast]\na", "other")
    answer = everpath("validate-graph", "-p", "op", "-c", "fast")
    assert (answer.code, answer.err.splitlines()[0]) == (2, "error: no channel is called 'fast'")


def test_first_of_several_unknown_names_is_reported(everpath: Everpath, here: Path) -> None:
    write_fbc(here, CLEAN, "op")
    names = [f"n{i}" for i in range(9, 0, -1)]
    assert "'n1'" in everpath("validate-graph", "-p", ",".join(names)).err
    assert "'n1'" in everpath("validate-graph", "-c", ",".join(names)).err


def test_json_matches_its_schema_and_is_the_only_output(everpath: Everpath, here: Path) -> None:
    write_fbc(here, BROKEN, "op")
    answer = everpath("validate-graph", "-o", "json", "-v")
    conforms("validate-graph", json.loads(answer.out))
    assert answer.err.startswith("configuration: none\nlinted 5 entries in ")


def test_report_is_written_to_an_output_file(everpath: Everpath, here: Path) -> None:
    write_fbc(here, BROKEN, "op")
    answer = everpath("validate-graph", "-o", "json", "--output-file", "report.json")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.endswith("Written to report.json.\n")
    conforms("validate-graph", json.loads((here / "report.json").read_text()))
    assert sorted(path.name for path in here.iterdir()) == ["catalog", "report.json"]


def test_control_characters_of_an_output_file_do_not_reach_the_terminal(
    everpath: Everpath, here: Path
) -> None:
    write_fbc(here, BROKEN, "op")
    answer = everpath("validate-graph", "-o", "json", "--output-file", "a\x1b[31mb")
    assert "\x1b" not in answer.err


def test_output_file_has_default_permissions(everpath: Everpath, here: Path) -> None:
    write_fbc(here, CLEAN, "op")
    everpath("validate-graph", "--output-file", "report.txt")
    (here / "plain.txt").touch()
    assert (here / "report.txt").stat().st_mode == (here / "plain.txt").stat().st_mode


def test_output_file_may_be_a_symbolic_link(everpath: Everpath, here: Path) -> None:
    write_fbc(here, CLEAN, "op")
    (here / "real.txt").touch()
    (here / "link.txt").symlink_to("real.txt")
    everpath("validate-graph", "--output-file", "link.txt")
    assert (here / "link.txt").is_symlink()
    assert "Nothing wrong" in (here / "real.txt").read_text()


def test_output_file_may_be_a_pipe(everpath: Everpath, here: Path) -> None:
    write_fbc(here, CLEAN, "op")
    os.mkfifo(here / "pipe")
    # Opened for both, a pipe has room for a report and needs no second process to read it.
    pipe = os.open(here / "pipe", os.O_RDWR | os.O_NONBLOCK)
    assert everpath("validate-graph", "--output-file", "pipe").code == 0
    assert os.read(pipe, 1000).startswith(b"Nothing wrong")
    os.close(pipe)
    assert (here / "pipe").is_fifo()


def test_failed_report_keeps_the_old_file(
    everpath: Everpath, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from everpath.cli import report_output  # noqa: PLC0415 - not at start, where it is measured

    def torn(_: str) -> Callable[[object], object]:
        def render(_: object) -> object:
            yield "half"
            raise ZeroDivisionError

        return render

    write_fbc(here, CLEAN, "op")
    (here / "report.txt").write_text("old")
    monkeypatch.setattr(report_output, "reporter", torn)
    assert everpath("validate-graph", "--output-file", "report.txt").code == 70
    assert (here / "report.txt").read_text() == "old"
    assert sorted(path.name for path in here.iterdir()) == ["catalog", "report.txt"]


def test_show_note_lists_notes(everpath: Everpath, here: Path) -> None:
    write_fbc(here, NOTED, "op")
    assert "note[" not in everpath("validate-graph").out
    assert "note[" in everpath("validate-graph", "--show", "note").out


def test_statistics_count_by_rule(everpath: Everpath, here: Path) -> None:
    write_fbc(here, BROKEN, "op")
    answer = everpath("validate-graph", "--statistics", "--select", "fork")
    assert answer.code == 1
    assert answer.out.splitlines()[0] == "1  EP203  error  fork"
    conforms("statistics", json.loads(everpath("validate-graph", "--statistics", "-o", "json").out))
    assert everpath("validate-graph", "--statistics", "-o", "sarif").code == 2


def test_thorough_loading_has_the_same_findings(everpath: Everpath, here: Path) -> None:
    write_fbc(here, BROKEN, "op")
    assert (
        everpath("validate-graph", "-o", "json").out
        == everpath("validate-graph", "-o", "json", "--thorough").out
    )


@pytest.mark.exhaustive
def test_same_input_gives_the_same_bytes(process: Callable[..., CompletedProcess[str]], here: Path) -> None:
    write_fbc(here, BROKEN, "op")
    runs = {process("validate-graph", "-o", "json", PYTHONHASHSEED=str(seed)).stdout for seed in (1, 2, 3)}
    assert len(runs) == 1


def test_control_characters_of_a_catalog_do_not_reach_the_terminal(everpath: Everpath, here: Path) -> None:
    write_fbc(here, BROKEN, "op")
    file = here / "catalog" / "op.yaml"
    file.write_text(file.read_text().replace("op.v1", '"op\\e[2Jv1"'))
    answer = everpath("validate-graph", "--show", "note")
    assert "\x1b" not in answer.out
    assert "op\\x1b[2Jv1" in answer.out


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colour_follows_the_environment(
    everpath: Everpath,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    coloured: bool,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    write_fbc(here, BROKEN, "op")
    assert ("\x1b[" in everpath("validate-graph").out) is coloured
    everpath("validate-graph", "--output-file", "report.txt")
    assert "\x1b[" not in (here / "report.txt").read_text()


class TestUnderGitHubActions:
    """GITHUB_ACTIONS is set: annotations by themselves, and a summary page."""

    @pytest.fixture(autouse=True)
    def summary(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        file = here / "summary.md"
        file.write_text("before\n")
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
        write_fbc(here, BROKEN, "op")
        return file

    def test_annotations_are_the_default(self, everpath: Everpath) -> None:
        answer = everpath("validate-graph", "catalog", "--select", "fork")
        assert answer.code == 1
        assert answer.out.startswith("::error file=catalog/op.yaml,line=14,")

    def test_a_table_is_added_to_the_summary(self, everpath: Everpath, summary: Path) -> None:
        everpath("validate-graph", "--select", "fork")
        text = summary.read_text()
        assert text.startswith("before\n### everpath validate-graph\n")
        assert "| error | [EP203 fork](" in text

    def test_another_output_can_be_asked_for(self, everpath: Everpath, summary: Path) -> None:
        assert everpath("validate-graph", "-o", "concise").out.startswith("catalog/op.yaml:")
        assert everpath("validate-graph", "--statistics").out.startswith("2  EP207")
        assert summary.read_text() == "before\n"

    def test_the_configuration_wins_over_the_default(self, everpath: Everpath, here: Path) -> None:
        (here / "everpath.yaml").write_text("output: concise\n")
        assert everpath("validate-graph").out.startswith("catalog/op.yaml:")

    def test_a_summary_that_cannot_be_written_fails_nothing(
        self, everpath: Everpath, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "no" / "where.md"))
        answer = everpath("validate-graph", "--fail-on", "never")
        assert answer.code == 0
        assert "cannot write the step summary" in answer.err

    def test_paths_count_from_the_checkout(
        self, everpath: Everpath, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GITHUB_WORKSPACE", str(here))
        monkeypatch.chdir(here / "catalog")
        assert everpath("validate-graph", "op.yaml").out.startswith("::error file=catalog/op.yaml,")


def test_options_override_the_configuration(everpath: Everpath, here: Path) -> None:
    write_fbc(here, BROKEN, "op")
    (here / "everpath.yaml").write_text("select: fork\noutput: json\n")
    assert rules_of(everpath("validate-graph").out) == ["EP203"]
    assert rules_of(everpath("validate-graph", "--select", "EP202").out) == ["EP202"]
    assert everpath("validate-graph", "-o", "concise", "-q").out.count("\n") == 1
    assert len(rules_of(everpath("validate-graph", "--no-config", "-o", "json").out)) > 2


def test_invalid_configuration_exits_with_2(everpath: Everpath, here: Path) -> None:
    write_fbc(here, CLEAN, "op")
    (here / "everpath.yaml").write_text("fail_on: error\n")
    answer = everpath("validate-graph")
    assert answer.code == 2
    assert answer.err.startswith(
        "error: everpath.yaml:1:10: unknown key 'fail_on'; did you mean 'fail-on'?\n"
    )
    assert everpath("validate-graph", "--no-config").code == 0


def test_paths_of_the_configuration_are_linted(everpath: Everpath, here: Path) -> None:
    (here / "elsewhere").mkdir()
    (here / "elsewhere" / "op.yaml").write_text(fbc(CLEAN, "op"))
    (here / "everpath.yaml").write_text("paths: [elsewhere]\n")
    assert "2 entries" in everpath("validate-graph").out


def test_closed_standard_output_is_a_usage_error(
    everpath: Everpath, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_fbc(here, CLEAN, "op")
    monkeypatch.setattr(sys, "stdout", None)
    answer = everpath("validate-graph")
    assert (answer.code, answer.err) == (2, "error: cannot write to standard output: it is closed\n")


@pytest.mark.exhaustive
def test_ascii_terminal_gets_ascii_and_json_is_utf8(
    process: Callable[..., CompletedProcess[str]], here: Path
) -> None:
    write_fbc(here, BROKEN, "op")
    file = here / "catalog" / "op.yaml"
    file.write_text(file.read_text().replace("op.v1", "日本"), encoding="utf-8")
    shown = process("validate-graph", "catalog", PYTHONIOENCODING="ascii")
    assert (shown.returncode, shown.stderr) == (1, "")
    assert "\\u65e5\\u672c" in shown.stdout
    document = process("validate-graph", "catalog", "-o", "json", PYTHONIOENCODING="ascii")
    assert "日本" in {finding["entry"] for finding in json.loads(document.stdout)["findings"]}


def test_related_document_has_its_line(everpath: Everpath, here: Path) -> None:
    package = "schema: olm.package\nname: op\ndefaultChannel: stable\n---\n"
    (here / "op.yaml").write_text(f"---\n{package}{package}")
    answer = everpath("validate-graph", "op.yaml", "--select", "duplicate-package", "-o", "json")
    assert json.loads(answer.out)["findings"][0]["because"][0] == "it is also declared in op.yaml:2"


def test_missing_configuration_file_is_an_error(everpath: Everpath) -> None:
    answer = everpath("validate-graph", "--config", "nowhere.yaml")
    assert answer.code == 2
    assert answer.err.splitlines()[1] == "hint: name a file such as everpath.yaml, or omit --config"
