"""Runs several Subscriptions at the same time until OLM has reached the end of each upgrade path."""

from __future__ import annotations

__all__ = ["RecordedPath", "ResolutionLog", "SubscriptionRunner"]

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.e2e.olm.recorder import OlmRecorder
from tests.e2e.olm.subscriptions import (
    PredictedPaths,
    SubscriptionCase,
    create_subscription,
    delete_namespace,
    switch_channel,
)
from tests.e2e.servers.olm_v0 import OlmV0
from tests.e2e.servers.polling import WaitTimeoutError, wait_until

# All of them install the same CRDs. With more, OLM's updates of the CRDs conflict too often.
_MAX_PARALLEL: Final = 10
# Seconds. Other processes may keep the machine busy.
_TIMEOUT: Final = 900.0
_RESOLUTION: Final = re.compile(
    r'msg="(?P<message>resolving sources|no subscriptions were updated)" '
    r"id=(?P<id>\S+) namespace=(?P<namespace>\S+)"
)


@dataclass(frozen=True, slots=True)
class RecordedPath:
    """The CSVs that OLM has installed, in order, and its InstallPlans with those that were approved."""

    path: list[str]
    install_plans: list[list[str]]
    approved: list[str]
    installed_before_approval: list[str]


@dataclass(slots=True)
class _Run:
    case: SubscriptionCase
    expected: deque[list[str]] = field(default_factory=deque)
    log_size: int | None = None
    """The size of the log when the last resolution was triggered."""


class ResolutionLog:
    """Reads from the log of `catalog` where the last resolution without updates began, by namespace."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._position = 0
        self._starts: dict[str, int] = {}
        self._last_idle: dict[str, int] = {}

    @property
    def size(self) -> int:
        return self._log.stat().st_size

    def is_idle_since(self, namespace: str, size: int) -> bool:
        """Whether a resolution that began after the log had this size has ended without updates."""
        with self._log.open("rb") as file:
            file.seek(self._position)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._read(line.decode(errors="replace"))
                self._position += len(line)
        return self._last_idle.get(namespace, -1) >= size

    def _read(self, line: str) -> None:
        found = _RESOLUTION.search(line)
        if found is None:
            return
        if found["message"] == "resolving sources":
            self._starts[found["id"]] = self._position
        else:
            self._last_idle[found["namespace"]] = self._starts.get(found["id"], -1)


class SubscriptionRunner:
    """Runs a few Subscriptions at a time, and starts the next when one has finished.

    A Subscription has finished when a resolution that began after the last hop finds no update. Then its
    namespace is deleted: OLM does more work for a CRD with each namespace that uses it.
    """

    def __init__(
        self,
        olm: OlmV0,
        recorder: OlmRecorder,
        predictions: PredictedPaths,
        cases: Iterable[SubscriptionCase],
    ) -> None:
        self._olm = olm
        self._recorder = recorder
        self._predictions = predictions
        self._resolutions = ResolutionLog(olm.catalog.log)
        self._waiting = deque(cases)
        self._running: dict[str, _Run] = {}
        self._finished: dict[str, RecordedPath] = {}

    def wait_for(self, case: SubscriptionCase) -> RecordedPath:
        """Wait until the Subscription has finished; fail if OLM leaves the predicted path."""

        def result() -> RecordedPath | None:
            self._recorder.check_running()
            self._advance_all()
            assert not self._has_left_path(case), self._recorder.describe(case.namespace)
            return self._finished.get(case.namespace)

        path = self._predictions.path(case)
        try:
            found = wait_until(f"OLM has installed {path} in {case.namespace}", result, _TIMEOUT)
        except WaitTimeoutError as error:
            raise WaitTimeoutError(f"{error}; {self._recorder.describe(case.namespace)}") from None
        assert found is not None
        return found

    def _advance_all(self) -> None:
        self._recorder.retrigger_failed_resolutions(self._olm.api)
        while self._waiting and len(self._running) < _MAX_PARALLEL:
            self._start(self._waiting.popleft())
        for run in list(self._running.values()):
            self._advance(run)

    def _start(self, case: SubscriptionCase) -> None:
        self._running[case.namespace] = _Run(case, deque(self._predictions.paths_by_channel(case)))
        self._recorder.namespaces.add(case.namespace)
        create_subscription(self._olm.api, case)

    def _advance(self, run: _Run) -> None:
        namespace = run.case.namespace
        if self._has_left_path(run.case):
            del self._running[namespace]
            return
        if not self._recorder.has_finished(namespace, run.expected[0]):
            return
        if run.log_size is None:
            run.log_size = self._resolutions.size
            self._recorder.trigger_resolution(self._olm.api, namespace)
        elif self._resolutions.is_idle_since(namespace, run.log_size):
            run.log_size = None
            run.expected.popleft()
            if run.expected:
                switch_channel(self._olm.api, run.case)
            else:
                self._finish(run)

    def _has_left_path(self, case: SubscriptionCase) -> bool:
        path, installed = self._predictions.path(case), self._recorder.installed[case.namespace]
        return installed != path[: len(installed)]

    def _finish(self, run: _Run) -> None:
        namespace, recorder = run.case.namespace, self._recorder
        self._finished[namespace] = RecordedPath(
            list(recorder.installed[namespace]),
            list(recorder.planned[namespace].values()),
            list(recorder.approved[namespace]),
            list(recorder.installed_before_approval[namespace]),
        )
        del self._running[namespace]
        delete_namespace(self._olm.api, run.case)
