"""Graphs as JSON: nodes, edges and paths as in the schema."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given

from everpath.layout.drawing import ChannelDrawing
from everpath.reporters.graph.graph_json import render
from everpath.upgrade_path.hops import hops_from
from tests.support.everpath.channel_drawings import (
    HOSTILE,
    edge_set,
    hostile_scenes,
    scenes_of,
    without_findings,
)
from tests.support.everpath.strategies import drawings
from tests.support.schemas import conforms


def document(*scenes: ChannelDrawing) -> Any:
    found = json.loads("".join(render(scenes)))
    conforms("graph", found)
    return found


def test_the_document_is_the_contract() -> None:
    [scene] = scenes_of("b: a / - / <1.0.0-0\na", "a")
    reason = "reaches the head in 1 hop"
    node = {"isEntry": True, "isSkipped": False, "hasBundle": True, "deprecated": None, "prohibited": None}
    assert document(ChannelDrawing(scene.diagram, (), scene.installed)) == {
        "version": 2,
        "package": "p",
        "channels": [
            {
                "channel": "stable",
                "isDefault": True,
                "nodes": [
                    {"name": "a", "version": "1.0.0", "isHead": False, **node},
                    {"name": "b", "version": "2.0.0", "isHead": True, **node},
                ],
                "replaces": [{"from": "a", "to": "b"}],
                "skips": [],
                "skipRanges": [{"to": "b", "range": "<1.0.0-0", "isIgnored": False, "covers": []}],
                "findings": [],
                "failures": [],
                "paths": [
                    row
                    for resolver in ("v0", "v1")
                    for row in (
                        {
                            "resolver": resolver,
                            "installed": "a",
                            "next": "b",
                            "last": "b",
                            "end": "head",
                            "reason": reason,
                        },
                        {
                            "resolver": resolver,
                            "installed": "b",
                            "next": None,
                            "last": "b",
                            "end": "head",
                            "reason": scene.paths[0].by_entry["b"].reason,
                        },
                    )
                ],
                "newInstallation": [
                    {
                        "resolver": drawn.resolver,
                        "hops": ["b"],
                        "end": "head",
                        "reason": drawn.path(None).reason,
                    }
                    for drawn in scene.paths
                ],
                "installed": [
                    {
                        "installed": "a",
                        "installedVersion": "1.0.0",
                        "isEntry": True,
                        "resolver": resolver,
                        "hops": ["b"],
                        "end": "head",
                        "reason": reason,
                    }
                    for resolver in ("v0", "v1")
                ],
            }
        ],
    }


@given(drawings())
def test_every_edge_is_there_once(drawing: str) -> None:
    scene = without_findings(drawing)
    [channel] = document(scene)["channels"]
    names = [node["name"] for node in channel["nodes"]]
    edges = [(e["to"], e["from"], kind) for kind in ("replaces", "skips") for e in channel[kind]]
    for span in channel["skipRanges"]:
        for run in span["covers"]:
            first, last = names.index(run["first"]), names.index(run["last"])
            assert run["entries"] == last - first + 1
            edges += [(span["to"], name, "skipRange") for name in names[first : last + 1]]
    assert len(edges) == len(set(edges))
    assert set(edges) == edge_set(scene.diagram)


@given(drawings())
def test_following_next_leads_to_last(drawing: str) -> None:
    scene = without_findings(drawing)
    [channel] = document(scene)["channels"]
    for drawn in scene.paths:
        rows = {row["installed"]: row for row in channel["paths"] if row["resolver"] == drawn.resolver}
        assert list(rows) == [node["name"] for node in channel["nodes"] if node["isEntry"]]
        hops = {name: row["next"] for name, row in rows.items()}
        for name, row in rows.items():
            assert (hops_from(hops, name) or (name,))[-1] == row["last"]


def test_findings_say_where_they_are_written() -> None:
    [channel] = document(*scenes_of("b3: - / b2\nb2: - / b1\nb1"))["channels"]
    [error] = [finding for finding in channel["findings"] if finding["severity"] == "error"]
    assert (error["rule"], error["entry"]) == ("EP206", "b1")
    assert (error["file"], error["line"], error["column"]) == ("catalog.yaml", 1, None)
    assert error["fix"] == "add b1 to the skips of b3"


def test_a_version_outside_the_channel_is_no_entry_and_has_its_paths() -> None:
    [channel] = document(*scenes_of("c: b\nb: a / - / <2.0.0\na", "p.v0.5.0"))["channels"]
    assert [(row["resolver"], row["isEntry"], row["hops"]) for row in channel["installed"]] == [
        ("v0", False, ["b", "c"]),
        ("v1", False, ["b", "c"]),
    ]


def test_an_invalid_range_differs_from_one_that_covers_no_entry() -> None:
    [channel] = document(*scenes_of("b: a / - / nonsense\na"))["channels"]
    assert [(span["isIgnored"], span["covers"]) for span in channel["skipRanges"]] == [(True, [])]


def test_a_name_that_is_no_entry_is_a_node() -> None:
    [channel] = document(*scenes_of("b: gone\na"))["channels"]
    assert next((node["name"], node["isEntry"]) for node in channel["nodes"]) == ("gone", False)


def test_names_come_as_they_are_written() -> None:
    found = document(*hostile_scenes())
    assert found["package"] == HOSTILE[0]
    assert {node["name"] for node in found["channels"][0]["nodes"]} == set(HOSTILE)


def test_a_failure_of_the_whole_channel_is_written_once() -> None:
    [channel] = document(*scenes_of("\n".join(f"b{i}@1.{i}.0" for i in range(300))))["channels"]
    [failure] = channel["failures"]
    assert failure["resolver"] == "v0"
    assert "300 replacement chains were found" in failure["reason"]
    assert {row["reason"] for row in channel["paths"] if row["resolver"] == "v0"} == {None}
    assert None not in {row["reason"] for row in channel["paths"] if row["resolver"] == "v1"}


def test_a_channel_without_entries_is_one() -> None:
    [empty, other] = document(*scenes_of("[stable]\n[fast]\na"))["channels"]
    assert (empty["nodes"], empty["paths"]) == ([], [])
    assert len(other["nodes"]) == 1


def test_three_hundred_entries_that_cover_each_other_stay_small() -> None:
    scene = without_findings("\n".join(f"b{i}@1.{i}.0: b{i - 1} / - / <1.{i}.0" for i in range(1, 301)))
    assert len("".join(render([scene]))) < 300_000
