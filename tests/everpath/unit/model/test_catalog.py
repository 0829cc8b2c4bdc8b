"""The types of a catalog: places of values, packages without declarations, APIs."""

from __future__ import annotations

import pytest

from everpath.model import Bundle, Channel, Gvk, Package, Place
from everpath.model.catalog import Dialect


@pytest.mark.parametrize(
    ("dialect", "path", "pointer"),
    [
        ("fbc", ("skips", 0), ("skips", 0)),
        ("csv", ("skips", 0), ("spec", "skips", 0)),
        ("csv", ("skipRange",), ("metadata", "annotations", "olm.skipRange")),
        ("annotations", ("skips",), ("skips",)),
        ("csv", (), ()),
    ],
)
def test_place_of_a_field_depends_on_the_kind_of_document(
    dialect: Dialect, path: tuple[str | int, ...], pointer: tuple[str | int, ...]
) -> None:
    assert Place("file", dialect=dialect).at(*path).pointer == pointer


def test_place_of_a_key_has_the_key_as_written() -> None:
    place = Place("file", pointer=("spec",), dialect="csv").key("skips")
    assert (place.pointer, place.on_key) == (("spec", "skips"), True)


def test_package_without_declaration_is_at_its_first_channel_or_bundle() -> None:
    bundle = Bundle("op.v1.0.0", "op", "1.0.0", Place("bundle.yaml"))
    channel = Channel("stable", "op", Place("channel.yaml"))
    assert Package("op", channels=(channel,), bundles=(bundle,)).place.file == "channel.yaml"
    assert Package("op", bundles=(bundle,)).place.file == "bundle.yaml"
    assert Package("op").place == Place("")


def test_gvk_is_shown_with_the_kind_first() -> None:
    assert str(Gvk("example.com", "v1", "Widget")) == "Widget (example.com/v1)"
