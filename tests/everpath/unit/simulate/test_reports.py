"""The report of a simulation as JSON, CSV and text."""

from __future__ import annotations

import csv as readers
import json
from dataclasses import replace
from io import StringIO
from typing import Any

from everpath.reporters.simulation.report import SimulationReport, csv, document
from everpath.reporters.simulation.text import text
from everpath.simulate import ClusterExtensionOptions, Scenario
from tests.support.everpath.simulations import channel_results, simulation_report, sources
from tests.support.schemas import conforms

CHAIN = "b3: b2\nb2: b1\nb1"
DIFFERENT = "b3: - / b2\nb2: - / b1\nb1"


def report(drawing: str, scenario: Scenario | None = None, installed: str | None = None) -> SimulationReport:
    scenario = scenario or Scenario()
    return simulation_report(
        channel_results(drawing, scenario, installed), scenario, with_full_paths=installed is not None
    )


def as_json(simulation: SimulationReport) -> Any:
    found = json.loads("".join(document(simulation)))
    conforms("simulate", found)
    return found


def lines(simulation: SimulationReport) -> list[str]:
    return "".join(text(simulation)).splitlines()


# JSON


def test_json_has_exactly_the_documented_fields() -> None:
    assert as_json(report("b1", Scenario(("v0",)))) == {
        "version": 2,
        "paths": [
            {
                "package": "p",
                "channel": "stable",
                "installed": "b1",
                "resolver": "v0",
                "next": None,
                "hops": [],
                "end": "head",
                "reason": "is the head",
            }
        ],
    }


def test_json_without_paths_is_valid() -> None:
    assert as_json(simulation_report([], Scenario())) == {"version": 2, "paths": []}


def test_scenarios_add_fields() -> None:
    [row] = as_json(report("b1", Scenario(("v1",), new_install=True)))["paths"]
    assert (row["installed"], row["hops"]) == (None, ["b1"])
    scenario = Scenario(("v0",), is_switch=True)
    row = as_json(report("[a]\nb1\n[b]\nb2: b1", scenario))["paths"][0]
    assert (row["channel"], row["installed"], row["from"]) == ("a", "b2", ["b"])


def test_several_catalogs_are_named() -> None:
    served = sources("b2: b1\nb1", "b1", priorities=[0, -1])
    shown = as_json(simulation_report(channel_results(served), Scenario(), catalogs=("a", "b")))
    assert [
        (r["resolver"], r["catalog"], r["sources"]) for r in shown["paths"] if r["installed"] == "b1"
    ] == [
        ("v0", "a", ["a"]),
        ("v1", None, ["a"]),
        ("v0", "b", []),
    ]


def test_manual_approval_lists_the_plans_of_a_subscription() -> None:
    shown = as_json(report(CHAIN)._replace(is_manual=True))["paths"]
    assert [r["plans"] for r in shown if r["installed"] == "b1"] == [
        [{"replaces": "b1", "installs": "b2"}, {"replaces": "b2", "installs": "b3"}],
        [],
    ]


# CSV


def test_csv_has_a_header_and_a_line_for_each_path() -> None:
    found = list(readers.reader("".join(csv(report(CHAIN, Scenario(("v0",))))).splitlines()))
    assert found == [
        ["package", "channel", "installed", "resolver", "next", "hops", "end", "reason"],
        ["p", "stable", "b3", "v0", "", "", "head", "is the head"],
        ["p", "stable", "b2", "v0", "b3", "b3", "head", "reaches the head in 1 hop"],
        ["p", "stable", "b1", "v0", "b2", "b2 b3", "head", "reaches the head in 2 hops"],
    ]


def test_csv_without_paths_is_its_header() -> None:
    assert (
        "".join(csv(simulation_report([], Scenario())))
        == "package,channel,installed,resolver,next,hops,end,reason\n"
    )


def test_csv_escapes_formulas() -> None:
    found = "".join(csv(report("=cmd()@1.0.0", Scenario(("v0",)))))
    assert "'=cmd()" in found


