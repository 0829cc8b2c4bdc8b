"""Install an operator with OLM, and wait until it is running."""

from __future__ import annotations

__all__ = [
    "CatalogSourceOptions",
    "InstallResult",
    "OperatorGroupOptions",
    "SubscriptionOptions",
    "install",
    "install_request",
    "objects_to_install",
]

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from everpath.app.cluster.connection import OperatorFollower
from everpath.errors import UsageError
from everpath.olm.changes import ChangeType, ObjectChange
from everpath.olm.follow import Clock, Outcome, StableTimer
from everpath.olm.install import apply_changes, plan_install, until_installed
from everpath.olm.manifests import (
    REGISTRY_POLL_INTERVAL,
    Approval,
    CatalogType,
    InstallMode,
    InstallRequest,
    default_catalog_name,
    olm_v0_objects,
    olm_v1_objects,
)
from everpath.olm.objects import Cluster, Object
from everpath.olm.status import OperatorStatus
from everpath.versions import parse_or_none

_ADDRESS: Final = re.compile(r"(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):[0-9]{1,5}")
_NAME: Final = re.compile(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")
_MAX_NAME_LENGTH: Final = 63
_IMAGES: Final = (CatalogType.CONTENT_IMAGE, CatalogType.SERVER_IMAGE)
#: The number of namespaces that each install mode needs; 2 means several.
_NAMESPACE_COUNTS: Final = {
    InstallMode.ALL: 0,
    InstallMode.OWN: 0,
    InstallMode.SINGLE: 1,
    InstallMode.MULTI: 2,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSourceOptions:
    """The catalog to install from.

    `catalog` is an image, or the address of a registry server; without it, `catalog_name` is the name of an
    existing CatalogSource. `serves_itself`: the image runs `opm serve`. `poll` is the interval in which OLM
    checks the tag for a new image.
    """

    catalog: str | None = None
    catalog_name: str | None = None
    catalog_namespace: str | None = None
    catalog_dir: str = "/configs"
    serves_itself: bool = False
    poll: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionOptions:
    """The Subscription. `starting_csv` is the name of a CSV or a version."""

    channel: str | None = None
    starting_csv: str | None = None
    approval: Approval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorGroupOptions:
    """The namespaces that the operator watches, as an install mode or as a list. Default: all."""

    install_mode: str | None = None
    watch_namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InstallResult:
    """What was done, in order. `outcome` and `status` are None if the operator was not followed."""

    changes: list[ObjectChange]
    outcome: Outcome | None = None
    status: OperatorStatus | None = None


def install_request(
    package: str,
    namespace: str,
    catalog_source: CatalogSourceOptions,
    subscription: SubscriptionOptions = SubscriptionOptions(),
    operator_group: OperatorGroupOptions = OperatorGroupOptions(),
) -> InstallRequest:
    """Return what to install. Raises UsageError for invalid names and options that exclude each other."""
    catalog_type, catalog = _parse_catalog(catalog_source)
    target_namespaces = _target_namespaces(operator_group, namespace)
    catalog_name = catalog_source.catalog_name or default_catalog_name(package)
    names = {"namespace": namespace, "catalog name": catalog_name, "package": package}
    for what, name in names.items():
        if not _NAME.fullmatch(name) or len(name) > _MAX_NAME_LENGTH:
            hint = "lower-case letters, digits, dashes and dots, at most 63 characters"
            raise UsageError(f"{what} {name!r} is not a valid Kubernetes name", hint=hint)
    starting_csv = subscription.starting_csv
    if starting_csv is not None and parse_or_none(version := starting_csv.removeprefix("v")) is not None:
        starting_csv = f"{package}.v{version}"
    return InstallRequest(
        package=package,
        namespace=namespace,
        catalog=catalog,
        catalog_type=catalog_type,
        catalog_name=catalog_name,
        catalog_namespace=catalog_source.catalog_namespace or namespace,
        channel=subscription.channel,
        starting_csv=starting_csv,
        approval=subscription.approval,
        target_namespaces=target_namespaces,
        needs_target_namespaces=bool(operator_group.watch_namespaces or operator_group.install_mode),
        catalog_dir=catalog_source.catalog_dir,
        poll=catalog_source.poll,
    )


def _parse_catalog(options: CatalogSourceOptions) -> tuple[CatalogType, str]:
    """Return the type of the catalog, and its image or address."""
    text = options.catalog
    if text is None:
        if options.catalog_name is None:
            hint = "--catalog IMAGE, or --catalog-name of an existing CatalogSource"
            raise UsageError("no catalog is given", hint=hint)
        catalog_type, source = CatalogType.EXISTING, ""
    elif _ADDRESS.fullmatch(text):
        catalog_type, source = CatalogType.ADDRESS, text
    else:
        from everpath.oci.references import parse_reference  # noqa: PLC0415 - only an image needs it

        if text.startswith(("oci:", "oci-archive:", "docker-archive:")):
            hint = "push it to a registry with `everpath catalog push`"
            raise UsageError(f"a cluster cannot pull {text}", hint=hint)
        catalog_type = CatalogType.SERVER_IMAGE if options.serves_itself else CatalogType.CONTENT_IMAGE
        source = str(parse_reference(text.removeprefix("docker://")))
    if options.poll is not None:
        if catalog_type not in _IMAGES:
            raise UsageError("--poll requires a catalog image", hint="leave it out")
        if not options.poll or not REGISTRY_POLL_INTERVAL.fullmatch(options.poll):
            raise UsageError(f"--poll {options.poll!r} is not a duration", hint="10m, 90s or 1h30m")
    if options.serves_itself and catalog_type is not CatalogType.SERVER_IMAGE:
        raise UsageError("--serves-itself requires a catalog image", hint="leave it out")
    return catalog_type, source


def _target_namespaces(options: OperatorGroupOptions, namespace: str) -> tuple[str, ...] | None:
    """Return the target namespaces of the OperatorGroup; None means all."""
    given = tuple(dict.fromkeys(options.watch_namespaces))
    if options.install_mode is None:
        return given or None
    if given:
        raise UsageError("--install-mode and --watch-namespaces exclude each other", hint="leave one out")
    mode, _, names = options.install_mode.partition("=")
    namespaces = tuple(name for name in names.split(",") if name)
    if mode not in _NAMESPACE_COUNTS or min(len(namespaces), 2) != _NAMESPACE_COUNTS[InstallMode(mode)]:
        hint = "AllNamespaces, OwnNamespace, SingleNamespace=a or MultiNamespace=a,b"
        raise UsageError(f"--install-mode {options.install_mode!r} is invalid", hint=hint)
    return None if mode == InstallMode.ALL else namespaces or (namespace,)


def objects_to_install(request: InstallRequest, olm: Literal["v0", "v1"] = "v0") -> list[Object]:
    """Return the objects that install an operator, without access to a cluster."""
    if olm == "v0":
        return olm_v0_objects(request)
    if request.catalog_type not in _IMAGES:
        raise UsageError("OLM v1 supports only catalog images", hint="--catalog IMAGE")
    # OLM v1 has no startingCSV; a version pins the extension.
    version = request.starting_csv.rpartition(".v")[2] if request.starting_csv else None
    return olm_v1_objects(request, version)


def install(
    cluster: Cluster,
    request: InstallRequest,
    clock: Clock | None,
    *,
    force: bool = False,
    approve: bool = False,
    log: Callable[[str], None] = lambda _: None,
) -> InstallResult:
    """Create the missing objects, and follow the operator until it is running or the timeout expires.

    Without a clock the operator is not followed. `force` changes a CatalogSource or Subscription that
    differs; `approve` approves the InstallPlan of the first install. `log` receives a line for each change
    and for what OLM does. Raises UsageError for conflicts, Unreachable and RequestDenied.
    """
    changes: list[ObjectChange] = []

    def record(change: ObjectChange) -> None:
        changes.append(change)
        log(str(change))

    for change in apply_changes(cluster, plan_install(cluster, request, force=force), force=force):
        record(change)
    types = {change.type for change in changes}
    if types == {ChangeType.UNCHANGED}:
        log("Nothing to change: all objects exist as requested")
    if clock is None:
        return InstallResult(changes)
    # OLM may upgrade after a change of the Subscription or CatalogSource, and after the startingCSV.
    starts_old = request.starting_csv is not None and request.approval != "Manual"
    stop_condition = until_installed(
        cluster,
        StableTimer(clock.now),
        record,
        approve_first=approve,
        expects_upgrade=ChangeType.UPDATED in types or (ChangeType.CREATED in types and starts_old),
    )
    result = OperatorFollower(cluster, request.package, request.namespace, clock, log).follow(stop_condition)
    return InstallResult(changes, result.outcome, result.status)
