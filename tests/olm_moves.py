"""What OLM does to a cluster, as steps for tests that follow it."""

from __future__ import annotations

__all__ = ["connects", "installs", "plans", "removes", "succeeds"]

from collections.abc import Callable

from clusters import NS, PKG, Kept, csv, deployment, plan, pod
from everpath.olm.objects import (
    CATALOG_SOURCE,
    CSV,
    DEPLOYMENT,
    INSTALL_PLAN,
    POD,
    SUBSCRIPTION,
    Kind,
    Ref,
)

Step = Callable[[], None]


def _changed(kept: Kept, kind: Kind, name: str, **status: object) -> None:
    ref = Ref(kind, NS, name)
    there = kept.get(ref)
    assert there is not None
    there["status"] = there.get("status", {}) | status
    kept.put(kind, there)


def connects(kept: Kept) -> Step:
    return lambda: _changed(
        kept, CATALOG_SOURCE, "op-catalog", connectionState={"lastObservedState": "READY"}
    )


def plans(kept: Kept, name: str, *installs: str, manual: bool = False) -> Step:
    """OLM resolves the Subscription and makes a plan."""

    def step() -> None:
        phase = "RequiresApproval" if manual else "Installing"
        kept.put(INSTALL_PLAN, plan(phase, *installs, name=name, approved=not manual))
        _changed(
            kept,
            SUBSCRIPTION,
            PKG,
            currentCSV=installs[0],
            state="UpgradePending",
            installPlanRef={"name": name, "namespace": NS},
        )

    return step


def installs(kept: Kept, name: str, version: str, replaces: str = "") -> Step:
    """OLM carries the plan out, if it is approved."""

    def step() -> None:
        there = kept.get(Ref(INSTALL_PLAN, NS, name))
        assert there is not None
        assert there["spec"]["approved"], "nobody approved the plan"
        _changed(kept, INSTALL_PLAN, name, phase="Complete")
        kept.put(CSV, csv(version, "Installing", replaces=replaces))
        if replaces:
            _changed(kept, CSV, replaces, phase="Replacing")
        kept.put(DEPLOYMENT, deployment(0))
        kept.put(POD, pod(phase="Pending"))
        _changed(kept, SUBSCRIPTION, PKG, installedCSV=version, state="AtLatestKnown")

    return step


def succeeds(kept: Kept, version: str, replaces: str = "") -> Step:
    def step() -> None:
        _changed(kept, CSV, version, phase="Succeeded")
        kept.put(DEPLOYMENT, deployment(1))
        kept.put(POD, pod())
        kept.things.pop(Ref(CSV, NS, replaces), None)

    return step


def removes(kept: Kept, ref: Ref) -> Step:
    """Whoever has a finalizer on it lets go."""

    def step() -> None:
        del kept.things[ref]

    return step
