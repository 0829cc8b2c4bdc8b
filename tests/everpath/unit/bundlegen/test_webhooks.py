"""Webhook configurations and conversions become webhook definitions of the CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from everpath.errors import UnreadableInput
from everpath.model.bundle_contents import Manifest
from tests.support.everpath.operator_projects import base, crd, csv, deployment, files, manifest

RULES = [{"apiGroups": ["acme.io"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["widgets"]}]


def configuration(kind: str = "Validating", **more: Any) -> Manifest:
    service = {"name": "webhook-service", "namespace": "system", "path": "/validate-widget"}
    webhook = {
        "name": f"{kind[0].lower()}widget.kb.io",
        "clientConfig": {"service": service},
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "rules": RULES,
        **more,
    }
    return manifest(
        f"{kind}WebhookConfiguration",
        f"{kind.lower()}-webhook-configuration",
        "admissionregistration.k8s.io/v1",
        webhooks=[webhook],
    )


def service(name: str = "webhook-service", app: str = "acme", port: int = 443) -> Manifest:
    ports = [{"port": 80, "targetPort": 8080}, {"port": port, "targetPort": 9443}]
    return manifest("Service", name, spec={"ports": ports, "selector": {"app": app}})


def labelled_deployment(name: str, app: str) -> Manifest:
    bundle = deployment(name)
    bundle.body["spec"]["template"]["metadata"] = {"labels": {"app": app, "more": "x"}}
    return bundle


def test_the_service_selects_the_deployment_of_a_webhook() -> None:
    bundle = files(
        configuration(), service(), labelled_deployment("proxy", "proxy"), labelled_deployment("acme", "acme")
    )
    assert bundle["manifests/acme.clusterserviceversion.yaml"]["spec"]["webhookdefinitions"] == [
        {
            "type": "ValidatingAdmissionWebhook",
            "generateName": "vwidget.kb.io",
            "deploymentName": "acme",
            "containerPort": 443,
            "targetPort": 9443,
            "webhookPath": "/validate-widget",
            "rules": RULES,
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
    ]


def test_webhook_configurations_and_their_services_are_not_in_the_bundle() -> None:
    bundle = files(configuration(), service(), service("metrics"), labelled_deployment("acme", "acme"))
    assert sorted(bundle) == [
        "manifests/acme.clusterserviceversion.yaml",
        "manifests/metrics_service.yaml",
        "metadata/annotations.yaml",
    ]


def test_another_object_with_the_name_of_the_service_is_in_the_bundle() -> None:
    namesake = manifest("ConfigMap", "webhook-service")
    assert any("configmap" in path for path in files(configuration(), service(), deployment(), namesake))


def test_the_port_of_the_webhook_selects_the_port_of_the_service() -> None:
    client = {"service": {"name": "webhook-service", "port": 8443}}
    bundle = csv(
        configuration("Mutating", clientConfig=client, reinvocationPolicy="Never"), service(port=8443)
    )
    found = bundle["spec"]["webhookdefinitions"][0]
    assert (found["type"], found["containerPort"], found["targetPort"]) == (
        "MutatingAdmissionWebhook",
        8443,
        9443,
    )
    assert found["reinvocationPolicy"] == "Never"
    assert "webhookPath" not in found


@pytest.mark.parametrize(
    ("deployments", "name"),
    [((deployment("only"),), "only"), ((deployment("one"), deployment("two")), "webhook")],
)
def test_without_the_service_the_only_or_the_equally_named_deployment_is_used(
    deployments: tuple[Manifest, ...], name: str
) -> None:
    found = csv(configuration(), *deployments)["spec"]["webhookdefinitions"][0]
    assert found["deploymentName"] == name
    assert "targetPort" not in found


def crd_with_conversion(kind: str, versions: Sequence[str] = ("v1",), path: str = "/convert") -> Manifest:
    bundle = crd(kind)
    client = {"service": {"name": "webhook-service", "namespace": "system", "path": path}}
    bundle.body["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": list(versions)},
    }
    return bundle


def test_crds_with_the_same_endpoint_share_a_conversion_webhook() -> None:
    bundle = csv(
        crd_with_conversion("Widget"),
        crd_with_conversion("Gadget"),
        crd("Plain"),
        service(),
        labelled_deployment("acme", "acme"),
    )
    assert bundle["spec"]["webhookdefinitions"] == [
        {
            "type": "ConversionWebhook",
            "generateName": "cgadgetswidgets.kb.io",
            "deploymentName": "acme",
            "containerPort": 443,
            "targetPort": 9443,
            "webhookPath": "/convert",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "conversionCRDs": ["gadgets.acme.io", "widgets.acme.io"],
        }
    ]


def test_other_webhook_definitions_of_the_base_are_kept() -> None:
    stated = {"type": "ValidatingAdmissionWebhook", "generateName": "vother.kb.io", "deploymentName": "acme"}
    old = {**stated, "generateName": "vwidget.kb.io", "deploymentName": "gone"}
    bundle = csv(base(webhookdefinitions=[old, stated]), configuration(), deployment())
    found = {item["generateName"]: item["deploymentName"] for item in bundle["spec"]["webhookdefinitions"]}
    assert found == {"vother.kb.io": "acme", "vwidget.kb.io": "acme"}


def test_an_operator_without_webhooks_has_no_webhook_definitions() -> None:
    assert "webhookdefinitions" not in csv(deployment())["spec"]


def test_a_webhook_with_a_url_is_refused() -> None:
    client = {"url": "https://example.com/validate"}
    with pytest.raises(UnreadableInput, match="has no Service") as caught:
        csv(configuration(clientConfig=client), deployment())
    assert "remove others" in (caught.value.hint or "")
    assert caught.value.file == "ValidatingWebhookConfiguration-validating-webhook-configuration.yaml"


def test_only_fields_that_olm_supports_are_copied() -> None:
    supported: dict[str, Any] = {
        "matchPolicy": "Exact",
        "objectSelector": {"matchLabels": {"a": "b"}},
        "timeoutSeconds": 7,
    }
    unsupported: dict[str, Any] = {"namespaceSelector": {}, "matchConditions": []}
    found = csv(configuration(**supported, **unsupported), deployment())["spec"]["webhookdefinitions"][0]
    assert found.items() >= supported.items()
    assert found.keys().isdisjoint(unsupported)


def test_webhook_definitions_are_sorted_by_type_and_name() -> None:
    several = configuration()
    webhook = several.body["webhooks"][0]
    several.body["webhooks"][:] = [{**webhook, "name": name} for name in ("z.io", "b.io")]
    kept = {"type": "ValidatingAdmissionWebhook", "generateName": "m.io", "deploymentName": "acme"}
    bundle = csv(
        base(webhookdefinitions=[kept]),
        several,
        configuration("Mutating"),
        crd_with_conversion("Widget"),
        crd_with_conversion("Gadget", path="/convert-gadget"),
        deployment(),
    )
    assert [(w["type"], w["generateName"]) for w in bundle["spec"]["webhookdefinitions"]] == [
        ("ConversionWebhook", "cgadgets.kb.io"),
        ("ConversionWebhook", "cwidgets.kb.io"),
        ("MutatingAdmissionWebhook", "mwidget.kb.io"),
        ("ValidatingAdmissionWebhook", "b.io"),
        ("ValidatingAdmissionWebhook", "m.io"),
        ("ValidatingAdmissionWebhook", "z.io"),
    ]


def test_the_service_of_a_conversion_webhook_is_not_in_the_bundle() -> None:
    bundle = files(crd_with_conversion("Widget"), service(), deployment())
    assert "manifests/webhook-service_service.yaml" not in bundle


@pytest.mark.parametrize("conversion", [{"strategy": "Webhook"}, {"strategy": "None"}])
def test_a_crd_without_a_conversion_webhook_has_no_webhook_definition(conversion: dict[str, str]) -> None:
    plain = crd("Widget")
    left = {} if conversion["strategy"] == "Webhook" else crd_with_conversion("Widget").spec["conversion"]
    plain.body["spec"]["conversion"] = {**left, **conversion}
    assert "webhookdefinitions" not in csv(plain, deployment())["spec"]


def test_review_versions_of_a_conversion_are_those_of_the_first_crd_or_v1() -> None:
    bundle = csv(
        crd_with_conversion("Widget", ["v1"]), crd_with_conversion("Gadget", ["v1beta1", "v1"]), deployment()
    )
    assert bundle["spec"]["webhookdefinitions"][0]["admissionReviewVersions"] == ["v1beta1", "v1"]
    bundle = csv(crd_with_conversion("Widget", []), deployment())
    assert bundle["spec"]["webhookdefinitions"][0]["admissionReviewVersions"] == ["v1"]


def test_the_service_is_found_by_kind_and_name() -> None:
    others = (manifest("ConfigMap", "webhook-service"), service("a-service", "proxy", 8443))
    bundle = csv(
        configuration(),
        *others,
        service(),
        labelled_deployment("proxy", "proxy"),
        labelled_deployment("zoe", "acme"),
    )
    found = bundle["spec"]["webhookdefinitions"][0]
    assert (found["deploymentName"], found["targetPort"]) == ("zoe", 9443)


def test_a_deployment_must_have_all_selected_labels() -> None:
    called = service()
    called.body["spec"]["selector"]["more"] = "x"
    bundle = csv(configuration(), called, labelled_deployment("a", "proxy"), labelled_deployment("z", "acme"))
    assert bundle["spec"]["webhookdefinitions"][0]["deploymentName"] == "z"


@pytest.mark.parametrize("key", ["type", "generateName"])
def test_a_definition_of_the_base_whose_name_is_not_a_string_is_kept(key: str) -> None:
    item = {"type": "ValidatingAdmissionWebhook", "generateName": "other", key: {}}
    assert csv(base(webhookdefinitions=[item]))["spec"]["webhookdefinitions"] == [item]
