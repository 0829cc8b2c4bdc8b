"""Every call of the registry API. `make conformance` compares these calls and thousands more with opm."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tests.support.everpath.in_process_server import RunningServer
from tests.support.everpath.registry_api_client import Call, CallError, send_call

THING = {"group": "example.com", "version": "v1", "kind": "Thing"}


def get(registry: RunningServer, method: str, **fields: str) -> Any:
    return get_all(registry, method, **fields)[0]


def get_all(registry: RunningServer, method: str, **fields: str) -> list[Any]:
    answer = send_call(registry.channel, Call(method, fields))
    assert not isinstance(answer, CallError), answer
    return answer


def error_message(registry: RunningServer, method: str, **fields: str) -> str:
    answer = send_call(registry.channel, Call(method, fields))
    assert isinstance(answer, CallError)
    assert answer.code == "UNKNOWN"
    return answer.message


def entries(found: list[Any]) -> list[tuple[str, str, str, str]]:
    return [(e.packageName, e.channelName, e.bundleName, e.replaces) for e in found]


def test_packages_are_sorted_by_name(registry: RunningServer) -> None:
    assert [package.name for package in get_all(registry, "ListPackages")] == ["inline", "op"]


def test_a_package_has_sorted_channels_with_heads_and_deprecations(
    registry: RunningServer,
) -> None:
    package = get(registry, "GetPackage", name="op")
    heads = [(channel.name, channel.csvName, channel.deprecation.message) for channel in package.channels]
    assert heads == [("alpha", "op.v1.1.0", "use stable"), ("stable", "op.v1.2.0", "")]
    assert package.defaultChannelName == "stable"
    assert package.deprecation.message == "use inline"
    assert not package.channels[1].HasField("deprecation")


def test_bundles_are_sorted_by_channel_and_package_and_have_edges(registry: RunningServer) -> None:
    bundles = get_all(registry, "ListBundles")
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


def test_list_bundles_has_manifests_only_for_bundles_without_an_image(registry: RunningServer) -> None:
    bundles = get_all(registry, "ListBundles")
    assert [b.csvName for b in bundles if b.csvJson or b.object] == ["inline.v1.0.0"]
    (inline,) = (b for b in bundles if b.csvJson)
    assert [json.loads(text)["kind"] for text in inline.object] == ["Service", "ClusterServiceVersion"]
    assert inline.csvJson == inline.object[1]


def test_get_bundle_returns_manifests_and_no_edges(registry: RunningServer) -> None:
    bundle = get(registry, "GetBundle", pkgName="op", channelName="stable", csvName="op.v1.2.0")
    assert (bundle.replaces, list(bundle.skips)) == ("", [])
    assert list(bundle.object) == [bundle.csvJson]
    csv = json.loads(bundle.csvJson)
    assert csv["metadata"] == {"name": "op.v1.2.0"}
    assert csv["spec"]["displayName"] == "Op & more"
    assert csv["spec"]["description"] == "of the package"
    assert csv["spec"]["icon"] == [{"base64data": "PHN2Zz4=", "mediatype": "image/svg+xml"}]
    assert "Op \\u0026 more" in bundle.csvJson


def test_properties_and_dependencies_have_the_json_of_opm(registry: RunningServer) -> None:
    bundle = get(registry, "GetBundle", pkgName="op", channelName="stable", csvName="op.v1.2.0")
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


def test_get_bundle_for_channel_returns_the_head(registry: RunningServer) -> None:
    assert get(registry, "GetBundleForChannel", pkgName="op", channelName="alpha").csvName == "op.v1.1.0"


def test_get_bundle_that_replaces_prefers_the_bundle_that_olm_installs(registry: RunningServer) -> None:
    """op.v1.2.0 skips op.v1.0.0 and is nearer to the head than op.v1.1.0, which replaces it."""
    where = {"pkgName": "op", "channelName": "stable"}
    assert get(registry, "GetBundleThatReplaces", csvName="op.v1.0.0", **where).csvName == "op.v1.2.0"
    assert get(registry, "GetBundleThatReplaces", csvName="op.v0.9.0", **where).csvName == "op.v1.2.0"


def test_an_entry_that_skips_the_bundle_is_returned_with_its_own_replaces(registry: RunningServer) -> None:
    assert entries(get_all(registry, "GetChannelEntriesThatReplace", csvName="op.v1.0.0")) == [
        ("op", "alpha", "op.v1.1.0", "op.v1.0.0"),
        ("op", "stable", "op.v1.1.0", "op.v1.0.0"),
        ("op", "stable", "op.v1.2.0", "op.v1.1.0"),
    ]


def test_an_entry_that_provides_an_api_is_returned_for_each_edge(registry: RunningServer) -> None:
    assert entries(get_all(registry, "GetChannelEntriesThatProvide", **THING)) == [
        ("op", "alpha", "op.v1.1.0", "op.v1.0.0"),
        ("op", "stable", "op.v1.1.0", "op.v1.0.0"),
        ("op", "stable", "op.v1.2.0", "op.v1.1.0"),
        ("op", "stable", "op.v1.2.0", "op.v1.0.0"),
        ("op", "stable", "op.v1.2.0", "op.v0.9.0"),
    ]


def test_the_latest_entries_that_provide_an_api_are_heads_with_edges_within_the_channel(
    registry: RunningServer,
) -> None:
    assert entries(get_all(registry, "GetLatestChannelEntriesThatProvide", **THING)) == [
        ("op", "alpha", "op.v1.1.0", "op.v1.0.0"),
        ("op", "stable", "op.v1.2.0", "op.v1.1.0"),
        ("op", "stable", "op.v1.2.0", "op.v1.0.0"),
    ]


def test_the_default_bundle_that_provides_an_api_is_the_head_of_a_default_channel(
    registry: RunningServer,
) -> None:
    bundle = get(registry, "GetDefaultBundleThatProvides", plural="ignored", **THING)
    assert (bundle.channelName, bundle.csvName) == ("stable", "op.v1.2.0")


@pytest.mark.parametrize(
    ("method", "fields", "message"),
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
def test_errors_have_the_messages_of_opm(
    registry: RunningServer, method: str, fields: dict[str, str], message: str
) -> None:
    assert error_message(registry, method, **fields) == message


def list_custom(registry: RunningServer, acknowledged: str = "true", **fields: str) -> list[Any] | CallError:
    metadata = (("x-acknowledge-experimental", acknowledged),)
    return send_call(registry.channel, Call("ExperimentalListPackageCustomSchemas", fields, metadata))


def test_custom_documents_need_an_acknowledgement_in_the_metadata(registry: RunningServer) -> None:
    fields = {"schema": "com.example.note", "packageName": "op"}
    answer = list_custom(registry, **fields)
    assert isinstance(answer, list)
    assert dict(answer[0]) == {
        "schema": "com.example.note",
        "package": "op",
        "name": "a",
        "lines": answer[0]["lines"],
    }
    assert list(answer[0]["lines"]) == ["one", 2.0, None]
    assert list_custom(registry, "yes", **fields) == []
    assert list_custom(registry, schema="com.example.note") == []


def test_custom_documents_need_a_valid_schema(registry: RunningServer) -> None:
    assert list_custom(registry) == CallError("INVALID_ARGUMENT", "schema is required")
    answer = list_custom(registry, schema="../x")
    assert isinstance(answer, CallError)
    assert (answer.code, "must match" in answer.message) == ("INVALID_ARGUMENT", True)


@pytest.mark.parametrize("service", ["", "Registry", "api.Registry", "anything", "everpath.catalog"])
def test_health_is_serving_for_every_service_name(registry: RunningServer, service: str) -> None:
    health: Any = health_pb2_grpc.HealthStub(registry.channel)
    answer = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=60)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_reflection_lists_services_and_descriptors(registry: RunningServer) -> None:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(registry.channel)
    requests = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="api.Registry"),
    ]
    listed, described = stub.ServerReflectionInfo(iter(requests), timeout=60)
    assert {service.name for service in listed.list_services_response.service} >= {
        "api.Registry",
        "api.ExperimentalRegistry",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
    }
    assert b"ListBundles" in described.file_descriptor_response.file_descriptor_proto[0]


def test_reflection_is_served_under_its_newer_name_too(registry: RunningServer) -> None:
    call: Any = registry.channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    (answer,) = call(iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=60)
    assert answer.list_services_response.service


def test_a_malformed_request_is_refused_and_the_server_goes_on(registry: RunningServer) -> None:
    call: Any = registry.channel.unary_unary("/api.Registry/GetPackage")
    with pytest.raises(grpc.RpcError):
        call(b"\xff\xff\xff", timeout=60)
    assert get(registry, "GetPackage", name="op").name == "op"
