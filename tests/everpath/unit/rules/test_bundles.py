"""Rules about bundles, their entries, channels and images."""

from __future__ import annotations

import pytest

from everpath.model import Catalog
from everpath.rules.findings import Severity
from everpath.rules.image_references import corrected_reference, reference_error
from tests.support.everpath.documents import bundle, catalog, channel, in_folder, package, repository
from tests.support.everpath.graphs import findings, parse_report

A, B = "op.v1.0.0", "op.v1.1.0"
SHA = "sha256:" + "a" * 64
NOT_OFFERED = (
    "OLM v0 never installs it",
    "OLM v1 installs it only for a new ClusterExtension without channels",
)


def test_entry_without_a_bundle_is_reported_with_a_suggestion() -> None:
    made = catalog(package(), channel(A, "opp.v1.1.0"), bundle(A), bundle(B))
    (finding,) = parse_report(made, "missing-bundle")
    assert (finding.message, finding.fix) == (
        "opp.v1.1.0 has no bundle",
        f"did you mean {B}?",
    )


def test_bundle_that_has_an_entry_is_not_suggested() -> None:
    made = catalog(package(), channel(A, B, "opp.v1.1.0"), bundle(A), bundle(B))
    (finding,) = parse_report(made, "EP401")
    assert finding.fix is not None
    assert "did you mean" not in finding.fix


@pytest.mark.parametrize(
    ("drawing", "fix"),
    [
        ("c: b\nb?: a\na", ", or remove it, and let c replace a and skip b"),
        ("c: b / x\nb?: a / y\nx\ny\na", ", or remove it, and let c replace a and skip x, b and y"),
        ("c: b\nb?", ", or remove it, and let c replace nothing and skip b"),
        ("b?: a\na", ", or remove the entry if it is not installed anywhere"),
        ("b?: a / x\na\nx", ""),  # without b, x would be a second head
        ("c: b\nd: b / c\nb?: a\na", ""),  # two successors
        ("d: c\nc?: b\nb?: a\na", ""),  # with two gone each heir is gone, too
        ("a?", ""),
    ],
)
def test_removal_of_an_entry_is_suggested_only_if_opm_accepts_the_rest(drawing: str, fix: str) -> None:
    found = parse_report(drawing, "EP401")
    assert {f.fix for f in found} == {f"add the olm.bundle document{fix}"}


def test_entry_without_a_name_is_reported_once_with_a_fix() -> None:
    (finding,) = parse_report(catalog(package(), channel({"name": ""})), "EP401", "EP111")
    assert (finding.rule, finding.fix) == ("EP401", "write the name of its bundle")


def test_bundles_of_an_undeclared_package_are_not_reported() -> None:
    assert findings(catalog(channel(A), bundle(B)), "EP401", "EP402") == []


def test_bundle_in_no_channel_is_suggested_for_an_entry_without_a_bundle() -> None:
    made = catalog(package(), channel(A, "opp.v1.1.0"), bundle(A), bundle(B))
    (finding,) = parse_report(made, "bundle-in-no-channel")
    assert finding.fix == "is it the entry opp.v1.1.0, which has no bundle?"
    assert finding.because == (*NOT_OFFERED, "opm rejects the catalog")


@pytest.mark.parametrize(
    ("version", "edge"),
    [
        ("op.v1.2.0", f"with replaces: {B}"),
        ("op.v1.0.1", f"and to the skips of {B}"),
        ("op.v1.1.0-rc", f"and to the skips of {B}"),
        ("op.latest", f"and to the skips of {B}"),
    ],
)
def test_fix_adds_the_bundle_to_a_channel_with_an_edge(version: str, edge: str) -> None:
    made = catalog(
        package(),
        channel("op.v9.0.0", name="a-later"),
        channel(A, B),
        *(bundle(n) for n in (A, B, version, "op.v9.0.0")),
    )
    if version == "op.latest":
        made = catalog(package(), channel(A, B), bundle(A), bundle(B), bundle(version, "?"))
    (finding,) = parse_report(made, "EP402")
    assert (
        finding.fix
        == f"add it to a channel, such as stable, {edge}; if it is not installed anywhere, remove it"
    )


def test_both_suggested_edges_keep_one_head() -> None:
    for drawing in (f"{A}\n{B}: {A}", f"{A}\n{B}: - / {A}"):
        assert findings(drawing, "EP202", "EP206", "EP207", "EP208") == []


def test_without_a_head_the_fix_names_no_entry() -> None:
    made = catalog(package(), channel({"name": A}, {"name": B}), *map(bundle, (A, B, "op.v1.2.0")))
    (finding,) = parse_report(made, "EP402")
    assert finding.fix == "add it to a channel, with an edge from or to it"


def test_bundles_of_a_package_without_channels_are_not_reported() -> None:
    assert [f.rule for f in parse_report(catalog(package(), bundle(A)), "EP105", "EP402")] == ["EP105"]


def test_bundle_without_annotations_is_not_reported_again() -> None:
    made = repository(in_folder(A), in_folder(B, channels=(), annotations=None))
    assert findings(made, "EP402") == []
    assert findings(repository(in_folder(A, channels=(), annotations=None)), "EP402") == []


