"""Explanations of common reasons why OLM does not upgrade a version."""

from __future__ import annotations

from textwrap import dedent

import pytest

from everpath.explanation import ExplainQuery, Explanation, ResolverExplanation, explain
from everpath.graph import PackageGraph
from everpath.loaders.notation import parse
from everpath.model import Catalog, DeprecationEntry, Deprecations, Place, Property
from everpath.resolvers import ResolverName
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import ClusterExtensionOptions, find_installed


def catalog(drawing: str) -> Catalog:
    return parse(dedent(drawing))


def explain_drawing(
    subject: str | Catalog,
    installed: str | None,
    channel: str = "stable",
    *,
    others: dict[str, str] | None = None,
    starting_csv: str | None = None,
    options: ClusterExtensionOptions = ClusterExtensionOptions(),  # noqa: B008 - immutable
) -> Explanation:
    """Explain a drawing; `others` are further catalogs of the same cluster."""
    first = catalog(subject) if isinstance(subject, str) else subject
    catalogs = {"main": first, **{name: catalog(text) for name, text in (others or {}).items()}}
    sources = [ClusterCatalog(n, 0, PackageGraph(c.packages[0])) for n, c in catalogs.items()]
    graphs = [source.package for source in sources if source.package is not None]
    csv = find_installed(graphs, installed)[0] if installed is not None else None
    query = ExplainQuery("p", channel, csv, starting_csv=starting_csv, options=options)
    return explain(sources, query, catalogs)


def of_resolver(explanation: Explanation, resolver: ResolverName = "v0") -> ResolverExplanation:
    return next(each for each in explanation.explanations if each.trace.resolver == resolver)


def fixes(result: ResolverExplanation) -> list[str]:
    return [f"{fix.rule or '-'} {fix.text}" for fix in result.fixes]


def candidates(result: ResolverExplanation) -> list[str]:
    return [f"{', '.join(group.names)} {group.result.value}: {group.text}" for group in result.candidates]


def test_skipped_entry_is_refused_and_its_rule_has_the_fix() -> None:
    result = of_resolver(explain_drawing("b3: - / b2\nb2: - / b1\nb1", "b1"))
    assert result.summary == "OLM v0 does not upgrade b1."
    assert candidates(result) == [
        "b2 refused: skips b1, but is skipped by b3, and OLM v0 never installs a skipped entry",
        "b1 refused: is installed",
        "b3 refused: does not replace or skip b1, and has no skipRange",
    ]
    assert fixes(result) == ["EP206 add b1 to the skips of b3"]


def test_dangling_replaces_has_a_fix() -> None:
    result = of_resolver(
        explain_drawing("op.v3.0.0: op.v2.0.0\nop.v2.0.0: op.vv1.0.0\nop.v1.0.0", "op.v1.0.0")
    )
    assert result.summary == "OLM v0 fails for the whole namespace, and op.v1.0.0 is not upgraded."
    assert result.trace.decision.failure is not None
    assert result.trace.decision.failure.message.startswith("a unique replacement chain within a channel")
    assert result.path_summary == "none, while OLM v0 fails."
    assert any("set replaces: op.v1.0.0 on op.v2.0.0" in fix for fix in fixes(result))


def test_channel_that_opm_rejects_is_explained() -> None:
    explanation = explain_drawing("b3\nb2: b1\nb1", "b1")
    (where,) = explanation.location
    refusal = "multiple channel heads found in graph: b2, b3"
    assert where == f"opm rejects channel stable and does not serve the catalog: {refusal}"
    assert of_resolver(explanation, "v1").trace.decision.next == "b2"


def test_range_that_does_not_parse_has_a_fix() -> None:
    result = of_resolver(explain_drawing("b3: b2 / - / >=1.0.0 < v3.0.0\nb2: gone", "p.v1.0.0"))
    assert candidates(result)[0] == (
        "b3 refused: does not replace or skip p.v1.0.0, and its skipRange '>=1.0.0 < v3.0.0' does not parse, "
        "so OLM ignores it"
    )
    assert fixes(result)[0] == "EP301 give b3 the skipRange '>=1.0.0 <3.0.0'"


