"""The registry server of everpath and `opm serve` give the same responses."""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest
import yaml

from everpath.app.opm_validate import rejection_reason
from everpath.loaders.catalog_loader import load
from everpath.loaders.fbc.blobs import load_blobs
from everpath.loaders.packagemanifest.migration import Migration
from everpath.loaders.sources import Sources
from everpath.server.catalog.snapshot import take_snapshot
from everpath.server.index.model import Index
from tests.bench.make_catalog import make_catalog
from tests.everpath.conformance.oracle import Oracle
from tests.everpath.conformance.random_graphs import random_graph
from tests.everpath.conformance.registry_calls import calls
from tests.everpath.conformance.small_graphs import SmallGraph
from tests.support.everpath.bundles import write
from tests.support.everpath.catalogs import fbc
from tests.support.everpath.in_process_server import run_server
from tests.support.everpath.package_manifests import complete
from tests.support.everpath.registry_api_client import Call, CallError, run_opm_serve, send_call

pytestmark = pytest.mark.conformance

# Every package with this step.
_STEP = 40

# Streams that opm sends in random order.
_UNORDERED = {
    "ListPackages",
    "GetChannelEntriesThatReplace",
    "GetChannelEntriesThatProvide",
    "GetLatestChannelEntriesThatProvide",
}


def _comparable(ask: Call, answer: list[Any] | CallError) -> object:
    if isinstance(answer, CallError):
        return answer
    texts = [message.SerializeToString(deterministic=True) for message in answer]
    return sorted(texts) if ask.method in _UNORDERED else texts


def _candidates(index: Index, fields: Mapping[str, str]) -> list[str]:
    """Return the bundles of which opm returns one at random."""
    channel = index.packages[fields["pkgName"]].channels.get(fields["channelName"])
    name = fields["csvName"]
    entries = channel.entries.values() if channel else ()
    return [entry.name for entry in entries if entry.replaces == name or name in entry.skips]


def _differences(index: Index, ours: grpc.Channel, theirs: grpc.Channel) -> tuple[list[str], Counter[str]]:
    differences, asks = [], Counter[str]()
    for ask in calls(index):
        asks[ask.method] += 1
        mine, peer = send_call(ours, ask), send_call(theirs, ask)
        if ask.method == "GetBundleThatReplaces" and ask.fields["pkgName"] in index.packages:
            rivals = _candidates(index, ask.fields)
            if len(rivals) > 1 and isinstance(mine, list) and isinstance(peer, list):
                assert peer[0].csvName in rivals
                wanted = {**ask.fields, "csvName": mine[0].csvName}
                peer = send_call(theirs, Call("GetBundle", wanted))
        if _comparable(ask, mine) != _comparable(ask, peer):
            differences.append(f"{ask}\n  ours:  {_short(mine)}\n  opm's: {_short(peer)}")
    return differences, asks


def _short(answer: object) -> str:
    return str(answer)[:3000]


def _agree(
    opm: str, catalog: Path, folder: Path, record: Callable[[str, object], None], least: int = 0
) -> None:
    index = take_snapshot(str(catalog), {"EVERPATH_CACHE": "off"}).index
    with run_opm_serve(opm, catalog, folder) as (_, theirs), run_server(catalog) as ours:
        differences, asks = _differences(index, ours.channel, theirs)
    assert not differences, "\n".join(differences[:5])
    assert asks.total() >= least
    if least:
        record("counted", f"calls to opm serve and to ours, {folder.name}: {asks.total():,}, none differs")


@pytest.mark.corpus
@pytest.mark.parametrize("fmt", ["yaml", "json"])
def test_the_catalog_of_operatorhub(
    opm: str, corpus: Path, tmp_path: Path, record_property: Callable[[str, object], None], fmt: Any
) -> None:
    catalog = tmp_path / "catalog"
    make_catalog(corpus, catalog, 6, fmt)
    _agree(opm, catalog, tmp_path, record_property, least=2000)


