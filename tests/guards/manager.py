"""The process around the decisions: what every write passes, and who has the Lease."""

from __future__ import annotations

__all__ = ["GUARDS"]

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from guards.taking_away import Guard, Patch, gone, heedless, instead, together
from searchkeeper.manager import leader_election
from searchkeeper.manager.fencing import Fence, FencedApi, FencedEngine
from searchkeeper.manager.leader_election import LeaderLease, NotLeader

FENCE: Final = "manager/test_fence.py::"
LEASE: Final = "manager/test_lease.py::"
WRITES: Final = ("create", "patch", "patch_status", "delete", "record")


def unfenced(name: str) -> Callable[..., Any]:
    """Straight to the API server."""
    return lambda fenced, *given: getattr(fenced.kube, name)(*given)


def by_name_alone(this: LeaderLease) -> None:
    found = this._kube.get(this._key)
    if found is None or found["spec"]["holderIdentity"] != this.identity:
        raise NotLeader("somebody else has the lease")


def by_epoch_alone(this: LeaderLease) -> None:
    found = this._kube.get(this._key)
    if found is None or found["spec"]["leaseTransitions"] != this.epoch:
        raise NotLeader("the lease is of another epoch")


def in_no_time(patch: Patch) -> None:
    """However long a look at the Lease takes, it is as if it had taken no time."""
    plain = LeaderLease.confirm

    def confirm(this: LeaderLease) -> None:
        moment, clock = this._clock(), this._clock
        this._clock = lambda: moment
        try:
            plain(this)
        finally:
            this._clock = clock

    patch.setattr(LeaderLease, "confirm", confirm)


def used_to_the_end(this: LeaderLease) -> bool:
    return this._epoch is not None and this._clock() < this._valid_until + this.duration / 3


def counted_from_the_answer(patch: Patch) -> None:
    plain = LeaderLease.keep

    def keep(this: LeaderLease) -> bool:
        plain(this)
        this._valid_until = this._clock() + this.duration * 2 / 3
        return this.is_ours

    patch.setattr(LeaderLease, "keep", keep)


def silent_for_ever(patch: Patch) -> None:
    """Whoever has it has been silent for too long already."""
    plain = LeaderLease._look
    patch.setattr(LeaderLease, "_look", lambda this, found: replace(plain(this, found), at=float("-inf")))


def silent_for_as_long_as_we_may_be(patch: Patch) -> None:
    plain = LeaderLease._look
    patch.setattr(
        LeaderLease, "_look", lambda this, found: replace(plain(this, found), duration=this.duration)
    )


def given_back_for_a_moment(patch: Patch) -> None:
    plain = LeaderLease.release

    def release(this: LeaderLease) -> None:
        plain(this)
        this._is_given_back = False

    patch.setattr(LeaderLease, "release", release)


@contextmanager
def counted_late(this: Fence) -> Iterator[None]:
    """Who asks whether it may pass is not under way yet."""
    this.check_open()
    this._lease.confirm()
    with this._lock:
        this._under_way += 1
    yield
    with this._lock:
        this._under_way -= 1


GUARDS: Final = (
    Guard(
        "the Lease is read before every write",
        gone(LeaderLease, "confirm"),
        FENCE + "test_nobody_passes_without_the_lease",
    ),
    *(
        Guard(
            f"`{name}` passes the fence",
            instead(FencedApi, name, unfenced(name)),
            LEASE + "test_every_write_is_fenced",
            (name,),
        )
        for name in WRITES
    ),
    Guard(
        "calls to the engine are fenced too",
        instead(FencedEngine, "execute", lambda fenced, call: fenced.driver.execute(call)),
        LEASE + "test_the_engine_is_fenced_too",
    ),
    Guard(
        "its holder is compared",
        instead(LeaderLease, "confirm", by_epoch_alone),
        LEASE + "test_a_lease_that_was_deleted_and_made_anew_is_another",
    ),
    Guard(
        "its epoch is compared",
        instead(LeaderLease, "confirm", by_name_alone),
        LEASE + "test_a_lease_that_was_lost_and_taken_by_the_same_name_is_another",
    ),
    Guard(
        "a third of its time is not used",
        instead(LeaderLease, "is_ours", property(used_to_the_end)),
        LEASE + "test_the_silent_stop_before_anybody_else_may_begin",
    ),
    Guard(
        "its time is counted from before the request",
        counted_from_the_answer,
        LEASE + "test_a_renewal_that_takes_long_is_one_of_the_moment_when_it_was_asked_for",
    ),
    Guard(
        "a look at it that takes too long confirms nothing",
        in_no_time,
        LEASE + "test_a_look_that_takes_too_long_confirms_nothing",
    ),
    Guard(
        "others' silence is counted by our own clock",
        silent_for_ever,
        LEASE + "test_the_silent_lose_it_after_its_duration_and_not_before",
    ),
    Guard(
        "others may be silent for as long as they have said",
        silent_for_as_long_as_we_may_be,
        LEASE + "test_whoever_may_be_silent_for_longer_is_waited_for_as_long",
    ),
    Guard(
        "of two who reach for it one gets it",
        instead(leader_election, "Patch", heedless),
        LEASE + "test_two_who_reach_for_it_together_do_not_both_get_it",
    ),
    Guard(
        "who has lost it gives nothing back",
        gone(leader_election, "_is", True),
        LEASE + "test_whoever_has_lost_it_gives_nothing_back",
    ),
    Guard(
        "a Lease that was given back is not taken again",
        given_back_for_a_moment,
        LEASE + "test_whoever_has_given_it_back_does_not_take_it_again",
    ),
    Guard(
        "no write is begun after a signal",
        gone(Fence, "get_state"),
        FENCE + "test_nobody_passes_once_it_is_shut",
    ),
    Guard(
        "looks end with the signal",
        together(
            instead(FencedApi, "get", unfenced("get")),
            instead(FencedApi, "list", unfenced("list")),
            instead(FencedEngine, "get_state", lambda fenced: fenced.driver.get_state()),
        ),
        "manager/test_ending.py::test_nobody_looks_any_further_when_the_end_was_asked_for",
    ),
    Guard(
        "writes under way are counted",
        instead(Fence, "is_quiet", True),
        FENCE + "test_it_is_quiet_when_the_last_write_is_over",
    ),
    Guard(
        "who asks to pass is counted already",
        instead(Fence, "passed", counted_late),
        FENCE + "test_whoever_asks_to_pass_is_counted_already",
    ),
)