def test_pre_release_that_a_range_just_misses_is_a_hint() -> None:
    result = of_resolver(explain_drawing("b3: b2 / - / >=1.0.0 <3.0.0\nb2: gone", "1.0.0-rc.1"))
    (hint,) = result.hints
    assert hint == (
        "1.0.0-rc.1 is a pre-release and lower than 1.0.0: the skipRange '>=1.0.0 <3.0.0' of b3 contains "
        "1.0.0, but not 1.0.0-rc.1."
    )
    assert of_resolver(explain_drawing("b3: b2 / - / >=1.5.0 <3.0.0\nb2: gone", "1.0.0-rc.1")).hints == ()
    assert of_resolver(explain_drawing("b3: b2 / - / >=1.0.0 <3.0.0\nb2: gone", "0.9.0")).hints == ()


def test_prohibited_head_is_refused() -> None:
    result = of_resolver(explain_drawing("b2: b1\nb1\n%prohibited b2", "b1"))
    assert candidates(result)[0] == "b2 refused: replaces b1, but carries olm.deprecated"
    assert fixes(result)[0].startswith("EP505 ")


def test_new_installation_below_a_prohibited_head_explains_why() -> None:
    result = of_resolver(explain_drawing("b2: b1\nb1\n%prohibited b2", None))
    assert result.summary == "OLM v0 installs b1."
    assert candidates(result) == [
        "b2 refused: carries olm.deprecated",
        "b1 taken: is the first installable entry below the head",
    ]
    assert fixes(result)[0].startswith("EP505 ")


def test_installed_head_needs_no_fix() -> None:
    result = of_resolver(explain_drawing("b2: b1\nb1", "b2"))
    assert result.summary == "OLM v0 does not upgrade b2: it is the head."
    assert result.path_summary == "b2 is the head."
    assert result.fixes == ()


@pytest.mark.parametrize(
    "drawing", ["b2: b1\nb1\n%deprecated b2: old", "b3: b1\nb2: b1\nb1\n%deprecated b3: old"]
)
def test_goal_that_is_not_the_head_is_not_called_the_head(drawing: str) -> None:
    installed = "b1" if "b3" not in drawing else "b2"
    result = of_resolver(explain_drawing(drawing, installed), "v1")
    assert result.summary == (
        f"OLM v1 does not upgrade {installed}: it is what a new ClusterExtension installs."
    )


def test_goal_of_a_cluster_extension_with_several_channels_is_named() -> None:
    drawing = "[stable]\nb2: b1\nb1\n[fast]\nb2: b1\nb1\n%deprecated b2: old"
    options = ClusterExtensionOptions(channels=("stable", "fast"))
    result = of_resolver(explain_drawing(drawing, "b1", options=options), "v1")
    assert result.summary == f"OLM v1 does not upgrade b1: it {result.trace.path.reason}."
    assert "is what a new ClusterExtension installs" in result.summary


def test_channel_with_an_update_is_an_alternative() -> None:
    explanation = explain_drawing("[stable]\nb2: b1\nb1\n[fast]\nb4: - / - / <4.0.0", "b2")
    (alternative,) = of_resolver(explanation).alternatives
    assert alternative == (
        "A Subscription to channel fast would upgrade it to b4: kubectl patch subscription NAME -n NAMESPACE "
        """--type merge -p '{"spec": {"channel": "fast"}}'"""
    )
    assert of_resolver(explanation, "v1").alternatives == (
        "A ClusterExtension without channels and version would be upgraded to b4.",
    )
    assert (
        of_resolver(explain_drawing("[stable]\nb2: b1\nb1\n[fast]\nb4: - / - / <4.0.0", "b1")).alternatives
        == ()
    )


