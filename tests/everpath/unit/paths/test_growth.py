"""Ten times the entries cost little more than ten times the work, also where ranges make n² edges."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from itertools import islice
from typing import Any

import pytest

from everpath.graph import PackageGraph
from everpath.paths import path_counts
from everpath.paths.bundle_selector import select_bundles
from everpath.paths.constraints import ConstraintKind, PathConstraint, check_must_pass, check_never
from everpath.paths.hop_graph import build_hop_graph
from everpath.paths.mirror_v0 import mirror_v0
from everpath.paths.mirror_v1 import mirror_v1
from tests.support.everpath.graphs import package_graph
from tests.support.everpath.operation_counts import lines_run

SHAPES: dict[str, Callable[[int], str]] = {
    "a chain": lambda i: f"b{i}: b{i - 1}",
    "ranges over all below": lambda i: f"b{i}: b{i - 1} / - / <{i}.0.0",
    "ranges over the one below": lambda i: f"b{i}: - / b{i - 1} / >={i - 1}.0.0 <{i}.0.0",
}


def _count(package: PackageGraph) -> object:
    return path_counts.path_counts(build_hop_graph(package.channels), f"b{len(package.channels[0].entries)}")


def _demand(package: PackageGraph) -> object:
    hop_graph, size = build_hop_graph(package.channels), len(package.channels[0].entries)
    passing = PathConstraint(ConstraintKind.MUST_PASS, select_bundles(package, f"b{size // 2}"))
    landing = PathConstraint(ConstraintKind.NEVER, select_bundles(package, ">=2.0.0", allow_range=True))
    return (
        check_must_pass(hop_graph, passing, f"b{size}"),
        check_never(hop_graph, landing),
        check_never(hop_graph, landing, start="b1"),
    )


def _mirror(package: PackageGraph) -> object:
    return mirror_v0(package.channels), mirror_v1(package.channels)


def _show(package: PackageGraph) -> object:
    hop_graph = build_hop_graph(package.channels)
    return list(hop_graph.hops([f"b{i}" for i in range(1, len(package.channels[0].entries) + 1)]))


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("act", [_count, _demand, _mirror, _show])
@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_as_the_entries_do(shape: str, act: Callable[[PackageGraph], object]) -> None:
    def work(size: int) -> int:
        lines = (SHAPES[shape](i) for i in range(size, 1, -1))
        package = package_graph("\n".join([*lines, "b1"]))
        # Texts that were read before cost nothing the second time.
        assert package.channels[0].versions
        assert package.channels[0].ranges.keys() <= package.channels[0].versions.keys()
        return lines_run(lambda: act(package))

    # Ten times, and what the logarithm adds; a look at every edge would be a hundred times.
    assert work(400) <= 20 * work(40)


def test_paths_that_are_not_listed_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the hundreds that part at an entry only the next best does."""
    longest = 0

    def push(heap: list[Any], item: Any) -> None:
        nonlocal longest
        heappush(heap, item)
        longest = max(longest, len(heap))

    monkeypatch.setattr("everpath.paths.path_counts.heapq.heappush", push)
    lines = (SHAPES["ranges over all below"](i) for i in range(400, 1, -1))
    hop_graph = build_hop_graph(package_graph("\n".join([*lines, "b1"])).channels)
    assert len(list(islice(path_counts.paths_by_length(hop_graph, "b1", "b400"), 100))) == 100
    assert longest <= 2 * 100
