"""A real client against a server on the loopback address: the way in, the requests, and the refusals."""

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

from api_servers import ApiServer, kubeconfig
from commandline import ROOT
from everpath.cli.app import run
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
    Ref,
    Refused,
)

SUBSCRIPTIONS = "/apis/operators.coreos.com/v1alpha1/namespaces/ns/subscriptions"
OP = Ref(SUBSCRIPTION, "ns", "op")


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer.running() as running:
        yield running


@pytest.fixture
def cluster(server: ApiServer, tmp_path: Path) -> KubeCluster:
    return connect(kubeconfig(tmp_path / "config", server.url, namespace="mine"))


def test_an_object_is_asked_for_by_its_path_as_the_bearer_of_the_token(
    server: ApiServer, cluster: KubeCluster
) -> None:
    server.answers["GET", f"{SUBSCRIPTIONS}/op"] = 200, {"metadata": {"name": "op"}}
    assert cluster.get(OP) == {"metadata": {"name": "op"}}
    assert cluster.get(OP._replace(name="other")) is None
    assert server.requests[0].headers["authorization"] == "Bearer token-of-test"
    assert cluster.namespace == "mine"


def test_kinds_of_the_core_and_of_no_namespace_have_paths_of_their_own(
    server: ApiServer, cluster: KubeCluster
) -> None:
    cluster.get(Ref(NAMESPACE, "", "ns"))
    cluster.find(POD, "ns", "a=b")
    cluster.find(POD)
    assert [request.path for request in server.requests] == [
        "/api/v1/namespaces/ns",
        "/api/v1/namespaces/ns/pods",
        "/api/v1/pods",
    ]
    assert server.requests[1].query["labelSelector"] == "a=b"


def test_long_lists_come_in_pages(server: ApiServer, cluster: KubeCluster) -> None:
    server.answers["GET", SUBSCRIPTIONS] = 200, {"items": [{"a": 1}], "metadata": {"continue": "next"}}
    server.answers["GET", f"{SUBSCRIPTIONS}?continue=next"] = 200, {"items": [{"a": 2}], "metadata": {}}
    assert cluster.find(SUBSCRIPTION, "ns") == [{"a": 1}, {"a": 2}]


def test_a_kind_that_is_not_served_has_no_objects(server: ApiServer, cluster: KubeCluster) -> None:
    server.answers["GET", "/apis/operators.coreos.com/v1alpha1"] = (
        200,
        {"resources": [{"name": "subscriptions"}, {"name": "subscriptions/status"}]},
    )
    assert cluster.serves(SUBSCRIPTION)
    assert not cluster.serves(CATALOG_SOURCE)
    assert not cluster.serves(Kind("example.com/v1", "Op", "ops"))
    assert cluster.find(CATALOG_SOURCE) == []


def test_what_is_applied_is_ours_and_takes_nothing_over(server: ApiServer, cluster: KubeCluster) -> None:
    made = {
        "apiVersion": "v1",
        "kind": "X",
        "metadata": {"name": "op", "namespace": "ns"},
        "spec": {"a": "é"},
    }
    server.answers["PATCH", f"{SUBSCRIPTIONS}/op"] = 200, made
    cluster.apply(SUBSCRIPTION, made)
    cluster.apply(SUBSCRIPTION, made, force=True)
    careful, forced = server.requests
    assert careful.headers["content-type"] == "application/apply-patch+yaml"
    assert careful.query == {"fieldManager": "everpath", "force": "false"}
    assert forced.query["force"] == "true"
    assert careful.body == made


def test_what_is_rehearsed_is_not_kept(server: ApiServer, cluster: KubeCluster) -> None:
    thing = {"kind": "Subscription", "metadata": {"name": "op", "namespace": "ns"}}
    server.answers["PATCH", f"{SUBSCRIPTIONS}/op"] = 200, thing
    cluster.apply(SUBSCRIPTION, thing, rehearsed=True)
    assert server.requests[0].query["dryRun"] == "All"


def test_a_merge_sends_only_the_changes(server: ApiServer, cluster: KubeCluster) -> None:
    server.answers["PATCH", f"{SUBSCRIPTIONS}/op"] = 200, {}
    cluster.merge(OP, {"spec": {"approved": True}})
    (request,) = server.requests
    assert request.headers["content-type"] == "application/merge-patch+json"
    assert request.body == {"spec": {"approved": True}}


@pytest.mark.parametrize("code", [200, 404, 409])
def test_just_the_object_that_was_seen_is_deleted(server: ApiServer, cluster: KubeCluster, code: int) -> None:
    server.answers["DELETE", f"{SUBSCRIPTIONS}/op"] = code, {"message": "gone, or another"}
    cluster.delete(SUBSCRIPTION, {"metadata": {"name": "op", "namespace": "ns", "uid": "u-1"}})
    assert server.requests[0].body["preconditions"] == {"uid": "u-1"}


REFUSALS: dict[int, tuple[type[Exception], str]] = {
    400: (Refused, "the cluster refuses patch"),
    401: (Refused, "does not know you: because"),
    403: (Refused, "the cluster does not allow it: because"),
    404: (Refused, "the cluster refuses patch"),
    409: (ConflictError, "another has a say in it: because"),
    422: (Refused, "the cluster refuses patch"),
    500: (Unreachable, "answers 500: because"),
    503: (Unreachable, "answers 503: because"),
}


