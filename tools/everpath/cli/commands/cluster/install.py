"""`everpath install`: install an operator with a Subscription, and follow it until it is running."""

from __future__ import annotations

__all__ = ["install"]

from typing import Final, Literal

import click

from everpath.app.cluster.connection import ClusterOptions, connect, system_clock
from everpath.app.cluster.install import (
    CatalogSourceOptions,
    InstallResult,
    OperatorGroupOptions,
    SubscriptionOptions,
    install_request,
    objects_to_install,
)
from everpath.app.cluster.install import install as run_install
from everpath.cli.options.cluster import ProgressReporter, cluster_options, outcome_exit_code, timeout_option
from everpath.cli.options.common import comma_list, one_name
from everpath.cli.options.groups import option_group
from everpath.cli.output import write_output
from everpath.errors import ExitCode, UsageError
from everpath.olm.follow import Outcome
from everpath.olm.objects import Object

_catalog_source_options: Final = option_group(
    "catalog_source",
    CatalogSourceOptions,
    click.option(
        "--catalog",
        metavar="IMAGE|ADDRESS",
        callback=one_name,
        help="Catalog image, or address of a registry server.",
    ),
    click.option(
        "--catalog-name",
        metavar="NAME",
        callback=one_name,
        help="Name of the CatalogSource.  [default: PACKAGE-catalog]",
    ),
    click.option(
        "--catalog-namespace",
        metavar="NAME",
        callback=one_name,
        help="Namespace of the CatalogSource.  [default: that of the operator]",
    ),
    click.option(
        "--catalog-dir",
        metavar="PATH",
        default="/configs",
        show_default=True,
        help="Directory of the catalog in the image.",
    ),
    click.option("--serves-itself", is_flag=True, help="The catalog image runs `opm serve`."),
    click.option("--poll", metavar="TIME", help="How often OLM checks the tag for a new image: 10m."),
)

_subscription_options: Final = option_group(
    "subscription",
    SubscriptionOptions,
    click.option(
        "--channel", metavar="NAME", callback=one_name, help="Channel of the Subscription.  [default: any]"
    ),
    click.option(
        "--starting-csv",
        metavar="NAME|VERSION",
        callback=one_name,
        help="First version to install.  [default: the newest]",
    ),
    click.option(
        "--approval",
        type=click.Choice(["Automatic", "Manual"]),
        help="InstallPlan approval: Automatic or Manual.  "
        "[default: that of the Subscription, else Automatic]",
    ),
)

_operator_group_options: Final = option_group(
    "operator_group",
    OperatorGroupOptions,
    click.option(
        "--install-mode",
        metavar="MODE[=NAMESPACES]",
        help="Like operator-sdk: AllNamespaces, OwnNamespace, SingleNamespace=a, MultiNamespace=a,b.",
    ),
    click.option(
        "--watch-namespaces",
        metavar="NAMES",
        multiple=True,
        callback=comma_list,
        help="Namespaces that the operator watches; may be repeated.  [default: all]",
    ),
)


@click.command("install", short_help="Install an operator with OLM, and wait until it is running.")
@click.argument("package", metavar="PACKAGE", callback=one_name)
@_catalog_source_options
@_subscription_options
@click.option("--approve", is_flag=True, help="With Manual approval: approve the first InstallPlan.")
@_operator_group_options
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
def install(  # noqa: PLR0913 - a parameter for each group of options
    *,
    package: str,
    catalog_source: CatalogSourceOptions,
    subscription: SubscriptionOptions,
    approve: bool,
    operator_group: OperatorGroupOptions,
    olm: Literal["v0", "v1"],
    dry_run: bool,
    force: bool,
    no_wait: bool,
    timeout: float,
    connection: ClusterOptions,
    output: str,
) -> int:
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
    if approve and subscription.approval == "Automatic":
        hint = "with Automatic approval OLM approves every InstallPlan itself"
        raise UsageError("--approve requires --approval Manual", hint=hint)
    if dry_run:
        if connection.namespace is None:
            raise UsageError("--dry-run needs a namespace", hint="-n NAME")
        request = install_request(package, connection.namespace, catalog_source, subscription, operator_group)
        write_output([_serialize(objects_to_install(request, olm), output)], None, machine=True)
        if olm == "v1":
            note = f"note: ServiceAccount {package}-installer needs the permissions of the bundle"
            click.echo(note, err=True)
        return ExitCode.CLEAN
    if olm == "v1":
        raise UsageError("everpath installs with OLM v0 only", hint="--dry-run prints the objects for OLM v1")
    reporter = ProgressReporter(output)
    with connect(connection) as cluster:
        request = install_request(package, cluster.namespace, catalog_source, subscription, operator_group)
        clock = None if no_wait else system_clock(timeout)
        result = run_install(cluster, request, clock, force=force, approve=approve, log=reporter.log)
    _log_result(result, reporter)
    reporter.print_result(
        "not-followed" if result.outcome is None else result.outcome.value,
        result.changes,
        result.status,
        package=package,
        namespace=request.namespace,
    )
    return ExitCode.CLEAN if result.outcome is None else outcome_exit_code(result.outcome)


def _log_result(result: InstallResult, reporter: ProgressReporter) -> None:
    status = result.status
    if status is None:
        return
    if result.outcome is Outcome.DONE:
        reporter.log(f'OLM has successfully installed "{status.running_csv}"')
        if status.pending_plan:
            command = f"everpath upgrade {status.package} -n {status.namespace}"
            reporter.log(f"InstallPlan {status.pending_plan} for the next hop requires approval: {command}")
        return
    if result.outcome is Outcome.DEADLINE:
        reporter.log(f"Timed out: {status.headline}")
    reporter.print_waits(status)


def _serialize(objects: list[Object], output: str) -> str:
    """Return the objects as YAML, or as a List in JSON; `kubectl apply -f -` accepts both."""
    if output == "json":
        import json  # noqa: PLC0415 - only a dry run needs it

        document = {"apiVersion": "v1", "kind": "List", "items": objects}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    from everpath.parsing.yaml_writer import yaml_text  # noqa: PLC0415 - only a dry run needs it

    return "---\n".join(map(yaml_text, objects))
