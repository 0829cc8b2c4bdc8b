"""The Kubernetes client with a server on the loopback address: configuration, requests and errors."""

from __future__ import annotations

import builtins
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from kubernetes.config import incluster_config

from everpath.cli.entry_point import run
from everpath.errors import Unreachable, UsageError
from everpath.olm import kube
from everpath.olm.kube import KubeCluster, connect
from everpath.olm.objects import (
    CATALOG_SOURCE,
    NAMESPACE,
    POD,
    SUBSCRIPTION,
    ConflictError,
    Kind,
    ObjectRef,
    RequestDenied,
)
from tests.support.api_servers import ApiServer, kubeconfig
from tests.support.commandline import ROOT

SUBSCRIPTIONS = "/apis/operators.coreos.com/v1alpha1/namespaces/ns/subscriptions"
OP = ObjectRef(SUBSCRIPTION, "ns", "op")


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer.running() as running:
        yield running


@pytest.fixture
def cluster(server: ApiServer, tmp_path: Path) -> KubeCluster:
    return connect(kubeconfig(tmp_path / "config", server.url, namespace="mine"))


def test_get_requests_the_path_of_the_object_with_the_token(server: ApiServer, cluster: KubeCluster) -> None:
    server.answers["GET", f"{SUBSCRIPTIONS}/op"] = 200, {"metadata": {"name": "op"}}
    assert cluster.get(OP) == {"metadata": {"name": "op"}}
    assert cluster.get(OP._replace(name="other")) is None
    assert server.requests[0].headers["authorization"] == "Bearer token-of-test"
    assert cluster.namespace == "mine"


def test_paths_of_core_and_cluster_scoped_kinds(server: ApiServer, cluster: KubeCluster) -> None:
    cluster.get(ObjectRef(NAMESPACE, "", "ns"))
    cluster.list_objects(POD, "ns", "a=b")
    cluster.list_objects(POD)
    assert [request.path for request in server.requests] == [
        "/api/v1/namespaces/ns",
        "/api/v1/namespaces/ns/pods",
        "/api/v1/pods",
    ]
    assert server.requests[1].query["labelSelector"] == "a=b"


def test_list_reads_all_pages(server: ApiServer, cluster: KubeCluster) -> None:
    server.answers["GET", SUBSCRIPTIONS] = 200, {"items": [{"a": 1}], "metadata": {"continue": "next"}}
    server.answers["GET", f"{SUBSCRIPTIONS}?continue=next"] = 200, {"items": [{"a": 2}], "metadata": {}}
    assert cluster.list_objects(SUBSCRIPTION, "ns") == [{"a": 1}, {"a": 2}]


def test_kind_that_is_not_served_has_no_objects(server: ApiServer, cluster: KubeCluster) -> None:
    server.answers["GET", "/apis/operators.coreos.com/v1alpha1"] = (
        200,
        {"resources": [{"name": "subscriptions"}, {"name": "subscriptions/status"}]},
    )
    assert cluster.serves(SUBSCRIPTION)
    assert not cluster.serves(CATALOG_SOURCE)
    assert not cluster.serves(Kind("example.com/v1", "Op", "ops"))
    assert cluster.list_objects(CATALOG_SOURCE) == []


def test_apply_sets_the_field_manager_and_forces_only_on_request(
    server: ApiServer, cluster: KubeCluster
) -> None:
    obj = {
        "apiVersion": "v1",
        "kind": "X",
        "metadata": {"name": "op", "namespace": "ns"},
        "spec": {"a": "é"},
    }
    server.answers["PATCH", f"{SUBSCRIPTIONS}/op"] = 200, obj
    cluster.apply(SUBSCRIPTION, obj)
    cluster.apply(SUBSCRIPTION, obj, force=True)
    applied, forced = server.requests
    assert applied.headers["content-type"] == "application/apply-patch+yaml"
    assert applied.query == {"fieldManager": "everpath", "force": "false"}
    assert forced.query["force"] == "true"
    assert applied.body == obj


