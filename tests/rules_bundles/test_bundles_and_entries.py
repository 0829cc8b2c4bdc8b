"""That every entry has a bundle, every bundle a channel, and every image a name."""

from __future__ import annotations

import pytest

from documents import bundle, catalog, channel, in_folder, package, repository
from everpath.model import Catalog
from everpath.rules._references import mended, reference_fault
from everpath.rules.findings import Severity
from graphs import findings, parse_report

A, B = "op.v1.0.0", "op.v1.1.0"
SHA = "sha256:" + "a" * 64


def test_an_entry_without_a_bundle_is_named_with_what_was_meant() -> None:
    made = catalog(package(), channel(A, "opp.v1.1.0"), bundle(A), bundle(B))
    (finding,) = parse_report(made, "missing-bundle")
    assert (finding.message, finding.fix) == ("opp.v1.1.0 has no bundle", f"did you mean {B}?")


def test_a_bundle_that_is_an_entry_itself_is_not_what_was_meant() -> None:
    made = catalog(package(), channel(A, B, "opp.v1.1.0"), bundle(A), bundle(B))
    (finding,) = parse_report(made, "EP401")
    assert finding.fix == "add its olm.bundle document, or remove the entry"


def test_of_an_undeclared_package_only_that_is_reported() -> None:
    assert findings(catalog(channel(A), bundle(B)), "EP401", "EP402") == []


def test_a_bundle_in_no_channel_may_be_the_one_an_entry_misses() -> None:
    made = catalog(package(), channel(A, "opp.v1.1.0"), bundle(A), bundle(B))
    (finding,) = parse_report(made, "bundle-in-no-channel")
    assert finding.fix == "is it the entry opp.v1.1.0, which has no bundle?"
    assert finding.because == ("nobody can install it", "opm refuses the catalog")


def test_a_bundle_folder_in_no_channel_is_a_warning() -> None:
    made = repository(in_folder(A), in_folder(B, channels=()))
    (finding,) = parse_report(made, "EP402")
    assert (finding.entry, finding.severity) == (B, Severity.WARNING)
    assert finding.because == ("nobody can install it",)


def test_two_bundles_of_one_name_and_different_versions_want_a_new_name() -> None:
    made = repository(in_folder(A), in_folder(A, "1.0.1"))
    (finding,) = parse_report(made, "duplicate-bundle")
    assert finding.fix == "rename one after its own version"
    assert finding.place.file == "operators/op/1.0.1/manifests/csv.yaml"


@pytest.mark.parametrize(
    "image",
    [
        "busybox",
        "a/b",
        "quay.io/a/b:1.2_x-Y",
        f"quay.io/a/b@{SHA}",
        f"localhost:5000/a:1@{SHA}",
        "Foo.io/a",
        "a__b/c--d.e",
        "a" * 237,  # docker.io/library/ stands before it
        "localhost/" + "a" * 245,
        "index.docker.io/" + "a" * 237,
        "index.docker.io/a/" + "b" * 243,
        "docker.io/" + "a" * 237,
        "quay.io/" + "a" * 247,
        "b/" + "a" * 243,
        f"a@sha384:{'b' * 96}",
        f"{'q' * 100}.io/{'a' * 151}:{'t' * 128}@sha512:{'c' * 128}",  # as long as can be
    ],
)
def test_references_a_registry_understands(image: str) -> None:
    assert reference_fault(image) is None


@pytest.mark.parametrize(
    ("image", "fault", "guess"),
    [
        ("quay.io/Foo/bar:V1", "the path of an image is written in lower case", "quay.io/foo/bar:V1"),
        ("docker://quay.io/a:1", "a reference does not begin with docker://", "quay.io/a:1"),
        (f"oci://quay.io/a@{SHA}", "a reference does not begin with oci://", f"quay.io/a@{SHA}"),
        (" quay.io/a", "there is white space in it", "quay.io/a"),
        ("quay.io/a:", "it is not of the form [host/]path[:tag][@digest]", None),
        ("quay.io/a@sha256:abc", "what stands behind @ is no digest such as sha256:…", None),
        ("a@sha256:" + "a" * 63, "a sha256 digest has 64 hexadecimal digits, this one 63", None),
        ("a@sha256:" + "A" * 64, "a digest is written in lower case", None),
        ("a@md5:" + "a" * 32, "md5 is no digest there is: write sha256, sha384, sha512", None),
        ("a" * 64, "64 hexadecimal digits are an image's id, not its name", None),
        ("quay.io/" + "a" * 248, "the name of an image has at most 255 characters", None),
        ("a" * 238, "the name of an image has at most 255 characters", None),
        ("b/" + "a" * 244, "the name of an image has at most 255 characters", None),
        ("index.docker.io/" + "a" * 238, "the name of an image has at most 255 characters", None),
        ("localhost:5000/Foo", "the path of an image is written in lower case", "localhost:5000/foo"),
        ("Foo", "the path of an image is written in lower case", "foo"),
        ("a\tb", "there is white space in it", None),
        ("docker://", "a reference does not begin with docker://", None),
        ("a" * 600, "no reference has 600 characters", None),
    ],
)
def test_a_reference_that_is_none_says_why_and_what_was_meant(
    image: str, fault: str, guess: str | None
) -> None:
    assert reference_fault(image) == fault
    assert mended(image) == guess


def test_a_long_name_without_end_is_judged_at_once() -> None:
    """Go's own pattern, taken literally, would backtrack for hours."""
    assert reference_fault("a" * 200 + "!") is not None


def test_each_faulty_image_is_reported_where_it_is_written() -> None:
    images = [{"name": "one", "image": "oci://a/b:1"}, {"name": "", "image": "a/b"}, {"image": "A/b c"}]
    made = catalog(package(), channel(A), bundle(A, image="A b", relatedImages=images))
    found = parse_report(made, "image-reference")
    assert [(f.place.pointer, f.message.partition(":")[0]) for f in found] == [
        (("image",), f"the image of {A} is no reference"),
        (("relatedImages", 0, "image"), f"the related image one of {A} is no reference"),
        (("relatedImages", 2, "image"), f"the related image of {A} is no reference"),
    ]
    assert found[1].fix == "write a/b:1"


def nothing_to_install(**fields: object) -> Catalog:
    return catalog(package(), channel(A), {**bundle(A, image=""), **fields})


def test_a_bundle_without_image_and_manifests_cannot_be_installed() -> None:
    assert findings(nothing_to_install(), "no-image") == [
        f"EP405 {A}: {A} has neither an image nor manifests"
    ]


def test_a_bundle_folder_needs_no_image() -> None:
    assert findings(repository(in_folder(A)), "EP405") == []
