"""Simulations as people and programs get them."""

from __future__ import annotations

import csv as readers
import json
from dataclasses import replace
from io import StringIO
from typing import Any

from everpath.reporters.simulation import Simulation, csv, document
from everpath.reporters.simulation_text import text
from everpath.simulate import ClusterExtensionOptions, Scenario
from schemas import conforms
from simulations import simulated, simulation_of, sources

CHAIN = "b3: b2\nb2: b1\nb1"
DIFFERENT = "b3: - / b2\nb2: - / b1\nb1"


def view(drawing: str, scenario: Scenario | None = None, installed: str | None = None) -> Simulation:
    scenario = scenario or Scenario()
    return simulation_of(
        simulated(drawing, scenario, installed), scenario, with_full_paths=installed is not None
    )


def as_json(simulation: Simulation) -> Any:
    found = json.loads("".join(document(simulation)))
    conforms("simulate", found)
    return found


def lines(simulation: Simulation) -> list[str]:
    return "".join(text(simulation)).splitlines()


# JSON


def test_the_json_is_the_contract_and_nothing_more() -> None:
    assert as_json(view("b1", Scenario(("v0",)))) == {
        "version": 2,
        "paths": [
            {
                "package": "p",
                "channel": "stable",
                "installed": "b1",
                "policy": "v0",
                "next": None,
                "hops": [],
                "end": "head",
                "reason": "is the head",
            }
        ],
    }


def test_a_catalog_of_nothing_has_no_rows() -> None:
    assert as_json(simulation_of([], Scenario())) == {"version": 2, "paths": []}


def test_some_questions_give_rows_more_fields() -> None:
    [row] = as_json(view("b1", Scenario(("v1",), new_install=True)))["paths"]
    assert (row["installed"], row["hops"]) == (None, ["b1"])
    scenario = Scenario(("v0",), is_switch=True)
    row = as_json(view("[a]\nb1\n[b]\nb2: b1", scenario))["paths"][0]
    assert (row["channel"], row["installed"], row["from"]) == ("a", "b2", ["b"])


def test_several_catalogs_are_named() -> None:
    served = sources("b2: b1\nb1", "b1", priorities=[0, -1])
    shown = as_json(simulation_of(simulated(served), Scenario(), catalogs=("a", "b")))
    assert [(r["policy"], r["catalog"], r["sources"]) for r in shown["paths"] if r["installed"] == "b1"] == [
        ("v0", "a", ["a"]),
        ("v1", None, ["a"]),
        ("v0", "b", []),
    ]


def test_manual_approval_lists_the_plans_of_a_subscription() -> None:
    shown = as_json(view(CHAIN)._replace(is_manual=True))["paths"]
    assert [r["plans"] for r in shown if r["installed"] == "b1"] == [
        [{"replaces": "b1", "installs": "b2"}, {"replaces": "b2", "installs": "b3"}],
        [],
    ]


# CSV


def test_a_table_has_a_heading_and_a_line_for_each_row() -> None:
    found = list(readers.reader("".join(csv(view(CHAIN, Scenario(("v0",))))).splitlines()))
    assert found == [
        ["package", "channel", "installed", "policy", "next", "hops", "end", "reason"],
        ["p", "stable", "b3", "v0", "", "", "head", "is the head"],
        ["p", "stable", "b2", "v0", "b3", "b3", "head", "reaches the head in 1 hop"],
        ["p", "stable", "b1", "v0", "b2", "b2 b3", "head", "reaches the head in 2 hops"],
    ]


def test_a_table_of_nothing_is_its_heading() -> None:
    assert (
        "".join(csv(simulation_of([], Scenario())))
        == "package,channel,installed,policy,next,hops,end,reason\n"
    )


def test_a_spreadsheet_is_given_nothing_to_compute() -> None:
    found = "".join(csv(view("=cmd()@1.0.0", Scenario(("v0",)))))
    assert "'=cmd()" in found