def test_apply_as_dry_run(server: ApiServer, cluster: KubeCluster) -> None:
    obj = {"kind": "Subscription", "metadata": {"name": "op", "namespace": "ns"}}
    server.answers["PATCH", f"{SUBSCRIPTIONS}/op"] = 200, obj
    cluster.apply(SUBSCRIPTION, obj, dry_run=True)
    assert server.requests[0].query["dryRun"] == "All"


def test_patch_sends_a_merge_patch(server: ApiServer, cluster: KubeCluster) -> None:
    server.answers["PATCH", f"{SUBSCRIPTIONS}/op"] = 200, {}
    cluster.patch(OP, {"spec": {"approved": True}})
    (request,) = server.requests
    assert request.headers["content-type"] == "application/merge-patch+json"
    assert request.body == {"spec": {"approved": True}}


@pytest.mark.parametrize("code", [200, 404, 409])
def test_delete_has_the_uid_as_precondition(server: ApiServer, cluster: KubeCluster, code: int) -> None:
    server.answers["DELETE", f"{SUBSCRIPTIONS}/op"] = code, {"message": "not found, or another UID"}
    cluster.delete(SUBSCRIPTION, {"metadata": {"name": "op", "namespace": "ns", "uid": "u-1"}})
    assert server.requests[0].body["preconditions"] == {"uid": "u-1"}


ERRORS: dict[int, tuple[type[Exception], str]] = {
    400: (RequestDenied, "the cluster rejects patch"),
    401: (RequestDenied, "rejects the credentials: because"),
    403: (RequestDenied, "permission denied by the cluster: because"),
    404: (RequestDenied, "the cluster rejects patch"),
    409: (ConflictError, "conflict: because"),
    422: (RequestDenied, "the cluster rejects patch"),
    500: (Unreachable, "responds with status 500: because"),
    503: (Unreachable, "responds with status 503: because"),
}


@pytest.mark.parametrize("code", ERRORS)
def test_error_status_is_raised_with_the_message_of_the_server(
    server: ApiServer, cluster: KubeCluster, code: int
) -> None:
    error, message = ERRORS[code]
    server.answers["PATCH", f"{SUBSCRIPTIONS}/op"] = code, {"message": "because"}
    with pytest.raises(error, match=message) as caught:
        cluster.patch(OP, {})
    assert type(caught.value) is error
    if code in (401, 403, 409):
        assert getattr(caught.value, "hint", None)


def test_response_that_is_not_json_is_reported(server: ApiServer, cluster: KubeCluster) -> None:
    server.answers["GET", f"{SUBSCRIPTIONS}/op"] = 200, b"<html>Sign in</html>"
    with pytest.raises(Unreachable, match="is not a Kubernetes API server"):
        cluster.get(OP)
    server.answers["GET", f"{SUBSCRIPTIONS}/op"] = 502, b"<html>Bad gateway</html>"
    with pytest.raises(Unreachable, match="responds with status 502"):
        cluster.get(OP)


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_unreachable_cluster_has_exit_code_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = kubeconfig(tmp_path / "config", f"http://127.0.0.1:{closed_port()}")
    assert run(["status", "op", "-n", "ns", "--kubeconfig", file]) == 4
    error = capsys.readouterr().err
    assert "does not respond: Connection refused" in error or "[Errno 111] Connection refused" in error
    assert "hint: check that it is running" in error


