"""All objects of one operator on the cluster, read at about the same time."""

from __future__ import annotations

__all__ = ["OperatorSnapshot", "observe"]

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
    ObjectRef,
    labels,
    name_of,
    nested_list,
    nested_str,
    nested_value,
)


@dataclass(frozen=True, slots=True)
class OperatorSnapshot:
    """The objects of a package in a namespace.

    `csvs` excludes copied CSVs. `install_plans` is sorted by age, oldest first. `operator_condition` belongs
    to the running CSV.
    """

    package: str
    namespace: str
    operator_groups: tuple[Object, ...] = ()
    catalog_source: Object | None = None
    catalog_pods: tuple[Object, ...] = ()
    subscriptions: tuple[Object, ...] = ()
    install_plans: tuple[Object, ...] = ()
    csvs: tuple[Object, ...] = ()
    deployments: tuple[Object, ...] = ()
    pods: tuple[Object, ...] = ()
    operator_condition: Object | None = None

    @property
    def subscription(self) -> Object | None:
        return self.subscriptions[0] if self.subscriptions else None

    @property
    def installed_csv(self) -> str:
        """The name in `status.installedCSV`, whatever the phase of that CSV; empty if there is none."""
        return nested_str(self.subscription, "status", "installedCSV")

    @property
    def current_csv(self) -> str:
        """The name in `status.currentCSV`, the CSV that OLM installs next; else the installed one."""
        return nested_str(self.subscription, "status", "currentCSV") or self.installed_csv

    @property
    def install_plan(self) -> Object | None:
        """The InstallPlan that the Subscription refers to."""
        name = nested_str(self.subscription, "status", "installPlanRef", "name")
        return next((plan for plan in self.install_plans if name and name_of(plan) == name), None)

    @property
    def latest_csv(self) -> Object | None:
        """The current CSV if it exists, else the installed one."""
        return self.find_csv(self.current_csv) or self.find_csv(self.installed_csv)

    @property
    def running_csv(self) -> str:
        """The latest CSV if it has succeeded, else the one that it replaces if that is still running."""
        latest = self.latest_csv
        if latest is None:
            return ""
        if nested_str(latest, "status", "phase") == "Succeeded":
            return name_of(latest)
        replaced = nested_str(latest, "spec", "replaces")
        phase = nested_str(self.find_csv(replaced), "status", "phase")
        return replaced if replaced and phase in ("Succeeded", "Replacing") else ""

    def find_csv(self, name: str) -> Object | None:
        return next((csv for csv in self.csvs if name_of(csv) == name), None)


def observe(cluster: Cluster, package: str, namespace: str) -> OperatorSnapshot:
    """Read all objects of a package, with about ten requests."""
    # CSVs and InstallPlans are read before the Subscription that refers to them. One that is created in
    # between is reported as missing; one that was deleted is never reported as present.
    snapshot = OperatorSnapshot(
        package,
        namespace,
        csvs=tuple(
            csv for csv in cluster.list_objects(CSV, namespace) if "olm.copiedFrom" not in labels(csv)
        ),
        install_plans=tuple(sorted(cluster.list_objects(INSTALL_PLAN, namespace), key=_creation_order)),
        subscriptions=tuple(
            subscription
            for subscription in cluster.list_objects(SUBSCRIPTION, namespace)
            if nested_str(subscription, "spec", "name") == package
        ),
        operator_groups=tuple(cluster.list_objects(OPERATOR_GROUP, namespace)),
    )
    return _with_catalog_source(cluster, _with_workload(cluster, snapshot))


def _creation_order(plan: Object) -> tuple[str, int, str]:
    generation = nested_value(plan, "spec", "generation")
    created = nested_str(plan, "metadata", "creationTimestamp")
    return created, generation if isinstance(generation, int) else 0, name_of(plan)


def _with_workload(cluster: Cluster, snapshot: OperatorSnapshot) -> OperatorSnapshot:
    csv = snapshot.latest_csv
    if csv is None:
        return snapshot
    names = [nested_str(each, "name") for each in nested_list(csv, "spec", "install", "spec", "deployments")]
    deployments = [
        each for each in cluster.list_objects(DEPLOYMENT, snapshot.namespace) if name_of(each) in names
    ]
    selectors = [nested_value(each, "spec", "selector", "matchLabels") or {} for each in deployments]
    pods = cluster.list_objects(POD, snapshot.namespace) if deployments else []
    # During an upgrade OLM reads the OperatorCondition of the CSV that is to be replaced.
    replaced = nested_str(snapshot.find_csv(snapshot.current_csv), "spec", "replaces")
    running = replaced if replaced and snapshot.find_csv(replaced) else snapshot.installed_csv
    return replace(
        snapshot,
        deployments=tuple(deployments),
        pods=tuple(
            pod
            for pod in pods
            if any(selector and selector.items() <= labels(pod).items() for selector in selectors)
        ),
        operator_condition=(
            cluster.get(ObjectRef(OPERATOR_CONDITION, snapshot.namespace, running)) if running else None
        ),
    )


def _with_catalog_source(cluster: Cluster, snapshot: OperatorSnapshot) -> OperatorSnapshot:
    name = nested_str(snapshot.subscription, "spec", "source")
    namespace = nested_str(snapshot.subscription, "spec", "sourceNamespace") or snapshot.namespace
    if not name:
        return snapshot
    catalog = cluster.get(ObjectRef(CATALOG_SOURCE, namespace, name))
    if catalog is None or nested_str(catalog, "spec", "address"):
        return replace(snapshot, catalog_source=catalog)
    pods = cluster.list_objects(POD, namespace, f"olm.catalogSource={name}")
    return replace(snapshot, catalog_source=catalog, catalog_pods=tuple(pods))
