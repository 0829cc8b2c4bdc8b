"""The operator's webhooks as a ClusterServiceVersion states them (`spec.webhookdefinitions`).

OLM applies no webhook configuration of a bundle: it makes them itself, with a Service and a certificate, from
these definitions. They are derived as operator-sdk does it: the Service that a webhook names leads to the
deployment that its selector finds, and says which port of it answers.
"""

from __future__ import annotations

__all__ = ["webhook_definitions", "webhook_services"]

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from everpath.bundlegen.operator_manifests import Operator
from everpath.errors import UnreadableInput
from everpath.manifest_access import mapping, mappings, text
from everpath.model.bundle_contents import Manifest

Json = dict[str, Any]

_TYPES: Final[Mapping[str, str]] = {
    "ValidatingWebhookConfiguration": "ValidatingAdmissionWebhook",
    "MutatingWebhookConfiguration": "MutatingAdmissionWebhook",
}
#: What OLM has a word for. It selects namespaces itself, by the install mode.
_KEPT: Final = (
    "rules",
    "failurePolicy",
    "matchPolicy",
    "objectSelector",
    "sideEffects",
    "timeoutSeconds",
    "admissionReviewVersions",
    "reinvocationPolicy",
)
#: Where the API server calls a Service if nothing else is said.
_PORT: Final = 443


class _Called(NamedTuple):
    """Where a webhook is called."""

    service: str
    port: int
    path: str


def webhook_services(operator: Operator) -> frozenset[str]:
    """The Services that webhooks are called by: OLM makes them."""
    configs = [mapping(webhook, "clientConfig") for _, webhook in _admission(operator)]
    configs += [mapping(conversion, "clientConfig") for _, conversion in _conversions(operator)]
    return frozenset(filter(None, (text(mapping(config, "service"), "name") for config in configs)))


def webhook_definitions(operator: Operator) -> list[Json]:
    """Every webhook of the manifests, and those of the base that they do not speak of."""
    made = [*_of_admission(operator), *_of_conversion(operator)]
    known = {(item["type"], item["generateName"]) for item in made}
    base = mappings(operator.base.spec, "webhookdefinitions")
    kept = [dict(item) for item in base if (item.get("type"), item.get("generateName")) not in known]
    return sorted([*made, *kept], key=lambda item: (str(item.get("type")), str(item.get("generateName"))))


def _admission(operator: Operator) -> Iterator[tuple[Manifest, Mapping[str, Any]]]:
    for configuration in operator.webhooks:
        for webhook in mappings(configuration.body, "webhooks"):
            yield configuration, webhook


def _conversions(operator: Operator) -> Iterator[tuple[Manifest, Mapping[str, Any]]]:
    for crd in operator.crds:
        conversion = mapping(crd.spec, "conversion")
        if conversion.get("strategy") == "Webhook":
            yield crd, mapping(conversion, "webhook")


def _of_admission(operator: Operator) -> Iterator[Json]:
    for configuration, webhook in _admission(operator):
        called = _called(configuration, webhook)
        yield {
            "type": _TYPES[configuration.kind],
            "generateName": text(webhook, "name"),
            **_answered(operator, called),
            **{key: webhook[key] for key in _KEPT if key in webhook},
        }


def _of_conversion(operator: Operator) -> Iterator[Json]:
    """One for all CRDs that are converted at one place."""
    places: dict[_Called, list[tuple[Manifest, Mapping[str, Any]]]] = {}
    for crd, webhook in _conversions(operator):
        if mapping(webhook, "clientConfig"):
            places.setdefault(_called(crd, webhook), []).append((crd, webhook))
    for called, found in places.items():
        names = [crd.name for crd, _ in found]
        yield {
            "type": "ConversionWebhook",
            "generateName": f"c{''.join(name.partition('.')[0] for name in names)}.kb.io",
            **_answered(operator, called),
            "sideEffects": "None",
            "admissionReviewVersions": found[0][1].get("conversionReviewVersions") or ["v1"],
            "conversionCRDs": names,
        }


def _called(manifest: Manifest, webhook: Mapping[str, Any]) -> _Called:
    service = mapping(webhook, "clientConfig", "service")
    if not text(service, "name"):
        raise UnreadableInput(
            f"{manifest.place.file}: a webhook of {manifest.kind} {manifest.name} is called by no Service",
            hint="OLM serves webhooks of the operator's own deployments: leave others out of the bundle",
            file=manifest.place.file,
        )
    port = service.get("port")
    return _Called(text(service, "name"), port if isinstance(port, int) else _PORT, text(service, "path"))


def _answered(operator: Operator, called: _Called) -> Json:
    """Which deployment answers, and where."""
    service = next((m for m in operator.others if (m.kind, m.name) == ("Service", called.service)), None)
    ports = mappings(service.spec, "ports") if service else []
    port = next((port for port in ports if port.get("port") == called.port), {})
    found: Json = {"deploymentName": _deployment(operator, called, service), "containerPort": called.port}
    found |= {"targetPort": port["targetPort"]} if port.get("targetPort") else {}
    return found | ({"webhookPath": called.path} if called.path else {})


def _deployment(operator: Operator, called: _Called, service: Manifest | None) -> str:
    """The one that the Service selects; without a Service the only one, or the one it is named after."""
    selector = mapping(service.spec, "selector").items() if service else ()
    for deployment in operator.deployments if selector else ():
        labels = mapping(deployment.spec, "template", "metadata", "labels")
        if all(labels.get(key) == value for key, value in selector):
            return deployment.name
    if len(operator.deployments) == 1:
        return operator.deployments[0].name
    return called.service.removesuffix("-service")
