"""Examples of a bundle's APIs: what consoles offer users to start from (`alm-examples`)."""

from __future__ import annotations

__all__ = [
    "api_without_example",
    "example_without_api",
    "examples_do_not_parse",
    "no_examples",
    "owned_crd_name",
    "two_example_annotations",
]

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from everpath.manifest_access import as_string, items_at, string_at
from everpath.model import Gvk, Place
from everpath.model.bundle_contents import BundleFolder, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_folder_rule

_KEYS: Final = ("alm-examples", "olm.examples")
_OWNED: Final = ("spec", "customresourcedefinitions", "owned")


class _Examples(NamedTuple):
    """The APIs of the examples, or why they cannot be read, and at which character."""

    apis: tuple[Gvk, ...] = ()
    fault: str = ""


def _stated(csv: Manifest) -> tuple[str, str] | None:
    """The annotation that counts and what it says."""
    return next(((key, as_string(csv.annotations[key])) for key in _KEYS if key in csv.annotations), None)


@lru_cache(maxsize=16)
def _examples(written: str) -> _Examples:
    """Six rules ask for the same text."""
    import json  # noqa: PLC0415 - only bundles with examples pay for it

    if not written:
        return _Examples()
    try:
        items = json.loads(written)
    except (ValueError, RecursionError) as error:
        return _Examples(fault=str(error))
    if items is None:
        return _Examples()
    if not isinstance(items, list):
        return _Examples(fault="the examples are no list")
    if any(not isinstance(item, dict) or not as_string(item.get("kind")) for item in items):
        return _Examples(fault="an example has no kind")
    return _Examples(tuple(_api(item) for item in items))


def _api(item: Any) -> Gvk:
    group, _, version = string_at(item, "apiVersion").rpartition("/")
    return Gvk(group, version, string_at(item, "kind"))


def _provided(csv: Manifest) -> Iterator[tuple[Gvk, Place]]:
    """The APIs a CSV owns, each with its place. A CRD whose name has no dot has no group to be known by."""
    for i, crd in items_at(csv.body, *_OWNED):
        group = string_at(crd, "name").partition(".")[2]
        if "." in string_at(crd, "name"):
            yield (
                Gvk(group, string_at(crd, "version"), string_at(crd, "kind")),
                csv.place.at(*_OWNED, i),
            )
    for i, api in items_at(csv.body, "spec", "apiservicedefinitions", "owned"):
        place = csv.place.at("spec", "apiservicedefinitions", "owned", i)
        yield Gvk(*(string_at(api, key) for key in ("group", "version", "kind"))), place


def _readable(bundle: BundleFolder) -> tuple[Manifest, str, _Examples] | None:
    """The CSV and its examples, if it has some that can be read."""
    stated = _stated(bundle.csv) if bundle.csv else None
    if bundle.csv is None or stated is None:
        return None
    examples = _examples(stated[1])
    return None if examples.fault else (bundle.csv, stated[0], examples)


@bundle_folder_rule("EP623", "no-examples", Severity.WARNING, "csv")
def no_examples(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has examples of its APIs, in the annotation alm-examples.

    Consoles start from them whoever creates an object; without one the form is empty. Cost: one look-up.
    """
    if bundle.csv is not None and _stated(bundle.csv) is None:
        yield Flaw(
            bundle.csv.place.at("metadata", "annotations"),
            "the CSV has no examples of its APIs",
            because=("consoles have nothing to start from when a user creates an object",),
            fix="add the annotation alm-examples: a JSON list with an object of each API",
        )


@bundle_folder_rule("EP624", "two-example-annotations", Severity.WARNING, "csv")
def two_example_annotations(bundle: BundleFolder) -> Iterator[Flaw]:
    """Examples stand in one annotation: alm-examples or olm.examples.

    With both, alm-examples counts and the other is passed over. Cost: two look-ups.
    """
    if bundle.csv is not None and all(key in bundle.csv.annotations for key in _KEYS):
        yield Flaw(
            bundle.csv.place.key("metadata", "annotations", _KEYS[1]),
            "the CSV has examples in alm-examples and in olm.examples",
            because=("alm-examples counts; nobody reads the others",),
            fix="remove olm.examples",
        )


@bundle_folder_rule("EP625", "examples-do-not-parse", Severity.ERROR, "csv", "opm")
def examples_do_not_parse(bundle: BundleFolder) -> Iterator[Flaw]:
    """Examples are a JSON list of objects, each with apiVersion and kind.

    A console shows none of them if one comma is wrong. Cost: one parse.
    """
    stated = _stated(bundle.csv) if bundle.csv else None
    if bundle.csv is None or stated is None:
        return
    key, written = stated
    if fault := _examples(written).fault:
        yield Flaw(
            bundle.csv.place.at("metadata", "annotations", key),
            f"the examples cannot be read: {fault}",
            because=("consoles show none of them",),
            fix="correct the JSON: a list of objects with apiVersion and kind",
        )


@bundle_folder_rule("EP626", "example-without-api", Severity.ERROR, "csv", "opm")
def example_without_api(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every example is of an API that the CSV owns.

    A console offers to create an object that no API server of this operator takes. Cost: one look-up each.
    """
    found = _readable(bundle)
    if found is None:
        return
    csv, key, examples = found
    provided = dict(_provided(csv))
    for api in dict.fromkeys(examples.apis):
        if api not in provided:
            near = next((p for p in provided if p.kind == api.kind), None)
            yield Flaw(
                csv.place.at("metadata", "annotations", key),
                f"there is an example of {api}, which the CSV does not own",
                because=(f"the CSV owns {near}",) if near else ("no API of the CSV has this kind",),
                fix=f"write it for {near}" if near else "remove the example, or list the API as owned",
            )


@bundle_folder_rule("EP627", "api-without-example", Severity.WARNING, "csv")
def api_without_example(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every API that a CSV owns has an example.

    A console starts with an empty form for the others. Cost: one look-up each.
    """
    found = _readable(bundle)
    if found is None:
        return
    csv, key, examples = found
    shown = set(examples.apis)
    for api, place in dict(_provided(csv)).items():
        if api not in shown:
            yield Flaw(
                place,
                f"there is no example of {api}",
                because=(f"consoles have nothing to start from; {key} has {len(shown)} others",),
                fix=f"add one to {key}",
            )


@bundle_folder_rule("EP628", "owned-crd-name", Severity.ERROR, "csv", "opm")
def owned_crd_name(bundle: BundleFolder) -> Iterator[Flaw]:
    """The name of an owned CRD is PLURAL.GROUP.

    OLM takes the group from it, and finds no CRD by a name without a dot. Cost: one look at each.
    """
    if bundle.csv is None:
        return
    for i, crd in items_at(bundle.csv.body, *_OWNED):
        name = string_at(crd, "name")
        if "." not in name:
            yield Flaw(
                bundle.csv.place.at(*_OWNED, i, "name"),
                f"the owned CRD {name!r} has no group in its name",
                because=("OLM splits the name at its first dot: plural, then group",),
                fix="write the metadata.name of the CRD: PLURAL.GROUP",
            )
