"""All of OLM v1: catalogd serves catalogs out of a registry, operator-controller installs from them."""

from __future__ import annotations

__all__ = ["WholeOlmV1", "whole_olm_v1"]

import shutil
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPSConnection
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from e2e.servers.api import Api, Object, conditions
from e2e.servers.binaries import Parts
from e2e.servers.control_plane import ControlPlane
from e2e.servers.crds import define
from e2e.servers.loopback import HOST, free_ports
from e2e.servers.polling import until
from e2e.servers.probes import answered
from e2e.servers.processes import Process, Workshop, running

_NAMESPACE: Final = "olmv1-system"
_ACCOUNT: Final = "installer"
_NAME: Final = "olm.operatorframework.io/metadata.name"
_GROUP: Final = "/apis/olm.operatorframework.io/v1"
_CATALOGS: Final = f"{_GROUP}/clustercatalogs"
_EXTENSIONS: Final = f"{_GROUP}/clusterextensions"
_BINDINGS: Final = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


class WholeOlmV1:
    """catalogd and operator-controller, running."""

    def __init__(self, plane: ControlPlane, processes: tuple[Process, ...]) -> None:
        self._api = plane.api
        self._authority = plane.authority
        self._processes = processes

    @property
    def api(self) -> Api:
        return self._api

    def add_catalog(self, name: str, image: str) -> Object:
        """A ClusterCatalog of an image, from when it is served. NotInTimeError has what it says instead."""
        spec = {"source": {"type": "Image", "image": {"ref": image}}}
        self._api.create(_CATALOGS, _object("ClusterCatalog", name, spec))
        return self._await(f"{_CATALOGS}/{name}", "Serving")

    def connection(self, catalog: Object) -> HTTPSConnection:
        """To where a catalog is served."""
        found = urlsplit(catalog["status"]["urls"]["base"])
        context = ssl.create_default_context(cafile=str(self._authority))
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        assert found.hostname is not None
        return HTTPSConnection(found.hostname, found.port, context=context, timeout=120)

    def install(self, package: str, version: str, *, catalog: str, namespace: str) -> Object:
        """A ClusterExtension, from when it is installed."""
        source = {
            "packageName": package,
            "version": version,
            "selector": {"matchLabels": {_NAME: catalog}},
        }
        self._api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        spec = {
            "namespace": namespace,
            "serviceAccount": {"name": _account(self._api, namespace)},
            "source": {"sourceType": "Catalog", "catalog": source},
        }
        self._api.create(_EXTENSIONS, _object("ClusterExtension", package, spec))
        return self._await(f"{_EXTENSIONS}/{package}", "Installed")

    def move(self, package: str, version: str) -> Object:
        """The ClusterExtension, from when another version is installed."""
        changes = {"spec": {"source": {"catalog": {"version": version}}}}
        self._api.merge(f"{_EXTENSIONS}/{package}", changes)
        return self._await(f"{_EXTENSIONS}/{package}", "Installed", version)

    def _await(self, path: str, condition: str, version: str = "") -> Object:
        def found() -> Object | None:
            for process in self._processes:
                process.must_run()
            thing = self._api.get(path)
            is_so = any(c["type"] == condition and c["status"] == "True" for c in conditions(thing))
            installed = thing.get("status", {}).get("install", {}).get("bundle", {}).get("version", "")
            return thing if is_so and (not version or installed == version) else None

        try:
            thing = until(f"{path} is {condition}", found)
        except TimeoutError as error:
            raise TimeoutError(f"{error}: {conditions(self._api.get(path))}") from error
        assert thing is not None
        return thing


def _account(api: Api, namespace: str) -> str:
    """An account that may do everything: what a bundle asks for is not the question here."""
    api.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": _ACCOUNT}})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    subject = {"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": namespace}
    api.create(_BINDINGS, {"metadata": {"name": namespace}, "roleRef": role, "subjects": [subject]})
    return _ACCOUNT


def _object(kind: str, name: str, spec: Mapping[str, object]) -> Object:
    return {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": kind,
        # catalogd's webhook would write it: without a webhook the selectors of OLM v1 miss the catalog.
        "metadata": {"name": name, "labels": {_NAME: name}},
        "spec": spec,
    }


@contextmanager
def whole_olm_v1(parts: Parts, place: Workshop, plane: ControlPlane, registry: str) -> Iterator[WholeOlmV1]:
    """Both programs beside a control plane of their own, taking images from that registry."""
    define(plane.api, parts.olm_v1_crds)
    plane.api.create("/api/v1/namespaces", {"metadata": {"name": _NAMESPACE}})
    with (
        _catalogd(parts, place, plane, registry) as catalogd,
        _operator_controller(parts, place, plane, registry) as controller,
    ):
        yield WholeOlmV1(plane, (catalogd, controller))


def _trust(home: Path, registry: str) -> None:
    """Lets a program with this home take images from a registry that has no certificate."""
    folder = home / ".config" / "containers"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "registries.conf").write_text(f'[[registry]]\nlocation = "{registry}"\ninsecure = true\n')


@contextmanager
def _catalogd(parts: Parts, place: Workshop, plane: ControlPlane, registry: str) -> Iterator[Process]:
    home, (port, probes, webhook) = place.home("catalogd"), free_ports(3)
    _trust(home, registry)
    command = (
        parts.catalogd,
        f"--kubeconfig={plane.kubeconfig}",
        # It empties this folder when it starts, and the default is the system's own.
        f"--cache-dir={home / 'cache'}",
        f"--system-namespace={_NAMESPACE}",
        f"--catalogs-server-addr={HOST}:{port}",
        f"--external-address={HOST}:{port}",
        # The API server's own certificate is for the loopback address, which is all that is needed.
        f"--tls-cert={plane.authority}",
        f"--tls-key={plane.authority.with_suffix('.key')}",
        "--metrics-bind-address=0",
        f"--health-probe-bind-address={HOST}:{probes}",
        # On every address, and cannot be told otherwise: hence a network of its own.
        f"--webhook-server-port={webhook}",
        "--feature-gates=APIV1MetasHandler=true",
    )
    ready = f"http://{HOST}:{probes}/readyz"
    with running(place, "catalogd", command, ready=lambda: answered(ready) is not None) as process:
        yield process


@contextmanager
def _operator_controller(
    parts: Parts, place: Workshop, plane: ControlPlane, registry: str
) -> Iterator[Process]:
    home, (probes,) = place.home("operator-controller"), free_ports(1)
    _trust(home, registry)
    authorities = home / "authorities"
    authorities.mkdir()
    shutil.copy(plane.authority, authorities)
    command = (
        parts.operator_controller,
        f"--kubeconfig={plane.kubeconfig}",
        f"--cache-path={home / 'cache'}",
        f"--catalogd-cas-dir={authorities}",
        f"--system-namespace={_NAMESPACE}",
        f"--health-probe-bind-address={HOST}:{probes}",
    )
    ready = f"http://{HOST}:{probes}/readyz"
    with running(place, "operator-controller", command, ready=lambda: answered(ready) is not None) as process:
        yield process
