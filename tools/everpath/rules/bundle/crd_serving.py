"""Rules for how the API server serves a CRD: conversion, selectable fields, pruning, approval."""

from __future__ import annotations

__all__ = ["crd_approval", "crd_conversion", "crd_preserve_unknown_fields", "crd_selectable_fields"]

from collections.abc import Iterator
from typing import Any, Final

from everpath.manifest_access import Pointer, as_string, items_at, string_at, value_at
from everpath.model.bundle_contents import BundleFolder
from everpath.rules.bundle.crds import Crd, crds
from everpath.rules.bundle.urls import url_error
from everpath.rules.findings import Flaw, Severity
from everpath.rules.kubernetes_names import rfc1035_label_error, subdomain_error
from everpath.rules.registry import bundle_folder_rule

_Fault = tuple[Pointer, str, str]

_APPROVAL: Final = "api-approved.kubernetes.io"
_REVIEW_VERSIONS: Final = frozenset({"v1", "v1beta1"})
_SELECTABLE_LIMIT: Final = 8
_PORTS: Final = range(1, 65536)


@bundle_folder_rule("EP646", "crd-conversion", Severity.ERROR, "crd", "opm")
def crd_conversion(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CRD has a conversion webhook with its review versions if, and only if, its strategy is Webhook.

    The API server rejects the CRD otherwise. Cost: one test a CRD.
    """
    for crd in crds(bundle):
        if isinstance(value_at(crd.spec, "conversion"), dict):
            for way, message, fix in _conversion_faults(crd):
                yield crd.flaw(("conversion", *way), message, fix)


def _conversion_faults(crd: Crd) -> Iterator[_Fault]:
    conversion = value_at(crd.spec, "conversion")
    strategy = string_at(conversion, "strategy")
    at: Pointer = () if crd.is_v1beta1 else ("webhook",)
    client_at: Pointer = ("webhookClientConfig",) if crd.is_v1beta1 else ("webhook", "clientConfig")
    client, versions_at = value_at(conversion, *client_at), (*at, "conversionReviewVersions")
    versions = [as_string(v) for _, v in items_at(conversion, *versions_at)]
    if strategy not in ("None", "Webhook"):
        message = (
            f"the conversion strategy {strategy!r} does not exist"
            if strategy
            else "its conversion has no strategy"
        )
        yield ("strategy",), message, "write None or Webhook"
    if strategy == "Webhook":
        if crd.is_v1beta1 and value_at(crd.spec, "preserveUnknownFields") is not False:
            message = "a conversion webhook requires preserveUnknownFields: false"
            yield ("strategy",), message, "set spec.preserveUnknownFields: false"
        yield from _client_faults(client, client_at)
        yield from _review_faults(versions or (["v1beta1"] if crd.is_v1beta1 else []), versions_at)
        return
    if client is not None:
        yield (
            client_at,
            "it has a conversion webhook, but another strategy",
            "set strategy: Webhook, or remove the webhook",
        )
    if versions:
        message = "it has conversionReviewVersions, but no conversion webhook"
        yield versions_at, message, "set strategy: Webhook, or remove conversionReviewVersions"


def _client_faults(client: Any, at: Pointer) -> Iterator[_Fault]:
    if client is None:
        yield at, "its conversion webhook has no clientConfig", "add clientConfig"
        return
    url, service = value_at(client, "url"), value_at(client, "service")
    if (url is None) == (service is None):
        yield at, "clientConfig must have either url or service", "keep one of the two"
    elif url is not None:
        yield from _url_faults(as_string(url), (*at, "url"))
    else:
        yield from _service_faults(service, (*at, "service"))


def _url_faults(url: str, at: Pointer) -> Iterator[_Fault]:
    address = url.removeprefix("https://")
    if address == url or not address.partition("/")[0] or any(mark in address for mark in "@#?"):
        yield (
            at,
            f"the webhook url {url!r} is invalid",
            "write https://host/path, without user, query or fragment",
        )


def _service_faults(service: Any, at: Pointer) -> Iterator[_Fault]:
    for key in ("name", "namespace"):
        if not string_at(service, key):
            yield (*at, key), f"the webhook service has no {key}", f"add {key}"
    port = value_at(service, "port")
    if port is not None and port not in _PORTS:
        yield (
            (*at, "port"),
            f"the port {port} of the webhook service is invalid",
            "write a port from 1 to 65535",
        )
    path = string_at(service, "path")
    steps = path[1:].removesuffix("/").split("/")
    is_path = path.startswith("/") and all(subdomain_error(step) is None for step in steps)
    if path not in ("", "/") and not is_path:
        yield (
            (*at, "path"),
            f"the path {path!r} of the webhook service is invalid",
            "write /PATH in lower case",
        )


def _review_faults(versions: list[str], at: Pointer) -> Iterator[_Fault]:
    if not versions:
        yield at, "it has no conversionReviewVersions", "add conversionReviewVersions: [v1]"
        return
    for i, version in enumerate(versions):
        if version in versions[:i]:
            yield (*at, i), f"the review version {version} is listed twice", "remove one of them"
        elif fault := rfc1035_label_error(version):
            yield (*at, i), f"the review version {version!r} is invalid: {fault}", "write v1"
    if _REVIEW_VERSIONS.isdisjoint(versions):
        yield at, "it has no review version that Kubernetes supports", "add v1"


@bundle_folder_rule("EP649", "crd-selectable-fields", Severity.ERROR, "crd", "opm")
def crd_selectable_fields(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CRD has at most eight selectable fields, each with a unique path outside of metadata.

    The API server rejects the CRD otherwise. Whether the schema has the field is not checked. Cost: one test
    a field.
    """
    for crd in crds(bundle):
        schema = ("validation",) if crd.is_v1beta1 else ("schema", "openAPIV3Schema")
        for way, holder in [((), crd.spec)] if crd.is_v1beta1 else crd.versions:
            paths = [string_at(item, "jsonPath") for _, item in items_at(holder, "selectableFields")]
            if paths and not isinstance(value_at(holder, *schema), dict):
                message = "it has selectableFields, but no schema"
                yield crd.flaw((*way, "selectableFields"), message, "add the schema")
            for at, message, fix in _selectable_faults(paths):
                yield crd.flaw((*way, "selectableFields", *at), message, fix)


def _selectable_faults(paths: list[str]) -> Iterator[_Fault]:
    for i, path in enumerate(paths):
        if not path.startswith(".") or "[" in path:
            yield (
                (i,),
                f"the selectable field {path!r} is not a simple path",
                "write a path such as .spec.host",
            )
        elif path.startswith(".metadata"):
            yield (i,), f"the selectable field {path} is in metadata", "remove it"
        elif path in paths[:i]:
            yield (i,), f"the selectable field {path} is listed twice", "remove one of them"
    if len(set(paths)) > _SELECTABLE_LIMIT:
        yield (
            (),
            f"it has {len(set(paths))} selectable fields, more than {_SELECTABLE_LIMIT}",
            f"keep at most {_SELECTABLE_LIMIT}",
        )


@bundle_folder_rule("EP650", "crd-preserve-unknown-fields", Severity.ERROR, "crd", "opm")
def crd_preserve_unknown_fields(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CRD does not have spec.preserveUnknownFields: true.

    The API server rejects a new CRD with it. In v1beta1 it is the default. Cost: one look-up a CRD.
    """
    for crd in crds(bundle):
        value = value_at(crd.spec, "preserveUnknownFields")
        if value is True or (value is None and crd.is_v1beta1):
            yield crd.flaw(
                ("preserveUnknownFields",),
                "preserveUnknownFields is true"
                if value
                else "preserveUnknownFields is true, the default of v1beta1",
                "set it to false; x-kubernetes-preserve-unknown-fields in the schema preserves single fields",
            )


@bundle_folder_rule("EP651", "crd-approval", Severity.ERROR, "crd", "opm")
def crd_approval(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CRD of a protected group has the annotation api-approved.kubernetes.io.

    Groups that end in .k8s.io or .kubernetes.io are protected. The API server requires the annotation, with a
    URL, or with `unapproved` and a reason. Cost: one look-up a CRD.
    """
    for crd in crds(bundle):
        if not f".{crd.string_at('group')}".endswith((".k8s.io", ".kubernetes.io")):
            continue
        stated = as_string(crd.manifest.annotations.get(_APPROVAL))
        is_address = "://" in stated and url_error(stated) is None
        if not is_address and not stated.startswith("unapproved"):
            problem = f"{_APPROVAL} is {stated!r}" if stated else f"it has no annotation {_APPROVAL}"
            yield Flaw(
                crd.manifest.place.at("metadata", "annotations", _APPROVAL),
                f"the API server rejects CRD {crd.name}: its group is protected, and {problem}",
                because=("groups below k8s.io and kubernetes.io need an approval",),
                fix="use a group that you own, or write the URL of the approval, or unapproved with a reason",
            )
