"""How commands end when what they were given is of no use, or nobody reads what they say."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from managers import serve_api, write_kubeconfig
from operators_at_work import asked_for
from searchkeeper.cli import app
from searchkeeper.cli.app import cli
from searchkeeper.cli.options import address
from searchkeeper.testing.fake_kubernetes.api_server import ApiRequest, Response, Watch

CLUSTER = "{apiVersion: search.everpath.dev/v1alpha1, kind: SearchCluster, metadata: {name: logs}%s}"


def said(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(cli, arguments, input=stdin)


@pytest.mark.parametrize("text", [b"{", b"hello", b"\xff\xfe", b"", b"[]", b"{}"])
@pytest.mark.parametrize("command", [("status",), ("run", "--once")])
def test_what_is_no_kubeconfig_is_told(tmp_path: Path, text: bytes, command: tuple[str, ...]) -> None:
    file = tmp_path / "config"
    file.write_bytes(text)

    answer = said(*command, "--kubeconfig", str(file))

    assert answer.exit_code == 2
    assert f"no cluster is configured: {file}: Invalid kube-config" in answer.output


@pytest.mark.parametrize("command", [("status",), ("run", "--once"), ("run",)])
def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path, command: tuple[str, ...]) -> None:
    answer = said(*command, "--kubeconfig", str(tmp_path / "nothing"))

    assert answer.exit_code == 2
    assert (
        f"error: no cluster is configured: {tmp_path / 'nothing'}: there is no such file\n" in answer.stderr
    )
    assert "hint: --kubeconfig FILE, or KUBECONFIG, names a file" in answer.stderr


GOOD = """\
apiVersion: search.everpath.dev/v1alpha1
kind: SearchCluster
metadata: {name: logs}
spec:
  version: 2.19.4
  pools:
  - {name: all, roles: [data, cluster_manager], replicas: 3}
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            b"",
            "there is no SearchCluster in objects.yaml: nothing is in it\nhint: `kubectl get searchclusters",
        ),
        (
            b"{apiVersion: v1, kind: Service, metadata: {name: logs}}",
            "there is no SearchCluster in objects.yaml: there is Service logs\n",
        ),
        (b"a: [\n", "objects.yaml:2:1: this is no YAML: expected the node content"),
        (b"a: \x00", "objects.yaml: this is no YAML: unacceptable character"),
        (b"a: 2026-13-45", "objects.yaml: this is no YAML: month must be in 1..12"),
        (b"[" * 5000, "objects.yaml: this is no YAML: maximum recursion depth"),
        (b"a: \xff", "objects.yaml: this is no text: byte 4 is not UTF-8\nhint: manifests are YAML or JSON"),
    ],
)
def test_a_file_of_no_use_is_named_with_what_is_in_it(
    text: bytes, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("objects.yaml").write_bytes(text)
    answer = said("plan", "-f", "objects.yaml")

    assert answer.exit_code == 3
    assert answer.stderr.startswith(f"error: {told}")


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("dev/v1alpha1", "dev/v1", "line 1: apiVersion: search.everpath.dev/v1 is none that is known here: "),
        ("everpath.dev", "everpath.io", "line 1: apiVersion: search.everpath.io/v1alpha1 is none that is"),
        (
            "SearchCluster",
            "Searchcluster",
            "line 2: kind: Searchcluster is none of SearchCluster, SearchPool",
        ),
        ("2.19.4", "2.19", "line 5: spec.version: must be text like 2.19.4, and is the number 2.19\n"),
        (
            "replicas",
            "replicsa",
            "line 7: spec.pools[0].replicsa: there is no such field: did you mean replicas",
        ),
    ],
)
@pytest.mark.parametrize("command", ["plan", "status", "versions"])
def test_what_an_api_server_would_refuse_is_told_with_its_line(
    command: str, right: str, wrong: str, told: str
) -> None:
    answer = said(command, "-f", "-", stdin=GOOD.replace(right, wrong))

    assert answer.exit_code == 3
    assert told in answer.stderr
    assert said(command, "-f", "-", stdin=GOOD).exit_code == 0


