"""Engine settings: how they are restored."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.opensearch.calls import (
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    Flush,
    SetAllocation,
    TakeSnapshot,
)
from searchkeeper.opensearch.view import Allocation, EngineView, Unreachable
from searchkeeper.planner import Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.engine_settings import (
    clear_exclusions,
    exclusion_call,
    recovered_settings,
    restore_all,
    restore_settings,
)
from searchkeeper.upgrade.ledger import EXCLUDED, UpgradeLedger
from tests.support.searchkeeper.rollouts import engine_calls
from tests.support.searchkeeper.snapshots import cluster_snapshot, engine, pool

POOLS = (pool("data", 3), pool("managers", 3, roles="cluster_manager"))
UNREACHABLE = cluster_snapshot(*POOLS, view=Unreachable("timed out"))


def observed_cluster(*excluded: str, votes: Collection[str] = (), **changes: Any) -> ClusterSnapshot:
    """Return a snapshot whose engine has these exclusions from allocation and from voting."""
    others = {"excluded": frozenset(excluded), "voting_exclusions": frozenset(votes), **changes}
    return cluster_snapshot(*POOLS, view=engine(POOLS, **others))


def ledger_with(**entries: Entry) -> UpgradeLedger:
    """Return a ledger. `excluded__taken_back` is the key `engine/excluded/taken-back`."""
    keys = {name.replace("__", "/").replace("_", "-"): entry for name, entry in entries.items()}
    return UpgradeLedger.of({f"engine/{name}": entry for name, entry in keys.items()})


def engine_call(result: Result | None) -> object:
    """Return the only call to the engine, without its changes of the engine's record."""
    assert result is not None
    calls = engine_calls(result)
    assert len(calls) == 1, result.reason
    return calls[0]


def engine_ledger_changes(result: Result | None) -> dict[str, Entry | None]:
    assert result is not None
    return {change.key.removeprefix("engine/"): change.value for change in result.ledger_changes}


def test_settings_that_the_ledger_does_not_have_are_kept() -> None:
    """I9: also settings of users, and also while the engine is unreachable."""
    others = observed_cluster("data-2", votes=["managers-2"], allocation=Allocation.NONE)
    assert restore_all(others, ledger_with()) is None
    assert restore_all(UNREACHABLE, ledger_with()) is None


@pytest.mark.parametrize(
    "entries",
    [{"allocation": "all"}, {"excluded": ("data-0",)}, {"voting": "managers-0"}, {"leaving": ("data-0",)}],
    ids=str,
)
def test_restore_waits_while_the_engine_is_unreachable(entries: dict[str, Entry]) -> None:
    result = restore_all(UNREACHABLE, ledger_with(**entries))
    assert result is not None
    assert (result.reason, result.deadline, result.ledger_changes) == ("EngineUnreachable", 900, ())


@pytest.mark.parametrize(
    ("before", "value"), [("all", None), ("new_primaries", Allocation.NEW_PRIMARIES)], ids=str
)
def test_allocation_is_restored_to_its_earlier_value(before: str, value: Allocation | None) -> None:
    result = restore_settings(
        observed_cluster(allocation=Allocation.PRIMARIES), ledger_with(allocation=before)
    )
    assert engine_call(result) == SetAllocation(value)
    assert engine_ledger_changes(result) == {"allocation/taken-back": True}
    assert result is not None
    assert not result.makes_progress


# A setting of the engine, and its ledger entry.
SET: list[tuple[dict[str, Any], dict[str, Entry]]] = [
    ({"allocation": Allocation.PRIMARIES}, {"allocation": "all"}),
    ({"excluded": frozenset({"data-0"})}, {"excluded": ("data-0",)}),
    ({"voting_exclusions": frozenset({"managers-0"})}, {"voting": "managers-0"}),
    ({"excluded": frozenset({"data-0"})}, {"leaving": ("data-0",)}),
    ({"voting_exclusions": frozenset({"managers-0"})}, {"leaving_votes": ("managers-0",)}),
]


