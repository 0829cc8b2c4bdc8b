"""Render a catalog of a given size from real ClusterServiceVersions, as opm writes it.

The corpus (`EVERPATH_CORPUS`) has bundles, not catalogs. Whole packages are added, spread over the alphabet,
until the size is reached. Every channel is one replaces chain in the order of versions, so that opm accepts
the catalog and validates all of it.
"""

from __future__ import annotations

__all__ = ["ANY_SIZE", "OPENSHIFT_SIZE", "Figures", "Format", "make_catalog"]

import json
import re
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final, Literal
from zlib import crc32

import semver
import yaml

from everpath.parsing import yaml_parser

Format = Literal["yaml", "json"]
Json = dict[str, Any]

_MEMBER = re.compile(
    r"operators/(?P<package>[^/]+)/(?P<version>[^/]+)/(?P<rest>(?:manifests|metadata)/.+\.ya?ml)$"
)
_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
# The rendered corpus is slightly larger than this. YAML is slightly larger than JSON on one line.
_WHOLE_MB = 110
_YAML_PER_JSON = 1.05
#: Packages of every kind.
ANY_SIZE: Final = (0.0, float("inf"))

#: Packages like those of the 267 published catalogs of OpenShift's community, which have 29.5 kB a bundle.
OPENSHIFT_SIZE: Final = (18.0, 60.0)

_PREFIX = "operators.operatorframework.io.bundle."
_METADATA = (
    "apiservicedefinitions:apiServiceDefinitions",
    "customresourcedefinitions:crdDescriptions",
    "description:description",
    "displayName:displayName",
    "installModes:installModes",
    "keywords:keywords",
    "links:links",
    "maintainers:maintainers",
    "maturity:maturity",
    "minKubeVersion:minKubeVersion",
    "nativeAPIs:nativeAPIs",
    "provider:provider",
)


@dataclass(frozen=True, slots=True)
class Figures:
    """The sizes of the catalog."""

    packages: int
    bundles: int
    size: int


@dataclass(frozen=True, slots=True)
class _Bundle:
    version: semver.Version
    channels: tuple[str, ...]
    blob: Json


