"""Map errors of operator-framework/api and opm to rule ids, and list the intended differences.

An error becomes (validator, rule, severity). Only the set of rules is compared, not the number of findings:
upstream stops at the first of some errors, and reports others once for each of two validators.
"""

from __future__ import annotations

__all__ = ["EXPLAINED", "Explanation", "Said", "said_by_us", "said_upstream", "unexplained"]

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from everpath.rules.findings import Finding
from everpath.rules.registry import all_rules

_MIRRORS: Final = {rule.id for rule in all_rules() if rule.validators}


class Said(NamedTuple):
    """A rule with a finding, and its severity."""

    rule: str
    severity: str


#: The rule for an error of operator-framework/api, by the words at its beginning, after the name of the CSV
#: that some errors have.
_API: Final[tuple[tuple[str, str, str], ...]] = (
    ("csv", "metadata.name ", "EP621"),
    ("csv", "spec.replaces ", "EP622"),
    ("csv", "annotations not found", "EP623"),
    ("csv", "example annotations not found", "EP623"),
    ("csv", "both `alm-examples`", "EP624"),
    ("csv", "invalid example", "EP625"),
    ("csv", "error decoding example", "EP625"),
    ("csv", "example must have a provided API", "EP626"),
    ("csv", "provided API should have", "EP627"),
    ("csv", "couldn't parse plural.group", "EP628"),
    ("csv", "install modes not found", "EP629"),
    ("csv", "none of InstallModeTypes", "EP629"),
    ("csv", "only AllNamespaces", "EP630"),
    ("csv", "csv.Spec.minKubeVersion is not informed", "EP632"),
    ("csv", "csv.Spec.MinKubeVersion has an invalid", "EP633"),
    ("csv", "required field missing", "EP634"),
    ("csv", "provided annotation ", "EP635"),
    ("csv", "found olm.properties", "EP636"),
    ("csv", "'apiVersion' is missing", "EP637"),
    ("bundle", "duplicate CRD", "EP653"),
    ("bundle", "owned CRD", "EP654"),
    ("bundle", "CRD ", "EP655"),
    ("bundle", "invalid service account", "EP656"),
    ("bundle", "maximum bundle compressed", "EP657"),
    ("bundle", "nearing maximum", "EP657"),
    ("bundle", "bundle name with release", "EP658"),
    ("bundle", "relatedImages[", "EP659"),
    ("operatorhub/v2", "csv.Spec.Provider.Name", "EP661"),
    ("operatorhub/v2", "csv.Spec.Maintainers", "EP662"),
    ("operatorhub/v2", "csv.Spec.Links", "EP663"),
    ("operatorhub/v2", "csv.Spec.Version must", "EP664"),
    ("operatorhub/v2", "csv.Spec.Icon not specified", "EP665"),
    ("operatorhub/v2", "csv.Spec.Icon ", "EP666"),
    ("operatorhub/v2", "csv.Spec.minKubeVersion is not informed", "EP632"),
    ("operatorhub/v2", "csv.Spec.MinKubeVersion has an invalid", "EP633"),
    ("operatorhub/v2", "this bundle is using APIs", "EP669"),
    ("operatorhub/v2", "unable to use csv.Spec.MinKubeVersion", "EP633"),
    ("standardcapabilities", "csv.Metadata.Annotations.Capabilities", "EP667"),
    ("standardcategories", 'csv.Metadata.Annotations["categories"]', "EP668"),
    ("alpha-deprecated-apis", "this bundle is using APIs", "EP669"),
    ("alpha-deprecated-apis", "unable to use csv.Spec.MinKubeVersion", "EP633"),
    ("good-practices", "unable to find the resource requests", "EP671"),
    ("good-practices", "owned CRD", "EP672"),
    ("good-practices", "required CRD", "EP672"),
    ("good-practices", "channel(s)", "EP673"),
    ("good-practices", "CSV contains permissions to create CRD", "EP674"),
    ("good-practices", "csv.metadata.Name", "EP675"),
    ("good-practices", "unable to find a deployment", "EP676"),
    ("object", "maxUnavailable", "EP681"),
    ("object", "minAvailable", "EP681"),
    ("object", "globalDefault", "EP682"),
    ("object", "RBAC includes permission to create/update", "EP683"),
    ("object", "RBAC includes permission to modify", "EP684"),
    ("object", "error unmarshaling", "EP610"),
    ("operatorgroup", "provided annotation ", "EP685"),
    ("operatorgroup", "found olm.properties", "EP636"),
    ("community", "csv.Annotations", "EP686"),
    ("community", "please, inform the path", "EP687"),
    ("community", "this bundle is using APIs", "EP687"),
    ("community", "unable to", "EP687"),
    ("community", "invalid syntax", "EP687"),
    ("packagemanifest", "packageName empty", "EP691"),
    ("packagemanifest", "channels empty", "EP692"),
    ("packagemanifest", "channel ", "EP692"),
    ("packagemanifest", "duplicate package manifest", "EP692"),
    ("packagemanifest", "default channel", "EP693"),
)

