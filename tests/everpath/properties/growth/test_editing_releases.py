"""Freezing ten times as many releases in releases.yaml costs at most twelve times as much."""

from __future__ import annotations

from everpath.loaders.releases.editing import edit_releases
from everpath.loaders.releases.formatting import format_releases
from everpath.releases.model import DeclaredEdges, Membership, Release, ReleasesFile
from everpath.releases.release_plan import SetField
from tests.support.everpath.operation_counts import lines_run


def _work(count: int) -> int:
    releases = tuple(
        Release(f"0.{n}.0", (Membership("stable"),), DeclaredEdges(f"0.{n - 1}.0") if n else DeclaredEdges())
        for n in range(count)
    )
    content = format_releases(ReleasesFile("acme", "stable", releases), "s.json").encode()
    edits = [SetField(n, "bundle", f"sha256:{n:064x}") for n in range(count)]
    return lines_run(lambda: edit_releases(content, edits, "releases.yaml"))


def test_freezing_is_linear_in_the_releases() -> None:
    assert _work(200) <= 12 * _work(20)
