"""The answers to what people ask when nothing moves: each pain by its sentence."""

from __future__ import annotations

from textwrap import dedent

import pytest

from everpath.explain import ExplainQuery, Explanation, ResolverExplanation, explain
from everpath.graph import PackageGraph
from everpath.loaders.notation import parse
from everpath.model import Catalog, DeprecationEntry, Deprecations, Place, Property
from everpath.resolvers import ResolverName
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import ClusterExtensionOptions, find_installed


def catalog(drawing: str) -> Catalog:
    return parse(dedent(drawing))


def explained(
    subject: str | Catalog,
    installed: str | None,
    channel: str = "stable",
    *,
    others: dict[str, str] | None = None,
    starting_csv: str | None = None,
    options: ClusterExtensionOptions = ClusterExtensionOptions(),  # noqa: B008 - immutable
) -> Explanation:
    """What is said about a drawing; `others` are further catalogs of the same cluster."""
    first = catalog(subject) if isinstance(subject, str) else subject
    catalogs = {"main": first, **{name: catalog(text) for name, text in (others or {}).items()}}
    sources = [ClusterCatalog(n, 0, PackageGraph(c.packages[0])) for n, c in catalogs.items()]
    graphs = [source.package for source in sources if source.package is not None]
    asked = find_installed(graphs, installed)[0] if installed is not None else None
    query = ExplainQuery("p", channel, asked, starting_csv=starting_csv, options=options)
    return explain(sources, query, catalogs)


def story(explanation: Explanation, policy: ResolverName = "v0") -> ResolverExplanation:
    return next(story for story in explanation.explanations if story.trace.resolver == policy)


def fixes(told: ResolverExplanation) -> list[str]:
    return [f"{fix.rule or '-'} {fix.text}" for fix in told.fixes]


def looked(told: ResolverExplanation) -> list[str]:
    return [f"{', '.join(look.names)} {look.result.value}: {look.text}" for look in told.candidates]


def test_a_skipped_entry_is_not_taken_and_the_rule_says_what_to_edit() -> None:
    told = story(explained("b3: - / b2\nb2: - / b1\nb1", "b1"))
    assert told.summary == "OLM v0 does not upgrade b1."
    assert looked(told) == [
        "b2 refused: skips b1, but is skipped by b3, and OLM v0 never installs a skipped entry",
        "b1 refused: is installed",
        "b3 refused: does not replace or skip b1, and has no skipRange",
    ]
    assert fixes(told) == ["EP206 add b1 to the skips of b3"]


def test_a_replaces_that_leads_nowhere_is_named_with_its_fix() -> None:
    told = story(explained("op.v3.0.0: op.v2.0.0\nop.v2.0.0: op.vv1.0.0\nop.v1.0.0", "op.v1.0.0"))
    assert told.summary == "OLM v0 fails for the whole namespace, and op.v1.0.0 is not upgraded."
    assert told.trace.decision.failure is not None
    assert told.trace.decision.failure.message.startswith("a unique replacement chain within a channel")
    assert told.path_summary == "none, while OLM v0 fails."
    assert any("set replaces: op.v1.0.0 on op.v2.0.0" in fix for fix in fixes(told))


def test_a_channel_that_opm_refuses_is_answered_and_told_so() -> None:
    explanation = explained("b3\nb2: b1\nb1", "b1")
    (where,) = explanation.location
    refusal = "multiple channel heads found in graph: b2, b3"
    assert where == f"opm rejects channel stable and does not serve the catalog: {refusal}"
    assert story(explanation, "v1").trace.decision.next == "b2"


def test_a_range_that_does_not_parse_is_reported_although_it_names_nobody() -> None:
    told = story(explained("b3: b2 / - / >=1.0.0 < v3.0.0\nb2: gone", "p.v1.0.0"))
    assert looked(told)[0] == (
        "b3 refused: does not replace or skip p.v1.0.0, and its skipRange '>=1.0.0 < v3.0.0' does not parse, "
        "so OLM ignores it"
    )
    assert fixes(told)[0] == "EP301 give b3 the skipRange '>=1.0.0 <3.0.0'"


