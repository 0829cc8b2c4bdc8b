"""`searchkeeper run`: the operator, or an upgrade in memory."""

from __future__ import annotations

__all__ = ["run"]

import os
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from searchkeeper.cli.options import EngineAddress, Seconds, parse_address
from searchkeeper.cli.sources import optional_imports, release_of
from searchkeeper.images import images_from_options

_EMBEDDED_OPTIONS: Final = ("embedded", "version", "target", "start")


@click.command()
@click.option(
    "--embedded", is_flag=True, help="Show the upgrade of a sample cluster in memory; needs no cluster."
)
@click.option(
    "--release",
    "version",
    metavar="VERSION",
    help="Run as this release of the operator.  [default: the newest]",
)
@click.option(
    "--to",
    "target",
    metavar="VERSION",
    help="With --embedded: the engine version to upgrade to.  [default: the newest of the release]",
)
@click.option(
    "--from",
    "start",
    metavar="VERSION",
    help="With --embedded: the engine version to start from.  [default: 2.19.4, or the oldest]",
)
@click.option(
    "-n",
    "--namespace",
    "namespaces",
    metavar="NAMESPACE",
    multiple=True,
    envvar="WATCH_NAMESPACE",
    help="Watch this namespace only; repeatable or comma-separated.  [default: all namespaces]",
)
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False),
    help="Path of the kubeconfig.  [default: the pod's ServiceAccount, KUBECONFIG or ~/.kube/config]",
)
@click.option(
    "--engine",
    type=EngineAddress(),
    metavar="URL",
    help="URL of the engine for all clusters; `embedded` is an engine in memory behind the real pods.  "
    "[default: each cluster's Service]",
)
@click.option(
    "--engine-image",
    envvar="RELATED_IMAGE_OPENSEARCH",
    metavar="IMAGE",
    help="Repository of the OpenSearch image; the tag is always the engine version.",
)
@click.option(
    "--dashboards-image",
    envvar="RELATED_IMAGE_DASHBOARDS",
    metavar="IMAGE",
    help="Repository of the OpenSearch Dashboards image.",
)
@click.option(
    "--resync",
    type=Seconds(min=0.1),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="Interval between two reconciles of a cluster without events.",
)
@click.option("--once", is_flag=True, help="Reconcile until there is nothing to do, then exit.")
@click.option(
    "--lease-namespace",
    metavar="NAMESPACE",
    envvar="POD_NAMESPACE",
    help="Namespace of the leader election Lease.  [default: the pod's namespace]",
)
@click.option(
    "--identity",
    metavar="NAME",
    envvar="POD_NAME",
    help="Identity in the Lease, with a random suffix.  [default: the host name]",
)
@click.option(
    "--health-address",
    default="0.0.0.0:8080",
    show_default=True,
    metavar="HOST:PORT",
    help="Address of /healthz and /readyz.",
)
@click.option(
    "--metrics-address",
    default="0.0.0.0:9090",
    show_default=True,
    metavar="HOST:PORT",
    help="Address of /metrics.",
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
    """Run the operator.

    With --embedded no cluster is needed: the operator upgrades a sample cluster in memory.

    \b
    Examples:
      searchkeeper run --embedded
      searchkeeper run --embedded --release 0.3.1 --to 3.2.0
      searchkeeper run -n search --kubeconfig ~/.kube/config
      searchkeeper run --once
    """
    release = release_of(version)
    if embedded:
        _reject_cluster_options(click.get_current_context())
        with optional_imports():
            from searchkeeper.cli.embedded_run import show_upgrade  # noqa: PLC0415

        show_upgrade(release, start, target)
        return
    if target is not None or start is not None:
        raise click.UsageError("--from and --to need --embedded; a cluster is upgraded by its spec.version")
    with optional_imports():
        from searchkeeper.cli.operate import OperatorOptions, operate  # noqa: PLC0415

    operate(
        OperatorOptions(
            release,
            tuple(name for text in namespaces for name in text.split(",") if name),
            kubeconfig,
            engine,
            lease_namespace or _pod_namespace(),
            identity,
            tuple(map(parse_address, (health_address, metrics_address))),
            resync,
            # OLM sets it in every operator pod.
            os.environ.get("OPERATOR_CONDITION_NAME"),
            images_from_options(engine_image, dashboards_image),
        ),
        once=once,
    )


def _reject_cluster_options(ctx: click.Context) -> None:
    """Raises UsageError for an option that has no effect with --embedded."""
    for option in ctx.command.params:
        is_given = ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if is_given and option.name not in _EMBEDDED_OPTIONS:
            flag = max(option.opts, key=len)
            raise click.UsageError(f"{flag} needs a cluster and cannot be used with --embedded")


def _pod_namespace() -> str:
    """The namespace of the pod's ServiceAccount, `default` outside of a pod."""
    file = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
    return file.read_text(encoding="utf-8").strip() if file.is_file() else "default"
