"""What is explained is what is done."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from click.testing import CliRunner

from operators_at_work import CLUSTER, asked_for, edited, settled, with_index
from searchkeeper.cli.app import cli
from searchkeeper.describe import ActionSummary, ClusterDescription, StepState, describe
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.observe import observe
from searchkeeper.opensearch.calls import Call
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import newest
from searchkeeper.testing.fake_cluster import FakeCluster

RELEASE = newest()


def explained(world: FakeCluster) -> ClusterDescription:
    snapshot = observe(world, world, CLUSTER, RELEASE, world.state.now)
    assert snapshot is not None
    return describe(snapshot)


@dataclass
class Recording:
    """Both ports; every write is written down, in the words of an explanation."""

    world: FakeCluster
    done: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.world, name)

    def create(self, manifest: Manifest) -> Manifest:
        self.done.append(f"create {Key.of(manifest)}")
        return self.world.create(manifest)

    def patch(self, patch: Patch) -> Manifest:
        self.done.append(f"patch {patch.key}")
        return self.world.patch(patch)

    def delete(self, delete: Delete) -> None:
        self.done.append(f"delete {delete.key}")
        self.world.delete(delete)

    def patch_status(self, patch: Patch) -> Manifest:
        if patch.changes["status"]:  # One that changes nothing only asks whether the ledger still counts.
            self.done.append(f"store the status of {patch.key}")
        return self.world.patch_status(patch)

    def record(self, event: EmitEvent) -> None:
        self.done.append(f"tell people: {event.reason}: {event.message}")
        self.world.record(event)

    def execute(self, call: Call) -> None:
        self.done.append(f"tell the engine: {call}")
        self.world.execute(call)


def head(line: str) -> str:
    """Without the fields that a patch changes."""
    return line.partition(": ")[0] if line.startswith("patch ") else line


def upgrading(**spec: Any) -> FakeCluster:
    world = asked_for(**spec)
    settled(world, RELEASE.version)
    with_index(world)
    return edited(world, version="3.4.0")


def test_the_writes_that_are_explained_are_those_of_the_next_cycle() -> None:
    world = asked_for()
    taken = []
    for turn in range(400):
        if turn == 60:
            edited(world, version="3.4.0")
        said, ports = explained(world), Recording(world)
        done = reconcile(ports, ports, CLUSTER, RELEASE, world.state.now)
        assert list(map(head, said.operations)) == list(map(head, ports.done))
        pods = [line.removeprefix("delete Pod ") for line in ports.done if line.startswith("delete Pod ")]
        for pod in pods:
            assert said.next is not None
            assert (said.next.pod, said.next.is_free) == (pod, True)
        taken += pods
        if not done.wrote:
            world.tick()
    assert len(taken) == 5


def test_steps_are_in_the_order_that_pods_go() -> None:
    world = upgrading()
    expected = [step.name for step in explained(world).steps]
    taken: list[str] = []
    for _ in range(300):
        ports = Recording(world)
        if not reconcile(ports, ports, CLUSTER, RELEASE, world.state.now).wrote:
            world.tick()
        taken += [line.removeprefix("delete Pod ") for line in ports.done if line.startswith("delete Pod ")]
    assert taken == expected


def test_a_step_is_next_then_current_then_done() -> None:
    world = upgrading()
    states: list[StepState] = []
    for _ in range(60):
        found = {step.name: step.state for step in explained(world).steps}
        if not states or states[-1] != found["logs-data-0"]:
            states.append(found["logs-data-0"])
        if not reconcile(world, world, CLUSTER, RELEASE, world.state.now).wrote:
            world.tick()
    assert states == [StepState.NEXT, StepState.CURRENT, StepState.DONE]


def test_one_step_is_next_at_most_and_it_is_the_pod_that_the_gates_are_asked_about() -> None:
    world = upgrading(dashboards={"enabled": True})
    snapshot: list[str] = []
    for _ in range(300):
        said = explained(world)
        ahead = [step for step in said.steps if step.state in (StepState.NEXT, StepState.WAITING)]
        assert [step.name for step in ahead if step.state is StepState.NEXT] == [
            each.name for each in ahead[:1]
        ]
        if said.steps and said.next is not None:
            assert ahead[0].name == said.next.pod
        snapshot += [each.name for each in ahead[:1] if each.name not in snapshot]
        if not reconcile(world, world, CLUSTER, RELEASE, world.state.now).wrote:
            world.tick()
    assert len(snapshot) == 6


def test_every_pod_that_a_log_shows_as_away_was_told_to_be_replaced() -> None:
    lines = CliRunner().invoke(cli, ["run", "--embedded"]).output.splitlines()
    replaced = [line.split()[-1] for line in lines if " replacing " in line]
    away = [line.split()[-6] for line in lines if " waiting until " in line]
    assert replaced == away
    assert len(replaced) == 7


def test_an_action_that_fails_is_what_a_cluster_is_held_up_by() -> None:
    line = ActionSummary("SearchCluster logs", "PoolsApplied", "Unknown", "Error", "KeyError: 'spec'")
    follower = ActionSummary(
        "SearchCluster logs", "PoolsConverged", "Unknown", "PrerequisiteNotMet", "waits for"
    )
    said = replace(explained(upgrading()), actions=(follower, line))
    assert said.cause == "KeyError: 'spec'"


def test_before_an_upgrade_has_begun_its_first_pod_is_shown() -> None:
    said = explained(upgrading())

    assert said.upgrade is None
    assert said.target == "3.4.0"
    assert said.next is not None
    assert (said.next.pod, said.next.is_free) == ("logs-data-0", True)


def test_a_closed_gate_says_why() -> None:
    said = explained(upgrading(upgrade={"paused": True}))

    assert said.next is not None
    closed = [(gate.gate, gate.message) for gate in said.next.gates if not gate.is_open]
    assert closed == [("NotPaused", "spec.upgrade.paused is set")]


def test_a_refused_version_is_no_target() -> None:
    world = upgrading()
    said = explained(edited(world, version="1.3.0"))

    assert (said.target, said.steps, said.next) == ("2.19.4", (), None)
    assert any(line.action == "VersionAccepted" and line.reason == "Downgrade" for line in said.actions)


def test_a_cluster_that_is_deleted_has_no_next_pod() -> None:
    world = upgrading()
    world.delete(Delete(CLUSTER, "", ""))

    said = explained(world)

    assert said.next is None
    assert said.operations


def test_a_cluster_at_rest_has_nothing_to_explain() -> None:
    world = asked_for()
    settled(world, RELEASE.version)
    said = explained(world)

    assert (said.operations, said.next, said.steps, said.deadline) == ((), None, (), None)
    assert said.progress == 1
    assert all(line.status == "True" for line in said.actions)
