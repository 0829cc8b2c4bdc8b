"""Faults of bundles: a valid bundle with one error, and the rule that reports it."""

from __future__ import annotations

__all__ = ["FAULTS", "Fault"]

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tests.support.everpath.bundle_folders import ANNOTATIONS, CRD, CSV, Files

Edit = Callable[[Files], None]

_KEYS: Final = "operators.operatorframework.io.bundle."
_GONE: Final = object()


class Fault(NamedTuple):
    """A description, the edit, and the rule that reports it."""

    name: str
    edit: Edit
    rule: str


def _put(file: str, way: tuple[str | int, ...], value: Any) -> Edit:
    """Set a value; `_GONE` removes it."""

    def edit(files: Files) -> None:
        place = files[file]
        for step in way[:-1]:
            place = place[step] if isinstance(step, int) else place.setdefault(step, {})
        if value is _GONE:
            del place[way[-1]]
        else:
            place[way[-1]] = value

    return edit


def _csv(*way_and_value: Any) -> Edit:
    return _put(CSV, way_and_value[:-1], way_and_value[-1])


def _spec(*way_and_value: Any) -> Edit:
    return _csv("spec", *way_and_value)


def _note(key: str, value: Any) -> Edit:
    return _csv("metadata", "annotations", key, value)


def _crd(*way_and_value: Any) -> Edit:
    return _put(CRD, way_and_value[:-1], way_and_value[-1])


def _label(key: str, value: Any) -> Edit:
    return _put(ANNOTATIONS, ("annotations", f"{_KEYS}{key}.v1"), value)


def _file(name: str, content: Any) -> Edit:
    def edit(files: Files) -> None:
        files[name] = content

    return edit


def _without(name: str) -> Edit:
    def edit(files: Files) -> None:
        del files[name]

    return edit


def _all(*edits: Edit) -> Edit:
    def edit(files: Files) -> None:
        for each in edits:
            each(files)

    return edit


def _object(kind: str, api: Any = "v1", name: str = "thing", **fields: Any) -> Edit:
    body = {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": name, **fields.pop("metadata", {})},
        **fields,
    }
    return _file(f"manifests/{kind.lower()}.yaml", body)


def _depends(kind: str, value: Any) -> Edit:
    return _file("metadata/dependencies.yaml", {"dependencies": [{"type": kind, "value": value}]})


def _old_crd(**spec: Any) -> Edit:
    """Return the CRD as v1beta1, in which preserving unknown fields is an option."""

    def edit(files: Files) -> None:
        crd = files[CRD]
        crd["apiVersion"] = "apiextensions.k8s.io/v1beta1"
        [version] = crd["spec"]["versions"]
        crd["spec"]["validation"] = version.pop("schema")
        del version["subresources"], version["additionalPrinterColumns"]
        crd["spec"]["preserveUnknownFields"] = False
        crd["spec"] |= spec
        crd["spec"] = {key: value for key, value in crd["spec"].items() if value is not _GONE}

    return edit


def _role(groups: str, resources: str, verb: str, kind: str = "Role", **more: Any) -> Edit:
    rule = {"apiGroups": [groups], "resources": [resources], "verbs": [verb], **more}
    return _object(kind, "rbac.authorization.k8s.io/v1", rules=[rule])


def _budget(**spec: Any) -> Edit:
    return _object("PodDisruptionBudget", "policy/v1", spec={"selector": {}, **spec})


_WEBHOOK: Final = {"type": "ConversionWebhook", "generateName": "x", "sideEffects": "None"}
_CONTAINER: Final = ("install", "spec", "deployments", 0, "spec", "template", "spec", "containers", 0)
_VERSION: Final = ("spec", "versions", 0)
_COLUMN: Final = (*_VERSION, "additionalPrinterColumns", 0)
_RULE: Final = ("install", "spec", "clusterPermissions", 0, "rules", 0)
_LONG: Final = "a" * 64
_CONVERSION: Final = {
    "strategy": "Webhook",
    "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": "acme", "namespace": "acme"}},
    },
}


def _converted(*way_and_value: Any) -> Edit:
    from copy import deepcopy  # noqa: PLC0415

    return _all(
        lambda files: files[CRD]["spec"].update(conversion=deepcopy(_CONVERSION)),
        _crd("spec", "conversion", *way_and_value),
    )


