"""`everpath paths`: options, output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.commandline import Everpath
from tests.support.everpath.catalogs import fbc, write_fbc
from tests.support.schemas import conforms

DRAWING = """
    [stable]
    op.v1.2.0: op.v1.1.0 / - / >=1.0.0 <1.1.0
    op.v1.1.0: op.v1.0.0
    op.v1.0.0
    [fast]
    op.v1.3.0: op.v1.2.0
    op.v1.2.0
"""


@pytest.fixture(autouse=True)
def catalog(here: Path) -> Path:
    return write_fbc(here, DRAWING, "op")


def _json(everpath: Everpath, *arguments: str) -> Any:
    document = json.loads(everpath("paths", *arguments, "-o", "json").out)
    conforms("paths", document)
    return document


def test_only_package_of_a_catalog_is_the_default(everpath: Everpath, here: Path) -> None:
    assert everpath("paths").code == 0
    write_fbc(here, "b: a\na", "another")
    answer = everpath("paths")
    assert (answer.code, answer.err.splitlines()[0]) == (
        2,
        "error: the catalog has 2 packages (another and op)",
    )
    assert everpath("paths", "-p", "another").code == 0


def test_unknown_package_channel_or_version_is_rejected(everpath: Everpath) -> None:
    assert "did you mean 'op'?" in everpath("paths", "-p", "opp").err
    assert "did you mean 'stable'?" in everpath("paths", "-c", "stabel").err
    assert "did you mean 'op.v1.1.0'?" in everpath("paths", "--to", "op.v1.1.1").err
    assert "has no bundle '7'" in everpath("paths", "--must-pass", "7").err
    assert everpath("paths", "--to", "op.v9.0.0").code == 2


def test_hints_name_the_list_command_for_the_given_catalog(everpath: Everpath, here: Path) -> None:
    (here / "mine").mkdir()
    write_fbc(here / "mine", "b: a\na", "op")
    wrong = {("-p", "zzz", "--mirror"): "packages mine", ("--to", "zzz"): "bundles mine -p op"}
    wrong |= {(option, "zzz"): "bundles mine -p op" for option in ("--from", "--must-pass", "--never")}
    for options, listing in wrong.items():
        hint = everpath("paths", "mine", *options).err.splitlines()[-1]
        assert hint.startswith(f"hint: `everpath list {listing}` lists"), options
    write_fbc(here / "mine", "b: a\na", "another")
    assert "choose one with -p; `everpath list packages mine` lists them" in everpath("paths", "mine").err


def test_invalid_range_is_reported_as_a_range(everpath: Everpath) -> None:
    answer = everpath("paths", "--never", ">=x <2.0.0")
    assert answer.code == 2
    first, text, caret = answer.err.splitlines()[:3]
    assert first == "error: '>=x <2.0.0' is not a range:"
    assert (text.index(">=x"), text.strip()) == (caret.index("^^^ "), ">=x <2.0.0")
    assert "has no bundle 'x'" in everpath("paths", "--never", "x").err


def test_only_constraints_make_a_failure_of_the_resolver_a_finding(everpath: Everpath) -> None:
    assert everpath("paths", "-", "--olm", "v1", stdin=fbc(PANIC)).code == 0
    assert everpath("paths", "-", "--olm", "v1", "--never", "b1", stdin=fbc(PANIC)).code == 1


def test_goal_in_another_channel_has_a_hint(everpath: Everpath) -> None:
    answer = everpath("paths", "-c", "stable", "--to", "1.3.0")
    assert answer.code == 2
    assert "hint: it is in fast" in answer.err


def test_json_conforms_to_the_schema(everpath: Everpath) -> None:
    assert [s["channels"] for s in _json(everpath)["goals"]] == [["fast"], ["stable"]]
    assert _json(everpath, "--from", "1.0.0", "--olm", "v0")["goals"][0]["paths"][0]["entries"] == [
        "op.v1.0.0",
        "op.v1.2.0",
    ]
    assert (
        _json(everpath, "--across", "--from", "1.0.0", "--to", "1.3.0")["goals"][0]["counts"][0]["paths"] == 2
    )
    constraints = _json(everpath, "--must-pass", "1.1.0", "--never", ">9.0.0")["constraints"]
    assert [d["holds"] for d in constraints] == [False, True]
    assert constraints[0]["violations"][0]["hop"] == {"from": "op.v1.0.0", "to": "op.v1.2.0"}
    mirrors = _json(everpath, "--mirror")["mirrors"]
    assert [m["resolver"] for m in mirrors] == ["v0", "v1"]
    assert mirrors[0]["bundles"][0] == {
        "name": "op.v1.3.0",
        "version": "1.3.0",
        "image": "registry.example/op:1.3.0",
    }


def test_quiet_prints_only_the_paths(everpath: Everpath) -> None:
    loud, quiet = (everpath("paths", "-p", "op", *words) for words in ([], ["-q"]))
    assert (quiet.code, quiet.out, quiet.err) == (0, loud.out, "")


def test_violated_constraint_exits_with_one(everpath: Everpath) -> None:
    assert everpath("paths", "-c", "stable", "--must-pass", "1.1.0").code == 1
    assert everpath("paths", "-c", "stable", "--must-pass", "1.1.0", "--from", "1.1.0").code == 0
    assert everpath("paths", "-c", "stable", "--never", "1.1.0").code == 1
    assert everpath("paths", "-c", "stable", "--never", "1.1.0", "--olm", "v0").code == 0


def test_version_outside_of_the_catalog_has_paths_by_ranges(everpath: Everpath) -> None:
    answer = everpath("paths", "--from", "1.0.5")
    assert "1 hop  op.v1.0.5 -[skipRange]-> op.v1.2.0" in answer.out
    assert (
        "no upgrade path from op.v1.2.5 to op.v1.2.0"
        in everpath("paths", "--from", "1.2.5", "-c", "stable").out
    )


def test_start_at_the_goal_is_reported(everpath: Everpath) -> None:
    assert "op.v1.2.0 is the goal" in everpath("paths", "-c", "stable", "--from", "1.2.0").out


def test_channel_that_v0_cannot_resolve_is_reported(everpath: Everpath) -> None:
    answer = everpath("paths", "-", "--olm", "v0", stdin=fbc("c: a\nb: a\na"))
    assert "warning: OLM v0 cannot resolve channel stable: several heads (b and c)" in answer.out
    answer = everpath("paths", "-", "--olm", "v1", stdin=fbc("c: a\nb: a\na"))
    assert "warning" not in answer.out


def test_constraint_is_unknown_where_the_resolver_makes_no_hop(everpath: Everpath) -> None:
    text = fbc("c: a\nb: a\na")
    answer = everpath("paths", "-", "--olm", "v0", "--must-pass", "b", stdin=text)
    assert answer.code == 1
    assert "unknown: every upgrade path passes b\n  OLM fails for a, so" in answer.out
    assert "warning: OLM v0 cannot resolve channel stable" in answer.out


PANIC = "b3: b2 / - / >5.0.0 || || <1.0.0\nb2: b1\nb1"


def test_v1_makes_no_hop_where_it_fails(everpath: Everpath) -> None:
    """OLM v1 panics where it evaluates the range of b3. It does not at b2, which b3 replaces."""
    answer = everpath("paths", "-", "--olm", "v1", stdin=fbc(PANIC))
    assert "b1    1.0.0    none" in answer.out
    assert "warning: at b3 and b1 OLM v1 fails: the skipRange of b3 crashes it" in answer.out
    answer = everpath("paths", "-", "--olm", "v1", "--must-pass", "b2", stdin=fbc(PANIC))
    assert (answer.code, answer.out.splitlines()[0]) == (1, "unknown: every upgrade path passes b2")


def test_failure_beside_the_path_does_not_affect_a_constraint(everpath: Everpath) -> None:
    answer = everpath("paths", "-", "--olm", "v1", "--must-pass", "b1", "--from", "b2", stdin=fbc(PANIC))
    assert (answer.code, answer.out.splitlines()[0]) == (1, "violated: every upgrade path passes b1")
    answer = everpath("paths", "-", "--olm", "v1", "--never", "b1", "--from", "b2", stdin=fbc(PANIC))
    assert answer.code == 0


def test_json_lists_versions_for_which_a_resolver_fails(everpath: Everpath) -> None:
    document = json.loads(everpath("paths", "-", "--olm", "v1", "-o", "json", stdin=fbc(PANIC)).out)
    conforms("paths", document)
    assert [each["from"] for each in document["goals"][0]["failures"]] == ["b3", "b1"]


def test_loops_are_reported_and_large_ones_make_counts_a_lower_bound(everpath: Everpath) -> None:
    rows = "\n".join(f"b{i}: - / - / >=0.0.1" for i in range(14, 0, -1))
    answer = everpath("paths", "-", "--from", "b1", "--to", "b14", "--limit", "1", stdin=fbc(rows))
    assert "loop: b14, b13, b12, b11, b10 and 9 more can be upgraded to one another" in answer.out
    assert "at least 4,096 upgrade paths from b1 to b14" in answer.out
    assert "a loop has more than 12 entries" in answer.out


def test_large_numbers_are_shown_in_scientific_notation(everpath: Everpath) -> None:
    rows = "\n".join([*(f"b{i}: b{i - 1} / - / <{i}.0.0" for i in range(300, 1, -1)), "b1"])
    answer = everpath("paths", "-", "--from", "b1", "--limit", "0", stdin=fbc(rows))
    assert "about 5.0e89 upgrade paths from b1 to b300 with 1 to 299 hops" in answer.out
    document = json.loads(everpath("paths", "-", "--from", "b1", "-o", "json", stdin=fbc(rows)).out)
    assert document["goals"][0]["counts"][0]["paths"] == 2**298


def test_imageset_is_yaml_with_bundle_names(everpath: Everpath) -> None:
    answer = everpath("paths", "catalog", "--mirror", "--olm", "v0", "-c", "stable", "-o", "imageset")
    [operators] = yaml.safe_load(answer.out)["mirror"]["operators"]
    assert operators["packages"] == [{"name": "op", "bundles": [{"name": "op.v1.2.0"}]}]


def test_imageset_that_would_strand_a_version_is_rejected(everpath: Everpath) -> None:
    text = fbc("[one]\nd: b\nx@3.0.0: - / a\nb: - / a\na\n[two]\nx@3.0.0: a\na")
    answer = everpath("paths", "-", "--mirror", "--olm", "v1", "-o", "imageset", stdin=text)
    assert answer.code == 2
    assert "in channel one a would have no upgrade path" in answer.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--installed-since", "1.0.0"], "add --mirror"),
        (["-o", "imageset"], "add --mirror, and --olm v0 or --olm v1"),
        (["-o", "imageset", "--mirror"], "add --mirror, and --olm v0 or --olm v1"),
        (["--mirror", "--installed-since", "x"], "give a version such as 1.2.3"),
        (
            ["--mirror", "--from", "1.0.0"],
            "--installed-since VERSION limits the versions",
        ),
        (["--mirror", "--to", "1.2.0"], "--to cannot be combined with --mirror"),
        (["--mirror", "--across"], "--across cannot be combined with --mirror"),
        (["--mirror", "--limit", "20"], "--limit cannot be combined with --mirror"),
        (["-p", ""], "-p/--package '': a name is empty"),
        (["-c", "a,"], "-c/--channel 'a,': a name is empty"),
    ],
)
def test_conflicting_options_are_rejected(everpath: Everpath, options: list[str], message: str) -> None:
    answer = everpath("paths", *options)
    assert answer.code == 2
    assert message in answer.err


def test_constraint_beside_a_mirror_may_restrict_paths(everpath: Everpath) -> None:
    answer = everpath("paths", "-c", "stable", "--mirror", "--must-pass", "1.1.0", "--from", "1.1.0")
    assert answer.code == 0
    assert "keep " in answer.out


def test_unreadable_part_exits_with_three(everpath: Everpath, catalog: Path) -> None:
    (catalog / "torn.yaml").write_text("schema: [olm.package\n")
    answer = everpath("paths", "-p", "op")
    assert answer.code == 3
    assert "could not be read" in answer.err


def test_paths_are_written_to_a_file(everpath: Everpath, here: Path) -> None:
    answer = everpath("paths", "-c", "fast", "--output-file", "paths.txt")
    assert answer.out == ""
    assert (here / "paths.txt").read_text().startswith("package op, channel fast")


def test_force_color_colours_the_output(everpath: Everpath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m" in everpath("paths").out
    assert "\x1b[1;31mviolated\x1b[0m" in everpath("paths", "--never", "1.1.0").out


def test_control_characters_in_names_are_escaped(everpath: Everpath) -> None:
    text = fbc("b: a\na").replace("name: b", 'name: "b\\e[31m"')
    for options in ([], ["--from", "a"], ["--mirror"], ["--never", ">0.0.1"]):
        assert "\x1b" not in everpath("paths", "-", *options, stdin=text).out


def test_empty_channel_has_no_paths(everpath: Everpath) -> None:
    text = "schema: olm.package\nname: p\n---\nschema: olm.channel\npackage: p\nname: c\nentries: []\n"
    answer = everpath("paths", "-", stdin=text)
    assert (answer.code, answer.out) == (0, "The channels have no entries, so there are no upgrade paths.\n")


def test_empty_name_is_shown_as_quotes(everpath: Everpath, here: Path) -> None:
    drawn = json.dumps([*yaml.safe_load_all(fbc("b: - / a\na"))]).replace('"a"', '""')
    (here / "odd.json").write_text("\n".join(map(json.dumps, json.loads(drawn))))
    assert '""    1.0.0    1      1         1\n' in everpath("paths", "odd.json").out
    assert '1 upgrade path from "" to b with 1 hop\n' in everpath("paths", "odd.json", "--from", "1.0.0").out
    assert '"" -[skips]-> b\n' in everpath("paths", "odd.json", "--from", "1.0.0").out
    simulated = everpath("simulate", "odd.json").out
    assert '  ""         2.0.0: head  the same\n' in simulated


def test_v1_path_states_what_its_goal_is(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "op.v1.0.0: op.v2.0.0\nop.v2.0.0", "op")
    first, second = everpath("paths", "--olm", "v1").out.split("\n\npackage")
    assert first.startswith("package op, channel stable: upgrade paths of OLM v1 to op.v1.0.0\n")
    withdrawn = "op.v2.0.0, a new installation although it is superseded"
    assert second.startswith(f" op, channel stable: upgrade paths of OLM v1 to {withdrawn}\n")
    write_fbc(here, "op.v2.0.0\nop.v1.0.0", "op")
    [only] = everpath("paths", "--olm", "v1").out.split("\n\npackage")
    assert only.partition("\n")[0].endswith("upgrade paths of OLM v1 to op.v2.0.0, a new installation")


def test_mirror_with_two_goals_names_both(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "op.v3.0.0: op.v2.0.0\nop.v2.0.0: op.v1.0.0\nop.v1.0.0\n%deprecated op.v3.0.0: old", "op")
    out = everpath("paths", "--mirror", "--olm", "v1").out
    assert "channel stable: 2 of 3 entries; 3 versions can be upgraded to op.v3.0.0 or op.v2.0.0\n" in out
    assert "  op.v2.0.0  2.0.0    goal of upgrade paths\n" in out
    [mirror] = _json(everpath, "--mirror", "--olm", "v1")["mirrors"]
    assert mirror["channels"][0]["goals"] == ["op.v3.0.0", "op.v2.0.0"]