TWICE = "error: -: an API server would refuse what is there twice:\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{GOOD}  version: 3.4.0\n", ["line 8: spec.version: is in line 5 already: keep one of them"]),
        (
            f"kind: SearchCluster\n{GOOD}".replace("replicas: 3}", "replicas: 3,\n     replicas: x}"),
            [
                "line 3: kind: is in line 1 already: keep one of them",
                "line 9: spec.pools[0].replicas: is in line 8 already: keep one of them",
            ],
        ),
        (
            GOOD + '---\n{"apiVersion": "v1", "kind": "Service",\n"metadata": {"name": "a", "name": "a"}}',
            ["line 10: metadata.name: is in line 10 already: keep one of them"],
        ),
        (
            f"{GOOD}---\nkind: ConfigMap\ndata:\n  1: a\n  '1': b\n",
            ["line 12: data.1: is in line 11 already: keep one of them"],
        ),
    ],
)
@pytest.mark.parametrize("command", ["plan", "status", "versions"])
def test_a_key_that_stands_twice_is_refused_with_the_line_of_the_second(
    command: str, text: str, told: list[str]
) -> None:
    answer = said(command, "-f", "-", stdin=text)

    assert answer.exit_code == 3
    assert answer.stderr == TWICE + "".join(f"         {each}\n" for each in told)


def test_what_is_merged_or_referred_to_stands_once() -> None:
    pools = """
  - &one {name: all, roles: [data, cluster_manager], replicas: 3, storage: &size {size: 5Gi}}
  - {<<: *one, name: others, storage: {<<: *size, size: 9Gi}}
  - {name: more, roles: [data], replicas: 1, storage: *size}
"""
    answer = said("status", "-f", "-", "-o", "json", stdin=GOOD.partition("\n  - ")[0] + pools)

    assert answer.exit_code == 0
    assert json.loads(answer.stdout)["clusters"][0]["ready"] == "0/7"


def test_a_list_within_itself_is_no_object() -> None:
    assert "this is no Kubernetes object: it is a list\n" in said("plan", "-f", "-", stdin="&a [*a]").stderr


def test_a_line_is_that_of_the_whole_text() -> None:
    listed = "kind: List\nitems:\n" + "- " + GOOD.replace("\n", "\n  ").replace("2.19.4", "x")
    answer = said("plan", "-f", "-", stdin=f"# a comment\n---\n{listed}")

    assert "line 9: spec.version: x is not like 2.19.4\n" in answer.stderr


def test_a_folder_is_all_its_manifests(tmp_path: Path) -> None:
    nothing = said("plan", "-f", str(tmp_path))
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "b.json").write_text(json.dumps(yaml.safe_load(GOOD.replace("name: logs", "name: shop"))))
    (tmp_path / "README.md").write_text("[")

    assert nothing.exit_code == 3
    assert f"error: {tmp_path}: no file in it ends in .yaml, .yml, .json\n" in nothing.stderr
    assert [line.split()[0] for line in said("status", "-f", str(tmp_path)).stdout.splitlines()] == [
        "CLUSTER",
        "default/logs",
        "default/shop",
    ]


SECURED = GOOD + "  security: {credentialsSecret: admin, tlsSecret: certificates}\n"


def test_a_secret_that_is_not_among_the_files_is_named() -> None:
    answer = said("plan", "-f", "-", stdin=SECURED)

    assert "note: Secret admin is not among the files, and counts as missing\n" in answer.stderr
    assert "note: Secret certificates is not among the files" in answer.stderr


def test_plain_texts_of_a_secret_count_as_an_api_server_stores_them() -> None:
    entries = "{username: YWRtaW4=, password: YWRtaW4=}"
    secret = f"{{apiVersion: v1, kind: Secret, metadata: {{name: admin}}, %s: {entries}}}"
    plain, encoded, other = (
        said("plan", "-f", "-", stdin=f"{SECURED}---\n{secret % entry}").stdout
        for entry in ("stringData", "data", "others")
    )

    assert "has no text in username and password" in other
    assert "has no text in" not in plain
    assert plain == encoded


