"""The lock of an upgrade: when it is taken, what is in it, and when it is opened."""

from __future__ import annotations

__all__ = ["GUARDS"]

from types import SimpleNamespace
from typing import Final

from guards.killers import (
    FAILED_PODS_RUNS,
    LOCKS,
    MEANWHILE,
    PEOPLE,
    PODS,
    ROLLBACK,
    ROLLBACK_RUNS,
    RUN,
    UPGRADE,
    UPGRADES,
)
from guards.taking_away import Guard, gone, instead, together, unrequired
from searchkeeper import observe, reconcile
from searchkeeper.planner import done
from searchkeeper.reconcilers import context, upgrade
from searchkeeper.testing.fake_kubernetes import kubelet
from searchkeeper.upgrade import failed_pods, rollback
from worlds import pod

DOWN: Final = pod(
    "data-0", engine_version="3.3.2", has_started=True, is_ready=False, problem="CrashLoopBackOff"
)
NO_NOTES: Final = SimpleNamespace(run=lambda _: done())

GUARDS: Final = (
    Guard(
        "a healthy beginning",
        gone(upgrade, "_illness"),
        UPGRADES + "test_no_upgrade_begins_in_a_cluster_that_is_not_well",
    ),
    Guard(
        "a whole beginning",
        gone(upgrade, "_is_half_gone", False),
        PEOPLE + "test_no_upgrade_begins_without_a_part_of_a_pool",
    ),
    Guard(
        "lock",
        instead(observe, "_in_force", lambda written, _: written),
        ROLLBACK_RUNS + "test_edit_during_a_rollback_is_applied_after_it",
    ),
    Guard(
        "the lock has what stands",
        instead(
            context.ReconcileContext, "deployed_spec", property(lambda this: this.snapshot.cluster.raw_spec)
        ),
        MEANWHILE + "test_an_upgrade_and_fewer_nodes_in_one_edit_come_one_after_the_other",
    ),
    Guard(
        "the lock has the security that stands",
        instead(context, "deployed_security", lambda _, __, written: dict(written)),
        LOCKS + "test_other_certificates_that_are_asked_for_together_with_an_upgrade_come_after_it",
        ("b",),
    ),
    Guard(
        "what was decided without the lock is decided anew",
        instead(reconcile, "_on_one_course", lambda made, _: made),
        PEOPLE + "test_what_is_asked_for_together_with_an_upgrade_comes_after_it",
    ),
    Guard(
        "what was decided for another version is decided anew",
        instead(reconcile, "_course", lambda ledger: ledger.lock),
        UPGRADES + "test_no_pool_is_permitted_a_version_that_another_one_has_just_taken_the_place_of",
    ),
    Guard(
        "who is down for other reasons holds no lock",
        together(
            gone(failed_pods, "is_unrelated_failure", False), gone(context, "is_unrelated_failure", False)
        ),
        PODS + "test_whoever_reverts_gets_the_lock_back_although_a_pod_is_down",
        (kubelet.PodFault.CRASH,),
    ),
    Guard(
        "the lock lets go of who is given up",
        instead(context.ReconcileContext, "reduced_lock", None),
        PODS + "test_a_node_that_does_not_come_back_may_be_given_up_while_an_upgrade_is_under_way",
        ("3.4.0",),
    ),
    Guard(
        "a lock is opened when nobody has to be let out of it",
        together(
            instead(upgrade, "rollback_possible", NO_NOTES),
            instead(upgrade, "upgrade_started", NO_NOTES),
        ),
        PODS + "test_a_node_may_be_given_up_in_the_very_moment_when_an_upgrade_that_was_taken_back_is_over",
    ),
    Guard(
        "the lock has the Dashboards that stand",
        instead(context, "deployed_dashboards", lambda _, written: dict(written)),
        LOCKS + "test_dashboards_come_and_go_after_the_upgrade_with_which_that_was_asked_for",
        (True,),
    ),
    Guard(
        "a newer wish waits for an upgrade that goes well",
        gone(rollback, "_is_failing", True),
        FAILED_PODS_RUNS + "test_version_waits_for_a_healthy_upgrade",
    ),
    Guard(
        "an upgrade is over when its pools are settled",
        unrequired("PoolsConverged", of="UpgradeFinished"),
        RUN,
        (UPGRADE,),
    ),
    Guard(
        "an upgrade is over in a cluster that is well",
        unrequired("EngineHealthy", of="UpgradeFinished"),
        UPGRADES + "test_an_upgrade_is_not_over_while_the_engine_does_not_answer",
    ),
    Guard(
        "pools are settled when their pods are",
        unrequired("PodsCurrent", of="PoolsConverged"),
        RUN,
        (UPGRADE,),
    ),
    Guard(
        "who is down for good has failed at once",
        instead(rollback, "FATAL_POD_PROBLEMS", frozenset()),
        ROLLBACK + "test_failed_pod_of_the_target_counts_as_failure_at_once",
        (DOWN, True),
    ),
)
