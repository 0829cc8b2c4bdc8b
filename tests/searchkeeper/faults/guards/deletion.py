"""Guards of a deletion."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Final

from searchkeeper import reconcile
from searchkeeper.planner import reconciler
from searchkeeper.reconcilers import deletion
from tests.searchkeeper.faults.guards.guard import Guard, Patch, stub
from tests.searchkeeper.faults.guards.module_paths import DELETION


def keep_orphans(patch: Patch) -> None:
    restored = deletion.engine_settings_restored
    actions = (restored, deletion.finalizer_removed.after(restored))
    patch.setattr(reconcile, "DELETION_RECONCILER", reconciler.Reconciler(0, 0, actions))


def remove_finalizer_first(patch: Patch) -> None:
    actions = (
        deletion.engine_settings_restored,
        deletion.orphans_deleted,
        deletion.finalizer_removed.after(),
    )
    patch.setattr(reconcile, "DELETION_RECONCILER", reconciler.Reconciler(0, 0, actions))


GUARDS: Final = (
    Guard(
        "deletion restores settings",
        stub(deletion, "restore_all"),
        DELETION + "test_deletion_during_scale_in_clears_exclusions",
    ),
    Guard(
        "deletion of orphans",
        keep_orphans,
        DELETION + "test_deletion_removes_orphaned_pods",
    ),
    Guard(
        "finalizer last",
        remove_finalizer_first,
        DELETION + "test_deletion_during_an_upgrade_restores_engine_settings",
    ),
)