def test_channel_name_is_quoted_for_the_shell() -> None:
    result = of_resolver(explain_drawing("[stable]\nb1\n[a'$(x)]\nb4: - / - / <4.0.0", "b1"))
    assert """-p '{"spec": {"channel": "a'"'"'$(x)"}}'""" in result.alternatives[0]


def test_update_in_another_catalog_is_an_alternative_under_v0() -> None:
    explanation = explain_drawing("b1", "b1", others={"community": "b2: b1"})
    v0 = [result for result in explanation.explanations if result.trace.resolver == "v0"]
    assert [(result.trace.catalog, result.trace.decision.next) for result in v0] == [
        ("main", None),
        ("community", "b2"),
    ]
    (alternative,) = v0[0].alternatives
    assert alternative == (
        "Catalog community has the update b2 in channel stable, but a "
        "Subscription uses only its own catalog: "
        "change spec.source and spec.sourceNamespace."
    )
    assert v0[0].requester == "a Subscription to channel stable of catalog main"


def test_v1_summary_names_the_catalog() -> None:
    result = of_resolver(explain_drawing("b3", "b1", others={"community": "b2: b1\nb1"}), "v1")
    assert result.summary == "OLM v1 upgrades b1 to b2 from catalog community."
    assert "b2 taken: replaces b1, and ranks first" in candidates(result)
    assert {group.catalog for group in result.candidates} == {"main", "community"}


def test_missing_channel_has_the_message_of_olm_and_a_suggestion() -> None:
    explanation = explain_drawing("[stable]\nb2: b1\nb1", "b1", "stabel")
    result = of_resolver(explanation)
    assert result.trace.decision.failure is not None
    assert result.trace.decision.failure.message.startswith(
        "constraints not satisfiable: no operators found in channel stabel of package p in the catalog"
    )
    assert fixes(result) == ["- subscribe to a channel that the package has (stable); did you mean stable?"]
    assert of_resolver(explanation, "v1").trace.decision.failure is not None
    (where,) = explanation.location
    assert where.startswith("b1 is not in channel stabel (it is in channel stable); it is matched by ")


def test_missing_starting_csv_has_a_suggestion() -> None:
    result = of_resolver(explain_drawing("op.v2.0.0: op.v1.0.0\nop.v1.0.0", None, starting_csv="op.v1.0.O"))
    assert fixes(result) == ["- let startingCSV name an entry of stable: did you mean op.v1.0.0?"]
    result = of_resolver(explain_drawing("op.v2.0.0: op.v1.0.0\nop.v1.0.0", None, starting_csv="op.v7.0.0"))
    assert fixes(result) == ["- let startingCSV name an entry of stable: the head is op.v2.0.0"]
    assert result.requester == "a Subscription to channel stable with startingCSV: op.v7.0.0"


def test_unknown_version_shows_nearest_versions_and_accepted_names_and_ranges() -> None:
    explanation = explain_drawing(
        "op.v3.0.0: op.v2.0.0 / op.v1.5.0 / >=2.1.0 <3.0.0\nop.v2.0.0: op.v1.0.0", "op.v2.0.5"
    )
    assert explanation.location == (
        "op.v2.0.5 is not in package p, version 2.0.5; it is matched by name and version.",
        "The nearest published versions are op.v2.0.0 (2.0.0) and op.v3.0.0 (3.0.0).",
        "Names that stable accepts from other channels: op.v1.0.0 and op.v1.5.0.",
        "Ranges that stable accepts: >=2.1.0 <3.0.0 (op.v3.0.0).",
    )
    assert fixes(of_resolver(explanation)) == [
        "- add op.v2.0.5 to the skips of op.v3.0.0, or give op.v3.0.0 the skipRange '>=2.0.5 <3.0.0'"
    ]


def test_unknown_name_without_a_version_is_matched_by_name() -> None:
    assert explain_drawing("b2: b1\nb1", "old").location[0] == (
        "old is not in package p, and its name does not end in a version; it is matched by name."
    )