def restored_entries(entries: dict[str, Entry]) -> dict[str, Entry]:
    return {**entries, **{f"{name}__taken_back": True for name in entries}}


@pytest.mark.parametrize(("setting", "entries"), SET, ids=str)
def test_ledger_entry_is_removed_after_the_restore_was_sent_and_observed(
    setting: dict[str, Any], entries: dict[str, Entry]
) -> None:
    """I9, S03: a response may be stale, and a call may be lost: both have to confirm the restore."""
    for observed, recorded in [(setting, entries), ({}, entries), (setting, restored_entries(entries))]:
        retried = restore_all(observed_cluster(**observed), ledger_with(**recorded))
        assert engine_call(retried)
        [key] = entries
        assert engine_ledger_changes(retried)[f"{key.replace('_', '-')}/taken-back"] is True
    confirmed = restore_all(observed_cluster(), ledger_with(**restored_entries(entries)))
    assert confirmed is not None
    assert (confirmed.reason, confirmed.operations) == ("SettingsRestored", ())
    assert {key for key, value in engine_ledger_changes(confirmed).items() if value is None} >= {
        name.replace("__", "/").replace("_", "-") for name in restored_entries(entries)
    }


def test_only_exclusions_of_the_operator_are_cleared() -> None:
    """I9."""
    result = restore_settings(
        observed_cluster("data-0", "data-1", "data-2"), ledger_with(excluded=("data-0", "data-1")), ["data-1"]
    )
    assert engine_call(result) == Exclude(frozenset({"data-1", "data-2"}))
    result = restore_settings(
        observed_cluster("data-1"),
        ledger_with(excluded=("data-0", "data-1"), excluded__taken_back=True),
        ["data-1"],
    )
    assert engine_ledger_changes(result) == {"excluded": ("data-1",), "excluded/taken-back": None}
    assert restore_settings(observed_cluster("data-1"), ledger_with(excluded=("data-1",)), ["data-1"]) is None


def test_allocation_then_exclusions_then_votes_are_restored() -> None:
    """One call a step."""
    entries: dict[str, Entry] = {"allocation": "all", "excluded": ("data-0",), "voting": "managers-0"}
    snapshot = observed_cluster("data-0", votes=["managers-0"], allocation=Allocation.PRIMARIES)
    assert engine_call(restore_settings(snapshot, ledger_with(**entries))) == SetAllocation(None)
    del entries["allocation"]
    assert engine_call(restore_settings(snapshot, ledger_with(**entries))) == Exclude(frozenset())
    del entries["excluded"]
    assert engine_call(restore_settings(snapshot, ledger_with(**entries))) == ClearVotingExclusions()


@pytest.mark.parametrize(
    ("key", "entry"), [("voting", "managers-0"), ("leaving_votes", ("managers-0",))], ids=str
)
def test_voting_exclusions_of_users_are_set_again_after_all_were_cleared(key: str, entry: Entry) -> None:
    """I9: the engine can only clear all voting exclusions at once."""
    entries = {key: entry}
    result = restore_all(observed_cluster(votes=["managers-0", "managers-1"]), ledger_with(**entries))
    assert engine_call(result) == ClearVotingExclusions()
    assert engine_ledger_changes(result)["others-votes"] == ("managers-1",)
    entries = {**restored_entries(entries), "others_votes": ("managers-1", "managers-2")}
    # They stay in the ledger until the engine has all of them again.
    assert engine_ledger_changes(restore_all(observed_cluster(votes=["managers-0"]), ledger_with(**entries)))[
        "others-votes"
    ] == (
        "managers-1",
        "managers-2",
    )
    assert engine_call(
        restore_all(observed_cluster(votes=["managers-1"]), ledger_with(**entries))
    ) == ExcludeFromVoting("managers-2")
    result = restore_all(observed_cluster(votes=["managers-1", "managers-2"]), ledger_with(**entries))
    assert result is not None
    assert (result.operations, engine_ledger_changes(result)["others-votes"]) == ((), None)


