"""`everpath uninstall`: what people made with an operator first, then the operator; never their data."""

from __future__ import annotations

__all__ = ["uninstall"]

from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from everpath.cli.clusters import Teller, ask, clock, cluster_options, connect, following_options
from everpath.cli.options import one_name
from everpath.errors import ExitCode, UsageError
from everpath.olm import removing
from everpath.olm.objects import Kind, Object, ref_of
from everpath.olm.removing import Uninstalled
from everpath.olm.reporter import changes_data
from everpath.olm.snapshot import observe
from everpath.olm.uninstall import Removal, Wanted, survey


class Request(NamedTuple):
    """The command line as it was given."""

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


@click.command("uninstall", short_help="Take an operator away, its custom resources first.")
@click.argument("package", metavar="PACKAGE", callback=one_name)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--keep-custom-resources", is_flag=True, help="Leave what was made with the operator.")
@click.option(
    "--delete-crds", is_flag=True, help="Also the CustomResourceDefinitions, if nobody else needs them."
)
@click.option("--delete-catalog", is_flag=True, help="Also the CatalogSource, if nobody else follows it.")
@click.option("--dry-run", is_flag=True, help="Only tell what would go and what would stay.")
@following_options
@cluster_options
def uninstall(**options: Any) -> int:
    """Take an operator away, its custom resources first.

    Custom resources go while the operator still runs, so that it can clean up and release their
    finalizers; only when they are gone the Subscription and the ClusterServiceVersion go, and with
    them what OLM made of it. CustomResourceDefinitions and the CatalogSource stay unless it is said
    otherwise; the namespace and volumes always.

    \b
    $ everpath uninstall searchkeeper -n search --dry-run
    $ everpath uninstall searchkeeper -n search
    $ everpath uninstall searchkeeper -n search --yes --keep-custom-resources
    $ everpath uninstall searchkeeper -n search --yes --delete-crds --delete-catalog

    \b
    Exit codes:
      0  it is gone, or was not there                2  a wrong command line, or something others need
      1  something is still there when time is up    4  a cluster that does not answer, or refuses
    """
    return _uninstall(Request(**options))


def _uninstall(request: Request) -> int:
    if request.delete_crds and request.keep_custom_resources:
        hint = "custom resources go with their definitions"
        raise UsageError("--delete-crds and --keep-custom-resources exclude each other", hint=hint)
    cluster = connect(request.kubeconfig, request.context)
    namespace = request.namespace or cluster.namespace
    teller = Teller(request.output)
    wanted = Wanted(not request.keep_custom_resources, request.delete_crds, request.delete_catalog)
    removal = survey(cluster, observe(cluster, request.package, namespace), wanted)
    for line in _plan(request, namespace, removal):
        teller.say(line)
    done = Uninstalled()
    if not (removal.is_empty or request.dry_run):
        if not ask("Delete it?", yes=request.yes):
            raise click.Abort
        done = removing.uninstall(cluster, removal, clock(request.timeout), teller.say)
    _conclude(request, removal, done, teller)
    teller.document(_document(request, namespace, removal, done))
    return ExitCode.FINDINGS if done.left else ExitCode.CLEAN


def _plan(request: Request, namespace: str, removal: Removal) -> Iterator[str]:
    if removal.is_empty:
        yield f"Nothing to uninstall: {request.package} is not in namespace {namespace}"
        return
    for kind, thing in _going(removal):
        yield f"Goes: {removal.told(ref_of(thing, kind))}"
    for kept in removal.stays:
        yield f"Stays: {kept}"
    if removal.custom_resources and not removal.is_running:
        yield "The operator does not run: nobody sees to the finalizers of its custom resources"


def _going(removal: Removal) -> Iterator[tuple[Kind, Object]]:
    return (pair for stage in removal.stages for pair in stage)


def _conclude(request: Request, removal: Removal, done: Uninstalled, teller: Teller) -> None:
    if done.left:
        for ref, why in done.left:
            teller.say(f"Still there: {removal.told(ref)}, {why}")
        teller.say("The time is up; the same command goes on from here")
    elif done.changes:
        teller.say(f"Operator {request.package} uninstalled")
        if any(kept.startswith("PersistentVolumeClaim") for kept in removal.stays):
            teller.say("Volumes were left: they hold data, and only you know whether it may go")


def _document(request: Request, namespace: str, removal: Removal, done: Uninstalled) -> dict[str, Any]:
    outcome = "planned" if request.dry_run else "deadline" if done.left else "done"
    return {
        "package": request.package,
        "namespace": namespace,
        "outcome": outcome,
        "going": [_named(kind, thing) for kind, thing in _going(removal)],
        "stays": list(removal.stays),
        "changes": changes_data(done.changes),
        "left": [
            {"kind": ref.kind.name, "namespace": ref.namespace or None, "name": ref.name, "reason": why}
            for ref, why in done.left
        ],
    }


def _named(kind: Kind, thing: Object) -> dict[str, str | None]:
    ref = ref_of(thing, kind)
    return {"kind": kind.name, "namespace": ref.namespace or None, "name": ref.name}