def test_misspelled_name_has_a_suggestion() -> None:
    explanation = explain_drawing("op.v2.0.0: op.v1.0.0\nop.v1.0.0", "op.1.0.0")
    assert "Did you mean op.v1.0.0?" in explanation.location
    assert "No entry of stable names another version or has a skipRange." in explanation.location


def test_version_above_the_head_needs_a_release_or_a_downgrade() -> None:
    release = "publish a release above 9.0.0 in stable that replaces b2, with a skipRange from 1.0.0"
    down = "add p.v9.0.0 to the skips of b2, which downgrades it from 9.0.0 to 2.0.0"
    for result in explain_drawing("b2: b1\nb1", "p.v9.0.0").explanations:
        assert fixes(result) == [f"- {release}, or {down}"]


def explain_one(drawing: str, installed: str, resolver: ResolverName) -> ResolverExplanation:
    """Return the explanation of one resolver, without running the other one."""
    drawn = catalog(drawing)
    source = ClusterCatalog("main", 0, PackageGraph(drawn.packages[0]))
    assert source.package is not None
    [subject] = find_installed([source.package], installed)
    return explain([source], ExplainQuery("p", "stable", subject, (resolver,)), {"main": drawn}).explanations[
        0
    ]


def test_edit_that_leads_to_a_dead_end_is_not_proposed() -> None:
    result = explain_one("op.v2.0.0\nop.v1.0.0: op.v2.0.0", "1.5.0", "v1")
    assert fixes(result)[-1].startswith("- publish a release above 2.0.0 in stable that replaces op.v1.0.0")
    assert not any("to the skips of op.v2.0.0" in fix for fix in fixes(result))


def test_edit_that_strands_other_versions_is_not_proposed() -> None:
    result = explain_one("op.v1.1.1\nop.v2.0.0: op.v1.1.1\nop.v2.0.0-rc.1: op.v2.0.0", "1.5.0", "v1")
    by_range = "give op.v2.0.0-rc.1 the skipRange '>=1.5.0 <2.0.0-rc.1'"
    assert fixes(result) == [f"- add op.v1.5.0 to the skips of op.v2.0.0-rc.1, or {by_range}"]


def test_fix_that_is_not_sufficient_says_so() -> None:
    result = explain_one("b5: b5\nb4: b5\nb3: b3\nb2: b3", "b2", "v0")
    alone = "fixed alone, it does not help b2 reach its goal"
    assert fixes(result)[1:] == [
        f"EP202 {alone}",
        f"EP211 {alone}",
        "- set replaces: b2 on b5 and remove b3 from its own replaces",
    ]


def test_explanation_says_if_no_edit_was_found() -> None:
    result = explain_one("b3: b2\nb2\n%prohibited b3", "1.0.0", "v0")
    none = "no single edit was found with which 1.0.0 reaches its goal and no version is worse off"
    assert fixes(result) == [
        f"- {none}: publish a release above 3.0.0 in stable that replaces b3, with a skipRange from 1.0.0"
    ]


def test_fix_of_a_warning_does_not_hide_that_no_edit_was_found() -> None:
    result = explain_one("b4\nb3: b2\nb2\nb1: b2", "b2", "v0")
    assert fixes(result)[-1].startswith("- no single edit was found with which b2 reaches its goal")


def test_release_that_helps_only_after_a_fix_is_proposed_after_it() -> None:
    result = explain_one("b1: - / - / >=1.0.1\nb2: b1", "5.0.0", "v0")
    none = "no single edit was found with which 5.0.0 reaches its goal and no version is worse off"
    release = "publish a release above 5.0.0 in stable that replaces b2, with a skipRange from 1.0.0"
    assert fixes(result) == [
        "EP210 fixed alone, it does not help 5.0.0 reach its goal",
        f"- {none}: remove the skipRange of b1, then {release}",
    ]


def test_edits_of_the_twelve_worst_findings_are_tried() -> None:
    result = explain_one("\n".join(f"b{n}" for n in range(1, 21)), "b1", "v0")
    assert len(fixes(result)) == 13
    assert fixes(result)[-1].startswith("- no single edit was found")


