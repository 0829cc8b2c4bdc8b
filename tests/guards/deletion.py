"""Clusters that are deleted."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Final

from guards.killers import DELETION
from guards.taking_away import Guard, Patch, gone
from searchkeeper import loop
from searchkeeper.configuration import deleting
from searchkeeper.kernel import procedures


def orphans_forgotten(patch: Patch) -> None:
    tidied = deleting.engine_is_tidied
    actions = (tidied, deleting.finalizer_is_removed.after(tidied))
    patch.setattr(loop, "DELETION", procedures.Procedure(0, 0, actions))


def finalizer_first(patch: Patch) -> None:
    actions = (deleting.engine_is_tidied, deleting.orphans_are_gone, deleting.finalizer_is_removed.after())
    patch.setattr(loop, "DELETION", procedures.Procedure(0, 0, actions))


GUARDS: Final = (
    Guard(
        "a deletion undoes what was set",
        gone(deleting, "undone"),
        DELETION + "test_what_was_set_for_nodes_that_leave_is_undone_too",
    ),
    Guard(
        "a deletion takes orphans along",
        orphans_forgotten,
        DELETION + "test_pods_between_two_stateful_sets_go_as_well",
    ),
    Guard(
        "the finalizer goes last",
        finalizer_first,
        DELETION + "test_whatever_an_upgrade_has_set_in_the_engine_is_undone",
    ),
)