REFUSED = "an API server would refuse SearchCluster logs:\n         line 1: "
VOTER = "{name: a, roles: [cluster_manager], replicas: 3}"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (CLUSTER % "", REFUSED + "spec: is missing\n"),
        (
            CLUSTER % f", spec: {{version: 3, pools: [{VOTER}]}}",
            REFUSED + "spec.version: must be text like 2.19.4, and is the number 3\n",
        ),
        (
            CLUSTER % ", spec: {version: 2.19.4, pools: [{roles: [data], replicas: 1}]}",
            REFUSED + "spec.pools[0].name: is missing\n",
        ),
        (
            CLUSTER % ", spec: {version: 2.19.4, pools: hello}",
            REFUSED + 'spec.pools: must be a list, and is the text "hello"\n',
        ),
        (
            CLUSTER % f", spec: {{version: 2.19.4, pools: [{VOTER}], upgrade: {{rollback: Never}}}}",
            REFUSED + "spec.upgrade.rollback: Never is none of Automatic, Manual, Off\n",
        ),
        (
            CLUSTER % ", spec: {version: 2.19.4, pools: [{name: a, roles: [data], replicas: 1}]}",
            REFUSED + "spec.pools: some pool with the role cluster_manager must have a node",
        ),
        (
            CLUSTER % f", spec: {{version: 2.19.4, pools: [{VOTER}]}}, status: {{conditions: [{{}}]}}",
            REFUSED + "status.conditions[0].type: is missing\n",
        ),
        (
            "{apiVersion: v1, kind: Pod, metadata: {name: logs-data-0}}",
            "Pod logs-data-0 is not as an API server would have stored it: spec is missing\n",
        ),
    ],
)
@pytest.mark.parametrize("command", ["plan", "status", "versions"])
def test_what_no_api_server_would_have_stored_is_told(command: str, text: str, complaint: str) -> None:
    answer = said(command, "-f", "-", stdin=text)

    assert answer.exit_code == 3
    assert f"error: -: {complaint}" in answer.output


OBJECTS = "-f takes objects with apiVersion, kind and metadata.name, as `kubectl get -o yaml` prints them\n"


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("{items: 5}", 1, "it is text or a number"),
        ("\n- 1\n", 2, "it is a list"),
        ("apiVersion: v1\nmetadata: {name: a}", 1, "kind is missing, or no text"),
        ("apiVersion: v1\nkind: 5\nmetadata: {name: a}", 2, "kind is missing, or no text"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {}", 3, "metadata.name is missing, or no text"),
        (f"{GOOD}---\nreplicas: 3\n", 9, "apiVersion is missing, or no text"),
        ("kind: List\nitems:\n- kind: Pod\n  apiVersion: 1\n", 4, "apiVersion is missing, or no text"),
    ],
)
def test_what_is_no_object_is_told_with_its_line_and_what_would_be_one(
    text: str, line: int, complaint: str
) -> None:
    answer = said("plan", "-f", "-", stdin=text)

    assert answer.exit_code == 3
    assert answer.stderr == f"error: -:{line}: this is no Kubernetes object: {complaint}\nhint: {OBJECTS}"


def test_a_catalog_is_told_from_objects() -> None:
    answer = said("plan", "-f", "-", stdin="---\nschema: olm.package\nname: searchkeeper\n")

    assert answer.exit_code == 3
    assert answer.stderr.startswith("error: -:2: this is no Kubernetes object: apiVersion is missing")
    assert f"hint: olm.package is of an OLM catalog, which `everpath list packages` reads; {OBJECTS}" in (
        answer.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (("plna",), "no such command 'plna'", "did you mean 'plan'?"),
        (("walk",), "no such command 'walk'", "`searchkeeper --help` shows what it takes"),
        (("plan", "--embeded"), "no such option", "did you mean"),
        (("run", "--nope"), "no such option", "did you mean '--once' or '--to'?"),
        (("plan", "--release", "9", "--embedded"), "there is no release 9", "`searchkeeper plan --help`"),
    ],
)
def test_a_wrong_command_line_is_told_as_everything_else(
    arguments: tuple[str, ...],
    error: str,
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["searchkeeper", *arguments])

    assert app.run() == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"error: {error}")
    assert "mean" not in first
    assert second.startswith(f"hint: {hint}")


