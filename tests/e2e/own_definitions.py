"""Our resource definitions on a real API server, which serves them as they are now."""

from __future__ import annotations

__all__ = ["CRDS", "SAMPLES", "group", "served"]

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from http import HTTPStatus

import yaml

from commandline import ROOT
from e2e.stand.api import Api, Object, RefusedError
from e2e.stand.control_plane import ControlPlane
from e2e.stand.waiting import until
from searchkeeper.api.crds import crds

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SAMPLES = [
    document
    for file in sorted((ROOT / "operator/config/samples").glob("*.yaml"))
    for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))
]


def group(namespace: str) -> str:
    return f"/apis/search.everpath.dev/v1alpha1/namespaces/{namespace}"


@contextmanager
def served(plane: ControlPlane, namespace: str) -> Iterator[Api]:
    """With a namespace; a release of the operator may have brought the definitions already."""
    own = plane.api.another()
    own.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    for plural, definition in crds().items():
        try:
            own.create(CRDS, _marked(definition))
        except RefusedError as refused:
            if refused.reason != "AlreadyExists":
                raise
            own.merge(f"{CRDS}/{plural}.search.everpath.dev", _marked(definition))
        until(f"{plural} with a mark are served", partial(_is_marked, own, namespace, plural))
        own.merge(f"{CRDS}/{plural}.search.everpath.dev", definition)
        until(f"{plural} without one are served", partial(_is_plain, own, namespace, plural))
    yield own
    own.delete(f"/api/v1/namespaces/{namespace}")
    own.close()


def _marked(definition: Object) -> Object:
    """One that shows in every object that it is in force: the server takes its time with a new one."""
    made = deepcopy(definition)
    for version in made["spec"]["versions"]:
        version["schema"]["openAPIV3Schema"]["properties"]["mark"] = {"type": "string", "default": "here"}
    return made


def _is_marked(api: Api, namespace: str, plural: str) -> bool | None:
    """Whether an object would be marked if it were made now; None where none can be made yet."""
    sample = next(deepcopy(each) for each in SAMPLES if f"{each['kind'].lower()}s" == plural)
    sample["metadata"]["name"] = "tried"
    try:
        return "mark" in api.create(f"{group(namespace)}/{plural}?dryRun=All", sample)
    except RefusedError as refused:
        if refused.code in (HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY):
            return None
        raise


def _is_plain(api: Api, namespace: str, plural: str) -> bool:
    return _is_marked(api, namespace, plural) is False