def test_a_carriage_return_in_a_name_ends_no_line() -> None:
    [sheet] = simulated("b1", Scenario(("v0",)))
    [line] = sheet.installed
    assert line.v0 is not None
    named = sheet._replace(installed=(line._replace(v0=replace(line.v0, package="p\rq")),))
    found = "".join(csv(simulation_of([named], Scenario(("v0",)))))
    assert [row[0] for row in readers.reader(StringIO(found, newline=""))] == ["package", "p\rq"]


def test_plans_are_for_json() -> None:
    assert "plans" not in "".join(csv(view(CHAIN)._replace(is_manual=True)))


# Text


def test_policies_stand_side_by_side_and_the_difference_is_marked() -> None:
    assert lines(view(DIFFERENT)) == [
        "package p, channel stable (default): 3 entries, head b3",
        "",
        "     INSTALLED  OLM v0           OLM v1",
        "     b3         stays: head      the same",
        "     b2         3.0.0: head      the same",
        "  ≠  b1         stays: stranded  2.0.0 → 3.0.0: head",
        "",
        (
            "  OLM v0, stranded: clusters on b1 get no further updates: b2 skips b1, but b3 skips b2, "
            "and OLM v0 never installs a skipped entry"
        ),
        "",
        (
            "6 upgrade paths in 1 channel; OLM v0: 2 reach the head and 1 is stranded; "
            "OLM v1: 3 reach the head; ≠ marks 1 difference."
        ),
    ]


def test_where_policies_agree_there_is_no_mark() -> None:
    shown = lines(view("b2: b1\nb1"))
    assert shown[2:5] == [
        "  INSTALLED  OLM v0       OLM v1",
        "  b2         stays: head  the same",
        "  b1         2.0.0: head  the same",
    ]
    assert (
        shown[-1]
        == "4 upgrade paths in 1 channel; OLM v0: 2 reach the head; OLM v1: 2 reach the head; no difference."
    )


def test_one_policy_has_one_column_and_no_comparison() -> None:
    shown = lines(view("b2: b1\nb1", Scenario(("v1",))))
    assert shown[2] == "  INSTALLED  OLM v1"
    assert shown[-1] == "2 upgrade paths in 1 channel; OLM v1: 2 reach the head."


def test_names_are_shown_where_versions_do_not_tell_entries_apart() -> None:
    assert "  y          x: head      the same" in lines(view("x@1.0.0: y\ny@1.0.0"))


def test_a_long_path_is_shortened_in_the_table_and_full_for_a_selected_version() -> None:
    long = "\n".join([*(f"b{i}: b{i - 1}" for i in range(9, 1, -1)), "b1"])
    cut = "2.0.0 → 3.0.0 → 4.0.0 → (4 more) → 9.0.0: head"
    assert any(cut in line for line in lines(view(long)))
    whole = " → ".join(f"{i}.0.0" for i in range(2, 10))
    shown = lines(view(long, None, "b1"))
    assert any(cut in line for line in shown)
    assert shown[shown.index("  b1 under OLM v0, 8 hops:") + 1] == f"    {whole}"
    assert not any("under OLM v1" in line for line in shown)


def test_what_is_whole_fits_a_terminal() -> None:
    long = "\n".join([*(f"b{i}: b{i - 1}" for i in range(40, 1, -1)), "b1"])
    assert max(map(len, lines(view(long, None, "b1")))) <= 110


def test_with_several_channels_long_paths_are_shortened_with_a_hint() -> None:
    long = "\n".join([*(f"b{i}: b{i - 1}" for i in range(9, 1, -1)), "b1"])
    shown = lines(view(f"[x]\n{long}\n[y]\n{long}", None, "b1"))
    assert not any("hops:" in line for line in shown)
    assert shown[-1] == "Long paths are shortened; -c CHANNEL shows one in full, -o json has all hops."


def test_channels_without_updates_for_the_same_reason_are_shown_once() -> None:
    shown = lines(view("[x]\nb2: b1\nb1\n[y]\nb3: b2\nb2\n[z]\nb4: - / - / <4.0.0", None, "0.5.0"))
    assert [line for line in shown if line.startswith("package")] == [
        "package p, channel x (default): 2 entries, head b2",
        "package p, channel z: 1 entry, head b4",
    ]
    assert "  The same in 1 other channel: y" in shown


