"""Rules for `alm-examples`: the objects that consoles offer to users as templates."""

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
from typing import Final, NamedTuple

from everpath.manifest_access import as_string, items_at, string_at
from everpath.model import Gvk, Place
from everpath.model.bundle_contents import BundleFolder, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_folder_rule
from everpath.wording import count

_KEYS: Final = ("alm-examples", "olm.examples")
_OWNED: Final = ("spec", "customresourcedefinitions", "owned")


class _Examples(NamedTuple):
    """The APIs of the examples, or why the examples cannot be parsed."""

    apis: tuple[Gvk, ...] = ()
    fault: str = ""


def _annotation(csv: Manifest) -> tuple[str, str] | None:
    """Return key and value of the annotation that consoles read."""
    return next(((key, as_string(csv.annotations[key])) for key in _KEYS if key in csv.annotations), None)


@lru_cache(maxsize=16)
def _parse(written: str) -> _Examples:
    """Parse the annotation. Cached, because several rules parse the same one."""
    import json  # noqa: PLC0415 - few commands need it

    if not written:
        return _Examples()
    try:
        items = json.loads(written)
    except (ValueError, RecursionError) as error:
        return _Examples(fault=str(error))
    if items is None:
        return _Examples()
    if not isinstance(items, list):
        return _Examples(fault="the value is not a list")
    if any(not isinstance(item, dict) or not as_string(item.get("kind")) for item in items):
        return _Examples(fault="an example has no kind")
    apis: list[Gvk] = []
    for item in items:
        group, _, version = string_at(item, "apiVersion").rpartition("/")
        apis.append(Gvk(group, version, string_at(item, "kind")))
    return _Examples(tuple(apis))


def _owned_apis(csv: Manifest) -> Iterator[tuple[Gvk, Place]]:
    """Yield the APIs that a CSV owns, with their places, without CRDs whose name has no group."""
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


def _valid_examples(bundle: BundleFolder) -> tuple[Manifest, str, _Examples] | None:
    """Return the CSV, the annotation and its examples, or None if there are none that parse."""
    stated = _annotation(bundle.csv) if bundle.csv else None
    if bundle.csv is None or stated is None:
        return None
    examples = _parse(stated[1])
    return None if examples.fault else (bundle.csv, stated[0], examples)


@bundle_folder_rule("EP623", "no-examples", Severity.WARNING, "csv")
def no_examples(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has examples of its APIs, in the annotation alm-examples.

    Consoles use them as templates for new objects. Without one the form is empty. Cost: one look-up.
    """
    if bundle.csv is not None and _annotation(bundle.csv) is None:
        yield Flaw(
            bundle.csv.place.at("metadata", "annotations"),
            "consoles show an empty form for new objects: the CSV has no examples",
            because=("consoles take templates from the annotation alm-examples",),
            fix="add the annotation alm-examples, a JSON list with one object for each API",
        )


@bundle_folder_rule("EP624", "two-example-annotations", Severity.WARNING, "csv")
def two_example_annotations(bundle: BundleFolder) -> Iterator[Flaw]:
    """The examples are in one annotation: alm-examples or olm.examples.

    If both are set, olm.examples is ignored. Cost: two look-ups.
    """
    if bundle.csv is not None and all(key in bundle.csv.annotations for key in _KEYS):
        yield Flaw(
            bundle.csv.place.key("metadata", "annotations", _KEYS[1]),
            "consoles ignore olm.examples, because the CSV also has alm-examples",
            because=("only one of the two annotations is used",),
            fix="remove olm.examples",
        )


@bundle_folder_rule("EP625", "examples-do-not-parse", Severity.ERROR, "csv", "opm")
def examples_do_not_parse(bundle: BundleFolder) -> Iterator[Flaw]:
    """The examples are a JSON list of objects with apiVersion and kind.

    Consoles show none of them if one is invalid. Cost: one parse.
    """
    stated = _annotation(bundle.csv) if bundle.csv else None
    if bundle.csv is None or stated is None:
        return
    key, written = stated
    if fault := _parse(written).fault:
        yield Flaw(
            bundle.csv.place.at("metadata", "annotations", key),
            f"consoles show no examples, because {key} does not parse: {fault}",
            because=("one error makes all examples unusable",),
            fix="write a JSON list of objects with apiVersion and kind",
        )


@bundle_folder_rule("EP626", "example-without-api", Severity.ERROR, "csv", "opm")
def example_without_api(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every example is an object of an API that the CSV owns.

    Consoles offer a template that the operator does not support. Cost: one look-up an example.
    """
    found = _valid_examples(bundle)
    if found is None:
        return
    csv, key, examples = found
    provided = dict(_owned_apis(csv))
    for api in dict.fromkeys(examples.apis):
        if api not in provided:
            near = next((p for p in provided if p.kind == api.kind), None)
            yield Flaw(
                csv.place.at("metadata", "annotations", key),
                f"consoles offer an example of {api}, which the CSV does not own",
                because=(f"the CSV owns {near}",) if near else ("no owned API has this kind",),
                fix=f"change the example to {near}"
                if near
                else "remove the example, or add the API to the owned ones",
            )


@bundle_folder_rule("EP627", "api-without-example", Severity.WARNING, "csv")
def api_without_example(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every API that a CSV owns has an example.

    Consoles show an empty form for the others. Cost: one look-up an API.
    """
    found = _valid_examples(bundle)
    if found is None:
        return
    csv, key, examples = found
    shown = set(examples.apis)
    for api, place in dict(_owned_apis(csv)).items():
        if api not in shown:
            yield Flaw(
                place,
                f"consoles show an empty form for new objects of {api}: it has no example",
                because=(f"{key} has examples of {count(len(shown), 'API')}",),
                fix=f"add an example to {key}",
            )


@bundle_folder_rule("EP628", "owned-crd-name", Severity.ERROR, "csv", "opm")
def owned_crd_name(bundle: BundleFolder) -> Iterator[Flaw]:
    """The name of an owned CRD is PLURAL.GROUP.

    OLM derives the group from it, and does not find a CRD without one. Cost: one test a CRD.
    """
    if bundle.csv is None:
        return
    for i, crd in items_at(bundle.csv.body, *_OWNED):
        name = string_at(crd, "name")
        if "." not in name:
            yield Flaw(
                bundle.csv.place.at(*_OWNED, i, "name"),
                f"OLM does not find the owned CRD {name!r}: the name has no group",
                because=("the name of a CRD is PLURAL.GROUP",),
                fix="write the metadata.name of the CRD",
            )
