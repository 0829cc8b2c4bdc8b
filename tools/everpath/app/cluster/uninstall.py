"""Delete an operator, its custom resources first."""

from __future__ import annotations

__all__ = ["uninstall"]

from collections.abc import Callable

from everpath.errors import UsageError
from everpath.olm.follow import Clock
from everpath.olm.objects import Cluster
from everpath.olm.snapshot import observe
from everpath.olm.uninstall import (
    UninstallPlan,
    UninstallResult,
    UninstallScope,
    execute_uninstall,
    plan_uninstall,
)


def uninstall(
    cluster: Cluster,
    package: str,
    clock: Clock | None,
    scope: UninstallScope,
    *,
    on_plan: Callable[[UninstallPlan], None] = lambda _: None,
    log: Callable[[str], None] = lambda _: None,
) -> UninstallResult:
    """Delete the objects of an operator in stages, and wait until they are gone.

    Without a clock nothing is deleted. `on_plan` is called with the plan before the first deletion; an
    exception that it raises ends the uninstall. Raises UsageError if another operator needs an object.
    """
    if scope.crds and not scope.custom_resources:
        raise UsageError(
            "--delete-crds and --keep-custom-resources exclude each other",
            hint="Kubernetes deletes custom resources with their CustomResourceDefinition",
        )
    plan = plan_uninstall(cluster, observe(cluster, package, cluster.namespace), scope)
    on_plan(plan)
    if clock is None:
        return UninstallResult(plan)
    return execute_uninstall(cluster, plan, clock, log)