@pytest.mark.parametrize("code", REFUSALS)
def test_what_a_server_refuses_is_told_in_its_words(
    server: ApiServer, cluster: KubeCluster, code: int
) -> None:
    kind, said = REFUSALS[code]
    server.answers["PATCH", f"{SUBSCRIPTIONS}/op"] = code, {"message": "because"}
    with pytest.raises(kind, match=said) as caught:
        cluster.merge(OP, {})
    assert type(caught.value) is kind
    if code in (401, 403, 409):
        assert getattr(caught.value, "hint", None)


def test_a_server_that_is_none_is_told_from_one(server: ApiServer, cluster: KubeCluster) -> None:
    server.answers["GET", f"{SUBSCRIPTIONS}/op"] = 200, b"<html>Sign in</html>"
    with pytest.raises(Unreachable, match="is no API server"):
        cluster.get(OP)
    server.answers["GET", f"{SUBSCRIPTIONS}/op"] = 502, b"<html>Bad gateway</html>"
    with pytest.raises(Unreachable, match="answers 502"):
        cluster.get(OP)


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_a_cluster_that_is_not_there_ends_with_exit_code_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = kubeconfig(tmp_path / "config", f"http://127.0.0.1:{closed_port()}")
    assert run(["status", "op", "-n", "ns", "--kubeconfig", file]) == 4
    said = capsys.readouterr().err
    assert "does not answer: Connection refused" in said or "[Errno 111] Connection refused" in said
    assert "hint: is it running" in said


def test_a_refusal_ends_with_exit_code_4(
    server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers["GET", "/apis/operators.coreos.com/v1alpha1"] = 403, {"message": "user may not look"}
    file = kubeconfig(tmp_path / "config", server.url)
    assert run(["status", "op", "-n", "ns", "--kubeconfig", file]) == 4
    assert "the cluster does not allow it: user may not look" in capsys.readouterr().err


def test_kubeconfig_names_several_files_and_the_first_context_is_current(
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


def test_an_empty_file_among_several_is_passed_over(
    server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").touch()
    one = kubeconfig(tmp_path / "one", server.url, "one", "first")
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join([str(tmp_path / "empty"), one]))
    assert connect().namespace == "first"


@pytest.mark.parametrize("command", ["false", "no-such-program-anywhere"])
def test_a_program_that_gives_no_credentials_is_blamed_and_not_the_cluster(
    server: ApiServer, tmp_path: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    file = Path(kubeconfig(tmp_path / "config", server.url))
    program = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": command,
        "interactiveMode": "Never",
    }
    made = yaml.safe_load(file.read_text())
    made["users"][0]["user"] = {"exec": program}
    file.write_text(yaml.safe_dump(made))
    assert run(["status", "-n", "ns", "--kubeconfig", str(file)]) == 4
    said = capfd.readouterr().err
    assert said.startswith("error: no credentials for the cluster of")
    assert server.requests == []


def test_a_connection_that_breaks_off_is_told_in_words(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        cluster = connect(kubeconfig(tmp_path / "config", url))

        def hang_up() -> None:
            listening.accept()[0].close()

        threading.Thread(target=hang_up, daemon=True).start()
        with pytest.raises(Unreachable) as caught:
            cluster.get(OP)
    said = caught.value.message.removeprefix(f"the cluster at {url} does not answer: ")
    assert said in ("Remote end closed connection without response", "[Errno 104] Connection reset by peer")


def test_in_a_pod_its_own_account_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    ("content", "context", "said"),
    [
        (None, None, "no cluster is configured in"),
        ("{}", None, "no cluster is configured in"),
        ("real", "nowhere", "Expected object with name nowhere"),
        ("apiVersion: [", None, "while parsing a flow node"),
        ("contexts: 7", None, "it is no configuration of kubectl"),
        ("- a", None, "it is no configuration of kubectl"),
    ],
)
def test_a_configuration_that_does_not_do_is_told(
    tmp_path: Path, content: str | None, context: str | None, said: str
) -> None:
    file = tmp_path / "config"
    if content == "real":
        kubeconfig(file, "http://127.0.0.1:1")
    elif content is not None:
        file.write_text(content)
    with pytest.raises(UsageError, match=said) as caught:
        connect(str(file), context)
    assert caught.value.hint is not None


def test_without_the_extra_it_is_told_how_to_install_it_from_a_clone_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real: Callable[..., Any] = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name == "kubernetes" or name.startswith("kubernetes."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "everpath.olm.kube", raising=False)
    monkeypatch.delattr("everpath.olm.kube", raising=False)
    monkeypatch.setattr(builtins, "__import__", missing)
    assert run(["status", "-n", "ns"]) == 2
    hint = capsys.readouterr().err.splitlines()[-1]
    assert hint.startswith("hint: pip install '.[cluster]' in a clone, or pip install 'everpath[cluster]'")


def test_a_dry_run_needs_no_client() -> None:
    program = (
        "import sys; from everpath.cli.app import run\n"
        "run(['install', 'op', '--catalog', 'q.io/a/c:1', '-n', 'ns', '--dry-run'])\n"
        "print(any(name.partition('.')[0] in ('kubernetes', 'urllib3') for name in sys.modules))"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.endswith("False\n")
