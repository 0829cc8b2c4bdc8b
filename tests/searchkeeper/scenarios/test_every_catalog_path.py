"""Along every upgrade path of the catalog a cluster is migrated, also if OLM replaces the operator early.

The paths are those that `simulate` finds in the catalog of searchkeeper: a new release adds its own cases.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

from everpath.graph import PackageGraph
from everpath.loaders.catalog_loader import load
from everpath.resolvers import olm_v0, olm_v1
from everpath.upgrade_path.hops import hops_from
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.commandline import ROOT
from tests.support.searchkeeper.operator_runs import (
    SMALL,
    KnownStates,
    RecordedRun,
    add_index,
    copy_cluster,
    deployed_state,
    edit_spec,
    new_cluster,
    pool,
    reconcile_until_converged,
    record_run,
    run_to_known_end,
    status,
)

CATALOG = ROOT / "catalog/searchkeeper/catalog.yaml"


def version(name: str) -> str:
    return name.removeprefix("searchkeeper.v")


@cache
def upgrade_paths() -> tuple[tuple[str, ...], ...]:
    """Every upgrade path of OLM v0 and v1, from every entry of every channel, each once."""
    [package] = load(str(CATALOG)).catalog.packages
    paths = {
        (version(name), *map(version, hops_from(hops, name)))
        for graph in PackageGraph(package).channels
        for hops in (olm_v0.next_hops(graph).next, olm_v1.next_hops(graph))
        for name in graph.entries
    }
    return tuple(sorted(paths))


@cache
def hops() -> tuple[tuple[str, str], ...]:
    return tuple(sorted({hop for path in upgrade_paths() for hop in pairwise(path)}))


@cache
def pairs_of_hops() -> tuple[tuple[str, str, str], ...]:
    """Two consecutive hops, one pair for each combination of configuration versions.

    Releases with the same configuration versions have the same reconcilers.
    """
    triples = {path[n : n + 3] for path in upgrade_paths() for n in range(len(path) - 2)}
    distinct = {tuple(release(name).configurations for name in triple): triple for triple in sorted(triples)}
    return tuple(sorted((a, b, c) for a, b, c in distinct.values()))


@cache
def deployed_by(first: str) -> FakeCluster:
    """A cluster with documents that this release has deployed."""
    cluster = new_cluster()
    reconcile_until_converged(cluster, first)
    add_index(cluster)
    reconcile_until_converged(cluster, first)
    return cluster


@cache
def known_to(last: str) -> KnownStates:
    """The states from which this release converges to one final state.

    The final state is the same for clusters of every earlier release.
    """
    return KnownStates()


@cache
def known_without_documents(last: str) -> KnownStates:
    """The same for a cluster without documents."""
    return KnownStates()


def assert_migrated(cluster: FakeCluster, last: str) -> None:
    """The cluster has the newest configuration version of the release, and all nodes are ready."""
    reported = status(cluster)
    assert reported["currentVersion"] == max(release(last).configurations)
    assert reported["engineVersion"] == "2.19.4"
    assert reported["ready"] == "5/5"
    assert not reported["ledger"]


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("path", upgrade_paths(), ids=" → ".join)
def test_cluster_is_migrated_along_every_upgrade_path(path: tuple[str, ...]) -> None:
    cluster = copy_cluster(deployed_by(path[0]))
    for name in path[1:]:
        reconcile_until_converged(cluster, name)
    assert_migrated(cluster, path[-1])


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("path", upgrade_paths(), ids=" → ".join)
def test_last_release_migrates_a_cluster_that_intermediate_releases_left_untouched(
    path: tuple[str, ...],
) -> None:
    """OLM does not wait: each release but the last is replaced before its first reconcile."""
    cluster = copy_cluster(deployed_by(path[0]))
    reconcile_until_converged(cluster, path[-1])
    assert_migrated(cluster, path[-1])


def replace_before_each_operation(before: RecordedRun, after: str, known: KnownStates) -> None:
    """Replace the operator before each operation of a run: the next one reaches its usual final state."""
    for step in before.transitions:
        run_to_known_end(FakeCluster(step.before.state), after, known)


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("hop", hops(), ids=" → ".join)
def test_operator_can_be_replaced_between_any_two_operations(hop: tuple[str, str]) -> None:
    before, after = hop
    complete = new_cluster()
    reconcile_until_converged(complete, after)
    record_run(complete, after, known_without_documents(after))
    assert_migrated(complete, after)
    replace_before_each_operation(record_run(new_cluster(), before), after, known_without_documents(after))


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("hops", pairs_of_hops(), ids=" → ".join)
def test_next_release_can_take_over_a_migration_between_any_two_operations(
    hops: tuple[str, str, str],
) -> None:
    first, second, third = hops
    complete = copy_cluster(deployed_by(first))
    record_run(complete, third, known_to(third))
    assert_migrated(complete, third)
    replace_before_each_operation(
        record_run(copy_cluster(deployed_by(first)), second), third, known_to(third)
    )


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("hop", [("0.1.1", "0.2.0"), ("0.3.1", "0.4.0"), ("0.4.0", "0.5.0")], ids=" → ".join)
def test_operator_can_crash_between_any_two_operations_of_a_migration(hop: tuple[str, str]) -> None:
    before, after = hop
    replace_before_each_operation(
        record_run(copy_cluster(deployed_by(before)), after), after, known_to(after)
    )


@pytest.mark.exhaustive
def test_operator_can_crash_between_any_two_operations_of_an_engine_upgrade() -> None:
    cluster = edit_spec(copy_cluster(deployed_by("0.5.0")), version="3.4.0")
    complete = record_run(cluster, "0.5.0")
    replace_before_each_operation(complete, "0.5.0", complete.known)
    assert status(cluster)["engineVersion"] == "3.4.0"
    assert not status(cluster)["ledger"]
    assert {node.version for node in cluster.state.engine.nodes} == {"3.4.0"}


@cache
def with_pool_removed(version: str) -> FakeCluster:
    """A cluster with documents on every node whose spec has lost one pool."""
    cluster = new_cluster(*SMALL, pool("more", 1, "data"))
    reconcile_until_converged(cluster, version)
    for name in ("books", "films", "songs"):
        add_index(cluster, name, replicas=0)
    reconcile_until_converged(cluster, version)
    return edit_spec(cluster, pools=list(SMALL))


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("hop", [("0.2.2", "0.3.1"), ("0.3.1", "0.4.0"), ("0.4.0", "0.5.0")], ids=" → ".join)
def test_operator_can_be_replaced_at_any_operation_of_a_scale_in(
    hop: tuple[str, str],
) -> None:
    before, after = hop
    cluster = copy_cluster(with_pool_removed(before))
    complete = record_run(cluster, after)
    assert_migrated(cluster, after)
    replace_before_each_operation(complete, after, complete.known)
    replace_before_each_operation(
        record_run(copy_cluster(with_pool_removed(before)), before), after, complete.known
    )


@pytest.mark.exhaustive
def test_upgrade_paths_to_the_same_release_end_in_the_same_state() -> None:
    final_states: dict[str, list[object]] = {}
    for path in upgrade_paths():
        cluster = copy_cluster(deployed_by(path[0]))
        for name in path[1:]:
            reconcile_until_converged(cluster, name)
        final_states.setdefault(path[-1], []).append(deployed_state(cluster.state))
    for states in final_states.values():
        assert all(state == states[0] for state in states)
