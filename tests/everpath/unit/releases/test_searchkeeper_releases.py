"""searchkeeper: the committed bundles and catalogs are those that catalog/releases.yaml generates."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from everpath.cli.entry_point import run
from everpath.graph import PackageGraph
from everpath.loaders.catalog_loader import load
from everpath.loaders.releases.parser import load_releases
from everpath.resolvers import olm_v0, olm_v1
from everpath.upgrade_path.hops import hops_from
from tests.support.commandline import ROOT

CATALOG, BUNDLES = ROOT / "catalog", ROOT / "bundles"
SOURCES = [CATALOG / "releases.yaml", ROOT / "examples/08-release/catalog/releases.yaml"]


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: file.parents[1].name)
def test_generated_files_are_current(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["generate", "--check", "--file", str(file)]) == 0, capsys.readouterr().out


def test_every_release_but_the_newest_is_frozen() -> None:
    *earlier, newest = load_releases(str(CATALOG / "releases.yaml")).releases
    assert [release.version for release in earlier if release.bundle is None] == []
    assert newest.bundle is None


def test_no_rule_warns_of_the_catalog_and_of_any_step_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    config = CATALOG / "everpath.yaml"
    arguments = ["validate-graph", str(CATALOG), "--bundles", str(BUNDLES), "--config", str(config)]
    assert run([*arguments, "--fail-on", "warning"]) == 0, capsys.readouterr().out


def test_no_validator_warns_of_a_bundle(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["bundle", "validate", str(BUNDLES), "--select-optional", "all", "--no-config"]
    assert run([*arguments, "--fail-on", "warning"]) == 0, capsys.readouterr().out


def test_every_path_ends_at_the_head_under_both_resolvers() -> None:
    [package] = load(str(CATALOG)).catalog.packages
    for graph in PackageGraph(package).channels:
        first = olm_v0.next_hops(graph)
        assert first.failure is None
        assert not first.failures
        for hops in (first.next, olm_v1.next_hops(graph)):
            for name in graph.entries:
                assert [name, *hops_from(hops, name)][-1] == graph.head, (graph.name, name)


def test_the_releases_use_whatever_a_release_can() -> None:
    source = load_releases(str(CATALOG / "releases.yaml"))
    origins = [origin for channel in source.channel_names for _, origin in source.releases_in(channel)]
    assert len(source.releases) >= 7
    assert len(source.channel_names) >= 2
    assert any(origin.replaces for origin in origins)
    assert any(origin.skips for origin in origins)
    assert any(origin.skip_range for origin in origins)
    assert any(origin.zstream for origin in origins)
    assert any(release.withdrawn is not None for release in source.releases)


def test_no_checkout_changes_the_bytes_of_what_is_generated() -> None:
    rules = (ROOT / ".gitattributes").read_text().splitlines()
    for file in SOURCES:
        for folder in ("bundles", "catalog"):
            path = (file.parents[1] / folder).relative_to(ROOT).as_posix()
            assert f"{path}/** -text" in rules


@pytest.mark.conformance
def test_opm_takes_the_catalog_and_every_bundle(opm: str) -> None:
    bundles = sorted(str(path) for path in (BUNDLES / "searchkeeper").iterdir() if path.is_dir())
    for arguments in (["validate", str(CATALOG)], ["render", *bundles]):
        done = subprocess.run([opm, *arguments], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
