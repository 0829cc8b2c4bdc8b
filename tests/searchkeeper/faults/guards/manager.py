"""Guards of the process around the planner: the fence in front of writes, and the Lease."""

from __future__ import annotations

__all__ = ["GUARDS"]

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from searchkeeper.kubernetes.operations import Manifest
from searchkeeper.manager import leader_election
from searchkeeper.manager.fencing import Fence, FencedApi, FencedEngine
from searchkeeper.manager.leader_election import LeaderLease, NotLeader
from tests.searchkeeper.faults.guards.guard import (
    Guard,
    Patch,
    combine,
    patch_without_resource_version,
    replace_attribute,
    stub,
)

FENCING: Final = "searchkeeper/unit/manager/test_fencing.py::"
ELECTION: Final = "searchkeeper/unit/manager/test_leader_election.py::"
WRITES: Final = ("create", "patch", "patch_status", "delete", "record")


def bypass_fence(name: str) -> Callable[..., Any]:
    """Send the request to the API server without the fence."""
    return lambda fenced, *arguments: getattr(fenced.kube, name)(*arguments)


def confirm_holder_only(lease: LeaderLease) -> None:
    manifest = lease._kube.get(lease._key)
    if manifest is None or manifest["spec"]["holderIdentity"] != lease.identity:
        raise NotLeader("another operator holds the lease")


def confirm_epoch_only(lease: LeaderLease) -> None:
    manifest = lease._kube.get(lease._key)
    if manifest is None or manifest["spec"]["leaseTransitions"] != lease.epoch:
        raise NotLeader("the lease has another epoch")


def stop_clock_during_confirm(patch: Patch) -> None:
    plain = LeaderLease.confirm

    def confirm(lease: LeaderLease) -> None:
        now, clock = lease._clock(), lease._clock
        lease._clock = lambda: now
        try:
            plain(lease)
        finally:
            lease._clock = clock

    patch.setattr(LeaderLease, "confirm", confirm)


def is_leader_until_expiry(lease: LeaderLease) -> bool:
    return lease._epoch is not None and lease._clock() < lease._valid_until + lease.duration / 3


def count_from_the_response(patch: Patch) -> None:
    plain = LeaderLease.acquire_or_renew

    def acquire_or_renew(lease: LeaderLease) -> bool:
        plain(lease)
        lease._valid_until = lease._clock() + lease.duration * 2 / 3
        return lease.is_leader

    patch.setattr(LeaderLease, "acquire_or_renew", acquire_or_renew)


def with_lease_state(**changes: Callable[[LeaderLease], Any]) -> Callable[[Patch], None]:
    """Change what a candidate remembers of the Lease."""

    def remove(patch: Patch) -> None:
        plain = LeaderLease._lease_state

        def lease_state(lease: LeaderLease, manifest: Manifest) -> Any:
            values: dict[str, Any] = {name: value(lease) for name, value in changes.items()}
            return replace(plain(lease, manifest), **values)

        patch.setattr(LeaderLease, "_lease_state", lease_state)

    return remove


def release_until_the_next_renewal(patch: Patch) -> None:
    plain = LeaderLease.release

    def release(lease: LeaderLease) -> None:
        plain(lease)
        lease._is_released = False

    patch.setattr(LeaderLease, "release", release)


@contextmanager
def admit_before_counting(fence: Fence) -> Iterator[None]:
    fence.check_open()
    fence._lease.confirm()
    with fence._lock:
        fence._writes_in_progress += 1
    yield
    with fence._lock:
        fence._writes_in_progress -= 1


GUARDS: Final = (
    Guard(
        "the Lease is read before every write",
        stub(LeaderLease, "confirm"),
        FENCING + "test_no_write_is_admitted_without_the_lease",
    ),
    *(
        Guard(
            f"`{name}` passes the fence",
            replace_attribute(FencedApi, name, bypass_fence(name)),
            ELECTION + "test_write_needs_the_lease",
            (name,),
        )
        for name in WRITES
    ),
    Guard(
        "engine calls pass the fence",
        replace_attribute(FencedEngine, "execute", lambda fenced, call: fenced.engine.execute(call)),
        ELECTION + "test_engine_call_needs_the_lease",
    ),
    Guard(
        "the holder is compared",
        replace_attribute(LeaderLease, "confirm", confirm_epoch_only),
        ELECTION + "test_recreated_lease_belongs_to_its_new_holder",
    ),
    Guard(
        "the epoch is compared",
        replace_attribute(LeaderLease, "confirm", confirm_holder_only),
        ELECTION + "test_second_process_of_the_same_name_is_another_leader",
    ),
    Guard(
        "the last third of the duration is not used",
        replace_attribute(LeaderLease, "is_leader", property(is_leader_until_expiry)),
        ELECTION + "test_leader_that_cannot_renew_stops_before_the_lease_expires",
    ),
    Guard(
        "the duration counts from before the request",
        count_from_the_response,
        ELECTION + "test_slow_renewal_counts_from_its_request",
    ),
    Guard(
        "a slow read confirms nothing",
        stop_clock_during_confirm,
        ELECTION + "test_slow_read_of_the_lease_confirms_nothing",
    ),
    Guard(
        "a candidate measures the leader's silence by its own clock",
        with_lease_state(first_seen=lambda _: float("-inf")),
        ELECTION + "test_leader_that_does_not_renew_loses_the_lease_after_its_duration",
    ),
    Guard(
        "a candidate waits for the duration in the Lease",
        with_lease_state(duration=lambda lease: lease.duration),
        ELECTION + "test_candidate_waits_for_the_duration_in_the_lease",
    ),
    Guard(
        "the Lease is patched under its resource version",
        replace_attribute(leader_election, "Patch", patch_without_resource_version),
        ELECTION + "test_only_one_of_two_simultaneous_candidates_acquires_the_lease",
    ),
    Guard(
        "a former leader releases nothing",
        stub(LeaderLease, "_holds", True),
        ELECTION + "test_former_leader_does_not_release_the_lease",
    ),
    Guard(
        "a released Lease is not acquired again",
        release_until_the_next_renewal,
        ELECTION + "test_candidate_does_not_acquire_a_lease_after_releasing_it",
    ),
    Guard(
        "no write starts after a signal",
        stub(Fence, "check_open"),
        FENCING + "test_closed_fence_admits_no_write",
    ),
    Guard(
        "reads end with the signal",
        combine(
            replace_attribute(FencedApi, "get", bypass_fence("get")),
            replace_attribute(FencedApi, "list", bypass_fence("list")),
            replace_attribute(FencedEngine, "get_state", lambda fenced: fenced.engine.get_state()),
        ),
        "searchkeeper/unit/manager/test_shutdown.py::test_reads_end_with_the_shutdown",
    ),
    Guard(
        "writes in progress are counted",
        replace_attribute(Fence, "is_idle", True),
        FENCING + "test_fence_is_idle_after_the_last_write",
    ),
    Guard(
        "a write is counted before the Lease is read",
        replace_attribute(Fence, "admit_write", admit_before_counting),
        FENCING + "test_write_is_counted_before_the_lease_is_confirmed",
    ),
)
