"""The page as a file: complete without its script, loading nothing, and safe from every name."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

from hypothesis import given

from everpath.layout.drawing import ChannelDrawing
from everpath.reporters.graph.graph_page import render
from everpath.upgrade_path.hops import hops_from
from tests.support.everpath.channel_drawings import (
    HOSTILE,
    edge_set,
    hostile_scenes,
    scenes_of,
    twins,
    without_findings,
)
from tests.support.everpath.strategies import drawings


class Page(HTMLParser):
    """The elements of a page, and the text of each script, style and cell."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]][-1] += data

    @property
    def data(self) -> Any:
        return json.loads(self.texts["script"][0])


def page(*scenes: ChannelDrawing) -> Page:
    return Page("".join(render(scenes)))


def test_it_loads_nothing_and_runs_only_its_own_script() -> None:
    text = "".join(render(scenes_of("b: a\na")))
    shown = Page(text)
    [policy] = [
        a["content"] or "" for t, a in shown.elements if a.get("http-equiv") == "Content-Security-Policy"
    ]
    for directive, content in (
        ("style-src", shown.texts["style"][0]),
        ("script-src", shown.texts["script"][1]),
    ):
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert not [a for _, a in shown.elements if {"src", "href", "style"} & a.keys()]
    assert "url(" not in text
    assert "@import" not in text


def test_the_script_never_makes_markup_of_text() -> None:
    script = page(*scenes_of("b: a\na")).texts["script"][1]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script
    )


def test_every_channel_has_a_tab_and_a_panel() -> None:
    shown = page(*scenes_of("[fast]\nb: a\na\n[stable]\na"))
    tabs = [a["aria-controls"] for t, a in shown.elements if a.get("role") == "tab"]
    panels = [a["id"] for t, a in shown.elements if a.get("role") == "tabpanel"]
    assert tabs == panels == ["channel-0", "channel-1"]


def test_the_label_of_a_tab_has_its_badges() -> None:
    shown = page(*scenes_of("[stable]\nb3: - / b2\nb2: - / b1\nb1\n[fast]\nb1"))
    said = [a["aria-label"] for _, a in shown.elements if a.get("role") == "tab"]
    assert said == ["stable, default, 3 entries, 1 error, 1 warning", "fast, 1 entry"]


def test_a_number_after_a_name_is_no_name_of_another_channel() -> None:
    shown = page(*twins("[a]\nx\n[b]\nx\n[c]\nx\n[d]\nx", "s", "s", "s (2)", "s"))
    assert [channel["name"] for channel in shown.data["channels"]] == ["s", "s (3)", "s (2)", "s (4)"]


@given(drawings())
def test_paths_are_those_of_the_resolvers(drawing: str) -> None:
    scene = without_findings(drawing)
    [channel] = page(scene).data["channels"]
    names = [node["name"] for node in channel["nodes"]]
    entries = {node["name"]: node["paths"] for node in channel["nodes"] if node["paths"]}
    for number, drawn in enumerate(scene.paths):
        steps = {name: told[number][0] for name, told in entries.items()}
        hops = {name: None if step is None else names[step] for name, step in steps.items()}
        assert [hops_from(hops, name) for name in entries] == [
            tuple(drawn.by_entry[name].hops) for name in entries
        ]
        assert {name: told[number][1] for name, told in entries.items()} == {
            name: path.end.value for name, path in drawn.by_entry.items()
        }


@given(drawings())
def test_the_table_has_every_entry_and_every_edge(drawing: str) -> None:
    scene = without_findings(drawing)
    text = "".join(render([scene]))
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td>", text)
    names = [name.split(" (")[0] for name, _ in rows]
    assert names[::-1] == list(scene.diagram.columns)
    found = set[tuple[str, str, str]]()
    for name, (_, edges) in zip(names, rows, strict=True):
        for edge in edges.split("<br>"):
            kind, _, targets = edge.partition(" ")
            if kind in ("replaces", "skips"):
                found |= {(name, target, kind) for target in targets.split(", ")}
    assert found == {edge for edge in edge_set(scene.diagram) if edge[2] != "skipRange"}


def test_findings_come_with_message_fix_and_place() -> None:
    [channel] = page(*scenes_of("b3: - / b2\nb2: - / b1\nb1")).data["channels"]
    [error] = [f for f in channel["findings"] if f["severity"] == "error"]
    assert (error["rule"], error["entry"], error["where"]) == ("EP206", 0, "catalog.yaml:1")
    assert error["fix"] == "add b1 to the skips of b3"
    assert error["because"]


def test_a_version_outside_the_channel_has_its_paths() -> None:
    [channel] = page(*scenes_of("c: b\nb: a / - / <2.0.0\na", "p.v0.5.0")).data["channels"]
    [visitor] = channel["installedElsewhere"]
    assert visitor["name"] == "p.v0.5.0"
    assert visitor["paths"][0] == {"hops": [1, 2], "end": "head", "reason": "reaches the head in 2 hops"}


def test_a_thousand_heads_are_not_named_to_a_thousand_entries() -> None:
    scene = without_findings("\n".join(f"b{i}@1.{i}.0" for i in range(1_000)))
    assert len("".join(render([scene]))) < 1_500_000


def test_no_name_becomes_markup() -> None:
    plain, hostile = page(*scenes_of("b: a\na")), page(*hostile_scenes())
    assert {tag for tag, _ in hostile.elements} <= {tag for tag, _ in plain.elements} | {"br", "span"}
    assert not [key for _, attributes in hostile.elements for key in attributes if key.startswith("on")]
    names = [node["name"] for node in hostile.data["channels"][0]["nodes"]]
    assert [name for name in HOSTILE if name.isprintable() and name not in names] == []


def test_the_same_channels_give_the_same_bytes() -> None:
    assert "".join(render(scenes_of("b: a\na"))) == "".join(render(scenes_of("b: a\na")))


def test_three_hundred_entries_that_cover_each_other_stay_small() -> None:
    [scene] = scenes_of("\n".join(f"b{i}@1.{i}.0: b{i - 1} / - / <1.{i}.0" for i in range(1, 301)))
    assert len("".join(render([scene]))) < 1_500_000