def test_a_pre_release_that_a_range_just_misses_is_reported_apart() -> None:
    told = story(explained("b3: b2 / - / >=1.0.0 <3.0.0\nb2: gone", "1.0.0-rc.1"))
    (hint,) = told.hints
    assert hint == (
        "1.0.0-rc.1 is a pre-release and lower than 1.0.0: the skipRange '>=1.0.0 <3.0.0' of b3 contains "
        "1.0.0, but not 1.0.0-rc.1."
    )
    assert story(explained("b3: b2 / - / >=1.5.0 <3.0.0\nb2: gone", "1.0.0-rc.1")).hints == ()
    assert story(explained("b3: b2 / - / >=1.0.0 <3.0.0\nb2: gone", "0.9.0")).hints == ()


def test_a_prohibited_head_is_named() -> None:
    told = story(explained("b2: b1\nb1\n%prohibited b2", "b1"))
    assert looked(told)[0] == "b2 refused: replaces b1, but carries olm.deprecated"
    assert fixes(told)[0].startswith("EP505 ")


def test_a_new_install_that_gets_an_older_version_hears_of_the_head() -> None:
    told = story(explained("b2: b1\nb1\n%prohibited b2", None))
    assert told.summary == "OLM v0 installs b1."
    assert looked(told) == [
        "b2 refused: carries olm.deprecated",
        "b1 taken: is the first installable entry below the head",
    ]
    assert fixes(told)[0].startswith("EP505 ")


def test_the_head_stays_because_there_is_nothing_newer() -> None:
    told = story(explained("b2: b1\nb1", "b2"))
    assert told.summary == "OLM v0 does not upgrade b2: it is the head."
    assert told.path_summary == "b2 is the head."
    assert told.fixes == ()


def test_the_wrong_channel_is_reported_with_the_one_that_moves_it() -> None:
    explanation = explained("[stable]\nb2: b1\nb1\n[fast]\nb4: - / - / <4.0.0", "b2")
    (way,) = story(explanation).alternatives
    assert way == (
        "A Subscription to channel fast would upgrade it to b4: kubectl patch subscription NAME -n NAMESPACE "
        """--type merge -p '{"spec": {"channel": "fast"}}'"""
    )
    assert story(explanation, "v1").alternatives == (
        "A ClusterExtension without channels and version would be upgraded to b4.",
    )
    assert story(explained("[stable]\nb2: b1\nb1\n[fast]\nb4: - / - / <4.0.0", "b1")).alternatives == ()


def test_a_channel_s_name_cannot_write_to_the_shell() -> None:
    told = story(explained("[stable]\nb1\n[a'$(x)]\nb4: - / - / <4.0.0", "b1"))
    assert """-p '{"spec": {"channel": "a'"'"'$(x)"}}'""" in told.alternatives[0]


def test_an_update_in_another_catalog_is_reported_and_never_taken_by_v0() -> None:
    explanation = explained("b1", "b1", others={"community": "b2: b1"})
    v0 = [told for told in explanation.explanations if told.trace.resolver == "v0"]
    assert [(told.trace.catalog, told.trace.decision.next) for told in v0] == [
        ("main", None),
        ("community", "b2"),
    ]
    (way,) = v0[0].alternatives
    assert way == (
        "Catalog community has the update b2 in channel stable, but a "
        "Subscription uses only its own catalog: "
        "change spec.source and spec.sourceNamespace."
    )
    assert v0[0].requester == "a Subscription to channel stable of catalog main"


def test_v1_names_the_catalog_it_takes_from() -> None:
    told = story(explained("b3", "b1", others={"community": "b2: b1\nb1"}), "v1")
    assert told.summary == "OLM v1 upgrades b1 to b2 from catalog community."
    assert "b2 taken: replaces b1, and ranks first" in looked(told)
    assert {look.catalog for look in told.candidates} == {"main", "community"}


def test_a_channel_that_does_not_exist_is_answered_in_olm_s_words_and_with_the_one_that_was_meant() -> None:
    explanation = explained("[stable]\nb2: b1\nb1", "b1", "stabel")
    told = story(explanation)
    assert told.trace.decision.failure is not None
    assert told.trace.decision.failure.message.startswith(
        "constraints not satisfiable: no operators found in channel stabel of package p in the catalog"
    )
    assert fixes(told) == ["- subscribe to a channel that the package has (stable); did you mean stable?"]
    assert story(explanation, "v1").trace.decision.failure is not None
    (where,) = explanation.location
    assert where.startswith("b1 is not in channel stabel (it is in channel stable); it is matched by ")


