"""Every guard is taken away once, and something breaks: none is there for decoration.

The table is that of docs/operator/guards.md.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import operators_at_work
import runs
import tales
from searchkeeper import deeds, loop, observed, observing, writes
from searchkeeper.configuration import (
    applying,
    budgets,
    deleting,
    illegible,
    leaving,
    manifests,
    migrations,
    names,
    objects,
    pools,
    rollbacks,
    scene,
    statuses,
    upgrades,
)
from searchkeeper.configuration.applying import apply, difference
from searchkeeper.configuration.deployed import Deployed
from searchkeeper.embedded import kubelet
from searchkeeper.engine.view import Color, EngineView, Unreachable
from searchkeeper.kernel import DENIED, FAULT, answers, done, planning, procedures, waits
from searchkeeper.proof.faults import Fault
from searchkeeper.proof.properties import LAWS
from searchkeeper.resources import conformity
from searchkeeper.resources.specs import ClusterSpec
from searchkeeper.upgrade import (
    draining,
    emptying,
    failing,
    gates,
    handing,
    journal,
    mending,
    order,
    rolling,
    settings,
    sparing,
    volumes,
    voting,
)
from searchkeeper.versions import refusal

TESTS = Path(__file__).resolve().parents[1]
GUARDS = TESTS.parent / "docs/operator/guards.md"

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Guard:
    """How it is taken away, and the test that fails then, with its arguments."""

    name: str
    taken_away: Callable[[Patch], None]
    test: str
    arguments: tuple[Any, ...] = ()


def gone(module: Any, function: str, answer: Any = None) -> Callable[[Patch], None]:
    """A function that has nothing to say any more."""
    return lambda patch: patch.setattr(module, function, lambda *_, **__: answer)


def gate(name: str) -> Callable[[Patch], None]:
    """A gate that is always open."""
    plain = gates._verdict

    def verdict(each: str, objection: str | None, patience: int) -> gates.Verdict:
        return plain(each, None if each == name else objection, patience)

    return lambda patch: patch.setattr(gates, "_verdict", verdict)


def without_notes(module: Any, function: str) -> Callable[[Patch], None]:
    """Deeds that nobody writes down first."""
    plain = getattr(module, function)

    def answer(*given: Any, **named: Any) -> Any:
        found = plain(*given, **named)
        return found and replace(found, notes=())

    return lambda patch: patch.setattr(module, function, answer)


def careless(key: writes.Key, _uid: str, _version: str) -> writes.Delete:
    return writes.Delete(key, "", "")


def in_any_order(patch: Patch) -> None:
    """What is written down is written down afterwards."""

    def cycle(kube: Any, driver: Any, key: Any, release: Any, now: int, **_: Any) -> loop.Cycle:
        seen = observing.observe(kube, driver, key, release, now)
        assert seen is not None
        converged = True
        for step in loop.steps(seen):
            converged &= step.plan.converged
            for write in step.plan.writes:
                deeds.execute(kube, driver, write)
            fresh = kube.get(step.key)["metadata"]["resourceVersion"]
            if loop._stored(kube, replace(step, resource_version=fresh)) != fresh or step.plan.writes:
                return loop.Cycle(wrote=True, converged=False)
        return loop.Cycle(wrote=False, converged=converged)

    patch.setattr(operators_at_work, "cycle", cycle)


def everybodys_turn(patch: Patch) -> None:
    class Anybody(str):
        __slots__ = ()

        def __eq__(self, _: object) -> bool:
            return True

        __hash__ = str.__hash__

    patch.setattr(scene.Scene, "turn", property(lambda _: Anybody("anybody")))


def any_colour(patch: Patch) -> None:
    plain = volumes.needs_empty_disk

    def needs(seen: Any, journal: Any, pod: Any) -> bool:
        return plain(replace(seen, engine=replace(seen.engine, color=Color.GREEN)), journal, pod)

    patch.setattr(rolling, "needs_empty_disk", needs)


def held_by_whoever_is_down(patch: Patch) -> None:
    for module in (mending, scene):
        patch.setattr(module, "is_none_of_ours", lambda *_: False)


def nobody_is_ahead(patch: Patch) -> None:
    patch.setattr(scene.Scene, "ahead", frozenset())


def always_open(patch: Patch) -> None:
    for module in (failing, rollbacks):
        patch.setattr(module, "obstacles", lambda *_: ())


def patched_without_version(patch: Patch) -> None:
    def stored(kube: Any, step: loop.Step) -> str:
        if step.status == step.before:
            return step.resource_version
        changes = {"status": difference(step.before, step.status)}
        return str(kube.patch_status(writes.Patch(step.key, changes, ""))["metadata"]["resourceVersion"])

    patch.setattr(loop, "_stored", stored)


def locked_as_written(patch: Patch) -> None:
    patch.setattr(scene.Scene, "spec_to_lock", property(lambda this: this.seen.cluster.written))


def moments_of_any_clock(patch: Patch) -> None:
    plain = waits._noted
    patch.setattr(waits, "_noted", lambda ledger, name, _: plain(ledger, name, 2**62))


def begun_anew_for_another_reason(patch: Patch) -> None:
    plain = waits._going_on

    def going_on(noted: waits.Wait | None, answer: answers.Answer, now: int) -> waits.Wait | None:
        is_same = noted is not None and noted.present[0] == answer.reason
        return plain(noted if is_same else None, answer, now)

    patch.setattr(waits, "_going_on", going_on)


def by_version_alone(patch: Patch) -> None:
    """Pods are replaced by whatever their StatefulSet makes, if only the version is right."""
    patch.setattr(
        pools, "_deploys_target", lambda scene, pool: pool.stateful_set.engine_version == scene.target
    )


def emptied_to_the_last(patch: Patch) -> None:
    patch.setattr(draining, "_is_over", lambda _, __, each, engine: not engine.copies_on(each.pod.name))


def drains_taken_back(patch: Patch) -> None:
    patch.setattr(draining, "restored", lambda seen, journal, _: settings.restored(seen, journal))


def orphans_forgotten(patch: Patch) -> None:
    tidied = deleting.engine_is_tidied
    actions = (tidied, deleting.finalizer_is_removed.after(tidied))
    patch.setattr(loop, "DELETION", procedures.Procedure(0, 0, actions))


def budgets_apart(patch: Patch) -> None:
    def made(deployed: Deployed, specs: tuple[Any, ...], _: int | None) -> Any:
        return [
            manifests._budget(
                deployed, f"{deployed.name}-{pool.name}", {"matchLabels": deployed.labels(pool.name)}
            )
            for pool in specs
        ]

    patch.setattr(budgets, "budgets", made)


def voters_uncounted(patch: Patch) -> None:
    patch.setattr(budgets, "_uncounted", lambda _: None)
    patch.setattr(migrations, "_voters_are_counted", lambda _: True)


def edits_unnoticed(patch: Patch) -> None:
    def mark(made: writes.Manifest) -> str | None:
        found: str | None = made["metadata"]["annotations"].get(names.TEMPLATE)
        return found

    def unless_marked(wanted: writes.Manifest, live: writes.Manifest | None) -> Any:
        return None if live is not None and mark(live) == mark(wanted) else apply(wanted, live)

    patch.setattr(pools, "apply", unless_marked)


def shorter_grace(live: dict[str, Any]) -> None:
    live["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1


def by_mark(pod: observed.Pod, wanted: observed.SetView) -> bool:
    return pod.template != wanted.template


def by_image(pod: observed.Pod, wanted: observed.SetView) -> bool:
    return (pod.template, pod.engine_version) != (wanted.template, wanted.engine_version)


def everybody_is_present(patch: Patch) -> None:
    everybody = property(lambda seen: frozenset(pod.name for pod in seen.pods))
    patch.setattr(observed.Observed, "present", everybody)


def nobody_crosses_late(patch: Patch) -> None:
    plain = rollbacks._newly_crossed
    patch.setattr(
        rollbacks, "_newly_crossed", lambda at, old: () if at.journal.returns_to else plain(at, old)
    )


def nothing_remembered(patch: Patch) -> None:
    patch.setattr(journal.Journal, "told", property(lambda _: frozenset()))


UPGRADE, BACK = "2.19.4 → 3.4.0", "3.4.0 → 2.19.4"


def deaf_while_refused(patch: Patch) -> None:
    """An upgrade that nobody steers while the version in the spec is refused."""
    plain = failing.course

    def course(seen: Any, its: journal.Journal) -> Any:
        before, _ = its.under_way or ("", "")
        is_refused = refusal(before, seen.cluster.spec.version, seen.release) is not None
        return done() if is_refused else plain(seen, its)

    patch.setattr(upgrades, "course", course)


def noted_by_itself_alone(patch: Patch) -> None:
    """A refusal that is noted where a status has nothing else to say."""
    plain = loop._noted
    patch.setattr(loop, "_noted", lambda kube, step, *rest: not step.is_news and plain(kube, step, *rest))


def over_with_the_first_refusal(patch: Patch) -> None:
    """A cycle that ends where something is refused, as it does where something is not known."""

    def carried_out(kube: Any, driver: Any, wanted: tuple[Any, ...], of: deeds.Stored) -> Any:
        made = 0
        for deed in wanted:
            count, denied = deeds.carried_out(kube, driver, (deed,), of)
            made += count
            if denied:
                return made or 1, denied
        return made, []

    patch.setattr(loop, "carried_out", carried_out)


RUN = "faults/test_single_faults.py::test_every_write_of_the_run_is_one_that_can_be_disturbed"
FAULTS = "faults/test_single_faults.py::test_a_fault_at_any_write_changes_nothing_about_the_end"
TWO = "faults/test_two_operators.py::"
SINGLE = "faults/test_single_faults.py::"
PEOPLE = "faults/test_people_meddle.py::"
CLOCKS = "faults/test_clocks.py::"
TURNING = "rollback/test_turning_back.py::"
LOSING = "upgrade/test_losing.py::"
DRAINING = "upgrade/test_draining.py::"
STUCK = "rollback/test_stuck_pods.py::"
GATES = "upgrade/test_gates.py::"
SCALING, DELETION = "stories/test_scaling.py::", "stories/test_deletion.py::"
UPGRADES = "stories/test_upgrades.py::"
PODS = "scenarios/test_pods_and_images.py::"
QUORUM = "scenarios/test_quorum_and_restarts.py::"
EDITS = "configuration/test_hand_edits.py::"
DENIALS, FLAPPING = "stories/test_denials.py::", "scenarios/test_flapping_engines.py::"


TABLE = (
    Guard("NotPaused", gate("NotPaused"), GATES + "test_a_paused_upgrade_takes_no_pod"),
    Guard(
        "a pause comes before the first step",
        lambda patch: patch.setattr(upgrades, "_is_paused", lambda _: False),
        UPGRADES + "test_an_upgrade_that_is_paused_from_the_start_does_not_begin",
    ),
    Guard(
        "a pause keeps templates as they are",
        lambda patch: patch.setattr(scene.Scene, "is_held_back", lambda _, __: False),
        UPGRADES + "test_whoever_is_evicted_while_an_upgrade_is_paused_comes_back_as_it_was",
    ),
    Guard(
        "EngineReachable",
        gate("EngineReachable"),
        GATES + "test_an_engine_that_does_not_answer_is_waited_for",
    ),
    Guard("PodsReady", gate("PodsReady"), GATES + "test_one_pod_that_is_not_ready_stops_every_other"),
    Guard(
        "NodesJoined",
        gate("NodesJoined"),
        GATES + "test_a_ready_pod_whose_node_has_not_joined_stops_every_other",
    ),
    Guard("Healthy", gate("Healthy"), GATES + "test_a_red_cluster_loses_no_further_pod"),
    Guard("QuorumSafe", gate("QuorumSafe"), GATES + "test_with_one_voter_away_no_other_goes"),
    Guard(
        "the state of the cluster is somewhere",
        gone(gates, "_state_left_behind"),
        "configuration/test_migrations.py::test_a_migration_does_not_restart_the_only_manager_that_would_forget_the_cluster",
    ),
    Guard("LastCopySafe", gate("LastCopySafe"), GATES + "test_the_last_copy_of_a_shard_is_not_taken_away"),
    Guard(
        "copies on pods that go are none",
        everybody_is_present,
        GATES + "test_a_copy_on_a_pod_that_is_on_its_way_out_is_no_copy",
    ),
    Guard("BatchSafe", gate("BatchSafe"), GATES + "test_pods_that_share_a_shard_do_not_go_together"),
    Guard(
        "a broken pod needs no gate",
        gone(gates, "is_lost_already", False),
        GATES + "test_a_broken_pod_may_always_be_replaced",
    ),
    Guard(
        "a slow pod is not a broken one",
        gone(gates, "is_lost_already", True),
        GATES + "test_a_pod_that_is_not_ready_but_serves_shards_is_not_broken",
    ),
    Guard(
        "one destruction a cycle",
        lambda patch: patch.setattr(planning, "_one_destruction", dict),
        "kernel/test_planning.py::test_only_one_action_takes_something_away_in_a_cycle",
    ),
    Guard(
        "a line of the ledger has one author",
        lambda patch: patch.setattr(planning, "_one_author_a_line", lambda _, given: given),
        "kernel/test_planning.py::test_of_two_actions_that_note_the_same_line_one_is_at_fault_and_says_so",
    ),
    Guard(
        "an action that writes is not done",
        lambda patch: patch.setattr(answers.Answer, "__post_init__", lambda _: None),
        "kernel/test_actions.py::test_whoever_writes_is_not_done_in_the_same_cycle",
    ),
    Guard(
        "never downwards",
        lambda patch: patch.setattr(procedures.Procedure, "takes", lambda _, __: True),
        "kernel/test_procedures.py::test_what_is_deployed_is_never_taken_downwards",
    ),
    Guard(
        "version acceptance",
        gone(scene, "refusal"),
        "stories/test_refusals.py::test_an_illegal_version_is_one_warning_and_no_change",
        ("2.18.0", "Downgrade"),
    ),
    Guard(
        "children first",
        gone(statuses, "_has_converged", True),
        "paths/test_every_catalog_path.py::test_a_cluster_follows_its_operator_to_the_end_of_the_road",
        (("0.1.1", "0.2.0", "0.3.1", "0.4.0"),),
    ),
    Guard("ledger before writes", in_any_order, RUN, (UPGRADE,)),
    Guard("pods are noted before they go", without_notes(rolling, "_deleted"), RUN, (UPGRADE,)),
    Guard("settings are noted before they change", without_notes(rolling, "_holding"), RUN, (UPGRADE,)),
    Guard("volumes are noted before they go", without_notes(emptying, "emptied"), RUN, (BACK,)),
    Guard("preconditions of a pod", lambda p: p.setattr(rolling, "Delete", careless), RUN, (UPGRADE,)),
    Guard("preconditions of a volume", lambda p: p.setattr(volumes, "Delete", careless), RUN, (BACK,)),
    Guard(
        "resourceVersion of a status",
        patched_without_version,
        "faults/test_single_faults.py::test_reads_that_are_behind_change_nothing_about_the_end",
        (UPGRADE, "SearchCluster"),
    ),
    Guard("settings are restored", gone(rolling, "restored"), RUN, (UPGRADE,)),
    Guard(
        "whoever was noted and is still there may stay",
        gone(sparing, "stayed", ()),
        FAULTS,
        (UPGRADE, Fault.CRASH_BEFORE),
    ),
    Guard(
        "turn",
        everybodys_turn,
        "faults/test_pods_fail.py::test_a_pod_of_a_pool_whose_turn_has_not_come_returns_as_it_was",
        ("logs-managers-0",),
    ),
    Guard(
        "order of pools",
        lambda patch: patch.setattr(scene, "pools_in_order", lambda pools, *_, **__: tuple(reversed(pools))),
        RUN,
        (UPGRADE,),
    ),
    Guard(
        "the elected manager last",
        lambda patch: patch.setattr(order, "sorted", lambda found, **_: list(found), raising=False),
        "upgrade/test_order.py::test_the_elected_manager_goes_last_of_all",
    ),
    Guard(
        "the order is that of what nodes are",
        lambda patch: patch.setattr(order, "_manages", lambda pool: pool.spec.votes),
        UPGRADES + "test_a_major_upgrade_goes_by_what_nodes_are_not_by_what_they_are_to_become",
        (4,),
    ),
    Guard(
        "its pool last of its kind",
        gone(order, "_elected"),
        "upgrade/test_order.py::test_of_pools_of_one_kind_that_with_the_elected_manager_goes_last",
    ),
    Guard(
        "the elected manager last on the way back",
        gone(order, "is_newer", False),
        TURNING + "test_on_the_way_back_there_is_one_election_also_where_managers_are_several_pools",
    ),
    Guard(
        "what nobody could follow is not begun",
        gone(conformity, "flaws", []),
        "stories/test_illegible_specs.py::test_it_is_one_condition_and_one_event_and_nothing_is_touched",
        ("less than nobody",),
    ),
    Guard(
        "nonsense keeps nothing set",
        gone(illegible, "undone"),
        "stories/test_illegible_specs.py"
        "::test_what_was_set_in_the_engine_for_a_moment_is_undone_also_without_an_upgrade",
    ),
    Guard(
        "nonsense stops no upgrade",
        gone(observing, "_without_a_wish", ClusterSpec("", ())),
        "stories/test_illegible_specs.py"
        "::test_an_upgrade_under_way_goes_to_its_end_and_the_spec_is_refused_at_once",
        ("no pools",),
    ),
    Guard(
        "lock",
        lambda patch: patch.setattr(observing, "_in_force", lambda written, _: written),
        TURNING + "test_an_edit_during_the_way_back_is_applied_after_it",
    ),
    Guard(
        "the way back is open",
        always_open,
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
        "no step towards another version",
        gone(pools, "_deploys_target", True),
        TURNING + "test_whoever_reverts_at_any_moment_comes_back_or_hears_that_it_is_too_late",
    ),
    Guard(
        "no step towards other roles",
        by_version_alone,
        LOSING + "test_the_only_data_pool_keeps_its_role_and_all_its_pods",
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
        "what can never leave is not waited for",
        emptied_to_the_last,
        DRAINING + "test_a_copy_that_can_never_leave_is_not_waited_for_where_there_is_another",
        (2, (1, 0), False),
    ),
    Guard(
        "a drain outlasts a gate that is closed",
        drains_taken_back,
        DRAINING + "test_a_drain_is_not_undone_and_begun_again_while_another_pod_is_not_ready",
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
        "nobody waits for an outdated pod",
        gone(rolling, "_outdated", set()),
        TURNING + "test_an_upgrade_that_fails_turns_back_by_itself_where_that_is_wanted",
        (kubelet.Fault.NEVER_READY,),
    ),
    Guard(
        "a broken pod waits for nobody",
        gone(rolling, "_mended"),
        STUCK + "test_a_cluster_that_never_started_starts_when_its_version_is_corrected",
        (kubelet.Fault.IMAGE,),
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
        "what is noted of a roll ends with it",
        lambda patch: patch.setattr(rolling, "_OF_THE_ROLL", ()),
        "faults/test_single_faults.py::test_what_is_noted_of_a_volume_does_not_outlive_the_roll",
    ),
    Guard(
        "voters go alone",
        lambda patch: patch.setattr(rolling, "_goes_alone", lambda roll, _: roll.goes_back),
        "upgrade/test_rolling.py::test_no_second_voter_goes_however_large_a_batch_may_be",
    ),
    Guard(
        "on the way back everybody goes alone",
        lambda patch: patch.setattr(rolling, "_goes_alone", lambda _, pool: pool.spec.votes),
        "upgrade/test_rolling.py::test_on_the_way_back_everybody_goes_alone",
    ),
    Guard(
        "batches shrink after a failure",
        gone(rolling, "trouble", ()),
        STUCK + "test_a_batch_that_fails_makes_the_next_one_smaller",
    ),
    Guard(
        "those of Kubernetes do too",
        gone(handing, "trouble", ()),
        STUCK + "test_a_batch_of_kubernetes_that_fails_makes_the_next_one_smaller",
    ),
    Guard(
        "who is down does not wait for its turn",
        gone(scene, "awaits_cure", False),
        PODS + "test_a_manager_that_cannot_join_is_mended_by_a_version_that_can",
        (kubelet.Fault.CRASH,),
    ),
    Guard(
        "nobody else goes before its turn",
        nobody_is_ahead,
        PODS + "test_what_mends_one_pod_of_a_later_pool_is_not_its_turn",
    ),
    Guard(
        "a turn is kept while there is a way back",
        gone(mending, "obstacles", ("none",)),
        PODS + "test_where_there_is_a_way_back_the_turn_of_a_pool_is_kept",
    ),
    Guard(
        "who is down for other reasons holds no lock",
        held_by_whoever_is_down,
        PODS + "test_whoever_reverts_gets_the_lock_back_although_a_pod_is_down",
        (kubelet.Fault.CRASH,),
    ),
    Guard(
        "the lock lets go of who is given up",
        lambda patch: patch.setattr(scene.Scene, "lighter_lock", None),
        PODS + "test_a_node_that_does_not_come_back_may_be_given_up_while_an_upgrade_is_under_way",
        ("3.4.0",),
    ),
    Guard(
        "a lock is opened when nobody has to be let out of it",
        lambda patch: (
            patch.setattr(upgrades, "rollback_is_possible", SimpleNamespace(run=lambda _: done()))
            or patch.setattr(upgrades, "upgrade_is_begun", SimpleNamespace(run=lambda _: done()))
        ),
        PODS + "test_a_node_may_be_given_up_in_the_very_moment_when_an_upgrade_that_was_taken_back_is_over",
    ),
    Guard(
        "only who has nothing is given up",
        gone(mending, "is_empty", True),
        PODS + "test_a_manager_that_is_down_and_votes_is_not_given_up_with_its_vote",
    ),
    Guard(
        "nobody is given up in a red cluster",
        lambda patch: patch.setattr(mending, "Color", SimpleNamespace(RED=None)),
        PODS + "test_who_is_down_is_not_given_up_while_a_primary_is_missing",
    ),
    Guard(
        "who is down leaves before an upgrade",
        gone(leaving, "is_lost_for_good", False),
        PODS + "test_of_a_pool_that_loses_nodes_those_that_are_well_go_before_an_upgrade_where_one_is_down",
    ),
    Guard(
        "the only vote moves before its owner goes",
        gone(handing, "vote_moved"),
        SCALING + "test_a_pool_that_loses_its_vote_leaves_it_to_another_manager",
        (["cluster_manager"], ["ingest"]),
    ),
    Guard(
        "a vote moves before its owner loses the role",
        gone(voting, "loses_vote", False),
        LOSING + "test_votes_may_move_from_one_pool_to_another_in_one_edit",
    ),
    Guard(
        "the last data nodes keep the role",
        gone(gates, "is_going_to_lose", False),
        LOSING + "test_the_only_data_pool_keeps_its_role_and_all_its_pods",
    ),
    Guard(
        "shards leave before the role does",
        gone(draining, "is_going_to_lose", False),
        LOSING + "test_shards_leave_a_pool_that_loses_the_role_data",
        ("ingest",),
    ),
    Guard(
        "whoever gives goes after whoever gets",
        gone(order, "is_going_to_lose", False),
        LOSING + "test_votes_may_move_from_one_pool_to_another_in_one_edit",
    ),
    Guard(
        "who begins a cluster is settled once",
        lambda patch: patch.setattr(scene.Scene, "_bootstrapper", None),
        SCALING + "test_another_first_pool_of_managers_restarts_nobody",
    ),
    Guard(
        "whoever leaves is emptied first",
        gone(leaving, "_drained"),
        SCALING + "test_a_node_that_leaves_is_emptied_first",
    ),
    Guard(
        "a drain that cannot end is told",
        gone(leaving, "why_nobody_takes"),
        SCALING + "test_a_drain_that_can_never_finish_stalls_and_says_why",
    ),
    Guard(
        "the last data nodes stay",
        gone(leaving, "heirs", frozenset({"somebody"})),
        SCALING + "test_the_last_data_nodes_keep_their_shards_and_it_is_said_why",
        ([operators_at_work.pool("managers", 3, "cluster_manager")],),
    ),
    Guard(
        "nobody is forgotten with a SearchPool",
        gone(observing, "_pool_of"),
        SCALING + "test_whoever_deletes_what_leaves_by_hand_makes_nobody_forget_its_nodes",
        (("SearchPool", "StatefulSet"),),
    ),
    Guard(
        "patterns exclude as names do",
        lambda patch: patch.setattr(EngineView, "excludes", lambda view, name: name in view.excluded),
        DRAINING + "test_a_last_copy_that_nobody_may_take_is_named_with_a_way_out",
        (("logs-data-*",),),
    ),
    Guard(
        "whoever leaves may be needed once more",
        gone(leaving, "borrowed", frozenset()),
        DRAINING + "test_whoever_leaves_takes_the_shards_of_the_last_that_stays_while_that_is_replaced",
        (False,),
    ),
    Guard(
        "somebody may have shards",
        gone(draining, "takers", frozenset({"somebody"})),
        DRAINING + "test_where_a_loss_is_accepted_nobody_is_drained_who_has_no_heir",
        (True,),
    ),
    Guard(
        "an accepted loss is not waited for",
        gone(draining, "is_taken_by_nobody", False),
        DRAINING + "test_the_only_data_node_goes_with_its_disk_where_that_is_accepted",
    ),
    Guard(
        "whoever leaves has no vote",
        gone(leaving, "_vote_given"),
        SCALING + "test_managers_leave_one_at_a_time_and_without_a_vote",
        (1,),
    ),
    Guard(
        "votes of others stay where they put them",
        gone(settings, "_told_again"),
        SCALING + "test_whom_users_have_excluded_from_voting_stays_so",
    ),
    Guard(
        "a vote of somebody absent is nobody's",
        gone(leaving, "_managers_away", []),
        PODS + "test_no_vote_is_taken_from_somebody_absent_who_may_be_one_that_stays",
    ),
    Guard(
        "nobody leaves a red cluster",
        gone(leaving, "_objection"),
        SCALING + "test_nobody_leaves_a_red_cluster",
    ),
    Guard(
        "the gates of a leave",
        gone(leaving, "first_closed"),
        SCALING + "test_nobody_leaves_a_cluster_that_is_still_getting_green",
    ),
    Guard(
        "fewer nodes only of those that have nothing",
        gone(pools, "is_empty", True),
        SCALING + "test_a_stateful_set_shrinks_only_when_whoever_goes_has_nothing",
    ),
    Guard(
        "who is away may have what is missing",
        lambda patch: patch.setattr(pools, "Color", SimpleNamespace(RED=None)),
        SCALING
        + "test_nodes_that_leave_come_back_with_what_they_have_where_somebody_takes_their_stateful_set",
    ),
    Guard(
        "whoever leaves needs a StatefulSet",
        lambda patch: patch.setattr(observed.PoolView, "is_over", property(lambda it: not it.is_wanted)),
        "configuration/test_migrations.py::"
        "test_who_is_evicted_from_a_pool_that_leaves_while_labels_change_comes_back",
        (["more-1"],),
    ),
    Guard(
        "an upgrade before fewer nodes",
        gone(leaving, "_after_upgrade"),
        SCALING + "test_nobody_leaves_before_an_upgrade_that_is_about_to_begin",
    ),
    Guard(
        "the lock has what stands",
        locked_as_written,
        SCALING + "test_an_upgrade_and_fewer_nodes_in_one_edit_come_one_after_the_other",
    ),
    Guard(
        "the lock has the security that stands",
        lambda patch: patch.setattr(scene, "security_standing", lambda _, __, written: dict(written)),
        "stories/test_locks.py::"
        "test_other_certificates_that_are_asked_for_together_with_an_upgrade_come_after_it",
        ("b",),
    ),
    Guard(
        "whoever stays gets shards again",
        gone(leaving, "forgiven"),
        SCALING + "test_whoever_may_stay_after_all_gets_shards_again",
    ),
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
        "a healthy beginning",
        gone(upgrades, "_illness"),
        UPGRADES + "test_no_upgrade_begins_in_a_cluster_that_is_not_well",
    ),
    Guard(
        "Kubernetes waits for its turn",
        gone(pools, "partition", 0),
        UPGRADES + "test_kubernetes_takes_nobody_before_it_is_told_to",
    ),
    Guard(
        "the gates of Kubernetes",
        gone(handing, "first_closed"),
        UPGRADES + "test_kubernetes_takes_nobody_before_it_is_told_to",
    ),
    Guard(
        "Dashboards are waited for",
        gone(objects, "_is_available", True),
        "stories/test_dashboards.py::test_they_are_waited_for_until_they_are_ready",
    ),
    Guard(
        "OLM is held",
        gone(loop, "held"),
        "stories/test_holding_olm.py::test_while_somebody_is_away_olm_has_to_wait",
    ),
    Guard(
        "what is refused holds no OLM",
        gone(loop, "denied_writes", ()),
        "stories/test_holding_olm.py"
        "::test_what_is_refused_does_not_hold_the_release_that_may_have_the_right_to_it",
        ("0.3.1", "delete StatefulSet"),
    ),
    Guard(
        "nonsense holds no OLM",
        lambda patch: patch.setattr(loop, "_is_left", lambda cluster: cluster.is_deleting),
        "stories/test_holding_olm.py::test_nor_does_a_cluster_whose_spec_nobody_can_follow",
    ),
    Guard(
        "one budget over all voters",
        budgets_apart,
        QUORUM + "test_voters_have_one_budget_whatever_their_pools",
    ),
    Guard(
        "one budget over a pod",
        gone(budgets, "gone", done()),
        QUORUM + "test_no_pod_has_two_budgets_for_longer_than_a_cycle",
    ),
    Guard(
        "voters are counted between two sets",
        voters_uncounted,
        QUORUM + "test_pods_that_no_stateful_set_counts_do_not_make_room_for_others",
    ),
    Guard(
        "old histories go",
        gone(migrations, "orphaned_revisions", []),
        "configuration/test_migrations.py::test_no_history_of_the_old_labels_stays",
    ),
    Guard(
        "hand edits are taken back",
        edits_unnoticed,
        EDITS + "test_what_is_ours_is_put_back_and_no_pod_is_touched",
        (shorter_grace,),
    ),
    Guard(
        "a pod of an edited image is outdated",
        lambda patch: patch.setattr(observed, "_is_stale", by_mark),
        EDITS + "test_a_pod_that_was_made_from_an_edited_image_is_replaced",
    ),
    Guard(
        "nobody is sent back to a disk it cannot read",
        lambda patch: patch.setattr(observed, "_is_stale", by_image),
        EDITS + "test_a_node_that_has_run_an_edited_newer_version_is_not_sent_back_to_a_disk_it_cannot_read",
    ),
    Guard(
        "what was told is remembered",
        nothing_remembered,
        "scenarios/test_people_are_told.py::test_an_upgrade_that_is_stuck_is_one_warning_however_long",
        ("Off", ""),
    ),
    Guard(
        "late deletions miss",
        lambda patch: patch.setattr(journal.Journal, "aimed_at", None),
        TWO + "test_who_is_only_late_takes_nobody_without_anybodys_knowing",
    ),
    Guard(
        "the ledger is confirmed before a call",
        gone(deeds, "_confirm"),
        TWO + "test_the_engine_is_not_told_what_has_long_been_undone",
    ),
    Guard(
        "settings are taken back before they are forgotten",
        gone(settings, "_is_taken_back", True),
        SINGLE + "test_an_engine_that_answers_from_the_past_changes_nothing_about_the_end",
        (runs.UPGRADE,),
    ),
    Guard(
        "what was decided without the lock is decided anew",
        lambda patch: patch.setattr(loop, "_on_one_course", lambda made, _: made),
        PEOPLE + "test_what_is_asked_for_together_with_an_upgrade_comes_after_it",
    ),
    Guard(
        "a wish that is refused stops nothing",
        gone(failing, "refusal"),
        PEOPLE + "test_another_version_at_any_moment_is_gone_to_or_refused",
        ("1.3.0",),
    ),
    Guard(
        "a whole beginning",
        gone(upgrades, "_is_half_gone", False),
        PEOPLE + "test_no_upgrade_begins_without_a_part_of_a_pool",
    ),
    Guard(
        "patience begins with whoever looks",
        gone(failing, "_is_new_here", False),
        CLOCKS + "test_no_upgrade_turns_back_because_a_clock_leaps",
        (3600,),
    ),
    Guard(
        "what was decided for another version is decided anew",
        lambda patch: patch.setattr(loop, "_course", lambda journal: journal.lock),
        UPGRADES + "test_no_pool_is_permitted_a_version_that_another_one_has_just_taken_the_place_of",
    ),
    Guard(
        "a refusal keeps nobody from turning back",
        deaf_while_refused,
        "stories/test_refusals.py::"
        "test_an_upgrade_that_fails_turns_back_also_while_another_version_is_refused",
        ("4.0.0",),
    ),
    Guard(
        "what is not ours is left alone",
        gone(observing, "_is_of", True),
        "stories/test_namesakes.py::test_whoever_has_one_of_our_names_is_named_and_left_alone",
        (writes.Key("v1", "Service", "search", "logs"),),
    ),
    Guard(
        "credentials come first",
        lambda patch: patch.setattr(scene.Scene, "missing_secret", None),
        "stories/test_credentials.py::test_a_cluster_whose_credentials_are_missing_is_not_made_without",
        ("0.4.0",),
    ),
    Guard(
        "what is secret stays in Secrets",
        lambda patch: patch.setattr(applying, "_public", lambda wanted: wanted),
        "configuration/test_applying.py::test_what_a_secret_keeps_stands_nowhere_but_in_its_data",
    ),
    Guard(
        "a fault of ours is no version's",
        lambda patch: patch.setattr(failing, "NOBODYS", frozenset({DENIED})),
        TURNING + "test_a_fault_of_the_operator_stalls_an_upgrade_and_turns_none_back",
        (pytest.MonkeyPatch(),),
    ),
    Guard(
        "storage is settled",
        lambda patch: patch.setattr(observing, "_storage", lambda pool, *_: pool.storage),
        "stories/test_storage.py::"
        "test_a_pool_that_comes_back_with_other_storage_keeps_what_it_has_and_says_so",
        (None, {"size": "20Gi"}),
    ),
    Guard(
        "more nodes need no turn",
        gone(migrations, "standing", done()),
        "configuration/test_migrations.py::test_more_nodes_of_any_pool_come_also_while_labels_change",
        ("managers",),
    ),
    Guard(
        "moments to come are not waited for",
        moments_of_any_clock,
        CLOCKS + "test_whoever_does_not_come_back_is_waited_for_as_long_by_any_clock",
        (-3600,),
    ),
    Guard(
        "a change of reasons is no progress",
        begun_anew_for_another_reason,
        "scenarios/test_people_are_told.py::"
        "test_an_engine_that_answers_every_other_time_is_no_excuse_for_waiting_for_ever",
        ("Off",),
    ),
    Guard(
        "a refusal costs nobody else a write",
        over_with_the_first_refusal,
        DENIALS + "test_who_is_refused_keeps_nobody_else_from_their_work",
    ),
    Guard(
        "what is refused is noted",
        gone(loop, "_noted", False),
        DENIALS + "test_after_a_while_it_stalls_and_people_are_told_once",
    ),
    Guard(
        "a refusal is noted beside other words",
        noted_by_itself_alone,
        FLAPPING + "test_what_is_refused_meanwhile_is_told_and_stalls",
    ),
    Guard(
        "the same refusal is no news",
        gone(loop, "is_news", True),
        DENIALS + "test_the_same_refusal_again_and_again_is_no_reason_to_write",
        ("the same",),
    ),
    Guard(
        "a refusal is no version's fault",
        lambda patch: patch.setattr(failing, "NOBODYS", frozenset({FAULT})),
        DENIALS + "test_an_upgrade_whose_pods_may_not_be_deleted_stalls_and_does_not_turn_back",
        ("Automatic",),
    ),
    Guard(
        "who is refused comes last",
        lambda patch: patch.setattr(planning, "DENIED", "no reason at all"),
        DENIALS + "test_who_may_take_nothing_away_lets_others_go_first",
    ),
    Guard(
        "what is decided as before is asked for again, and no more",
        gone(rolling, "_once_more"),
        DENIALS + "test_a_pod_that_may_not_be_deleted_is_not_touched_again_and_again",
    ),
    Guard(
        "words in a status end no cycle",
        lambda patch: patch.setattr(loop.Step, "only_tells", property(lambda step: not step.is_news)),
        FLAPPING + "test_pools_have_their_turn_although_every_look_has_something_else_to_tell",
    ),
    Guard(
        "a relapse is told when it lasts",
        gone(loop, "_is_relapse", False),
        FLAPPING + "test_a_status_is_not_written_with_every_look",
        ((lambda _: Unreachable("timed out"), lambda seen: seen),),
    ),
)


def test_named(guard: Guard) -> Callable[..., None]:
    """A fresh copy of the test: what others of its module remember was seen with the guard in place."""
    path, _, name = guard.test.partition("::")
    spec = importlib.util.spec_from_file_location(f"killer_{Path(path).stem}", TESTS / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., None] = getattr(module, name)
    return found


test_named.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("guard", TABLE, ids=lambda guard: guard.name)
def test_without_it_a_test_fails(guard: Guard, monkeypatch: Patch) -> None:
    test = test_named(guard)
    # Stories that go on for ever without it need not be heard for that long.
    monkeypatch.setattr(tales, "_LIMIT", 600)
    guard.taken_away(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test(*guard.arguments)


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> Iterator[None]:
    """Runs that were seen with a guard in place say nothing about those without it, nor they about others."""
    runs.forgotten()
    yield
    runs.forgotten()


def test_every_law_is_in_the_docs() -> None:
    text = GUARDS.read_text(encoding="utf-8")
    assert not [law.__name__ for law in LAWS if f"`{law.__name__}`" not in text]


def test_every_guard_is_in_the_docs_with_its_test() -> None:
    text = GUARDS.read_text(encoding="utf-8").partition("## The laws")[0]
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
    told = {row[1].strip(): row[3].strip().strip("`") for row in rows[1:]}
    assert told == {guard.name: guard.test for guard in TABLE}
