"""`everpath uninstall`: delete an operator after its custom resources; volumes are kept."""

from __future__ import annotations

__all__ = ["uninstall"]

from collections.abc import Iterator
from typing import Any

import click

from everpath.app.cluster.connection import ClusterOptions, connect, system_clock
from everpath.app.cluster.uninstall import uninstall as run_uninstall
from everpath.cli.options.cluster import ProgressReporter, cluster_options, confirm, timeout_option
from everpath.cli.options.common import one_name
from everpath.errors import ExitCode
from everpath.olm.objects import PVC
from everpath.olm.reporter import changes_data, ref_data
from everpath.olm.uninstall import UninstallPlan, UninstallResult, UninstallScope


@click.command("uninstall", short_help="Delete an operator, its custom resources first.")
@click.argument("package", metavar="PACKAGE", callback=one_name)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--keep-custom-resources", is_flag=True, help="Keep the custom resources of the operator.")
@click.option(
    "--delete-crds",
    is_flag=True,
    help="Delete its CustomResourceDefinitions, if no other operator needs them.",
)
@click.option(
    "--delete-catalog", is_flag=True, help="Delete the CatalogSource, if no other Subscription uses it."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted and what would be kept.")
@timeout_option
@cluster_options
def uninstall(  # noqa: PLR0913 - a parameter for each option
    *,
    package: str,
    yes: bool,
    keep_custom_resources: bool,
    delete_crds: bool,
    delete_catalog: bool,
    dry_run: bool,
    timeout: float,
    connection: ClusterOptions,
    output: str,
) -> int:
    """Delete an operator, its custom resources first.

    Custom resources are deleted while the operator is running, so that it can clean up and remove
    their finalizers. When they are gone, the Subscription and the ClusterServiceVersion are deleted,
    and with them what OLM has created for it. CustomResourceDefinitions and the CatalogSource are
    kept unless you delete them with an option; the namespace and volumes are always kept.

    \b
    $ everpath uninstall searchkeeper -n search --dry-run
    $ everpath uninstall searchkeeper -n search
    $ everpath uninstall searchkeeper -n search --yes --keep-custom-resources
    $ everpath uninstall searchkeeper -n search --yes --delete-crds --delete-catalog

    \b
    Exit codes:
      0  deleted, or not installed                   2  invalid options, or other operators need an object
      1  objects remain when the timeout expires     4  the cluster does not respond, or denies access
    """
    reporter = ProgressReporter(output)

    def show_plan(plan: UninstallPlan) -> None:
        for line in _describe_plan(package, plan):
            reporter.log(line)
        if plan.deletions and not dry_run:
            confirm("Delete these objects?", yes=yes)

    scope = UninstallScope(not keep_custom_resources, delete_crds, delete_catalog)
    clock = None if dry_run else system_clock(timeout)
    with connect(connection) as cluster:
        result = run_uninstall(cluster, package, clock, scope, on_plan=show_plan, log=reporter.log)
    for line in _describe_result(package, result):
        reporter.log(line)
    reporter.print_json(_json_document(package, result, is_planned=dry_run))
    return ExitCode.FINDINGS if result.remaining else ExitCode.CLEAN


def _describe_plan(package: str, plan: UninstallPlan) -> Iterator[str]:
    if not plan.deletions:
        yield f"Nothing to uninstall: {package} is not installed in namespace {plan.namespace}"
        return
    for deletion in plan.deletions:
        yield f"Delete: {plan.describe(deletion.ref)}"
    for ref in plan.kept:
        yield f"Keep: {plan.describe(ref)}"
    if plan.custom_resources and not plan.is_running:
        yield "The operator is not running: finalizers of its custom resources will not be removed"


def _describe_result(package: str, result: UninstallResult) -> Iterator[str]:
    if result.remaining:
        for ref, reason in result.remaining:
            yield f"Not deleted: {result.plan.describe(ref)} {reason}"
        yield "Timed out; run the same command again to continue"
    elif result.changes:
        yield f"Operator {package} uninstalled"
        if any(ref.kind is PVC for ref in result.plan.kept):
            yield "PersistentVolumeClaims are kept: delete them if you do not need their data"


def _json_document(package: str, result: UninstallResult, *, is_planned: bool) -> dict[str, Any]:
    plan = result.plan
    return {
        "package": package,
        "namespace": plan.namespace,
        "outcome": "planned" if is_planned else "deadline" if result.remaining else "done",
        "deletions": [ref_data(deletion.ref) for deletion in plan.deletions],
        "kept": [plan.describe(ref) for ref in plan.kept],
        "changes": changes_data(result.changes),
        "remaining": [{**ref_data(ref), "reason": reason} for ref, reason in result.remaining],
    }
