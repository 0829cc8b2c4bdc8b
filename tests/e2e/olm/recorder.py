"""Records what OLM does with Subscriptions."""

from __future__ import annotations

__all__ = ["OlmRecorder", "record_olm"]

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, TextIO

from tests.e2e.olm.subscriptions import subscription_path
from tests.e2e.servers.api import Api, Object, conditions
from tests.e2e.servers.olm_v0 import GROUP, OlmV0
from tests.e2e.servers.watch import Watch, watch

_V1ALPHA1: Final = f"{GROUP}/v1alpha1"
# Seconds without an event after which OLM does not retry a failed resolution.
_QUIET_PERIOD: Final = 2.0


class OlmRecorder:
    """Records by namespace, in order, what OLM does. It uses watches, so it misses no hop.

    It approves every InstallPlan that requires approval.
    """

    def __init__(self, olm: OlmV0, log: TextIO) -> None:
        self.installed: defaultdict[str, list[str]] = defaultdict(list)
        self.planned: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
        self.approved: defaultdict[str, list[str]] = defaultdict(list)
        self.installed_before_approval: defaultdict[str, list[str]] = defaultdict(list)
        self.namespaces: set[str] = set()
        """Only events of these namespaces are recorded."""
        self.retriggered: list[str] = []
        self.watches: tuple[Watch, ...] = ()
        self._olm = olm
        self._log = log
        self._start = time.monotonic()
        self._approver = olm.api.new_connection()
        self._states: dict[str, str] = {}
        self._phases: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._last_event: dict[str, float] = {}
        self._failed_resolutions: set[str] = set()
        self._approved_plans: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def close(self) -> None:
        self._approver.close()

    def check_running(self) -> None:
        """Raise an error if OLM, the node agent or a watch has failed."""
        self._olm.check_running()
        for started in self.watches:
            started.check_running()

    def is_idle(self, namespace: str) -> bool:
        """Whether the Subscription is at the latest CSV, and that is the only one and has Succeeded."""
        with self._lock:
            *_, last = self.installed[namespace] or [""]
            is_latest = self._states.get(namespace) == "AtLatestKnown"
            return is_latest and self._phases[namespace] == {last: "Succeeded"}

    def has_finished(self, namespace: str, path: list[str]) -> bool:
        """Whether OLM has installed exactly this upgrade path and is idle."""
        return self.installed[namespace] == path and self.is_idle(namespace)

    def describe(self, namespace: str) -> str:
        with self._lock:
            return (
                f"{namespace}: installed {self.installed[namespace]}, planned {self.planned[namespace]}, "
                f"approved {self.approved[namespace]}, {self._states.get(namespace)}, "
                f"CSVs {self._phases[namespace]}"
            )

    def retrigger_failed_resolutions(self, api: Api) -> None:
        """Trigger a resolution in idle namespaces whose last resolution has failed.

        OLM cannot resolve the hop after next while the replaced CSV exists, and does not resolve again when
        that CSV is deleted.
        """
        with self._lock:
            limit = time.monotonic() - _QUIET_PERIOD
            quiet = [
                namespace for namespace in self._failed_resolutions if self._last_event[namespace] < limit
            ]
        for namespace in quiet:
            if self.is_idle(namespace):
                self.trigger_resolution(api, namespace)

    def trigger_resolution(self, api: Api, namespace: str) -> None:
        """Make OLM resolve a namespace again with a new annotation of the Subscription."""
        with self._lock:
            self.retriggered.append(namespace)
            self._last_event[namespace] = time.monotonic()
            self._write(namespace, "retriggered")
        annotation = {"metadata": {"annotations": {"everpath.dev/retriggered": str(len(self.retriggered))}}}
        api.patch(subscription_path(namespace), annotation)

    def record_subscription(self, event_type: str, subscription: Object) -> None:
        namespace, status = subscription["metadata"]["namespace"], subscription.get("status", {})
        if namespace not in self.namespaces:
            return
        with self._lock:
            if event_type == "DELETED":
                self._failed_resolutions.discard(namespace)
                return
            self._last_event[namespace] = time.monotonic()
            self._states[namespace] = status.get("state", "")
            name = status.get("installedCSV")
            if name and self.installed[namespace][-1:] != [name]:
                self.installed[namespace].append(name)
            messages = [c["message"] for c in conditions(subscription) if c["type"] == "ResolutionFailed"]
            if messages:
                self._failed_resolutions.add(namespace)
            else:
                self._failed_resolutions.discard(namespace)
            self._write(namespace, "Subscription", status.get("state"), name, *messages)

    def record_csv(self, event_type: str, csv: Object) -> None:
        namespace, name = csv["metadata"]["namespace"], csv["metadata"]["name"]
        if namespace not in self.namespaces:
            return
        with self._lock:
            self._last_event[namespace] = time.monotonic()
            self._phases[namespace][name] = csv.get("status", {}).get("phase", "")
            if event_type == "DELETED":
                del self._phases[namespace][name]
            self._write(namespace, "CSV", event_type, name, csv.get("status", {}).get("phase"))

    def record_install_plan(self, event_type: str, plan: Object) -> None:
        namespace, name = plan["metadata"]["namespace"], plan["metadata"]["name"]
        if event_type == "DELETED" or namespace not in self.namespaces:
            return
        csvs: list[str] = plan["spec"]["clusterServiceVersionNames"]
        phase = plan.get("status", {}).get("phase")
        with self._lock:
            self._last_event[namespace] = time.monotonic()
            self.planned[namespace].setdefault(name, csvs)
            self._write(namespace, "InstallPlan", phase, *csvs)
        # Only once: later events may still have the state before the approval.
        waits = phase == "RequiresApproval" and not plan["spec"]["approved"]
        if waits and (namespace, name) not in self._approved_plans:
            self._approved_plans.add((namespace, name))
            self._approve(namespace, name, csvs)

    def _write(self, namespace: str, *words: object) -> None:
        print(f"{time.monotonic() - self._start:7.2f} {namespace}:", *words, file=self._log, flush=True)

    def _approve(self, namespace: str, plan: str, csvs: list[str]) -> None:
        path = f"{_V1ALPHA1}/namespaces/{namespace}"
        existing = {csv["metadata"]["name"] for csv in self._approver.items(f"{path}/clusterserviceversions")}
        with self._lock:
            self.installed_before_approval[namespace] += existing & {*csvs}
            self.approved[namespace] += csvs
        self._approver.patch(f"{path}/installplans/{plan}", {"spec": {"approved": True}})


@contextmanager
def record_olm(olm: OlmV0, log: Path) -> Iterator[OlmRecorder]:
    """Record until the end of the block, and write every event with its time to `log`."""
    with (
        log.open("w", encoding="utf-8") as file,
        closing(OlmRecorder(olm, file)) as recorder,
        watch(olm.api, f"{_V1ALPHA1}/subscriptions", recorder.record_subscription) as subscriptions,
        watch(olm.api, f"{_V1ALPHA1}/clusterserviceversions", recorder.record_csv) as csvs,
        watch(olm.api, f"{_V1ALPHA1}/installplans", recorder.record_install_plan) as plans,
    ):
        recorder.watches = (subscriptions, csvs, plans)
        yield recorder
