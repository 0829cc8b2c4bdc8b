"""What OLM does with Subscriptions, written down as it happens."""

from __future__ import annotations

__all__ = ["Journal", "journal"]

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, TextIO

from e2e.olm.journeys import subscription
from e2e.servers.api import Api, Object, conditions
from e2e.servers.olm_v0 import GROUP, OlmV0
from e2e.servers.watch import Watch, watch

_V1ALPHA1: Final = f"{GROUP}/v1alpha1"
_PATIENCE: Final = 2.0


class Journal:
    """What OLM does in every namespace, in order. It is told of every change, so no hop is too quick for it.

    Where approval is Manual, every InstallPlan that waits is approved, one after the other.
    """

    def __init__(self, olm: OlmV0, log: TextIO) -> None:
        self.installed: defaultdict[str, list[str]] = defaultdict(list)
        self.planned: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
        self.approved: defaultdict[str, list[str]] = defaultdict(list)
        self.hasty: defaultdict[str, list[str]] = defaultdict(list)
        """What was installed before its InstallPlan was approved."""
        self.known: set[str] = set()
        """The namespaces that this is about; what others do in theirs is their own."""
        self.nudged: list[str] = []
        self.watches: tuple[Watch, ...] = ()
        self._olm = olm
        self._log = log
        self._begun = time.monotonic()
        self._approver = olm.api.new_connection()
        self._states: dict[str, str] = {}
        self._phases: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._heard: dict[str, float] = {}
        self._failed: set[str] = set()
        self._signed: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def close(self) -> None:
        self._approver.close()

    def check_running(self) -> None:
        """Raises what stopped OLM, its pods, or this journal."""
        self._olm.check_running()
        for watching in self.watches:
            watching.check_running()

    def is_settled(self, namespace: str) -> bool:
        """Whether OLM has nothing in hand there."""
        with self._lock:
            *_, last = self.installed[namespace] or [""]
            is_latest = self._states.get(namespace) == "AtLatestKnown"
            return is_latest and self._phases[namespace] == {last: "Succeeded"}

    def has_gone(self, namespace: str, road: list[str]) -> bool:
        """Whether OLM has arrived, with nothing left to do for it."""
        return self.installed[namespace] == road and self.is_settled(namespace)

    def story(self, namespace: str) -> str:
        with self._lock:
            return (
                f"{namespace}: installed {self.installed[namespace]}, planned {self.planned[namespace]}, "
                f"approved {self.approved[namespace]}, {self._states.get(namespace)}, "
                f"CSVs {self._phases[namespace]}"
            )

    def tend(self, api: Api) -> None:
        """Nudges whoever OLM has left with a resolution that failed, though what it failed for is gone.

        As long as a replaced CSV is there, nothing that comes after its successor is satisfiable; and OLM,
        once it has found that out, does not look again when the CSV is deleted.
        """
        with self._lock:
            long_ago = time.monotonic() - _PATIENCE
            quiet = [namespace for namespace in self._failed if self._heard[namespace] < long_ago]
        for namespace in quiet:
            if self.is_settled(namespace):
                self.nudge(api, namespace)

    def nudge(self, api: Api, namespace: str) -> None:
        """Makes OLM resolve a namespace again, and changes nothing."""
        with self._lock:
            self.nudged.append(namespace)
            self._heard[namespace] = time.monotonic()
            self._write(namespace, "nudged")
        mark = {"metadata": {"annotations": {"everpath.dev/nudged": str(len(self.nudged))}}}
        api.patch(subscription(namespace), mark)

    def hear_subscription(self, what: str, found: Object) -> None:
        namespace, status = found["metadata"]["namespace"], found.get("status", {})
        if namespace not in self.known:
            return
        with self._lock:
            if what == "DELETED":
                self._failed.discard(namespace)
                return
            self._heard[namespace] = time.monotonic()
            self._states[namespace] = status.get("state", "")
            name = status.get("installedCSV")
            if name and self.installed[namespace][-1:] != [name]:
                self.installed[namespace].append(name)
            told = [c["message"] for c in conditions(found) if c["type"] == "ResolutionFailed"]
            self._failed.add(namespace) if told else self._failed.discard(namespace)
            self._write(namespace, "Subscription", status.get("state"), name, *told)

    def hear_csv(self, what: str, found: Object) -> None:
        named = found["metadata"]
        if named["namespace"] not in self.known:
            return
        with self._lock:
            self._heard[named["namespace"]] = time.monotonic()
            self._phases[named["namespace"]][named["name"]] = found.get("status", {}).get("phase", "")
            if what == "DELETED":
                del self._phases[named["namespace"]][named["name"]]
            self._write(named["namespace"], "CSV", what, named["name"], found.get("status", {}).get("phase"))

    def hear_plan(self, what: str, found: Object) -> None:
        namespace, name = found["metadata"]["namespace"], found["metadata"]["name"]
        if what == "DELETED" or namespace not in self.known:
            return
        brings: list[str] = found["spec"]["clusterServiceVersionNames"]
        with self._lock:
            self._heard[namespace] = time.monotonic()
            self.planned[namespace].setdefault(name, brings)
            self._write(namespace, "InstallPlan", found.get("status", {}).get("phase"), *brings)
        # Once each: what OLM writes in the meantime still shows a plan that waits.
        waits = found.get("status", {}).get("phase") == "RequiresApproval" and not found["spec"]["approved"]
        if waits and (namespace, name) not in self._signed:
            self._signed.add((namespace, name))
            self._approve(namespace, name, brings)

    def _write(self, namespace: str, *words: object) -> None:
        print(f"{time.monotonic() - self._begun:7.2f} {namespace}:", *words, file=self._log, flush=True)

    def _approve(self, namespace: str, name: str, brings: list[str]) -> None:
        here = f"{_V1ALPHA1}/namespaces/{namespace}"
        there = {csv["metadata"]["name"] for csv in self._approver.items(f"{here}/clusterserviceversions")}
        with self._lock:
            self.hasty[namespace] += there & {*brings}
            self.approved[namespace] += brings
        self._approver.patch(f"{here}/installplans/{name}", {"spec": {"approved": True}})


@contextmanager
def journal(olm: OlmV0, log: Path) -> Iterator[Journal]:
    """`log` has every change with its time, to see what went wrong where something did."""
    with log.open("w", encoding="utf-8") as file, closing(Journal(olm, file)) as kept, _watched(kept, olm):
        yield kept


@contextmanager
def _watched(kept: Journal, olm: OlmV0) -> Iterator[None]:
    with (
        watch(olm.api, f"{_V1ALPHA1}/subscriptions", kept.hear_subscription) as first,
        watch(olm.api, f"{_V1ALPHA1}/clusterserviceversions", kept.hear_csv) as second,
        watch(olm.api, f"{_V1ALPHA1}/installplans", kept.hear_plan) as third,
    ):
        kept.watches = (first, second, third)
        yield