def test_csv_quotes_carriage_returns() -> None:
    [sheet] = channel_results("b1", Scenario(("v0",)))
    [line] = sheet.installed
    assert line.v0 is not None
    named = sheet._replace(installed=(line._replace(v0=replace(line.v0, package="p\rq")),))
    found = "".join(csv(simulation_report([named], Scenario(("v0",)))))
    assert [row[0] for row in readers.reader(StringIO(found, newline=""))] == ["package", "p\rq"]


def test_csv_has_no_install_plans() -> None:
    assert "plans" not in "".join(csv(report(CHAIN)._replace(is_manual=True)))


# Text


def test_table_has_both_resolvers_and_marks_differences() -> None:
    assert lines(report(DIFFERENT)) == [
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


def test_table_without_differences_has_no_marks() -> None:
    shown = lines(report("b2: b1\nb1"))
    assert shown[2:5] == [
        "  INSTALLED  OLM v0       OLM v1",
        "  b2         stays: head  the same",
        "  b1         2.0.0: head  the same",
    ]
    assert (
        shown[-1]
        == "4 upgrade paths in 1 channel; OLM v0: 2 reach the head; OLM v1: 2 reach the head; no difference."
    )


def test_one_resolver_has_one_column_and_no_comparison() -> None:
    shown = lines(report("b2: b1\nb1", Scenario(("v1",))))
    assert shown[2] == "  INSTALLED  OLM v1"
    assert shown[-1] == "2 upgrade paths in 1 channel; OLM v1: 2 reach the head."


def test_hops_are_names_if_versions_are_not_unique() -> None:
    assert "  y          x: head      the same" in lines(report("x@1.0.0: y\ny@1.0.0"))


def test_a_long_path_is_shortened_in_the_table_and_full_for_a_selected_version() -> None:
    long = "\n".join([*(f"b{i}: b{i - 1}" for i in range(9, 1, -1)), "b1"])
    cut = "2.0.0 → 3.0.0 → 4.0.0 → (4 more) → 9.0.0: head"
    assert any(cut in line for line in lines(report(long)))
    whole = " → ".join(f"{i}.0.0" for i in range(2, 10))
    shown = lines(report(long, None, "b1"))
    assert any(cut in line for line in shown)
    assert shown[shown.index("  b1 under OLM v0, 8 hops:") + 1] == f"    {whole}"
    assert not any("under OLM v1" in line for line in shown)


def test_full_paths_are_wrapped() -> None:
    long = "\n".join([*(f"b{i}: b{i - 1}" for i in range(40, 1, -1)), "b1"])
    assert max(map(len, lines(report(long, None, "b1")))) <= 110


def test_with_several_channels_long_paths_are_shortened_with_a_hint() -> None:
    long = "\n".join([*(f"b{i}: b{i - 1}" for i in range(9, 1, -1)), "b1"])
    shown = lines(report(f"[x]\n{long}\n[y]\n{long}", None, "b1"))
    assert not any("hops:" in line for line in shown)
    assert shown[-1] == "Long paths are shortened; -c CHANNEL shows one in full, -o json has all hops."


def test_channels_without_updates_for_the_same_reason_are_shown_once() -> None:
    shown = lines(report("[x]\nb2: b1\nb1\n[y]\nb3: b2\nb2\n[z]\nb4: - / - / <4.0.0", None, "0.5.0"))
    assert [line for line in shown if line.startswith("package")] == [
        "package p, channel x (default): 2 entries, head b2",
        "package p, channel z: 1 entry, head b4",
    ]
    assert "  The same in 1 other channel: y" in shown


def test_channels_in_which_the_resolver_fails_alike_are_shown_once() -> None:
    shown = lines(report("[x]\nb2\nb1\n[y]\nb2\nb1\n[z]\nb3\nb1", Scenario(("v0",)), "b1"))
    assert [line.partition(":")[0] for line in shown if line.startswith("package")] == [
        "package p, channel x (default)",
        "package p, channel z",
    ]


def test_channels_whose_edges_are_the_cause_are_shown_each() -> None:
    drawing = "[x]\nb3: b1 / b2\nb2: - / a1\nb1\n[y]\nb3: b1 / b2\nb2: - / a1\nb1"
    results = report(drawing, Scenario(("v0",)), "a1").results
    assert [result.no_update_causes for result in results] == [None, None]


def test_error_of_opm_precedes_the_table() -> None:
    said = {
        "b2\nb1": "multiple channel heads found in graph: b1, b2",
        "b2: b1\nb1: b2": "no channel head found in graph",
        "b3: b2\nb2: b1\nb1: b2": "detected cycle in replaces chain of upgrade graph: b2 -> b1 -> b2",
        "b3: b2 / b2\nb2: b1\nb1": "channel contains one or more stranded bundles: b1",
    }
    for drawing, complaint in said.items():
        assert lines(report(drawing))[1] == f"opm rejects this channel: {complaint}"


def test_errors_of_both_resolvers_are_shown() -> None:
    shown = lines(report("[a]\nb2\nb1\n[b]\nb9", Scenario(channels=frozenset("a")), "b9"))
    assert "  b9         error   error" in shown


def test_reason_names_versions_whose_path_is_stranded_there() -> None:
    shown = lines(report("b4: b3 / b3\nb3: b2\nb2: b1\nb1", Scenario(("v0",))))
    assert "    reached from b1" in shown


def test_reason_names_at_most_five_versions() -> None:
    below = "\n".join(f"c{i}@0.1.{i}" for i in range(9))
    skips = ", ".join(f"c{i}" for i in range(9))
    shown = lines(report(f"b4: b3 / b3\nb3: b2\nb2: b1 / {skips}\nb1\n{below}", Scenario(("v0",))))
    assert "    reached from b1, c8, c7, c6, c5 and 5 more" in shown


def test_new_installation_has_a_reason() -> None:
    shown = lines(report("b1", Scenario(("v0",), new_install=True)))
    assert shown[3:6] == [
        "  nothing    1.0.0: head",
        "",
        "  OLM v0, head: a new Subscription installs b1, the head",
    ]


def test_manual_approval_lists_the_plans_hop_by_hop() -> None:
    shown = lines(report(CHAIN)._replace(is_manual=True))
    assert "  InstallPlans: one for each hop; each waits for approval" in shown
    assert "  b1: 1. b2  2. b3" in shown
    assert "  none" in lines(report("b1")._replace(is_manual=True))


def test_switch_has_a_column_for_the_old_channels() -> None:
    shown = lines(report("[a]\nb1\n[b]\nb2: b1", Scenario(("v0",), is_switch=True)))
    assert shown[2:4] == ["  INSTALLED  FROM  OLM v0", "  b2         b     stays: stranded"]


def test_hop_in_another_catalog_has_its_name() -> None:
    served = sources("b2: b1\nb1", "b3: b2\nb2", priorities=[0, 10])
    shown = "".join(text(simulation_report(channel_results(served), Scenario(), catalogs=("a", "b"))))
    assert "catalog a, package p, channel stable (default): 2 entries, head b2" in shown
    assert "2.0.0: head  2.0.0 → 3.0.0 of b: head" in shown


def test_end_of_a_version_range_is_called_goal() -> None:
    shown = lines(report(CHAIN, Scenario(("v1",), options=ClusterExtensionOptions(version_range="1 - 2"))))
    assert "  b1         2.0.0: goal" in shown
    assert shown[-1] == "3 upgrade paths in 1 channel; OLM v1: 2 reach the goal and 1 fails."


def test_channels_without_paths_are_not_shown() -> None:
    shown = lines(report("[a]\nb1\n[b]\nb2", None, "b2"))
    assert not any("channel a" in line for line in shown)


def test_control_characters_of_names_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in "".join(text(report("b\x1b[31m1@1.0.0")))


def test_ends_are_coloured() -> None:
    assert "\x1b[1;33mOLM v0, stranded\x1b[0m" in "".join(text(report(DIFFERENT)._replace(colour=True)))