def make_catalog(
    corpus: Path, out: Path, target_mb: float, fmt: Format, bundle_kb: tuple[float, float] = ANY_SIZE
) -> Figures:
    """Write `out`/PACKAGE/catalog.FMT for the packages that make `target_mb` of YAML; for JSON the same ones.

    `corpus` is corpus-k8s-allcsv.tar.xz, the folder with this archive, or the unpacked archive. Only
    packages whose bundles have a mean size within `bundle_kb` are used.
    """
    packages = bundles = size = 0
    left = target_mb * 1e6
    one_in = max(1, int(_WHOLE_MB // target_mb)) if bundle_kb == ANY_SIZE else 1
    for name, members in groupby(_members(corpus), key=lambda member: member[0]["package"]):
        documents = _render(name, members) if crc32(name.encode()) % one_in == 0 else []
        estimate = len(json.dumps(documents)) * _YAML_PER_JSON
        count = sum(document["schema"] == "olm.bundle" for document in documents)
        if not documents or estimate > left or not bundle_kb[0] <= estimate / count / 1e3 < bundle_kb[1]:
            continue
        left -= estimate
        content = _dump(documents, fmt)
        target = out / name / f"catalog.{fmt}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        packages += 1
        bundles += count
        size += len(content)
        if left < target_mb * 1e4:
            break
    return Figures(packages, bundles, size)


def _members(corpus: Path) -> Iterator[tuple[re.Match[str], bytes]]:
    """Yield the files of the bundles, by package and bundle."""
    if (corpus / "operators").is_dir():
        for path in sorted((corpus / "operators").rglob("*.yaml")):
            if found := _MEMBER.search(path.as_posix()):
                yield found, path.read_bytes()
        return
    archive = corpus / "corpus-k8s-allcsv.tar.xz" if corpus.is_dir() else corpus
    with tarfile.open(archive, "r|xz") as tar:
        for member in tar:
            found = _MEMBER.search(member.name)
            content = tar.extractfile(member) if found and member.isfile() else None
            if found and content:
                yield found, content.read()


def _render(name: str, members: Iterable[tuple[re.Match[str], bytes]]) -> list[Json]:
    """Return the documents of one package, or none if opm rejects it."""
    bundles: dict[str, _Bundle] = {}
    for _, files in groupby(members, key=lambda member: member[0]["version"]):
        bundle = _bundle(name, {found["rest"]: content for found, content in files})
        if bundle is not None:
            bundles.setdefault(str(bundle.version), bundle)
    if not bundles or not _LABEL.fullmatch(name):
        return []
    ordered = sorted(bundles.values(), key=lambda bundle: bundle.version)
    channels = sorted({channel for bundle in ordered for channel in bundle.channels})
    package = {"schema": "olm.package", "name": name, "defaultChannel": channels[0]}
    return [package, *(_channel(name, c, ordered) for c in channels), *(b.blob for b in ordered)]


def _channel(package: str, name: str, bundles: list[_Bundle]) -> Json:
    names = [bundle.blob["name"] for bundle in bundles if name in bundle.channels]
    entries = [
        {"name": names[0]},
        *({"name": n, "replaces": p} for p, n in pairwise(names)),
    ]
    return {"schema": "olm.channel", "name": name, "package": package, "entries": entries}


def _bundle(package: str, files: dict[str, bytes]) -> _Bundle | None:
    manifests = (content for path, content in files.items() if "clusterserviceversion" in path)
    try:
        csv = yaml_parser.load(next(manifests))
        annotations = yaml_parser.load(files["metadata/annotations.yaml"])["annotations"]
        version = semver.Version.parse(csv["spec"]["version"])
        channels = tuple(part.strip() for part in annotations[f"{_PREFIX}channels.v1"].split(","))
        return _Bundle(version, channels, _blob(package, csv))
    except (StopIteration, KeyError, TypeError, ValueError, AttributeError, yaml_parser.ParseError):
        # The corpus has invalid bundles, which the benchmark leaves out.
        return None


def _blob(package: str, csv: Json) -> Json:
    spec, name, version = csv["spec"], csv["metadata"]["name"], csv["spec"]["version"]
    image = f"registry.example/k8s/{package}:v{version}".replace("+", "-")
    identity = {"type": "olm.package", "value": {"packageName": package, "version": version}}
    return {
        "schema": "olm.bundle",
        "name": name,
        "package": package,
        "image": image,
        "properties": [*_gvks(spec), identity, {"type": "olm.csv.metadata", "value": _metadata(csv)}],
        "relatedImages": [{"name": "", "image": image}, *_related(spec)],
    }


def _gvks(spec: Json) -> list[Json]:
    definitions = spec.get("customresourcedefinitions") or {}
    kinds = (("olm.gvk", definitions.get("owned")), ("olm.gvk.required", definitions.get("required")))
    return [
        {
            "type": kind,
            "value": {
                "group": crd["name"].partition(".")[2],
                "kind": crd["kind"],
                "version": crd["version"],
            },
        }
        for kind, crds in kinds
        for crd in crds or ()
    ]


def _metadata(csv: Json) -> Json:
    spec = csv["spec"]
    fields = dict(pair.split(":") for pair in _METADATA)
    value = {theirs: spec[ours] for ours, theirs in fields.items() if spec.get(ours)}
    for key in ("annotations", "labels"):
        if csv["metadata"].get(key):
            value[key] = {k: str(v) for k, v in csv["metadata"][key].items()}
    return value


def _related(spec: Json) -> list[Json]:
    deployments = spec["install"]["spec"].get("deployments") or []
    containers = [c for d in deployments for c in d["spec"]["template"]["spec"]["containers"]]
    return [{"name": c["name"], "image": c["image"]} for c in containers]


def _dump(documents: list[Json], fmt: Format) -> bytes:
    if fmt == "json":
        return "".join(json.dumps(d, indent=4, ensure_ascii=False) + "\n" for d in documents).encode()
    return b"".join(b"---\n" + _yaml(document) for document in documents)


def _yaml(document: Json) -> bytes:
    dumped: bytes = yaml.dump(document, Dumper=_Dumper, encoding="utf-8", allow_unicode=True, width=80)
    # libyaml writes `...` after a text that ends with blank lines; go-yaml does not.
    return dumped.removesuffix(b"...\n")


class _Dumper(yaml.CSafeDumper):
    """Writes text like go-yaml: several lines as a block, and no anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)