#: The fields of a CRD that each rule checks.
_CRD_FIELDS: Final[tuple[tuple[str, str], ...]] = (
    (r"metadata\.name$", "EP641"),
    (r"metadata\.annotations\[api-approved", "EP651"),
    (r"metadata", "EP608"),
    (r"spec\.group$", "EP642"),
    (r"spec\.names", "EP643"),
    (r"spec\.scope$", "EP645"),
    (r"spec\.conversion", "EP646"),
    (r"spec.*additionalPrinterColumns\[", "EP647"),
    (r"spec.*scale", "EP648"),
    (r"spec.*selectableFields", "EP649"),
    (r"spec\.preserveUnknownFields$", "EP650"),
    (r"spec\.(validation|subresources|additionalPrinterColumns)$", "EP652"),
    (r"spec\.versions?", "EP644"),
)

#: The rule for a line of opm. Lines that begin with a level come from operator-framework/api.
_OPM: Final[tuple[tuple[str, str], ...]] = (
    (r"Unable to locate (manifests|metadata) directory", "EP601"),
    (r".* contains no yaml files|open .*no such file", "EP601"),
    (r"Could not find annotations file", "EP017"),
    (r"Missing annotation", "EP603"),
    (r"Expecting annotation .*mediatype", "EP604"),
    (r"Expecting annotation .* non-empty", "EP603"),
    (r"unsupported dependency|couldn't parse dependency|API (Group|Version|Kind) is empty", "EP606"),
    (r"Label information is missing|Package (name|version) is empty|Invalid semver format", "EP606"),
    (r"The CEL|Invalid CEL", "EP606"),
    (r".* is not supported type for registryV1 bundle", "EP607"),
    (r"error validating object metadata", "EP608"),
    (r"Unsupported api version of CRD", "EP609"),
    (r"unrecognized type|cannot restore|json: cannot unmarshal|cannot convert|.*strict decoding", "EP610"),
    (r"Unable to read file .* in supported types", "EP602"),
    (r"quantities must match|strconv|Invalid character|.*(Short version|leading zero)", "EP610"),
    (r"Object 'Kind' is missing|error converting YAML|yaml: ", "EP001"),
)

#: operator-framework/api could not load the bundle and ran no validator.
CANNOT_LOAD: Final[tuple[tuple[str, str], ...]] = (
    (r"contains directory|has hidden file", "EP602"),
    (r"unsupported CRD version", "EP609"),
    (r"unable to parse (CSV|CRD)", "EP610"),
    (r"unable to decode object", "EP001"),
    (r"contains multiple CSVs", "EP016"),
    (r"unable to find a csv|no bundle csv found", "EP015"),
    (r"unable to load the annotations file", "EP017"),
)

_LEVELS: Final = {"Error": "error", "Warning": "warning"}
_CALLED: Final = re.compile(r"^\([^)]*\) ")
_LOADING: Final = {rule for _, rule in CANNOT_LOAD}


class Explanation(NamedTuple):
    """A finding of only one side, and why that is intended (docs/bundle-validators.md)."""

    side: Literal["they", "we"]
    rules: tuple[str, ...]
    why: str
    when: Callable[[Mapping[str, Any], set[Said]], bool] = lambda _answer, _ours: True


def _says(text: str) -> Callable[[Mapping[str, Any], set[Said]], bool]:
    """Return whether upstream has such an error."""

    def when(answer: Mapping[str, Any], _ours: set[Said]) -> bool:
        lines = [f"{c['detail']} {c.get('value', '')}" for c in answer["api"]]
        return any(re.search(text, line) for line in (*lines, *answer["format"], *answer["content"]))

    return when


def _has(rule: str) -> Callable[[Mapping[str, Any], set[Said]], bool]:
    return lambda _answer, ours: any(said.rule == rule for said in ours)


