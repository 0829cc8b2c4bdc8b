"""Recommendations of the validator good-practices."""

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
_CHANNEL_PREFIXES: Final = ("candidate", "fast", "stable")
_VERSION: Final = re.compile(
    r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+)?$"
)
_CREATE_VERBS: Final = frozenset({"create", "patch", "*", "[*]"})
_CRD_RESOURCES: Final = frozenset({"customresourcedefinitions", "*", "[*]"})


@bundle_folder_rule("EP671", "no-requests", Severity.WARNING, _PRACTICES)
def no_requests(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every container of a deployment requests CPU and memory.

    Without requests it is evicted first, and a namespace with a ResourceQuota rejects it. If only one of the
    two is missing, it is a note. Cost: one test a container.
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
                    f"the operator is evicted first: the container {string_at(container, 'name')} "
                    f"requests no {' and no '.join(missing)}",
                    because=("a namespace with a ResourceQuota rejects the pod",),
                    fix="add resources.requests with cpu and memory",
                    severity=None if requests is None else Severity.NOTE,
                )


@bundle_folder_rule("EP672", "crd-description", Severity.WARNING, _PRACTICES)
def crd_description(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every CRD that a CSV owns or requires has a description.

    Consoles show the description beside the API. Cost: one test a CRD.
    """
    if bundle.csv is None:
        return
    for relation in ("owned", "required"):
        way = ("spec", "customresourcedefinitions", relation)
        for i, crd in items_at(bundle.csv.body, *way):
            if not string_at(crd, "description"):
                message = f"consoles do not describe the {relation} CRD {string_at(crd, 'name')}"
                because = ("it has no description in the CSV",)
                yield Flaw(bundle.csv.place.at(*way, i), message, because, fix="add a description")


@bundle_folder_rule("EP673", "channel-convention", Severity.WARNING, _PRACTICES)
def channel_convention(bundle: BundleFolder) -> Iterator[Flaw]:
    """The names of channels start with candidate, fast or stable.

    Users conclude from the name how stable a release is. Cost: one test a channel.
    """
    annotations, place = bundle.contents.annotations or {}, bundle.contents.annotations_place
    stated = [*as_string(annotations.get(_CHANNELS)).split(","), as_string(annotations.get(_DEFAULT))]
    names = dict.fromkeys(name.strip() for name in stated)
    others = [name for name in names if name and not name.startswith(_CHANNEL_PREFIXES)]
    if others and place is not None:
        yield Flaw(
            place.at("annotations", _CHANNELS),
            f"users cannot see how stable a release is in {join_names(others)}",
            because=("by convention, the name of a channel starts with candidate, fast or stable",),
            fix="follow it in new channels; a rename strands the users of a channel",
        )


@bundle_folder_rule("EP674", "creates-crds", Severity.WARNING, _PRACTICES)
def creates_crds(bundle: BundleFolder) -> Iterator[Flaw]:
    """An operator has no permission to create CustomResourceDefinitions.

    OLM installs, validates and upgrades the CRDs of a bundle, but not those that an operator creates.
    Cost: one test an RBAC rule.
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
                if "apiextensions.k8s.io" in groups and resources & _CRD_RESOURCES and verbs & _CREATE_VERBS:
                    yield Flaw(
                        bundle.csv.place.at(*way, i, "rules", j),
                        "OLM does not manage CRDs that the operator creates, and the CSV permits it to",
                        because=("OLM validates and upgrades only the CRDs of a bundle",),
                        fix="add the CRDs to the bundle, or depend on the operator that owns them",
                    )
                    return


@bundle_folder_rule("EP675", "csv-name-convention", Severity.WARNING, _PRACTICES)
def csv_name_convention(bundle: BundleFolder) -> Iterator[Flaw]:
    """The name of a CSV is NAME.vVERSION.

    Users and pipelines read the version from the name. Cost: one match.
    """
    if bundle.csv is None:
        return
    name = bundle.name or ""
    found = _VERSION.search(name)
    has_version = found is not None and parse_or_none(found[0]) is not None
    if not has_version or name.count(".v") != 1:
        yield Flaw(
            bundle.csv.place.at("metadata", "name"),
            f"pipelines cannot read the version from the name {name}: it is not NAME.vVERSION",
            because=("a version is MAJOR.MINOR.PATCH, such as 0.0.1",) if not has_version else (),
            fix="follow the convention in the next release; do not rename a published one",
            names_entry=True,
        )


@bundle_folder_rule("EP676", "no-deployment", Severity.ERROR, _PRACTICES)
def no_deployment(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has a deployment.

    Without one OLM installs CRDs, but no operator. Cost: one look-up.
    """
    if bundle.csv is not None and value_at(bundle.csv.body, *_DEPLOYMENTS) is None:
        yield Flaw(
            bundle.csv.place.at(*_DEPLOYMENTS),
            "OLM installs no operator: the CSV has no deployment",
            because=("CRDs have no effect without an operator",),
            fix="add the Deployment of the operator to spec.install.spec.deployments",
        )
