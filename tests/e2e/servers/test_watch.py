"""A watch hears of everything, or says that it does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from e2e.servers.api import Api, Object, RefusedError
from e2e.servers.polling import until
from e2e.servers.watch import Watch, watch

POOL: Object = {"metadata": {"name": "logs-data", "resourceVersion": "2"}}


class Refusing(Api):
    """An API server that lists, and does not let watch at first, as with a definition that is young."""

    def __init__(self, code: int) -> None:
        super().__init__("127.0.0.1", 0, "", Path())
        self.refusals = [RefusedError(code, {"message": "storage is (re)initializing"})]

    def another(self, *_: str) -> Api:
        return self

    def get(self, *_: str) -> Object:
        return {"items": [], "metadata": {"resourceVersion": "1"}}

    def events(self, _: str, version: str) -> Iterator[Object]:
        if self.refusals:
            raise self.refusals.pop()
        if version == "1":
            yield {"type": "ADDED", "object": POOL}
        raise ConnectionError("the server has ended it")


def test_what_cannot_be_watched_yet_is_watched_a_moment_later() -> None:
    heard: list[str] = []
    with watch(Refusing(429), "/pools", lambda *event: heard.append(event[0])) as pools:
        until("it is heard", lambda: heard, 30)
        pools.must_run()
    assert heard == ["ADDED"]


def test_who_may_not_watch_says_so() -> None:
    with watch(Refusing(403), "/pools", lambda *_: None) as pools:
        until("it is over", lambda: has_ended(pools))


def has_ended(watching: Watch) -> bool:
    try:
        watching.must_run()
    except RuntimeError as told:
        assert "nobody watches /pools any more" in str(told)  # noqa: PT017 - it is waited for
        return True
    return False
