"""Webhooks of the manifests become definitions of the CSV: OLM applies no webhook configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from everpath.errors import UnreadableInput
from everpath.model.bundle_contents import Manifest
from operators import base, crd, csv, deployment, files, manifest

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


def labelled(name: str, app: str) -> Manifest:
    made = deployment(name)
    made.body["spec"]["template"]["metadata"] = {"labels": {"app": app, "more": "x"}}
    return made


def test_a_webhook_is_served_by_the_deployment_that_its_service_selects() -> None:
    made = files(configuration(), service(), labelled("proxy", "proxy"), labelled("acme", "acme"))
    assert made["manifests/acme.clusterserviceversion.yaml"]["spec"]["webhookdefinitions"] == [
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


def test_neither_the_configuration_nor_its_service_is_in_the_bundle() -> None:
    made = files(configuration(), service(), service("metrics"), labelled("acme", "acme"))
    assert sorted(made) == [
        "manifests/acme.clusterserviceversion.yaml",
        "manifests/metrics_service.yaml",
        "metadata/annotations.yaml",
    ]


def test_what_only_has_the_name_of_a_webhook_s_service_is_in_the_bundle() -> None:
    namesake = manifest("ConfigMap", "webhook-service")
    assert any("configmap" in path for path in files(configuration(), service(), deployment(), namesake))


def test_the_port_of_the_call_finds_the_port_of_the_service() -> None:
    client = {"service": {"name": "webhook-service", "port": 8443}}
    made = csv(configuration("Mutating", clientConfig=client, reinvocationPolicy="Never"), service(port=8443))
    found = made["spec"]["webhookdefinitions"][0]
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
def test_without_the_service_it_is_the_only_deployment_or_the_service_s_namesake(
    deployments: tuple[Manifest, ...], name: str
) -> None:
    found = csv(configuration(), *deployments)["spec"]["webhookdefinitions"][0]
    assert found["deploymentName"] == name
    assert "targetPort" not in found


def converted(kind: str, versions: Sequence[str] = ("v1",), path: str = "/convert") -> Manifest:
    made = crd(kind)
    client = {"service": {"name": "webhook-service", "namespace": "system", "path": path}}
    made.body["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": list(versions)},
    }
    return made


def test_crds_that_are_converted_at_one_place_share_a_webhook() -> None:
    made = csv(converted("Widget"), converted("Gadget"), crd("Plain"), service(), labelled("acme", "acme"))
    assert made["spec"]["webhookdefinitions"] == [
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


def test_what_the_base_says_of_other_webhooks_stands() -> None:
    stated = {"type": "ValidatingAdmissionWebhook", "generateName": "vother.kb.io", "deploymentName": "acme"}
    old = {**stated, "generateName": "vwidget.kb.io", "deploymentName": "gone"}
    made = csv(base(webhookdefinitions=[old, stated]), configuration(), deployment())
    found = {item["generateName"]: item["deploymentName"] for item in made["spec"]["webhookdefinitions"]}
    assert found == {"vother.kb.io": "acme", "vwidget.kb.io": "acme"}


def test_an_operator_without_webhooks_states_none() -> None:
    assert "webhookdefinitions" not in csv(deployment())["spec"]


def test_a_webhook_that_is_called_by_url_is_refused() -> None:
    client = {"url": "https://example.com/validate"}
    with pytest.raises(UnreadableInput, match="is called by no Service") as caught:
        csv(configuration(clientConfig=client), deployment())
    assert "leave others out" in (caught.value.hint or "")
    assert caught.value.file == "ValidatingWebhookConfiguration-validating-webhook-configuration.yaml"


def test_whatever_olm_has_a_word_for_is_kept_and_nothing_else() -> None:
    said: dict[str, Any] = {
        "matchPolicy": "Exact",
        "objectSelector": {"matchLabels": {"a": "b"}},
        "timeoutSeconds": 7,
    }
    unsaid: dict[str, Any] = {"namespaceSelector": {}, "matchConditions": []}
    found = csv(configuration(**said, **unsaid), deployment())["spec"]["webhookdefinitions"][0]
    assert found.items() >= said.items()
    assert found.keys().isdisjoint(unsaid)


def test_every_webhook_of_every_configuration_is_stated_in_order_of_type_and_name() -> None:
    several = configuration()
    webhook = several.body["webhooks"][0]
    several.body["webhooks"][:] = [{**webhook, "name": name} for name in ("z.io", "b.io")]
    kept = {"type": "ValidatingAdmissionWebhook", "generateName": "m.io", "deploymentName": "acme"}
    made = csv(
        base(webhookdefinitions=[kept]),
        several,
        configuration("Mutating"),
        converted("Widget"),
        converted("Gadget", path="/convert-gadget"),
        deployment(),
    )
    assert [(w["type"], w["generateName"]) for w in made["spec"]["webhookdefinitions"]] == [
        ("ConversionWebhook", "cgadgets.kb.io"),
        ("ConversionWebhook", "cwidgets.kb.io"),
        ("MutatingAdmissionWebhook", "mwidget.kb.io"),
        ("ValidatingAdmissionWebhook", "b.io"),
        ("ValidatingAdmissionWebhook", "m.io"),
        ("ValidatingAdmissionWebhook", "z.io"),
    ]


def test_the_service_of_a_conversion_is_not_in_the_bundle() -> None:
    made = files(converted("Widget"), service(), deployment())
    assert "manifests/webhook-service_service.yaml" not in made


@pytest.mark.parametrize("conversion", [{"strategy": "Webhook"}, {"strategy": "None"}])
def test_a_definition_that_no_webhook_converts_states_none(conversion: dict[str, str]) -> None:
    plain = crd("Widget")
    left = {} if conversion["strategy"] == "Webhook" else converted("Widget").spec["conversion"]
    plain.body["spec"]["conversion"] = {**left, **conversion}
    assert "webhookdefinitions" not in csv(plain, deployment())["spec"]


def test_a_conversion_is_asked_in_the_versions_of_the_first_definition_or_in_v1() -> None:
    made = csv(converted("Widget", ["v1"]), converted("Gadget", ["v1beta1", "v1"]), deployment())
    assert made["spec"]["webhookdefinitions"][0]["admissionReviewVersions"] == ["v1beta1", "v1"]
    made = csv(converted("Widget", []), deployment())
    assert made["spec"]["webhookdefinitions"][0]["admissionReviewVersions"] == ["v1"]


def test_the_service_that_is_called_is_told_from_others_by_kind_and_name() -> None:
    others = (manifest("ConfigMap", "webhook-service"), service("a-service", "proxy", 8443))
    made = csv(configuration(), *others, service(), labelled("proxy", "proxy"), labelled("zoe", "acme"))
    found = made["spec"]["webhookdefinitions"][0]
    assert (found["deploymentName"], found["targetPort"]) == ("zoe", 9443)


def test_a_deployment_must_have_all_labels_that_are_selected() -> None:
    called = service()
    called.body["spec"]["selector"]["more"] = "x"
    made = csv(configuration(), called, labelled("a", "proxy"), labelled("z", "acme"))
    assert made["spec"]["webhookdefinitions"][0]["deploymentName"] == "z"
