"""OLM v1's operator-controller as a process, asked in bulk what it would install, and installing nothing.

It resolves before it pulls: a bundle whose image is no reference to an image is named, with its version, in
the Progressing condition of the ClusterExtension, and that is the end of it. There is no catalogd: the
catalogs are served by the tests, which also write its part of the ClusterCatalogs' status.
"""

from __future__ import annotations

__all__ = ["Answer", "Ask", "OlmV1", "olm_v1"]

import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, NamedTuple

from e2e.servers.api import Api, Object, RefusedError, conditions
from e2e.servers.binaries import Parts
from e2e.servers.control_plane import ControlPlane
from e2e.servers.crds import define
from e2e.servers.fake_catalogd import CatalogServer, catalog_server
from e2e.servers.helm_releases import installed_release, release_name
from e2e.servers.loopback import HOST, free_ports
from e2e.servers.polling import until
from e2e.servers.probes import answered
from e2e.servers.processes import Process, Workshop, running

_NAMESPACE: Final = "olmv1-system"
_ACCOUNT: Final = "installer"
_GROUP: Final = "/apis/olm.operatorframework.io/v1"
_CATALOGS: Final = f"{_GROUP}/clustercatalogs"
_EXTENSIONS: Final = f"{_GROUP}/clusterextensions"
_SECRETS: Final = f"/api/v1/namespaces/{_NAMESPACE}/secrets"
_SHELF: Final = "everpath.dev/shelf"
_REFERENCE: Final = f"localhost/catalog@sha256:{'0' * 64}"
# With them from the beginning, operator-controller need not spend a first reconciliation on adding them.
_FINALIZERS: Final = [
    "olm.operatorframework.io/cleanup-unpack-cache",
    "olm.operatorframework.io/cleanup-contentmanager-cache",
]
# What resolution ends with. Other messages pass by: a cache that is being filled, an account not yet seen.
_FINAL: Final = re.compile(
    r"for resolved bundle"
    r"|^(error upgrading from currently installed version .*: )?(no bundles found|found bundles) for package"
    r"|^validating bundle"
    r"|^desired version range"
    r"|^error getting resolved bundle version"
    r"|^error walking catalogs: error finding upgrade edges"
)
_PANIC: Final = re.compile(
    r'"Reconciler error" err="panic: .* controller="[^"]*extension".* name="(?P<name>[^"]+)"'
)
# Whoever has failed is tried again and again, at the cost of those who wait: few at a time is quicker.
_WINDOW: Final = 48


class Ask(NamedTuple):
    """What a ClusterExtension wants of the catalogs of a shelf, and what it has: a name and a version."""

    shelf: str
    package: str
    channels: tuple[str, ...] = ()
    version: str = ""
    self_certified: bool = False
    installed: tuple[str, str] | None = None


class Answer(NamedTuple):
    """The messages of the conditions Progressing and Deprecated, or why there is no status at all."""

    progressing: str = ""
    deprecated: str = ""
    refused: str = ""
    has_panicked: bool = False


