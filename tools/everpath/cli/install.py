"""`everpath install`: an operator through a Subscription, followed until it runs."""

from __future__ import annotations

__all__ = ["install"]

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import click

from everpath.cli.clusters import (
    Answer,
    Teller,
    clock,
    cluster_options,
    connect,
    exit_code,
    followed,
    following_options,
)
from everpath.cli.options import comma_list, one_name
from everpath.cli.writing import write
from everpath.errors import ExitCode, UsageError
from everpath.olm.changes import Did
from everpath.olm.following import Followed, Outcome, Rest
from everpath.olm.installing import carry_out, install_judge, prepare
from everpath.olm.resources import (
    Approval,
    CatalogKind,
    InstallMode,
    Wish,
    default_catalog,
    extension,
    objects,
)
from everpath.versions import parse_or_none

_ADDRESS: Final = re.compile(r"(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):[0-9]{1,5}")
_INTERVAL: Final = re.compile(r"(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?")
_NAME: Final = re.compile(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")
_LONGEST_LABEL: Final = 63


class Request(NamedTuple):
    """The command line as it was given."""

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


@click.command("install", short_help="Install an operator through OLM, and follow until it runs.")
@click.argument("package", metavar="PACKAGE", callback=one_name)
@click.option("--catalog", metavar="IMAGE|ADDRESS", callback=one_name, help="Where OLM finds the package.")
@click.option("--channel", metavar="NAME", callback=one_name, help="The channel to follow.  [default: any]")
@click.option(
    "--starting-csv",
    metavar="NAME|VERSION",
    callback=one_name,
    help="Begin with this release, not the newest.",
)
@click.option(
    "--approval",
    type=click.Choice(["Automatic", "Manual"]),
    help="Whether every step waits for a yes.  [default: Automatic, or as it is]",
)
@click.option("--approve", is_flag=True, help="With Manual: say yes to the first step.")
@click.option(
    "--install-mode",
    metavar="MODE[=NAMESPACES]",
    help="As operator-sdk has it: AllNamespaces, OwnNamespace, SingleNamespace=a, MultiNamespace=a,b.",
)
@click.option(
    "--watch-namespaces",
    metavar="NAMES",
    multiple=True,
    callback=comma_list,
    help="What the operator watches; may be repeated.  [default: all namespaces]",
)
@click.option(
    "--catalog-name", metavar="NAME", callback=one_name, help="The CatalogSource.  [default: PACKAGE-catalog]"
)
@click.option(
    "--catalog-namespace", metavar="NAME", callback=one_name, help="Its namespace.  [default: the operator's]"
)
@click.option(
    "--catalog-dir",
    metavar="PATH",
    default="/configs",
    show_default=True,
    help="Where the catalog is inside of the image.",
)
@click.option("--serves-itself", is_flag=True, help="The image serves its catalog: it was built on opm's.")
@click.option("--poll", metavar="TIME", help="How often OLM looks for a new image under the same tag: 10m.")
@click.option(
    "--olm", type=click.Choice(["v0", "v1"]), default="v0", show_default=True, help="v1: --dry-run only."
)
@click.option("--dry-run", is_flag=True, help="Print the objects as YAML or JSON, and ask no cluster.")
@click.option(
    "--force", is_flag=True, help="Change a CatalogSource or Subscription that is there and differs."
)
@click.option("--no-wait", is_flag=True, help="Do not follow what OLM does.")
@following_options
@cluster_options
def install(**options: Any) -> int:
    """Install an operator through OLM, and follow until it runs.

    Makes what is missing of Namespace, OperatorGroup, CatalogSource and Subscription, then tells what
    OLM does until the operator runs, or what it waits for when the time is up. A second run changes
    nothing.

    The catalog is an image with a file-based catalog, which OLM extracts and serves; with
    --serves-itself one that runs `opm serve`; or the address of a registry server (HOST:PORT).
    Without --catalog, --catalog-name names a CatalogSource that is there.

    \b
    $ everpath install searchkeeper --catalog quay.io/acme/catalog:v1 --channel stable -n search
    $ everpath install searchkeeper --catalog 10.0.0.7:50051 -n search --approval Manual --approve
    $ everpath install searchkeeper --catalog quay.io/acme/catalog:v1 -n search --dry-run
    $ everpath install searchkeeper --catalog-name operatorhubio-catalog --catalog-namespace olm -n search

    \b
    Exit codes:
      0  the operator runs, or an InstallPlan waits for the approval that Manual asks for
      1  it does not run when the time is up, or cannot
      2  a wrong command line, or something in the way    4  a cluster that does not answer, or refuses
    """
    return _install(Request(**options))


def _install(request: Request) -> int:
    if request.dry_run:
        return _print(request)
    if request.olm == "v1":
        raise UsageError("only OLM v0 is installed with", hint="--dry-run prints what OLM v1 needs")
    cluster = connect(request.kubeconfig, request.context)
    wish = _wish(request, request.namespace or cluster.namespace)
    teller = Teller(request.output)
    for change in carry_out(cluster, prepare(cluster, wish, force=request.force), force=request.force):
        teller.note(change)
    if all(change.did is Did.UNCHANGED for change in teller.changes):
        teller.say("Nothing to change: all that OLM needs is there")
    answer = Answer(teller, package=wish.package, namespace=wish.namespace)
    if request.no_wait:
        answer.end("not-followed", None)
        return ExitCode.CLEAN
    timer = clock(request.timeout)
    rest = Rest(timer.now)
    judge = install_judge(
        cluster, request.approve, teller.note, rest, more_may_come=_may_move_on(wish, teller)
    )
    done = followed(cluster, wish.package, wish.namespace, judge, timer, teller)
    _conclude(done, teller)
    answer.end(done.outcome.value, done.chain)
    return exit_code(done.outcome)


def _may_move_on(wish: Wish, teller: Teller) -> bool:
    """Whether OLM has reason to go on from what runs: something was changed, or it begins with the old."""
    did = {change.did for change in teller.changes}
    begins = wish.starting_csv is not None and wish.approval != "Manual"
    return Did.UPDATED in did or (Did.CREATED in did and begins)


def _conclude(done: Followed, teller: Teller) -> None:
    seen = done.chain
    if done.outcome is Outcome.DONE:
        teller.say(f'OLM has successfully installed "{seen.running}"')
        if seen.pending:
            again = f"everpath upgrade {seen.package} -n {seen.namespace}"
            teller.say(f"InstallPlan {seen.pending} waits for approval of the next step: {again}")
        return
    if done.outcome is Outcome.DEADLINE:
        teller.say(f"The time is up: {seen.headline}")
    teller.waits(seen)


def _print(request: Request) -> int:
    """The objects as YAML, or as a List in JSON. Reads nothing and asks nobody, so it needs the namespace."""
    if request.namespace is None:
        raise UsageError("--dry-run asks no cluster for a namespace", hint="-n NAME")
    wish = _wish(request, request.namespace)
    made = objects(wish) if request.olm == "v0" else extension(wish, _pinned(request))
    write([_written(made, is_json=request.output == "json")], None, machine=True)
    if request.olm == "v1":
        click.echo(
            f"note: ServiceAccount {wish.package}-installer needs the permissions of what the bundle holds",
            err=True,
        )
    return ExitCode.CLEAN


def _written(made: Iterable[Mapping[str, Any]], *, is_json: bool) -> str:
    """As `kubectl apply -f -` takes either of them."""
    if is_json:
        import json  # noqa: PLC0415 - only a dry run writes JSON here

        whole = {"apiVersion": "v1", "kind": "List", "items": list(made)}
        return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    from everpath.parsing.go_yaml import yaml_text  # noqa: PLC0415 - only a dry run writes YAML

    return "---\n".join(yaml_text(one) for one in made)


def _pinned(request: Request) -> str | None:
    """OLM v1 knows no startingCSV: a version holds the extension there."""
    stated = request.starting_csv
    return stated.rpartition(".v")[2] if stated else None


def _wish(request: Request, namespace: str) -> Wish:
    """Raises UsageError for options that do not go together, and for names no cluster takes."""
    kind, catalog = _catalog(request)
    _refuse_contradictions(request, kind)
    watched = _watched(request, namespace)
    wish = Wish(
        package=request.package,
        namespace=namespace,
        catalog=catalog,
        catalog_kind=kind,
        catalog_name=request.catalog_name or default_catalog(request.package),
        catalog_namespace=request.catalog_namespace or namespace,
        channel=request.channel,
        starting_csv=_starting(request),
        approval=request.approval,
        watched=watched,
        is_particular=bool(request.watch_namespaces or request.install_mode),
        catalog_dir=request.catalog_dir,
        poll=request.poll,
    )
    for what, name in (
        ("namespace", namespace),
        ("catalog name", wish.catalog_name),
        ("package", wish.package),
    ):
        if not _NAME.fullmatch(name) or len(name) > _LONGEST_LABEL:
            hint = "small letters, digits and dashes, 63 at most"
            raise UsageError(f"{what} {name!r} is no name that Kubernetes takes", hint=hint)
    return wish


def _catalog(request: Request) -> tuple[CatalogKind, str]:
    text = request.catalog
    if text is None:
        if request.catalog_name is None:
            hint = "--catalog IMAGE, or --catalog-name of a CatalogSource that is there"
            raise UsageError("say where OLM finds the package", hint=hint)
        return CatalogKind.PRESENT, ""
    if _ADDRESS.fullmatch(text):
        return CatalogKind.ADDRESS, text
    from everpath.oci.references import parse_reference  # noqa: PLC0415 - only an image needs it

    if text.startswith(("oci:", "oci-archive:", "docker-archive:")):
        hint = "everpath catalog push puts it where the cluster can pull it"
        raise UsageError(f"a cluster cannot read {text}", hint=hint)
    reference = str(parse_reference(text.removeprefix("docker://")))
    return CatalogKind.SERVER if request.serves_itself else CatalogKind.CONTENT, reference


def _refuse_contradictions(request: Request, kind: CatalogKind) -> None:
    if request.approve and request.approval == "Automatic":
        raise UsageError("--approve goes with --approval Manual", hint="without it OLM approves by itself")
    if request.poll is not None:
        if kind not in (CatalogKind.CONTENT, CatalogKind.SERVER):
            raise UsageError("--poll looks for a new image", hint="leave it out: there is no image")
        if not request.poll or not _INTERVAL.fullmatch(request.poll):
            raise UsageError(f"--poll {request.poll!r} is no time", hint="10m, 90s or 1h30m")
    if request.serves_itself and kind is not CatalogKind.SERVER:
        raise UsageError("--serves-itself is about an image", hint="leave it out")
    if request.olm == "v1" and kind not in (CatalogKind.CONTENT, CatalogKind.SERVER):
        raise UsageError("OLM v1 reads catalogs of images only", hint="--catalog IMAGE")


def _watched(request: Request, namespace: str) -> tuple[str, ...] | None:
    named = tuple(dict.fromkeys(request.watch_namespaces))
    if request.install_mode is None:
        return named or None
    if named:
        raise UsageError("--install-mode and --watch-namespaces exclude each other", hint="give one of them")
    mode, _, names = request.install_mode.partition("=")
    listed = tuple(name for name in names.split(",") if name)
    wanted = {InstallMode.ALL: 0, InstallMode.OWN: 0, InstallMode.SINGLE: 1, InstallMode.MULTI: 2}
    if mode not in wanted or min(len(listed), 2) != wanted[InstallMode(mode)]:
        hint = "AllNamespaces, OwnNamespace, SingleNamespace=a or MultiNamespace=a,b"
        raise UsageError(f"--install-mode {request.install_mode!r} is none", hint=hint)
    if mode == InstallMode.ALL:
        return None
    return listed or (namespace,)


def _starting(request: Request) -> str | None:
    """A version stands for the CSV that is called after it by custom."""
    stated = request.starting_csv
    if stated is None or parse_or_none(stated.removeprefix("v")) is None:
        return stated
    return f"{request.package}.v{stated.removeprefix('v')}"