EXPLAINED: Final = (
    Explanation("we", ("EP608",), "they stop at metadata that they cannot decode", _has("EP610")),
    Explanation("they", ("EP017",), "they find no annotations where one is no text", _has("EP603")),
    Explanation(
        "we", ("EP603",), "they find no annotations where one is no text", _says("Could not find annot")
    ),
    Explanation("they", ("EP603",), "where there is none they list all that are missing", _has("EP017")),
    Explanation(
        "we", ("EP017",), "where there is none they list all that are missing", _says("Missing annotation")
    ),
    Explanation("they", ("EP641",), "they turn numbers in a CRD into texts", _has("EP610")),
    Explanation("we", ("EP654",), "they turn numbers in a CRD into texts", _has("EP610")),
    Explanation("we", ("EP017",), "without a metadata folder they look for no annotations", _has("EP601")),
    Explanation(
        "they", ("EP604",), "a missing media type is said twice", _says("Missing annotation .*mediatype")
    ),
    Explanation("they", ("EP606",), "OLM reads constraints without CEL", _says("The CEL field is missing")),
    Explanation("we", ("EP628",), "they look at names only where examples can be read"),
    Explanation("we", ("EP637",), "they take any apiVersion"),
    Explanation("we", ("EP669",), "they pass over a CSV of another apiVersion", _has("EP637")),
    Explanation("we", ("EP648",), "they drop every complaint about a field with status in its name"),
    Explanation("we", ("EP666",), "they crash on an empty list of icons", _says("index out of range")),
    Explanation(
        "they",
        ("EP625",),
        "they read JSON as YAML, which has fewer escapes",
        _says("unknown escape character"),
    ),
    Explanation(
        "we",
        ("EP626", "EP627"),
        "they read JSON as YAML, which has fewer escapes",
        _says("unknown escape character"),
    ),
    Explanation("they", ("EP681",), "they take any percentage for 0", _says("maxUnavailable")),
    Explanation(
        "they", ("EP686",), "without index-path they repeat errors as warnings", _says("please, inform")
    ),
    Explanation("we", ("EP610",), "they turn numbers in a CRD into texts, which no API server does"),
)


def said_upstream(answer: Mapping[str, Any]) -> set[Said]:
    """Return all errors of upstream about a bundle. Raises KeyError for an error without a rule."""
    complaints = [c for c in answer["api"] if c["level"] != "Panic"]
    lines = [line for line in (*answer["format"], *answer["content"]) if not line.startswith("panic: ")]
    return {
        *(Said(_rule_of(c["validator"], c), _LEVELS[c["level"]]) for c in complaints),
        *(Said(rule, "error") for line in lines for rule in _opm_rules(line)),
        *(Said(rule, "error") for rule in _loading(answer.get("load", ""))),
    }


def _rule_of(validator: str, complaint: Mapping[str, Any]) -> str:
    detail = _CALLED.sub("", complaint["detail"])
    if validator == "crd":
        if "identical values" in detail:
            return "EP652"
        is_nameless = detail.startswith("metadata.name: Required")
        return "EP608" if is_nameless else _first(_CRD_FIELDS, complaint.get("field", ""))
    for name, beginning, rule in _API:
        if validator == name and detail.startswith(beginning):
            return rule
    raise KeyError(f"{validator}: {complaint}")


def _first(table: Iterable[tuple[str, str]], said: str) -> str:
    for pattern, rule in table:
        if re.match(pattern, said):
            return rule
    raise KeyError(said)


def _opm_rules(line: str) -> Iterator[str]:
    """Return the rules of opm's own errors, without those that come from the validators of CSVs and CRDs."""
    if not line.startswith(("Error: ", "Warning: ")):
        yield _first(_OPM, line)
    elif "not found in bundle" in line:
        yield "EP654"
    elif "cannot have both a release" in line:
        yield "EP611"


def _loading(said: str) -> Iterator[str]:
    """Leave out the error that no bundle was found if there is another error."""
    if said:
        found = [rule for pattern, rule in CANNOT_LOAD if re.search(pattern, said)]
        if not found:
            raise KeyError(said)
        yield from found if found == ["EP015"] else (rule for rule in found if rule != "EP015")


def said_by_us(findings: Iterable[Finding]) -> set[Said]:
    """Return the findings of rules that upstream has too."""
    claims = _MIRRORS | _LOADING | {"EP017"}
    told = ((f.rule, f.severity.word) for f in findings if f.rule in claims)
    return {Said(rule, severity) for rule, severity in told if severity != "note"}


def unexplained(answer: Mapping[str, Any], findings: Iterable[Finding]) -> list[str]:
    """Return the findings of only one side that are not explained.

    Upstream runs no validator if it cannot load a bundle; everpath continues.
    """
    theirs, ours = said_upstream(answer), said_by_us(findings)
    known = {(e.side, rule) for e in EXPLAINED if e.when(answer, ours) for rule in e.rules}
    ours_alone = set() if answer.get("load") else ours - theirs
    lines = [("they", *said) for said in sorted(theirs - ours)] + [
        ("we", *said) for said in sorted(ours_alone)
    ]
    return [
        f"only {side} say {rule} {severity}" for side, rule, severity in lines if (side, rule) not in known
    ]
