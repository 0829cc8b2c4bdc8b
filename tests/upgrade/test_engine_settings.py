"""What was set in the engine is taken back, as single decisions."""

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
from snapshots import cluster_snapshot, engine, pool

POOLS = (pool("data", 3), pool("managers", 3, roles="cluster_manager"))
SILENT = cluster_snapshot(*POOLS, view=Unreachable("timed out"))


def seen(*excluded: str, votes: Collection[str] = (), **differences: Any) -> ClusterSnapshot:
    """An engine in which these are excluded, and those from voting."""
    others = {"excluded": frozenset(excluded), "voting_exclusions": frozenset(votes), **differences}
    return cluster_snapshot(*POOLS, view=engine(POOLS, **others))


def journal(**lines: Entry) -> UpgradeLedger:
    """`excluded__taken_back` is the line `engine/excluded/taken-back`."""
    named = {name.replace("__", "/").replace("_", "-"): entry for name, entry in lines.items()}
    return UpgradeLedger.of({f"engine/{name}": entry for name, entry in named.items()})


def told(answer: Result | None) -> object:
    """The one call to the engine."""
    assert answer is not None
    [write] = answer.operations
    assert isinstance(write, EngineCall)
    return write.call


def noted(answer: Result | None) -> dict[str, Entry | None]:
    assert answer is not None
    return {note.key.removeprefix("engine/"): note.value for note in answer.ledger_changes}


def test_settings_that_the_ledger_does_not_have_are_kept() -> None:
    """I9: whatever others have set, and also where nobody could be told."""
    others = seen("data-2", votes=["managers-2"], allocation=Allocation.NONE)
    assert restore_all(others, journal()) is None
    assert restore_all(SILENT, journal()) is None


@pytest.mark.parametrize(
    "lines",
    [{"allocation": "all"}, {"excluded": ("data-0",)}, {"voting": "managers-0"}, {"leaving": ("data-0",)}],
    ids=str,
)
def test_restore_waits_while_the_engine_is_unreachable(lines: dict[str, Entry]) -> None:
    found = restore_all(SILENT, journal(**lines))
    assert found is not None
    assert (found.reason, found.deadline, found.ledger_changes) == ("EngineUnreachable", 900, ())


@pytest.mark.parametrize(
    ("before", "value"), [("all", None), ("new_primaries", Allocation.NEW_PRIMARIES)], ids=str
)
def test_allocation_is_restored_to_its_earlier_value(before: str, value: Allocation | None) -> None:
    found = restore_settings(seen(allocation=Allocation.PRIMARIES), journal(allocation=before))
    assert told(found) == SetAllocation(value)
    assert noted(found) == {"allocation/taken-back": True}
    assert found is not None
    assert not found.makes_progress


# What the engine shows, and the line that stands for what it was told.
SET: list[tuple[dict[str, Any], dict[str, Entry]]] = [
    ({"allocation": Allocation.PRIMARIES}, {"allocation": "all"}),
    ({"excluded": frozenset({"data-0"})}, {"excluded": ("data-0",)}),
    ({"voting_exclusions": frozenset({"managers-0"})}, {"voting": "managers-0"}),
    ({"excluded": frozenset({"data-0"})}, {"leaving": ("data-0",)}),
    ({"voting_exclusions": frozenset({"managers-0"})}, {"leaving_votes": ("managers-0",)}),
]


def taken_back(lines: dict[str, Entry]) -> dict[str, Entry]:
    return {**lines, **{f"{name}__taken_back": True for name in lines}}


@pytest.mark.parametrize(("shown", "lines"), SET, ids=str)
def test_ledger_entry_is_removed_after_the_restore_was_sent_and_observed(
    shown: dict[str, Any], lines: dict[str, Entry]
) -> None:
    """I9, S03: one that shows it may answer from the past, and one that was told may not have heard."""
    for answered, known in [(shown, lines), ({}, lines), (shown, taken_back(lines))]:
        again = restore_all(seen(**answered), journal(**known))
        assert told(again)
        [line] = lines
        assert noted(again)[f"{line.replace('_', '-')}/taken-back"] is True
    over = restore_all(seen(), journal(**taken_back(lines)))
    assert over is not None
    assert (over.reason, over.operations) == ("SettingsRestored", ())
    assert {line for line, value in noted(over).items() if value is None} >= {
        name.replace("__", "/").replace("_", "-") for name in taken_back(lines)
    }


def test_only_exclusions_of_the_operator_are_cleared() -> None:
    """I9."""
    found = restore_settings(
        seen("data-0", "data-1", "data-2"), journal(excluded=("data-0", "data-1")), ["data-1"]
    )
    assert told(found) == Exclude(frozenset({"data-1", "data-2"}))
    found = restore_settings(
        seen("data-1"), journal(excluded=("data-0", "data-1"), excluded__taken_back=True), ["data-1"]
    )
    assert noted(found) == {"excluded": ("data-1",), "excluded/taken-back": None}
    assert restore_settings(seen("data-1"), journal(excluded=("data-1",)), ["data-1"]) is None


