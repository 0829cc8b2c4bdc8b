"""The objects that install an operator."""

from __future__ import annotations

__all__ = [
    "MANAGED_BY",
    "MANAGER",
    "REGISTRY_POLL_INTERVAL",
    "Approval",
    "CatalogType",
    "InstallMode",
    "InstallRequest",
    "catalog_source",
    "default_catalog_name",
    "namespace",
    "olm_v0_objects",
    "olm_v1_objects",
    "operator_group",
    "subscription",
]

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from everpath.olm.objects import Object

#: The label of objects that everpath has created; `uninstall` deletes only these.
MANAGED_BY: Final = "app.kubernetes.io/managed-by"
MANAGER: Final = "everpath"

#: The intervals that `spec.updateStrategy.registryPoll` accepts, such as `90s`, `10m` or `1h30m`.
REGISTRY_POLL_INTERVAL: Final = re.compile(r"(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?")

Approval = Literal["Automatic", "Manual"]


class CatalogType(StrEnum):
    """Where OLM gets the content of a catalog from."""

    CONTENT_IMAGE = "content-image"  # a file-based catalog that OLM extracts and serves with its own opm
    SERVER_IMAGE = "server-image"  # an image that runs `opm serve`
    ADDRESS = "address"  # a running registry server
    EXISTING = "existing"  # an existing CatalogSource


class InstallMode(StrEnum):
    """The install modes of OLM."""

    ALL = "AllNamespaces"
    OWN = "OwnNamespace"
    SINGLE = "SingleNamespace"
    MULTI = "MultiNamespace"


@dataclass(frozen=True, slots=True)
class InstallRequest:
    """What to install. `catalog` is an image or an address, depending on its type.

    `target_namespaces` None means all. `needs_target_namespaces`: an existing OperatorGroup must have the
    same ones. `approval` None keeps that of an existing Subscription, else Automatic.
    """

    package: str
    namespace: str
    catalog: str
    catalog_type: CatalogType
    catalog_name: str
    catalog_namespace: str
    channel: str | None = None
    starting_csv: str | None = None
    approval: Approval | None = None
    target_namespaces: tuple[str, ...] | None = None
    needs_target_namespaces: bool = False
    catalog_dir: str = "/configs"
    poll: str | None = None


def olm_v0_objects(request: InstallRequest) -> list[Object]:
    """Return all objects for OLM v0, in the order of their creation."""
    namespaces = dict.fromkeys((request.namespace, request.catalog_namespace))
    objects = [namespace(name) for name in namespaces] + [operator_group(request)]
    if request.catalog_type is not CatalogType.EXISTING:
        objects.append(catalog_source(request))
    return [*objects, subscription(request)]


def namespace(name: str) -> Object:
    return _object("v1", "Namespace", "", name)


def default_catalog_name(package: str) -> str:
    """Return the name of the CatalogSource if the user gives none."""
    return f"{package}-catalog"


def operator_group(request: InstallRequest) -> Object:
    """Return an OperatorGroup; without target namespaces it targets all."""
    targets = request.target_namespaces
    spec = {} if targets is None else {"targetNamespaces": list(targets)}
    name = f"{request.namespace}-everpath"
    return _object("operators.coreos.com/v1", "OperatorGroup", request.namespace, name, spec)


def catalog_source(request: InstallRequest) -> Object:
    """Return a CatalogSource; docs/installing.md explains which spec belongs to which image."""
    spec: Object = {"sourceType": "grpc", "displayName": request.catalog_name, "publisher": "everpath"}
    if request.catalog_type is CatalogType.ADDRESS:
        spec["address"] = request.catalog
    else:
        # The pod that OLM creates without it violates the Pod Security Standard `restricted`.
        pod_config: Object = {"securityContextConfig": "restricted"}
        if request.catalog_type is CatalogType.CONTENT_IMAGE:
            pod_config["extractContent"] = {"catalogDir": request.catalog_dir}
        spec |= {"image": request.catalog, "grpcPodConfig": pod_config}
        if request.poll:
            spec["updateStrategy"] = {"registryPoll": {"interval": request.poll}}
    api_version = "operators.coreos.com/v1alpha1"
    return _object(api_version, "CatalogSource", request.catalog_namespace, request.catalog_name, spec)


def subscription(request: InstallRequest) -> Object:
    """Return a Subscription; without a channel OLM considers all channels."""
    spec = {
        "name": request.package,
        "source": request.catalog_name,
        "sourceNamespace": request.catalog_namespace,
        "installPlanApproval": request.approval or "Automatic",
        **({"channel": request.channel} if request.channel else {}),
        **({"startingCSV": request.starting_csv} if request.starting_csv else {}),
    }
    return _object("operators.coreos.com/v1alpha1", "Subscription", request.namespace, request.package, spec)


def olm_v1_objects(request: InstallRequest, version: str | None = None) -> list[Object]:
    """Return all objects for OLM v1, which supports only catalog images. `version` pins the extension."""
    service_account = f"{request.package}-installer"
    package: Object = {"packageName": request.package}
    if request.channel:
        package["channels"] = [request.channel]
    if version:
        package["version"] = version
    image: Object = {"ref": request.catalog}
    if request.poll:
        image["pollIntervalMinutes"] = _poll_minutes(request.poll)
    catalog_spec = {"source": {"type": "Image", "image": image}}
    extension_spec = {
        "namespace": request.namespace,
        "serviceAccount": {"name": service_account},
        "source": {"sourceType": "Catalog", "catalog": package},
    }
    api_version = "olm.operatorframework.io/v1"
    return [
        namespace(request.namespace),
        _object("v1", "ServiceAccount", request.namespace, service_account),
        _object(api_version, "ClusterCatalog", "", request.catalog_name, catalog_spec),
        _object(api_version, "ClusterExtension", "", request.package, extension_spec),
    ]


def _poll_minutes(interval: str) -> int:
    """Return a poll interval in whole minutes, at least one."""
    match = REGISTRY_POLL_INTERVAL.fullmatch(interval)
    hours, minutes, seconds = (int(number or 0) for number in match.groups()) if match else (0, 0, 0)
    return max(1, hours * 60 + minutes + seconds // 60)


def _object(api_version: str, kind: str, namespace: str, name: str, spec: Object | None = None) -> Object:
    scope = {"namespace": namespace} if namespace else {}
    metadata = {"name": name, **scope, "labels": {MANAGED_BY: MANAGER}}
    obj: Object = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
    return obj if spec is None else {**obj, "spec": spec}