def test_what_opm_says_of_the_channel_stands_above() -> None:
    said = {
        "b2\nb1": "multiple channel heads found in graph: b1, b2",
        "b2: b1\nb1: b2": "no channel head found in graph",
        "b3: b2\nb2: b1\nb1: b2": "detected cycle in replaces chain of upgrade graph: b2 -> b1 -> b2",
        "b3: b2 / b2\nb2: b1\nb1": "channel contains one or more stranded bundles: b1",
    }
    for drawing, complaint in said.items():
        assert lines(view(drawing))[1] == f"opm rejects this channel: {complaint}"


def test_two_errors_are_two_and_not_the_same() -> None:
    shown = lines(view("[a]\nb2\nb1\n[b]\nb9", Scenario(channels=frozenset("a")), "b9"))
    assert "  b9         error   error" in shown


def test_who_comes_to_a_place_that_nothing_leads_on_from_is_named() -> None:
    shown = lines(view("b4: b3 / b3\nb3: b2\nb2: b1\nb1", Scenario(("v0",))))
    assert "    reached from b1" in shown


def test_of_many_who_come_there_five_are_named() -> None:
    below = "\n".join(f"c{i}@0.1.{i}" for i in range(9))
    skips = ", ".join(f"c{i}" for i in range(9))
    shown = lines(view(f"b4: b3 / b3\nb3: b2\nb2: b1 / {skips}\nb1\n{below}", Scenario(("v0",))))
    assert "    reached from b1, c8, c7, c6, c5 and 5 more" in shown


def test_a_fresh_install_says_how_it_begins() -> None:
    shown = lines(view("b1", Scenario(("v0",), new_install=True)))
    assert shown[3:6] == [
        "  nothing    1.0.0: head",
        "",
        "  OLM v0, head: a new Subscription installs b1, the head",
    ]


def test_manual_approval_lists_the_plans_hop_by_hop() -> None:
    shown = lines(view(CHAIN)._replace(is_manual=True))
    assert "  InstallPlans: one for each hop; each waits for approval" in shown
    assert "  b1: 1. b2  2. b3" in shown
    assert "  none" in lines(view("b1")._replace(is_manual=True))


def test_a_switch_says_where_one_comes_from() -> None:
    shown = lines(view("[a]\nb1\n[b]\nb2: b1", Scenario(("v0",), is_switch=True)))
    assert shown[2:4] == ["  INSTALLED  FROM  OLM v0", "  b2         b     stays: stranded"]


def test_a_stop_in_another_catalog_is_marked() -> None:
    served = sources("b2: b1\nb1", "b3: b2\nb2", priorities=[0, 10])
    shown = "".join(text(simulation_of(simulated(served), Scenario(), catalogs=("a", "b"))))
    assert "catalog a, package p, channel stable (default): 2 entries, head b2" in shown
    assert "2.0.0: head  2.0.0 → 3.0.0 of b: head" in shown


def test_the_end_that_a_range_makes_is_a_goal_and_no_head() -> None:
    shown = lines(view(CHAIN, Scenario(("v1",), options=ClusterExtensionOptions(version_range="1 - 2"))))
    assert "  b1         2.0.0: goal" in shown
    assert shown[-1] == "3 upgrade paths in 1 channel; OLM v1: 2 reach the goal and 1 fails."


def test_channels_without_an_answer_are_not_shown() -> None:
    shown = lines(view("[a]\nb1\n[b]\nb2", None, "b2"))
    assert not any("channel a" in line for line in shown)


def test_names_cannot_write_to_the_terminal() -> None:
    assert "\x1b" not in "".join(text(view("b\x1b[31m1@1.0.0")))


def test_ends_are_painted_if_colour_is_wanted() -> None:
    assert "\x1b[1;33mOLM v0, stranded\x1b[0m" in "".join(text(view(DIFFERENT)._replace(colour=True)))
