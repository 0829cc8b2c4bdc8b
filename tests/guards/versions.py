"""What a spec may ask for, and what becomes of a wish that nobody can follow."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Any, Final

from guards.killers import CREDENTIALS, ILLEGIBLE, PEOPLE, REFUSALS
from guards.taking_away import Guard, Patch, gone, instead, together
from searchkeeper import observe
from searchkeeper.api import validation
from searchkeeper.api.spec import ClusterSpec
from searchkeeper.desired import apply
from searchkeeper.planner import done
from searchkeeper.reconcilers import context, invalid_spec, upgrade
from searchkeeper.upgrade import ledger, rollback
from searchkeeper.versions import version_refusal


def deaf_while_refused(patch: Patch) -> None:
    """An upgrade that nobody steers while the version in the spec is refused."""
    plain = rollback.choose_direction

    def course(snapshot: Any, its: ledger.UpgradeLedger) -> Any:
        before, _ = its.upgrade or ("", "")
        is_refused = version_refusal(before, snapshot.cluster.spec.version, snapshot.release) is not None
        return done() if is_refused else plain(snapshot, its)

    patch.setattr(upgrade, "choose_direction", course)


GUARDS: Final = (
    Guard(
        "version acceptance",
        gone(context, "version_refusal"),
        REFUSALS + "test_an_illegal_version_is_one_warning_and_no_change",
        ("2.18.0", "Downgrade"),
    ),
    Guard(
        "what nobody could follow is not begun",
        gone(validation, "spec_errors", []),
        ILLEGIBLE + "test_it_is_one_condition_and_one_event_and_nothing_is_touched",
        ("less than nobody",),
    ),
    Guard(
        "nonsense keeps nothing set",
        gone(invalid_spec, "restore_all"),
        ILLEGIBLE + "test_what_was_set_in_the_engine_for_a_moment_is_undone_also_without_an_upgrade",
    ),
    Guard(
        "nonsense stops no upgrade",
        gone(observe, "_without_a_wish", ClusterSpec("", ())),
        ILLEGIBLE + "test_an_upgrade_under_way_goes_to_its_end_and_the_spec_is_refused_at_once",
        ("no pools",),
    ),
    Guard(
        "a wish that is refused stops nothing",
        gone(rollback, "version_refusal"),
        PEOPLE + "test_another_version_at_any_moment_is_gone_to_or_refused",
        ("1.3.0",),
    ),
    Guard(
        "a refusal keeps nobody from turning back",
        deaf_while_refused,
        REFUSALS + "test_an_upgrade_that_fails_turns_back_also_while_another_version_is_refused",
        ("4.0.0",),
    ),
    Guard(
        "credentials come first",
        instead(context.ReconcileContext, "missing_secret", None),
        CREDENTIALS + "test_a_cluster_whose_credentials_are_missing_is_not_made_without",
        ("0.4.0",),
    ),
    Guard(
        "what is secret stays in Secrets",
        instead(apply, "_public", lambda wanted: wanted),
        "reconcilers/test_apply.py::test_secret_data_is_not_copied_to_annotations",
    ),
    Guard(
        "storage is settled",
        instead(observe, "_storage", lambda pool, *_: pool.storage),
        "stories/test_storage.py::test_a_pool_that_comes_back_with_other_storage_keeps_what_it_has_and_says_so",
        (None, {"size": "20Gi"}),
    ),
    Guard(
        "managers that would forget the cluster are not upgraded",
        gone(context.ReconcileContext, "_without_memory"),
        REFUSALS + "test_managers_that_would_forget_the_cluster_are_not_upgraded",
    ),
    Guard(
        "a new cluster does not go back behind its newest node",
        instead(
            context.ReconcileContext,
            "_newest_running",
            property(lambda this: this.snapshot.cluster.engine_version),
        ),
        REFUSALS + "test_a_new_cluster_whose_nodes_have_joined_goes_not_back",
    ),
    Guard(
        "credentials are whole",
        instead(context.ReconcileContext, "missing_entries", ()),
        CREDENTIALS + "test_credentials_that_nodes_read_are_all_there_before_the_nodes_are",
    ),
    Guard(
        "nodes keep the credentials that they have",
        together(
            instead(context.ReconcileContext, "has_credentials", True),
            instead(context.ReconcileContext, "own_secrets", ()),
        ),
        CREDENTIALS + "test_a_secret_that_is_missing_takes_nothing_away",
        ("0.4.0",),
    ),
)
