"""The webhook definitions of a ClusterServiceVersion (`spec.webhookdefinitions`).

OLM does not apply webhook configurations of a bundle. It creates them itself, with a Service and a
certificate, from these definitions. They are derived as in operator-sdk: the selector of the Service that a
webhook names finds the deployment, and the Service maps the port.
"""

from __future__ import annotations

__all__ = ["webhook_definitions", "webhook_services"]

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from everpath.bundlegen.operator_manifests import OperatorManifests
from everpath.errors import UnreadableInput
from everpath.manifest_access import mapping, mappings, text
from everpath.model.bundle_contents import Manifest

Json = dict[str, Any]

_TYPES: Final[Mapping[str, str]] = {
    "ValidatingWebhookConfiguration": "ValidatingAdmissionWebhook",
    "MutatingWebhookConfiguration": "MutatingAdmissionWebhook",
}
#: Fields that a webhook definition of OLM has, too. OLM selects namespaces by the install mode.
_COPIED_FIELDS: Final = (
    "rules",
    "failurePolicy",
    "matchPolicy",
    "objectSelector",
    "sideEffects",
    "timeoutSeconds",
    "admissionReviewVersions",
    "reinvocationPolicy",
)
#: The port of a Service that the API server calls by default.
_DEFAULT_PORT: Final = 443


class _Endpoint(NamedTuple):
    """Where the API server calls a webhook."""

    service: str
    port: int
    path: str


def webhook_services(operator: OperatorManifests) -> frozenset[str]:
    """The names of the Services that webhooks use. OLM creates these Services."""
    webhooks = [webhook for _, webhook in (*_admission_webhooks(operator), *_conversion_webhooks(operator))]
    services = (mapping(webhook, "clientConfig", "service") for webhook in webhooks)
    return frozenset(filter(None, (text(service, "name") for service in services)))


def webhook_definitions(operator: OperatorManifests) -> list[Json]:
    """The definitions of all webhooks in the manifests, and those of the base CSV for other webhooks."""
    derived = [*_admission_definitions(operator), *_conversion_definitions(operator)]
    known = {(item["type"], item["generateName"]) for item in derived}
    base = mappings(operator.base.spec, "webhookdefinitions")
    others = [dict(item) for item in base if (text(item, "type"), text(item, "generateName")) not in known]
    return sorted(
        [*derived, *others], key=lambda item: (str(item.get("type")), str(item.get("generateName")))
    )


def _admission_webhooks(operator: OperatorManifests) -> Iterator[tuple[Manifest, Mapping[str, Any]]]:
    for configuration in operator.webhooks:
        for webhook in mappings(configuration.body, "webhooks"):
            yield configuration, webhook


def _conversion_webhooks(operator: OperatorManifests) -> Iterator[tuple[Manifest, Mapping[str, Any]]]:
    for crd in operator.crds:
        conversion = mapping(crd.spec, "conversion")
        if conversion.get("strategy") == "Webhook":
            yield crd, mapping(conversion, "webhook")


def _admission_definitions(operator: OperatorManifests) -> Iterator[Json]:
    for configuration, webhook in _admission_webhooks(operator):
        endpoint = _endpoint(configuration, webhook)
        yield {
            "type": _TYPES[configuration.kind],
            "generateName": text(webhook, "name"),
            **_endpoint_fields(operator, endpoint),
            **{key: webhook[key] for key in _COPIED_FIELDS if key in webhook},
        }


def _conversion_definitions(operator: OperatorManifests) -> Iterator[Json]:
    """One definition for all CRDs with the same endpoint."""
    by_endpoint: dict[_Endpoint, list[tuple[Manifest, Mapping[str, Any]]]] = {}
    for crd, webhook in _conversion_webhooks(operator):
        if mapping(webhook, "clientConfig"):
            by_endpoint.setdefault(_endpoint(crd, webhook), []).append((crd, webhook))
    for endpoint, webhooks in by_endpoint.items():
        names = [crd.name for crd, _ in webhooks]
        yield {
            "type": "ConversionWebhook",
            "generateName": f"c{''.join(name.partition('.')[0] for name in names)}.kb.io",
            **_endpoint_fields(operator, endpoint),
            "sideEffects": "None",
            "admissionReviewVersions": webhooks[0][1].get("conversionReviewVersions") or ["v1"],
            "conversionCRDs": names,
        }


def _endpoint(manifest: Manifest, webhook: Mapping[str, Any]) -> _Endpoint:
    service = mapping(webhook, "clientConfig", "service")
    if not text(service, "name"):
        raise UnreadableInput(
            f"{manifest.place.file}: a webhook of {manifest.kind} {manifest.name} has no Service",
            hint="OLM only supports webhooks that a deployment of the operator serves; remove others",
            file=manifest.place.file,
        )
    port = service.get("port")
    port = port if isinstance(port, int) else _DEFAULT_PORT
    return _Endpoint(text(service, "name"), port, text(service, "path"))


def _endpoint_fields(operator: OperatorManifests, endpoint: _Endpoint) -> Json:
    """The fields of a definition that say which deployment serves the webhook, and where."""
    service = next((m for m in operator.others if (m.kind, m.name) == ("Service", endpoint.service)), None)
    ports = mappings(service.spec, "ports") if service else []
    target_port = next((port for port in ports if port.get("port") == endpoint.port), {}).get("targetPort")
    fields: Json = {
        "deploymentName": _deployment_name(operator, endpoint, service),
        "containerPort": endpoint.port,
    }
    if target_port:
        fields["targetPort"] = target_port
    if endpoint.path:
        fields["webhookPath"] = endpoint.path
    return fields


def _deployment_name(operator: OperatorManifests, endpoint: _Endpoint, service: Manifest | None) -> str:
    """The deployment that the Service selects, else the only one, else the name without `-service`."""
    selector = mapping(service.spec, "selector").items() if service else ()
    for deployment in operator.deployments if selector else ():
        labels = mapping(deployment.spec, "template", "metadata", "labels")
        if all(labels.get(key) == value for key, value in selector):
            return deployment.name
    if len(operator.deployments) == 1:
        return operator.deployments[0].name
    return endpoint.service.removesuffix("-service")
