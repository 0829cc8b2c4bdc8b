"""The README: its table, snippets and commands."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml

from console import ROOT
from everpath.cli.entry_point import run
from everpath.graph import PackageGraph
from everpath.loaders.notation import parse
from everpath.resolvers import opm
from tests.support.everpath.graphs import rule_ids

README = (ROOT / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?P<graph>`[^|]+`) \| (?P<effect>[^|]+) \| (?P<rules>\[EP[^|]+) \|$", re.MULTILINE)
UNSEEN = [(row["graph"], row["rules"]) for row in ROW.finditer(README)]


def drawing(cell: str) -> str:
    return "\n".join(re.findall(r"`([^`]+)`", cell))


def test_table_of_graphs_is_found() -> None:
    assert len(UNSEEN) >= 8


@pytest.mark.parametrize(("graph", "rules"), UNSEEN)
def test_opm_accepts_the_graphs_of_the_table(graph: str, rules: str) -> None:
    [channel] = PackageGraph(parse(drawing(graph)).packages[0]).channels
    assert opm.validate_channel(channel).is_valid


@pytest.mark.parametrize(("graph", "rules"), UNSEEN)
def test_everpath_reports_the_findings_of_the_table(graph: str, rules: str) -> None:
    assert set(re.findall(r"\[(EP\d+)\]", rules)) <= rule_ids(drawing(graph))


@pytest.mark.parametrize("page", ["README.md", "docs/ci.md"])
def test_every_snippet_for_ci_is_yaml(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    snippets = re.findall(r"^```yaml\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert snippets
    assert all(isinstance(yaml.safe_load(snippet), dict) for snippet in snippets)


@pytest.mark.parametrize("words", ["make run", "make test", "opm validate", "<!-- bench: begin -->"])
def test_the_readme_names(words: str) -> None:
    assert words in README


@pytest.mark.parametrize("command", ["release", "init"])
def test_release_commands_of_the_table_work_in_the_clone(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("catalog", "bundles", "operator/config"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    [words] = re.findall(rf"\| `everpath ({command} [^`]+)` \|", README)
    assert run(shlex.split(words.replace("PACKAGE", "searchkeeper"))) == 0