def _migrated(operatorhub: Path, folder: Path, image: str) -> Path:
    """Return the packages of OperatorHub that opm serves, with their own graphs."""
    names = sorted(path.name for path in (operatorhub / "operators").iterdir() if path.is_dir())[::_STEP]
    for name in names:
        source = complete(operatorhub / "operators" / name, folder / "old" / name)
        migration = Migration(str(source), image, "yaml")
        for package in load(str(source)).catalog.packages:
            files = migration.migrate_package(package).files
            written = {path: text for path, text in files.items() if path.startswith("catalog/")}
            write(folder / "new" / name, written)
            if rejection_reason(load_blobs(str(folder / "new" / name / "catalog"), Sources())) is None:
                write(folder, written)
    return folder / "catalog"


@pytest.mark.corpus
@pytest.mark.parametrize(
    "image", ["", "quay.io/example/{{.Package}}:v{{.Version}}"], ids=["inline", "images"]
)
def test_packages_of_operatorhub_with_their_own_graphs(
    opm: str,
    operatorhub: Path,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    image: str,
) -> None:
    catalog = _migrated(operatorhub, tmp_path, image)
    assert len(list(catalog.iterdir())) >= 8
    _agree(opm, catalog, tmp_path, record_property, least=900)


@pytest.mark.corpus
def test_client_of_olm_gets_the_same_responses(
    oracle: Oracle, opm: str, corpus: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """With the Go client of operator-registry, for all calls, health and reflection."""
    catalog = tmp_path / "catalog"
    make_catalog(corpus, catalog, 3, "yaml")
    with run_opm_serve(opm, catalog, tmp_path) as (address, _), run_server(catalog) as ours:
        mine = oracle.ask({"ask": "registry", "address": str(ours.address)})
        peer = oracle.ask({"ask": "registry", "address": address})
    assert mine["healthy"]
    assert len(mine["messages"]) > 200
    assert sorted(mine.pop("services")) == sorted(peer.pop("services"))
    assert mine == peer
    record_property("counted", f"messages that OLM's client reads the same: {len(mine['messages']):,}")


_METADATA = {
    "annotations": {"b": "<&>", "a": "\u2028"},
    "labels": {"z": "1"},
    "description": "",
    "displayName": "Things & more",
    "apiServiceDefinitions": {
        "owned": [{"name": "a", "group": "g", "version": "v", "kind": "K", "containerPort": 1}]
    },
    "crdDescriptions": {
        "owned": [
            {
                "name": "things.example.com",
                "version": "v1",
                "kind": "Thing",
                "specDescriptors": [{"path": "size", "value": {"b": 1.50, "a": ["<", 12345678901234567890]}}],
                "unknown": 1,
            }
        ],
        "required": [],
    },
    "installModes": [{"type": "AllNamespaces", "supported": True}],
    "keywords": ["a"],
    "links": [{"name": "site", "url": "u"}],
    "maintainers": [{"email": "e"}],
    "maturity": "beta",
    "minKubeVersion": "1.2.3",
    "nativeAPIs": [{"group": "", "version": "v1", "kind": "Pod"}],
    "provider": {"name": "P"},
}
_CSV = {
    "apiVersion": "operators.coreos.com/v1alpha1",
    "kind": "ClusterServiceVersion",
    "metadata": {"name": "x"},
}


def _object(manifest: object) -> dict[str, Any]:
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    return {"type": "olm.bundle.object", "value": {"data": b64encode(text.encode()).decode()}}


def _bundle(name: str, version: str, *properties: object, image: str = "", **rest: object) -> dict[str, Any]:
    identity = {"type": "olm.package", "value": {"packageName": "p", "version": version}}
    return {
        "schema": "olm.bundle",
        "package": "p",
        "name": name,
        "image": image,
        "properties": [identity, *properties],
        **rest,
    }


def _one_channel(*bundles: dict[str, Any], **package: object) -> list[dict[str, Any]]:
    names = [bundle["name"] for bundle in bundles]
    entries = [{"name": name, "replaces": before} for name, before in zip(names, ["", *names], strict=False)]
    return [
        {"schema": "olm.package", "name": "p", "defaultChannel": "stable", **package},
        {"schema": "olm.channel", "package": "p", "name": "stable", "entries": entries},
        *bundles,
    ]


_ICON = {"base64data": "PHN2Zz4=", "mediatype": "image/svg+xml"}
_REQUIRED = [
    {"type": "olm.gvk", "value": {"group": "g", "version": "v1", "kind": "K"}},
    {"type": "olm.gvk", "value": {"Group": "G", "VERSION": "v2", "kind": "K"}},
    {"type": "olm.gvk.required", "value": {"group": "r", "version": "v1", "kind": "R", "x": "<"}},
    {"type": "olm.package.required", "value": {"packageName": "q", "versionRange": ">=1.0.0 <2.0.0"}},
    {"type": "olm.constraint", "value": {"failureMessage": "&", "cel": {"rule": "true"}}},
    {
        "type": "com.example",
        "value": {"b": [1, 1.5, 1e21, 12345678901234567890, None, True], "a": "\u2028é<>&\b\f"},
    },
    {"type": "com.example.null", "value": None},
]

_CATALOGS: dict[str, list[dict[str, Any]]] = {
    "metadata": _one_channel(
        _bundle("p.v1.0.0", "1.0.0", {"type": "olm.csv.metadata", "value": _METADATA}, image="r.example/p:1"),
        _bundle(
            "p.v1.0.1-rc.1+b.2",
            "1.0.1-rc.1+b.2",
            {"type": "olm.csv.metadata", "value": {"description": "own"}},
            image="r.example/p:2",
            relatedImages=[{"name": "", "image": "r.example/p:2"}, {"name": "op", "image": "r.example/op:2"}],
        ),
        _bundle("p.v2.0.0", "2.0.0", {"type": "olm.csv.metadata", "value": {}}, image="r.example/p:3"),
        icon=_ICON,
        description="the package's <own>",
    ),
    "icon without data": _one_channel(
        _bundle("p.v1.0.0", "1.0.0", {"type": "olm.csv.metadata", "value": None}, image="r.example/p:1"),
        icon={"mediatype": "x"},
    ),
    "objects without an image": _one_channel(
        _bundle("p.v1.0.0", "1.0.0", _object({"kind": "Service"}), _object(_CSV)),
        _bundle(
            "p.v1.0.1", "1.0.1", _object("kind: ClusterServiceVersion\nb: <&>\na: [1, 017, yes]\n---\nx: y\n")
        ),
        _bundle(
            "p.v1.0.2", "1.0.2", _object(_CSV), {"type": "olm.bundle.object", "value": {}}, _object("  ")
        ),
        _bundle("p.v1.0.3", "1.0.3", {"type": "olm.bundle.object", "value": {"data": None}}),
        _bundle(
            "p.v1.0.4",
            "1.0.4",
            _object({"kind": "Service"}),
            {"type": "olm.csv.metadata", "value": _METADATA},
        ),
        _bundle("p.v1.0.5", "1.0.5", _object('  {"kind" :  "ClusterServiceVersion" } \n')),
    ),
    "objects with an image": _one_channel(
        _bundle("p.v1.0.0", "1.0.0", _object(_CSV), _object({"kind": "Role"}), image="r.example/p:1"),
        _bundle("p.v1.0.1", "1.0.1", _object({"kind": "Role"}), image="r.example/p:2"),
    ),
    "properties": _one_channel(_bundle("p.v1.0.0", "1.0.0", *_REQUIRED, image="r.example/p:1")),
    "release": _one_channel(
        {
            **_bundle("p-v1.0.0-1.a", "1.0.0", image="r.example/p:1"),
            "properties": [
                {"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0", "release": "1.a"}}
            ],
        }
    ),
    "custom documents": [
        *_one_channel(_bundle("p.v1.0.0", "1.0.0", image="r.example/p:1")),
        {"schema": "com.example", "package": "p", "name": "a", "n": [1, 2.5, None, True, {"x": "é"}]},
        {"schema": "com.example", "package": "p", "name": "b"},
        {"schema": "com.example", "x": 1},
        {"schema": "other", "package": "elsewhere"},
    ],
    "deprecations": [
        *_one_channel(
            _bundle("p.v1.0.0", "1.0.0", image="r.example/p:1"),
            _bundle("p.v1.0.1", "1.0.1", image="r.example/p:2"),
        ),
        {
            "schema": "olm.deprecations",
            "package": "p",
            "entries": [
                {"reference": {"schema": "olm.package"}, "message": "all of <it>"},
                {"reference": {"schema": "olm.channel", "name": "stable"}, "message": "the channel\n"},
                {"reference": {"schema": "olm.bundle", "name": "p.v1.0.0"}, "message": "old"},
            ],
        },
    ],
}

