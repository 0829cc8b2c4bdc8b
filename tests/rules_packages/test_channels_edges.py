"""Channels: every unsafe name is told, where it is written."""

from __future__ import annotations

from documents import bundle, catalog, channel, package
from graphs import findings, parse_report

A, B = "op.v1.0.0", "op.v1.1.0"


def test_a_channel_without_a_name_is_told_once_and_where_the_name_should_be() -> None:
    (finding,) = parse_report(catalog(package(), channel(A, name=""), bundle(A)), "EP107", "EP111")
    assert (finding.rule, finding.place.pointer) == ("EP107", ("name",))


def test_a_channel_described_twice_is_refused() -> None:
    (finding,) = parse_report(catalog(package(), channel(A), channel(A), bundle(A)), "EP108")
    assert finding.because == ("the first description is in 1.yaml", "opm refuses the catalog")


def test_every_unsafe_channel_is_told_with_its_fault() -> None:
    made = catalog(package(), channel(A, name="Fast"), channel(A, name="a/b"), bundle(A))
    found = parse_report(made, "EP111")
    assert [(f.place.file, f.place.pointer) for f in found] == [("1.yaml", ("name",)), ("2.yaml", ("name",))]
    assert found[0].message.startswith("the name of channel 'Fast' is not safe: ")
    assert "slash" not in found[0].message


def test_an_unsafe_entry_is_told_in_the_first_channel_that_holds_it_with_its_fault() -> None:
    made = catalog(package(), channel("Op.v1"), channel("Op.v1", name="fast"), bundle("Op.v1", "1.0.0"))
    (finding,) = parse_report(made, "EP111")
    assert (finding.place.file, finding.place.pointer) == ("1.yaml", ("entries", 0, "name"))
    assert finding.message.startswith("the name of bundle 'Op.v1' is not safe: ")
    assert "slash" not in finding.message


def test_an_unsafe_entry_is_told_even_if_it_has_no_bundle() -> None:
    assert findings(catalog(package(), channel("a/b")), "EP111") == [
        "EP111 a/b: the name of bundle 'a/b' is not safe: it has a slash"
    ]


def test_a_long_name_is_told_with_what_follows() -> None:
    name = "a" * 64
    (finding,) = parse_report(catalog(package(), channel(A, name), bundle(A), bundle(name, "2.0.0")), "EP111")
    assert (finding.entry, finding.place.pointer) == (name, ("entries", 1, "name"))
    assert finding.because == ("OLM v0 writes the name into labels, whose values end at 63",)


def test_every_collision_is_told_where_the_second_name_is_written() -> None:
    made = catalog(
        package(default="s"), channel("x_a", "x_b", "c", name="s"), channel("c", "a", "b", name="s_x")
    )
    found = [f for f in parse_report(made, "EP111") if "JSON cache" in f.message]
    assert [(f.entry, f.channel, f.place.pointer) for f in found] == [
        ("a", "s_x", ("entries", 1, "name")),
        ("b", "s_x", ("entries", 2, "name")),
    ]
    assert found[0].because == ("opm serves one of the two bundles under both names",)
