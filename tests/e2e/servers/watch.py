"""Watch a list of objects, and call a handler for each event in order."""

from __future__ import annotations

__all__ = ["Watch", "watch"]

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPException
from typing import Final, TypeAlias

from tests.e2e.servers.api import Api, ApiError, Object

_PAUSE: Final = 0.05

EventHandler: TypeAlias = Callable[[str, Object], None]


class Watch:
    """List the objects once, then watch them in a thread. A broken connection resumes without a gap."""

    def __init__(self, api: Api, path: str, handler: EventHandler) -> None:
        self._api = api.new_connection()
        self._path = path
        self._handler = handler
        self._stopped = threading.Event()
        self._has_listed = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name=f"watch of {path}", daemon=True)

    def start(self) -> None:
        """Return when the objects are listed: from then on no change is missed."""
        self._thread.start()
        while not self._has_listed.wait(0.05):
            self.check_running()

    def check_running(self) -> None:
        """Raise RuntimeError if the watch has failed."""
        if self._error is not None:
            raise RuntimeError(f"the watch of {self._path} has failed") from self._error

    def stop(self) -> None:
        self._stopped.set()
        while self._thread.is_alive():
            # More than once: the thread may be about to open the connection.
            self._api.interrupt()
            self._thread.join(0.05)
        self._api.close()

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                # A busy server may close the connection here too.
                with suppress(OSError, HTTPException):
                    self._watch_from(self._list())
                self._stopped.wait(_PAUSE)
        except Exception as error:  # noqa: BLE001 (check_running raises it in the main thread)
            if not self._stopped.is_set():
                self._error = error

    def _list(self) -> str:
        found = self._api.get(self._path)
        for item in found["items"]:
            self._handler("ADDED", item)
        self._has_listed.set()
        return str(found["metadata"]["resourceVersion"])

    def _watch_from(self, version: str) -> None:
        """Watch until the server responds 410 Gone to the resource version."""
        while not self._stopped.is_set():
            try:
                for event in self._api.watch_events(self._path, version):
                    if event["type"] == "ERROR":
                        raise ApiError(event["object"].get("code", 500), event["object"])
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self._handler(event["type"], event["object"])
            except (OSError, HTTPException):
                self._stopped.wait(_PAUSE)
            except ApiError as error:
                if error.code == HTTPStatus.GONE:
                    return
                # Objects of a new CRD can be listed shortly before they can be watched.
                if error.code != HTTPStatus.TOO_MANY_REQUESTS:
                    raise
                self._stopped.wait(_PAUSE)


@contextmanager
def watch(api: Api, path: str, handler: EventHandler) -> Iterator[Watch]:
    """Call `handler` with ADDED, MODIFIED or DELETED and the object, in another thread."""
    started = Watch(api, path, handler)
    started.start()
    try:
        yield started
    finally:
        started.stop()