def test_voting_exclusions_of_the_operator_are_not_taken_for_those_of_users() -> None:
    """Otherwise it would never be cleared."""
    entries: dict[str, Entry] = {"voting": "managers-0", "leaving_votes": ("managers-1",)}
    result = restore_settings(observed_cluster(votes=["managers-0", "managers-1"]), ledger_with(**entries))
    assert engine_ledger_changes(result)["others-votes"] is None
    entries["voting__taken_back"] = True
    result = clear_exclusions(
        observed_cluster(votes=["managers-0", "managers-1"]), ledger_with(**entries), []
    )
    assert engine_ledger_changes(result)["others-votes"] is None


def test_departing_nodes_stay_excluded() -> None:
    entries: dict[str, Entry] = {
        "leaving": ("data-1", "data-2"),
        "leaving_votes": ("managers-1", "managers-2"),
    }
    snapshot = observed_cluster("data-0", "data-1", "data-2", votes=["managers-1", "managers-2"])
    leaving = ["data-1", "data-2", "managers-1", "managers-2"]
    assert clear_exclusions(snapshot, ledger_with(**entries), leaving) is None
    result = clear_exclusions(snapshot, ledger_with(**entries), ["data-1", "managers-1", "managers-2"])
    assert engine_call(result) == Exclude(frozenset({"data-0", "data-1"}))
    result = clear_exclusions(
        observed_cluster("data-1"),
        ledger_with(**entries, leaving__taken_back=True),
        ["data-1", "managers-1", "managers-2"],
    )
    assert engine_ledger_changes(result) == {"leaving": ("data-1",), "leaving/taken-back": None}
    result = clear_exclusions(snapshot, ledger_with(**entries), ["data-1", "data-2", "managers-1"])
    assert engine_call(result) == ClearVotingExclusions()
    entries["leaving_votes__taken_back"] = True
    result = clear_exclusions(
        observed_cluster(votes=["managers-1"]), ledger_with(**entries), ["data-1", "data-2", "managers-1"]
    )
    assert engine_ledger_changes(result)["leaving-votes"] == ("managers-1",)


def test_temporary_shard_host_is_readmitted_although_it_departs() -> None:
    """S09."""
    hosts = frozenset({"data-2"})
    result = clear_exclusions(
        observed_cluster("data-1", "data-2"),
        ledger_with(scale_in_excluded=("data-1", "data-2")),
        ["data-1", "data-2"],
        hosts,
    )
    assert engine_call(result) == Exclude(frozenset({"data-1"}))


def test_voting_exclusion_of_an_absent_voter_is_kept_while_its_vote_counts() -> None:
    """I1: otherwise the vote would count again, and no node could cast it."""
    entries: dict[str, Entry] = {"leaving_votes": ("@one",)}
    counted = observed_cluster(votes=["@one"], voters=frozenset({"managers-0", "managers-1", "@one"}))
    assert clear_exclusions(counted, ledger_with(**entries), []) is None
    assert (
        engine_call(clear_exclusions(observed_cluster(votes=["@one"]), ledger_with(**entries), []))
        == ClearVotingExclusions()
    )


def records(result: Result | None) -> dict[str, str | None]:
    """Return how the only call to the engine changes its record."""
    assert result is not None
    [operation] = result.operations
    assert isinstance(operation, EngineCall)
    assert not isinstance(operation.call, Flush | TakeSnapshot)
    return dict(operation.call.record)


def test_restore_removes_the_record_with_the_setting() -> None:
    allocation = observed_cluster(allocation=Allocation.PRIMARIES, record=(("allocation", '"all"'),))
    assert records(restore_settings(allocation, ledger_with(allocation="all"))) == {"allocation": None}
    excluded = observed_cluster("data-0", "data-1", record=(("excluded", '["data-0","data-1"]'),))
    ledger = ledger_with(excluded=("data-0", "data-1"), leaving=("data-1", "data-2"))
    assert records(restore_settings(excluded, ledger, ["data-1"])) == {
        "excluded": '["data-1"]',
        "leaving": '["data-1"]',
    }


