"""`everpath upgrade`: what the next step is and where it leads, then a yes to it, then the step."""

from __future__ import annotations

__all__ = ["upgrade"]

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import click

from everpath.cli.clusters import (
    Answer,
    Teller,
    ask,
    clock,
    cluster_options,
    connect,
    exit_code,
    followed,
    following_options,
)
from everpath.cli.config import Config
from everpath.cli.inputs import Inputs
from everpath.cli.options import one_name
from everpath.errors import ExitCode, UsageError
from everpath.graph import PackageGraph
from everpath.olm.chain import Chain
from everpath.olm.follow import PATIENCE, Clock, Followed, Outcome
from everpath.olm.install import approve
from everpath.olm.objects import Cluster, text
from everpath.olm.snapshot import Observed, observe
from everpath.olm.upgrade import (
    Step,
    Target,
    next_step,
    offer_judge,
    passes,
    pursuit_judge,
    stage_judge,
)
from everpath.resolvers.extensions import Source
from everpath.simulate import Row, Scenario, released, rows, sheets


class Request(NamedTuple):
    """The command line as it was given."""

    package: str
    to: str | None
    catalog: str | None
    yes: bool
    timeout: float
    namespace: str | None
    kubeconfig: str | None
    context: str | None
    output: str


@click.command("upgrade", short_help="Show the next step of an operator, approve it, and follow.")
@click.argument("package", metavar="PACKAGE", callback=one_name)
@click.option(
    "--to",
    metavar="NAME|VERSION",
    callback=one_name,
    help="Step by step to this release.  [default: one step]",
)
@click.option(
    "--catalog",
    metavar="PATH",
    callback=one_name,
    help="The catalog that the cluster has: tells the whole road ahead, not only the next step.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@following_options
@cluster_options
def upgrade(**options: Any) -> int:
    """Show the next step of an operator, approve it, and follow.

    Of a Subscription with Manual approval: the InstallPlan that waits, what it installs, and with
    --catalog the road from there to the head, as OLM will walk it. After a yes the plan is approved
    and followed until the new release runs. With --to that is repeated until the release is reached;
    a step that would go past it is not taken.

    \b
    $ everpath upgrade searchkeeper -n search --catalog catalog/
    $ everpath upgrade searchkeeper -n search --to 0.2.2 --yes

    \b
    Exit codes:
      0  the release runs, or there is        2  a wrong command line, or a step that goes past --to
         nothing newer                        4  a cluster that does not answer, or refuses
      1  it does not run when the time is up,
         or OLM offers no step to --to, or
         none where --catalog has one
    """
    return _upgrade(Request(**options))


def _upgrade(request: Request) -> int:
    cluster = connect(request.kubeconfig, request.context)
    namespace = request.namespace or cluster.namespace
    teller = Teller(request.output)
    observed = observe(cluster, request.package, namespace)
    if observed.subscription is None:
        hint = f"everpath install {request.package} -n {namespace} --catalog IMAGE"
        raise UsageError(f"nobody asks OLM for {request.package} in namespace {namespace}", hint=hint)
    start = observed.installed
    ahead = _road(request, observed)
    road = ahead.path if ahead is not None else ()
    answer = Answer(teller, **{"from": start or None, "road": list(road) if ahead is not None else None})
    if ahead is not None:
        teller.say(_told_road(start, ahead))
    target = Target(request.to) if request.to is not None else None
    done = _climb(request, _Stage(cluster, namespace, teller, road), target)
    is_met = _is_met(request, target, done, teller, road)
    _conclude(request, done, teller, is_met, road)
    answer.end(done.outcome.value, done.chain)
    return exit_code(done.outcome) if is_met else ExitCode.FINDINGS


def _is_met(
    request: Request, target: Target | None, done: Followed, teller: Teller, road: Sequence[str]
) -> bool:
    """Whether it got where it was to go: to the target, or a step on where the catalog has one."""
    if target is not None:
        return target.is_met(done.chain.running, request.package)
    return bool(teller.changes) or not road or done.chain.running in road


class _Stage(NamedTuple):
    """Where steps are taken, and what is known of the road."""

    cluster: Cluster
    namespace: str
    teller: Teller
    road: Sequence[str]


def _climb(request: Request, stage: _Stage, target: Target | None) -> Followed:
    """Step by step: how the last one ended."""
    timer = clock(request.timeout)

    def go(judge: Callable[[Observed, Chain], Outcome | None]) -> Followed:
        return followed(stage.cluster, request.package, stage.namespace, judge, timer, stage.teller)

    while True:
        done = go(_until(request, stage, timer, target))
        step = next_step(done.observed)
        if done.outcome is not Outcome.APPROVAL or step is None:
            return done
        _agree(request, stage, step, target)
        stage.teller.note(approve(stage.cluster, step.plan))
        done = go(stage_judge(step.target, timer.now))
        if target is None or done.outcome is not Outcome.DONE:
            return done


def _until(
    request: Request, stage: _Stage, timer: Clock, target: Target | None
) -> Callable[[Observed, Chain], Outcome | None]:
    """What ends the wait for a step: OLM is given time to plan one, and more if there ought to be one."""
    if target is not None:
        return pursuit_judge(target, request.package, timer.now)
    if request.catalog is None:
        return offer_judge(PATIENCE / 2, timer.now)
    return offer_judge(PATIENCE if stage.road else 0, timer.now)


def _agree(request: Request, stage: _Stage, step: Step, target: Target | None) -> None:
    """Show a step and have it agreed to. Raises UsageError for one that leads past the target."""
    others = f", and {', '.join(step.others)}" if step.others else ""
    source = f" in the place of {step.source}" if step.source else ""
    stage.teller.say(
        f"InstallPlan {text(step.plan, 'metadata', 'name')} installs {step.target}{source}{others}"
    )
    if target is not None and (why := passes(step, target, request.package, stage.road)):
        raise UsageError(why, hint="name a release on the road, or leave out --to to take the next step")
    if not ask("Approve it?", yes=request.yes):
        raise click.Abort


def _conclude(request: Request, done: Followed, teller: Teller, is_met: bool, road: Sequence[str]) -> None:
    seen = done.chain
    if done.outcome is Outcome.DONE and is_met:
        said = "runs" if teller.changes else "runs, and OLM knows of nothing newer"
        teller.say(f'"{seen.running}" {said}')
    elif done.outcome is Outcome.DONE:
        teller.say(f'"{seen.running}" runs, and OLM offers no step to {request.to or road[0]}')
        if request.to is None:
            teller.say(f"Does the cluster have the catalog {request.catalog} as it is here?")
        tells = f"everpath why {request.catalog or 'CATALOG'} -p {request.package}"
        teller.say(f"{tells} --live -n {seen.namespace} tells why")
    else:
        if done.outcome is Outcome.DEADLINE:
            teller.say(f"The time is up: {seen.headline}")
        teller.waits(seen)


def _road(request: Request, observed: Observed) -> Row | None:
    """What OLM v0 does to what is installed, by the catalog that is given; None without one."""
    if request.catalog is None:
        return None
    wishes = observed.subscription
    channel = text(wishes, "spec", "channel")
    inputs = Inputs([request.catalog], Config())
    (catalog,) = inputs.catalogs(None)
    inputs.verify([request.package], [channel] if channel else ())
    graph = PackageGraph(catalog.by_name[request.package])
    starting = text(wishes, "spec", "startingCSV") if not observed.installed else ""
    scenario = Scenario(
        policies=("v0",),
        channels=frozenset([channel or graph.package.default_channel or ""]),
        fresh=not (observed.installed or starting),
        starting=starting or None,
    )
    asked = released([graph], observed.installed) if observed.installed else None
    return next(rows(sheets([Source(request.catalog, 0, graph)], scenario, asked)), None)


def _told_road(start: str, road: Row) -> str:
    way = " → ".join([*([start] if start else []), *road.path])
    return f"The road ahead in channel {road.channel}: {way or 'none'} ({road.reason or road.end.value})"
