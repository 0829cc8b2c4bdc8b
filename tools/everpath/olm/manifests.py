"""The objects that ask OLM for an operator."""

from __future__ import annotations

__all__ = [
    "MANAGED_BY",
    "MANAGER",
    "Approval",
    "CatalogKind",
    "InstallMode",
    "Wish",
    "catalog_source",
    "catalog_spec",
    "default_catalog",
    "extension",
    "group_name",
    "namespace",
    "objects",
    "operator_group",
    "subscription",
]

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from everpath.olm.objects import Object

#: By which a later run knows what an earlier one made.
MANAGED_BY: Final = "app.kubernetes.io/managed-by"
MANAGER: Final = "everpath"
_LABELS: Final = {MANAGED_BY: MANAGER}

Approval = Literal["Automatic", "Manual"]


class CatalogKind(StrEnum):
    """How OLM comes by the content of a catalog."""

    CONTENT = "content"  # an image with a file-based catalog, which OLM extracts and serves with its own opm
    SERVER = "server"  # an image that serves its catalog itself
    ADDRESS = "address"  # a registry server that runs already
    PRESENT = "present"  # a CatalogSource that is there already


class InstallMode(StrEnum):
    """What an operator watches, by OLM's names."""

    ALL = "AllNamespaces"
    OWN = "OwnNamespace"
    SINGLE = "SingleNamespace"
    MULTI = "MultiNamespace"


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants of OLM. `catalog` is an image or an address.

    `watched` None: all namespaces. `is_particular`: an OperatorGroup that watches others will not do.
    `approval` None: Automatic where nobody has said otherwise.
    """

    package: str
    namespace: str
    catalog: str
    catalog_kind: CatalogKind
    catalog_name: str
    catalog_namespace: str
    channel: str | None = None
    starting_csv: str | None = None
    approval: Approval | None = None
    watched: tuple[str, ...] | None = None
    is_particular: bool = False
    catalog_dir: str = "/configs"
    poll: str | None = None

    @property
    def mode(self) -> InstallMode:
        if self.watched is None:
            return InstallMode.ALL
        if self.watched == (self.namespace,):
            return InstallMode.OWN
        return InstallMode.SINGLE if len(self.watched) == 1 else InstallMode.MULTI


def objects(wish: Wish) -> list[Object]:
    """All that OLM v0 needs, in the order in which it is made."""
    namespaces = dict.fromkeys((wish.namespace, wish.catalog_namespace))
    made = [namespace(name) for name in namespaces] + [operator_group(wish)]
    if wish.catalog_kind is not CatalogKind.PRESENT:
        made.append(catalog_source(wish))
    return [*made, subscription(wish)]


def namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(_LABELS)}}


def default_catalog(package: str) -> str:
    """What a CatalogSource is called that nobody gave a name."""
    return f"{package}-catalog"


def group_name(wish: Wish) -> str:
    return f"{wish.namespace}-everpath"


def operator_group(wish: Wish) -> Object:
    """Without target namespaces an OperatorGroup is for all of them."""
    spec = {} if wish.watched is None else {"targetNamespaces": list(wish.watched)}
    return _made("operators.coreos.com/v1", "OperatorGroup", wish.namespace, group_name(wish), spec)


def catalog_source(wish: Wish) -> Object:
    return _made(
        "operators.coreos.com/v1alpha1",
        "CatalogSource",
        wish.catalog_namespace,
        wish.catalog_name,
        catalog_spec(wish),
    )


def catalog_spec(wish: Wish) -> Object:
    """What goes with which image: docs/installing.md."""
    named = {"sourceType": "grpc", "displayName": wish.catalog_name, "publisher": "everpath"}
    if wish.catalog_kind is CatalogKind.ADDRESS:
        return {**named, "address": wish.catalog}
    # Without a security context OLM asks for what namespaces that enforce `restricted` refuse.
    pod: Object = {"securityContextConfig": "restricted"}
    if wish.catalog_kind is CatalogKind.CONTENT:
        pod["extractContent"] = {"catalogDir": wish.catalog_dir}
    spec: Object = {**named, "image": wish.catalog, "grpcPodConfig": pod}
    if wish.poll:
        spec["updateStrategy"] = {"registryPoll": {"interval": wish.poll}}
    return spec


def subscription(wish: Wish) -> Object:
    """Without a channel OLM looks at all of them; so does this only if none is wanted."""
    spec = {
        "name": wish.package,
        "source": wish.catalog_name,
        "sourceNamespace": wish.catalog_namespace,
        "installPlanApproval": wish.approval or "Automatic",
        **({"channel": wish.channel} if wish.channel else {}),
        **({"startingCSV": wish.starting_csv} if wish.starting_csv else {}),
    }
    return _made("operators.coreos.com/v1alpha1", "Subscription", wish.namespace, wish.package, spec)


def extension(wish: Wish, version: str | None = None) -> list[Object]:
    """The same for OLM v1, which reads catalogs of images only."""
    account = f"{wish.package}-installer"
    wanted: Object = {"packageName": wish.package}
    if wish.channel:
        wanted["channels"] = [wish.channel]
    if version:
        wanted["version"] = version
    image: Object = {"ref": wish.catalog}
    if wish.poll:
        image["pollIntervalMinutes"] = _minutes(wish.poll)
    return [
        namespace(wish.namespace),
        _made("v1", "ServiceAccount", wish.namespace, account),
        _made(
            "olm.operatorframework.io/v1",
            "ClusterCatalog",
            "",
            wish.catalog_name,
            {"source": {"type": "Image", "image": image}},
        ),
        _made(
            "olm.operatorframework.io/v1",
            "ClusterExtension",
            "",
            wish.package,
            {
                "namespace": wish.namespace,
                "serviceAccount": {"name": account},
                "source": {"sourceType": "Catalog", "catalog": wanted},
            },
        ),
    ]


def _minutes(interval: str) -> int:
    """An interval as OLM v0 has it (`90s`, `10m`, `1h30m`), in whole minutes and at least one."""
    seconds, number = 0, ""
    for character in interval:
        if character.isdigit():
            number += character
        else:
            seconds += int(number or 0) * {"h": 3600, "m": 60, "s": 1}[character]
            number = ""
    return max(1, seconds // 60)


def _made(api_version: str, kind: str, namespace: str, name: str, spec: Object | None = None) -> Object:
    where = {"namespace": namespace} if namespace else {}
    made: Object = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, **where, "labels": dict(_LABELS)},
    }
    return made if spec is None else {**made, "spec": spec}
