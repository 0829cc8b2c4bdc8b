"""Guards of versions and specs: what is refused, and what continues meanwhile."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Any, Final

from searchkeeper import observe
from searchkeeper.api import validation
from searchkeeper.api.spec import ClusterSpec
from searchkeeper.desired import apply
from searchkeeper.planner import done
from searchkeeper.reconcilers import context, credentials, invalid_spec, refusal, upgrade
from searchkeeper.upgrade import ledger, rollback
from searchkeeper.upgrade.version_policy import version_refusal
from tests.searchkeeper.faults.guards.guard import Guard, Patch, combine, replace_attribute, stub
from tests.searchkeeper.faults.guards.module_paths import (
    CREDENTIALS,
    INVALID_SPECS,
    REFUSED_VERSIONS,
    USER_EDITS,
)


def keep_direction_while_refused(patch: Patch) -> None:
    """Do not change the direction of an upgrade while the version of the spec is refused."""
    plain = rollback.choose_direction

    def direction(snapshot: Any, upgrade: ledger.UpgradeLedger) -> Any:
        before, _ = upgrade.upgrade or ("", "")
        is_refused = version_refusal(before, snapshot.cluster.spec.version, snapshot.release) is not None
        return done() if is_refused else plain(snapshot, upgrade)

    patch.setattr(context, "choose_direction", direction)


GUARDS: Final = (
    Guard(
        "refused version",
        stub(refusal, "version_refusal"),
        REFUSED_VERSIONS + "test_refused_version_emits_one_event_and_changes_nothing",
        ("2.18.0", "Downgrade"),
    ),
    Guard(
        "invalid spec",
        stub(validation, "spec_errors", []),
        INVALID_SPECS + "test_invalid_spec_sets_one_condition_and_emits_one_event",
        ("negative replicas",),
    ),
    Guard(
        "settings restored under an invalid spec",
        stub(invalid_spec, "restore_all"),
        INVALID_SPECS + "test_rollout_settings_are_restored_under_an_invalid_spec",
    ),
    Guard(
        "upgrade continues under an invalid spec",
        stub(observe, "_locked_spec", ClusterSpec("", ())),
        INVALID_SPECS + "test_upgrade_continues_under_an_invalid_spec",
        ("no pools",),
    ),
    Guard(
        "upgrade continues when another version is refused",
        stub(rollback, "version_refusal"),
        USER_EDITS + "test_other_version_at_any_time_is_reached_or_refused",
        ("1.3.0",),
    ),
    Guard(
        "rollback while another version is refused",
        keep_direction_while_refused,
        REFUSED_VERSIONS + "test_failed_upgrade_rolls_back_while_another_version_is_refused",
        ("4.0.0",),
    ),
    Guard(
        "credentials before nodes",
        replace_attribute(credentials.Credentials, "missing_secret", None),
        CREDENTIALS + "test_cluster_is_not_created_while_credentials_are_missing",
        ("0.5.0",),
    ),
    Guard(
        "no credentials in annotations",
        replace_attribute(apply, "_without_secret_values", lambda desired: desired),
        "searchkeeper/unit/desired/test_apply.py::test_values_of_a_secret_are_only_in_its_data",
    ),
    Guard(
        "immutable storage",
        replace_attribute(observe, "_deployed_storage", lambda pool, *_: pool.storage),
        "searchkeeper/scenarios/test_storage.py::test_readded_pool_with_other_storage_keeps_its_volumes_and_stalls",
        ({"size": "20Gi"}, None),
    ),
    Guard(
        "no upgrade of managers on ephemeral storage",
        stub(refusal, "_ephemeral_metadata"),
        REFUSED_VERSIONS + "test_managers_on_ephemeral_storage_are_not_upgraded",
    ),
    Guard(
        "no upgrade past an old index",
        stub(refusal, "_incompatible_indices"),
        REFUSED_VERSIONS + "test_upgrade_is_refused_while_an_index_is_too_old_for_the_target",
    ),
    Guard(
        "no other target past an old index",
        stub(rollback, "index_refusal"),
        REFUSED_VERSIONS + "test_target_does_not_change_to_a_version_that_cannot_open_an_index",
    ),
    Guard(
        "one event while the engine flaps",
        stub(upgrade, "_may_be_refused_again", False),
        REFUSED_VERSIONS + "test_flapping_engine_with_an_old_index_emits_one_event",
    ),
    Guard(
        "no downgrade of a new cluster",
        replace_attribute(refusal, "_newest_running", lambda snapshot: snapshot.cluster.engine_version),
        REFUSED_VERSIONS + "test_new_cluster_with_joined_nodes_refuses_an_older_version",
    ),
    Guard(
        "complete credentials",
        replace_attribute(credentials.Credentials, "missing_entries", ()),
        CREDENTIALS + "test_no_node_is_created_with_incomplete_credentials",
    ),
    Guard(
        "deployed credentials are kept",
        combine(
            replace_attribute(credentials.Credentials, "has_own_copy", True),
            replace_attribute(credentials.Credentials, "own_secrets", ()),
        ),
        CREDENTIALS + "test_missing_secret_keeps_deployed_credentials",
        ("0.5.0",),
    ),
)
