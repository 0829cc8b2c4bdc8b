"""Writes that are refused, and engines that answer every other time."""

from __future__ import annotations

__all__ = ["GUARDS"]

import re
from dataclasses import replace
from typing import Any, Final

from guards.killers import DENIALS, FLAPPING
from guards.taking_away import Guard, Patch, gone, instead
from searchkeeper import executor, reconcile
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.planner import ACTION_ERROR, Result, in_progress, planning
from searchkeeper.planner import denied_operations as kernel_denials
from searchkeeper.upgrade import pending_delete, rollback, rollout


def noted_by_itself_alone(patch: Patch) -> None:
    """A refusal that is noted where a status has nothing else to say."""
    plain = reconcile._noted
    patch.setattr(
        reconcile, "_noted", lambda kube, step, *rest: not step.has_changed and plain(kube, step, *rest)
    )


def noted_beside_words_alone(patch: Patch) -> None:
    """A refusal that is noted where the same cycle has noted nothing else."""
    plain = reconcile._noted
    patch.setattr(
        reconcile, "_noted", lambda kube, step, *rest: step.is_cosmetic and plain(kube, step, *rest)
    )


def without_patience(*given: Any, deadline: int | None = None, **named: Any) -> Result:
    """Whatever is done, it has come further by that."""
    return in_progress(*given, **named)


def over_with_the_first_refusal(patch: Patch) -> None:
    """A cycle that ends where something is refused, as it does where something is not known."""

    def carried_out(kube: Any, driver: Any, wanted: tuple[Any, ...], of: executor.ResourceVersions) -> Any:
        made = 0
        for deed in wanted:
            count, denied = executor.execute_all(kube, driver, (deed,), of)
            made += count
            if denied:
                return made or 1, denied
        return made, []

    patch.setattr(reconcile, "execute_all", carried_out)


def _silent(_: EngineView) -> Unreachable:
    return Unreachable("timed out")


def _red(snapshot: EngineView) -> EngineView:
    return replace(snapshot, color=Color.RED)


def _well(snapshot: EngineView) -> EngineView:
    return snapshot


GUARDS: Final = (
    Guard(
        "a refusal costs nobody else a write",
        over_with_the_first_refusal,
        DENIALS + "test_who_is_refused_keeps_nobody_else_from_their_work",
    ),
    Guard(
        "what is refused is noted",
        gone(reconcile, "_noted", False),
        DENIALS + "test_after_a_while_it_stalls_and_people_are_told_once",
    ),
    Guard(
        "a refusal is noted beside other words",
        noted_by_itself_alone,
        FLAPPING + "test_what_is_refused_meanwhile_is_told_and_stalls",
    ),
    Guard(
        "a refusal is noted beside what was noted",
        noted_beside_words_alone,
        FLAPPING + "test_an_upgrade_that_only_goes_to_and_fro_stalls_in_time",
        ("deletions", (_silent, _well)),
    ),
    Guard(
        "a refusal stands while something else is waited for",
        instead(
            kernel_denials,
            "_may_want_it_again",
            lambda answer: answer.reason == kernel_denials.OPERATION_DENIED,
        ),
        FLAPPING + "test_an_upgrade_that_only_goes_to_and_fro_stalls_in_time",
        ("deletions", (_well, _well, _silent)),
    ),
    Guard(
        "to prepare is not to come further",
        instead(rollout, "in_progress", without_patience),
        FLAPPING + "test_an_upgrade_that_only_goes_to_and_fro_stalls_in_time",
        ("nothing", (_red, _well)),
    ),
    Guard(
        "to spare is not to come further",
        instead(pending_delete, "in_progress", without_patience),
        FLAPPING + "test_an_upgrade_that_only_goes_to_and_fro_stalls_in_time",
        ("deletions", (_silent, _well)),
    ),
    Guard(
        "who goes to and fro takes its time",
        instead(planning, "_leads_on", lambda *_: True),
        FLAPPING + "test_who_goes_to_and_fro_takes_its_time_about_it",
    ),
    Guard(
        "the same refusal is no news",
        gone(reconcile, "is_new_denial", True),
        DENIALS + "test_the_same_refusal_again_and_again_is_no_reason_to_write",
        ("the same",),
    ),
    Guard(
        "a refusal is no version's fault",
        instead(rollback, "NOT_COUNTED", frozenset({ACTION_ERROR})),
        DENIALS + "test_an_upgrade_whose_pods_may_not_be_deleted_stalls_and_does_not_turn_back",
        ("Automatic",),
    ),
    Guard(
        "who is refused comes last",
        instead(planning, "OPERATION_DENIED", "no reason at all"),
        DENIALS + "test_who_may_take_nothing_away_lets_others_go_first",
    ),
    Guard(
        "what is decided as before is asked for again, and no more",
        gone(rollout, "_retry_pending_delete"),
        DENIALS + "test_a_pod_that_may_not_be_deleted_is_not_touched_again_and_again",
    ),
    Guard(
        "words in a status end no cycle",
        instead(reconcile.ResourcePlan, "is_cosmetic", property(lambda step: not step.has_changed)),
        FLAPPING + "test_pools_have_their_turn_although_every_look_has_something_else_to_tell",
    ),
    Guard(
        "a relapse is told when it lasts",
        gone(reconcile, "_is_relapse", False),
        FLAPPING + "test_a_status_is_not_written_with_every_look",
        ((_silent, _well),),
    ),
    Guard(
        "what a refusal quotes of a Secret is struck out",
        instead(executor, "redact", lambda text, _: text),
        DENIALS + "test_what_a_refusal_quotes_of_a_secret_is_struck_out",
    ),
    Guard(
        "a refusal is cut to what a status can hold",
        instead(kernel_denials, "_WORDS", 10**6),
        DENIALS + "test_a_long_refusal_is_cut",
    ),
    Guard(
        "numbers in a refusal are no news",
        instead(kernel_denials, "_COUNTED", re.compile("(?!)")),
        DENIALS + "test_the_same_refusal_again_and_again_is_no_reason_to_write",
        ("request 1 at 10:00",),
    ),
    Guard(
        "what is refused no more is forgotten",
        gone(planning, "outdated_denials", {}),
        DENIALS + "test_it_goes_away_also_where_it_is_not_wanted_any_more",
    ),
)
