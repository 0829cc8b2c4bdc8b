"""OLM v1: catalogd serves catalogs from a registry, and operator-controller installs bundles from them."""

from __future__ import annotations

__all__ = ["OlmV1", "run_olm_v1"]

import shutil
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPSConnection
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tests.e2e.servers.api import Api, Object, conditions
from tests.e2e.servers.binaries import Binaries
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.crds import create_crds
from tests.e2e.servers.loopback import HOST, free_ports
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.probes import http_get
from tests.e2e.servers.processes import Process, WorkDir, run_process

_NAMESPACE: Final = "olmv1-system"
_SERVICE_ACCOUNT: Final = "installer"
_NAME_LABEL: Final = "olm.operatorframework.io/metadata.name"
_GROUP: Final = "/apis/olm.operatorframework.io/v1"
_CATALOGS: Final = f"{_GROUP}/clustercatalogs"
_EXTENSIONS: Final = f"{_GROUP}/clusterextensions"
_BINDINGS: Final = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


class OlmV1:
    """Running catalogd and operator-controller."""

    def __init__(self, plane: ControlPlane, processes: tuple[Process, ...]) -> None:
        self._api = plane.api
        self._authority = plane.authority
        self._processes = processes

    @property
    def api(self) -> Api:
        return self._api

    def add_catalog(self, name: str, image: str) -> Object:
        """Create a ClusterCatalog, and wait until it is Serving. The TimeoutError has its conditions."""
        spec = {"source": {"type": "Image", "image": {"ref": image}}}
        self._api.create(_CATALOGS, _object("ClusterCatalog", name, spec))
        return self._wait_for_condition(f"{_CATALOGS}/{name}", "Serving")

    def connection(self, catalog: Object) -> HTTPSConnection:
        """Return a connection to the server of a catalog."""
        url = urlsplit(catalog["status"]["urls"]["base"])
        context = ssl.create_default_context(cafile=str(self._authority))
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        assert url.hostname is not None
        return HTTPSConnection(url.hostname, url.port, context=context, timeout=120)

    def install(self, package: str, version: str, *, catalog: str, namespace: str) -> Object:
        """Create a ClusterExtension, and wait until it is Installed."""
        source = {
            "packageName": package,
            "version": version,
            "selector": {"matchLabels": {_NAME_LABEL: catalog}},
        }
        self._api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        spec = {
            "namespace": namespace,
            "serviceAccount": {"name": _create_service_account(self._api, namespace)},
            "source": {"sourceType": "Catalog", "catalog": source},
        }
        self._api.create(_EXTENSIONS, _object("ClusterExtension", package, spec))
        return self._wait_for_condition(f"{_EXTENSIONS}/{package}", "Installed")

    def upgrade(self, package: str, version: str) -> Object:
        """Change the version of a ClusterExtension, and wait until that is installed."""
        changes = {"spec": {"source": {"catalog": {"version": version}}}}
        self._api.patch(f"{_EXTENSIONS}/{package}", changes)
        return self._wait_for_condition(f"{_EXTENSIONS}/{package}", "Installed", version)

    def _wait_for_condition(self, path: str, condition: str, version: str = "") -> Object:
        def matching_resource() -> Object | None:
            for process in self._processes:
                process.check_running()
            resource = self._api.get(path)
            is_true = any(c["type"] == condition and c["status"] == "True" for c in conditions(resource))
            installed = resource.get("status", {}).get("install", {}).get("bundle", {}).get("version", "")
            return resource if is_true and (not version or installed == version) else None

        try:
            resource = wait_until(f"{path} is {condition}", matching_resource)
        except TimeoutError as error:
            raise TimeoutError(f"{error}: {conditions(self._api.get(path))}") from error
        assert resource is not None
        return resource


def _create_service_account(api: Api, namespace: str) -> str:
    """Create a ServiceAccount with the ClusterRole cluster-admin."""
    api.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": _SERVICE_ACCOUNT}})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    subject = {"kind": "ServiceAccount", "name": _SERVICE_ACCOUNT, "namespace": namespace}
    api.create(_BINDINGS, {"metadata": {"name": namespace}, "roleRef": role, "subjects": [subject]})
    return _SERVICE_ACCOUNT


def _object(kind: str, name: str, spec: Mapping[str, object]) -> Object:
    return {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": kind,
        # In a cluster the webhook of catalogd sets this label, which operator-controller selects by.
        "metadata": {"name": name, "labels": {_NAME_LABEL: name}},
        "spec": spec,
    }


@contextmanager
def run_olm_v1(binaries: Binaries, work_dir: WorkDir, plane: ControlPlane, registry: str) -> Iterator[OlmV1]:
    """Run both programs with images from this registry, on a control plane without other OLM v1 tests."""
    create_crds(plane.api, binaries.olm_v1_crds)
    plane.api.create("/api/v1/namespaces", {"metadata": {"name": _NAMESPACE}})
    with (
        _catalogd(binaries, work_dir, plane, registry) as catalogd,
        _operator_controller(binaries, work_dir, plane, registry) as controller,
    ):
        yield OlmV1(plane, (catalogd, controller))


def _allow_insecure_registry(home: Path, registry: str) -> None:
    """Allow a program with this home folder to pull from a registry without TLS."""
    folder = home / ".config" / "containers"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "registries.conf").write_text(f'[[registry]]\nlocation = "{registry}"\ninsecure = true\n')


@contextmanager
def _catalogd(binaries: Binaries, work_dir: WorkDir, plane: ControlPlane, registry: str) -> Iterator[Process]:
    home, (port, probes, webhook) = work_dir.home("catalogd"), free_ports(3)
    _allow_insecure_registry(home, registry)
    command = (
        binaries.catalogd,
        f"--kubeconfig={plane.kubeconfig}",
        # It empties this folder when it starts; the default is below /var/cache.
        f"--cache-dir={home / 'cache'}",
        f"--system-namespace={_NAMESPACE}",
        f"--catalogs-server-addr={HOST}:{port}",
        f"--external-address={HOST}:{port}",
        # The certificate of the API server is valid for the loopback address.
        f"--tls-cert={plane.authority}",
        f"--tls-key={plane.authority.with_suffix('.key')}",
        "--metrics-bind-address=0",
        f"--health-probe-bind-address={HOST}:{probes}",
        # It listens on every interface, without an option: so catalogd runs in its own network namespace.
        f"--webhook-server-port={webhook}",
        "--feature-gates=APIV1MetasHandler=true",
    )
    readiness_url = f"http://{HOST}:{probes}/readyz"
    with run_process(
        work_dir, "catalogd", command, ready=lambda: http_get(readiness_url) is not None
    ) as process:
        yield process


@contextmanager
def _operator_controller(
    binaries: Binaries, work_dir: WorkDir, plane: ControlPlane, registry: str
) -> Iterator[Process]:
    home, (probes,) = work_dir.home("operator-controller"), free_ports(1)
    _allow_insecure_registry(home, registry)
    authorities = home / "authorities"
    authorities.mkdir()
    shutil.copy(plane.authority, authorities)
    command = (
        binaries.operator_controller,
        f"--kubeconfig={plane.kubeconfig}",
        f"--cache-path={home / 'cache'}",
        f"--catalogd-cas-dir={authorities}",
        f"--system-namespace={_NAMESPACE}",
        f"--health-probe-bind-address={HOST}:{probes}",
    )
    readiness_url = f"http://{HOST}:{probes}/readyz"
    with run_process(
        work_dir, "operator-controller", command, ready=lambda: http_get(readiness_url) is not None
    ) as process:
        yield process
