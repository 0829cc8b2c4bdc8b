"""A watch delivers every event, or check_running raises an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.e2e.servers.api import Api, ApiError, Object
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.watch import Watch, watch

POOL: Object = {"metadata": {"name": "logs-data", "resourceVersion": "2"}}


class FailingApi(Api):
    """An API server that lists objects, but rejects the first watch, as for a new CRD."""

    def __init__(self, code: int) -> None:
        super().__init__("127.0.0.1", 0, "", Path())
        self.errors = [ApiError(code, {"message": "storage is (re)initializing"})]

    def new_connection(self, *_: str) -> Api:
        return self

    def get(self, *_: str) -> Object:
        return {"items": [], "metadata": {"resourceVersion": "1"}}

    def watch_events(self, _: str, version: str) -> Iterator[Object]:
        if self.errors:
            raise self.errors.pop()
        if version == "1":
            yield {"type": "ADDED", "object": POOL}
        raise ConnectionError("the server has ended it")


def test_watch_is_retried_after_429() -> None:
    events: list[str] = []
    with watch(FailingApi(429), "/pools", lambda *event: events.append(event[0])) as pools:
        wait_until("an event is delivered", lambda: events, 30)
        pools.check_running()
    assert events == ["ADDED"]


def test_check_running_raises_after_403() -> None:
    with watch(FailingApi(403), "/pools", lambda *_: None) as pools:
        wait_until("the watch has failed", lambda: has_failed(pools))


def has_failed(started: Watch) -> bool:
    try:
        started.check_running()
    except RuntimeError as error:
        assert "the watch of /pools has failed" in str(error)  # noqa: PT017 - it is waited for
        return True
    return False
