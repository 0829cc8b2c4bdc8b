"""Catalogs that change while they are served, and the check of large catalogs."""

from __future__ import annotations

import asyncio
import errno
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from everpath.server import reload
from everpath.server.catalog import snapshot
from everpath.server.catalog.check_process import check_in_subprocess
from tests.support.everpath.catalogs import fbc, large_catalog, write_fbc
from tests.support.everpath.in_process_server import RunningServer, run_server
from tests.support.everpath.registry_api_client import Call, send_call

_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def _wait_until(is_true: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.02)


def _heads(running: RunningServer) -> list[str]:
    answer = send_call(running.channel, Call("GetPackage", {"name": "p"}))
    assert isinstance(answer, list), answer
    return [channel.csvName for channel in answer[0].channels]


def _health(running: RunningServer, service: str) -> int:
    stub: Any = health_pb2_grpc.HealthStub(running.channel)
    answer: int = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=60).status
    return answer


def test_a_changed_catalog_is_reloaded(tmp_path: Path) -> None:
    with run_server(write_fbc(tmp_path, "a"), watch=True) as running:
        assert _heads(running) == ["a"]
        write_fbc(tmp_path, "b: a\na")
        _wait_until(lambda: _heads(running) == ["b"])
        write_fbc(tmp_path, "c", "q")
        _wait_until(lambda: len(send_call(running.channel, Call("ListPackages"))) == 2)
        _wait_until(lambda: len(_reload_messages(running)) == 2)
    assert _reload_messages(running) == ["serving 1 package, 2 bundles", "serving 2 packages, 3 bundles"]


def _reload_messages(running: RunningServer) -> list[str]:
    return [text.partition(": ")[2] for text in running.log if "has changed" in text]


def _last_message(running: RunningServer) -> str:
    return running.log[-1] if running.log else ""


def test_without_watch_a_changed_catalog_is_not_reloaded(tmp_path: Path) -> None:
    """The manifests, which are parsed later, come from the copy too."""
    catalog = write_fbc(tmp_path, "a")
    with run_server(catalog) as running:
        (catalog / "p.yaml").write_text("not a catalog")
        assert _heads(running) == ["a"]
        where = {"pkgName": "p", "channelName": "stable", "csvName": "a"}
        answer = send_call(running.channel, Call("GetBundle", where))
        assert isinstance(answer, list), answer
        assert answer[0].csvName == "a"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (fbc("b: a\nc: a\na"), "multiple channel heads found in graph: b, c"),
        ("schema: [", "does not parse"),
        ("", "contains no catalog"),
    ],
    ids=["refused by opm", "truncated", "empty"],
)
def test_an_invalid_catalog_is_reported_and_the_previous_one_is_still_served(
    tmp_path: Path, text: str, message: str
) -> None:
    catalog = write_fbc(tmp_path, "a")
    with run_server(catalog, watch=True) as running:
        (catalog / "p.yaml").write_text(text)
        _wait_until(lambda: message in _last_message(running))
        assert "the previous catalog is still served" in _last_message(running)
        _wait_until(lambda: _health(running, "everpath.catalog") == _NOT_SERVING)
        assert _health(running, "") == _SERVING
        assert _heads(running) == ["a"]
        write_fbc(tmp_path, "b: a\na")
        _wait_until(lambda: _health(running, "everpath.catalog") == _SERVING)
        assert _heads(running) == ["b"]


def test_a_failed_reload_does_not_end_the_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even an error that is not expected, such as a full disk or a bug."""

    def fail(_: str) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    catalog = write_fbc(tmp_path, "a")
    with run_server(catalog, watch=True) as running:
        monkeypatch.setattr(snapshot, "file_state", fail)
        write_fbc(tmp_path, "b: a\na")
        _wait_until(lambda: "No space left on device" in _last_message(running))
        _wait_until(lambda: _health(running, "everpath.catalog") == _NOT_SERVING)
        assert _heads(running) == ["a"]
        monkeypatch.undo()
        write_fbc(tmp_path, "c: b\nb: a\na")
        _wait_until(lambda: _heads(running) == ["c"])


@pytest.fixture
def metadata_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every catalog is checked in the background, as large ones are."""
    monkeypatch.setattr(snapshot, "_FULLY_PARSED_SIZE", 0)


@pytest.mark.usefixtures("metadata_skipped")
def test_a_check_that_does_not_complete_leaves_the_health_serving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If memory is short, the process of the check is killed first."""
    killed = tmp_path / "killed"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    killed.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(killed))
    with run_server(write_fbc(tmp_path, "a")) as running:
        _wait_until(lambda: running.log)
        assert running.log == [
            f"the check of {tmp_path / 'catalog'} did not complete; the catalog is still served: exit code -9"
        ]
        assert _health(running, "everpath.catalog") == _SERVING


@pytest.mark.usefixtures("metadata_skipped")
def test_the_result_of_a_check_is_ignored_if_the_files_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = write_fbc(tmp_path, "a")
    has_checked = threading.Event()

    async def check(_: str) -> str:
        (catalog / "p.yaml").write_text("schema: [")
        has_checked.set()
        return "it does not parse"

    monkeypatch.setattr(reload, "check_in_subprocess", check)
    with run_server(catalog) as running:
        assert has_checked.wait(60)
        assert _heads(running) == ["a"]
        assert _health(running, "everpath.catalog") == _SERVING
    assert [text for text in running.log if "parse" in text] == []


def test_a_deleted_catalog_is_still_served(tmp_path: Path) -> None:
    catalog = write_fbc(tmp_path, "a")
    with run_server(catalog, watch=True) as running:
        (catalog / "p.yaml").unlink()
        catalog.rmdir()
        _wait_until(lambda: _health(running, "everpath.catalog") == _NOT_SERVING)
        assert _heads(running) == ["a"]


def test_a_stream_continues_with_the_catalog_it_started_with(tmp_path: Path) -> None:
    """The stream is larger than all buffers, so that most of it is sent after the reload."""
    catalog = large_catalog(tmp_path / "catalog", 300)
    with run_server(catalog, watch=True) as running:
        stream: Any = running.channel.unary_stream("/api.Registry/ListBundles")
        call = stream(b"", timeout=60)
        first = next(call)
        (catalog / "p.json").unlink()
        write_fbc(tmp_path, "b")
        _wait_until(lambda: _heads(running) == ["b"])
        assert len([first, *call]) == 300


def test_a_watch_of_the_health_reports_changes(tmp_path: Path) -> None:
    catalog = write_fbc(tmp_path, "a")
    with run_server(catalog, watch=True) as running:
        stub: Any = health_pb2_grpc.HealthStub(running.channel)
        call = stub.Watch(health_pb2.HealthCheckRequest(service="everpath.catalog"), timeout=60)
        assert next(call).status == _SERVING
        (catalog / "p.yaml").write_text("schema: [")
        assert next(call).status == _NOT_SERVING
        call.cancel()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (fbc("b: a\na"), None),
        (fbc("b: a\nc: a\na"), "multiple channel heads"),
        ("schema: [", "does not parse"),
    ],
    ids=["valid", "refused by opm", "truncated"],
)
def test_a_check_in_another_process_returns_the_problem(
    tmp_path: Path, text: str, problem: str | None
) -> None:
    (tmp_path / "p.yaml").write_text(text)
    found = asyncio.run(check_in_subprocess(str(tmp_path)))
    assert found is None if problem is None else found is not None and problem in found