def test_range_that_matches_no_version_is_fixed_for_the_installed_one() -> None:
    result = explain_one("b3: b2 / - / >=3.0.0 <1.0.0\nb2", "1.5.0", "v0")
    assert fixes(result) == ["EP306 give b3 the skipRange '>=1.5.0 <3.0.0'"]


def test_v1_needs_the_version_of_an_unknown_name() -> None:
    result = of_resolver(explain_drawing("b2: b1\nb1", "old"), "v1")
    [hint] = result.hints
    assert hint == (
        "The version of the installed bundle is unknown, but OLM v1 matches by version: "
        "pass a version to --installed."
    )
    assert result.fixes == ()
    assert result.path_summary == "OLM v1 fails: the version of old is not in the catalog, or does not parse."


def test_v1_refuses_entries_without_an_edge_or_outside_the_version_range() -> None:
    result = of_resolver(
        explain_drawing("b3: b2\nb2: b1\nb1", "b1", options=ClusterExtensionOptions(version_range="3.0.0")),
        "v1",
    )
    assert result.requester == "a ClusterExtension with channels: [stable], version: '3.0.0'"
    assert candidates(result) == [
        "b3 refused: no edge leads to it from b1",
        "b2 refused: is outside the version range '3.0.0'",
        "b1 refused: is installed, and is outside the version range '3.0.0'",
    ]


def test_requester_shows_the_fields_of_the_cluster_extension() -> None:
    terms = ClusterExtensionOptions(channels=(), self_certified=True)
    result = of_resolver(explain_drawing("b2: b1\nb1", "b1", options=terms), "v1")
    assert result.requester == "a ClusterExtension with upgradeConstraintPolicy: SelfCertified"


def with_properties(drawing: str, name: str, *properties: tuple[str, object]) -> Catalog:
    plain = catalog(drawing)
    (package,) = plain.packages
    stated = tuple(Property(kind, value, Place("f")) for kind, value in properties)
    bundles = tuple(
        b._replace(properties=(*b.properties, *stated)) if b.name == name else b for b in package.bundles
    )
    return plain._replace(packages=(package._replace(bundles=bundles),))


def test_dependencies_are_a_warning_with_the_alternative() -> None:
    subject = with_properties(
        "b3: b2 / b1\nb2: b1\nb1",
        "b3",
        ("olm.package.required", {"packageName": "etcd", "versionRange": ">=1.0.0"}),
        ("olm.gvk.required", {"group": "a.io", "version": "v1", "kind": "A"}),
        ("olm.constraint", {"cel": {}}),
    )
    (warning,) = of_resolver(explain_drawing(subject, "b1")).warnings
    assert warning == (
        "b3 requires package etcd in '>=1.0.0', the API a.io/v1 A, its olm.constraint. If nothing "
        "on the cluster or in its catalogs provides that, OLM v0 installs b2 and reports no error."
    )
    refused = of_resolver(explain_drawing(subject, "b1"), "v1")
    assert refused.warnings == ()
    assert "b3 refused: skips b1, but OLM v1 rejects the bundle that it has chosen" in candidates(refused)


@pytest.mark.parametrize(("installed", "otherwise"), [("b1", "does not upgrade"), (None, "fails")])
def test_unmet_dependencies_without_an_alternative_are_a_warning(
    installed: str | None, otherwise: str
) -> None:
    subject = with_properties("b2: b1 / b1", "b2", ("olm.constraint", {}))
    (warning,) = of_resolver(explain_drawing(subject, installed)).warnings
    assert warning.endswith(f"OLM v0 {otherwise} and reports no error.")


def test_min_kube_version_is_a_warning() -> None:
    subject = with_properties("b2: b1\nb1", "b2", ("olm.csv.metadata", {"minKubeVersion": "1.30.0"}))
    (warning,) = of_resolver(explain_drawing(subject, "b1")).warnings
    assert warning == (
        "b2 requires Kubernetes 1.30.0 or later: on an older cluster it is chosen, too, and its CSV "
        "stays Pending with RequirementsNotMet."
    )


