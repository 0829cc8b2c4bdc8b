"""What a Subscription on a cluster asks for, and where that stands: the question of `everpath why --live`."""

from __future__ import annotations

__all__ = ["Live", "live"]

from typing import NamedTuple

from everpath.cli.clusters import connect
from everpath.errors import UsageError
from everpath.olm.chain import Chain, chain
from everpath.olm.objects import SUBSCRIPTION, text
from everpath.olm.snapshot import observe


class Live(NamedTuple):
    """What OLM starts from. `installed` None: nothing is; `starting` counts only then."""

    package: str
    channel: str | None
    installed: str | None
    starting: str | None
    chain: Chain


def live(package: str | None, namespace: str | None, kubeconfig: str | None, context: str | None) -> Live:
    """Ask the cluster. Raises UsageError where nobody asks OLM for the package."""
    cluster = connect(kubeconfig, context)
    namespace = namespace or cluster.namespace
    asked = sorted({text(one, "spec", "name") for one in cluster.find(SUBSCRIPTION, namespace)})
    if package is None and len(asked) == 1:
        (package,) = asked
    if package not in asked or package is None:
        there = f"there are Subscriptions for {', '.join(asked)}" if asked else "there is no Subscription"
        wanted = "say which package is meant" if package is None else f"nobody asks OLM for {package}"
        hint = "-p NAME says which package, -n NAME which namespace"
        raise UsageError(f"{wanted}: {there} in namespace {namespace}", hint=hint)
    observed = observe(cluster, package, namespace)
    wishes = observed.subscription
    return Live(
        package,
        text(wishes, "spec", "channel") or None,
        observed.installed or None,
        (text(wishes, "spec", "startingCSV") or None) if not observed.installed else None,
        chain(observed),
    )
