"""`everpath release`: edits, files, comparisons and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from everpath import atomic_files
from everpath.errors import UnreadableInput
from tests.support.commandline import Everpath
from tests.support.everpath.projects import RELEASES, catalog, tree, write_operator, write_releases
from tests.support.schemas import conforms

LINE = """
    - version: 0.1.0   # the first
      channels: [stable, candidate]
    - {version: 0.2.0, channels: [stable, candidate], from: {replaces: 0.1.0}}
"""


@pytest.fixture
def project(here: Path, everpath: Everpath) -> Path:
    write_operator(here)
    write_releases(here, LINE, "channels: [{name: fast}]\n")
    assert everpath("generate").code == 0
    return here


def _edges(project: Path, channel: str) -> list[object]:
    found = catalog(project / "catalog/acme/catalog.yaml")["olm.channel"]
    entries = next(each["entries"] for each in found if each["name"] == channel)
    assert isinstance(entries, list)
    return entries


def test_a_release_is_one_command(everpath: Everpath, project: Path) -> None:
    answer = everpath("release", "0.3.0")
    assert answer.code == 0
    assert answer.err == "acme 0.3.0: 4 files written.\n"
    before, after = answer.out.index("before\n"), answer.out.index("after\n")
    assert "◉ acme.v0.2.0  head\n● acme.v0.1.0" in answer.out[before:after]
    assert "◉ acme.v0.3.0  head\n● acme.v0.2.0\n● acme.v0.1.0" in answer.out[after:]
    assert "every operator of the old catalog has a replacement in the new one: yes" in answer.out
    text = (project / RELEASES).read_text()
    assert text.endswith("- version: 0.3.0\n  channels: [stable, candidate]\n  from: {replaces: 0.2.0}\n")
    assert "# the first" in text
    assert text.count("bundle: sha256:") == 2
    assert (project / "bundles/acme/0.3.0/metadata/annotations.yaml").exists()
    assert everpath("generate", "--check").code == 0
    assert everpath("validate-graph", "catalog").code == 0


def test_a_dry_run_shows_the_difference_and_writes_nothing(everpath: Everpath, project: Path) -> None:
    before = tree(project)
    answer = everpath("release", "0.3.0", "--dry-run", "-qv")
    assert answer.code == 0
    assert "+- version: 0.3.0\n" in answer.out
    assert "add     bundles/acme/0.3.0/metadata/annotations.yaml\n" in answer.out
    assert answer.out.endswith("Nothing was written: --dry-run.\n")
    assert tree(project) == before


def test_a_withdrawn_head_is_skipped(everpath: Everpath, project: Path) -> None:
    answer = everpath("release", "0.2.1", "--withdraw", "0.2.0", "--reason", "it loses shards")
    assert answer.code == 0
    assert "warning[different-path]" not in answer.out
    assert _edges(project, "stable") == [
        {"name": "acme.v0.1.0"},
        {"name": "acme.v0.2.0"},
        {"name": "acme.v0.2.1", "replaces": "acme.v0.1.0", "skips": ["acme.v0.2.0"]},
    ]
    assert "withdrawn: it loses shards" in (project / RELEASES).read_text()
    assert everpath("validate-graph", "catalog").code == 0


def test_a_z_stream_release_covers_unpublished_versions(everpath: Everpath, project: Path) -> None:
    assert everpath("release", "0.2.3", "--zstream", "-q").code == 0
    assert _edges(project, "stable")[-1] == {
        "name": "acme.v0.2.3",
        "replaces": "acme.v0.1.0",
        "skips": ["acme.v0.2.0"],
        "skipRange": ">=0.2.0 <0.2.3",
    }
    assert everpath("validate-graph", "catalog").code == 0


def test_edges_may_be_stated(everpath: Everpath, project: Path) -> None:
    answer = everpath(
        "release", "0.3.0", "--channel", "stable", "--replaces", "0.2.0", "--range", ">=0.1.0 <0.3.0", "-q"
    )
    assert answer.code == 0
    assert _edges(project, "stable")[-1] == {
        "name": "acme.v0.3.0",
        "replaces": "acme.v0.2.0",
        "skipRange": ">=0.1.0 <0.3.0",
    }


def test_a_release_that_strands_versions_is_not_written(everpath: Everpath, project: Path) -> None:
    before = tree(project)
    answer = everpath("release", "0.3.0", "--skips", "0.2.0")
    assert answer.code == 1
    assert (
        "error[stranded]: Clusters on acme.v0.1.0 can no longer be upgraded to the head acme.v0.3.0"
        in answer.out
    )
    assert "  --> catalog/releases.yaml:" in answer.out
    assert "= fix:" in answer.out
    assert answer.err.startswith("error: installed versions would be stranded")
    assert answer.err.endswith("nothing was written\n")
    assert tree(project) == before


def test_a_second_head_is_rejected(everpath: Everpath, project: Path) -> None:
    before = tree(project)
    answer = everpath("release", "0.3.0", "--range", ">=0.2.0 <0.3.0")
    assert answer.code == 1
    assert "opm would reject the catalog; nothing was written" in answer.err
    assert tree(project) == before


def test_the_catalog_on_disk_is_compared_not_the_edited_file(everpath: Everpath, project: Path) -> None:
    """A release is removed from the file by hand, but users still have it installed."""
    text = (project / RELEASES).read_text()
    (project / RELEASES).write_text(
        text.replace("from: {replaces: 0.1.0}", "from: {}").replace(
            "- version: 0.1.0   # the first\n  channels: [stable, candidate]\n", ""
        )
    )
    answer = everpath("release", "0.3.0", "-q")
    assert answer.code == 1
    assert "acme.v0.1.0" in answer.out


def test_every_variant_is_compared(everpath: Everpath, project: Path) -> None:
    write_releases(project, LINE, "catalogs: [{name: old, releases: '<0.3.0'}, {name: new}]\n")
    assert everpath("generate").code == 0
    answer = everpath("release", "0.3.0")
    assert answer.code == 0
    assert "before of new\n" in answer.out
    assert "before of old\n" not in answer.out
    assert "acme.v0.3.0" not in (project / "catalog/old/acme/catalog.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["0.2.0"], "acme 0.2.0 is already released"),
        (["0.1.5"], "0.1.5 is lower than 0.2.0, the head of the channel 'stable'"),
        (["0.3.0", "--channel", "stabel"], "did you mean 'stable'?"),
        (["0.3.0", "--replaces", "0.1.9"], "0.1.9: no such release"),
        (["0.3.0", "--zstream", "--replaces", "0.2.0"], "--zstream computes replaces"),
        (["0.3.0", "--reason", "x"], "name it: --withdraw VERSION"),
        (["0.3.0", "--range", ">=1"], "write '>=1.0.0'"),
        (["0.3"], "'0.3' is not a version"),
        (["0.3.0", "--replaces", ""], "--replaces is empty"),
        (["0.3.0", "--range", " "], "--range is empty"),
        (["0.3.0", "--withdraw", "0.2.0", "--reason", ""], "--reason is empty"),
        (["0.3.0", "--min-kube-version", ""], "--min-kube-version is empty"),
        (
            ["0.3.0", "--channel", "candidate", "--withdraw", "0.2.0"],
            "release into that channel as well: --channel candidate,stable",
        ),
    ],
)
def test_invalid_options_are_errors_and_change_nothing(
    everpath: Everpath, project: Path, arguments: list[str], words: str
) -> None:
    before = tree(project)
    answer = everpath("release", *arguments)
    assert answer.code == 2, answer
    assert words in answer.err
    assert tree(project) == before


def test_a_manifest_that_does_not_parse_changes_nothing(everpath: Everpath, project: Path) -> None:
    (project / "operator/crd.yaml").write_text("kind: [\n")
    before = tree(project)
    answer = everpath("release", "0.3.0", "-q")
    assert answer.code == 3
    assert "operator/crd.yaml" in answer.err
    assert tree(project) == before


def test_missing_manifests_are_reported_with_the_file_that_names_them(
    everpath: Everpath, project: Path
) -> None:
    text = (project / RELEASES).read_text().replace("../operator", "../operators")
    (project / RELEASES).write_text(text)
    answer = everpath("release", "0.3.0", "-q")
    assert answer.code == 3
    assert "operators does not exist" in answer.err
    assert "`operator:` of catalog/releases.yaml names it" in answer.err


def test_a_full_disk_changes_nothing(
    everpath: Everpath, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, steps = tree(project), 0

    def failing(old: Path, new: Path) -> None:
        nonlocal steps
        steps += 1
        if steps == 4:
            raise OSError(5, "Input/output error", str(new))
        old.replace(new)

    monkeypatch.setattr(atomic_files, "_rename", failing)
    answer = everpath("release", "0.3.0", "-q")
    assert answer.code == 2
    assert "Input/output error" in answer.err
    assert tree(project) == before


def test_a_new_channel_must_be_declared_in_the_file(everpath: Everpath, project: Path) -> None:
    assert everpath("release", "0.3.0", "--channel", "fast", "-q").code == 0
    assert _edges(project, "fast") == [{"name": "acme.v0.3.0", "replaces": "acme.v0.2.0"}]


def test_min_kube_version_is_written(everpath: Everpath, project: Path) -> None:
    assert everpath("release", "0.3.0", "--min-kube-version", "1.29.0", "-q").code == 0
    csv = (project / "bundles/acme/0.3.0/manifests/acme.clusterserviceversion.yaml").read_text()
    assert "minKubeVersion: 1.29.0" in csv


def test_the_first_release_is_compared_with_nothing(everpath: Everpath, here: Path) -> None:
    write_operator(here)
    write_releases(here, "")
    answer = everpath("release", "0.1.0")
    assert answer.code == 0
    assert answer.out.startswith("package acme, channel stable (default): 1 entry, head acme.v0.1.0\n")
    assert "installed versions" not in answer.out


def test_errors_of_generating_are_reported_without_graphs(everpath: Everpath, project: Path) -> None:
    (project / "operator/manifests.yaml").unlink()
    answer = everpath("release", "0.3.0")
    assert (answer.code, answer.out) == (3, "")
    assert "no base ClusterServiceVersion" in answer.err


def test_a_release_is_promoted_to_another_channel(everpath: Everpath, here: Path) -> None:
    write_operator(here)
    write_releases(
        here,
        """
        - {version: 0.1.0, channels: [stable, candidate]}
        - {version: 0.2.0, channels: [candidate], from: {replaces: 0.1.0}}
        - {version: 0.3.0, channels: [candidate], from: {replaces: 0.2.0}}
        """,
    )
    everpath("generate")
    before = tree(here / "bundles")
    answer = everpath("release", "0.3.0", "--channel", "stable")
    assert answer.code == 0, answer
    assert "package acme, channel stable (default): 2 entries, head acme.v0.3.0" in answer.out
    assert tree(here / "bundles") == before
    text = (here / RELEASES).read_text()
    assert "channels: {candidate: null, stable: {replaces: 0.1.0}}" in text
    assert text.count("bundle: sha256:") == 3
    channels = {c["name"]: c["entries"] for c in catalog(here / "catalog/acme/catalog.yaml")["olm.channel"]}
    assert channels["stable"][-1] == {"name": "acme.v0.3.0", "replaces": "acme.v0.1.0"}
    assert "is already released" in everpath("release", "0.3.0", "--channel", "stable").err


def test_a_withdrawal_names_every_channel_that_needs_a_new_head(everpath: Everpath, project: Path) -> None:
    write_releases(project, "- {version: 0.1.0, channels: [a, b, stable]}")
    answer = everpath("release", "0.2.0", "--withdraw", "0.1.0", "-c", "stable")
    assert answer.code == 2
    assert "--channel stable,a,b" in answer.err


def test_a_releases_file_without_read_permission_is_not_reported_as_missing(
    everpath: Everpath, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> bytes:
        raise UnreadableInput("cannot read it", hint="give the user the right to", file="x")

    monkeypatch.setattr("everpath.loaders.sources.Sources.read", refuse)
    answer = everpath("release", "0.3.0")
    assert answer.code == 3
    assert "give the user the right to" in answer.err


class TestJsonOutput:
    """`-o json`: one object for every outcome."""

    @staticmethod
    def _run_json(everpath: Everpath, *arguments: str) -> tuple[int, dict[str, Any]]:
        answer = everpath("release", "-o", "json", *arguments)
        document = json.loads(answer.out)
        conforms("release", document)
        for comparison in document["comparisons"]:
            conforms("compare", comparison)
        return answer.code, document

    def test_planned_and_written_files(self, everpath: Everpath, project: Path) -> None:
        before = tree(project)
        code, planned = self._run_json(everpath, "0.3.0", "--dry-run")
        assert (code, planned["state"], planned["release"]) == (0, "planned", "0.3.0")
        assert tree(project) == before
        code, written = self._run_json(everpath, "0.3.0")
        assert (code, written["state"]) == (0, "written")
        assert written["files"] == planned["files"]
        assert {"action": "change", "path": "catalog/releases.yaml"} in written["files"]
        assert everpath("generate", "--check").code == 0

    def test_stranded_versions(self, everpath: Everpath, project: Path) -> None:
        before = tree(project)
        code, document = self._run_json(everpath, "0.3.0", "--skips", "0.2.0")
        assert (code, document["state"], document["files"]) == (1, "refused", [])
        assert "installed versions would be stranded" in document["reasons"]
        kinds = {change["kind"] for change in document["comparisons"][0]["changes"]}
        assert "stranded" in kinds
        assert tree(project) == before

    def test_findings_of_generated_files(self, everpath: Everpath, project: Path) -> None:
        manifests = project / "operator/manifests.yaml"
        manifests.write_text(manifests.read_text().replace("displayName: Acme", "minKubeVersion: new"))
        before = tree(project)
        code, document = self._run_json(everpath, "0.3.0")
        assert (code, document["state"], document["reasons"]) == (1, "refused", [])
        assert document["findings"]
        assert tree(project) == before