def test_exclusion_call_records_the_nodes_of_rollout_and_scale_in() -> None:
    """A call that arrives late excludes both again. Names of the ledger that it does not exclude are not."""
    ledger = ledger_with(excluded=("data-0",), leaving=("data-1", "data-2"))
    call = exclusion_call(
        ledger, EXCLUDED, frozenset({"data-0", "data-3"}), frozenset({"data-0", "data-1", "data-3", "user-0"})
    )
    assert isinstance(call.call, Exclude)
    assert dict(call.call.record) == {"excluded": '["data-0","data-3"]', "leaving": '["data-1"]'}


@pytest.mark.parametrize(
    ("entries", "record"),
    [
        (
            {"allocation": "all"},
            ("allocation", '"all"'),
        ),
        (
            {"excluded": ("data-0",)},
            ("excluded", '["data-0"]'),
        ),
        (
            {"leaving": ("data-0",)},
            ("leaving", '["data-0"]'),
        ),
        (
            {"voting": "managers-0"},
            ("voting", '"managers-0"'),
        ),
        (
            {"leaving-votes": ("managers-0",)},
            ("leaving-votes", '["managers-0"]'),
        ),
    ],
    ids=str,
)
def test_entry_stays_in_the_ledger_until_the_record_has_lost_it(
    entries: dict[str, Entry], record: tuple[str, str]
) -> None:
    """A lost status would otherwise bring the entry back."""
    [key] = entries
    ledger = ledger_with(**entries, **{f"{key}__taken_back": True})
    recorded = restore_all(observed_cluster(record=(record,)), ledger)
    assert records(recorded).items() >= {key: None}.items()
    assert key not in engine_ledger_changes(recorded)
    assert engine_ledger_changes(restore_all(observed_cluster(), ledger))[key] is None


def recovered_entries(ledger: UpgradeLedger, *record: tuple[str, str]) -> dict[str, Entry | None]:
    view = observed_cluster(record=record).engine
    assert isinstance(view, EngineView)
    return recovered_settings(view, ledger)


def test_entries_of_the_record_are_recovered() -> None:
    record = ("allocation", '"none"'), ("leaving", '["data-1"]')
    assert recovered_entries(ledger_with(), *record) == {
        "engine/allocation": "none",
        "engine/leaving": ("data-1",),
    }
    assert recovered_entries(ledger_with(allocation="all", leaving=("data-0", "data-1")), *record) == {}


def test_names_that_only_the_record_has_are_added() -> None:
    """A late call has excluded data-1 again; its undo counts no more."""
    ledger = ledger_with(excluded=("data-0",), excluded__taken_back=True)
    assert recovered_entries(ledger, ("excluded", '["data-1"]')) == {
        EXCLUDED: ("data-0", "data-1"),
        f"{EXCLUDED}/taken-back": None,
    }


@pytest.mark.parametrize("text", ["", "none", "{}", "7", '{"a": 1}', "[" * 100_000])
def test_malformed_record_is_ignored(text: str) -> None:
    assert recovered_entries(ledger_with(), ("allocation", text), ("of-a-newer-release", '"x"')) == {}


def test_voting_exclusions_of_users_are_set_again_after_a_late_call() -> None:
    """The late call has cleared all voting exclusions, and its record says which were not the operator's."""
    record = (("others-votes", '["managers-2"]'),)
    ledger = ledger_with(others_votes=("managers-2",))
    cleared = clear_exclusions(observed_cluster(record=record), ledger, ())
    assert engine_call(cleared) == ExcludeFromVoting("managers-2")
    set_again = clear_exclusions(observed_cluster(votes=["managers-2"], record=record), ledger, ())
    assert records(set_again) == {"others-votes": None}
    done = clear_exclusions(observed_cluster(votes=["managers-2"]), ledger, ())
    assert engine_ledger_changes(done) == {"others-votes": None}
