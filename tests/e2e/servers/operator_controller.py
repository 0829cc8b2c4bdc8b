"""operator-controller of OLM v1 as a process, which resolves many ClusterExtensions and installs nothing.

It resolves before it pulls an image. If the image of a bundle is not a valid reference, the Progressing
condition of the ClusterExtension names the resolved bundle and its version, and nothing else happens. Instead
of catalogd, the tests serve the catalogs and write the status of the ClusterCatalogs.
"""

from __future__ import annotations

__all__ = ["ExtensionRequest", "ExtensionStatus", "OperatorController", "run_operator_controller"]

import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, NamedTuple

from tests.e2e.servers.api import Api, ApiError, Object, conditions
from tests.e2e.servers.binaries import Binaries
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.crds import create_crds
from tests.e2e.servers.fake_catalogd import FakeCatalogd, fake_catalogd
from tests.e2e.servers.helm_releases import installed_release, release_name
from tests.e2e.servers.loopback import HOST, free_ports
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.probes import http_get
from tests.e2e.servers.processes import Process, WorkDir, run_process

_NAMESPACE: Final = "olmv1-system"
_ACCOUNT: Final = "installer"
_GROUP: Final = "/apis/olm.operatorframework.io/v1"
_CATALOGS: Final = f"{_GROUP}/clustercatalogs"
_EXTENSIONS: Final = f"{_GROUP}/clusterextensions"
_SECRETS: Final = f"/api/v1/namespaces/{_NAMESPACE}/secrets"
_LABEL: Final = "everpath.dev/catalogs"
_REFERENCE: Final = f"localhost/catalog@sha256:{'0' * 64}"
# If they are set from the start, operator-controller needs no reconcile to add them.
_FINALIZERS: Final = [
    "olm.operatorframework.io/cleanup-unpack-cache",
    "olm.operatorframework.io/cleanup-contentmanager-cache",
]
# Messages after a resolution. Others are temporary: the cache of a catalog is empty, a ServiceAccount is not
# in the cache yet.
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
# ClusterExtensions at the same time. More are slower: operator-controller retries every failed one.
_MAX_PENDING: Final = 48


class ExtensionRequest(NamedTuple):
    """A ClusterExtension that selects the catalogs with a label.

    `installed` is the name and the version of the installed bundle.
    """

    catalog_label: str
    package: str
    channels: tuple[str, ...] = ()
    version: str = ""
    self_certified: bool = False
    installed: tuple[str, str] | None = None


class ExtensionStatus(NamedTuple):
    """The messages of the conditions Progressing and Deprecated.

    Without a status, `rejected` is the message of the API server, or `has_panicked` is True.
    """

    progressing: str = ""
    deprecated: str = ""
    rejected: str = ""
    has_panicked: bool = False


