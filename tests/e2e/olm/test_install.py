"""`everpath install`, `upgrade`, `status` and `uninstall` on real OLM, with our own catalog and bundles."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from commandline import Answer
from e2e.olm.journeys import CATALOG, PACKAGE
from e2e.servers.api import ApiError, Object
from e2e.servers.control_plane import ControlPlane
from e2e.servers.grpc_catalogs import serve_with_everpath
from e2e.servers.loopback import HOST, free_ports
from e2e.servers.olm_v0 import GROUP, OlmV0
from e2e.servers.polling import wait_until
from e2e.servers.processes import WorkDir
from everpath.cli.app import run
from schemas import conforms

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
        said = capsys.readouterr()
        return Answer(int(code), said.out, said.err)

    return call


@pytest.fixture
def install(everpath: Everpath, address: str) -> Everpath:
    """Each into a namespace that its operator alone watches: where groups meet, an API has one owner."""

    def call(namespace: str, *options: str, at: str = address) -> Answer:
        watched = ("--watch-namespaces", namespace)
        return everpath("install", namespace, "--catalog", at, *watched, "--timeout", "6m", *options)

    return call


def versions(olm: OlmV0, namespace: str) -> dict[str, str]:
    """The revision of each object that an install makes: equal ones were not written."""
    made = {
        f"{V1ALPHA1}/{namespace}/catalogsources/{PACKAGE}-catalog",
        f"{V1ALPHA1}/{namespace}/subscriptions/{PACKAGE}",
        f"{GROUP}/v1/namespaces/{namespace}/operatorgroups/{namespace}-everpath",
    }
    return {path: json.dumps(olm.api.get(path)["metadata"]["managedFields"]) for path in sorted(made)}


def subscription(olm: OlmV0, namespace: str) -> Object:
    return olm.api.get(f"{V1ALPHA1}/{namespace}/subscriptions/{PACKAGE}")


def test_an_operator_is_installed_and_a_second_run_changes_nothing(install: Everpath, olm_v0: OlmV0) -> None:
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
    before = list(_ours(versions(olm_v0, "in-fresh")))
    again = install("in-fresh", "--channel", "stable")
    assert again.code == 0, again
    assert "Nothing to change" in again.out
    assert list(_ours(versions(olm_v0, "in-fresh"))) == before


def _ours(revisions: dict[str, str]) -> Iterator[Any]:
    """What everpath has written, and when."""
    for path, managed in revisions.items():
        yield path, [one for one in json.loads(managed) if one["manager"] == "everpath"]


def test_status_tells_the_whole_chain(everpath: Everpath, install: Everpath) -> None:
    assert install("in-status", "--channel", "fast").code == 0
    # What OLM writes last comes after the operator runs.
    answer = wait_until("all is well", lambda: well(everpath("status", "in-status", "-o", "json")))
    assert answer is not None
    made = json.loads(answer.out)
    conforms("status", made)
    (told,) = made["packages"]
    assert told["running"] == f"{PACKAGE}.v0.2.0"
    kinds = [link["kind"] for link in told["chain"]]
    assert kinds[:5] == [
        "CatalogSource",
        "OperatorGroup",
        "Subscription",
        "InstallPlan",
        "ClusterServiceVersion",
    ]
    assert "Deployment" in kinds
    assert {link["state"] for link in told["chain"]} == {"fine"}, told
    assert told["waits"] == []


def well(answer: Answer) -> Answer | None:
    return None if answer.code else answer


def test_manual_approval_waits_and_upgrade_goes_the_predicted_road(
    everpath: Everpath, install: Everpath, olm_v0: OlmV0
) -> None:
    options = ("--channel", "stable", "--starting-csv", "0.1.0", "--approval", "Manual")
    waiting = install("in-manual", *options)
    assert waiting.code == 0, waiting
    assert f"to be approved: it installs {PACKAGE}.v0.1.0" in waiting.out
    assert "installedCSV" not in subscription(olm_v0, "in-manual")["status"]
    step = everpath("upgrade", "in-manual", "--yes", "--timeout", "6m")
    assert step.code == 0, step
    assert f'"{PACKAGE}.v0.1.0" runs' in step.out
    told = ("--catalog", str(CATALOG), "-o", "json")
    road = everpath("upgrade", "in-manual", "--yes", "--to", "0.3.1", "--timeout", "8m", *told)
    assert road.code == 0, road
    made = json.loads(road.out)
    conforms("install", made)
    versions = ("0.1.1", "0.2.0", "0.3.1", "0.4.0", "0.5.0")
    assert made["road"] == [f"{PACKAGE}.v{version}" for version in versions]
    assert made["running"] == f"{PACKAGE}.v0.3.1"
    assert [change["did"] for change in made["changes"]] == ["approved"] * 3
    past = everpath("upgrade", "in-manual", "--yes", "--to", "0.3.5", "--timeout", "6m")
    assert past.code == 2, past
    assert "goes past 0.3.5" in past.err


def test_the_first_step_can_be_approved_by_install(install: Everpath, olm_v0: OlmV0) -> None:
    answer = install("in-approved", "--channel", "fast", "--approval", "Manual", "--approve")
    assert answer.code == 0, answer
    assert "Approved InstallPlan" in answer.out
    assert subscription(olm_v0, "in-approved")["status"]["installedCSV"] == f"{PACKAGE}.v0.2.0"


def test_a_channel_that_is_not_there_is_told(everpath: Everpath, install: Everpath) -> None:
    answer = install("in-nowhere", "--channel", "stabel")
    assert answer.code == 1, answer
    assert "Waits for an answer that OLM did not find" in answer.out
    assert "stabel" in answer.out
    assert everpath("status", "in-nowhere").code == 1


def at_the_deadline(sentence: str, ask: Callable[[], Answer]) -> Answer:
    """The answer that has the sentence: at an early deadline a slow OLM may not have got that far."""
    for _ in range(6):
        answer = ask()
        assert answer.code == 1, answer
        if re.search(sentence, answer.out):
            return answer
    raise AssertionError(f"never told: {sentence}\n{answer}")


def test_a_server_that_is_not_there_is_told_at_the_deadline(install: Everpath) -> None:
    (port,) = free_ports(1)
    at_the_deadline(
        f"Waits for an answer from the registry server at {re.escape(HOST)}:{port}",
        lambda: install("in-silence", "--channel", "stable", "--timeout", "15s", at=f"{HOST}:{port}"),
    )


def test_an_image_of_data_is_extracted_and_served_by_olm(
    install: Everpath, olm_v0: OlmV0, tmp_path: Path
) -> None:
    shutil.copytree(CATALOG, tmp_path / "configs")
    image = "registry.example.com/acme/catalog:data"
    olm_v0.register_catalog(image, tmp_path)
    answer = install("in-image", "--channel", "fast", at=image)
    assert answer.code == 0, answer
    assert f"Found CatalogSource {PACKAGE}-catalog: READY, {image}" in answer.out


def test_an_image_that_cannot_be_pulled_is_told_with_its_pod(install: Everpath) -> None:
    image = "registry.example.com/acme/catalog:nowhere"
    at_the_deadline(
        rf"Waits for CatalogSource {PACKAGE}-catalog to be served: pod \S+: container extract-content waits: "
        "ErrImagePull",
        lambda: install("in-pulling", "--channel", "fast", "--timeout", "20s", at=image),
    )


def test_another_subscription_is_refused_and_force_changes_it(install: Everpath, olm_v0: OlmV0) -> None:
    assert install("in-forced", "--channel", "fast").code == 0
    denied = install("in-forced", "--channel", "stable")
    assert denied.code == 2
    assert "spec.channel is fast, not stable" in denied.err
    forced = install("in-forced", "--channel", "stable", "--force")
    assert forced.code == 0, forced
    assert subscription(olm_v0, "in-forced")["spec"]["channel"] == "stable"


def test_what_another_manager_set_is_taken_over_only_by_force(install: Everpath, olm_v0: OlmV0) -> None:
    assert install("in-contested", "--channel", "fast", "--no-wait").code == 0
    path = f"{V1ALPHA1}/in-contested/subscriptions/{PACKAGE}"
    olm_v0.api.patch(path, {"spec": {"channel": "candidate"}})
    assert install("in-contested", "--channel", "fast", "--no-wait").code == 2
    assert install("in-contested", "--channel", "fast", "--no-wait", "--force").code == 0
    assert olm_v0.api.get(path)["spec"]["channel"] == "fast"


def test_an_operator_goes_after_its_custom_resources_and_volumes_stay(
    everpath: Everpath, install: Everpath, olm_v0: OlmV0
) -> None:
    api, here = olm_v0.api, "in-removed"
    assert install(here, "--channel", "fast").code == 0
    version = f"search.everpath.dev/{_served(olm_v0)}"
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
    at_the_deadline(
        "Still there: SearchCluster logs, kept by its finalizers example.com/kept",
        lambda: everpath("uninstall", here, "--yes", "--timeout", "5s"),
    )
    wait_until(
        "the Subscription is still followed",
        lambda: subscription(olm_v0, here)["status"]["state"] == "AtLatestKnown",
    )
    api.patch(f"{resource}/logs", {"metadata": {"finalizers": None}})
    gone = everpath("uninstall", here, "--yes", "--timeout", "6m", "--delete-catalog", "-o", "json")
    assert gone.code == 0, gone
    conforms("uninstall", json.loads(gone.out))
    for path in ("clusterserviceversions", "subscriptions", "catalogsources"):
        assert api.items(f"{V1ALPHA1}/{here}/{path}") == []
    (claimed,) = api.items(f"/api/v1/namespaces/{here}/persistentvolumeclaims")
    assert claimed["metadata"]["name"] == "data-0"
    with pytest.raises(ApiError, match="404"):
        api.get(f"{resource}/logs")
    assert everpath("uninstall", here, "--yes").out.startswith("Nothing to uninstall")


def _served(olm: OlmV0) -> str:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/searchclusters.search.everpath.dev"
    return next(str(one["name"]) for one in olm.api.get(path)["spec"]["versions"] if one["served"])


def test_an_operator_that_allows_no_upgrade_is_waited_for_and_can_be_overridden(
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
    waits = f"Waits for {PACKAGE}.v0.1.0 to allow its upgrade: it says Upgradeable=False (a backup runs)"
    held = at_the_deadline(
        re.escape(waits), lambda: everpath("upgrade", here, "--yes", "--to", "0.1.1", "--timeout", "40s")
    )
    assert f"kubectl patch operatorcondition {PACKAGE}.v0.1.0 -n {here} --type merge" in held.out
    api.patch(path, {"spec": {"overrides": [busy | {"status": "True", "reason": "Forced"}]}})
    freed = everpath("upgrade", here, "--yes", "--to", "0.1.1", "--timeout", "6m")
    assert freed.code == 0, freed
    assert f'"{PACKAGE}.v0.1.1" runs' in freed.out


def test_a_second_operator_group_stops_everything_and_is_told(
    everpath: Everpath, install: Everpath, olm_v0: OlmV0
) -> None:
    assert install("in-groups", "--channel", "fast").code == 0
    group = {"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "metadata": {"name": "second"}}
    olm_v0.api.create(f"{GROUP}/v1/namespaces/in-groups/operatorgroups", group | {"spec": {}})
    told = everpath("status", "in-groups")
    assert told.code == 1
    assert "all OperatorGroups of namespace in-groups but one to go" in told.out
    again = install("in-groups", "--channel", "fast")
    assert again.code == 2
    assert "has several OperatorGroups" in again.err


def account(olm: OlmV0, plane: ControlPlane, namespace: str, rules: list[Object], file: Path) -> str:
    """A kubeconfig of somebody who may do just that in a namespace."""
    api, rbac = olm.api, f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    api.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "somebody"}})
    api.create(f"{rbac}/roles", {"metadata": {"name": "somebody"}, "rules": rules})
    binding = {
        "metadata": {"name": "somebody"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "somebody"},
        "subjects": [{"kind": "ServiceAccount", "name": "somebody", "namespace": namespace}],
    }
    api.create(f"{rbac}/rolebindings", binding)
    asked = {
        "user": f"system:serviceaccount:{namespace}:somebody",
        "resourceAttributes": {"namespace": namespace, "verb": rules[-1]["verbs"][-1]}
        | {"group": rules[-1]["apiGroups"][-1], "resource": rules[-1]["resources"][-1]},
    }
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": asked}
    reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    wait_until("the role counts", lambda: api.create(reviews, review)["status"]["allowed"])
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/somebody/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return bearer(plane, api.create(path, request)["status"]["token"], file)


def bearer(plane: ControlPlane, token: str, file: Path) -> str:
    made = json.loads(plane.kubeconfig.read_text())
    made["users"][0]["user"] = {"token": token}
    file.write_text(json.dumps(made))
    return str(file)


LOOKING: Final = [
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
ASKING: Final = [
    *LOOKING,
    {
        "apiGroups": ["operators.coreos.com"],
        "resources": ["operatorgroups", "catalogsources", "subscriptions", "installplans"],
        "verbs": ["patch", "create"],
    },
]


def test_whoever_has_just_the_documented_rights_gets_along(
    everpath: Everpath, install: Everpath, olm_v0: OlmV0, plane: ControlPlane, tmp_path: Path
) -> None:
    here = "in-limits"
    olm_v0.api.create("/api/v1/namespaces", {"metadata": {"name": here}})
    file = account(olm_v0, plane, here, ASKING, tmp_path / "config")
    options = ("--channel", "fast", "--approval", "Manual", "--approve", "--kubeconfig", file)
    done = install(here, *options)
    assert done.code == 0, done
    assert everpath("status", here, "--kubeconfig", file).code == 0
    denied = everpath("uninstall", here, "--yes", "--kubeconfig", file)
    assert denied.code == 4
    assert "the cluster does not allow it" in denied.err


def test_a_stranger_is_told_so(everpath: Everpath, plane: ControlPlane, tmp_path: Path) -> None:
    answer = everpath("status", "in-limits", "--kubeconfig", bearer(plane, "wrong", tmp_path / "config"))
    assert answer.code == 4
    assert "does not know you" in answer.err