def test_a_starting_csv_that_is_not_there_is_answered_with_the_one_that_was_meant() -> None:
    told = story(explained("op.v2.0.0: op.v1.0.0\nop.v1.0.0", None, starting_csv="op.v1.0.O"))
    assert fixes(told) == ["- let startingCSV name an entry of stable: did you mean op.v1.0.0?"]
    told = story(explained("op.v2.0.0: op.v1.0.0\nop.v1.0.0", None, starting_csv="op.v7.0.0"))
    assert fixes(told) == ["- let startingCSV name an entry of stable: the head is op.v2.0.0"]
    assert told.requester == "a Subscription to channel stable with startingCSV: op.v7.0.0"


def test_what_is_nowhere_hears_its_neighbours_and_what_would_have_matched() -> None:
    explanation = explained(
        "op.v3.0.0: op.v2.0.0 / op.v1.5.0 / >=2.1.0 <3.0.0\nop.v2.0.0: op.v1.0.0", "op.v2.0.5"
    )
    assert explanation.location == (
        "op.v2.0.5 is not in package p, version 2.0.5; it is matched by name and version.",
        "The nearest published versions are op.v2.0.0 (2.0.0) and op.v3.0.0 (3.0.0).",
        "Names that stable accepts from other channels: op.v1.0.0 and op.v1.5.0.",
        "Ranges that stable accepts: >=2.1.0 <3.0.0 (op.v3.0.0).",
    )
    assert fixes(story(explanation)) == [
        "- add op.v2.0.5 to the skips of op.v3.0.0, or give op.v3.0.0 the skipRange '>=2.0.5 <3.0.0'"
    ]


def test_what_is_nowhere_and_tells_no_version_can_be_matched_by_name_alone() -> None:
    assert explained("b2: b1\nb1", "old").location[0] == (
        "old is not in package p, and its name does not end in a version; it is matched by name."
    )


def test_what_is_nowhere_and_almost_called_like_something_hears_its_name() -> None:
    explanation = explained("op.v2.0.0: op.v1.0.0\nop.v1.0.0", "op.1.0.0")
    assert "Did you mean op.v1.0.0?" in explanation.location
    assert "No entry of stable names another version or has a skipRange." in explanation.location


def test_what_is_newer_than_everything_is_reported_to_wait_for_a_release_or_that_it_would_go_down() -> None:
    release = "publish a release above 9.0.0 in stable that replaces b2, with a skipRange from 1.0.0"
    down = "add p.v9.0.0 to the skips of b2, which downgrades it from 9.0.0 to 2.0.0"
    for told in explained("b2: b1\nb1", "p.v9.0.0").explanations:
        assert fixes(told) == [f"- {release}, or {down}"]


def asked(drawing: str, installed: str, policy: ResolverName) -> ResolverExplanation:
    """The story of one resolver, where the other one is not asked."""
    drawn = catalog(drawing)
    source = ClusterCatalog("main", 0, PackageGraph(drawn.packages[0]))
    assert source.package is not None
    [subject] = find_installed([source.package], installed)
    return explain([source], ExplainQuery("p", "stable", subject, (policy,)), {"main": drawn}).explanations[0]


def test_an_edit_that_leads_to_where_nothing_leads_on_is_not_offered() -> None:
    told = asked("op.v2.0.0\nop.v1.0.0: op.v2.0.0", "1.5.0", "v1")
    assert fixes(told)[-1].startswith("- publish a release above 2.0.0 in stable that replaces op.v1.0.0")
    assert not any("to the skips of op.v2.0.0" in fix for fix in fixes(told))


def test_an_edit_that_strands_others_is_not_offered() -> None:
    told = asked("op.v1.1.1\nop.v2.0.0: op.v1.1.1\nop.v2.0.0-rc.1: op.v2.0.0", "1.5.0", "v1")
    by_range = "give op.v2.0.0-rc.1 the skipRange '>=1.5.0 <2.0.0-rc.1'"
    assert fixes(told) == [f"- add op.v1.5.0 to the skips of op.v2.0.0-rc.1, or {by_range}"]


