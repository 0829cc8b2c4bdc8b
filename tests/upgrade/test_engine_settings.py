"""How engine settings are restored."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.opensearch.calls import ClearVotingExclusions, Exclude, ExcludeFromVoting, SetAllocation
from searchkeeper.opensearch.view import Allocation, Unreachable
from searchkeeper.planner import Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.engine_settings import clear_exclusions, restore_all, restore_settings
from searchkeeper.upgrade.ledger import UpgradeLedger
from worlds import engine, pool, world

POOLS = (pool("data", 3), pool("managers", 3, roles="cluster_manager"))
SILENT = world(*POOLS, snapshot=Unreachable("timed out"))


def snapshot_of(*excluded: str, votes: Collection[str] = (), **differences: Any) -> ClusterSnapshot:
    """An engine that excludes these nodes from allocation and `votes` from voting."""
    others = {"excluded": frozenset(excluded), "voting_exclusions": frozenset(votes), **differences}
    return world(*POOLS, snapshot=engine(POOLS, **others))


def ledger_of(**lines: Entry) -> UpgradeLedger:
    """`excluded__taken_back` stands for the key `engine/excluded/taken-back`."""
    named = {name.replace("__", "/").replace("_", "-"): entry for name, entry in lines.items()}
    return UpgradeLedger.of({f"engine/{name}": entry for name, entry in named.items()})


def engine_call(answer: Result | None) -> object:
    """Return the single engine call of a result."""
    assert answer is not None
    [write] = answer.operations
    assert isinstance(write, EngineCall)
    return write.call


def changes(answer: Result | None) -> dict[str, Entry | None]:
    assert answer is not None
    return {note.key.removeprefix("engine/"): note.value for note in answer.ledger_changes}


def test_nothing_is_restored_that_is_not_recorded() -> None:
    """I9: settings of users stay, and an unreachable engine does not matter."""
    others = snapshot_of("data-2", votes=["managers-2"], allocation=Allocation.NONE)
    assert restore_all(others, ledger_of()) is None
    assert restore_all(SILENT, ledger_of()) is None


@pytest.mark.parametrize(
    "lines",
    [{"allocation": "all"}, {"excluded": ("data-0",)}, {"voting": "managers-0"}, {"leaving": ("data-0",)}],
    ids=str,
)
def test_restore_waits_for_an_unreachable_engine(lines: dict[str, Entry]) -> None:
    found = restore_all(SILENT, ledger_of(**lines))
    assert found is not None
    assert (found.reason, found.deadline, found.ledger_changes) == ("EngineUnreachable", 900, ())


@pytest.mark.parametrize(
    ("before", "value"), [("all", None), ("new_primaries", Allocation.NEW_PRIMARIES)], ids=str
)
def test_allocation_is_restored_to_the_value_before(before: str, value: Allocation | None) -> None:
    found = restore_settings(snapshot_of(allocation=Allocation.PRIMARIES), ledger_of(allocation=before))
    assert engine_call(found) == SetAllocation(value)
    assert changes(found) == {"allocation/taken-back": True}
    assert found is not None
    assert not found.makes_progress


# What the engine shows, and the ledger entry of the setting.
SET: list[tuple[dict[str, Any], dict[str, Entry]]] = [
    ({"allocation": Allocation.PRIMARIES}, {"allocation": "all"}),
    ({"excluded": frozenset({"data-0"})}, {"excluded": ("data-0",)}),
    ({"voting_exclusions": frozenset({"managers-0"})}, {"voting": "managers-0"}),
    ({"excluded": frozenset({"data-0"})}, {"leaving": ("data-0",)}),
    ({"voting_exclusions": frozenset({"managers-0"})}, {"leaving_votes": ("managers-0",)}),
]


def with_undo_sent(lines: dict[str, Entry]) -> dict[str, Entry]:
    return {**lines, **{f"{name}__taken_back": True for name in lines}}


@pytest.mark.parametrize(("shown", "lines"), SET, ids=str)
def test_entry_is_removed_when_the_undo_was_sent_and_the_engine_shows_it(
    shown: dict[str, Any], lines: dict[str, Entry]
) -> None:
    """I9, S03: a read may be stale, and a call may be lost."""
    for answered, known in [(shown, lines), ({}, lines), (shown, with_undo_sent(lines))]:
        again = restore_all(snapshot_of(**answered), ledger_of(**known))
        assert engine_call(again)
        [line] = lines
        assert changes(again)[f"{line.replace('_', '-')}/taken-back"] is True
    over = restore_all(snapshot_of(), ledger_of(**with_undo_sent(lines)))
    assert over is not None
    assert (over.reason, over.operations) == ("SettingsRestored", ())
    assert {line for line, value in changes(over).items() if value is None} >= {
        name.replace("__", "/").replace("_", "-") for name in with_undo_sent(lines)
    }


def test_only_recorded_exclusions_are_undone() -> None:
    """I9."""
    found = restore_settings(
        snapshot_of("data-0", "data-1", "data-2"), ledger_of(excluded=("data-0", "data-1")), ["data-1"]
    )
    assert engine_call(found) == Exclude(frozenset({"data-1", "data-2"}))
    found = restore_settings(
        snapshot_of("data-1"), ledger_of(excluded=("data-0", "data-1"), excluded__taken_back=True), ["data-1"]
    )
    assert changes(found) == {"excluded": ("data-1",), "excluded/taken-back": None}
    assert restore_settings(snapshot_of("data-1"), ledger_of(excluded=("data-1",)), ["data-1"]) is None


def test_allocation_is_restored_first_then_exclusions_then_votes() -> None:
    """One setting a reconcile."""
    lines: dict[str, Entry] = {"allocation": "all", "excluded": ("data-0",), "voting": "managers-0"}
    view = snapshot_of("data-0", votes=["managers-0"], allocation=Allocation.PRIMARIES)
    assert engine_call(restore_settings(view, ledger_of(**lines))) == SetAllocation(None)
    del lines["allocation"]
    assert engine_call(restore_settings(view, ledger_of(**lines))) == Exclude(frozenset())
    del lines["excluded"]
    assert engine_call(restore_settings(view, ledger_of(**lines))) == ClearVotingExclusions()


@pytest.mark.parametrize(
    ("line", "entry"), [("voting", "managers-0"), ("leaving_votes", ("managers-0",))], ids=str
)
def test_voting_exclusions_of_users_are_set_again(line: str, entry: Entry) -> None:
    """I9: the engine clears all voting exclusions or none."""
    lines = {line: entry}
    found = restore_all(snapshot_of(votes=["managers-0", "managers-1"]), ledger_of(**lines))
    assert engine_call(found) == ClearVotingExclusions()
    assert changes(found)["others-votes"] == ("managers-1",)
    lines = {**with_undo_sent(lines), "others_votes": ("managers-1", "managers-2")}
    # The record stays until all are set again.
    assert changes(restore_all(snapshot_of(votes=["managers-0"]), ledger_of(**lines)))["others-votes"] == (
        "managers-1",
        "managers-2",
    )
    assert engine_call(
        restore_all(snapshot_of(votes=["managers-1"]), ledger_of(**lines))
    ) == ExcludeFromVoting("managers-2")
    found = restore_all(snapshot_of(votes=["managers-1", "managers-2"]), ledger_of(**lines))
    assert found is not None
    assert (found.operations, changes(found)["others-votes"]) == ((), None)


def test_recorded_voting_exclusion_is_not_taken_for_a_users() -> None:
    """Otherwise it would be set again and never end."""
    lines: dict[str, Entry] = {"voting": "managers-0", "leaving_votes": ("managers-1",)}
    found = restore_settings(snapshot_of(votes=["managers-0", "managers-1"]), ledger_of(**lines))
    assert changes(found)["others-votes"] is None
    lines["voting__taken_back"] = True
    found = clear_exclusions(snapshot_of(votes=["managers-0", "managers-1"]), ledger_of(**lines), [])
    assert changes(found)["others-votes"] is None


def test_departing_nodes_stay_excluded() -> None:
    lines: dict[str, Entry] = {"leaving": ("data-1", "data-2"), "leaving_votes": ("managers-1", "managers-2")}
    there = snapshot_of("data-0", "data-1", "data-2", votes=["managers-1", "managers-2"])
    leaving = ["data-1", "data-2", "managers-1", "managers-2"]
    assert clear_exclusions(there, ledger_of(**lines), leaving) is None
    found = clear_exclusions(there, ledger_of(**lines), ["data-1", "managers-1", "managers-2"])
    assert engine_call(found) == Exclude(frozenset({"data-0", "data-1"}))
    found = clear_exclusions(
        snapshot_of("data-1"),
        ledger_of(**lines, leaving__taken_back=True),
        ["data-1", "managers-1", "managers-2"],
    )
    assert changes(found) == {"leaving": ("data-1",), "leaving/taken-back": None}
    found = clear_exclusions(there, ledger_of(**lines), ["data-1", "data-2", "managers-1"])
    assert engine_call(found) == ClearVotingExclusions()
    lines["leaving_votes__taken_back"] = True
    found = clear_exclusions(
        snapshot_of(votes=["managers-1"]), ledger_of(**lines), ["data-1", "data-2", "managers-1"]
    )
    assert changes(found)["leaving-votes"] == ("managers-1",)


def test_temporary_shard_host_is_no_longer_excluded() -> None:
    """S09."""
    lent = frozenset({"data-2"})
    found = clear_exclusions(
        snapshot_of("data-1", "data-2"),
        ledger_of(scale_in_excluded=("data-1", "data-2")),
        ["data-1", "data-2"],
        lent,
    )
    assert engine_call(found) == Exclude(frozenset({"data-1"}))


def test_voting_exclusion_of_an_absent_voter_stays_while_it_counts() -> None:
    """I1: otherwise its vote would count again although it is absent."""
    lines: dict[str, Entry] = {"leaving_votes": ("@one",)}
    counted = snapshot_of(votes=["@one"], voters=frozenset({"managers-0", "managers-1", "@one"}))
    assert clear_exclusions(counted, ledger_of(**lines), []) is None
    assert (
        engine_call(clear_exclusions(snapshot_of(votes=["@one"]), ledger_of(**lines), []))
        == ClearVotingExclusions()
    )
