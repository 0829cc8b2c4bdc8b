"""Subscriptions for real OLM, and the upgrade paths that `everpath simulate` predicts for them."""

from __future__ import annotations

__all__ = [
    "CATALOG",
    "PACKAGE",
    "PredictedPaths",
    "SubscriptionCase",
    "create_subscription",
    "delete_namespace",
    "subscription_path",
    "switch_channel",
]

import io
import json
import re
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Final

from everpath.cli.entry_point import run
from tests.e2e.servers.api import Api, Object
from tests.e2e.servers.olm_v0 import GLOBAL_NAMESPACE, GROUP
from tests.support.commandline import ROOT

CATALOG: Final = ROOT / "catalog"
PACKAGE: Final = "searchkeeper"

_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@dataclass(frozen=True, slots=True)
class SubscriptionCase:
    """A Subscription in its own namespace. At the end of its upgrade path it changes to `next_channel`."""

    catalog: str
    channel: str
    starting_csv: str | None = None
    approval: str = "Automatic"
    next_channel: str | None = None

    @property
    def namespace(self) -> str:
        switch = self.next_channel and f"then {self.next_channel}"
        parts = (self.catalog, self.channel, self.starting_csv or "fresh", switch, self.approval)
        text = " ".join(part for part in parts if part)
        return re.sub(r"[^a-z0-9]+", "-", text.replace(f"{PACKAGE}.v", "").lower())


class PredictedPaths:
    """The upgrade paths that `everpath simulate` predicts for OLM v0 with the catalog of searchkeeper."""

    def __init__(self) -> None:
        self._rows_by_options: dict[tuple[str, ...], list[Object]] = {}

    def path(self, case: SubscriptionCase) -> list[str]:
        """Return all CSVs that OLM installs, in order."""
        return self.paths_by_channel(case)[-1]

    def paths_by_channel(self, case: SubscriptionCase) -> list[list[str]]:
        """Return the path to the change of the channel, if there is one, and the path to the end."""
        options = ("--starting-csv", case.starting_csv) if case.starting_csv else ("--fresh",)
        path = self._path(options, case.channel, None)
        if case.next_channel is None:
            return [path]
        return [path, path + self._path(("--switch",), case.next_channel, path[-1])]

    def _path(self, options: tuple[str, ...], channel: str, installed: str | None) -> list[str]:
        for row in self._rows(*options):
            if row["channel"] == channel and row["installed"] == installed:
                return list(row["hops"])
        raise LookupError(f"everpath simulate {' '.join(options)} has no row for {installed} in {channel}")

    def _rows(self, *options: str) -> list[Object]:
        if options not in self._rows_by_options:
            output = io.StringIO()
            with redirect_stdout(output):
                code = run(["simulate", str(CATALOG), "--policy", "v0", *options, "-o", "json"])
            assert code == 0, output.getvalue()
            self._rows_by_options[options] = json.loads(output.getvalue())["paths"]
        return self._rows_by_options[options]


def create_subscription(api: Api, case: SubscriptionCase) -> None:
    """Create the namespace, an OperatorGroup that targets only this namespace, and the Subscription.

    The OperatorGroups must not overlap: OLM allows only one CSV to own an API in their target namespaces.
    """
    namespace = case.namespace
    api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    group = {
        "apiVersion": "operators.coreos.com/v1",
        "kind": "OperatorGroup",
        "metadata": {"name": "own"},
        "spec": {"targetNamespaces": [namespace]},
    }
    api.create(f"{GROUP}/v1/namespaces/{namespace}/operatorgroups", group)
    path, _, name = subscription_path(namespace).rpartition("/")
    subscription = {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "Subscription",
        "metadata": {"name": name},
        "spec": {
            "name": PACKAGE,
            "channel": case.channel,
            "source": case.catalog,
            "sourceNamespace": GLOBAL_NAMESPACE,
            "installPlanApproval": case.approval,
            **({"startingCSV": case.starting_csv} if case.starting_csv else {}),
        },
    }
    api.create(path, subscription)


def switch_channel(api: Api, case: SubscriptionCase) -> None:
    """Change the channel of the Subscription, as a user does with `kubectl edit`."""
    api.patch(subscription_path(case.namespace), {"spec": {"channel": case.next_channel}})


def delete_namespace(api: Api, case: SubscriptionCase) -> None:
    """Delete the namespace, its Operator object, and the label of that operator on shared CRDs.

    As long as a CRD has the label, OLM creates the Operator object again.
    """
    api.delete(f"/api/v1/namespaces/{case.namespace}")
    operator = f"{PACKAGE}.{case.namespace}"
    label = f"operators.coreos.com/{operator}"
    for crd in api.items(f"{_CRDS}?labelSelector={label.replace('/', '%2F')}"):
        api.patch(f"{_CRDS}/{crd['metadata']['name']}", {"metadata": {"labels": {label: None}}})
    api.delete(f"{GROUP}/v1/operators/{operator}")


def subscription_path(namespace: str) -> str:
    return f"{GROUP}/v1alpha1/namespaces/{namespace}/subscriptions/{PACKAGE}"
