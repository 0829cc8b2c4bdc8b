"""What Kubernetes is given to replace, and when."""

from __future__ import annotations

from dataclasses import replace

from searchkeeper.kernel import Answer, Ledger
from searchkeeper.observed import Observed, Pod, PoolView
from searchkeeper.upgrade.handing import handed_over, partition
from searchkeeper.upgrade.journal import PARTITION, Journal
from worlds import NEW, engine, pod, pool, world

MANAGER = pool("managers", 1, roles="cluster_manager")


def current(name: str, **differences: object) -> Pod:
    return replace(pod(name, template="new", engine_version=NEW), **differences)  # type: ignore[arg-type]


def routers(*members: Pod) -> PoolView:
    return pool("routers", len(members), roles="coordinating", pods=members)


def answer(seen: Observed, home: PoolView, lowest: int | None = None) -> Answer:
    ledger = {} if lowest is None else {PARTITION: ("routers", "new", lowest)}
    return handed_over(seen, Journal(Ledger.of(ledger)), home)


def test_nobody_is_given_away_before_it_is_decided() -> None:
    home = routers(pod("routers-0"), pod("routers-1"))
    assert partition(home, "new", Journal(Ledger())) == 2


def test_a_pool_without_stale_pods_holds_nobody_back() -> None:
    assert partition(routers(current("routers-0")), "new", Journal(Ledger())) == 0


def test_what_was_decided_for_another_template_does_not_count() -> None:
    journal = Journal(Ledger.of({PARTITION: ("routers", "older", 0)}))
    assert partition(routers(pod("routers-0")), "new", journal) == 1


def test_the_highest_goes_first() -> None:
    home = routers(pod("routers-0"), pod("routers-1"))
    notes = {note.key: note.value for note in answer(world(home, MANAGER), home).notes}
    assert notes[PARTITION] == ("routers", "new", 1)


def test_a_batch_is_waited_for_until_it_is_of_the_newest_template() -> None:
    home = routers(pod("routers-0"), pod("routers-1"))
    assert answer(world(home, MANAGER), home, 1).reason == "KubernetesReplaces"


def test_a_batch_is_waited_for_until_it_is_ready() -> None:
    home = routers(pod("routers-0"), current("routers-1", is_ready=False))
    assert answer(world(home, MANAGER), home, 1).reason == "KubernetesReplaces"


def test_a_batch_is_waited_for_until_it_has_joined() -> None:
    home = routers(pod("routers-0"), current("routers-1"))
    lonely = engine([routers(pod("routers-0")), MANAGER])
    assert answer(world(home, MANAGER, seen=lonely), home, 1).reason == "KubernetesReplaces"


def test_the_gates_are_asked_before_each_batch() -> None:
    home = routers(pod("routers-0"), current("routers-1"))
    assert answer(world(home, MANAGER, paused=True), home, 1).reason == "NotPaused"
    assert answer(world(home, MANAGER), home, 1).reason == "HandingOver"
