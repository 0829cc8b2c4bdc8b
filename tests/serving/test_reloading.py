"""Catalogs that change while they are served."""

from __future__ import annotations

import errno
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from catalogs import fbc, large_catalog, write_fbc
from everpath.server import reload
from everpath.server.catalog import snapshot
from registries import Ask, asked
from serving_here import Running, serving

_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def _until(happened: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.02)


def _heads(running: Running) -> list[str]:
    answer = asked(running.channel, Ask("GetPackage", {"name": "p"}))
    assert isinstance(answer, list), answer
    return [channel.csvName for channel in answer[0].channels]


def _health(running: Running, service: str) -> int:
    stub: Any = health_pb2_grpc.HealthStub(running.channel)
    answer: int = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=60).status
    return answer


def test_a_changed_catalog_is_served(tmp_path: Path) -> None:
    with serving(write_fbc(tmp_path, "a"), watch=True) as running:
        assert _heads(running) == ["a"]
        write_fbc(tmp_path, "b: a\na")
        _until(lambda: _heads(running) == ["b"])
        write_fbc(tmp_path, "c", "q")
        _until(lambda: len(asked(running.channel, Ask("ListPackages"))) == 2)
        _until(lambda: len(_changes(running)) == 2)
    assert _changes(running) == ["serving 1 package, 2 bundles", "serving 2 packages, 3 bundles"]


def _changes(running: Running) -> list[str]:
    return [text.partition(": ")[2] for text in running.said if "has changed" in text]


def _said(running: Running) -> str:
    """The last thing that was said, if anything was."""
    return running.said[-1] if running.said else ""


def test_without_watch_nothing_changes(tmp_path: Path) -> None:
    """Not even the manifests, which are parsed when they are asked for."""
    catalog = write_fbc(tmp_path, "a")
    with serving(catalog) as running:
        (catalog / "p.yaml").write_text("nothing of the kind")
        assert _heads(running) == ["a"]
        where = {"pkgName": "p", "channelName": "stable", "csvName": "a"}
        answer = asked(running.channel, Ask("GetBundle", where))
        assert isinstance(answer, list), answer
        assert answer[0].csvName == "a"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (fbc("b: a\nc: a\na"), "multiple channel heads found in graph: b, c"),
        ("schema: [", "does not parse"),
        ("", "holds no catalog"),
    ],
    ids=["refused by opm", "torn", "empty"],
)
def test_a_catalog_that_becomes_invalid_is_told_of_and_the_old_one_served(
    tmp_path: Path, text: str, words: str
) -> None:
    catalog = write_fbc(tmp_path, "a")
    with serving(catalog, watch=True) as running:
        (catalog / "p.yaml").write_text(text)
        _until(lambda: words in _said(running))
        assert "the previous catalog is still served" in _said(running)
        _until(lambda: _health(running, "everpath.catalog") == _NOT_SERVING)
        assert _health(running, "") == _SERVING
        assert _heads(running) == ["a"]
        write_fbc(tmp_path, "b: a\na")
        _until(lambda: _health(running, "everpath.catalog") == _SERVING)
        assert _heads(running) == ["b"]


def test_whatever_goes_wrong_with_a_change_the_next_one_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No space left, no memory, a fault of ours: none of it may end the watch in silence."""

    def fails(_: str) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    catalog = write_fbc(tmp_path, "a")
    with serving(catalog, watch=True) as running:
        monkeypatch.setattr(snapshot, "file_state", fails)
        write_fbc(tmp_path, "b: a\na")
        _until(lambda: "No space left on device" in _said(running))
        _until(lambda: _health(running, "everpath.catalog") == _NOT_SERVING)
        assert _heads(running) == ["a"]
        monkeypatch.undo()
        write_fbc(tmp_path, "c: b\nb: a\na")
        _until(lambda: _heads(running) == ["c"])


@pytest.fixture
def at_a_glance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every catalog is admitted as large ones are: it is looked at closely while it is served."""
    monkeypatch.setattr(snapshot, "_FULLY_PARSED_SIZE", 0)


@pytest.mark.usefixtures("at_a_glance")
def test_a_closer_look_that_does_not_end_says_nothing_of_the_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where memory is short the process that looks is the first to be killed."""
    killed = tmp_path / "killed"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    killed.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(killed))
    with serving(write_fbc(tmp_path, "a")) as running:
        _until(lambda: running.said)
        assert running.said == [
            f"the check of {tmp_path / 'catalog'} did not complete; the catalog is still served: exit code -9"
        ]
        assert _health(running, "everpath.catalog") == _SERVING


@pytest.mark.usefixtures("at_a_glance")
def test_a_closer_look_at_what_is_no_longer_there_says_nothing_of_what_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = write_fbc(tmp_path, "a")
    looked = threading.Event()

    async def look(_: str) -> str:
        (catalog / "p.yaml").write_text("schema: [")
        looked.set()
        return "it does not parse"

    monkeypatch.setattr(reload, "check_in_subprocess", look)
    with serving(catalog) as running:
        assert looked.wait(60)
        assert _heads(running) == ["a"]
        assert _health(running, "everpath.catalog") == _SERVING
    assert [text for text in running.said if "parse" in text] == []


def test_a_catalog_that_goes_away_is_still_served(tmp_path: Path) -> None:
    catalog = write_fbc(tmp_path, "a")
    with serving(catalog, watch=True) as running:
        (catalog / "p.yaml").unlink()
        catalog.rmdir()
        _until(lambda: _health(running, "everpath.catalog") == _NOT_SERVING)
        assert _heads(running) == ["a"]


def test_a_stream_goes_on_with_the_catalog_it_began_with(tmp_path: Path) -> None:
    """Far more than what fits into buffers, so that it cannot have been sent at once."""
    catalog = large_catalog(tmp_path / "catalog", 300)
    with serving(catalog, watch=True) as running:
        stream: Any = running.channel.unary_stream("/api.Registry/ListBundles")
        call = stream(b"", timeout=60)
        first = next(call)
        (catalog / "p.json").unlink()
        write_fbc(tmp_path, "b")
        _until(lambda: _heads(running) == ["b"])
        assert len([first, *call]) == 300


def test_who_watches_health_is_told_of_a_change(tmp_path: Path) -> None:
    catalog = write_fbc(tmp_path, "a")
    with serving(catalog, watch=True) as running:
        stub: Any = health_pb2_grpc.HealthStub(running.channel)
        call = stub.Watch(health_pb2.HealthCheckRequest(service="everpath.catalog"), timeout=60)
        assert next(call).status == _SERVING
        (catalog / "p.yaml").write_text("schema: [")
        assert next(call).status == _NOT_SERVING
        call.cancel()