class OperatorController:
    """A running operator-controller."""

    def __init__(self, api: Api, catalogs: FakeCatalogd, process: Process) -> None:
        self._api = api
        self._catalogs = catalogs
        self._process = process
        self._log = process.log.open(encoding="utf-8", errors="replace")
        self._panicked: set[str] = set()

    def close(self) -> None:
        self._log.close()

    def add_catalog(self, name: str, text: str, *, catalog_label: str, priority: int = 0) -> None:
        """Serve a catalog, and create its ClusterCatalog with a label."""
        self.add_external_catalog(
            name, self._catalogs.add(name, text), catalog_label=catalog_label, priority=priority
        )

    def add_external_catalog(self, name: str, base: str, *, catalog_label: str, priority: int = 0) -> None:
        """Create the ClusterCatalog of another server. `wait_for_catalogs` cannot wait for it."""
        spec = {
            "priority": priority,
            "source": {"type": "Image", "image": {"ref": "localhost/catalog:1"}},
        }
        catalog = _object("ClusterCatalog", name, {_LABEL: catalog_label}, spec)
        catalog["status"] = _serving_status(base)
        created = self._api.create(_CATALOGS, catalog)
        self._api.replace(f"{_CATALOGS}/{name}/status", {**created, "status": catalog["status"]})

    def delete_catalog(self, name: str) -> None:
        self._api.delete(f"{_CATALOGS}/{name}")

    def wait_for_catalogs(self) -> None:
        """Wait until operator-controller has fetched every catalog. It resolves without the others."""
        names = {catalog["metadata"]["name"] for catalog in self._api.items(_CATALOGS)}
        wait_until("every catalog is fetched", lambda: self._has_fetched(names))

    def resolve_all(self, requests: Mapping[str, ExtensionRequest]) -> Iterator[tuple[str, ExtensionStatus]]:
        """Create the ClusterExtensions, yield each name with its status, and delete those with a status."""
        waiting, pending = deque(requests), set[str]()
        while waiting or pending:
            while waiting and len(pending) < _MAX_PENDING:
                name = waiting.popleft()
                if (error := self._create(name, requests[name])) is None:
                    pending.add(name)
                else:
                    yield name, ExtensionStatus(rejected=error)
            if pending:
                found = wait_until(f"one of {sorted(pending)} is resolved", partial(self._collect, pending))
                pending -= found.keys()
                yield from found.items()

    def _create(self, name: str, request: ExtensionRequest) -> str | None:
        """Create the Helm release and the ClusterExtension; return the message if that is rejected."""
        if request.installed is not None:
            release = installed_release(name, *request.installed)
            self._api.create(_SECRETS, release)
        try:
            self._api.create(_EXTENSIONS, _extension(name, request))
        except ApiError as error:
            if error.reason != "Invalid":
                raise
            self._delete(name)
            return error.message
        return None

    def _collect(self, pending: set[str]) -> dict[str, ExtensionStatus]:
        """Return the final statuses so far, and delete their ClusterExtensions."""
        self._process.check_running()
        self._read_panics()
        found = {name: ExtensionStatus(has_panicked=True) for name in pending & self._panicked}
        # From the cache of the API server, which is cheaper than a consistent read from etcd.
        for extension in self._api.items(f"{_EXTENSIONS}?resourceVersion=0"):
            name, status = extension["metadata"]["name"], _status(extension)
            if name in pending and _FINAL.search(status.progressing):
                found[name] = status
        for name in found:
            self._delete(name)
        return found

    def _read_panics(self) -> None:
        """Read the names of ClusterExtensions whose reconcile has panicked: only the log has them."""
        for line in self._log:
            if panic := _PANIC.search(line):
                self._panicked.add(panic["name"])

    def _delete(self, name: str) -> None:
        """Delete a ClusterExtension and its release without waiting for operator-controller to finalize it.

        Otherwise operator-controller would retry it, and list all releases each time.
        """
        without_finalizers = {"metadata": {"finalizers": None}}
        with suppress(ApiError):
            self._api.delete(f"{_EXTENSIONS}/{name}")
            self._api.patch(f"{_EXTENSIONS}/{name}", without_finalizers)
        with suppress(ApiError):
            self._api.delete(f"{_SECRETS}/{release_name(name)}")

    def _has_fetched(self, names: set[str]) -> bool:
        self._process.check_running()
        return names <= self._catalogs.fetched


@contextmanager
def run_operator_controller(
    binaries: Binaries, work_dir: WorkDir, plane: ControlPlane
) -> Iterator[OperatorController]:
    """Create the CRDs of OLM v1, and run operator-controller and the catalog server."""
    _create_prerequisites(binaries, plane.api)
    (port,) = free_ports(1)
    command = (
        binaries.operator_controller,
        f"--kubeconfig={plane.kubeconfig}",
        # It empties this folder when it starts; the default is below /var/cache.
        f"--cache-path={work_dir.home('operator-controller') / 'cache'}",
        f"--system-namespace={_NAMESPACE}",
        f"--health-probe-bind-address={HOST}:{port}",
    )
    readiness_url = f"http://{HOST}:{port}/readyz"
    with (
        fake_catalogd() as catalogs,
        run_process(
            work_dir, "operator-controller", command, ready=lambda: http_get(readiness_url) is not None
        ) as process,
    ):
        started = OperatorController(plane.api, catalogs, process)
        try:
            yield started
        finally:
            started.close()


def _create_prerequisites(binaries: Binaries, api: Api) -> None:
    create_crds(api, binaries.olm_v1_crds)
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


def _serving_status(base: str) -> Object:
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


def _extension(name: str, request: ExtensionRequest) -> Object:
    catalog: Object = {
        "packageName": request.package,
        "selector": {"matchLabels": {_LABEL: request.catalog_label}},
    }
    if request.channels:
        catalog["channels"] = list(request.channels)
    if request.version:
        catalog["version"] = request.version
    if request.self_certified:
        catalog["upgradeConstraintPolicy"] = "SelfCertified"
    spec = {
        "namespace": _NAMESPACE,
        "serviceAccount": {"name": _ACCOUNT},
        "source": {"sourceType": "Catalog", "catalog": catalog},
    }
    extension = _object("ClusterExtension", name, {}, spec)
    extension["metadata"]["finalizers"] = _FINALIZERS
    return extension


def _status(extension: Object) -> ExtensionStatus:
    messages = {condition["type"]: condition["message"] for condition in conditions(extension)}
    return ExtensionStatus(messages.get("Progressing", ""), messages.get("Deprecated", ""))
