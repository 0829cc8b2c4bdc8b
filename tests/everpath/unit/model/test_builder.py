"""CatalogBuilder: packages from parts that are added in any order."""

from __future__ import annotations

from everpath.model import Bundle, Channel, Declaration, Place
from everpath.model.builder import CatalogBuilder

HERE = Place("catalog.yaml")
ELSEWHERE = Place("other.yaml")


def test_parts_with_the_same_package_name_form_one_package() -> None:
    builder = CatalogBuilder()
    builder.add_channel(Channel("stable", "op", HERE))
    builder.add_bundle(Bundle("op.v1.0.0", "op", "1.0.0", ELSEWHERE))
    builder.declare("op", Declaration(HERE, "stable"))
    (package,) = builder.build("catalog").packages
    assert [channel.name for channel in package.channels] == ["stable"]
    assert [bundle.name for bundle in package.bundles] == ["op.v1.0.0"]
    assert package.default_channel == "stable"


def test_packages_are_sorted_and_channels_keep_their_order() -> None:
    builder = CatalogBuilder()
    for package, channel in (("b", "stable"), ("a", "stable"), ("b", "fast")):
        builder.add_channel(Channel(channel, package, HERE))
    catalog = builder.build("catalog")
    assert list(catalog.by_name) == ["a", "b"]
    assert [channel.name for channel in catalog.by_name["b"].channels] == ["stable", "fast"]


def test_parts_can_be_added_after_a_build() -> None:
    builder = CatalogBuilder()
    builder.add_channel(Channel("stable", "op", HERE))
    first = builder.build("first")
    builder.add_channel(Channel("fast", "op", HERE))
    assert [len(catalog.by_name["op"].channels) for catalog in (first, builder.build("second"))] == [1, 2]
