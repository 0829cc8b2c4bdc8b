"""Every change of a kind of objects, in order, to whoever wants to hear of it."""

from __future__ import annotations

__all__ = ["Watch", "watch"]

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPException
from typing import Final, TypeAlias

from e2e.servers.api import Api, Object, RefusedError

_PAUSE: Final = 0.05

Hear: TypeAlias = Callable[[str, Object], None]


class Watch:
    """Lists once, then follows. Nothing between is missed: a broken connection goes on where it was."""

    def __init__(self, api: Api, path: str, hear: Hear) -> None:
        self._api = api.another()
        self._path = path
        self._hear = hear
        self._over = threading.Event()
        self._has_begun = threading.Event()
        self._trouble: Exception | None = None
        self._thread = threading.Thread(target=self._follow, name=f"watch of {path}", daemon=True)

    def start(self) -> None:
        """Returns when it follows: from then on it hears of every single change."""
        self._thread.start()
        while not self._has_begun.wait(0.05):
            self.must_run()

    def must_run(self) -> None:
        """Raises what stopped it, if something did."""
        if self._trouble is not None:
            raise RuntimeError(f"nobody watches {self._path} any more") from self._trouble

    def stop(self) -> None:
        self._over.set()
        while self._thread.is_alive():
            # Again and again: it may be about to open the connection that is to be interrupted.
            self._api.interrupt()
            self._thread.join(0.05)
        self._api.close()

    def _follow(self) -> None:
        try:
            while not self._over.is_set():
                # A server that is busy may break off here too.
                with suppress(OSError, HTTPException):
                    self._follow_from(self._listed())
                self._over.wait(_PAUSE)
        except Exception as trouble:  # noqa: BLE001 (a thread has nobody to raise to; must_run does)
            if not self._over.is_set():
                self._trouble = trouble

    def _listed(self) -> str:
        found = self._api.get(self._path)
        for item in found["items"]:
            self._hear("ADDED", item)
        self._has_begun.set()
        return str(found["metadata"]["resourceVersion"])

    def _follow_from(self, version: str) -> None:
        """Until the server does not know the version any more."""
        while not self._over.is_set():
            try:
                for event in self._api.events(self._path, version):
                    if event["type"] == "ERROR":
                        raise RefusedError(event["object"].get("code", 500), event["object"])
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self._hear(event["type"], event["object"])
            except (OSError, HTTPException):
                self._over.wait(_PAUSE)
            except RefusedError as refused:
                if refused.code == HTTPStatus.GONE:
                    return
                # Whose definition is young can be listed a moment before it can be watched.
                if refused.code != HTTPStatus.TOO_MANY_REQUESTS:
                    raise
                self._over.wait(_PAUSE)


@contextmanager
def watch(api: Api, path: str, hear: Hear) -> Iterator[Watch]:
    """Calls `hear` with ADDED, MODIFIED or DELETED and the object, from one other thread."""
    watching = Watch(api, path, hear)
    watching.start()
    try:
        yield watching
    finally:
        watching.stop()
