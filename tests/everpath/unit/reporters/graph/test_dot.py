"""The graph for Graphviz: read back, it has every entry and every edge, and Graphviz itself reads it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from hypothesis import given

from everpath.reporters.graph.dot import render
from tests.support.everpath.channel_drawings import (
    HOSTILE,
    edge_set,
    hostile_scenes,
    scenes_of,
    without_findings,
)
from tests.support.everpath.strategies import drawings

_STRING = r'"((?:[^"\\]|\\.)*)"'


def test_each_channel_is_a_cluster() -> None:
    text = "".join(render(scenes_of("[fast]\nb: a\na\n[stable]\na")))
    assert re.findall(r"subgraph (cluster_\d)", text) == ["cluster_0", "cluster_1"]


def test_edges_go_from_the_older_to_the_newer_and_tell_their_kind() -> None:
    text = "".join(render(scenes_of("c: a / b / <3.0.0\nb: a\na")))
    assert "c0_n0 -> c0_n2;" in text
    assert 'c0_n1 -> c0_n2 [style=dashed, color="#8250df", label="skips"];' in text
    assert 'label="skipRange <3.0.0\\na … b (2 entries)"' in text


def test_a_range_that_olm_ignores_is_no_arrow() -> None:
    text = "".join(render(scenes_of("b: a / - / nonsense\na")))
    assert 'c0_r1 -> c0_n1 [color="#0a7f88", style=dotted, arrowhead=none];' in text


def test_paths_of_installed_versions_are_drawn() -> None:
    text = "".join(render(scenes_of("b: a\na", "a")))
    assert re.search(r'c0_n0 -> c0_n1 \[.*label="OLM v0"\];', text)
    assert re.search(r'c0_n0 -> c0_n1 \[.*label="OLM v1"\];', text)


@given(drawings())
def test_every_entry_and_every_edge_can_be_read_back(drawing: str) -> None:
    scene = without_findings(drawing)
    text = "".join(render([scene]))
    labels = re.findall(rf"^ +c0_n\d+ \[label={_STRING}", text, flags=re.MULTILINE)
    names = [label.partition("\\n")[0].split(" (")[0] for label in labels]
    assert names == list(scene.diagram.columns)
    plain = re.findall(r"c0_n(\d+) -> c0_n(\d+);", text)
    skipped = re.findall(r'c0_n(\d+) -> c0_n(\d+) \[.*label="skips"\];', text)
    found = {(names[int(b)], names[int(a)], "replaces") for a, b in plain}
    found |= {(names[int(b)], names[int(a)], "skips") for a, b in skipped}
    assert found == {edge for edge in edge_set(scene.diagram) if edge[2] != "skipRange"}
    assert {int(r) for r in re.findall(r"c0_r(\d+) -> c0_n\1 ", text)} == set(scene.diagram.range_of)


def test_no_name_leaves_its_string() -> None:
    text = "".join(render(hostile_scenes()))
    outside = re.sub(_STRING, "", text)
    assert "evil" not in outside
    assert "pwned" not in outside
    assert '"' not in outside


@pytest.mark.exhaustive  # needs Graphviz, which scripts/real-parts installs
@pytest.mark.skipif(shutil.which("dot") is None, reason="there is no Graphviz here: apt-get install graphviz")
def test_graphviz_reads_it_and_shows_the_names_as_they_are() -> None:
    text = "".join(render(hostile_scenes()))
    answer = subprocess.run(["dot", "-Tjson"], input=text, capture_output=True, encoding="utf-8", check=True)
    assert answer.stderr == ""
    labels = [thing.get("label", "") for thing in json.loads(answer.stdout)["objects"]]
    shown = [label.replace("\\\\", "\\").replace('\\"', '"') for label in labels]
    assert [n for n in HOSTILE if n.isprintable() and not any(n in label for label in shown)] == []
