"""Random templates of opm's three kinds, and the bundles of their images.

Most are valid; others have a common error.
"""

from __future__ import annotations

__all__ = ["Case", "basic_case", "semver_case", "substitutes_case"]

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final, NamedTuple

_PRERELEASES: Final = ("", "", "", "", "-rc.1", "-alpha", "-rc.10", "-0")
_BUILDS: Final = ("", "", "", "", "", "", "+1", "+b.2", "+01")
_ICON: Final = {"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}
_BAD_ICONS: Final[tuple[Any, ...]] = ([{"base64data": "%"}], [{"mediatype": 1}], {}, [None])
_ICONS: Final[tuple[Any, ...]] = ([_ICON], [_ICON, _ICON], [], None, *_BAD_ICONS)


class Case(NamedTuple):
    """A template, and the rendered bundle of each image."""

    kind: str
    template: Mapping[str, Any]
    bundles: Mapping[str, Mapping[str, Any]]


def _version(random: Random) -> str:
    numbers = [random.choice((0, 0, 1, 1, 2, 10)) for _ in range(3)]
    return ".".join(map(str, numbers)) + random.choice(_PRERELEASES) + random.choice(_BUILDS)


def _bundle(random: Random, image: str, version: str, package: str = "op") -> dict[str, Any]:
    name = f"op.v{version}" if random.random() < 0.95 else "op.v1.0.0"
    stated: dict[str, Any] = {"packageName": package, "version": version}
    if random.random() < 0.1:
        stated["release"] = random.choice(("1", "2", "rc.1", "01", "x" * 21))
    properties = [{"type": "olm.package", "value": stated}]
    if random.random() < 0.3:
        properties.append({"type": "olm.bundle.object", "value": {"data": _csv(random, name)}})
    if random.random() < 0.03:
        properties = properties * 2 if random.random() < 0.5 else properties[1:]
    return {
        "schema": "olm.bundle",
        "name": name,
        "package": package,
        "image": image,
        "properties": properties,
    }


def _csv(random: Random, name: str) -> str:
    icons = random.choice(_ICONS)
    annotations = {"olm.substitutesFor": "op.v1.0.0"} if random.random() < 0.5 else {}
    spec = {"description": random.choice(("An operator <that> & works.\n", "", None, 5)), "icon": icons}
    csv = {
        "kind": "ClusterServiceVersion",
        "metadata": {"name": name, "annotations": annotations},
        "spec": spec,
    }
    return b64encode(json.dumps(csv).encode()).decode()


def _bundles(random: Random, most: int) -> dict[str, dict[str, Any]]:
    """Return bundles by image. Names are unique, because opm orders equal names at random."""
    found: dict[str, dict[str, Any]] = {}
    for number in range(random.randint(1, most)):
        package = "op" if random.random() < 0.98 else "other"
        image = f"registry.example/op:{number}"
        bundle = _bundle(random, image, _version(random), package)
        if all(bundle["name"] != other["name"] for other in found.values()):
            found[image] = bundle
    return found


def _one_of(random: Random, usual: object, *faults: object, chance: float = 0.05) -> Any:
    return random.choice(faults) if random.random() < chance else usual


def semver_case(random: Random) -> Case:
    """Return a semver template with random archetypes, channels and preferences."""
    bundles = _bundles(random, 9)
    template: dict[str, Any] = {"schema": "olm.semver"}
    for kind in ("Major", "Minor"):
        if random.random() < 0.6:
            template[f"generate{kind}Channels"] = _one_of(random, random.random() < 0.7, "true", 1, None)
    if random.random() < 0.4:
        preferred = _one_of(random, random.choice(("major", "minor")), "", "patch", True, None)
        template["defaultChannelTypePreference"] = preferred
    for archetype in ("candidate", "fast", "stable"):
        if random.random() < 0.6:
            template[archetype] = _archetype(random, list(bundles))
    if random.random() < 0.04:
        template[random.choice(("Schema", "package", "edge", "Fast"))] = random.choice((None, "x", {}))
    return Case("semver", template, bundles)


def _archetype(random: Random, images: Sequence[str]) -> Any:
    chosen = random.sample(images, random.randint(0, len(images)))
    listed: list[Any] = [{"image": image} for image in chosen]
    if random.random() < 0.04:
        fault = random.choice(
            ({"image": "registry.example/missing:1"}, {}, None, {"image": 5}, {"name": "x"}, "x")
        )
        listed.append(fault)
    if listed and random.random() < 0.03:
        listed.append(listed[0])
    return _one_of(random, {"bundles": listed}, None, {}, {"bundles": None}, listed, chance=0.03)


def _entry(random: Random, name: str, names: Sequence[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name}
    if random.random() < 0.5:
        entry["replaces"] = random.choice((*names, ""))
    if random.random() < 0.4:
        entry["skips"] = random.sample(names, random.randint(0, min(2, len(names))))
    if random.random() < 0.2:
        entry["skipRange"] = random.choice((">=0.0.1 <1.0.0", "", "<1.0.0"))
    return entry


def basic_case(random: Random) -> Case:
    """Return a basic template with images and other documents."""
    bundles = _bundles(random, 5)
    names = [bundle["name"] for bundle in bundles.values()]
    entries: list[Any] = [
        {
            "schema": "olm.package",
            "name": "op",
            "defaultChannel": "stable",
            "icon": random.choice((_ICON, None)),
        },
        {
            "schema": "olm.channel",
            "name": "stable",
            "package": "op",
            "entries": [_entry(random, n, names) for n in names],
        },
        *({"schema": "olm.bundle", "image": image} for image in bundles),
    ]
    entries += (extra for extra in _EXTRAS if random.random() < 0.08)
    random.shuffle(entries)
    template = {
        "schema": "olm.template.basic",
        "entries": _one_of(random, entries, None, {}, "x", chance=0.02),
    }
    if random.random() < 0.05:
        template["generated"] = True
    return Case("basic", template, bundles)


_EXTRAS: Final[tuple[Any, ...]] = (
    {"schema": "olm.bundle", "name": "op.v9", "image": "registry.example/missing:1"},
    {"schema": "olm.bundle", "image": "registry.example/op:0", "package": "op"},
    {"schema": "olm.bundle", "image": "registry.example/op:0", "properties": [{"type": "x", "value": 1}]},
    {"schema": "olm.bundle", "image": "registry.example/op:0", "properties": []},
    {"schema": "olm.bundle", "image": ""},
    {"schema": "olm.bundle", "image": 5},
    {"schema": "custom.thing", "package": "op", "name": "a", "numbers": [1.5, 2**60, 1e21], "text": "<&>"},
    {"schema": "custom.thing", "b": 1, "a": {"d": None, "c": []}},
    {"schema": "another.thing", "package": "op"},
    {
        "schema": "olm.deprecations",
        "package": "op",
        "entries": [{"reference": {"schema": "olm.package"}, "message": "m"}],
    },
    {"schema": "olm.channel", "name": "empty", "package": "op"},
    {"schema": "olm.channel", "name": "bad", "package": "op", "entries": [{"name": 5}]},
    {
        "schema": "olm.channel",
        "name": "tagged",
        "package": "op",
        "entries": [],
        "properties": [{"type": "t"}],
    },
    {
        "Schema": "olm.channel",
        "NAME": "Loud",
        "package": "op",
        "Entries": [{"Name": "x", "SkipRange": "<1.0.0"}],
    },
    {"schema": "olm.channel", "Schema": "olm.channel", "name": "twice", "package": "op"},
    {"schema": "olm.package", "name": None},
    {"schema": "", "name": "x"},
    {"name": "x"},
)


def substitutes_case(random: Random) -> Case:
    """Return a substitutes template: a channel, mostly valid, and later bundles for some entries."""
    count = random.randint(1, 4)
    names = [f"op.v1.{number}.0" for number in range(count)]
    entries: list[dict[str, Any]] = [{"name": name} for name in names]
    for below, entry in zip(names, entries[1:], strict=False):
        entry["replaces"] = below
        if random.random() < 0.3:
            entry["skips"] = random.sample(names, random.randint(0, 2) if count > 1 else 0)
    held = [_release(random, f"registry.example/op:{n}", f"1.{n}.0", "") for n in range(count)]
    catalog: list[Any] = [
        {"schema": "olm.package", "name": "op", "defaultChannel": "stable"},
        {"schema": "olm.channel", "name": "stable", "package": "op", "entries": entries},
        *held,
    ]
    if random.random() < 0.3:
        catalog.append({"schema": "olm.channel", "name": "fast", "package": "op", "entries": entries[-1:]})
    bundles = {}
    substitutions = []
    for number in range(random.randint(0, 3)):
        image = f"registry.example/new:{number}"
        minor = random.randrange(count)
        release = random.choice(("", "1", "2", "rc.1", "01"))
        build = random.choice(("", "", "+1", "+2"))
        bundles[image] = _release(random, image, f"1.{minor}.{random.choice((0, 0, 0, 1))}{build}", release)
        base = _one_of(random, names[minor], "op.v7", "", image, 5)
        substitutions.append(
            {"name": _one_of(random, image, "", "registry.example/missing:1", None), "base": base}
        )
    template = {"schema": "olm.template.substitutes", "entries": catalog, "substitutions": substitutions}
    return Case("substitutes", template, bundles)


def _release(random: Random, image: str, version: str, release: str) -> dict[str, Any]:
    name = f"op-v{version}-{release}" if release else f"op.v{version}"
    stated = {"packageName": "op", "version": version, **({"release": release} if release else {})}
    properties: list[dict[str, Any]] = [{"type": "olm.package", "value": stated}]
    choice = random.random()
    if choice < 0.3:
        properties.append({"type": "olm.bundle.object", "value": {"data": _csv(random, name)}})
    elif choice < 0.5:
        metadata = {"annotations": {"olm.substitutesFor": "op.v1.0.0"}}
        properties.append({"type": "olm.csv.metadata", "value": metadata})
    return {"schema": "olm.bundle", "name": name, "package": "op", "image": image, "properties": properties}