def test_denied_request_has_exit_code_4(
    server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers["GET", "/apis/operators.coreos.com/v1alpha1"] = 403, {"message": "user cannot list"}
    file = kubeconfig(tmp_path / "config", server.url)
    assert run(["status", "op", "-n", "ns", "--kubeconfig", file]) == 4
    assert "permission denied by the cluster: user cannot list" in capsys.readouterr().err


def test_first_current_context_of_several_kubeconfigs_is_used(
    server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = kubeconfig(tmp_path / "one", server.url, "one", "first")
    two = kubeconfig(tmp_path / "two", server.url, "two", "second")
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join([str(tmp_path / "missing"), one, two]))
    assert connect().namespace == "first"
    second = connect(None, "two")
    assert second.namespace == "second"
    second.get(OP)
    assert server.requests[-1].headers["authorization"] == "Bearer token-of-two"
    assert connect(two).namespace == "second"


def test_empty_kubeconfig_among_several_is_ignored(
    server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").touch()
    one = kubeconfig(tmp_path / "one", server.url, "one", "first")
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join([str(tmp_path / "empty"), one]))
    assert connect().namespace == "first"


@pytest.mark.parametrize("command", ["false", "no-such-program-anywhere"])
def test_failed_credential_plugin_is_reported_without_a_request(
    server: ApiServer, tmp_path: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    file = Path(kubeconfig(tmp_path / "config", server.url))
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": command,
        "interactiveMode": "Never",
    }
    config = yaml.safe_load(file.read_text())
    config["users"][0]["user"] = {"exec": plugin}
    file.write_text(yaml.safe_dump(config))
    assert run(["status", "-n", "ns", "--kubeconfig", str(file)]) == 4
    error = capfd.readouterr().err
    assert error.startswith("error: no credentials for the cluster of")
    assert server.requests == []


def test_broken_connection_is_reported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        cluster = connect(kubeconfig(tmp_path / "config", url))

        def hang_up() -> None:
            listening.accept()[0].close()

        threading.Thread(target=hang_up, daemon=True).start()
        with pytest.raises(Unreachable) as caught:
            cluster.get(OP)
    cause = caught.value.message.removeprefix(f"the cluster at {url} does not respond: ")
    assert cause in ("Remote end closed connection without response", "[Errno 104] Connection reset by peer")


def test_service_account_is_used_in_a_pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "namespace").write_text("mine\n")
    (tmp_path / "token").write_text("secret")
    (tmp_path / "ca.crt").write_text("-")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setattr(kube, "_NAMESPACE_FILE", tmp_path / "namespace")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    monkeypatch.setattr(kube, "ApiClient", lambda settings: SimpleNamespace(configuration=settings))
    cluster = connect()
    assert (cluster.namespace, cluster._host) == ("mine", "https://10.0.0.1:443")


@pytest.mark.parametrize(
    ("content", "context", "message"),
    [
        (None, None, "no cluster is configured in"),
        ("{}", None, "no cluster is configured in"),
        ("real", "nowhere", "Expected object with name nowhere"),
        ("apiVersion: [", None, "while parsing a flow node"),
        ("contexts: 7", None, "it is not a valid kubeconfig"),
        ("- a", None, "it is not a valid kubeconfig"),
    ],
)
def test_invalid_kubeconfig_is_reported(
    tmp_path: Path, content: str | None, context: str | None, message: str
) -> None:
    file = tmp_path / "config"
    if content == "real":
        kubeconfig(file, "http://127.0.0.1:1")
    elif content is not None:
        file.write_text(content)
    with pytest.raises(UsageError, match=message) as caught:
        connect(str(file), context)
    assert caught.value.hint is not None


def test_missing_client_is_reported_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    original: Callable[..., Any] = builtins.__import__

    def import_without_client(name: str, *rest: Any, **more: Any) -> Any:
        if name == "kubernetes" or name.startswith("kubernetes."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "everpath.olm.kube", raising=False)
    monkeypatch.delattr("everpath.olm.kube", raising=False)
    monkeypatch.setattr(builtins, "__import__", import_without_client)
    assert run(["status", "-n", "ns"]) == 2
    hint = capsys.readouterr().err.splitlines()[-1]
    assert hint.startswith("hint: pip install '.[cluster]' in a clone, or pip install 'everpath[cluster]'")


def test_dry_run_needs_no_client() -> None:
    code = (
        "import sys; from everpath.cli.entry_point import run\n"
        "run(['install', 'op', '--catalog', 'q.io/a/c:1', '-n', 'ns', '--dry-run'])\n"
        "print(any(name.partition('.')[0] in ('kubernetes', 'urllib3') for name in sys.modules))"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    result = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.endswith("False\n")
