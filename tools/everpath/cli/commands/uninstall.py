"""`everpath uninstall`: delete an operator after its custom resources; volumes are kept."""

from __future__ import annotations

__all__ = ["uninstall"]

from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from everpath.cli.cluster_options import (
    ProgressReporter,
    cluster_options,
    confirm,
    connect,
    system_clock,
    timeout_option,
)
from everpath.cli.options import one_name
from everpath.errors import ExitCode, UsageError
from everpath.olm.objects import PVC
from everpath.olm.reporter import changes_data, ref_data
from everpath.olm.snapshot import observe
from everpath.olm.uninstall import (
    UninstallPlan,
    UninstallResult,
    UninstallScope,
    execute_uninstall,
    plan_uninstall,
)


class UninstallOptions(NamedTuple):
    """The options of `everpath uninstall`."""

    package: str
    yes: bool
    keep_custom_resources: bool
    delete_crds: bool
    delete_catalog: bool
    dry_run: bool
    timeout: float
    namespace: str | None
    kubeconfig: str | None
    context: str | None
    output: str


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
def uninstall(**options: Any) -> int:
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
    return _uninstall(UninstallOptions(**options))


def _uninstall(options: UninstallOptions) -> int:
    if options.delete_crds and options.keep_custom_resources:
        raise UsageError(
            "--delete-crds and --keep-custom-resources exclude each other",
            hint="Kubernetes deletes custom resources with their CustomResourceDefinition",
        )
    cluster = connect(options.kubeconfig, options.context)
    namespace = options.namespace or cluster.namespace
    reporter = ProgressReporter(options.output)
    scope = UninstallScope(not options.keep_custom_resources, options.delete_crds, options.delete_catalog)
    plan = plan_uninstall(cluster, observe(cluster, options.package, namespace), scope)
    for line in _describe_plan(options, plan):
        reporter.log(line)
    result = UninstallResult()
    if plan.deletions and not options.dry_run:
        if not confirm("Delete these objects?", yes=options.yes):
            raise click.Abort
        result = execute_uninstall(cluster, plan, system_clock(options.timeout), reporter.log)
    for line in _describe_result(options, plan, result):
        reporter.log(line)
    reporter.print_json(_json_document(options, plan, result))
    return ExitCode.FINDINGS if result.remaining else ExitCode.CLEAN


def _describe_plan(options: UninstallOptions, plan: UninstallPlan) -> Iterator[str]:
    if not plan.deletions:
        yield f"Nothing to uninstall: {options.package} is not installed in namespace {plan.namespace}"
        return
    for deletion in plan.deletions:
        yield f"Delete: {plan.describe(deletion.ref)}"
    for ref in plan.kept:
        yield f"Keep: {plan.describe(ref)}"
    if plan.custom_resources and not plan.is_running:
        yield "The operator is not running: finalizers of its custom resources will not be removed"


def _describe_result(
    options: UninstallOptions, plan: UninstallPlan, result: UninstallResult
) -> Iterator[str]:
    if result.remaining:
        for ref, reason in result.remaining:
            yield f"Not deleted: {plan.describe(ref)} {reason}"
        yield "Timed out; run the same command again to continue"
    elif result.changes:
        yield f"Operator {options.package} uninstalled"
        if any(ref.kind is PVC for ref in plan.kept):
            yield "PersistentVolumeClaims are kept: delete them if you do not need their data"


def _json_document(options: UninstallOptions, plan: UninstallPlan, result: UninstallResult) -> dict[str, Any]:
    outcome = "planned" if options.dry_run else "deadline" if result.remaining else "done"
    return {
        "package": options.package,
        "namespace": plan.namespace,
        "outcome": outcome,
        "going": [ref_data(deletion.ref) for deletion in plan.deletions],
        "stays": [plan.describe(ref) for ref in plan.kept],
        "changes": changes_data(result.changes),
        "left": [{**ref_data(ref), "reason": reason} for ref, reason in result.remaining],
    }
