"""Rules about channels: all findings with their positions."""

from __future__ import annotations

from tests.support.everpath.documents import bundle, catalog, channel, package
from tests.support.everpath.graphs import findings, parse_report

A, B = "op.v1.0.0", "op.v1.1.0"


def test_channel_without_a_name_is_reported_once_at_its_name() -> None:
    (finding,) = parse_report(catalog(package(), channel(A, name=""), bundle(A)), "EP107", "EP111")
    assert (finding.rule, finding.place.pointer) == ("EP107", ("name",))


def test_two_documents_of_a_channel_are_rejected() -> None:
    (finding,) = parse_report(catalog(package(), channel(A), channel(A), bundle(A)), "EP108")
    assert finding.because == ("the first is in 1.yaml", "opm rejects the catalog")


def test_every_unsafe_channel_name_is_reported_with_a_reason() -> None:
    made = catalog(package(), channel(A, name="Fast"), channel(A, name="a/b"), bundle(A))
    found = parse_report(made, "EP111")
    assert [(f.place.file, f.place.pointer) for f in found] == [("1.yaml", ("name",)), ("2.yaml", ("name",))]
    assert found[0].message.startswith("no ClusterExtension can select the channel 'Fast': ")
    assert "slash" not in found[0].message


def test_unsafe_bundle_name_is_reported_in_the_first_channel() -> None:
    made = catalog(package(), channel("Op.v1"), channel("Op.v1", name="fast"), bundle("Op.v1", "1.0.0"))
    (finding,) = parse_report(made, "EP111")
    assert (finding.place.file, finding.place.pointer) == ("1.yaml", ("entries", 0, "name"))
    assert finding.message.startswith("the API server rejects the bundle name 'Op.v1': ")
    assert "slash" not in finding.message


def test_unsafe_name_of_an_entry_without_a_bundle_is_reported() -> None:
    assert findings(catalog(package(), channel("a/b")), "EP111") == [
        "EP111 a/b: every Subscription of the namespace fails in OLM v0: the name of bundle 'a/b' has a slash"
    ]


def test_long_name_is_reported_with_its_consequence() -> None:
    name = "a" * 64
    (finding,) = parse_report(catalog(package(), channel(A, name), bundle(A), bundle(name, "2.0.0")), "EP111")
    assert (finding.entry, finding.place.pointer) == (name, ("entries", 1, "name"))
    assert finding.because == ("the value of a label has at most 63",)


def test_every_collision_is_reported_at_the_second_name() -> None:
    made = catalog(
        package(default="s"), channel("x_a", "x_b", "c", name="s"), channel("c", "a", "b", name="s_x")
    )
    found = [f for f in parse_report(made, "EP111") if "JSON cache" in f.message]
    assert [(f.entry, f.channel, f.place.pointer) for f in found] == [
        ("a", "s_x", ("entries", 1, "name")),
        ("b", "s_x", ("entries", 2, "name")),
    ]
    assert found[0].because == ("the file is named CHANNEL_BUNDLE",)