def test_what_one_edit_alone_does_not_mend_is_said_so() -> None:
    told = asked("b5: b5\nb4: b5\nb3: b3\nb2: b3", "b2", "v0")
    alone = "fixed alone, it does not help b2 reach its goal"
    assert fixes(told)[1:] == [
        f"EP202 {alone}",
        f"EP211 {alone}",
        "- set replaces: b2 on b5 and remove b3 from its own replaces",
    ]


def test_where_no_edit_is_found_that_is_said() -> None:
    told = asked("b3: b2\nb2\n%prohibited b3", "1.0.0", "v0")
    none = "no single edit was found with which 1.0.0 reaches its goal and no version is worse off"
    assert fixes(told) == [
        f"- {none}: publish a release above 3.0.0 in stable that replaces b3, with a skipRange from 1.0.0"
    ]


def test_advice_about_a_warning_does_not_hide_that_no_edit_was_found() -> None:
    told = asked("b4\nb3: b2\nb2\nb1: b2", "b2", "v0")
    assert fixes(told)[-1].startswith("- no single edit was found with which b2 reaches its goal")


def test_a_release_that_helps_only_after_a_fix_is_reported_after_it() -> None:
    told = asked("b1: - / - / >=1.0.1\nb2: b1", "5.0.0", "v0")
    none = "no single edit was found with which 5.0.0 reaches its goal and no version is worse off"
    release = "publish a release above 5.0.0 in stable that replaces b2, with a skipRange from 1.0.0"
    assert fixes(told) == [
        "EP210 fixed alone, it does not help 5.0.0 reach its goal",
        f"- {none}: remove the skipRange of b1, then {release}",
    ]


def test_of_many_findings_the_edits_of_the_worst_dozen_are_tried() -> None:
    told = asked("\n".join(f"b{n}" for n in range(1, 21)), "b1", "v0")
    assert len(fixes(told)) == 13
    assert fixes(told)[-1].startswith("- no single edit was found")


def test_a_range_that_matches_no_version_is_fixed_so_that_it_matches_who_asks() -> None:
    told = asked("b3: b2 / - / >=3.0.0 <1.0.0\nb2", "1.5.0", "v0")
    assert fixes(told) == ["EP306 give b3 the skipRange '>=1.5.0 <3.0.0'"]


def test_v1_asks_for_the_version_that_a_name_does_not_say() -> None:
    told = story(explained("b2: b1\nb1", "old"), "v1")
    [hint] = told.hints
    assert hint == (
        "The version of the installed bundle is unknown, but OLM v1 matches by version: "
        "pass a version to --installed."
    )
    assert told.fixes == ()
    assert told.path_summary == "OLM v1 fails: the version of old is not in the catalog, or does not parse."


def test_v1_tells_a_bundle_that_no_edge_leads_to_from_one_that_is_absent() -> None:
    told = story(
        explained("b3: b2\nb2: b1\nb1", "b1", options=ClusterExtensionOptions(version_range="3.0.0")), "v1"
    )
    assert told.requester == "a ClusterExtension with channels: [stable], version: '3.0.0'"
    assert looked(told) == [
        "b3 refused: no edge leads to it from b1",
        "b2 refused: is outside the version range '3.0.0'",
        "b1 refused: is installed, and is outside the version range '3.0.0'",
    ]


def test_the_terms_of_a_cluster_extension_are_reported() -> None:
    terms = ClusterExtensionOptions(channels=(), self_certified=True)
    told = story(explained("b2: b1\nb1", "b1", options=terms), "v1")
    assert told.requester == "a ClusterExtension with upgradeConstraintPolicy: SelfCertified"


def with_properties(drawing: str, name: str, *properties: tuple[str, object]) -> Catalog:
    plain = catalog(drawing)
    (package,) = plain.packages
    stated = tuple(Property(kind, value, Place("f")) for kind, value in properties)
    bundles = tuple(
        b._replace(properties=(*b.properties, *stated)) if b.name == name else b for b in package.bundles
    )
    return plain._replace(packages=(package._replace(bundles=bundles),))


