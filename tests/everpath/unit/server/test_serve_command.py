"""`everpath catalog serve`: start, shutdown and errors."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from everpath.app.extras import missing_extra
from everpath.cli.entry_point import run
from everpath.server import lifecycle
from everpath.server.registry_api import grpc_server
from tests.support.commandline import heeded
from tests.support.everpath.catalogs import fbc, write_fbc
from tests.support.everpath.registry_api_client import Call, connect, send_call


@contextmanager
def run_command(*arguments: object, stdin: IO[str] | None = None) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "everpath", "catalog", "serve", *map(str, arguments)]
    environment = {**os.environ, "EVERPATH_CACHE": "off"}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=stdin, stdout=pipe, stderr=pipe, text=True, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read_address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.fullmatch(r"serving \d+ packages?, \d+ bundles? of .* on (127\.0\.0\.1:\d+)\n", line)
    assert found is not None, (line, process.stderr.read() if process.stderr else "")
    return found[1]


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_serves_until_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    catalog = write_fbc(tmp_path, "a")
    ready = tmp_path / "ready"
    with (
        heeded(number),
        run_command(catalog, "--address", "127.0.0.1", "--port", 0, "--ready-file", ready) as process,
    ):
        address = read_address(process)
        assert ready.read_text() == f"{address}\n"
        with connect(address) as channel:
            assert len(send_call(channel, Call("ListBundles"))) == 1
        process.send_signal(number)
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert (
            process.stderr.read()
            == "everpath: shutting down: no new calls; open streams have 20 seconds to finish\n"
        )


def test_standard_input_is_served(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text(fbc("b: a\na"))
    with (
        (tmp_path / "catalog.yaml").open() as catalog,
        run_command("-", "--address", "127.0.0.1", "-p", "0", stdin=catalog) as process,
        connect(read_address(process)) as channel,
    ):
        assert len(send_call(channel, Call("ListBundles"))) == 2


def test_a_closed_standard_input_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    code, message = _run_failing(capfd, "-")
    assert code == 3
    assert message == "error: standard input is closed\nhint: give a folder or a file\n"


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="the machine has no IPv6")
def test_an_address_may_be_written_in_brackets(tmp_path: Path) -> None:
    with run_command(write_fbc(tmp_path, "a"), "--address", "[::1]", "--port", 0) as process:
        assert process.stdout is not None
        assert re.search(r" on \[::1\]:\d+\n", process.stdout.readline())
        process.terminate()


@pytest.mark.exhaustive
def test_a_large_catalog_is_checked_while_it_is_served(tmp_path: Path) -> None:
    """opm rejects the catalog because of a value that ListBundles does not return."""
    catalog = write_fbc(tmp_path, "a")
    padding = "".join(f"---\nschema: com.example\nname: n{i}\ntext: {'x' * 5000}\n" for i in range(1000))
    text = (catalog / "p.yaml").read_text()
    invalid = "- type: olm.csv.metadata\n  value:\n    keywords: none\n"
    (catalog / "p.yaml").write_text(text.replace("properties:\n", f"properties:\n{invalid}") + padding)
    with run_command(catalog, "--address", "127.0.0.1", "--port", 0) as process:
        with connect(read_address(process)) as channel:
            assert len(send_call(channel, Call("ListBundles"))) == 1
        assert process.stderr is not None
        message = process.stderr.readline()
        assert message.startswith("everpath: the catalog has a problem and is still served: opm would not")
        assert "keywords" in message
        process.terminate()


def test_check_reports_a_valid_catalog(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    catalog = write_fbc(tmp_path, "b: a\na")
    assert run(["catalog", "serve", str(catalog), "--check"]) == 0
    assert capfd.readouterr().out == f"{catalog} can be served: 1 package, 2 bundles\n"


def _run_failing(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = run(["catalog", "serve", "--termination-log", os.devnull, *map(str, arguments)])
    return code, capfd.readouterr().err


def test_a_catalog_that_opm_rejects_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, message = _run_failing(capfd, write_fbc(tmp_path, "b: a\nc: a\na"))
    assert code == 1
    assert "opm would not serve this catalog" in message
    assert "multiple channel heads found in graph: b, c" in message


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("schema: a/b\nname: x\n", "opm does not serve a document with the schema 'a/b'"),
        ("schema: com.example\npackage: a b\n", "opm does not serve a document with the package 'a b'"),
    ],
)
def test_names_that_only_opm_serve_refuses_are_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], document: str, reason: str
) -> None:
    catalog = write_fbc(tmp_path, "a")
    (catalog / "other.yaml").write_text(document)
    code, message = _run_failing(capfd, catalog)
    assert (code, reason in message) == (1, True), message


def test_two_metadata_properties_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    catalog = write_fbc(tmp_path, "a")
    text = (catalog / "p.yaml").read_text()
    twice = "- type: olm.csv.metadata\n  value: {}\n" * 2
    (catalog / "p.yaml").write_text(text.replace("properties:\n", f"properties:\n{twice}"))
    code, message = _run_failing(capfd, catalog)
    assert (code, "more than one olm.csv.metadata" in message) == (1, True), message


def test_a_missing_path_is_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, message = _run_failing(capfd, tmp_path / "no")
    assert code == 3
    assert "cannot read" in message


def test_a_port_in_use_is_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, message = _run_failing(
            capfd, write_fbc(tmp_path, "a"), "--address", "127.0.0.1", "--port", port
        )
    assert code == 2
    assert message.startswith(f"error: port {port} is in use\nhint: ")


def test_two_servers_cannot_use_one_port(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    catalog = write_fbc(tmp_path, "a")
    with run_command(catalog, "--address", "127.0.0.1", "--port", 0) as process:
        port = read_address(process).rpartition(":")[2]
        code, message = _run_failing(capfd, catalog, "--address", "127.0.0.1", "--port", port)
    assert (code, f"port {port} is in use" in message) == (2, True)


def test_an_address_of_another_machine_is_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, message = _run_failing(capfd, write_fbc(tmp_path, "a"), "--address", "192.0.2.1", "--port", 0)
    assert code == 2
    assert "cannot listen on 192.0.2.1:0" in message


@pytest.mark.parametrize("text", ["no", "127.0.0.1:", "127.0.0.1:99999", "-1"])
def test_an_invalid_metrics_address_is_an_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str
) -> None:
    code, message = _run_failing(capfd, write_fbc(tmp_path, "a"), f"--metrics={text}", "--port", 0)
    assert (code, "is not an address to listen on" in message) == (2, True), message


def test_standard_input_cannot_be_watched(capfd: pytest.CaptureFixture[str]) -> None:
    assert _run_failing(capfd, "-", "--watch")[0] == 2


def test_an_error_is_written_to_the_termination_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "termination-log"
    code = run(["catalog", "serve", str(tmp_path / "no"), "--termination-log", str(log)])
    assert code == 3
    assert log.read_text().startswith(f"cannot read {tmp_path / 'no'}: ")
    assert "cannot read" in capfd.readouterr().err


def test_a_termination_log_that_cannot_be_written_is_reported(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "no" / "folder"
    assert run(["catalog", "serve", str(tmp_path / "no"), "--termination-log", str(missing)]) == 3
    assert f"everpath: cannot write {missing}" in capfd.readouterr().err


def test_a_missing_library_is_reported_with_the_extra(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (lifecycle, grpc_server):
        monkeypatch.delitem(sys.modules, module.__name__)
    monkeypatch.setitem(sys.modules, "grpc_health.v1", None)
    code, message = _run_failing(capfd, write_fbc(tmp_path, "a"))
    assert code == 2
    assert "this command needs the Python package grpc_health, which is not installed" in message
    assert "pip install '.[serve]' in a clone, or pip install 'everpath[serve]'" in message


def test_any_other_missing_module_is_an_internal_error() -> None:
    error = ImportError("no such", name="everpath.nothing")
    with pytest.raises(ImportError, match="no such"):
        missing_extra(error, "serve", ["grpc"])


def test_help_works_without_the_extra() -> None:
    code = (
        "import sys; sys.modules['grpc'] = None\n"
        "from everpath.cli.entry_point import run; sys.exit(run(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, "catalog", "serve", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "--termination-log" in done.stdout) == (0, True), done.stderr


def test_a_catalog_is_served_from_a_read_only_file_system(tmp_path: Path) -> None:
    """The copy is in memory if no folder is writable."""
    catalog = write_fbc(tmp_path, "a")
    missing = str(tmp_path / "missing")
    code = (
        "import sys, tempfile\n"
        "def fail(*_, **__): raise OSError(30, 'Read-only file system')\n"
        "tempfile.TemporaryFile = fail\n"
        "from everpath.server.catalog.snapshot import take_snapshot\n"
        "print(len(list(take_snapshot(sys.argv[1]).queries.list_bundles())))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(catalog)],
        env={**os.environ, "EVERPATH_CACHE": missing, "TMPDIR": missing},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr
