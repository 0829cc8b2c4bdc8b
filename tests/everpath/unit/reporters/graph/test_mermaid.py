"""Flowcharts: read back, they have every entry and every edge, and no name says more than itself."""

from __future__ import annotations

import re

from hypothesis import given

from everpath.reporters.graph.mermaid import MAX_ARROWS, flowchart, github_limit_exceeded, render
from tests.support.everpath.channel_drawings import (
    HOSTILE,
    edge_set,
    hostile_scenes,
    scenes_of,
    twins,
    without_findings,
)
from tests.support.everpath.strategies import drawings


def decoded(label: str) -> str:
    return re.sub(r"#(\d+);", lambda match: chr(int(match[1])), label)


def test_one_flowchart_a_channel() -> None:
    text = "".join(render(scenes_of("[fast]\nb: a\na\n[stable]\na")))
    assert text.count("```mermaid\nflowchart LR\n") == 2
    assert "### p, channel fast (default): 2 entries, head b" in text


def test_arrows_go_from_the_older_to_the_newer_and_tell_their_kind() -> None:
    lines = list(flowchart(scenes_of("c: a / b / <3.0.0\nb: a\na")[0]))
    assert '  n2["c (3.0.0)<br/>head"]:::head' in lines
    assert "  n0 --> n2" in lines
    assert "  n1 -. skips .-> n2" in lines
    assert '  r2(["skipRange #60;3.0.0<br/>a #8230; b (2 entries)"]):::range' in lines


def test_a_range_that_olm_ignores_is_no_arrow() -> None:
    lines = list(flowchart(scenes_of("b: a / - / nonsense\na")[0]))
    assert "  r1 -.- n1" in lines
    assert "  r1 ==> n1" not in lines


def test_what_is_wrong_shows_in_the_node() -> None:
    text = "\n".join(flowchart(scenes_of("b3: - / b2\nb2: - / b1\nb1")[0]))
    assert re.search(
        r'n0\["b1 .1.0.0.<br/>skipped, no further updates under OLM v0<br/>EP206[^"]*"\]:::error', text
    )


def test_paths_of_installed_versions_are_thick() -> None:
    text = "".join(render(scenes_of("b: a\na", "a")))
    assert "  n0 == OLM v0 ==> n1\n  n0 == OLM v1 ==> n1\n" in text
    assert "\nOLM v0: a &#8594; b: reaches the head in 1 hop\n" in text


def test_a_flowchart_too_large_for_github_is_reported() -> None:
    [large] = scenes_of("\n".join(f"b{i}: b{i - 1} / b{i - 2}" for i in range(2, 300)))
    told = github_limit_exceeded(large)
    assert told is not None
    assert f"arrows, and GitHub draws {MAX_ARROWS}" in told
    [long] = scenes_of("\n".join(f"{'b' * 300}{i}@1.0.{i}" for i in range(200)))
    assert "GitHub takes 50,000" in str(github_limit_exceeded(long))
    assert github_limit_exceeded(scenes_of("b: a\na")[0]) is None


def test_no_name_leaves_its_label() -> None:
    text = "".join(render(hostile_scenes()))
    assert text.count("```") == 2
    chart = text.partition("```mermaid\n")[2].partition("```")[0]
    labels = re.findall(r'"([^"]*)"', chart)
    assert all(re.fullmatch(r"(?:[A-Za-z0-9 ._+,/()-]|#\d+;|<br/>)*", label) for label in labels)
    shown = [decoded(label.partition("<br/>")[0]) for label in labels]
    assert [name for name in HOSTILE if name.isprintable() and not any(name in each for each in shown)] == []


def test_no_name_writes_markdown() -> None:
    heading = "".join(render(hostile_scenes())).partition("\n")[0]
    assert not set('<>[]`"*') & set(heading.replace("<!-- -->", ""))


def test_no_name_becomes_a_link_or_emphasis() -> None:
    [scene] = twins("[a]\nx", "https://evil.example/x www.evil.com a/b#1 @user __init__ a_b")
    heading = "".join(render([scene])).partition("\n")[0]
    assert (
        "https:<!-- -->//evil.example/x www<!-- -->.evil.com a/b&#35;<!-- -->1 &#64;<!-- -->user " in heading
    )
    assert "&#95;&#95;init&#95;&#95; a_b" in heading


@given(drawings())
def test_every_entry_and_every_edge_can_be_read_back(drawing: str) -> None:
    scene = without_findings(drawing)
    chart = "\n".join(flowchart(scene))
    labels = re.findall(r'^  n(\d+)\["([^"]*)"\]', chart, flags=re.MULTILINE)
    names = [decoded(label.partition("<br/>")[0]).split(" (")[0] for _, label in labels]
    assert names == list(scene.diagram.columns)
    found = {(names[int(b)], names[int(a)], "replaces") for a, b in re.findall(r"n(\d+) --> n(\d+)", chart)}
    found |= {
        (names[int(b)], names[int(a)], "skips") for a, b in re.findall(r"n(\d+) -. skips .-> n(\d+)", chart)
    }
    assert found == {edge for edge in edge_set(scene.diagram) if edge[2] != "skipRange"}
    ranges = {int(r) for r in re.findall(r"r(\d+) ==> n\1\b", chart)}
    assert ranges == {reach.successor for reach in scene.diagram.covered_ranges}