class OlmV1:
    """A running operator-controller."""

    def __init__(self, api: Api, catalogs: CatalogServer, process: Process) -> None:
        self._api = api
        self._catalogs = catalogs
        self._process = process
        self._log = process.log.open(encoding="utf-8", errors="replace")
        self._panicked: set[str] = set()

    def close(self) -> None:
        self._log.close()

    def serve(self, name: str, text: str, *, shelf: str, priority: int = 0) -> None:
        """Adds a ClusterCatalog to a shelf; its status says that it serves."""
        self.point(name, self._catalogs.offer(name, text), shelf=shelf, priority=priority)

    def point(self, name: str, base: str, *, shelf: str, priority: int = 0) -> None:
        """Adds a ClusterCatalog that somebody else serves; `await_catalogs` would wait for it in vain."""
        spec = {
            "priority": priority,
            "source": {"type": "Image", "image": {"ref": "localhost/catalog:1"}},
        }
        made = _object("ClusterCatalog", name, {_SHELF: shelf}, spec)
        made["status"] = _serving(base)
        created = self._api.create(_CATALOGS, made)
        self._api.replace(f"{_CATALOGS}/{name}/status", {**created, "status": made["status"]})

    def withdraw(self, name: str) -> None:
        self._api.delete(f"{_CATALOGS}/{name}")

    def await_catalogs(self) -> None:
        """Until operator-controller has fetched every catalog: one that it has not seen does not count."""
        names = {found["metadata"]["name"] for found in self._api.items(_CATALOGS)}
        until("every catalog is fetched", lambda: self._watched(names <= self._catalogs.fetched))

    def answers(self, asked: Mapping[str, Ask]) -> Iterator[tuple[str, Answer]]:
        """What came of each, by name, as it comes. Those that are answered are deleted."""
        waiting, alive = deque(asked), set[str]()
        while waiting or alive:
            while waiting and len(alive) < _WINDOW:
                name = waiting.popleft()
                if (refused := self._put(name, asked[name])) is None:
                    alive.add(name)
                else:
                    yield name, Answer(refused=refused)
            if alive:
                found = until(f"one of {sorted(alive)} is answered", partial(self._found, alive))
                alive -= found.keys()
                yield from found.items()

    def _put(self, name: str, ask: Ask) -> str | None:
        """Makes the ClusterExtension, after what it has. The API server's refusal, or None."""
        if ask.installed is not None:
            release = installed_release(name, *ask.installed)
            self._api.create(_SECRETS, release)
        try:
            self._api.create(_EXTENSIONS, _extension(name, ask))
        except RefusedError as refused:
            if refused.reason != "Invalid":
                raise
            self._forget(name)
            return refused.message
        return None

    def _found(self, alive: set[str]) -> dict[str, Answer]:
        self._process.must_run()
        self._hear_panics()
        found = {name: Answer(has_panicked=True) for name in alive & self._panicked}
        # What the API server has at hand will do; the newest it would have to ask of etcd.
        for extension in self._api.items(f"{_EXTENSIONS}?resourceVersion=0"):
            name, answer = extension["metadata"]["name"], _answer(extension)
            if name in alive and _FINAL.search(answer.progressing):
                found[name] = answer
        for name in found:
            self._forget(name)
        return found

    def _hear_panics(self) -> None:
        """A resolver that crashes leaves no status: the log alone knows."""
        for line in self._log:
            if crash := _PANIC.search(line):
                self._panicked.add(crash["name"])

    def _forget(self, name: str) -> None:
        """Deletes it without waiting for operator-controller, which has nothing to clean up.

        So it must not stay: it would be tried again and again, and each time all releases are looked through.
        """
        gone = {"metadata": {"finalizers": None}}
        with suppress(RefusedError):
            self._api.delete(f"{_EXTENSIONS}/{name}")
            self._api.merge(f"{_EXTENSIONS}/{name}", gone)
        with suppress(RefusedError):
            self._api.delete(f"{_SECRETS}/{release_name(name)}")

    def _watched(self, found: bool) -> bool:
        self._process.must_run()
        return found


@contextmanager
def olm_v1(parts: Parts, place: Workshop, plane: ControlPlane) -> Iterator[OlmV1]:
    """operator-controller beside a control plane that has its resource definitions."""
    _define(parts, plane.api)
    (port,) = free_ports(1)
    command = (
        parts.operator_controller,
        f"--kubeconfig={plane.kubeconfig}",
        # It empties this folder when it starts, and the default is the system's own.
        f"--cache-path={place.home('operator-controller') / 'cache'}",
        f"--system-namespace={_NAMESPACE}",
        f"--health-probe-bind-address={HOST}:{port}",
    )
    ready = f"http://{HOST}:{port}/readyz"
    with (
        catalog_server() as catalogs,
        running(place, "operator-controller", command, ready=lambda: answered(ready) is not None) as process,
    ):
        started = OlmV1(plane.api, catalogs, process)
        try:
            yield started
        finally:
            started.close()


def _define(parts: Parts, api: Api) -> None:
    define(api, parts.olm_v1_crds)
    api.create("/api/v1/namespaces", {"metadata": {"name": _NAMESPACE}})
    accounts = f"/api/v1/namespaces/{_NAMESPACE}/serviceaccounts"
    api.create(accounts, {"metadata": {"name": _ACCOUNT}})


def _object(kind: str, name: str, labels: Mapping[str, str], spec: Object) -> Object:
    return {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": kind,
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": spec,
    }


def _serving(base: str) -> Object:
    serving = {
        "type": "Serving",
        "status": "True",
        "reason": "Available",
        "message": "",
        "lastTransitionTime": "2025-01-01T00:00:00Z",
    }
    return {
        "conditions": [serving],
        "resolvedSource": {"type": "Image", "image": {"ref": _REFERENCE}},
        "urls": {"base": base},
    }


def _extension(name: str, ask: Ask) -> Object:
    catalog: Object = {"packageName": ask.package, "selector": {"matchLabels": {_SHELF: ask.shelf}}}
    if ask.channels:
        catalog["channels"] = list(ask.channels)
    if ask.version:
        catalog["version"] = ask.version
    if ask.self_certified:
        catalog["upgradeConstraintPolicy"] = "SelfCertified"
    spec = {
        "namespace": _NAMESPACE,
        "serviceAccount": {"name": _ACCOUNT},
        "source": {"sourceType": "Catalog", "catalog": catalog},
    }
    made = _object("ClusterExtension", name, {}, spec)
    made["metadata"]["finalizers"] = _FINALIZERS
    return made


def _answer(extension: Object) -> Answer:
    messages = {condition["type"]: condition["message"] for condition in conditions(extension)}
    return Answer(messages.get("Progressing", ""), messages.get("Deprecated", ""))
