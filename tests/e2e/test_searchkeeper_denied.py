"""Operations that a real API server denies: the operator reports and retries them. Other actions continue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import pytest

from searchkeeper.api.status import SummaryType
from searchkeeper.planner.denied_operations import DENIED_PREFIX
from searchkeeper.testing.audit_log import unneeded_permissions
from tests.e2e.operator_sandbox import OPERATOR, TIMEOUT, OperatorSandbox, create_operator_token
from tests.e2e.run_recorder import read_audit_log
from tests.e2e.servers.api import Api, ApiError, Object, conditions
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.polling import wait_until

pytestmark = pytest.mark.e2e

ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
POLICIES: Final = f"{ADMISSION}/validatingadmissionpolicies"
BINDINGS: Final = f"{ADMISSION}/validatingadmissionpolicybindings"
POLICY_MESSAGE: Final = "no pod may be deleted before Monday"
NO_BUDGETS: Final = {"count/poddisruptionbudgets.policy": "0"}
ADVICE: Final = "allow it, or change the spec so that it is not needed; the operator retries"
READ_VERBS: Final = frozenset({"get", "list", "watch"})
# Seconds from a response to the next attempt: the delay doubles up to the interval of `--resync`.
RETRY_DELAYS: Final = (0.2, 0.4, 0.5, 0.5)


@contextmanager
def quota(api: Api, namespace: str, hard: dict[str, str]) -> Iterator[None]:
    """Create a ResourceQuota and wait for its status. Before it has one, it denies with another message."""
    path = f"/api/v1/namespaces/{namespace}/resourcequotas"
    api.create(path, {"metadata": {"name": "small"}, "spec": {"hard": hard}})
    wait_until("the quota has a status", lambda: api.get(f"{path}/small")["status"].get("used"))
    try:
        yield
    finally:
        api.delete(f"{path}/small")


@contextmanager
def deny_pod_deletion(sandbox: OperatorSandbox, pod: str) -> Iterator[None]:
    """Create an admission policy that denies the deletion of pods, and wait until it denies that of `pod`."""
    name = sandbox.namespace
    sandbox.api.create(POLICIES, deletion_policy(name))
    sandbox.api.create(BINDINGS, policy_binding(name))
    try:
        wait_until("the policy is enforced", lambda: is_deletion_denied(sandbox, pod))
        yield
    finally:
        sandbox.api.delete(f"{BINDINGS}/{name}")
        sandbox.api.delete(f"{POLICIES}/{name}")


def deletion_policy(namespace: str) -> Object:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["DELETE"]}
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    spec = {
        "matchConstraints": {"namespaceSelector": selector, "resourceRules": [rule]},
        "validations": [{"expression": "false", "message": POLICY_MESSAGE, "reason": "Forbidden"}],
    }
    return {"metadata": {"name": namespace}, "spec": spec}


def policy_binding(policy: str) -> Object:
    return {"metadata": {"name": policy}, "spec": {"policyName": policy, "validationActions": ["Deny"]}}


def is_deletion_denied(sandbox: OperatorSandbox, pod: str) -> bool:
    try:
        sandbox.api.delete(f"{sandbox.core}/pods/{pod}?dryRun=All")
    except ApiError as error:
        return POLICY_MESSAGE in error.message
    return False


def get_condition(sandbox: OperatorSandbox, kind: str) -> str:
    """Return a condition as `STATUS REASON: MESSAGE`."""
    found = {each["type"]: each for each in conditions(sandbox.get_cluster())}.get(kind, {})
    return f"{found.get('status')} {found.get('reason')}: {found.get('message')}"


def list_unmet_actions(sandbox: OperatorSandbox) -> list[str]:
    """Return the actions whose condition is not True."""
    actions = [each for each in conditions(sandbox.get_cluster()) if each["type"] not in list(SummaryType)]
    return [each["type"] for each in actions if each["status"] != "True"]


def read_attempted_writes(sandbox: OperatorSandbox) -> list[Any]:
    """Return the audited writes of the operator, executed or denied, without those of Lease and status.

    The operator confirms the ledger with a patch of the status before it creates an object. A patch that
    changes the status changes a resource version, too.
    """
    return [
        each
        for each in sandbox.recorder.read_audit_log()
        if each["verb"] not in READ_VERBS
        and each["objectRef"]["resource"] != "leases"
        and each["objectRef"].get("subresource") != "status"
    ]


def describe_request(event: Any) -> str:
    target = event["objectRef"]
    return f"{event['verb']} {target['resource']} {target['name']}: {event['responseStatus']['code']}"


def attempts_without_change(sandbox: OperatorSandbox, count: int) -> list[Any]:
    """Wait for this many attempted writes; return none of them if an object has changed meanwhile."""
    before, begin = sandbox.list_resource_versions(), len(read_attempted_writes(sandbox))
    wait_until(
        f"{count} writes are attempted",
        lambda: len(read_attempted_writes(sandbox)) >= begin + count,
        TIMEOUT,
    )
    found = read_attempted_writes(sandbox)[begin:]
    return found if sandbox.list_resource_versions() == before else []


def delays(events: list[Any]) -> list[float]:
    """The seconds from each response to the next request."""
    ends = [datetime.fromisoformat(each["stageTimestamp"]) for each in events]
    begins = [datetime.fromisoformat(each["requestReceivedTimestamp"]) for each in events]
    return [(begin - end).total_seconds() for end, begin in zip(ends, begins[1:], strict=False)]


def assert_only_retries_with_backoff(sandbox: OperatorSandbox, request: str) -> None:
    found = wait_until(
        "the operator only retries",
        lambda: attempts_without_change(sandbox, len(RETRY_DELAYS) + 1),
        TIMEOUT,
    )
    assert {describe_request(each) for each in found} == {request}
    found_delays = delays(found)
    assert all(a >= b for a, b in zip(found_delays, RETRY_DELAYS, strict=False)), found_delays


def list_denials(sandbox: OperatorSandbox) -> list[str]:
    """Return the ledger keys of denied operations."""
    return [key for key in sandbox.get_status()["ledger"] if key.startswith(DENIED_PREFIX)]


def test_cluster_is_created_except_for_what_a_quota_denies(sandbox: OperatorSandbox) -> None:
    with sandbox.run_operator():
        with quota(sandbox.api, sandbox.namespace, NO_BUDGETS):
            sandbox.create_cluster()
            wait_until("all nodes are ready", lambda: sandbox.get_status().get("ready") == "5/5", TIMEOUT)
            wait_until(
                "the condition reports the quota",
                lambda: "exceeded quota: small" in get_condition(sandbox, "DisruptionBudgetsApplied"),
                TIMEOUT,
            )
            assert_only_retries_with_backoff(sandbox, "create poddisruptionbudgets logs-data: 403")
            condition = get_condition(sandbox, "DisruptionBudgetsApplied")
            assert condition.startswith(
                "False OperationDenied: cannot create PodDisruptionBudget logs-data: POST /apis/"
            )
            assert condition.endswith(f"limited: count/poddisruptionbudgets.policy=0; {ADVICE}")
            assert list_unmet_actions(sandbox) == ["DisruptionBudgetsApplied"]
            assert get_condition(sandbox, "Degraded").startswith("True OperationDenied: cannot create")
            assert list_denials(sandbox) == ["denied/DisruptionBudgetsApplied"]
        sandbox.wait_until_running("2.19.4")
        assert list_denials(sandbox) == []


def test_upgrade_waits_while_a_policy_denies_pod_deletion(sandbox: OperatorSandbox) -> None:
    sandbox.create_cluster()
    with sandbox.run_operator():
        sandbox.wait_until_running("2.19.4")
        sandbox.recorder.create_index("books")
        before = {each["metadata"]["uid"] for each in sandbox.list_pods()}
        with deny_pod_deletion(sandbox, "logs-data-0"):
            sandbox.edit_spec(version="3.4.0")
            wait_until(
                "the condition reports the policy",
                lambda: POLICY_MESSAGE in get_condition(sandbox, "PodsCurrent"),
                TIMEOUT,
            )
            assert_only_retries_with_backoff(sandbox, "delete pods logs-data-0: 403")
            condition = get_condition(sandbox, "PodsCurrent")
            assert condition.startswith(
                "False OperationDenied: cannot delete Pod logs-data-0: DELETE /api/v1/"
            )
            assert condition.endswith(f"denied request: {POLICY_MESSAGE}; {ADVICE}")
            assert {each["metadata"]["uid"] for each in sandbox.list_pods()} == before
            assert sandbox.get_status()["phase"] == "Upgrading"
        sandbox.wait_until_running("3.4.0")
        assert list_denials(sandbox) == []
        assert [each["result"] for each in sandbox.get_status()["upgrade"]["history"]] == ["Finished"]


def test_missing_permission_is_distinguished_from_a_quota(
    plane: ControlPlane, operator_prerequisites: None
) -> None:
    """The API server answers 403 in both cases; the audit log has the difference."""
    namespace = "missing-permission"
    plane.api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    operator = plane.api.new_connection(create_operator_token(plane.api))
    with quota(plane.api, namespace, NO_BUDGETS):
        budgets = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
        assert status_code_of_denied_create(operator, budgets) == 403
    assert status_code_of_denied_create(operator, f"/api/v1/namespaces/{namespace}/pods") == 403
    operator.close()
    findings = unneeded_permissions(read_audit_log(plane, namespace), {OPERATOR})
    assert [each.partition(":")[0] for each in findings] == [f"create /api/v1/namespaces/{namespace}/pods"]


def status_code_of_denied_create(api: Api, path: str) -> int:
    """Try to create an object, and return the status code of the error."""
    with pytest.raises(ApiError) as caught:
        api.create(path, {"metadata": {"name": "logs"}})
    return caught.value.code
