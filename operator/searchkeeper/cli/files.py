"""Manifests in files, as an API server would have them, or a word about why it would not."""

from __future__ import annotations

__all__ = ["MISSHAPEN", "manifests", "misshapen"]

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from searchkeeper.cli.errors import Unreadable
from searchkeeper.resources.conformity import objections
from searchkeeper.writes import Key, Manifest

# What reading an object may end with that no API server would have stored.
MISSHAPEN: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError)


def manifests(file: str) -> Iterable[Manifest]:
    """`-` is standard input. Raises Unreadable, also for what our own definitions refuse."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        documents = [each for each in yaml.safe_load_all(text) if each]
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise Unreadable(f"{file}: {error}") from error
    for document in documents:
        items = document.get("items", [document]) if isinstance(document, dict) else [document]
        for each in items if isinstance(items, list) else [items]:
            yield _accepted(_whole(each, file), file)


def misshapen(file: str, culprit: Key | None, error: Exception) -> str:
    """Of what is nobody's definition here: which object it is, and what it lacks."""
    who = "something in it" if culprit is None else str(culprit)
    what = f"{error.args[0]} is missing" if isinstance(error, KeyError) else "a part has another shape"
    return f"{file}: {who} is not as an API server would have stored it: {what}"


def _accepted(manifest: Manifest, file: str) -> Manifest:
    wrong = objections(manifest)
    if wrong:
        reasons = "".join(f"\n  {each}" for each in wrong)
        raise Unreadable(f"{file}: an API server would refuse {Key.of(manifest)}:{reasons}")
    return manifest


def _whole(manifest: Any, file: str) -> Mapping[str, Any]:
    """As if an API server had it: with a UID, versions and a namespace, whatever a person has left out."""
    match manifest:
        case {"apiVersion": str(), "kind": str(kind), "metadata": {"name": str(name), **others}}:
            made = {"namespace": "default", "uid": f"{kind}/{name}", "resourceVersion": "1", "generation": 1}
            return {**manifest, "metadata": {**made, "name": name, **others}}
        case _:
            raise Unreadable(f"{file}: this is no Kubernetes object: {_lacking(manifest)}")


def _lacking(manifest: Any) -> str:
    if not isinstance(manifest, Mapping):
        return f"it is {'a list' if isinstance(manifest, list) else 'text or a number'}"
    missing = [name for name in ("apiVersion", "kind") if not isinstance(manifest.get(name), str)]
    return f"{(*missing, 'metadata.name')[0]} is missing, or no text"