def test_dependencies_are_named_and_what_happens_if_nothing_meets_them() -> None:
    subject = with_properties(
        "b3: b2 / b1\nb2: b1\nb1",
        "b3",
        ("olm.package.required", {"packageName": "etcd", "versionRange": ">=1.0.0"}),
        ("olm.gvk.required", {"group": "a.io", "version": "v1", "kind": "A"}),
        ("olm.constraint", {"cel": {}}),
    )
    (caution,) = story(explained(subject, "b1")).warnings
    assert caution == (
        "b3 requires package etcd in '>=1.0.0', the API a.io/v1 A, its olm.constraint. If nothing "
        "on the cluster or in its catalogs provides that, OLM v0 installs b2 and reports no error."
    )
    refused = story(explained(subject, "b1"), "v1")
    assert refused.warnings == ()
    assert "b3 refused: skips b1, but OLM v1 rejects the bundle that it has chosen" in looked(refused)


@pytest.mark.parametrize(("installed", "otherwise"), [("b1", "does not upgrade"), (None, "fails")])
def test_dependencies_that_nothing_meets_leave_who_has_no_other_way(
    installed: str | None, otherwise: str
) -> None:
    subject = with_properties("b2: b1 / b1", "b2", ("olm.constraint", {}))
    (caution,) = story(explained(subject, installed)).warnings
    assert caution.endswith(f"OLM v0 {otherwise} and reports no error.")


def test_the_lowest_kubernetes_version_is_named() -> None:
    subject = with_properties("b2: b1\nb1", "b2", ("olm.csv.metadata", {"minKubeVersion": "1.30.0"}))
    (caution,) = story(explained(subject, "b1")).warnings
    assert caution == (
        "b2 requires Kubernetes 1.30.0 or later: on an older cluster it is chosen, too, and its CSV "
        "stays Pending with RequirementsNotMet."
    )


def test_deprecations_are_named_with_their_message() -> None:
    place = Place("f")
    entries = (
        DeprecationEntry("olm.package", "", "retired", place),
        DeprecationEntry("olm.channel", "stable", "use fast\n", place),
        DeprecationEntry("olm.bundle", "b1", "", place),
        DeprecationEntry("olm.bundle", "b9", "somebody else", place),
    )
    plain = catalog("b2: b1\nb1")
    package = plain.packages[0]._replace(deprecations=(Deprecations("p", place, entries),))
    assert story(explained(plain._replace(packages=(package,)), "b1")).warnings == (
        "The catalog deprecates package p: retired",
        "The catalog deprecates channel stable: use fast",
        "The catalog deprecates b1: without a message",
    )


def test_deprecations_are_those_of_the_catalog_that_a_bundle_is_taken_from() -> None:
    explanation = explained("b3", "b1", others={"community": "b2: b1\nb1\n%deprecated b1: gone"})
    assert story(explanation, "v1").warnings == ("The catalog deprecates b1: gone",)


def test_a_loop_is_reported_as_the_road() -> None:
    told = story(explained("b3: b2 / - / =1.0.0\nb2: b1 / - / =3.0.0\nb1", "b3"))
    assert told.summary == "OLM v0 upgrades b3 to b2."
    assert told.path_summary.startswith("b3 → b2 → b3: updates in a cycle")
    assert any(fix.startswith("EP210 ") for fix in fixes(told))


def test_a_crash_is_reported_as_one() -> None:
    told = story(explained("b2: b1 / - / <0.1.0 || || =9.0.0\nb1", "b1"))
    assert told.summary == "OLM v0 panics, and b1 is not upgraded."
    assert fixes(told)[0].startswith("EP302 ")


def test_a_long_path_is_reported_by_its_ends() -> None:
    drawing = "\n".join(f"b{n}: b{n - 1}" for n in range(20, 1, -1)) + "\nb1"
    told = story(explained(drawing, "b1"))
    assert (
        told.path_summary == "b1 → b2 → b3 → b4 → b5 → b6 → … 13 more … → b20: reaches the head in 19 hops."
    )
    assert len(told.trace.path.hops) == 19


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
def test_what_only_the_cluster_knows_is_named_with_a_command(subject: str, word: str) -> None:
    checks = explained("b2: b1\nb1", "b1").checks
    found = [check for check in checks if word in check.question]
    assert [check.policy for check in found] == ["v0"], subject
    assert found[0].command.startswith("kubectl get ")


def test_less_is_asked_of_the_cluster_where_the_catalog_explains_it() -> None:
    moving, staying = explained("b2: b1\nb1", "b1").checks, explained("b3\nb2: b1\nb1", "b1").checks
    assert set(staying) < set(moving)
