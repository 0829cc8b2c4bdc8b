"""The operator as its authors keep it: its manifests, sorted by what a bundle does with each kind."""

from __future__ import annotations

__all__ = ["SCORECARD", "Icon", "Operator", "group_of", "sorted_out"]

from base64 import b64encode
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final, NamedTuple, NoReturn

from everpath.errors import UnreadableInput
from everpath.manifest_access import text
from everpath.model.bundle_contents import Manifest

#: What belongs to a cluster or to the tool that assembled the manifests, never to a bundle.
_LEFT_OUT: Final = frozenset({"Namespace", "Kustomization", "Component", "ServiceAccount"})
_PARTS: Final[Mapping[str, str]] = {
    "ClusterServiceVersion": "csvs",
    "CustomResourceDefinition": "crds",
    "Deployment": "deployments",
    "Role": "roles",
    "ClusterRole": "cluster_roles",
    "RoleBinding": "role_bindings",
    "ClusterRoleBinding": "cluster_role_bindings",
    "MutatingWebhookConfiguration": "webhooks",
    "ValidatingWebhookConfiguration": "webhooks",
}
#: The group of the tests that operator-sdk runs against a bundle.
SCORECARD: Final = "scorecard.operatorframework.io"


class Icon(NamedTuple):
    """A picture, and how OLM's consoles are told what it is."""

    data: bytes
    media_type: str

    def as_spec(self) -> dict[str, str]:
        """As `spec.icon` lists it."""
        return {"base64data": b64encode(self.data).decode("ascii"), "mediatype": self.media_type}


class Operator(NamedTuple):
    """Manifests by their part in a bundle, each part in order of name.

    `samples` are objects of the operator's own kinds; `others` go into the bundle as they are.
    """

    base: Manifest
    crds: tuple[Manifest, ...] = ()
    deployments: tuple[Manifest, ...] = ()
    roles: tuple[Manifest, ...] = ()
    cluster_roles: tuple[Manifest, ...] = ()
    role_bindings: tuple[Manifest, ...] = ()
    cluster_role_bindings: tuple[Manifest, ...] = ()
    samples: tuple[Manifest, ...] = ()
    scorecard: tuple[Manifest, ...] = ()
    webhooks: tuple[Manifest, ...] = ()
    others: tuple[Manifest, ...] = ()
    icon: Icon | None = None


def sorted_out(manifests: Iterable[Manifest], icon: Icon | None = None) -> Operator:
    """The operator these manifests make. Their order, and how they are spread over files, means nothing."""
    parts: dict[str, list[Manifest]] = {}
    read = sorted(manifests, key=lambda m: (m.kind, m.name, m.api_version, m.place))
    groups = {group_of(m) for m in read if m.kind == "CustomResourceDefinition"}
    for manifest in read:
        if manifest.kind == "CustomResourceDefinition" and not manifest.name:
            _refuse_nameless(manifest)
    _refuse_twins(read)
    for manifest in read:
        parts.setdefault(_part(manifest, groups), []).append(manifest)
    parts.pop("left out", None)
    base = _only_csv(parts.pop("csvs", []))
    return Operator(base, **{name: tuple(part) for name, part in parts.items()}, icon=icon)


def group_of(crd: Manifest) -> str:
    """The API group that a CustomResourceDefinition extends."""
    return text(crd.spec, "group")


def _part(manifest: Manifest, groups: set[str]) -> str:
    group, slash, _ = manifest.api_version.partition("/")
    if not manifest.kind or manifest.kind in _LEFT_OUT:
        return "left out"
    if slash and group in groups:
        return "samples"
    if group == SCORECARD:
        return "scorecard"
    return _PARTS.get(manifest.kind, "others")


def _refuse_twins(manifests: list[Manifest]) -> None:
    """Patches look like the objects they change: to take both would put the wrong one into the bundle."""
    for one, other in pairwise(manifests):
        if (
            one.kind not in _LEFT_OUT
            and (one.kind, one.name) == (other.kind, other.name)
            and one.api_version == other.api_version
        ):
            if not one.name:
                _refuse_nameless(one)
            raise UnreadableInput(
                f"{one.kind} {one.name!r} is in {one.place.file} and in {other.place.file}",
                hint="if one patches the other, give what `kustomize build` prints of them instead of both",
                file=other.place.file,
            )


def _refuse_nameless(manifest: Manifest) -> NoReturn:
    file = manifest.place.file
    raise UnreadableInput(
        f"{file}: the {manifest.kind} has no name", hint="name it under metadata.name", file=file
    )


def _only_csv(found: list[Manifest]) -> Manifest:
    if not found:
        raise UnreadableInput(
            "the operator's manifests have no ClusterServiceVersion to start from",
            hint="`everpath init` writes one to begin with; put it where `operator:` looks, "
            "and list it there if a kustomization.yaml lists the others",
        )
    if len(found) > 1:
        files = ", ".join(manifest.place.file for manifest in found)
        raise UnreadableInput(
            f"the operator's manifests have {len(found)} ClusterServiceVersions: {files}",
            hint="keep the one that the others were made from",
        )
    return found[0]
