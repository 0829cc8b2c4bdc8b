"""The lock of an upgrade: when it is taken, what is in it, and when it is opened."""

from __future__ import annotations

__all__ = ["GUARDS"]

from types import SimpleNamespace
from typing import Final

from guards.killers import FAILING, LOCKS, MEANWHILE, PEOPLE, PODS, RUN, STUCK, TURNING, UPGRADE, UPGRADES
from guards.taking_away import Guard, gone, instead, together, unrequired
from searchkeeper import loop, observing
from searchkeeper.configuration import scene, upgrades
from searchkeeper.embedded import kubelet
from searchkeeper.kernel import done
from searchkeeper.upgrade import failing, mending
from worlds import pod

DOWN: Final = pod(
    "data-0", engine_version="3.3.2", has_started=True, is_ready=False, problem="CrashLoopBackOff"
)
NO_NOTES: Final = SimpleNamespace(run=lambda _: done())

GUARDS: Final = (
    Guard(
        "a healthy beginning",
        gone(upgrades, "_illness"),
        UPGRADES + "test_no_upgrade_begins_in_a_cluster_that_is_not_well",
    ),
    Guard(
        "a whole beginning",
        gone(upgrades, "_is_half_gone", False),
        PEOPLE + "test_no_upgrade_begins_without_a_part_of_a_pool",
    ),
    Guard(
        "lock",
        instead(observing, "_in_force", lambda written, _: written),
        TURNING + "test_an_edit_during_the_way_back_is_applied_after_it",
    ),
    Guard(
        "the lock has what stands",
        instead(scene.Scene, "spec_to_lock", property(lambda this: this.seen.cluster.written)),
        MEANWHILE + "test_an_upgrade_and_fewer_nodes_in_one_edit_come_one_after_the_other",
    ),
    Guard(
        "the lock has the security that stands",
        instead(scene, "security_standing", lambda _, __, written: dict(written)),
        LOCKS + "test_other_certificates_that_are_asked_for_together_with_an_upgrade_come_after_it",
        ("b",),
    ),
    Guard(
        "what was decided without the lock is decided anew",
        instead(loop, "_on_one_course", lambda made, _: made),
        PEOPLE + "test_what_is_asked_for_together_with_an_upgrade_comes_after_it",
    ),
    Guard(
        "what was decided for another version is decided anew",
        instead(loop, "_course", lambda journal: journal.lock),
        UPGRADES + "test_no_pool_is_permitted_a_version_that_another_one_has_just_taken_the_place_of",
    ),
    Guard(
        "who is down for other reasons holds no lock",
        together(gone(mending, "is_none_of_ours", False), gone(scene, "is_none_of_ours", False)),
        PODS + "test_whoever_reverts_gets_the_lock_back_although_a_pod_is_down",
        (kubelet.Fault.CRASH,),
    ),
    Guard(
        "the lock lets go of who is given up",
        instead(scene.Scene, "lighter_lock", None),
        PODS + "test_a_node_that_does_not_come_back_may_be_given_up_while_an_upgrade_is_under_way",
        ("3.4.0",),
    ),
    Guard(
        "a lock is opened when nobody has to be let out of it",
        together(
            instead(upgrades, "rollback_is_possible", NO_NOTES),
            instead(upgrades, "upgrade_is_begun", NO_NOTES),
        ),
        PODS + "test_a_node_may_be_given_up_in_the_very_moment_when_an_upgrade_that_was_taken_back_is_over",
    ),
    Guard(
        "the lock has the Dashboards that stand",
        instead(scene, "dashboards_standing", lambda _, written: dict(written)),
        LOCKS + "test_dashboards_come_and_go_after_the_upgrade_with_which_that_was_asked_for",
        (True,),
    ),
    Guard(
        "a newer wish waits for an upgrade that goes well",
        gone(failing, "_is_failing", True),
        STUCK + "test_a_newer_wish_waits_for_an_upgrade_that_goes_well",
    ),
    Guard(
        "an upgrade is over when its pools are settled",
        unrequired("PoolsAreSettled", of="UpgradeIsFinished"),
        RUN,
        (UPGRADE,),
    ),
    Guard(
        "an upgrade is over in a cluster that is well",
        unrequired("EngineIsHealthy", of="UpgradeIsFinished"),
        UPGRADES + "test_an_upgrade_is_not_over_while_the_engine_does_not_answer",
    ),
    Guard(
        "pools are settled when their pods are",
        unrequired("PodsAreCurrent", of="PoolsAreSettled"),
        RUN,
        (UPGRADE,),
    ),
    Guard(
        "who is down for good has failed at once",
        instead(failing, "FATAL", frozenset()),
        FAILING + "test_a_pod_of_the_version_that_is_down_for_good_is_a_failure_at_once",
        (DOWN, True),
    ),
)
