"""What no catalog can tell: the states of a cluster that hold an upgrade up, and how to look at them."""

from __future__ import annotations

__all__ = ["Check", "unseen"]

from collections.abc import Iterator
from typing import Final, NamedTuple

from everpath.resolvers import ResolverName


class Check(NamedTuple):
    """Something only the cluster knows, and the command that shows it."""

    policy: ResolverName
    question: str
    command: str


def _v0(question: str, command: str) -> Check:
    return Check("v0", question, command)


def _v1(question: str, command: str) -> Check:
    return Check("v1", question, command)


#: What the answer rests on.
_GROUNDS: Final = {
    "v0": (
        _v0(
            "Is this what is installed? OLM starts from status.installedCSV.",
            "kubectl get subscription NAME -n NAMESPACE -o jsonpath="
            "'{.status.installedCSV} {.spec.channel} {.spec.source}'",
        ),
        _v0(
            "Does the cluster serve this catalog, and this version of it?",
            "kubectl get catalogsource -A -o custom-columns=NAME:.metadata.name,IMAGE:.spec.image,"
            "STATE:.status.connectionState.lastObservedState",
        ),
    ),
    "v1": (
        _v1(
            "What is installed, and what does operator-controller say of it?",
            "kubectl get clusterextension NAME -o jsonpath='{.status.install.bundle} {.status.conditions}'",
        ),
        _v1(
            "Does every ClusterCatalog that it may use serve, and this version? One that does not stops all.",
            "kubectl get clustercatalog",
        ),
    ),
}

#: What keeps a cluster from a move that the catalog allows, in the order in which it goes wrong.
_OBSTACLES: Final = {
    "v0": (
        _v0(
            "Did resolution fail? One broken channel, catalog or constraint stops every Subscription of the "
            "namespace, whatever its package.",
            "kubectl get subscription -n NAMESPACE -o jsonpath='{range .items[*]}{.metadata.name}: "
            '{.status.conditions[?(@.type=="ResolutionFailed")].message}{"\\n"}{end}\'',
        ),
        _v0(
            "Has the namespace exactly one OperatorGroup? Without it nothing is resolved.",
            "kubectl get operatorgroup -n NAMESPACE",
        ),
        _v0(
            "Does an InstallPlan wait for approval? One Subscription with installPlanApproval: Manual makes "
            "that of the whole namespace wait.",
            "kubectl get installplan -n NAMESPACE",
        ),
        _v0(
            "Could the bundle be unpacked? A job that ran out of time is not tried again by itself.",
            "kubectl get jobs -n CATALOG_NAMESPACE",
        ),
        _v0(
            "Is a ClusterServiceVersion Failed, Pending or Replacing? It blocks the whole namespace. "
            "minKubeVersion, a missing API or a missing permission keeps one Pending.",
            "kubectl get csv -n NAMESPACE -o custom-columns=NAME:.metadata.name,PHASE:.status.phase,"
            "REASON:.status.reason,MESSAGE:.status.message",
        ),
        _v0(
            "Does the operator forbid its own upgrade? Its OperatorCondition then says Upgradeable: False.",
            "kubectl get operatorcondition -n NAMESPACE -o yaml",
        ),
    ),
    "v1": (
        _v1(
            "Is it held by a pin, a selector, or its ServiceAccount's permissions?",
            "kubectl get clusterextension NAME -o jsonpath='{.spec}'",
        ),
    ),
}


def unseen(policy: ResolverName, *, is_explained: bool) -> Iterator[Check]:
    """What to look at; less where the catalog itself explains why nothing moves."""
    yield from _GROUNDS[policy]
    if not is_explained:
        yield from _OBSTACLES[policy]
