"""How the API server serves a CustomResourceDefinition: conversion, selection, pruning, approval."""

from __future__ import annotations

__all__ = ["crd_approval", "crd_conversion", "crd_preserve_unknown_fields", "crd_selectable_fields"]

from collections.abc import Iterator
from typing import Any, Final

from everpath.manifest_access import FieldPath, as_string, items_at, string_at, value_at
from everpath.model.bundle_contents import BundleFolder
from everpath.rules.bundle.crds import Crd, crds
from everpath.rules.bundle.kubernetes_names import dns_label, dns_subdomain, request_uri
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_folder_rule

_Fault = tuple[FieldPath, str, str]

_APPROVAL: Final = "api-approved.kubernetes.io"
_REVIEWS: Final = frozenset({"v1", "v1beta1"})
_MOST_SELECTABLE: Final = 8
_PORTS: Final = range(1, 65536)


@bundle_folder_rule("EP646", "crd-conversion", Severity.ERROR, "crd", "opm")
def crd_conversion(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CRD that is converted by a webhook says where it is and which reviews it takes; any other says
    neither.

    The API server refuses the CRD otherwise. Cost: one look at each CRD.
    """
    for crd in crds(bundle):
        if isinstance(value_at(crd.spec, "conversion"), dict):
            for way, message, fix in _conversion_faults(crd):
                yield crd.flaw(("conversion", *way), message, fix)


def _conversion_faults(crd: Crd) -> Iterator[_Fault]:
    conversion = value_at(crd.spec, "conversion")
    strategy = string_at(conversion, "strategy")
    at: FieldPath = () if crd.is_old else ("webhook",)
    client_at: FieldPath = ("webhookClientConfig",) if crd.is_old else ("webhook", "clientConfig")
    client, versions_at = value_at(conversion, *client_at), (*at, "conversionReviewVersions")
    versions = [as_string(v) for _, v in items_at(conversion, *versions_at)]
    if strategy not in ("None", "Webhook"):
        message = (
            f"its conversion has the strategy {strategy!r}" if strategy else "its conversion has no strategy"
        )
        yield ("strategy",), message, "write None or Webhook"
    if strategy == "Webhook":
        if crd.is_old and value_at(crd.spec, "preserveUnknownFields") is not False:
            message = "it is converted by a webhook and keeps unknown fields"
            yield ("strategy",), message, "set spec.preserveUnknownFields: false"
        yield from _client_faults(client, client_at)
        yield from _review_faults(versions or (["v1beta1"] if crd.is_old else []), versions_at)
        return
    if client is not None:
        yield (
            client_at,
            "it names a webhook and is not converted by one",
            "set strategy: Webhook, or remove it",
        )
    if versions:
        message = "it names versions of reviews and is not converted by a webhook"
        yield versions_at, message, "set strategy: Webhook, or remove them"


def _client_faults(client: Any, at: FieldPath) -> Iterator[_Fault]:
    if client is None:
        yield at, "it does not say where its webhook is", "add clientConfig"
        return
    url, service = value_at(client, "url"), value_at(client, "service")
    if (url is None) == (service is None):
        yield at, "its webhook is at a url or at a service, one of the two", "keep one"
    elif url is not None:
        yield from _url_faults(as_string(url), (*at, "url"))
    else:
        yield from _service_faults(service, (*at, "service"))


def _url_faults(url: str, at: FieldPath) -> Iterator[_Fault]:
    address = url.removeprefix("https://")
    if address == url or not address.partition("/")[0] or any(mark in address for mark in "@#?"):
        yield (
            at,
            f"the url of its webhook is {url!r}",
            "write https://host/path, without user, query or fragment",
        )


def _service_faults(service: Any, at: FieldPath) -> Iterator[_Fault]:
    for key in ("name", "namespace"):
        if not string_at(service, key):
            yield (*at, key), f"the service of its webhook has no {key}", f"add {key}"
    port = value_at(service, "port")
    if port is not None and port not in _PORTS:
        yield (*at, "port"), f"the service of its webhook is at port {port}", "write a port from 1 to 65535"
    path = string_at(service, "path")
    if path not in ("", "/") and not _is_path(path):
        yield (*at, "path"), f"the path of its webhook is {path!r}", "write /path, of lower case names"


def _is_path(path: str) -> bool:
    steps = path[1:].removesuffix("/").split("/")
    return path.startswith("/") and all(dns_subdomain(step) is None for step in steps)


def _review_faults(versions: list[str], at: FieldPath) -> Iterator[_Fault]:
    if not versions:
        yield at, "it does not say which reviews its webhook takes", "add conversionReviewVersions: [v1]"
        return
    for i, version in enumerate(versions):
        if version in versions[:i]:
            yield (*at, i), f"it names the review {version} twice", "remove one"
        elif fault := dns_label(version):
            yield (*at, i), f"{version!r} is no version of reviews: {fault}", "write v1"
    if _REVIEWS.isdisjoint(versions):
        yield at, "its webhook takes no reviews that there are", "add v1"


@bundle_folder_rule("EP649", "crd-selectable-fields", Severity.ERROR, "crd", "opm")
def crd_selectable_fields(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CRD selects by at most eight fields, each with a path of its own into spec or status.

    The API server refuses the CRD otherwise. That the schema has the field is not checked. Cost: one look
    each.
    """
    for crd in crds(bundle):
        schema = ("validation",) if crd.is_old else ("schema", "openAPIV3Schema")
        for way, holder in [((), crd.spec)] if crd.is_old else crd.versions:
            paths = [string_at(item, "jsonPath") for _, item in items_at(holder, "selectableFields")]
            if paths and not isinstance(value_at(holder, *schema), dict):
                message = "it selects by fields of a schema it does not have"
                yield crd.flaw((*way, "selectableFields"), message, "add the schema")
            for at, message, fix in _selectable_faults(paths):
                yield crd.flaw((*way, "selectableFields", *at), message, fix)


def _selectable_faults(paths: list[str]) -> Iterator[_Fault]:
    for i, path in enumerate(paths):
        if not path.startswith(".") or "[" in path:
            yield (i,), f"it selects by {path!r}", "write a path such as .spec.host"
        elif path.startswith(".metadata"):
            yield (i,), f"it selects by {path}, which is part of metadata", "remove it"
        elif path in paths[:i]:
            yield (i,), f"it selects by {path} twice", "remove one"
    if len(set(paths)) > _MOST_SELECTABLE:
        yield (), f"it selects by {len(set(paths))} fields", f"keep {_MOST_SELECTABLE} of them"


@bundle_folder_rule("EP650", "crd-preserve-unknown-fields", Severity.ERROR, "crd", "opm")
def crd_preserve_unknown_fields(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CRD does not keep unknown fields for all of its objects.

    The API server takes no new CRD with spec.preserveUnknownFields: true, which is what v1beta1 means where
    nothing is written. Cost: one look-up a CRD.
    """
    for crd in crds(bundle):
        kept = value_at(crd.spec, "preserveUnknownFields")
        if kept is True or (kept is None and crd.is_old):
            yield crd.flaw(
                ("preserveUnknownFields",),
                "it keeps unknown fields" if kept else "it keeps unknown fields, as v1beta1 does unless told",
                "set it to false; x-kubernetes-preserve-unknown-fields in the schema keeps single ones",
            )


@bundle_folder_rule("EP651", "crd-approval", Severity.ERROR, "crd", "opm")
def crd_approval(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CRD of a group of Kubernetes' own has its approval on record.

    Groups that end in .k8s.io or .kubernetes.io are protected: the API server asks for the annotation
    api-approved.kubernetes.io, with an address or with `unapproved` and a reason. Cost: one look-up a CRD.
    """
    for crd in crds(bundle):
        if not f".{crd.string_at('group')}".endswith((".k8s.io", ".kubernetes.io")):
            continue
        stated = as_string(crd.manifest.annotations.get(_APPROVAL))
        is_address = "://" in stated and request_uri(stated) is None
        if not is_address and not stated.startswith("unapproved"):
            what = f"{_APPROVAL} is {stated!r}" if stated else f"it has no annotation {_APPROVAL}"
            yield Flaw(
                crd.manifest.place.at("metadata", "annotations", _APPROVAL),
                f"CRD {crd.name}: its group is protected, and {what}",
                because=("the API server refuses the CRD",),
                fix="use a group of your own, or write the address of the approval, or unapproved and why",
            )
