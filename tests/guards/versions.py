"""Guards of versions and specs: what is refused, and what continues meanwhile."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Any, Final

from guards.guard import Guard, Patch, gone, instead, together
from guards.killers import CREDENTIALS, ILLEGIBLE, PEOPLE, REFUSALS
from searchkeeper import observe
from searchkeeper.api import validation
from searchkeeper.api.spec import ClusterSpec
from searchkeeper.desired import apply
from searchkeeper.planner import done
from searchkeeper.reconcilers import context, credentials, invalid_spec, refusal
from searchkeeper.upgrade import ledger, rollback
from searchkeeper.upgrade.version_policy import version_refusal


def no_direction_while_refused(patch: Patch) -> None:
    """An upgrade does not change its direction while the version of the spec is refused."""
    plain = rollback.choose_direction

    def direction(snapshot: Any, upgrade: ledger.UpgradeLedger) -> Any:
        before, _ = upgrade.upgrade or ("", "")
        is_refused = version_refusal(before, snapshot.cluster.spec.version, snapshot.release) is not None
        return done() if is_refused else plain(snapshot, upgrade)

    patch.setattr(context, "choose_direction", direction)


GUARDS: Final = (
    Guard(
        "refused version",
        gone(refusal, "version_refusal"),
        REFUSALS + "test_an_illegal_version_is_one_warning_and_no_change",
        ("2.18.0", "Downgrade"),
    ),
    Guard(
        "invalid spec",
        gone(validation, "spec_errors", []),
        ILLEGIBLE + "test_it_is_one_condition_and_one_event_and_nothing_is_touched",
        ("less than nobody",),
    ),
    Guard(
        "settings restored under an invalid spec",
        gone(invalid_spec, "restore_all"),
        ILLEGIBLE + "test_what_was_set_in_the_engine_for_a_moment_is_undone_also_without_an_upgrade",
    ),
    Guard(
        "upgrade continues under an invalid spec",
        gone(observe, "_locked_spec", ClusterSpec("", ())),
        ILLEGIBLE + "test_an_upgrade_under_way_goes_to_its_end_and_the_spec_is_refused_at_once",
        ("no pools",),
    ),
    Guard(
        "upgrade continues when another version is refused",
        gone(rollback, "version_refusal"),
        PEOPLE + "test_other_version_at_any_time_is_reached_or_refused",
        ("1.3.0",),
    ),
    Guard(
        "rollback while another version is refused",
        no_direction_while_refused,
        REFUSALS + "test_an_upgrade_that_fails_turns_back_also_while_another_version_is_refused",
        ("4.0.0",),
    ),
    Guard(
        "credentials before nodes",
        instead(credentials.Credentials, "missing_secret", None),
        CREDENTIALS + "test_a_cluster_whose_credentials_are_missing_is_not_made_without",
        ("0.4.0",),
    ),
    Guard(
        "no credentials in annotations",
        instead(apply, "_without_secret_values", lambda desired: desired),
        "desired/test_apply.py::test_values_of_a_secret_are_only_in_its_data",
    ),
    Guard(
        "immutable storage",
        instead(observe, "_deployed_storage", lambda pool, *_: pool.storage),
        "stories/test_storage.py::test_a_pool_that_comes_back_with_other_storage_keeps_what_it_has_and_says_so",
        (None, {"size": "20Gi"}),
    ),
    Guard(
        "no upgrade of managers on ephemeral storage",
        gone(refusal, "_ephemeral_metadata"),
        REFUSALS + "test_managers_that_would_forget_the_cluster_are_not_upgraded",
    ),
    Guard(
        "no downgrade of a new cluster",
        instead(refusal, "_newest_running", lambda snapshot: snapshot.cluster.engine_version),
        REFUSALS + "test_a_new_cluster_whose_nodes_have_joined_goes_not_back",
    ),
    Guard(
        "complete credentials",
        instead(credentials.Credentials, "missing_entries", ()),
        CREDENTIALS + "test_credentials_that_nodes_read_are_all_there_before_the_nodes_are",
    ),
    Guard(
        "deployed credentials are kept",
        together(
            instead(credentials.Credentials, "has_own_copy", True),
            instead(credentials.Credentials, "own_secrets", ()),
        ),
        CREDENTIALS + "test_a_secret_that_is_missing_takes_nothing_away",
        ("0.4.0",),
    ),
)
