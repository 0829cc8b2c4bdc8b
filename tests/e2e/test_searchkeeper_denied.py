"""Writes that a real API server refuses for good: said, asked for at a pace, and nobody else's affair."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import pytest

from e2e.searchkeeper_stage import LONG, OPERATOR, Stage, token_of_operator
from e2e.stand.api import Api, Object, RefusedError, conditions
from e2e.stand.control_plane import ControlPlane
from e2e.stand.waiting import until
from e2e.witness import audited
from searchkeeper.api.status import SummaryType
from searchkeeper.planner.denied_operations import DENIED_PREFIX
from searchkeeper.testing.audit_log import unneeded_permissions

pytestmark = pytest.mark.e2e

ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
POLICIES: Final = f"{ADMISSION}/validatingadmissionpolicies"
BINDINGS: Final = f"{ADMISSION}/validatingadmissionpolicybindings"
FREEZE: Final = "nothing is taken away before Monday"
NO_BUDGETS: Final = {"count/poddisruptionbudgets.policy": "0"}
ADVICE: Final = "allow it, or change the spec so that it is not needed; the operator retries"
READS: Final = frozenset({"get", "list", "watch"})
# Seconds from one answer to the next request: twice as long each time, up to `--resync`.
PACE: Final = (0.2, 0.4, 0.5, 0.5)


@contextmanager
def quota(api: Api, namespace: str, hard: dict[str, str]) -> Iterator[None]:
    """From when it is counted: before that it refuses everything, in other words."""
    path = f"/api/v1/namespaces/{namespace}/resourcequotas"
    api.create(path, {"metadata": {"name": "small"}, "spec": {"hard": hard}})
    until("it is counted", lambda: api.get(f"{path}/small")["status"].get("used"))
    try:
        yield
    finally:
        api.delete(f"{path}/small")


@contextmanager
def frozen(stage: Stage, pod: str) -> Iterator[None]:
    """Nobody may delete a pod there, from when this one may not be deleted."""
    name = stage.namespace
    stage.api.create(POLICIES, freeze(name))
    stage.api.create(BINDINGS, binding(name))
    try:
        until("it is frozen", lambda: is_frozen(stage, pod))
        yield
    finally:
        stage.api.delete(f"{BINDINGS}/{name}")
        stage.api.delete(f"{POLICIES}/{name}")


def freeze(namespace: str) -> Object:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["DELETE"]}
    where = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    spec = {
        "matchConstraints": {"namespaceSelector": where, "resourceRules": [rule]},
        "validations": [{"expression": "false", "message": FREEZE, "reason": "Forbidden"}],
    }
    return {"metadata": {"name": namespace}, "spec": spec}


def binding(policy: str) -> Object:
    return {"metadata": {"name": policy}, "spec": {"policyName": policy, "validationActions": ["Deny"]}}


def is_frozen(stage: Stage, pod: str) -> bool:
    try:
        stage.api.delete(f"{stage.core}/pods/{pod}?dryRun=All")
    except RefusedError as refused:
        return FREEZE in refused.message
    return False


def condition(stage: Stage, kind: str) -> str:
    found = {each["type"]: each for each in conditions(stage.cluster)}.get(kind, {})
    return f"{found.get('status')} {found.get('reason')}: {found.get('message')}"


def waiting(stage: Stage) -> list[str]:
    """The actions whose condition is not True."""
    actions = [each for each in conditions(stage.cluster) if each["type"] not in list(SummaryType)]
    return [each["type"] for each in actions if each["status"] != "True"]


def changes(stage: Stage) -> list[Any]:
    """What the operator has asked for, done or refused; to keep the lease is no change of anything.

    Nor is to have the ledger confirmed before something is made. A status that is stored moves a revision.
    """
    return [
        each
        for each in stage.snapshot.log()
        if each["verb"] not in READS
        and each["objectRef"]["resource"] != "leases"
        and each["objectRef"].get("subresource") != "status"
    ]


def asked(line: Any) -> str:
    about = line["objectRef"]
    return f"{line['verb']} {about['resource']} {about['name']}: {line['responseStatus']['code']}"


def asked_in_peace(stage: Stage, count: int) -> list[Any]:
    """So many changes that were asked for while none was made, by whomever; nothing where one was."""
    before, begin = stage.revisions(), len(changes(stage))
    until("it is asked again", lambda: len(changes(stage)) >= begin + count, LONG)
    found = changes(stage)[begin:]
    return found if stage.revisions() == before else []


def pauses(lines: list[Any]) -> list[float]:
    ends = [datetime.fromisoformat(each["stageTimestamp"]) for each in lines]
    begins = [datetime.fromisoformat(each["requestReceivedTimestamp"]) for each in lines]
    return [(begin - end).total_seconds() for end, begin in zip(ends, begins[1:], strict=False)]


def assert_asked_at_a_pace(stage: Stage, what: str) -> None:
    """Again and again, and nothing besides."""
    found = until("nothing is written any more", lambda: asked_in_peace(stage, len(PACE) + 1), LONG)
    assert {asked(each) for each in found} == {what}
    assert all(pause >= least for pause, least in zip(pauses(found), PACE, strict=False)), pauses(found)


def denials(stage: Stage) -> list[str]:
    return [line for line in stage.status["ledger"] if line.startswith(DENIED_PREFIX)]


def test_a_cluster_comes_up_but_for_what_a_quota_refuses(stage: Stage) -> None:
    with stage.operator():
        with quota(stage.api, stage.namespace, NO_BUDGETS):
            stage.ask_for()
            until("all else is there", lambda: stage.status.get("ready") == "5/5", LONG)
            until(
                "it is said",
                lambda: "exceeded quota: small" in condition(stage, "DisruptionBudgetsApplied"),
                LONG,
            )
            assert_asked_at_a_pace(stage, "create poddisruptionbudgets logs-data: 403")
            said = condition(stage, "DisruptionBudgetsApplied")
            assert said.startswith(
                "False OperationDenied: cannot create PodDisruptionBudget logs-data: POST /apis/"
            )
            assert said.endswith(f"limited: count/poddisruptionbudgets.policy=0; {ADVICE}")
            assert waiting(stage) == ["DisruptionBudgetsApplied"]
            assert condition(stage, "Degraded").startswith("True OperationDenied: cannot create")
            assert denials(stage) == ["denied/DisruptionBudgetsApplied"]
        stage.until_it_runs("2.19.4")
        assert denials(stage) == []


def test_an_upgrade_waits_while_a_policy_lets_no_pod_go(stage: Stage) -> None:
    stage.ask_for()
    with stage.operator():
        stage.until_it_runs("2.19.4")
        stage.snapshot.index("books")
        before = {each["metadata"]["uid"] for each in stage.pods()}
        with frozen(stage, "logs-data-0"):
            stage.edit(version="3.4.0")
            until("it is said", lambda: FREEZE in condition(stage, "PodsCurrent"), LONG)
            assert_asked_at_a_pace(stage, "delete pods logs-data-0: 403")
            said = condition(stage, "PodsCurrent")
            assert said.startswith("False OperationDenied: cannot delete Pod logs-data-0: DELETE /api/v1/")
            assert said.endswith(f"denied request: {FREEZE}; {ADVICE}")
            assert {each["metadata"]["uid"] for each in stage.pods()} == before
            assert stage.status["phase"] == "Upgrading"
        stage.until_it_runs("3.4.0")
        assert denials(stage) == []
        assert [each["result"] for each in stage.status["upgrade"]["history"]] == ["Finished"]


def test_a_missing_right_is_told_from_what_a_quota_refuses(plane: ControlPlane, account: None) -> None:
    """By the API server's own log, in which both have the same number."""
    namespace = "told-apart"
    plane.api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    operator = plane.api.another(token_of_operator(plane.api))
    with quota(plane.api, namespace, NO_BUDGETS):
        assert refused(operator, f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets") == 403
    assert refused(operator, f"/api/v1/namespaces/{namespace}/pods") == 403
    operator.close()
    told = unneeded_permissions(audited(plane, namespace), {OPERATOR})
    assert [each.partition(":")[0] for each in told] == [f"create /api/v1/namespaces/{namespace}/pods"]


def refused(api: Api, path: str) -> int:
    """The number that comes with the refusal of a new object there."""
    with pytest.raises(RefusedError) as caught:
        api.create(path, {"metadata": {"name": "logs"}})
    return caught.value.code