def test_csv_in_no_channel_of_a_package_manifest_is_reported() -> None:
    """The format before bundles: none of its CSVs has annotations."""
    made = repository(in_folder(A, annotations=None), in_folder(B, channels=(), annotations=None))
    (finding,) = parse_report(made, "EP402")
    assert (
        finding.fix == "let an entry of its channel replace or skip it; if it was never released, remove it"
    )


def test_a_bundle_folder_in_no_channel_is_a_warning() -> None:
    made = repository(in_folder(A), in_folder(B, channels=()))
    (finding,) = parse_report(made, "EP402")
    assert (finding.entry, finding.severity) == (B, Severity.WARNING)
    assert finding.because == NOT_OFFERED
    assert (
        finding.fix == "list its channels in metadata/annotations.yaml; if it was never released, remove it"
    )


def test_bundles_with_one_name_and_different_versions_need_another_name() -> None:
    made = repository(in_folder(A), in_folder(A, "1.0.1"))
    (finding,) = parse_report(made, "duplicate-bundle")
    assert finding.fix == "name each after its version"
    assert finding.place.file == "operators/op/1.0.1/manifests/csv.yaml"


@pytest.mark.parametrize("folders", [("1.0.0", "1.1.0"), ("1.1.0", "1.0.0"), ("v1.0.0", "1.1.0")])
def test_fix_for_equal_bundles_names_the_copied_folder(
    folders: tuple[str, str],
) -> None:
    (finding,) = parse_report(repository(*(in_folder(A, folder=f) for f in folders)), "EP403")
    assert finding.fix == "change name and version of the bundle in the folder 1.1.0"


def test_fix_for_equal_rendered_bundles_depends_on_their_content() -> None:
    (finding,) = parse_report(catalog(package(), channel(A), bundle(A), bundle(A)), "EP403")
    assert finding.fix == "if they are the same, remove one; else change name and version of the newer one"


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
def test_valid_image_references_are_accepted(image: str) -> None:
    assert reference_error(image) is None


@pytest.mark.parametrize(
    ("image", "fault", "guess"),
    [
        ("quay.io/Foo/bar:V1", "the path must be in lower case", "quay.io/foo/bar:V1"),
        ("docker://quay.io/a:1", "it starts with docker://", "quay.io/a:1"),
        (f"oci://quay.io/a@{SHA}", "it starts with oci://", f"quay.io/a@{SHA}"),
        (" quay.io/a", "it contains white space", "quay.io/a"),
        ("quay.io/a:", "it is not of the form [host/]path[:tag][@digest]", None),
        ("quay.io/a@sha256:abc", "the part after @ is not a digest such as sha256:…", None),
        ("a@sha256:" + "a" * 63, "a sha256 digest has 64 hexadecimal digits, not 63", None),
        ("a@sha256:" + "A" * 64, "the digest must be in lower case", None),
        ("a@md5:" + "a" * 32, "the digest algorithm md5 is unknown: use sha256, sha384, sha512", None),
        ("a" * 64, "64 hexadecimal digits are the id of an image, not its name", None),
        ("quay.io/" + "a" * 248, "the name has more than 255 characters", None),
        ("a" * 238, "the name has more than 255 characters", None),
        ("b/" + "a" * 244, "the name has more than 255 characters", None),
        ("index.docker.io/" + "a" * 238, "the name has more than 255 characters", None),
        ("localhost:5000/Foo", "the path must be in lower case", "localhost:5000/foo"),
        ("Foo", "the path must be in lower case", "foo"),
        ("a\tb", "it contains white space", None),
        ("docker://", "it starts with docker://", None),
        ("a" * 600, "it has 600 characters, more than 520", None),
    ],
)
def test_invalid_image_reference_has_a_reason_and_a_suggestion(
    image: str, fault: str, guess: str | None
) -> None:
    assert reference_error(image) == fault
    assert corrected_reference(image) == guess


def test_long_image_reference_takes_linear_time() -> None:
    """Go's own pattern, taken literally, would backtrack for hours."""
    assert reference_error("a" * 200 + "!") is not None


def test_each_invalid_image_is_reported_with_its_position() -> None:
    images = [{"name": "one", "image": "oci://a/b:1"}, {"name": "", "image": "a/b"}, {"image": "A/b c"}]
    made = catalog(package(), channel(A), bundle(A, image="A b", relatedImages=images))
    found = parse_report(made, "image-reference")
    assert [(f.place.pointer, f.message.partition(":")[0]) for f in found] == [
        (("image",), f"the image of {A} is not a valid reference"),
        (("relatedImages", 0, "image"), f"the related image one of {A} is not a valid reference"),
        (("relatedImages", 2, "image"), f"the related image of {A} is not a valid reference"),
    ]
    assert found[1].fix == "write a/b:1"


def nothing_to_install(**fields: object) -> Catalog:
    return catalog(package(), channel(A), {**bundle(A, image=""), **fields})


def test_a_bundle_without_image_and_manifests_cannot_be_installed() -> None:
    assert findings(nothing_to_install(), "no-image") == [f"EP405 {A}: {A} has no image and no manifests"]


def test_a_bundle_folder_needs_no_image() -> None:
    assert findings(repository(in_folder(A)), "EP405") == []
