"""Good practices (validator good-practices): advice, not law."""

from __future__ import annotations

__all__ = [
    "channel_convention",
    "crd_description",
    "creates_crds",
    "csv_name_convention",
    "no_deployment",
    "no_requests",
]

import re
from collections.abc import Iterator
from typing import Final

from everpath.manifest_access import as_string, items_at, string_at, value_at
from everpath.model.bundle_contents import BundleFolder
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_folder_rule
from everpath.versions import parse_or_none
from everpath.wording import join_names

_PRACTICES: Final = "good-practices"
_DEPLOYMENTS: Final = ("spec", "install", "spec", "deployments")
_CHANNELS: Final = "operators.operatorframework.io.bundle.channels.v1"
_DEFAULT: Final = "operators.operatorframework.io.bundle.channel.default.v1"
_BEGINNINGS: Final = ("candidate", "fast", "stable")
_VERSION: Final = re.compile(
    r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+)?$"
)
_CREATING: Final = frozenset({"create", "patch", "*", "[*]"})
_DEFINITIONS: Final = frozenset({"customresourcedefinitions", "*", "[*]"})


@bundle_folder_rule("EP671", "no-requests", Severity.WARNING, _PRACTICES)
def no_requests(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every container of a deployment asks for processor time and memory.

    Without requests it is the first to be evicted, and clusters with quotas do not start it at all. If one of
    the two is there the other is only noted. Cost: one look at each container.
    """
    if bundle.csv is None:
        return
    for i, deployment in items_at(bundle.csv.body, *_DEPLOYMENTS):
        way = ("spec", "template", "spec", "containers")
        for j, container in items_at(deployment, *way):
            requests = value_at(container, "resources", "requests")
            stated = requests if isinstance(requests, dict) else {}
            missing = [key for key in ("cpu", "memory") if key not in stated]
            if missing:
                yield Flaw(
                    bundle.csv.place.at(*_DEPLOYMENTS, i, *way, j, "resources"),
                    f"the container {string_at(container, 'name')} requests no {' and no '.join(missing)}",
                    because=("a cluster with quotas does not start it, a full one evicts it first",),
                    fix="add resources.requests with cpu and memory",
                    severity=None if requests is None else Severity.NOTE,
                )


@bundle_folder_rule("EP672", "crd-description", Severity.WARNING, _PRACTICES)
def crd_description(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every CRD that a CSV owns or requires is described there.

    A console shows the description beside the API. Cost: one look at each.
    """
    if bundle.csv is None:
        return
    for relation in ("owned", "required"):
        way = ("spec", "customresourcedefinitions", relation)
        for i, crd in items_at(bundle.csv.body, *way):
            if not string_at(crd, "description"):
                message = f"the {relation} CRD {string_at(crd, 'name')} has no description"
                because = ("consoles show nothing beside the API",)
                yield Flaw(bundle.csv.place.at(*way, i), message, because, fix="add a description")


@bundle_folder_rule("EP673", "channel-convention", Severity.WARNING, _PRACTICES)
def channel_convention(bundle: BundleFolder) -> Iterator[Flaw]:
    """Channels begin with candidate, fast or stable.

    Users tell from the name how much a release has been tried. Cost: one look at each.
    """
    annotations, place = bundle.contents.annotations or {}, bundle.contents.annotations_place
    stated = [*as_string(annotations.get(_CHANNELS)).split(","), as_string(annotations.get(_DEFAULT))]
    names = dict.fromkeys(name.strip() for name in stated)
    others = [name for name in names if name and not name.startswith(_BEGINNINGS)]
    if others and place is not None:
        yield Flaw(
            place.at("annotations", _CHANNELS),
            f"{join_names(others)} {'says' if len(others) == 1 else 'say'} nothing of how stable "
            "a release is",
            because=(
                f"channels begin with {', '.join(_BEGINNINGS[:-1])} or {_BEGINNINGS[-1]}, by convention",
            ),
            fix="name new channels so; renaming one strands its users",
        )


@bundle_folder_rule("EP674", "creates-crds", Severity.WARNING, _PRACTICES)
def creates_crds(bundle: BundleFolder) -> Iterator[Flaw]:
    """An operator does not create CustomResourceDefinitions.

    OLM installs, upgrades and checks those of a bundle; of what an operator creates by itself it knows
    nothing. Cost: one look at each rule.
    """
    if bundle.csv is None:
        return
    for key in ("permissions", "clusterPermissions"):
        way = ("spec", "install", "spec", key)
        for i, permission in items_at(bundle.csv.body, *way):
            for j, rule in items_at(permission, "rules"):
                groups, resources, verbs = (
                    {as_string(item) for _, item in items_at(rule, field)}
                    for field in ("apiGroups", "resources", "verbs")
                )
                if "apiextensions.k8s.io" in groups and resources & _DEFINITIONS and verbs & _CREATING:
                    yield Flaw(
                        bundle.csv.place.at(*way, i, "rules", j),
                        "the CSV asks for the right to create CRDs",
                        because=("OLM cannot upgrade or check a CRD that an operator creates",),
                        fix="put the CRDs into the bundle, or depend on the operator that owns them",
                    )
                    return


@bundle_folder_rule("EP675", "csv-name-convention", Severity.WARNING, _PRACTICES)
def csv_name_convention(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV is called NAME.vVERSION.

    People and pipelines take the version from the name. Cost: one match.
    """
    if bundle.csv is None:
        return
    name = bundle.name or ""
    found = _VERSION.search(name)
    has_version = found is not None and parse_or_none(found[0]) is not None
    if not has_version or name.count(".v") != 1:
        yield Flaw(
            bundle.csv.place.at("metadata", "name"),
            f"{name} is not of the form NAME.vVERSION",
            because=("a version is MAJOR.MINOR.PATCH, such as 0.0.1",) if not has_version else (),
            fix="name the next release so; a published one keeps its name",
        )


@bundle_folder_rule("EP676", "no-deployment", Severity.ERROR, _PRACTICES)
def no_deployment(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV deploys something.

    A bundle without a deployment installs APIs that nobody serves. Cost: one look-up.
    """
    if bundle.csv is not None and value_at(bundle.csv.body, *_DEPLOYMENTS) is None:
        yield Flaw(
            bundle.csv.place.at(*_DEPLOYMENTS),
            "the CSV has no deployment",
            because=("nothing would run once it is installed",),
            fix="add the operator's Deployment under spec.install.spec.deployments",
        )
