"""Subscriptions that real OLM follows, and what `everpath simulate` says of each."""

from __future__ import annotations

__all__ = ["CATALOG", "PACKAGE", "Journey", "Roads", "begin", "end", "subscription", "switch"]

import io
import json
import re
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Final

from commandline import ROOT
from e2e.servers.api import Api, Object
from e2e.servers.olm_v0 import GLOBAL_NAMESPACE, GROUP
from everpath.cli.app import run

CATALOG: Final = ROOT / "catalog"
PACKAGE: Final = "searchkeeper"

_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@dataclass(frozen=True, slots=True)
class Journey:
    """One Subscription in a namespace of its own. `then` is the channel that it changes to at its end."""

    catalog: str
    channel: str
    starting: str | None = None
    approval: str = "Automatic"
    then: str | None = None

    @property
    def namespace(self) -> str:
        words = (self.catalog, self.channel, self.starting or "fresh", self.then and f"then {self.then}")
        told = " ".join(word for word in (*words, self.approval) if word)
        return re.sub(r"[^a-z0-9]+", "-", told.replace(f"{PACKAGE}.v", "").lower())


class Roads:
    """What `everpath simulate` predicts of OLM v0 with our own catalog."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, ...], list[Object]] = {}

    def of(self, journey: Journey) -> list[str]:
        """Everything that is installed, one after the other."""
        return self.legs(journey)[-1]

    def legs(self, journey: Journey) -> list[list[str]]:
        """The same until the channel is changed, if it is, and until the end."""
        asked = ("--starting-csv", journey.starting) if journey.starting else ("--fresh",)
        path = self._path(asked, journey.channel, None)
        if journey.then is None:
            return [path]
        return [path, path + self._path(("--switch",), journey.then, path[-1])]

    def _path(self, asked: tuple[str, ...], channel: str, installed: str | None) -> list[str]:
        for row in self._rows(*asked):
            if row["channel"] == channel and row["installed"] == installed:
                return list(row["path"])
        raise LookupError(f"everpath simulate {' '.join(asked)} says nothing of {installed} in {channel}")

    def _rows(self, *asked: str) -> list[Object]:
        if asked not in self._asked:
            said = io.StringIO()
            with redirect_stdout(said):
                code = run(["simulate", str(CATALOG), "--policy", "v0", *asked, "-o", "json"])
            assert code == 0, said.getvalue()
            self._asked[asked] = json.loads(said.getvalue())["rows"]
        return self._asked[asked]


def begin(api: Api, journey: Journey) -> None:
    """Makes the namespace, an OperatorGroup for itself alone, and the Subscription.

    The OperatorGroups must not overlap: OLM lets one CSV own an API where its groups reach.
    """
    namespace = journey.namespace
    api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    group = {
        "apiVersion": "operators.coreos.com/v1",
        "kind": "OperatorGroup",
        "metadata": {"name": "own"},
        "spec": {"targetNamespaces": [namespace]},
    }
    api.create(f"{GROUP}/v1/namespaces/{namespace}/operatorgroups", group)
    path, _, name = subscription(namespace).rpartition("/")
    made = {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "Subscription",
        "metadata": {"name": name},
        "spec": {
            "name": PACKAGE,
            "channel": journey.channel,
            "source": journey.catalog,
            "sourceNamespace": GLOBAL_NAMESPACE,
            "installPlanApproval": journey.approval,
            **({"startingCSV": journey.starting} if journey.starting else {}),
        },
    }
    api.create(path, made)


def switch(api: Api, journey: Journey) -> None:
    """Changes the channel of a Subscription, as somebody does with `kubectl edit`."""
    api.patch(subscription(journey.namespace), {"spec": {"channel": journey.then}})


def end(api: Api, journey: Journey) -> None:
    """Deletes the namespace, and the marks of what it had on definitions that others have too.

    With a mark left, OLM would go on keeping an account of the operator that is gone.
    """
    api.delete(f"/api/v1/namespaces/{journey.namespace}")
    operator = f"{PACKAGE}.{journey.namespace}"
    mark = f"operators.coreos.com/{operator}"
    for found in api.items(f"{_CRDS}?labelSelector={mark.replace('/', '%2F')}"):
        api.patch(f"{_CRDS}/{found['metadata']['name']}", {"metadata": {"labels": {mark: None}}})
    api.delete(f"{GROUP}/v1/operators/{operator}")


def subscription(namespace: str) -> str:
    return f"{GROUP}/v1alpha1/namespaces/{namespace}/subscriptions/{PACKAGE}"
