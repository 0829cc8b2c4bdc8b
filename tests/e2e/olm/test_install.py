"""`everpath install`, `upgrade`, `status` and `uninstall` on real OLM, with our own catalog and bundles."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from everpath.cli.entry_point import run
from tests.e2e.olm.subscriptions import CATALOG, PACKAGE
from tests.e2e.servers.api import ApiError, Object
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.grpc_catalogs import serve_with_everpath
from tests.e2e.servers.loopback import HOST, free_ports
from tests.e2e.servers.olm_v0 import GROUP, OlmV0
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.processes import WorkDir
from tests.support.commandline import Answer
from tests.support.schemas import conforms

pytestmark = pytest.mark.e2e

V1ALPHA1: Final = f"{GROUP}/v1alpha1/namespaces"

Everpath = Callable[..., Answer]


@pytest.fixture(scope="module")
def address(work_dir: WorkDir, olm_v0: OlmV0) -> Iterator[str]:
    with serve_with_everpath(work_dir, CATALOG, "everpath-serve-install") as served:
        yield served


@pytest.fixture
def everpath(
    plane: ControlPlane, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Everpath:
    monkeypatch.setenv("EVERPATH_CACHE", "off")

    def call(command: str, namespace: str, *options: str) -> Answer:
        capsys.readouterr()
        code = run([command, PACKAGE, "-n", namespace, "--kubeconfig", str(plane.kubeconfig), *options])
        output = capsys.readouterr()
        return Answer(int(code), output.out, output.err)

    return call


@pytest.fixture
def install(everpath: Everpath, address: str) -> Everpath:
    """Installs into a namespace with its own OperatorGroup: groups that overlap would share the APIs."""

    def call(namespace: str, *options: str, at: str = address) -> Answer:
        namespaces = ("--watch-namespaces", namespace)
        return everpath("install", namespace, "--catalog", at, *namespaces, "--timeout", "6m", *options)

    return call


def managed_fields(olm: OlmV0, namespace: str) -> dict[str, str]:
    """Return the managedFields of each object that `install` creates, as JSON by path."""
    paths = {
        f"{V1ALPHA1}/{namespace}/catalogsources/{PACKAGE}-catalog",
        f"{V1ALPHA1}/{namespace}/subscriptions/{PACKAGE}",
        f"{GROUP}/v1/namespaces/{namespace}/operatorgroups/{namespace}-everpath",
    }
    return {path: json.dumps(olm.api.get(path)["metadata"]["managedFields"]) for path in sorted(paths)}


def get_subscription(olm: OlmV0, namespace: str) -> Object:
    return olm.api.get(f"{V1ALPHA1}/{namespace}/subscriptions/{PACKAGE}")


def test_second_install_changes_nothing(install: Everpath, olm_v0: OlmV0) -> None:
    first = install("in-fresh", "--channel", "stable")
    assert first.code == 0, first
    lines = first.out.splitlines()
    assert lines[:4] == [
        "Created Namespace in-fresh",
        "Created OperatorGroup in-fresh-everpath",
        f"Created CatalogSource {PACKAGE}-catalog",
        f"Created Subscription {PACKAGE}",
    ]
    assert lines[-1] == f'OLM has successfully installed "{PACKAGE}.v0.5.0"'
    before = list(fields_of_everpath(managed_fields(olm_v0, "in-fresh")))
    again = install("in-fresh", "--channel", "stable")
    assert again.code == 0, again
    assert "Nothing to change" in again.out
    assert list(fields_of_everpath(managed_fields(olm_v0, "in-fresh"))) == before


def fields_of_everpath(managed: dict[str, str]) -> Iterator[Any]:
    """Yield each path with the managedFields entries of everpath, which include the time of the write."""
    for path, text in managed.items():
        yield path, [entry for entry in json.loads(text) if entry["manager"] == "everpath"]


def test_status_reports_all_objects_from_catalog_to_deployment(everpath: Everpath, install: Everpath) -> None:
    assert install("in-status", "--channel", "fast").code == 0
    # OLM writes its last changes after the operator is running.
    answer = wait_until(
        "status succeeds", lambda: if_successful(everpath("status", "in-status", "-o", "json"))
    )
    assert answer is not None
    report = json.loads(answer.out)
    conforms("status", report)
    (package,) = report["packages"]
    assert package["running"] == f"{PACKAGE}.v0.2.0"
    kinds = [link["kind"] for link in package["chain"]]
    assert kinds[:5] == [
        "CatalogSource",
        "OperatorGroup",
        "Subscription",
        "InstallPlan",
        "ClusterServiceVersion",
    ]
    assert "Deployment" in kinds
    assert {link["state"] for link in package["chain"]} == {"fine"}, package
    assert package["waits"] == []


def if_successful(answer: Answer) -> Answer | None:
    return None if answer.code else answer


def test_upgrade_approves_the_predicted_hops(everpath: Everpath, install: Everpath, olm_v0: OlmV0) -> None:
    options = ("--channel", "stable", "--starting-csv", "0.1.0", "--approval", "Manual")
    waiting = install("in-manual", *options)
    assert waiting.code == 0, waiting
    assert f", which installs {PACKAGE}.v0.1.0" in waiting.out
    assert "installedCSV" not in get_subscription(olm_v0, "in-manual")["status"]
    hop = everpath("upgrade", "in-manual", "--yes", "--timeout", "6m")
    assert hop.code == 0, hop
    assert f'"{PACKAGE}.v0.1.0" is running' in hop.out
    report_options = ("--catalog", str(CATALOG), "-o", "json")
    upgrade = everpath("upgrade", "in-manual", "--yes", "--to", "0.3.1", "--timeout", "8m", *report_options)
    assert upgrade.code == 0, upgrade
    report = json.loads(upgrade.out)
    conforms("install", report)
    versions = ("0.1.1", "0.2.0", "0.3.1", "0.4.0", "0.5.0")
    assert report["path"] == [f"{PACKAGE}.v{version}" for version in versions]
    assert report["running"] == f"{PACKAGE}.v0.3.1"
    assert [change["type"] for change in report["changes"]] == ["approved"] * 3
    skipped = everpath("upgrade", "in-manual", "--yes", "--to", "0.3.5", "--timeout", "6m")
    assert skipped.code == 2, skipped
    assert "goes beyond 0.3.5" in skipped.err


def test_install_can_approve_the_first_install_plan(install: Everpath, olm_v0: OlmV0) -> None:
    answer = install("in-approved", "--channel", "fast", "--approval", "Manual", "--approve")
    assert answer.code == 0, answer
    assert "Approved InstallPlan" in answer.out
    assert get_subscription(olm_v0, "in-approved")["status"]["installedCSV"] == f"{PACKAGE}.v0.2.0"


def test_unknown_channel_is_reported(everpath: Everpath, install: Everpath) -> None:
    answer = install("in-nowhere", "--channel", "stabel")
    assert answer.code == 1, answer
    assert "Waiting for resolution to succeed" in answer.out
    assert "stabel" in answer.out
    assert everpath("status", "in-nowhere").code == 1


def repeat_until_reported(pattern: str, command: Callable[[], Answer]) -> Answer:
    """Repeat a command that fails until its output matches: a slow OLM may need more than one timeout."""
    for _ in range(6):
        answer = command()
        assert answer.code == 1, answer
        if re.search(pattern, answer.out):
            return answer
    raise AssertionError(f"not reported: {pattern}\n{answer}")


def test_unreachable_catalog_server_is_reported_after_the_timeout(install: Everpath) -> None:
    (port,) = free_ports(1)
    repeat_until_reported(
        f"Waiting for the registry server at {re.escape(HOST)}:{port} to accept connections",
        lambda: install("in-silence", "--channel", "stable", "--timeout", "15s", at=f"{HOST}:{port}"),
    )


def test_catalog_image_is_extracted_and_served_by_olm(
    install: Everpath, olm_v0: OlmV0, tmp_path: Path
) -> None:
    shutil.copytree(CATALOG, tmp_path / "configs")
    image = "registry.example.com/acme/catalog:data"
    olm_v0.register_catalog(image, tmp_path)
    answer = install("in-image", "--channel", "fast", at=image)
    assert answer.code == 0, answer
    assert f"Found CatalogSource {PACKAGE}-catalog: READY, {image}" in answer.out


def test_image_pull_error_is_reported_with_the_pod(install: Everpath) -> None:
    image = "registry.example.com/acme/catalog:nowhere"
    repeat_until_reported(
        rf"Waiting for CatalogSource {PACKAGE}-catalog to become READY: pod \S+: container extract-content "
        "is waiting: ErrImagePull",
        lambda: install("in-pulling", "--channel", "fast", "--timeout", "20s", at=image),
    )


def test_existing_subscription_is_changed_only_with_force(install: Everpath, olm_v0: OlmV0) -> None:
    assert install("in-forced", "--channel", "fast").code == 0
    denied = install("in-forced", "--channel", "stable")
    assert denied.code == 2
    assert "spec.channel is fast, not stable" in denied.err
    forced = install("in-forced", "--channel", "stable", "--force")
    assert forced.code == 0, forced
    assert get_subscription(olm_v0, "in-forced")["spec"]["channel"] == "stable"


def test_field_of_another_manager_is_overwritten_only_with_force(install: Everpath, olm_v0: OlmV0) -> None:
    assert install("in-contested", "--channel", "fast", "--no-wait").code == 0
    path = f"{V1ALPHA1}/in-contested/subscriptions/{PACKAGE}"
    olm_v0.api.patch(path, {"spec": {"channel": "candidate"}})
    assert install("in-contested", "--channel", "fast", "--no-wait").code == 2
    assert install("in-contested", "--channel", "fast", "--no-wait", "--force").code == 0
    assert olm_v0.api.get(path)["spec"]["channel"] == "fast"


def test_uninstall_waits_for_custom_resources_and_keeps_volumes(
    everpath: Everpath, install: Everpath, olm_v0: OlmV0
) -> None:
    api, here = olm_v0.api, "in-removed"
    assert install(here, "--channel", "fast").code == 0
    version = f"search.everpath.dev/{_served_version(olm_v0)}"
    cluster = {
        "apiVersion": version,
        "kind": "SearchCluster",
        "metadata": {"name": "logs", "finalizers": ["example.com/kept"]},
        "spec": {
            "version": "2.19.4",
            "pools": [{"name": "data", "roles": ["cluster_manager", "data"], "replicas": 1}],
        },
    }
    resource = f"/apis/{version}/namespaces/{here}/searchclusters"
    api.create(resource, cluster)
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-0"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    api.create(f"/api/v1/namespaces/{here}/persistentvolumeclaims", claim)
    repeat_until_reported(
        "Not deleted: SearchCluster logs has the finalizers example.com/kept",
        lambda: everpath("uninstall", here, "--yes", "--timeout", "5s"),
    )
    wait_until(
        "the Subscription is still followed",
        lambda: get_subscription(olm_v0, here)["status"]["state"] == "AtLatestKnown",
    )
    api.patch(f"{resource}/logs", {"metadata": {"finalizers": None}})
    done = everpath("uninstall", here, "--yes", "--timeout", "6m", "--delete-catalog", "-o", "json")
    assert done.code == 0, done
    conforms("uninstall", json.loads(done.out))
    for path in ("clusterserviceversions", "subscriptions", "catalogsources"):
        assert api.items(f"{V1ALPHA1}/{here}/{path}") == []
    (kept_claim,) = api.items(f"/api/v1/namespaces/{here}/persistentvolumeclaims")
    assert kept_claim["metadata"]["name"] == "data-0"
    with pytest.raises(ApiError, match="404"):
        api.get(f"{resource}/logs")
    assert everpath("uninstall", here, "--yes").out.startswith("Nothing to uninstall")


def _served_version(olm: OlmV0) -> str:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/searchclusters.search.everpath.dev"
    return next(str(each["name"]) for each in olm.api.get(path)["spec"]["versions"] if each["served"])


def test_upgrade_waits_for_upgradeable_condition_and_it_can_be_overridden(
    everpath: Everpath, install: Everpath, olm_v0: OlmV0
) -> None:
    api, here = olm_v0.api, "in-held"
    options = ("--channel", "fast", "--starting-csv", "0.1.0", "--approval", "Manual", "--approve")
    assert install(here, *options).code == 0
    path = f"{GROUP}/v2/namespaces/{here}/operatorconditions/{PACKAGE}.v0.1.0"
    busy = {
        "type": "Upgradeable",
        "status": "False",
        "reason": "Busy",
        "message": "a backup runs",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    api.patch(path, {"spec": {"conditions": [busy]}})
    waits = (
        f"Waiting for {PACKAGE}.v0.1.0 to become upgradeable; its OperatorCondition has Upgradeable=False "
    )
    blocked = repeat_until_reported(
        re.escape(f"{waits}(a backup runs)"),
        lambda: everpath("upgrade", here, "--yes", "--to", "0.1.1", "--timeout", "40s"),
    )
    assert f"kubectl patch operatorcondition {PACKAGE}.v0.1.0 -n {here} --type merge" in blocked.out
    api.patch(path, {"spec": {"overrides": [busy | {"status": "True", "reason": "Forced"}]}})
    upgraded = everpath("upgrade", here, "--yes", "--to", "0.1.1", "--timeout", "6m")
    assert upgraded.code == 0, upgraded
    assert f'"{PACKAGE}.v0.1.1" is running' in upgraded.out


def test_second_operator_group_is_reported(everpath: Everpath, install: Everpath, olm_v0: OlmV0) -> None:
    assert install("in-groups", "--channel", "fast").code == 0
    group = {"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "metadata": {"name": "second"}}
    olm_v0.api.create(f"{GROUP}/v1/namespaces/in-groups/operatorgroups", group | {"spec": {}})
    status = everpath("status", "in-groups")
    assert status.code == 1
    assert "the deletion of all but one OperatorGroup in namespace in-groups" in status.out
    again = install("in-groups", "--channel", "fast")
    assert again.code == 2
    assert "has several OperatorGroups" in again.err


def create_user(olm: OlmV0, plane: ControlPlane, namespace: str, rules: list[Object], file: Path) -> str:
    """Create a ServiceAccount with only these permissions in a namespace; return its kubeconfig."""
    api, rbac = olm.api, f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    api.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "user"}})
    api.create(f"{rbac}/roles", {"metadata": {"name": "user"}, "rules": rules})
    binding = {
        "metadata": {"name": "user"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "user"},
        "subjects": [{"kind": "ServiceAccount", "name": "user", "namespace": namespace}],
    }
    api.create(f"{rbac}/rolebindings", binding)
    spec = {
        "user": f"system:serviceaccount:{namespace}:user",
        "resourceAttributes": {"namespace": namespace, "verb": rules[-1]["verbs"][-1]}
        | {"group": rules[-1]["apiGroups"][-1], "resource": rules[-1]["resources"][-1]},
    }
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    wait_until("the permission is granted", lambda: api.create(reviews, review)["status"]["allowed"])
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/user/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return write_kubeconfig(plane, api.create(path, request)["status"]["token"], file)


def write_kubeconfig(plane: ControlPlane, token: str, file: Path) -> str:
    config = json.loads(plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    file.write_text(json.dumps(config))
    return str(file)


READ_RULES: Final = [
    {
        "apiGroups": ["operators.coreos.com"],
        "resources": [
            "subscriptions",
            "installplans",
            "clusterserviceversions",
            "catalogsources",
            "operatorgroups",
            "operatorconditions",
        ],
        "verbs": ["get", "list"],
    },
    {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
]
INSTALL_RULES: Final = [
    *READ_RULES,
    {
        "apiGroups": ["operators.coreos.com"],
        "resources": ["operatorgroups", "catalogsources", "subscriptions", "installplans"],
        "verbs": ["patch", "create"],
    },
]


def test_documented_permissions_are_sufficient(
    everpath: Everpath, install: Everpath, olm_v0: OlmV0, plane: ControlPlane, tmp_path: Path
) -> None:
    here = "in-limits"
    olm_v0.api.create("/api/v1/namespaces", {"metadata": {"name": here}})
    file = create_user(olm_v0, plane, here, INSTALL_RULES, tmp_path / "config")
    options = ("--channel", "fast", "--approval", "Manual", "--approve", "--kubeconfig", file)
    done = install(here, *options)
    assert done.code == 0, done
    assert everpath("status", here, "--kubeconfig", file).code == 0
    denied = everpath("uninstall", here, "--yes", "--kubeconfig", file)
    assert denied.code == 4
    assert "permission denied by the cluster" in denied.err


def test_invalid_token_is_reported(everpath: Everpath, plane: ControlPlane, tmp_path: Path) -> None:
    answer = everpath(
        "status", "in-limits", "--kubeconfig", write_kubeconfig(plane, "wrong", tmp_path / "config")
    )
    assert answer.code == 4
    assert "rejects the credentials" in answer.err
