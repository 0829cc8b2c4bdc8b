"""`searchkeeper run`: the operator itself, or the operator at work in memory."""

from __future__ import annotations

__all__ = ["run"]

import os
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from searchkeeper.cli.options import EngineAddress, Seconds, address
from searchkeeper.cli.sources import chosen_release, what_is_installed
from searchkeeper.images import images_from_options

_OF_EMBEDDED: Final = ("embedded", "version", "target", "start")


@click.command()
@click.option(
    "--embedded", is_flag=True, help="Show an upgrade of a sample cluster in memory; needs no cluster."
)
@click.option("--release", "version", metavar="VERSION", help="Work as this release (default: the newest).")
@click.option(
    "--to",
    "target",
    metavar="VERSION",
    help="With --embedded: the engine version to upgrade to (default: the newest that the release knows).",
)
@click.option(
    "--from",
    "start",
    metavar="VERSION",
    help="With --embedded: the engine version to start from (default: 2.19.4, or the oldest of the release).",
)
@click.option(
    "-n",
    "--namespace",
    "namespaces",
    multiple=True,
    envvar="WATCH_NAMESPACE",
    help="Keep the clusters of this namespace only; repeatable, or with commas (default: of all).",
)
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False),
    help="As kubectl's (default: the pod's own account, elsewhere KUBECONFIG or ~/.kube/config).",
)
@click.option(
    "--engine",
    type=EngineAddress(),
    metavar="URL",
    help="Where the engine answers, or `embedded` for one in memory behind "
    "the pods there are (default: each cluster's Service).",
)
@click.option(
    "--engine-image",
    envvar="RELATED_IMAGE_OPENSEARCH",
    metavar="IMAGE",
    help="Where OpenSearch's images come from; the version is the tag, whatever this one has.",
)
@click.option(
    "--dashboards-image",
    envvar="RELATED_IMAGE_DASHBOARDS",
    metavar="IMAGE",
    help="The same for OpenSearch Dashboards.",
)
@click.option(
    "--resync",
    type=Seconds(min=0.1),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="How often a cluster is looked at when nothing happens.",
)
@click.option("--once", is_flag=True, help="Work until there is nothing to write, then end; no watching.")
@click.option(
    "--lease-namespace",
    envvar="POD_NAMESPACE",
    help="Where the Lease is that lets one operator write at a time (default: the pod's own namespace).",
)
@click.option("--identity", envvar="POD_NAME", help="Who holds the Lease (default: the host, and a number).")
@click.option(
    "--health-address",
    default="0.0.0.0:8080",
    show_default=True,
    metavar="HOST:PORT",
    help="/healthz and /readyz.",
)
@click.option(
    "--metrics-address", default="0.0.0.0:9090", show_default=True, metavar="HOST:PORT", help="/metrics."
)
def run(  # noqa: PLR0913 - one argument an option
    *,
    embedded: bool,
    version: str | None,
    target: str | None,
    start: str | None,
    namespaces: tuple[str, ...],
    kubeconfig: str | None,
    engine: str | None,
    engine_image: str | None,
    dashboards_image: str | None,
    resync: float,
    once: bool,
    lease_namespace: str | None,
    identity: str | None,
    health_address: str,
    metrics_address: str,
) -> None:
    """Run the operator, or show it at work in memory.

    \b
    searchkeeper run --embedded                      an upgrade before your eyes
    searchkeeper run --embedded --release 0.3.1 --to 3.2.0
    searchkeeper run -n search --kubeconfig ~/.kube/config
    """
    release = chosen_release(version)
    if embedded:
        _refuse_others(click.get_current_context())
        from searchkeeper.cli.embedded_run import show  # noqa: PLC0415 - neither needs what the other imports

        show(release, start, target)
        return
    if target is not None or start is not None:
        raise click.UsageError("--from and --to go with --embedded; elsewhere spec.version says it")
    with what_is_installed():
        from searchkeeper.cli.operate import OperatorOptions, operate  # noqa: PLC0415

    chosen = tuple(name for text in namespaces for name in text.split(",") if name)
    addresses = tuple(map(address, (health_address, metrics_address)))
    operate(
        OperatorOptions(
            release,
            chosen,
            kubeconfig,
            engine,
            lease_namespace or _own_namespace(),
            identity,
            addresses,
            resync,
            # OLM says so itself, in every pod that it deploys.
            os.environ.get("OPERATOR_CONDITION_NAME"),
            images_from_options(engine_image, dashboards_image),
        ),
        once=once,
    )


def _refuse_others(ctx: click.Context) -> None:
    """Raises UsageError for an option that says nothing to a world in memory."""
    for each in ctx.command.params:
        is_given = ctx.get_parameter_source(each.name or "") is ParameterSource.COMMANDLINE
        if is_given and each.name not in _OF_EMBEDDED:
            raise click.UsageError(f"{max(each.opts, key=len)} is for a cluster, and --embedded has none")


def _own_namespace() -> str:
    """Of the pod that this runs in, if it does."""
    file = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
    return file.read_text(encoding="utf-8").strip() if file.is_file() else "default"
