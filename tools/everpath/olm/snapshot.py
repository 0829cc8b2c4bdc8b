"""What a cluster says of one operator: every object of the chain, at about one moment."""

from __future__ import annotations

__all__ = ["Observed", "observe"]

from collections.abc import Iterable
from dataclasses import dataclass, replace

from everpath.olm.objects import (
    CATALOG_SOURCE,
    CSV,
    DEPLOYMENT,
    INSTALL_PLAN,
    OPERATOR_CONDITION,
    OPERATOR_GROUP,
    POD,
    SUBSCRIPTION,
    Cluster,
    Object,
    Ref,
    dig,
    items,
    labels,
    name_of,
    text,
)


@dataclass(frozen=True, slots=True)
class Observed:
    """The objects behind a package in a namespace.

    `csvs` are those of the namespace without copies, `plans` its InstallPlans, the oldest first; `condition`
    is that of the operator that runs, `pods` and `catalog_pods` those of the deployments and of the catalog.
    """

    package: str
    namespace: str
    groups: tuple[Object, ...] = ()
    catalog: Object | None = None
    catalog_pods: tuple[Object, ...] = ()
    subscriptions: tuple[Object, ...] = ()
    plans: tuple[Object, ...] = ()
    csvs: tuple[Object, ...] = ()
    deployments: tuple[Object, ...] = ()
    pods: tuple[Object, ...] = ()
    condition: Object | None = None

    @property
    def subscription(self) -> Object | None:
        return self.subscriptions[0] if self.subscriptions else None

    @property
    def installed(self) -> str:
        """The CSV that the Subscription says is installed, whatever its phase; empty if none is."""
        return text(self.subscription, "status", "installedCSV")

    @property
    def current(self) -> str:
        """The CSV that the Subscription goes to: what is installed, or the next."""
        return text(self.subscription, "status", "currentCSV") or self.installed

    @property
    def plan(self) -> Object | None:
        """The InstallPlan that the Subscription follows."""
        wanted = text(self.subscription, "status", "installPlanRef", "name")
        return next((plan for plan in self.plans if name_of(plan) == wanted), None) if wanted else None

    def csv(self, name: str) -> Object | None:
        return next((csv for csv in self.csvs if name_of(csv) == name), None)

    @property
    def newest(self) -> Object | None:
        """The CSV that OLM works on: the one it goes to if it is there, else what is installed."""
        return self.csv(self.current) or self.csv(self.installed)


def observe(cluster: Cluster, package: str, namespace: str) -> Observed:
    """Ask for each kind once. Cost: about ten requests, whatever is installed."""
    found = Observed(
        package,
        namespace,
        # Effects before causes: what a Subscription speaks of may be missing here, and is then called so.
        csvs=tuple(csv for csv in cluster.find(CSV, namespace) if "olm.copiedFrom" not in labels(csv)),
        plans=tuple(sorted(cluster.find(INSTALL_PLAN, namespace), key=_age)),
        subscriptions=tuple(
            one for one in cluster.find(SUBSCRIPTION, namespace) if text(one, "spec", "name") == package
        ),
        groups=tuple(cluster.find(OPERATOR_GROUP, namespace)),
    )
    return _with_catalog(cluster, _with_workload(cluster, found))


def _age(plan: Object) -> tuple[str, int, str]:
    generation = dig(plan, "spec", "generation")
    made = text(plan, "metadata", "creationTimestamp")
    return made, generation if isinstance(generation, int) else 0, name_of(plan)


def _with_workload(cluster: Cluster, found: Observed) -> Observed:
    csv = found.newest
    if csv is None:
        return found
    wanted = [text(one, "name") for one in items(csv, "spec", "install", "spec", "deployments")]
    deployments = [one for one in cluster.find(DEPLOYMENT, found.namespace) if name_of(one) in wanted]
    selectors = [dig(one, "spec", "selector", "matchLabels") or {} for one in deployments]
    pods = cluster.find(POD, found.namespace) if deployments else []
    return replace(
        found,
        deployments=tuple(deployments),
        pods=tuple(pod for pod in pods if _is_selected(pod, selectors)),
        condition=_condition(cluster, found),
    )


def _condition(cluster: Cluster, found: Observed) -> Object | None:
    """Of the operator that runs: OLM asks the one that is to be replaced."""
    running = found.installed
    replaced = text(found.csv(found.current), "spec", "replaces")
    if replaced and found.csv(replaced) is not None:
        running = replaced
    return cluster.get(Ref(OPERATOR_CONDITION, found.namespace, running)) if running else None


def _is_selected(pod: Object, selectors: Iterable[dict[str, str]]) -> bool:
    have = labels(pod).items()
    return any(selector and selector.items() <= have for selector in selectors)


def _with_catalog(cluster: Cluster, found: Observed) -> Observed:
    name = text(found.subscription, "spec", "source")
    where = text(found.subscription, "spec", "sourceNamespace") or found.namespace
    if not name:
        return found
    catalog = cluster.get(Ref(CATALOG_SOURCE, where, name))
    if catalog is None or text(catalog, "spec", "address"):
        return replace(found, catalog=catalog)
    pods = cluster.find(POD, where, f"olm.catalogSource={name}")
    return replace(found, catalog=catalog, catalog_pods=tuple(pods))
