"""The manifests of an operator, classified by their use in a bundle."""

from __future__ import annotations

__all__ = ["SCORECARD_GROUP", "Icon", "OperatorManifests", "classify_manifests"]

from base64 import b64encode
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final, NamedTuple, NoReturn

from everpath.errors import UnreadableInput
from everpath.manifest_access import text
from everpath.model.bundle_contents import CRD, CSV, Manifest

#: Kinds that OLM creates itself, or that only kustomize reads.
_IGNORED_KINDS: Final = frozenset({"Namespace", "Kustomization", "Component", "ServiceAccount"})
#: The field of `OperatorManifests` for each kind.
_FIELDS: Final[Mapping[str, str]] = {
    CRD: "crds",
    "Deployment": "deployments",
    "Role": "roles",
    "ClusterRole": "cluster_roles",
    "RoleBinding": "role_bindings",
    "ClusterRoleBinding": "cluster_role_bindings",
    "MutatingWebhookConfiguration": "webhooks",
    "ValidatingWebhookConfiguration": "webhooks",
}
#: The API group of the tests that operator-sdk runs against a bundle.
SCORECARD_GROUP: Final = "scorecard.operatorframework.io"


class Icon(NamedTuple):
    """The icon of an operator."""

    data: bytes
    media_type: str

    def as_spec(self) -> dict[str, str]:
        """The item of `spec.icon` in the CSV."""
        return {"base64data": b64encode(self.data).decode("ascii"), "mediatype": self.media_type}


class OperatorManifests(NamedTuple):
    """Manifests by their use in a bundle, each group sorted by kind and name.

    `base` is the base CSV, `samples` are custom resources of the operator, and `others` are copied to the
    bundle.
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


def classify_manifests(manifests: Iterable[Manifest], icon: Icon | None = None) -> OperatorManifests:
    """Classify manifests; their order and files do not matter. Raises `UnreadableInput`."""
    ordered = sorted(manifests, key=lambda m: (m.kind, m.name, m.api_version, m.place))
    crd_groups = {text(m.spec, "group") for m in ordered if m.kind == CRD}
    for manifest in ordered:
        if manifest.kind == CRD and not manifest.name:
            _refuse_nameless(manifest)
    _refuse_duplicates(ordered)
    csvs: list[Manifest] = []
    fields: dict[str, list[Manifest]] = {}
    for manifest in ordered:
        group, slash, _ = manifest.api_version.partition("/")
        if not manifest.kind or manifest.kind in _IGNORED_KINDS:
            continue
        if slash and group in crd_groups:
            fields.setdefault("samples", []).append(manifest)
        elif group == SCORECARD_GROUP:
            fields.setdefault("scorecard", []).append(manifest)
        elif manifest.kind == CSV:
            csvs.append(manifest)
        else:
            fields.setdefault(_FIELDS.get(manifest.kind, "others"), []).append(manifest)
    base = _base_csv(csvs)
    return OperatorManifests(base, **{name: tuple(found) for name, found in fields.items()}, icon=icon)


def _refuse_duplicates(manifests: list[Manifest]) -> None:
    """Refuse an object that occurs twice: one of the two is often a patch of the other."""
    for one, other in pairwise(manifests):
        if (
            one.kind not in _IGNORED_KINDS
            and (one.kind, one.name) == (other.kind, other.name)
            and one.api_version == other.api_version
        ):
            if not one.name:
                _refuse_nameless(one)
            raise UnreadableInput(
                f"{one.kind} {one.name!r} is in {one.place.file} and in {other.place.file}",
                hint="if one is a patch of the other, use the output of `kustomize build` instead of both",
                file=other.place.file,
            )


def _refuse_nameless(manifest: Manifest) -> NoReturn:
    file = manifest.place.file
    raise UnreadableInput(f"{file}: the {manifest.kind} has no name", hint="add metadata.name", file=file)


def _base_csv(csvs: list[Manifest]) -> Manifest:
    if not csvs:
        raise UnreadableInput(
            "the operator's manifests have no base ClusterServiceVersion",
            hint="`everpath init` writes one; put it into a folder that `operator:` names, "
            "and add it to the kustomization.yaml there, if any",
        )
    if len(csvs) > 1:
        files = ", ".join(manifest.place.file for manifest in csvs)
        raise UnreadableInput(
            f"the operator's manifests have {len(csvs)} ClusterServiceVersions: {files}",
            hint="keep only the base CSV",
        )
    return csvs[0]