@pytest.mark.parametrize("text", ["127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1", "127.0.0.1:²", "::1:8080"])
def test_an_address_that_is_none_is_told(text: str) -> None:
    answer = said("run", "--health-address", text)

    assert answer.exit_code == 2
    assert f"{text!r} is not HOST:PORT" in answer.output


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("127.0.0.1:8080", ("127.0.0.1", 8080)),
        (":8080", ("0.0.0.0", 8080)),
        ("[::]:18080", ("::", 18080)),
        ("[::1]:0", ("::1", 0)),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, found: tuple[str, int]) -> None:
    assert address(text) == found


@pytest.mark.parametrize(
    "engine", ["garbage", "ftp://x", "http://", "http://[::1", "http://a:99999", "localhost:9200"]
)
@pytest.mark.parametrize("command", ["run", "plan", "status", "versions"])
def test_an_engine_that_is_no_address_is_told(command: str, engine: str) -> None:
    answer = said(command, "--engine", engine)

    assert answer.exit_code == 2
    assert "is neither http://HOST:PORT" in answer.output


def test_credentials_in_an_address_are_refused_and_not_repeated() -> None:
    answer = said("plan", "--engine", "http://root:hunter2@127.0.0.1:9200")

    assert answer.exit_code == 2
    assert "spec.security" in answer.output
    assert "hunter2" not in answer.output


@pytest.mark.parametrize("seconds", ["nan", "inf", "0"])
def test_a_time_that_nobody_can_wait_for_is_told(seconds: str) -> None:
    assert said("run", "--resync", seconds).exit_code == 2


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        (401, 3, "does not accept these credentials"),
        (403, 3, "the account that was used may not do this"),
        (404, 3, "this API server knows no SearchCluster: the definitions of searchkeeper are not installed"),
        (409, 3, "somebody else changes the same object"),
        (429, 4, "the API server does not answer"),
        (500, 4, "the API server does not answer"),
    ],
)
@pytest.mark.parametrize("command", [("status",), ("plan",), ("versions",), ("run", "--once")])
def test_whoever_is_turned_away_knows_why(
    tmp_path: Path, command: tuple[str, ...], code: int, exit_code: int, words: str
) -> None:
    with serve_api(asked_for()) as face:
        plain = face.api.answer

        def turned_away(request: ApiRequest) -> Response | Watch:
            is_ours = request.path.endswith("/searchclusters")
            return Response(code, {"message": "no"}) if is_ours else plain(request)

        face.api.answer = turned_away  # type: ignore[method-assign]
        answer = said(*command, "--kubeconfig", str(write_kubeconfig(face, tmp_path)))

    assert answer.exit_code == exit_code
    assert words in answer.output


def test_a_port_that_somebody_else_has_is_told(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(
        "{current-context: x, contexts: [{name: x, context: {cluster: x, user: x}}],"
        " clusters: [{name: x, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: x, user: {}}]}"
    )
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        answer = said("run", "--kubeconfig", str(file), "--health-address", f"127.0.0.1:{port}")

    assert answer.exit_code == 2
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in answer.output


def test_a_release_that_knows_nothing_newer_upgrades_from_its_oldest() -> None:
    answer = said("run", "--embedded", "--release", "0.1.0")

    assert answer.exit_code == 0
    assert "OpenSearch 2.17.0 in memory" in answer.output
    assert "7 nodes run 2.19.4" in answer.output


def test_where_nothing_is_to_be_upgraded_nothing_is_shown() -> None:
    answer = said("run", "--embedded", "--from", "3.4.0", "--to", "3.4.0")

    assert answer.exit_code == 2
    assert "nothing to upgrade from 3.4.0 to 3.4.0" in answer.output


def ended(arguments: str, redirection: str) -> subprocess.CompletedProcess[str]:
    """In a shell that says what the command itself ended with."""
    line = f"set -o pipefail; {sys.executable} -m searchkeeper {arguments} {redirection}"
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("redirection", "code"),
    [("| head -c 1", 0), (">&-", 0), ("> /dev/full", 3)],
    ids=["pipe", "none", "full"],
)
def test_nobody_who_reads_is_no_reason_to_fall(redirection: str, code: int) -> None:
    done = ended("run --embedded", redirection)

    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_who_is_interrupted_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["searchkeeper", "status"])
    monkeypatch.setattr(app.cli, "invoke", interrupted)

    assert app.run() == 130