def test_deprecations_are_warnings_with_their_message() -> None:
    place = Place("f")
    entries = (
        DeprecationEntry("olm.package", "", "retired", place),
        DeprecationEntry("olm.channel", "stable", "use fast\n", place),
        DeprecationEntry("olm.bundle", "b1", "", place),
        DeprecationEntry("olm.bundle", "b9", "another bundle", place),
    )
    plain = catalog("b2: b1\nb1")
    package = plain.packages[0]._replace(deprecations=(Deprecations("p", place, entries),))
    assert of_resolver(explain_drawing(plain._replace(packages=(package,)), "b1")).warnings == (
        "The catalog deprecates package p: retired",
        "The catalog deprecates channel stable: use fast",
        "The catalog deprecates b1: without a message",
    )


def test_deprecations_are_those_of_the_catalog_of_the_bundle() -> None:
    explanation = explain_drawing("b3", "b1", others={"community": "b2: b1\nb1\n%deprecated b1: gone"})
    assert of_resolver(explanation, "v1").warnings == ("The catalog deprecates b1: gone",)


def test_loop_is_shown_as_the_path() -> None:
    result = of_resolver(explain_drawing("b3: b2 / - / =1.0.0\nb2: b1 / - / =3.0.0\nb1", "b3"))
    assert result.summary == "OLM v0 upgrades b3 to b2."
    assert result.path_summary.startswith("b3 → b2 → b3: updates in a cycle")
    assert any(fix.startswith("EP210 ") for fix in fixes(result))


def test_panic_of_the_resolver_is_explained() -> None:
    result = of_resolver(explain_drawing("b2: b1 / - / <0.1.0 || || =9.0.0\nb1", "b1"))
    assert result.summary == "OLM v0 panics, and b1 is not upgraded."
    assert fixes(result)[0].startswith("EP302 ")


def test_long_path_is_abbreviated() -> None:
    drawing = "\n".join(f"b{n}: b{n - 1}" for n in range(20, 1, -1)) + "\nb1"
    result = of_resolver(explain_drawing(drawing, "b1"))
    assert (
        result.path_summary == "b1 → b2 → b3 → b4 → b5 → b6 → … 13 more … → b20: reaches the head in 19 hops."
    )
    assert len(result.trace.path.hops) == 19


@pytest.mark.parametrize(
    ("subject", "word"),
    [
        ("approval", "InstallPlan wait for approval"),
        ("a failed CSV", "Failed, Pending or Replacing"),
        ("OperatorCondition", "Upgradeable: False"),
        ("minKubeVersion", "minKubeVersion"),
        ("another broken subscription", "Did resolution fail?"),
        ("an old catalog", "serve this catalog"),
        ("unpacking", "unpacked"),
    ],
)
def test_check_on_the_cluster_has_a_command(subject: str, word: str) -> None:
    checks = explain_drawing("b2: b1\nb1", "b1").checks
    found = [check for check in checks if word in check.question]
    assert [check.resolver for check in found] == ["v0"], subject
    assert found[0].command.startswith("kubectl get ")


def test_there_are_fewer_checks_if_the_catalog_explains_the_failure() -> None:
    moving, staying = (
        explain_drawing("b2: b1\nb1", "b1").checks,
        explain_drawing("b3\nb2: b1\nb1", "b1").checks,
    )
    assert set(staying) < set(moving)


def test_candidates_with_the_same_reason_are_one_group() -> None:
    result = of_resolver(explain_drawing("b3: b2\nb2: b1\nb1\n%prohibited b3\n%prohibited b2", None))
    assert candidates(result)[0] == "b3, b2 refused: each carries olm.deprecated"


def test_a_reason_with_its_own_subject_is_not_about_each_candidate() -> None:
    result = of_resolver(explain_drawing("b3: b2\nb2: b1\nb1", None))
    assert candidates(result)[1] == "b2, b1 passed over: b3 is nearer to the head"
