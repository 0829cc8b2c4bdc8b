"""States of a cluster that block an upgrade and are not visible in a catalog, with commands to check them."""

from __future__ import annotations

__all__ = ["ClusterCheck", "cluster_checks"]

from collections.abc import Iterator
from typing import Final, NamedTuple

from everpath.resolvers import ResolverName


class ClusterCheck(NamedTuple):
    """A question about the cluster, and the command that answers it."""

    resolver: ResolverName
    question: str
    command: str


def _v0(question: str, command: str) -> ClusterCheck:
    return ClusterCheck("v0", question, command)


def _v1(question: str, command: str) -> ClusterCheck:
    return ClusterCheck("v1", question, command)


#: Assumptions of the explanation.
_ASSUMPTIONS: Final = {
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
            "What is installed, and what are the conditions of the ClusterExtension?",
            "kubectl get clusterextension NAME -o jsonpath='{.status.install.bundle} {.status.conditions}'",
        ),
        _v1(
            "Does every ClusterCatalog serve this version? One that does not blocks all.",
            "kubectl get clustercatalog",
        ),
    ),
}

#: What blocks an upgrade that the catalog allows, in the order of OLM's steps.
_BLOCKERS: Final = {
    "v0": (
        _v0(
            "Did resolution fail? One broken channel, catalog or constraint blocks every Subscription of the "
            "namespace, whatever its package.",
            "kubectl get subscription -n NAMESPACE -o jsonpath='{range .items[*]}{.metadata.name}: "
            '{.status.conditions[?(@.type=="ResolutionFailed")].message}{"\\n"}{end}\'',
        ),
        _v0(
            "Has the namespace exactly one OperatorGroup? Otherwise OLM resolves nothing.",
            "kubectl get operatorgroup -n NAMESPACE",
        ),
        _v0(
            "Does an InstallPlan wait for approval? One Subscription with installPlanApproval: Manual makes "
            "that of the whole namespace wait.",
            "kubectl get installplan -n NAMESPACE",
        ),
        _v0(
            "Was the bundle unpacked? A job that exceeded its deadline is not retried.",
            "kubectl get jobs -n CATALOG_NAMESPACE",
        ),
        _v0(
            "Is a ClusterServiceVersion Failed, Pending or Replacing? It blocks the whole namespace. "
            "minKubeVersion, a missing API or a missing permission keeps one Pending.",
            "kubectl get csv -n NAMESPACE -o custom-columns=NAME:.metadata.name,PHASE:.status.phase,"
            "REASON:.status.reason,MESSAGE:.status.message",
        ),
        _v0(
            "Does the operator block its upgrade? Its OperatorCondition then has Upgradeable: False.",
            "kubectl get operatorcondition -n NAMESPACE -o yaml",
        ),
    ),
    "v1": (
        _v1(
            "Is it blocked by a pinned version, a selector, or missing permissions of its ServiceAccount?",
            "kubectl get clusterextension NAME -o jsonpath='{.spec}'",
        ),
    ),
}


def cluster_checks(resolver: ResolverName, *, is_explained: bool) -> Iterator[ClusterCheck]:
    """Yield the checks; only the assumptions if the catalog explains why there is no upgrade."""
    yield from _ASSUMPTIONS[resolver]
    if not is_explained:
        yield from _BLOCKERS[resolver]
