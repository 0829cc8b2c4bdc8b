"""Catalogs of a given shape and size, to measure how the cost grows."""

from __future__ import annotations

__all__ = ["many_channels", "many_heads", "many_packages", "one_channel", "wrong_values"]

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

Document = dict[str, object]


def one_channel(folder: Path, entries: int) -> Path:
    """One channel; every entry has replaces, skips, and a range that contains all earlier versions."""
    return _written(folder / f"channel-{entries}.json", _package("op", entries))


def many_packages(folder: Path, packages: int) -> Path:
    """Many packages of five entries."""
    documents = (d for i in range(packages) for d in _package(f"op-{i:05}", 5))
    return _written(folder / f"packages-{packages}.json", documents)


def many_heads(folder: Path, entries: int) -> Path:
    """One channel whose entries have only ranges that contain all earlier versions: each is a head."""
    package, channel, *bundles = _package("op", entries)
    heads = [{**entry, "replaces": ""} for entry in _entries("op", _versions(entries))]
    return _written(
        folder / f"heads-{entries}.json", iter([package, {**channel, "entries": heads}, *bundles])
    )


def many_channels(folder: Path, channels: int) -> Path:
    """One package with one channel for each version."""
    package, channel, *bundles = _package("op", channels)
    each = (
        {**channel, "name": f"candidate-{i}", "entries": [{"name": bundle["name"]}]}
        for i, bundle in enumerate(bundles)
    )
    documents = [{**package, "defaultChannel": "candidate-0"}, *each, *bundles]
    return _written(folder / f"channels-{channels}.json", iter(documents))


def wrong_values(folder: Path, values: int) -> Path:
    """One document on one line, with values of wrong types everywhere."""
    package, channel = islice(_package("op", 0), 2)
    wrong = [{"name": i, "skips": "é"} for i in range(values)]
    return _written(folder / f"wrong-{values}.json", iter([package, {**channel, "entries": wrong}]))


def _versions(count: int) -> list[str]:
    return [f"1.{i // 10}.{i % 10}" for i in range(count)]


def _package(name: str, entries: int) -> Iterator[Document]:
    versions = _versions(entries)
    yield {"schema": "olm.package", "name": name, "defaultChannel": "stable"}
    yield {
        "schema": "olm.channel",
        "package": name,
        "name": "stable",
        "entries": list(_entries(name, versions)),
    }
    for version in versions:
        yield {
            "schema": "olm.bundle",
            "name": f"{name}.v{version}",
            "package": name,
            "image": f"registry.example/{name}:{version}",
            "properties": [{"type": "olm.package", "value": {"packageName": name, "version": version}}],
        }


def _entries(name: str, versions: list[str]) -> Iterator[Document]:
    for i, version in enumerate(versions):
        entry: Document = {"name": f"{name}.v{version}", "skipRange": f"<{version}"}
        if i:
            entry["replaces"] = f"{name}.v{versions[i - 1]}"
        yield entry


def _written(path: Path, documents: Iterator[Document]) -> Path:
    with path.open("w") as file:
        file.writelines(json.dumps(document) + "\n" for document in documents)
    return path
