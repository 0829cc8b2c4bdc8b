"""Every call and its answers. `make conformance` asks opm the same, and thousands more."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from registries import Ask, Failed, asked
from serving_here import Running

THING = {"group": "example.com", "version": "v1", "kind": "Thing"}


def one(registry: Running, method: str, **fields: str) -> Any:
    answer = asked(registry.channel, Ask(method, fields))
    assert not isinstance(answer, Failed), answer
    return answer[0]


def many(registry: Running, method: str, **fields: str) -> list[Any]:
    answer = asked(registry.channel, Ask(method, fields))
    assert not isinstance(answer, Failed), answer
    return answer


def refused(registry: Running, method: str, **fields: str) -> str:
    answer = asked(registry.channel, Ask(method, fields))
    assert isinstance(answer, Failed)
    assert answer.code == "UNKNOWN"
    return answer.words


def entries(found: list[Any]) -> list[tuple[str, str, str, str]]:
    return [(e.packageName, e.channelName, e.bundleName, e.replaces) for e in found]


def test_packages_come_in_order_of_name(registry: Running) -> None:
    assert [package.name for package in many(registry, "ListPackages")] == ["inline", "op"]


def test_a_package_has_its_channels_in_order_with_their_heads_and_deprecations(registry: Running) -> None:
    package = one(registry, "GetPackage", name="op")
    heads = [(channel.name, channel.csvName, channel.deprecation.message) for channel in package.channels]
    assert heads == [("alpha", "op.v1.1.0", "use stable"), ("stable", "op.v1.2.0", "")]
    assert package.defaultChannelName == "stable"
    assert package.deprecation.message == "use inline"
    assert not package.channels[1].HasField("deprecation")


def test_bundles_come_by_channel_then_package_with_their_edges(registry: Running) -> None:
    bundles = many(registry, "ListBundles")
    assert [(b.channelName, b.csvName) for b in bundles] == [
        ("alpha", "op.v1.0.0"),
        ("alpha", "op.v1.1.0"),
        ("stable", "inline.v1.0.0"),
        ("stable", "op.v1.0.0"),
        ("stable", "op.v1.1.0"),
        ("stable", "op.v1.2.0"),
    ]
    head = bundles[-1]
    assert (head.replaces, list(head.skips)) == ("op.v1.1.0", ["op.v1.0.0", "op.v0.9.0"])
    assert (head.skipRange, head.version, head.bundlePath) == ("<1.2.0", "1.2.0", "quay.io/example/op:1.2.0")
    assert bundles[0].deprecation.message == "use 1.2.0"


def test_only_bundles_without_an_image_are_listed_with_their_manifests(registry: Running) -> None:
    bundles = many(registry, "ListBundles")
    assert [b.csvName for b in bundles if b.csvJson or b.object] == ["inline.v1.0.0"]
    (inline,) = (b for b in bundles if b.csvJson)
    assert [json.loads(text)["kind"] for text in inline.object] == ["Service", "ClusterServiceVersion"]
    assert inline.csvJson == inline.object[1]


def test_a_bundle_by_itself_has_manifests_and_no_edges(registry: Running) -> None:
    bundle = one(registry, "GetBundle", pkgName="op", channelName="stable", csvName="op.v1.2.0")
    assert (bundle.replaces, list(bundle.skips)) == ("", [])
    assert list(bundle.object) == [bundle.csvJson]
    csv = json.loads(bundle.csvJson)
    assert csv["metadata"] == {"name": "op.v1.2.0"}
    assert csv["spec"]["displayName"] == "Op & more"
    assert csv["spec"]["description"] == "of the package"
    assert csv["spec"]["icon"] == [{"base64data": "PHN2Zz4=", "mediatype": "image/svg+xml"}]
    assert "Op \\u0026 more" in bundle.csvJson


def test_properties_and_dependencies_are_spelled_as_opm_spells_them(registry: Running) -> None:
    bundle = one(registry, "GetBundle", pkgName="op", channelName="stable", csvName="op.v1.2.0")
    assert [(p.type, p.value) for p in bundle.properties] == [
        ("olm.package", '{"packageName":"op","version":"1.2.0"}'),
        ("olm.gvk", '{"group":"example.com","kind":"Thing","version":"v1"}'),
        ("olm.package.required", '{"packageName":"inline","versionRange":">=1.0.0"}'),
    ]
    assert [(d.type, d.value) for d in bundle.dependencies] == [
        ("olm.package", '{"packageName":"inline","version":">=1.0.0"}')
    ]
    assert [(a.group, a.version, a.kind, a.plural) for a in bundle.providedApis] == [
        ("example.com", "v1", "Thing", "")
    ]


def test_the_bundle_of_a_channel_is_its_head(registry: Running) -> None:
    assert one(registry, "GetBundleForChannel", pkgName="op", channelName="alpha").csvName == "op.v1.1.0"


def test_of_two_that_replace_one_it_is_the_one_olm_would_go_to(registry: Running) -> None:
    """op.v1.2.0 skips op.v1.0.0 and is nearer to the head than op.v1.1.0, which replaces it."""
    where = {"pkgName": "op", "channelName": "stable"}
    assert one(registry, "GetBundleThatReplaces", csvName="op.v1.0.0", **where).csvName == "op.v1.2.0"
    assert one(registry, "GetBundleThatReplaces", csvName="op.v0.9.0", **where).csvName == "op.v1.2.0"


def test_entries_that_skip_say_what_they_replace(registry: Running) -> None:
    assert entries(many(registry, "GetChannelEntriesThatReplace", csvName="op.v1.0.0")) == [
        ("op", "alpha", "op.v1.1.0", "op.v1.0.0"),
        ("op", "stable", "op.v1.1.0", "op.v1.0.0"),
        ("op", "stable", "op.v1.2.0", "op.v1.1.0"),
    ]


def test_providers_come_once_for_each_edge(registry: Running) -> None:
    assert entries(many(registry, "GetChannelEntriesThatProvide", **THING)) == [
        ("op", "alpha", "op.v1.1.0", "op.v1.0.0"),
        ("op", "stable", "op.v1.1.0", "op.v1.0.0"),
        ("op", "stable", "op.v1.2.0", "op.v1.1.0"),
        ("op", "stable", "op.v1.2.0", "op.v1.0.0"),
        ("op", "stable", "op.v1.2.0", "op.v0.9.0"),
    ]


def test_the_latest_providers_are_heads_and_their_edges_within_the_channel(registry: Running) -> None:
    assert entries(many(registry, "GetLatestChannelEntriesThatProvide", **THING)) == [
        ("op", "alpha", "op.v1.1.0", "op.v1.0.0"),
        ("op", "stable", "op.v1.2.0", "op.v1.1.0"),
        ("op", "stable", "op.v1.2.0", "op.v1.0.0"),
    ]


def test_the_default_provider_is_the_head_of_a_default_channel(registry: Running) -> None:
    bundle = one(registry, "GetDefaultBundleThatProvides", plural="ignored", **THING)
    assert (bundle.channelName, bundle.csvName) == ("stable", "op.v1.2.0")


@pytest.mark.parametrize(
    ("method", "fields", "words"),
    [
        ("GetPackage", {"name": 'n"o'}, 'package "n\\"o" not found'),
        ("GetPackage", {}, 'package "" not found'),
        ("GetBundle", {"pkgName": "no"}, 'package "no" not found'),
        ("GetBundle", {"pkgName": "op", "channelName": "no"}, 'package "op", channel "no" not found'),
        (
            "GetBundle",
            {"pkgName": "op", "channelName": "stable", "csvName": "no"},
            'package "op", channel "stable", bundle "no" not found',
        ),
        ("GetBundleForChannel", {"pkgName": "no"}, 'package "no" not found'),
        ("GetBundleForChannel", {"pkgName": "op"}, 'package "op", channel "" not found'),
        ("GetBundleThatReplaces", {"pkgName": 'n"o'}, 'package n"o not found'),
        ("GetBundleThatReplaces", {"pkgName": "op"}, 'package "op", channel "" not found'),
        (
            "GetBundleThatReplaces",
            {"pkgName": "op", "channelName": "stable", "csvName": "op.v1.2.0"},
            'no entry found for package "op", channel "stable"',
        ),
        ("GetChannelEntriesThatReplace", {"csvName": "no"}, "no channel entries found that replace no"),
        (
            "GetChannelEntriesThatProvide",
            {"group": "g"},
            'no channel entries found that provide group:"g" version:"" kind:""',
        ),
        (
            "GetLatestChannelEntriesThatProvide",
            {"kind": "K"},
            'no channel entries found that provide group:"" version:"" kind:"K"',
        ),
        (
            "GetDefaultBundleThatProvides",
            {"version": "v"},
            'no channel entries found that provide group:"" version:"v" kind:""',
        ),
    ],
)
def test_what_is_not_there_is_told_in_opms_words(
    registry: Running, method: str, fields: dict[str, str], words: str
) -> None:
    assert refused(registry, method, **fields) == words


def experimental(registry: Running, acknowledged: str = "true", **fields: str) -> list[Any] | Failed:
    metadata = (("x-acknowledge-experimental", acknowledged),)
    return asked(registry.channel, Ask("ExperimentalListPackageCustomSchemas", fields, metadata))


def test_custom_documents_are_for_those_who_know_what_they_ask_for(registry: Running) -> None:
    wanted = {"schema": "com.example.note", "packageName": "op"}
    answer = experimental(registry, **wanted)
    assert isinstance(answer, list)
    assert dict(answer[0]) == {
        "schema": "com.example.note",
        "package": "op",
        "name": "a",
        "lines": answer[0]["lines"],
    }
    assert list(answer[0]["lines"]) == ["one", 2.0, None]
    assert experimental(registry, "yes", **wanted) == []
    assert experimental(registry, schema="com.example.note") == []


def test_custom_documents_want_a_schema(registry: Running) -> None:
    assert experimental(registry) == Failed("INVALID_ARGUMENT", "schema is required")
    answer = experimental(registry, schema="../x")
    assert isinstance(answer, Failed)
    assert (answer.code, "must match" in answer.words) == ("INVALID_ARGUMENT", True)


@pytest.mark.parametrize("service", ["", "Registry", "api.Registry", "anything", "everpath.catalog"])
def test_whoever_asks_is_told_that_it_serves(registry: Running, service: str) -> None:
    health: Any = health_pb2_grpc.HealthStub(registry.channel)
    answer = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=60)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_it_says_what_it_has_to_whoever_reflects(registry: Running) -> None:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(registry.channel)
    questions = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="api.Registry"),
    ]
    listed, described = stub.ServerReflectionInfo(iter(questions), timeout=60)
    assert {service.name for service in listed.list_services_response.service} >= {
        "api.Registry",
        "api.ExperimentalRegistry",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
    }
    assert b"ListBundles" in described.file_descriptor_response.file_descriptor_proto[0]


def test_newer_clients_reflect_under_the_newer_name(registry: Running) -> None:
    call: Any = registry.channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    (answer,) = call(iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=60)
    assert answer.list_services_response.service


def test_what_is_no_message_is_refused(registry: Running) -> None:
    call: Any = registry.channel.unary_unary("/api.Registry/GetPackage")
    with pytest.raises(grpc.RpcError):
        call(b"\xff\xff\xff", timeout=60)
    assert one(registry, "GetPackage", name="op").name == "op"