FAULTS: Final = (
    Fault("a role whose verbs are a text", _role("a", "b", "get", verbs="get"), "EP610"),
    Fault("labels that are a list", _object("ConfigMap", metadata={"labels": ["a"]}), "EP610"),
    Fault("an apiVersion that is a number", _object("ConfigMap", 1), "EP610"),
    Fault("a budget that says nothing", _object("PodDisruptionBudget", "policy/v1", spec="x"), "EP610"),
    Fault("a message that is a number", _depends("olm.constraint", {"failureMessage": 1}), "EP606"),
    Fault(
        "selection without a schema",
        _all(_crd(*_VERSION, "selectableFields", [{"jsonPath": ".a"}]), _crd(*_VERSION, "schema", _GONE)),
        "EP649",
    ),
    Fault("no metadata folder", _without(ANNOTATIONS), "EP601"),
    Fault("a folder among the manifests", _file("manifests/more/", ""), "EP602"),
    Fault(
        "a hidden file among the manifests",
        _file("manifests/.hidden.yaml", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}),
        "EP602",
    ),
    Fault("no package annotation", _label("package", _GONE), "EP603"),
    Fault("no media type annotation", _label("mediatype", _GONE), "EP603"),
    Fault("no channel in the annotation", _label("channels", ""), "EP603"),
    Fault("an empty default channel", _label("channel.default", ""), "EP603"),
    Fault("an annotation that is no text", _label("metadata", ["metadata/"]), "EP603"),
    Fault("another media type", _label("mediatype", "plain+v0"), "EP604"),
    Fault("annotations that point elsewhere", _label("manifests", "objects/"), "EP605"),
    Fault("a dependency of an unknown type", _depends("olm.thing", {"a": "b"}), "EP606"),
    Fault(
        "a dependency on an API without a kind",
        _depends("olm.gvk", {"group": "a.b", "version": "v1"}),
        "EP606",
    ),
    Fault("a package without a range", _depends("olm.package", {"packageName": "other"}), "EP606"),
    Fault(
        "a package with no range", _depends("olm.package", {"packageName": "o", "version": "new"}), "EP606"
    ),
    Fault("a label that says nothing", _depends("olm.label", {"label": ""}), "EP606"),
    Fault("CEL that does not compile", _depends("olm.constraint", {"cel": {"rule": "1 +"}}), "EP606"),
    Fault("CEL without a rule", _depends("olm.constraint", {"cel": {"rule": ""}}), "EP606"),
    Fault("a Deployment among the manifests", _object("Deployment", "apps/v1"), "EP607"),
    Fault("an object without a name", _object("ConfigMap", name=""), "EP608"),
    Fault("an object with a namespace", _object("ConfigMap", metadata={"namespace": "acme"}), "EP608"),
    Fault("a label that is none", _object("ConfigMap", metadata={"labels": {"a": "b c"}}), "EP608"),
    Fault("a key of a label that is none", _object("ConfigMap", metadata={"labels": {"a b": "c"}}), "EP608"),
    Fault("a key with two slashes", _object("ConfigMap", metadata={"annotations": {"a/b/c": ""}}), "EP608"),
    Fault(
        "annotations beyond measure",
        _object("ConfigMap", metadata={"annotations": {"a": "b" * 270_000}}),
        "EP608",
    ),
    Fault(
        "an owner without a name",
        _object("ConfigMap", metadata={"ownerReferences": [{"kind": "A"}]}),
        "EP608",
    ),
    Fault("a finalizer that is none", _object("ConfigMap", metadata={"finalizers": ["a b"]}), "EP608"),
    Fault("a CRD with a bad label", _crd("metadata", "labels", {"a": "b c"}), "EP608"),
    Fault("a CRD of v2", _crd("apiVersion", "apiextensions.k8s.io/v2"), "EP609"),
    Fault("a number for a version", _csv("spec", "version", 1.0), "EP610"),
    Fault(
        "text for a number of replicas",
        _spec("install", "spec", "deployments", 0, "spec", "replicas", "1"),
        "EP610",
    ),
    Fault("an object for a list", _spec("maintainers", {"name": "Team"}), "EP610"),
    Fault("a text for a truth", _spec("installModes", 3, "supported", "true"), "EP610"),
    Fault("a quantity that is none", _spec(*_CONTAINER, "resources", "requests", "memory", "much"), "EP610"),
    Fault("an annotation that is no text", _note("certified", value=False), "EP610"),
    Fault("a CRD whose storage is a text", _crd(*_VERSION, "storage", "true"), "EP610"),
    Fault(
        "a release and a substitute", _all(_spec("release", "1"), _note("olm.substitutesFor", "a")), "EP611"
    ),
    Fault("a range that is none", _note("olm.skipRange", "<v1.0.0"), "EP612"),
    Fault("a name in upper case", _csv("metadata", "name", "Acme.v1.0.0"), "EP621"),
    Fault("a name that is too long", _csv("metadata", "name", f"{_LONG}.v1.0.0"), "EP621"),
    Fault("no name", _csv("metadata", "name", ""), "EP621"),
    Fault("replaces what has a slash", _spec("replaces", "acme/0.9.0"), "EP622"),
    Fault("no examples", _note("alm-examples", _GONE), "EP623"),
    Fault("no annotations at all", _csv("metadata", "annotations", {}), "EP623"),
    Fault("examples twice", _note("olm.examples", "[]"), "EP624"),
    Fault("examples that are no JSON", _note("alm-examples", "[{,}]"), "EP625"),
    Fault("examples that are no list", _note("alm-examples", '{"kind": "Cache"}'), "EP625"),
    Fault("an example without a kind", _note("alm-examples", '[{"apiVersion": "a/v1"}]'), "EP625"),
    Fault(
        "an example of another API", _note("alm-examples", '[{"apiVersion": "b.c/v1", "kind": "D"}]'), "EP626"
    ),
    Fault("an API without an example", _note("alm-examples", "[]"), "EP627"),
    Fault(
        "an owned CRD without a group",
        _spec("customresourcedefinitions", "owned", 0, "name", "caches"),
        "EP628",
    ),
    Fault("no install modes", _spec("installModes", []), "EP629"),
    Fault("no supported install mode", _spec("installModes", 3, "supported", False), "EP629"),
    Fault(
        "a conversion webhook for one namespace",
        _all(
            _spec(
                "webhookdefinitions",
                [{**_WEBHOOK, "admissionReviewVersions": ["v1"], "conversionCRDs": ["a.b"]}],
            ),
            _spec("installModes", 0, "supported", True),
        ),
        "EP630",
    ),
    Fault("an install mode twice", _spec("installModes", 0, "type", "AllNamespaces"), "EP631"),
    Fault("no minKubeVersion", _spec("minKubeVersion", _GONE), "EP632"),
    Fault("a minKubeVersion with a v", _spec("minKubeVersion", "v1.29.0"), "EP633"),
    Fault("a minKubeVersion of two numbers", _spec("minKubeVersion", "1.29"), "EP633"),
    Fault("a minKubeVersion that is none", _spec("minKubeVersion", "new"), "EP633"),
    Fault("no displayName", _spec("displayName", ""), "EP634"),
    Fault("no install", _spec("install", _GONE), "EP634"),
    Fault("no strategy", _spec("install", "strategy", ""), "EP634"),
    Fault("no deployments", _spec("install", "spec", "deployments", _GONE), "EP634"),
    Fault("an annotation in another case", _note("olm.skiprange", "<1.0.0"), "EP635"),
    Fault("properties in an annotation", _note("olm.properties", "[]"), "EP636"),
    Fault("no apiVersion", _csv("apiVersion", ""), "EP637"),
    Fault("a CRD called otherwise", _crd("metadata", "name", "stores.example.com"), "EP641"),
    Fault("a group without a dot", _crd("spec", "group", "example"), "EP642"),
    Fault("no group", _crd("spec", "group", ""), "EP642"),
    Fault("no plural", _crd("spec", "names", "plural", ""), "EP643"),
    Fault("a plural in upper case", _crd("spec", "names", "plural", "Caches"), "EP643"),
    Fault("no kind", _crd("spec", "names", {"plural": "caches"}), "EP643"),
    Fault("a kind with a dot", _crd("spec", "names", "kind", "Ca.che"), "EP643"),
    Fault("a kind that is its list", _crd("spec", "names", "listKind", "Cache"), "EP643"),
    Fault("a short name that is none", _crd("spec", "names", "shortNames", ["c c"]), "EP643"),
    Fault("a category that is none", _crd("spec", "names", "categories", ["All"]), "EP643"),
    Fault("no stored version", _crd(*_VERSION, "storage", False), "EP644"),
    Fault("no versions", _crd("spec", "versions", []), "EP644"),
    Fault("a version that is no name", _crd(*_VERSION, "name", "1"), "EP644"),
    Fault("a warning without a deprecation", _crd(*_VERSION, "deprecationWarning", "old"), "EP644"),
    Fault(
        "an empty warning",
        _all(_crd(*_VERSION, "deprecated", True), _crd(*_VERSION, "deprecationWarning", "")),
        "EP644",
    ),
    Fault(
        "the same version twice",
        lambda files: files[CRD]["spec"]["versions"].append(files[CRD]["spec"]["versions"][0]),
        "EP644",
    ),
    Fault("an old CRD whose version is another", _old_crd(version="v2"), "EP644"),
    Fault("no scope", _crd("spec", "scope", ""), "EP645"),
    Fault("a scope there is not", _crd("spec", "scope", "Global"), "EP645"),
    Fault("a strategy there is not", _crd("spec", "conversion", {"strategy": "Magic"}), "EP646"),
    Fault("a webhook nowhere", _converted("webhook", "clientConfig", _GONE), "EP646"),
    Fault("a webhook at two places", _converted("webhook", "clientConfig", "url", "https://a.b/c"), "EP646"),
    Fault("a webhook without TLS", _converted("webhook", "clientConfig", {"url": "http://a.b/c"}), "EP646"),
    Fault("a webhook of no name", _converted("webhook", "clientConfig", "service", "name", ""), "EP646"),
    Fault("a webhook at no port", _converted("webhook", "clientConfig", "service", "port", 70000), "EP646"),
    Fault(
        "a webhook with a bad path", _converted("webhook", "clientConfig", "service", "path", "A"), "EP646"
    ),
    Fault("a webhook without reviews", _converted("webhook", "conversionReviewVersions", []), "EP646"),
    Fault("a webhook of strange reviews", _converted("webhook", "conversionReviewVersions", ["v9"]), "EP646"),
    Fault(
        "a webhook of reviews twice", _converted("webhook", "conversionReviewVersions", ["v1", "v1"]), "EP646"
    ),
    Fault("a webhook that is not used", _converted("strategy", "None"), "EP646"),
    Fault("a column without a name", _crd(*_COLUMN, "name", ""), "EP647"),
    Fault("a column without a type", _crd(*_COLUMN, "type", ""), "EP647"),
    Fault("a column of a type there is not", _crd(*_COLUMN, "type", "text"), "EP647"),
    Fault("a column of a format there is not", _crd(*_COLUMN, "format", "long"), "EP647"),
    Fault("a column without a path", _crd(*_COLUMN, "jsonPath", ""), "EP647"),
    Fault("a column with a bare path", _crd(*_COLUMN, "jsonPath", "status.phase"), "EP647"),
    Fault(
        "a scale that reads status",
        _crd(
            *_VERSION,
            "subresources",
            "scale",
            {"specReplicasPath": ".status.a", "statusReplicasPath": ".status.a"},
        ),
        "EP648",
    ),
    Fault(
        "a scale without a path",
        _crd(*_VERSION, "subresources", "scale", {"specReplicasPath": "", "statusReplicasPath": ".status.a"}),
        "EP648",
    ),
    Fault("selection without a path", _crd(*_VERSION, "selectableFields", [{"jsonPath": ""}]), "EP649"),
    Fault(
        "selection by metadata",
        _crd(*_VERSION, "selectableFields", [{"jsonPath": ".metadata.name"}]),
        "EP649",
    ),
    Fault(
        "selection by a field twice",
        _crd(*_VERSION, "selectableFields", [{"jsonPath": ".spec.host"}] * 2),
        "EP649",
    ),
    Fault("unknown fields kept", _crd("spec", "preserveUnknownFields", True), "EP650"),
    Fault("unknown fields kept by default", _old_crd(preserveUnknownFields=_GONE), "EP650"),
    Fault(
        "a protected group without approval",
        _all(_crd("spec", "group", "acme.k8s.io"), _crd("metadata", "name", "caches.acme.k8s.io")),
        "EP651",
    ),
    Fault(
        "an old CRD that states its columns twice",
        _old_crd(
            additionalPrinterColumns=[{"name": "A", "type": "string", "JSONPath": ".a"}],
            versions=[
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "additionalPrinterColumns": [{"name": "B", "type": "string", "JSONPath": ".b"}],
                },
            ],
        ),
        "EP652",
    ),
    Fault("a CRD twice", lambda files: files.update({"manifests/again.yaml": files[CRD]}), "EP653"),
    Fault("no CRD", _without(CRD), "EP654"),
    Fault("a CRD of another version", _crd(*_VERSION, "name", "v2"), "EP654"),
    Fault("a CRD that no CSV owns", _spec("customresourcedefinitions", {}), "EP655"),
    Fault("a ServiceAccount that OLM makes", _object("ServiceAccount", name="acme"), "EP656"),
    Fault(
        "a bundle that is too large",
        lambda files: files.update({"manifests/big.yaml": _noise(1_500_000)}),
        "EP657",
    ),
    Fault(
        "a bundle that is nearly too large",
        lambda files: files.update({"manifests/big.yaml": _noise(1_230_000)}),
        "EP657",
    ),
    Fault("a release under another name", _spec("release", "1"), "EP658"),
    Fault("a related image that is none", _spec("relatedImages", 0, "image", "oci://a/b"), "EP659"),
    Fault("an empty related image", _spec("relatedImages", 0, "image", ""), "EP659"),
    Fault("no provider", _spec("provider", {}), "EP661"),
    Fault("a maintainer without mail", _spec("maintainers", 0, {"name": "Team"}), "EP662"),
    Fault("a maintainer with half an address", _spec("maintainers", 0, "email", "team@"), "EP662"),
    Fault("a link without a name", _spec("links", 0, "name", ""), "EP663"),
    Fault("a link without a scheme", _spec("links", 0, "url", "example.com/docs"), "EP663"),
    Fault("no version", _spec("version", _GONE), "EP664"),
    Fault("a version of zero", _spec("version", "0.0.0"), "EP664"),
    Fault("no icon", _spec("icon", _GONE), "EP665"),
    Fault("no icon in the list", _spec("icon", []), "EP666"),
    Fault("two icons", lambda files: files[CSV]["spec"].update(icon=files[CSV]["spec"]["icon"] * 2), "EP666"),
    Fault("an icon without data", _spec("icon", 0, "base64data", ""), "EP666"),
    Fault("an icon of another type", _spec("icon", 0, "mediatype", "image/bmp"), "EP666"),
    Fault("a level there is not", _note("capabilities", "Basic"), "EP667"),
    Fault("a category there is not", _note("categories", "Databases"), "EP668"),
    Fault("an old CRD", _old_crd(), "EP669"),
    Fault(
        "an old budget", _object("PodDisruptionBudget", "policy/v1beta1", spec={"maxUnavailable": 1}), "EP669"
    ),
    Fault(
        "an old resource",
        _spec(
            "customresourcedefinitions",
            "owned",
            0,
            "resources",
            0,
            {"kind": "CronJob", "version": "batch/v1beta1"},
        ),
        "EP669",
    ),
    Fault(
        "rights to what is gone",
        _spec(*_RULE, {"apiGroups": ["policy"], "resources": ["podsecuritypolicies"], "verbs": ["use"]}),
        "EP669",
    ),
    Fault("no requests", _spec(*_CONTAINER, "resources", {}), "EP671"),
    Fault("no description", _spec("customresourcedefinitions", "owned", 0, "description", ""), "EP672"),
    Fault("a channel called alpha", _label("channels", "stable,alpha"), "EP673"),
    Fault(
        "the right to create CRDs",
        _spec(*_RULE, {"apiGroups": ["apiextensions.k8s.io"], "resources": ["*"], "verbs": ["create"]}),
        "EP674",
    ),
    Fault("a name without a v", _csv("metadata", "name", "acme.1.0.0"), "EP675"),
    Fault("a name without a version", _csv("metadata", "name", "acme.vlatest"), "EP675"),
    Fault("nothing deployed", _spec("install", "spec", {}), "EP676"),
    Fault("a budget of nothing", _budget(maxUnavailable=0), "EP681"),
    Fault("a budget of nothing in percent", _budget(maxUnavailable="0%"), "EP681"),
    Fault("a budget of everything", _budget(minAvailable="100%"), "EP681"),
    Fault(
        "a cluster-wide PriorityClass",
        _object("PriorityClass", "scheduling.k8s.io/v1", value=1, globalDefault=True),
        "EP682",
    ),
    Fault("rights to budgets", _role("policy", "poddisruptionbudgets", "create"), "EP683"),
    Fault(
        "rights to OpenShift's constraints",
        _role(
            "security.openshift.io",
            "securitycontextconstraints",
            "update",
            kind="ClusterRole",
            resourceNames=["privileged"],
        ),
        "EP684",
    ),
    Fault(
        "an OperatorGroup in another case",
        _object(
            "OperatorGroup", "operators.coreos.com/v1", metadata={"annotations": {"olm.providedapis": "a"}}
        ),
        "EP685",
    ),
    Fault("an old CRD for any OpenShift", _old_crd(), "EP686"),
    Fault(
        "an old CRD for too new an OpenShift",
        _all(_old_crd(), _note("olm.properties", '[{"type": "olm.maxOpenShiftVersion", "value": "4.9"}]')),
        "EP686",
    ),
    Fault("an old CRD without a label", _old_crd(), "EP687"),
)


def _noise(size: int) -> dict[str, Any]:
    """Return a ConfigMap with data that does not compress well."""
    from random import Random  # noqa: PLC0415

    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    text = "".join(Random(7).choices(letters, k=size * 3 // 4))
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "big"}, "data": {"x": text}}
