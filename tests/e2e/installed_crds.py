"""The CRDs of searchkeeper on a real API server."""

from __future__ import annotations

__all__ = ["CRDS", "SAMPLES", "group_path", "install_crds"]

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from http import HTTPStatus

import yaml

from searchkeeper.api.crds import crds
from tests.e2e.servers.api import Api, ApiError, Object
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.polling import wait_until
from tests.support.commandline import ROOT

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SAMPLES = [
    document
    for file in sorted((ROOT / "operator/config/samples").glob("*.yaml"))
    for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))
]


def group_path(namespace: str) -> str:
    return f"/apis/search.everpath.dev/v1alpha1/namespaces/{namespace}"


@contextmanager
def install_crds(plane: ControlPlane, namespace: str) -> Iterator[Api]:
    """Create a namespace and apply the CRDs, which an installed release may have created already.

    The API server serves a changed schema some time after the update. So each CRD gets a marker field first:
    the present schema is served as soon as the marker has appeared and is gone.
    """
    api = plane.api.new_connection()
    api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    for plural, crd in crds().items():
        try:
            api.create(CRDS, _with_marker(crd))
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
            api.patch(f"{CRDS}/{plural}.search.everpath.dev", _with_marker(crd))
        wait_until(f"{plural} are served with the marker", partial(_has_marker, api, namespace, plural))
        api.patch(f"{CRDS}/{plural}.search.everpath.dev", crd)
        wait_until(f"{plural} are served without the marker", partial(_has_no_marker, api, namespace, plural))
    yield api
    api.delete(f"/api/v1/namespaces/{namespace}")
    api.close()


def _with_marker(crd: Object) -> Object:
    """A CRD with a field that has a default, so that every new object shows whether this schema is served."""
    changed = deepcopy(crd)
    for version in changed["spec"]["versions"]:
        version["schema"]["openAPIV3Schema"]["properties"]["mark"] = {"type": "string", "default": "here"}
    return changed


def _has_marker(api: Api, namespace: str, plural: str) -> bool | None:
    """Whether a new object has the marker; None if none can be created yet."""
    sample = next(deepcopy(each) for each in SAMPLES if f"{each['kind'].lower()}s" == plural)
    sample["metadata"]["name"] = "dry-run"
    try:
        return "mark" in api.create(f"{group_path(namespace)}/{plural}?dryRun=All", sample)
    except ApiError as error:
        if error.code in (HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY):
            return None
        raise


def _has_no_marker(api: Api, namespace: str, plural: str) -> bool:
    return _has_marker(api, namespace, plural) is False