def test_allocation_then_exclusions_then_votes_are_restored() -> None:
    """One thing at a time."""
    lines: dict[str, Entry] = {"allocation": "all", "excluded": ("data-0",), "voting": "managers-0"}
    view = seen("data-0", votes=["managers-0"], allocation=Allocation.PRIMARIES)
    assert told(restore_settings(view, journal(**lines))) == SetAllocation(None)
    del lines["allocation"]
    assert told(restore_settings(view, journal(**lines))) == Exclude(frozenset())
    del lines["excluded"]
    assert told(restore_settings(view, journal(**lines))) == ClearVotingExclusions()


@pytest.mark.parametrize(
    ("line", "entry"), [("voting", "managers-0"), ("leaving_votes", ("managers-0",))], ids=str
)
def test_voting_exclusions_of_users_are_set_again_after_all_were_cleared(line: str, entry: Entry) -> None:
    """I9: it forgets all of them or nobody."""
    lines = {line: entry}
    found = restore_all(seen(votes=["managers-0", "managers-1"]), journal(**lines))
    assert told(found) == ClearVotingExclusions()
    assert noted(found)["others-votes"] == ("managers-1",)
    lines = {**taken_back(lines), "others_votes": ("managers-1", "managers-2")}
    # Until they are all there again, whoever forgets in between.
    assert noted(restore_all(seen(votes=["managers-0"]), journal(**lines)))["others-votes"] == (
        "managers-1",
        "managers-2",
    )
    assert told(restore_all(seen(votes=["managers-1"]), journal(**lines))) == ExcludeFromVoting("managers-2")
    found = restore_all(seen(votes=["managers-1", "managers-2"]), journal(**lines))
    assert found is not None
    assert (found.operations, noted(found)["others-votes"]) == ((), None)


def test_voting_exclusions_of_the_operator_are_not_taken_for_those_of_users() -> None:
    """It would never be given back."""
    lines: dict[str, Entry] = {"voting": "managers-0", "leaving_votes": ("managers-1",)}
    found = restore_settings(seen(votes=["managers-0", "managers-1"]), journal(**lines))
    assert noted(found)["others-votes"] is None
    lines["voting__taken_back"] = True
    found = clear_exclusions(seen(votes=["managers-0", "managers-1"]), journal(**lines), [])
    assert noted(found)["others-votes"] is None


def test_departing_nodes_stay_excluded() -> None:
    lines: dict[str, Entry] = {"leaving": ("data-1", "data-2"), "leaving_votes": ("managers-1", "managers-2")}
    there = seen("data-0", "data-1", "data-2", votes=["managers-1", "managers-2"])
    leaving = ["data-1", "data-2", "managers-1", "managers-2"]
    assert clear_exclusions(there, journal(**lines), leaving) is None
    found = clear_exclusions(there, journal(**lines), ["data-1", "managers-1", "managers-2"])
    assert told(found) == Exclude(frozenset({"data-0", "data-1"}))
    found = clear_exclusions(
        seen("data-1"), journal(**lines, leaving__taken_back=True), ["data-1", "managers-1", "managers-2"]
    )
    assert noted(found) == {"leaving": ("data-1",), "leaving/taken-back": None}
    found = clear_exclusions(there, journal(**lines), ["data-1", "data-2", "managers-1"])
    assert told(found) == ClearVotingExclusions()
    lines["leaving_votes__taken_back"] = True
    found = clear_exclusions(seen(votes=["managers-1"]), journal(**lines), ["data-1", "data-2", "managers-1"])
    assert noted(found)["leaving-votes"] == ("managers-1",)


def test_temporary_shard_host_is_readmitted_although_it_departs() -> None:
    """S09."""
    lent = frozenset({"data-2"})
    found = clear_exclusions(
        seen("data-1", "data-2"), journal(scale_in_excluded=("data-1", "data-2")), ["data-1", "data-2"], lent
    )
    assert told(found) == Exclude(frozenset({"data-1"}))


def test_voting_exclusion_of_an_absent_voter_is_kept_while_its_vote_counts() -> None:
    """I1: it would be counted on again, and nobody could cast it."""
    lines: dict[str, Entry] = {"leaving_votes": ("@one",)}
    counted = seen(votes=["@one"], voters=frozenset({"managers-0", "managers-1", "@one"}))
    assert clear_exclusions(counted, journal(**lines), []) is None
    assert told(clear_exclusions(seen(votes=["@one"]), journal(**lines), [])) == ClearVotingExclusions()
