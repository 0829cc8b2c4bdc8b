"""`everpath install`: install an operator with a Subscription, and follow it until it is running."""

from __future__ import annotations

__all__ = ["install"]

import re
from typing import Any, Final, NamedTuple

import click

from everpath.cli.cluster_options import (
    ProgressReporter,
    cluster_options,
    connect,
    follow_package,
    outcome_exit_code,
    system_clock,
    timeout_option,
)
from everpath.cli.options import comma_list, one_name
from everpath.cli.output import write_output
from everpath.errors import ExitCode, UsageError
from everpath.olm.changes import ChangeType
from everpath.olm.follow import FollowResult, Outcome, StableTimer
from everpath.olm.install import apply_changes, plan_install, until_installed
from everpath.olm.manifests import (
    Approval,
    CatalogType,
    InstallMode,
    InstallRequest,
    default_catalog_name,
    olm_v0_objects,
    olm_v1_objects,
)
from everpath.olm.objects import Object
from everpath.versions import parse_or_none

_ADDRESS: Final = re.compile(r"(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):[0-9]{1,5}")
_INTERVAL: Final = re.compile(r"(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?")
_NAME: Final = re.compile(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")
_MAX_NAME_LENGTH: Final = 63
_IMAGES: Final = (CatalogType.CONTENT_IMAGE, CatalogType.SERVER_IMAGE)


class InstallOptions(NamedTuple):
    """The options of `everpath install`."""

    package: str
    catalog: str | None
    channel: str | None
    starting_csv: str | None
    approval: Approval | None
    approve: bool
    install_mode: str | None
    watch_namespaces: tuple[str, ...]
    catalog_name: str | None
    catalog_namespace: str | None
    catalog_dir: str
    serves_itself: bool
    poll: str | None
    olm: str
    dry_run: bool
    force: bool
    no_wait: bool
    timeout: float
    namespace: str | None
    kubeconfig: str | None
    context: str | None
    output: str


@click.command("install", short_help="Install an operator with OLM, and wait until it is running.")
@click.argument("package", metavar="PACKAGE", callback=one_name)
@click.option(
    "--catalog",
    metavar="IMAGE|ADDRESS",
    callback=one_name,
    help="Catalog image, or address of a registry server.",
)
@click.option(
    "--channel", metavar="NAME", callback=one_name, help="Channel of the Subscription.  [default: any]"
)
@click.option(
    "--starting-csv",
    metavar="NAME|VERSION",
    callback=one_name,
    help="First version to install.  [default: the newest]",
)
@click.option(
    "--approval",
    type=click.Choice(["Automatic", "Manual"]),
    help="InstallPlan approval.  [default: that of the Subscription, else Automatic]",
)
@click.option("--approve", is_flag=True, help="With Manual approval: approve the first InstallPlan.")
@click.option(
    "--install-mode",
    metavar="MODE[=NAMESPACES]",
    help="Like operator-sdk: AllNamespaces, OwnNamespace, SingleNamespace=a, MultiNamespace=a,b.",
)
@click.option(
    "--watch-namespaces",
    metavar="NAMES",
    multiple=True,
    callback=comma_list,
    help="Namespaces that the operator watches; may be repeated.  [default: all]",
)
@click.option(
    "--catalog-name",
    metavar="NAME",
    callback=one_name,
    help="Name of the CatalogSource.  [default: PACKAGE-catalog]",
)
@click.option(
    "--catalog-namespace",
    metavar="NAME",
    callback=one_name,
    help="Namespace of the CatalogSource.  [default: that of the operator]",
)
@click.option(
    "--catalog-dir",
    metavar="PATH",
    default="/configs",
    show_default=True,
    help="Directory of the catalog in the image.",
)
@click.option("--serves-itself", is_flag=True, help="The catalog image runs `opm serve`.")
@click.option("--poll", metavar="TIME", help="How often OLM checks the tag for a new image: 10m.")
@click.option(
    "--olm",
    type=click.Choice(["v0", "v1"]),
    default="v0",
    show_default=True,
    help="OLM version; v1 only with --dry-run.",
)
@click.option("--dry-run", is_flag=True, help="Print the objects, without access to a cluster.")
@click.option("--force", is_flag=True, help="Change an existing CatalogSource or Subscription that differs.")
@click.option("--no-wait", is_flag=True, help="Do not wait until the operator is running.")
@timeout_option
@cluster_options
def install(**options: Any) -> int:
    """Install an operator with OLM, and wait until it is running.

    Creates Namespace, OperatorGroup, CatalogSource and Subscription where they are missing, and
    reports what OLM does until the operator is running, or what it waits for when the timeout
    expires. A second run changes nothing.

    The catalog is an image with a file-based catalog, which OLM extracts and serves; with
    --serves-itself an image that runs `opm serve`; or the address of a registry server (HOST:PORT).
    Without --catalog, --catalog-name selects an existing CatalogSource.

    \b
    $ everpath install searchkeeper --catalog quay.io/acme/catalog:v1 --channel stable -n search
    $ everpath install searchkeeper --catalog 10.0.0.7:50051 -n search --approval Manual --approve
    $ everpath install searchkeeper --catalog quay.io/acme/catalog:v1 -n search --dry-run
    $ everpath install searchkeeper --catalog-name operatorhubio-catalog --catalog-namespace olm -n search

    \b
    Exit codes:
      0  running, or with Manual approval an InstallPlan requires it
      1  not running when the timeout expires, or failed
      2  invalid options, or existing objects that conflict
      4  the cluster does not respond, or denies access
    """
    return _install(InstallOptions(**options))


def _install(options: InstallOptions) -> int:
    if options.dry_run:
        return _print_objects(options)
    if options.olm == "v1":
        raise UsageError("everpath installs with OLM v0 only", hint="--dry-run prints the objects for OLM v1")
    cluster = connect(options.kubeconfig, options.context)
    request = _install_request(options, options.namespace or cluster.namespace)
    reporter = ProgressReporter(options.output)
    planned = plan_install(cluster, request, force=options.force)
    for change in apply_changes(cluster, planned, force=options.force):
        reporter.log_change(change)
    types = {change.type for change in reporter.changes}
    if types == {ChangeType.UNCHANGED}:
        reporter.log("Nothing to change: all objects exist as requested")
    names = {"package": request.package, "namespace": request.namespace}
    if options.no_wait:
        reporter.print_result("not-followed", None, **names)
        return ExitCode.CLEAN
    clock = system_clock(options.timeout)
    # OLM may upgrade after a change of the Subscription or CatalogSource, and after the startingCSV.
    starts_old = request.starting_csv is not None and request.approval != "Manual"
    stop_condition = until_installed(
        cluster,
        StableTimer(clock.now),
        reporter.log_change,
        approve_first=options.approve,
        expects_upgrade=ChangeType.UPDATED in types or (ChangeType.CREATED in types and starts_old),
    )
    result = follow_package(cluster, request.package, request.namespace, stop_condition, clock, reporter)
    _log_result(result, reporter)
    reporter.print_result(result.outcome.value, result.status, **names)
    return outcome_exit_code(result.outcome)


def _log_result(result: FollowResult, reporter: ProgressReporter) -> None:
    status = result.status
    if result.outcome is Outcome.DONE:
        reporter.log(f'OLM has successfully installed "{status.running_csv}"')
        if status.pending_plan:
            command = f"everpath upgrade {status.package} -n {status.namespace}"
            reporter.log(f"InstallPlan {status.pending_plan} for the next hop requires approval: {command}")
        return
    if result.outcome is Outcome.DEADLINE:
        reporter.log(f"Timed out: {status.headline}")
    reporter.print_waits(status)


def _print_objects(options: InstallOptions) -> int:
    """Print the objects as YAML, or as a List in JSON; `kubectl apply -f -` accepts both."""
    if options.namespace is None:
        raise UsageError("--dry-run needs a namespace", hint="-n NAME")
    request = _install_request(options, options.namespace)
    if options.olm == "v0":
        objects = olm_v0_objects(request)
    else:
        # OLM v1 has no startingCSV; a version pins the extension.
        version = options.starting_csv.rpartition(".v")[2] if options.starting_csv else None
        objects = olm_v1_objects(request, version)
    write_output([_serialize(objects, options.output)], None, machine=True)
    if options.olm == "v1":
        click.echo(
            f"note: ServiceAccount {request.package}-installer needs the permissions of the bundle",
            err=True,
        )
    return ExitCode.CLEAN


def _serialize(objects: list[Object], output: str) -> str:
    if output == "json":
        import json  # noqa: PLC0415 - only a dry run needs it

        document = {"apiVersion": "v1", "kind": "List", "items": objects}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    from everpath.parsing.yaml_writer import yaml_text  # noqa: PLC0415 - only a dry run needs it

    return "---\n".join(map(yaml_text, objects))


def _install_request(options: InstallOptions, namespace: str) -> InstallRequest:
    """Return what to install. Raises UsageError for invalid names and options that exclude each other."""
    catalog_type, catalog = _parse_catalog(options)
    _check_options(options, catalog_type)
    catalog_name = options.catalog_name or default_catalog_name(options.package)
    target_namespaces = _target_namespaces(options, namespace)
    names = {"namespace": namespace, "catalog name": catalog_name, "package": options.package}
    for what, name in names.items():
        if not _NAME.fullmatch(name) or len(name) > _MAX_NAME_LENGTH:
            hint = "lower-case letters, digits, dashes and dots, at most 63 characters"
            raise UsageError(f"{what} {name!r} is not a valid Kubernetes name", hint=hint)
    starting_csv = options.starting_csv
    if starting_csv is not None and parse_or_none(version := starting_csv.removeprefix("v")) is not None:
        starting_csv = f"{options.package}.v{version}"
    return InstallRequest(
        package=options.package,
        namespace=namespace,
        catalog=catalog,
        catalog_type=catalog_type,
        catalog_name=catalog_name,
        catalog_namespace=options.catalog_namespace or namespace,
        channel=options.channel,
        starting_csv=starting_csv,
        approval=options.approval,
        target_namespaces=target_namespaces,
        needs_target_namespaces=bool(options.watch_namespaces or options.install_mode),
        catalog_dir=options.catalog_dir,
        poll=options.poll,
    )


def _parse_catalog(options: InstallOptions) -> tuple[CatalogType, str]:
    text = options.catalog
    if text is None:
        if options.catalog_name is None:
            hint = "--catalog IMAGE, or --catalog-name of an existing CatalogSource"
            raise UsageError("no catalog is given", hint=hint)
        return CatalogType.EXISTING, ""
    if _ADDRESS.fullmatch(text):
        return CatalogType.ADDRESS, text
    from everpath.oci.references import parse_reference  # noqa: PLC0415 - only an image needs it

    if text.startswith(("oci:", "oci-archive:", "docker-archive:")):
        hint = "push it to a registry with `everpath catalog push`"
        raise UsageError(f"a cluster cannot pull {text}", hint=hint)
    reference = str(parse_reference(text.removeprefix("docker://")))
    return CatalogType.SERVER_IMAGE if options.serves_itself else CatalogType.CONTENT_IMAGE, reference


def _check_options(options: InstallOptions, catalog_type: CatalogType) -> None:
    if options.approve and options.approval == "Automatic":
        hint = "with Automatic approval OLM approves every InstallPlan itself"
        raise UsageError("--approve requires --approval Manual", hint=hint)
    if options.poll is not None:
        if catalog_type not in _IMAGES:
            raise UsageError("--poll requires a catalog image", hint="leave it out")
        if not options.poll or not _INTERVAL.fullmatch(options.poll):
            raise UsageError(f"--poll {options.poll!r} is not a duration", hint="10m, 90s or 1h30m")
    if options.serves_itself and catalog_type is not CatalogType.SERVER_IMAGE:
        raise UsageError("--serves-itself requires a catalog image", hint="leave it out")
    if options.olm == "v1" and catalog_type not in _IMAGES:
        raise UsageError("OLM v1 supports only catalog images", hint="--catalog IMAGE")


def _target_namespaces(options: InstallOptions, namespace: str) -> tuple[str, ...] | None:
    """Return the target namespaces of the OperatorGroup; None means all."""
    given = tuple(dict.fromkeys(options.watch_namespaces))
    if options.install_mode is None:
        return given or None
    if given:
        raise UsageError("--install-mode and --watch-namespaces exclude each other", hint="leave one out")
    mode, _, names = options.install_mode.partition("=")
    namespaces = tuple(name for name in names.split(",") if name)
    counts = {InstallMode.ALL: 0, InstallMode.OWN: 0, InstallMode.SINGLE: 1, InstallMode.MULTI: 2}
    if mode not in counts or min(len(namespaces), 2) != counts[InstallMode(mode)]:
        hint = "AllNamespaces, OwnNamespace, SingleNamespace=a or MultiNamespace=a,b"
        raise UsageError(f"--install-mode {options.install_mode!r} is invalid", hint=hint)
    return None if mode == InstallMode.ALL else namespaces or (namespace,)