_GRAPHS = {
    "skips": """
        c: b / x, w, b, w, a
        b: a / w
        a
        x
        w
        """,
    "forks": """
        d: c / b, e, f
        c: a
        b: a
        e: a
        f
        a
        """,
    "several channels": """
        [beta]
        p.v3.0.0: p.v2.0.0 / - / >=1.0.0 <3.0.0
        p.v2.0.0: gone
        [alpha]
        p.v2.0.0: p.v1.0.0
        p.v1.0.0
        %deprecated p.v1.0.0: no longer kept
        """,
}


@pytest.mark.parametrize("name", _GRAPHS)
def test_odd_graphs(
    opm: str, tmp_path: Path, record_property: Callable[[str, object], None], name: str
) -> None:
    catalog = tmp_path / "catalog"
    catalog.mkdir()
    (catalog / "p.yaml").write_text(fbc(_GRAPHS[name]))
    (catalog / "q.yaml").write_text(fbc(_GRAPHS["skips"], "q"))
    _agree(opm, catalog, tmp_path, record_property)


def test_random_graphs(opm: str, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """Random graphs that opm accepts, one in each package."""
    random, catalog = Random("registry"), tmp_path / "catalog"
    catalog.mkdir()
    while len(list(catalog.iterdir())) < 60:
        name = f"p{len(list(catalog.iterdir()))}"
        documents = _drawn(name, random_graph(random), random)
        if rejection_reason(documents) is None:
            text = "".join(f"{json.dumps(document)}\n" for document in documents)
            (catalog / f"{name}.json").write_text(text)
    _agree(opm, catalog, tmp_path, record_property, least=1000)


def _drawn(package: str, graph: SmallGraph, random: Random) -> list[dict[str, Any]]:
    entries = [
        {"name": e.name, "replaces": e.replaces, "skips": list(e.skips), "skipRange": e.skip_range or ""}
        for e in graph.entries
    ]
    kinds = [{"group": "g", "version": "v1", "kind": kind} for kind in "ABC"]
    return [
        {"schema": "olm.package", "name": package, "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": package, "name": "stable", "entries": entries},
        *(
            {
                "schema": "olm.bundle",
                "package": package,
                "name": entry.name,
                "image": f"r.example/{package}:{number}",
                "properties": [
                    {"type": "olm.package", "value": {"packageName": package, "version": entry.version}},
                    *({"type": "olm.gvk", "value": kind} for kind in kinds if random.random() < 0.3),
                ],
            }
            for number, entry in enumerate(graph.entries)
        ),
    ]


@pytest.mark.parametrize("name", _CATALOGS)
@pytest.mark.parametrize("is_json", [False, True], ids=["yaml", "json"])
def test_odd_bundles(
    opm: str, tmp_path: Path, record_property: Callable[[str, object], None], name: str, is_json: bool
) -> None:
    catalog = tmp_path / "catalog"
    catalog.mkdir()
    if is_json:
        text = "".join(json.dumps(document) + "\n" for document in _CATALOGS[name])
    else:
        text = yaml.safe_dump_all(_CATALOGS[name], explicit_start=True, allow_unicode=True)
    (catalog / "catalog").write_text(text)
    _agree(opm, catalog, tmp_path, record_property)
