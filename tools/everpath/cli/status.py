"""`everpath status`: the chain from catalog to running operator, and what it waits for."""

from __future__ import annotations

__all__ = ["status"]

import sys
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import click

from everpath.cli.clusters import Teller, clock, cluster_options, connect
from everpath.cli.options import one_name
from everpath.cli.writing import write
from everpath.errors import ExitCode, Unreachable, UsageError
from everpath.olm.chain import Chain, chain
from everpath.olm.objects import SUBSCRIPTION, Cluster, Refused, text
from everpath.olm.reporter import chain_data, status_text
from everpath.olm.snapshot import observe

_PAUSE: Final = 2.0
_CLEAR: Final = "\x1b[2J\x1b[H"


class Request(NamedTuple):
    """The command line as it was given."""

    package: str | None
    watch: bool
    namespace: str | None
    kubeconfig: str | None
    context: str | None
    output: str


@click.command("status", short_help="Where does an operator stand, and what does it wait for?")
@click.argument("package", metavar="[PACKAGE]", required=False, callback=one_name)
@click.option("--watch", is_flag=True, help="Look again every two seconds, until Ctrl-C.")
@cluster_options
def status(**options: Any) -> int:
    """Where does an operator stand, and what does it wait for?

    The chain that OLM works along: CatalogSource, OperatorGroup, Subscription, InstallPlan,
    ClusterServiceVersion, Deployment, OperatorCondition; the state of each, what it waits for, and
    what to do. Without PACKAGE: every package that a Subscription of the namespace asks for.

    \b
    $ everpath status searchkeeper -n search
    $ everpath status -n search -o json
    $ everpath status searchkeeper -n search --watch

    \b
    Exit codes:
      0  all runs, and nothing waits          2  a wrong command line
      1  something waits or has failed        4  a cluster that does not answer, or refuses
    """
    return _status(Request(**options))


def _status(request: Request) -> int:
    if request.watch and request.output == "json":
        raise UsageError("--watch is for people", hint="leave it out, or leave out -o json")
    cluster = connect(request.kubeconfig, request.context)
    namespace = request.namespace or cluster.namespace
    if not cluster.serves(SUBSCRIPTION):
        raise Unreachable("the cluster has no OLM: it does not know of Subscriptions")
    if not request.watch:
        return _shown(request, list(_chains(cluster, request.package, namespace)))
    while True:
        _look(request, cluster, namespace)
        clock(0).sleep(_PAUSE)


def _look(request: Request, cluster: Cluster, namespace: str) -> None:
    """One look of many: a cluster that does not answer is told, and asked again."""
    try:
        seen = list(_chains(cluster, request.package, namespace))
    except Refused:
        raise
    except Unreachable as error:
        click.echo(f"{error.message}; asking again", err=True)
        return
    if sys.stdout.isatty():
        click.echo(_CLEAR, nl=False)
    _shown(request, seen)


def _chains(cluster: Cluster, package: str | None, namespace: str) -> Iterable[Chain]:
    names = [package] if package is not None else _packages(cluster, namespace)
    return (chain(observe(cluster, name, namespace)) for name in names)


def _packages(cluster: Cluster, namespace: str) -> list[str]:
    found = sorted({text(one, "spec", "name") for one in cluster.find(SUBSCRIPTION, namespace)})
    if not found:
        hint = "-n NAME says which namespace; `kubectl get subscriptions -A` lists what is asked for"
        raise UsageError(f"no Subscription is in namespace {namespace}", hint=hint)
    return found


def _shown(request: Request, chains: list[Chain]) -> int:
    teller = Teller(request.output)
    if teller.is_json:
        teller.document({"packages": [chain_data(one) for one in chains]})
    else:
        for number, one in enumerate(chains):
            write([*(["\n"] if number else []), *status_text(one, teller.paint)], None, machine=False)
    fine = all(one.is_settled and not one.waits for one in chains)
    return ExitCode.CLEAN if fine else ExitCode.FINDINGS
