"""References and locations of images."""

from __future__ import annotations

import pytest

from everpath.errors import UsageError
from everpath.oci.references import Reference, parse_reference
from everpath.oci.transports import ImageLocation, looks_like_image, parse_location

DIGEST = "sha256:" + "0f" * 32


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("quay.io/me/catalog:v1", Reference("quay.io", "me/catalog", "v1")),
        ("quay.io/me/catalog", Reference("quay.io", "me/catalog")),
        (f"quay.io/me/catalog@{DIGEST}", Reference("quay.io", "me/catalog", None, DIGEST)),
        (f"quay.io/me/catalog:v1@{DIGEST}", Reference("quay.io", "me/catalog", "v1", DIGEST)),
        ("localhost/catalog:v1", Reference("localhost", "catalog", "v1")),
        ("localhost:5000/a/b/c:v1", Reference("localhost:5000", "a/b/c", "v1")),
        ("[::1]:5000/a:v1", Reference("[::1]:5000", "a", "v1")),
        ("docker://quay.io/me/catalog:v1", Reference("quay.io", "me/catalog", "v1")),
        ("busybox", Reference("docker.io", "library/busybox")),
        ("me/catalog:v1", Reference("docker.io", "me/catalog", "v1")),
        ("docker.io/busybox", Reference("docker.io", "library/busybox")),
        ("index.docker.io/me/x", Reference("docker.io", "me/x")),
    ],
)
def test_parse_reference(text: str, reference: Reference) -> None:
    assert parse_reference(text) == reference
    assert parse_reference(str(reference)) == reference


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("quay.io/Me/catalog", "'Me/catalog' is not a repository"),
        ("quay.io/me//catalog", "is not a repository"),
        ("quay.io/", "'' is not a repository"),
        ("quay.io/me/x:", "is not a repository|is not a tag"),
        ("quay.io/me/x:-v1", "'-v1' is not a tag"),
        ("quay.io/me/x@sha256:12", "is not a digest"),
        ("quay.io/me/x@md5:0123", "is not a digest"),
        ("quay_io.x/me", "is not a host"),
        ("", "is not a repository"),
        ("quay.io/" + "a" * 256, "is not a repository"),
        ("quay.io/../x:v1", "is not a repository"),
    ],
)
def test_invalid_reference_is_rejected(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        parse_reference(text)


@pytest.mark.parametrize(
    ("text", "located"),
    [
        ("oci:out", ImageLocation("oci", None, "out")),
        ("oci:/a/out:v1", ImageLocation("oci", None, "/a/out", "v1")),
        ("oci-archive:a.tar", ImageLocation("oci-archive", None, "a.tar")),
        ("oci-archive:a.tar:v1", ImageLocation("oci-archive", None, "a.tar", "v1")),
        ("docker-archive:a.tar:op:v1", ImageLocation("docker-archive", None, "a.tar", "op:v1")),
        ("quay.io/a:v1", ImageLocation("docker", Reference("quay.io", "a", "v1"))),
    ],
)
def test_parse_location(text: str, located: ImageLocation) -> None:
    assert parse_location(text) == located
    assert str(located) == text


def test_location_without_path_is_rejected() -> None:
    with pytest.raises(UsageError, match="the path is missing"):
        parse_location("oci:")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("quay.io/me/catalog:v1", True),
        (f"me/catalog@{DIGEST}", True),
        ("localhost:5000/catalog:v1", True),
        ("docker://busybox", True),
        ("oci:out", True),
        ("oci-archive:a.tar", True),
        ("docker-archive:a.tar", True),
        ("catalog", False),
        ("catalog/", False),
        ("quay.io/me/catalog", False),
        ("localhost:5000/catalog", False),
        ("catalog.yaml:12", False),
        ("./catalog/a:b", False),
        ("../catalog/a:b", False),
        ("/tmp/a:b", False),
        ("Catalog/a:b", False),
        ("-", False),
    ],
)
def test_looks_like_image(text: str, is_one: bool) -> None:
    assert looks_like_image(text) is is_one
