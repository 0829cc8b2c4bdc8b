"""Write the examples of pages to files, and lint them."""

from __future__ import annotations

__all__ = ["file_based_catalog", "lay_out", "lint_example"]

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from string import ascii_letters
from typing import Any

import yaml

from everpath.cli.entry_point import run
from everpath.loaders.notation import parse
from everpath.model import Catalog, Package
from everpath.rules.registry import Rule
from tests.docs.rule_page import Example


def lay_out(example: Example, folder: Path) -> None:
    """Write an example to an empty folder: documents to catalog/, a tree unchanged.

    In a tree `-> FILE` is a link, and `~~ NUMBER letters` a manifest of that size.
    """
    for name, content in _files(example).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("-> "):
            path.symlink_to(content.removeprefix("-> ").strip())
        elif content.startswith("~~ "):
            path.write_text(_noise(int(content.split()[1])), encoding="utf-8")
        else:
            path.write_text(content, encoding="utf-8")


def _files(example: Example) -> dict[str, str]:
    if example.language == "tree":
        return {str(name): str(content or "") for name, content in yaml.safe_load(example.text).items()}
    if example.language == "graph":
        return {"catalog/catalog.json": file_based_catalog(parse(example.text))}
    return {f"catalog/catalog.{example.language}": example.text}


def file_based_catalog(catalog: Catalog) -> str:
    """Return a graph in the notation as the documents of a file-based catalog."""
    return "\n".join(json.dumps(d) for package in catalog.packages for d in _documents(package)) + "\n"


def _documents(package: Package) -> Iterator[dict[str, Any]]:
    yield {"schema": "olm.package", "name": package.name, "defaultChannel": package.default_channel}
    for channel in package.channels:
        entries = [
            {"name": e.name, "replaces": e.replaces, "skips": list(e.skips), "skipRange": e.skip_range}
            for e in channel.entries
        ]
        stated = [{key: value for key, value in entry.items() if value} for entry in entries]
        yield {"schema": "olm.channel", "package": package.name, "name": channel.name, "entries": stated}
    for bundle in package.bundles:
        properties = [{"type": p.type, "value": p.value} for p in bundle.properties]
        fields = {"package": package.name, "name": bundle.name, "image": bundle.image}
        yield {"schema": "olm.bundle", **fields, "properties": properties}
    for deprecations in package.deprecations:
        notices = [
            {"reference": {"schema": e.schema, "name": e.name}, "message": e.message}
            for e in deprecations.entries
        ]
        yield {"schema": "olm.deprecations", "package": package.name, "entries": notices}


def _noise(size: int) -> str:
    """Return a ConfigMap with data that does not compress well."""
    letters = "".join(Random(7).choices(ascii_letters, k=size))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: table}}\ndata: {{table: {letters}}}\n"


def lint_example(report: Path, rule: Rule) -> dict[str, Any]:
    """Lint the current folder with the command that runs the rule, and return its JSON report."""
    commands = {
        "upgrade": ["validate-graph", "--bundles", "."],
        "bundle folder": ["bundle", "validate", "--select-optional", "all"],
        "package file": ["bundle", "validate", "--select-optional", "all"],
    }
    run(
        [
            *commands.get(rule.subject, ["validate-graph"]),
            "-o",
            "json",
            "--output-file",
            str(report),
            "--quiet",
            "--no-progress",
        ]
    )
    document: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return document
