"""Structured logs: their keys, errors, and the logs of libraries."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from searchkeeper.manager.logging import KEYS, Log, LogFields, configure_logging


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """All logs; the former handlers are restored afterwards."""
    root, stream = logging.getLogger(), io.StringIO()
    handlers, level = root.handlers[:], root.level
    configure_logging(stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_every_field_is_a_key() -> None:
    fields = {name.rstrip("_") for name in LogFields.__annotations__}
    assert {*fields, "ts", "level", "msg", "logger"} == set(KEYS)


def test_line_has_its_fields_in_the_order_of_the_keys(stream: io.StringIO) -> None:
    Log(reconcile=7, cluster="search/logs").info(
        "deleting pod", to="3.4.0", from_="2.19.4", pod="logs-data-1"
    )

    [line] = lines(stream)
    assert list(line) == ["ts", "level", "msg", "cluster", "pod", "from", "to", "reconcile"]
    assert (line["msg"], line["from"], line["to"]) == ("deleting pod", "2.19.4", "3.4.0")


def test_field_outside_the_keys_is_dropped(stream: io.StringIO) -> None:
    logging.getLogger("searchkeeper").info("message", extra={"fields": {"pod": "a", "color": "red"}})

    [line] = lines(stream)
    assert set(line) == {"ts", "level", "msg", "pod"}


def test_error_is_one_line_with_its_stack_trace(stream: io.StringIO) -> None:
    try:
        raise ValueError("two\nlines")
    except ValueError:
        Log(cluster="search/logs").exception("reconcile failed unexpectedly; retrying")

    [line] = lines(stream)
    assert (line["level"], line["cluster"]) == ("error", "search/logs")
    assert "ValueError" in line["error"]


def test_percent_signs_in_a_message_are_kept(stream: io.StringIO) -> None:
    Log().info("disk is 95% full: %s")

    assert [line["msg"] for line in lines(stream)] == ["disk is 95% full: %s"]


def test_libraries_log_warnings_only(stream: io.StringIO) -> None:
    logging.getLogger("urllib3.something").info("fine")
    logging.getLogger("urllib3.something").warning("not fine")

    assert [(line["logger"], line["msg"]) for line in lines(stream)] == [("urllib3.something", "not fine")]
