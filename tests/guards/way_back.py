"""Upgrades that fail, and the way back."""

from __future__ import annotations

__all__ = ["GUARDS"]

from dataclasses import replace
from typing import Any, Final

from guards.killers import BACK, CLOCKS, RUN, STUCK, TURNING
from guards.taking_away import Guard, Patch, gone, instead, together
from searchkeeper.configuration import pools, rollbacks, upgrades
from searchkeeper.engine.view import Color
from searchkeeper.kernel import DENIED, done
from searchkeeper.upgrade import draining, failing, rolling, volumes


def any_colour(patch: Patch) -> None:
    plain = volumes.needs_empty_disk

    def needs(seen: Any, journal: Any, pod: Any) -> bool:
        return plain(replace(seen, engine=replace(seen.engine, color=Color.GREEN)), journal, pod)

    patch.setattr(rolling, "needs_empty_disk", needs)


def nobody_crosses_late(patch: Patch) -> None:
    plain = rollbacks._newly_crossed
    patch.setattr(
        rollbacks, "_newly_crossed", lambda at, old: () if at.journal.returns_to else plain(at, old)
    )


GUARDS: Final = (
    Guard(
        "the way back is open",
        together(gone(failing, "obstacles", ()), gone(rollbacks, "obstacles", ())),
        TURNING + "test_past_the_point_of_no_return_nothing_goes_back",
        ("Automatic",),
    ),
    Guard(
        "the way back is still open",
        gone(rolling, "_dead_end"),
        TURNING + "test_no_step_back_is_taken_when_the_way_closes_meanwhile",
    ),
    Guard(
        "a way back that has closed may be left",
        gone(failing, "_on_again"),
        TURNING + "test_where_the_way_back_has_closed_the_upgrade_goes_on_when_it_is_asked_for_again",
    ),
    Guard(
        "no step while the course changes",
        gone(pools, "course", done()),
        TURNING + "test_no_pod_goes_forward_in_the_cycle_that_turns_back",
    ),
    Guard(
        "a volume that cannot be read goes",
        gone(rolling, "on_empty_disk"),
        RUN,
        (BACK,),
    ),
    Guard(
        "shards leave before the volume",
        gone(draining, "is_as_empty_as_can_be", True),
        TURNING + "test_its_shards_live_elsewhere_before_its_volume_goes",
    ),
    Guard(
        "a volume stays where it may be all there is",
        any_colour,
        STUCK + "test_it_keeps_its_disk_where_that_may_be_all_there_is",
    ),
    Guard(
        "whoever cannot start begins anew",
        gone(rolling, "_emptied"),
        STUCK + "test_a_node_that_cannot_start_on_what_it_wrote_begins_anew_when_waiting_has_not_helped",
    ),
    Guard(
        "who crosses on the way back is noted too",
        nobody_crosses_late,
        STUCK + "test_a_node_that_first_runs_the_newer_version_on_the_way_back_begins_anew_as_well",
    ),
    Guard(
        "what has failed is remembered",
        gone(upgrades, "was_given_up", False),
        TURNING + "test_what_has_failed_does_not_begin_again_by_itself",
    ),
    Guard(
        "an order counts once",
        gone(upgrades, "order_in"),
        TURNING + "test_an_order_from_earlier_days_does_not_turn_the_next_upgrade",
    ),
    Guard(
        "patience begins with whoever looks",
        gone(failing, "_is_new_here", False),
        CLOCKS + "test_no_upgrade_turns_back_because_a_clock_leaps",
        (3600,),
    ),
    Guard(
        "a fault of ours is no version's",
        instead(failing, "NOBODYS", frozenset({DENIED})),
        TURNING + "test_a_fault_of_the_operator_stalls_an_upgrade_and_turns_none_back",
    ),
)
