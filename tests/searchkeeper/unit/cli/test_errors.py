"""Errors and exit codes: usage, kubeconfig, API server, pipes and signals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from searchkeeper.cli import app
from searchkeeper.testing.fake_kubernetes.api_server import ApiRequest, Response, Watch
from tests.support.searchkeeper.managers import serve_api, write_kubeconfig
from tests.support.searchkeeper.operator_runs import new_cluster
from tests.support.searchkeeper.searchkeeper_commands import NEW, OLD, invoke, invoke_json


def test_help_imports_no_kubernetes_client() -> None:
    script = "import sys; from searchkeeper.cli.app import cli; cli(['--help'], standalone_mode=False)"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

    assert "click" in imported
    assert not imported & {
        "prometheus_client",
        "kubernetes",
        "asyncio",
        "yaml",
        "semver",
        "searchkeeper.reconcile",
    }


@pytest.mark.parametrize("command", ["run", "plan", "status", "versions"])
def test_help_of_every_command_has_examples_and_fits_80_columns(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = invoke(command, "--help")

    assert result.exit_code == 0
    assert f"  Examples:\n    searchkeeper {command}" in result.output
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (("plna",), "no such command 'plna'", "did you mean 'plan'?"),
        (("walk",), "no such command 'walk'", "see `searchkeeper --help`"),
        (("plan", "--embeded"), "no such option", "did you mean"),
        (("run", "--nope"), "no such option", "did you mean '--once' or '--to'?"),
        (("plan", "--release", "9", "--embedded"), "", "see `searchkeeper plan --help`"),
    ],
)
def test_usage_error_is_one_line_with_a_hint(
    arguments: tuple[str, ...],
    error: str,
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["searchkeeper", *arguments])

    assert app.run_command() == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"error: {error}")
    assert "mean" not in first
    assert second.startswith(f"hint: {hint}")


def test_unknown_release_is_an_error_with_known_releases() -> None:
    result = invoke("plan", "--embedded", "--release", "9.9.9")

    assert result.exit_code == 2
    assert "9.9.9" in result.output
    assert "0.1.0" in result.output


def test_sources_are_mutually_exclusive(tmp_path: Path) -> None:
    result = invoke("plan", "--embedded", "--kubeconfig", str(tmp_path / "config"))

    assert result.exit_code == 2
    assert "--embedded, --filename and --kubeconfig are mutually exclusive" in result.output


@pytest.mark.exhaustive
def test_namespace_and_all_namespaces_are_mutually_exclusive() -> None:
    result = invoke("status", "--embedded", "-A", "-n", "search")

    assert result.exit_code == 2
    assert "--namespace and --all-namespaces are mutually exclusive" in result.output
    assert invoke_json("status", "--embedded", "-A") == invoke_json("status", "--embedded")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("status", "--embedded", "--watch"), "--watch needs a cluster"),
        (("run", "--to", NEW), "--from and --to need --embedded"),
        (("run", "--from", OLD), "--from and --to need --embedded"),
        (
            ("run", "--embedded", "-n", "search"),
            "--namespace needs a cluster and cannot be used with --embedded",
        ),
        (("run", "--embedded", "--once"), "--once needs a cluster"),
        *(
            ((command, *place, "--engine", "http://localhost:9200"), f"cannot be used with {name}")
            for command in ("plan", "status", "versions")
            for place, name in ((("--embedded",), "--embedded"), (("-f", "-"), "--filename"))
        ),
    ],
)
def test_option_without_effect_is_an_error(arguments: tuple[str, ...], message: str) -> None:
    result = invoke(*arguments)

    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    "engine", ["garbage", "ftp://x", "http://", "http://[::1", "http://a:99999", "localhost:9200"]
)
@pytest.mark.parametrize("command", ["run", "plan", "status", "versions"])
def test_engine_must_be_a_url(command: str, engine: str) -> None:
    result = invoke(command, "--engine", engine)

    assert result.exit_code == 2
    assert "is neither http://HOST:PORT" in result.output


def test_credentials_in_engine_url_are_rejected_and_not_printed() -> None:
    result = invoke("plan", "--engine", "http://root:hunter2@127.0.0.1:9200")

    assert result.exit_code == 2
    assert "spec.security" in result.output
    assert "hunter2" not in result.output


@pytest.mark.parametrize(
    ("arguments", "package"),
    [(("status",), "kubernetes.config"), (("plan",), "kubernetes.config"), (("run",), "prometheus_client")],
)
def test_missing_package_is_an_error_with_install_command(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for module in ("cli.operate", "manager.manager", "manager.metrics", "manager.endpoints"):
        monkeypatch.delitem(sys.modules, f"searchkeeper.{module}", raising=False)

    result = invoke(*arguments)

    assert result.exit_code == 2
    assert "pip install '.[operator]' in a clone, or pip install 'everpath[operator]'" in result.output


def test_unknown_cluster_is_an_error_with_known_clusters() -> None:
    result = invoke("status", "shop", "--embedded")

    assert result.exit_code == 3
    assert "SearchCluster shop not found; found logs" in result.output


@pytest.mark.parametrize("text", [b"{", b"hello", b"\xff\xfe", b"", b"[]", b"{}"])
@pytest.mark.parametrize("command", [("status",), ("run", "--once")])
def test_invalid_kubeconfig_is_an_error(tmp_path: Path, text: bytes, command: tuple[str, ...]) -> None:
    file = tmp_path / "config"
    file.write_bytes(text)

    result = invoke(*command, "--kubeconfig", str(file))

    assert result.exit_code == 2
    assert f"no cluster is configured: {file}: Invalid kube-config" in result.output


@pytest.mark.parametrize("command", [("status",), ("run", "--once"), ("run",)])
def test_missing_kubeconfig_is_an_error(tmp_path: Path, command: tuple[str, ...]) -> None:
    result = invoke(*command, "--kubeconfig", str(tmp_path / "nothing"))

    assert result.exit_code == 2
    assert f"error: no cluster is configured: {tmp_path / 'nothing'}: " in result.stderr
    assert "hint: set --kubeconfig or KUBECONFIG to a file" in result.stderr


def test_missing_kubeconfig_hints_at_embedded(tmp_path: Path) -> None:
    result = invoke("status", "--kubeconfig", str(tmp_path / "nothing"))

    assert result.exit_code == 2
    assert "or use --embedded" in result.output


def test_api_server_that_does_not_answer_is_exit_code_4(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(
        "{apiVersion: v1, kind: Config, current-context: a, users: [],"
        " contexts: [{name: a, context: {cluster: a, user: a}}],"
        ' clusters: [{name: a, cluster: {server: "http://127.0.0.1:9"}}]}',
        encoding="utf-8",
    )
    result = invoke("status", "--kubeconfig", str(file))
    assert result.exit_code == 4
    assert "hint: check the server of your kubeconfig with `kubectl cluster-info`" in result.stderr


@pytest.mark.parametrize(
    ("code", "exit_code", "message"),
    [
        (401, 3, "does not accept these credentials"),
        (403, 3, "permission denied"),
        (404, 3, "the API server has no kind SearchCluster: the CRDs of searchkeeper are not installed"),
        (409, 3, "another client changed the same object"),
        (429, 4, "the API server does not answer"),
        (500, 4, "the API server does not answer"),
    ],
)
@pytest.mark.parametrize("command", [("status",), ("plan",), ("versions",), ("run", "--once")])
def test_rejected_request_is_an_error(
    tmp_path: Path, command: tuple[str, ...], code: int, exit_code: int, message: str
) -> None:
    with serve_api(new_cluster()) as face:
        answer = face.api.answer

        def reject(request: ApiRequest) -> Response | Watch:
            is_own_kind = request.path.endswith("/searchclusters")
            return Response(code, {"message": "no"}) if is_own_kind else answer(request)

        face.api.answer = reject  # type: ignore[method-assign]
        result = invoke(*command, "--kubeconfig", str(write_kubeconfig(face, tmp_path)))

    assert result.exit_code == exit_code
    assert message in result.output


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize(
    ("redirection", "exit_code"),
    [("| head -c 1", 0), (">&-", 0), ("> /dev/full", 3)],
    ids=["pipe", "none", "full"],
)
def test_closed_or_full_output_causes_no_traceback(redirection: str, exit_code: int) -> None:
    line = f"set -o pipefail; {sys.executable} -m searchkeeper run --embedded {redirection}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == exit_code
    assert "Traceback" not in done.stderr


def test_interrupted_command_is_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["searchkeeper", "status"])
    monkeypatch.setattr(app.cli, "invoke", interrupt)

    assert app.run_command() == 130
