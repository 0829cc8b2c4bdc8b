"""`everpath install`: what it makes, what it leaves alone, and what it says until the operator runs."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import yaml

from clusters import Kept, catalog, group, plan, subscription, world
from commandline import Answer
from everpath.olm.objects import INSTALL_PLAN, NAMESPACE, OPERATOR_GROUP, SUBSCRIPTION, Ref
from olm_moves import connects, installs, plans, succeeds
from schemas import conforms

Call = Callable[..., Answer]
ASKED = ("install", "op", "--catalog", "10.0.0.7:50051", "-n", "ns", "--channel", "stable")


def empty() -> Kept:
    return world()


def test_everything_is_made_and_followed_until_it_runs(everpath: Call) -> None:
    kept = empty()
    steps = (
        connects(kept),
        plans(kept, "install-1", "op.v1.0.0"),
        installs(kept, "install-1", "op.v1.0.0"),
        succeeds(kept, "op.v1.0.0"),
    )
    answer = everpath(kept, *ASKED, steps=steps)
    assert answer.out.splitlines() == [
        "Created Namespace ns",
        "Created OperatorGroup ns-everpath",
        "Created CatalogSource op-catalog",
        "Created Subscription op",
        "Found CatalogSource op-catalog: not connected yet, 10.0.0.7:50051",
        "Found OperatorGroup ns-everpath: watches all namespaces",
        "Found Subscription op: not looked at yet, channel stable, Automatic",
        "Found CatalogSource op-catalog: READY, 10.0.0.7:50051",
        "Found Subscription op: UpgradePending, channel stable, Automatic",
        "Found InstallPlan install-1: Installing, op.v1.0.0",
        "Found Subscription op: AtLatestKnown, channel stable, Automatic",
        "Found InstallPlan install-1: Complete, installed op.v1.0.0",
        'Found ClusterServiceVersion "ns/op.v1.0.0" phase: Installing',
        "Found Deployment op-controller: 0 of 1 available",
        'Found ClusterServiceVersion "ns/op.v1.0.0" phase: Succeeded',
        "Found Deployment op-controller: 1 of 1 available",
        'OLM has successfully installed "op.v1.0.0"',
    ]
    assert (answer.code, answer.err) == (0, "")


def installed(everpath: Call) -> Kept:
    kept = empty()
    steps = (
        connects(kept),
        plans(kept, "install-1", "op.v1.0.0"),
        installs(kept, "install-1", "op.v1.0.0"),
        succeeds(kept, "op.v1.0.0"),
    )
    assert everpath(kept, *ASKED, steps=steps).code == 0
    kept.log.clear()
    return kept


def test_a_second_run_changes_nothing_and_says_so(everpath: Call) -> None:
    kept = installed(everpath)
    answer = everpath(kept, *ASKED)
    assert kept.log == []
    assert answer.out.splitlines()[:5] == [
        "Namespace ns is as wanted",
        "OperatorGroup ns-everpath is as wanted",
        "CatalogSource op-catalog is as wanted",
        "Subscription op is as wanted",
        "Nothing to change: all that OLM needs is there",
    ]
    assert answer.out.splitlines()[-1] == 'OLM has successfully installed "op.v1.0.0"'
    assert answer.code == 0


def test_what_others_added_to_our_objects_stays(everpath: Call) -> None:
    kept = installed(everpath)
    ref = Ref(SUBSCRIPTION, "ns", "op")
    kept.things[ref]["spec"]["config"] = {"env": [{"name": "A", "value": "b"}]}
    everpath(kept, *ASKED)
    everpath(kept, *ASKED, "--approval", "Manual", "--force")
    assert kept.things[ref]["spec"]["config"] == {"env": [{"name": "A", "value": "b"}]}
    assert kept.things[ref]["spec"]["installPlanApproval"] == "Manual"


def test_an_approval_that_is_not_spoken_of_stays(everpath: Call) -> None:
    kept = installed(everpath)
    assert everpath(kept, *ASKED, "--approval", "Manual", "--force").code == 0
    kept.log.clear()
    assert everpath(kept, *ASKED).code == 0
    assert kept.log == []


def test_what_is_changed_is_followed_although_the_old_release_runs(everpath: Call) -> None:
    """OLM notices another channel a moment later: until then it says that all is well."""
    kept = installed(everpath)
    steps = (
        lambda: None,
        lambda: None,
        plans(kept, "install-2", "op.v2.0.0"),
        installs(kept, "install-2", "op.v2.0.0", "op.v1.0.0"),
        succeeds(kept, "op.v2.0.0", "op.v1.0.0"),
    )
    answer = everpath(kept, *ASKED, "--channel", "fast", "--force", steps=steps)
    assert answer.out.splitlines()[-1] == 'OLM has successfully installed "op.v2.0.0"'
    assert answer.code == 0


def test_whoever_begins_with_an_old_release_is_followed_to_the_newest(everpath: Call) -> None:
    """Between two steps OLM says that it knows of nothing newer."""
    kept = empty()
    steps = (
        connects(kept),
        plans(kept, "install-1", "op.v1.0.0"),
        installs(kept, "install-1", "op.v1.0.0"),
        succeeds(kept, "op.v1.0.0"),
        *(lambda: None,) * 4,
        plans(kept, "install-2", "op.v1.1.0"),
        installs(kept, "install-2", "op.v1.1.0", "op.v1.0.0"),
        succeeds(kept, "op.v1.1.0", "op.v1.0.0"),
    )
    answer = everpath(kept, *ASKED, "--starting-csv", "1.0.0", steps=steps)
    assert answer.out.splitlines()[-1] == 'OLM has successfully installed "op.v1.1.0"'
    assert answer.code == 0


def test_a_release_whose_successor_is_being_unpacked_is_not_the_end(everpath: Call) -> None:
    kept = empty()

    def unpacks(status: str) -> None:
        asked = kept.get(Ref(SUBSCRIPTION, "ns", "op"))
        assert asked is not None
        asked["status"]["conditions"] = [{"type": "BundleUnpacking", "status": status}]
        kept.put(SUBSCRIPTION, asked)

    steps = (
        connects(kept),
        plans(kept, "install-1", "op.v1.0.0"),
        installs(kept, "install-1", "op.v1.0.0"),
        lambda: unpacks("True"),
        succeeds(kept, "op.v1.0.0"),
        *(lambda: None,) * 20,
        plans(kept, "install-2", "op.v1.1.0"),
        installs(kept, "install-2", "op.v1.1.0", "op.v1.0.0"),
        lambda: unpacks("False"),
        succeeds(kept, "op.v1.1.0", "op.v1.0.0"),
    )
    answer = everpath(kept, *ASKED, "--starting-csv", "1.0.0", steps=steps)
    assert answer.out.splitlines()[-1] == 'OLM has successfully installed "op.v1.1.0"'
    assert answer.code == 0


def test_a_change_that_olm_finds_no_answer_to_is_no_success(everpath: Call) -> None:
    kept = installed(everpath)
    failed = {
        "type": "ResolutionFailed",
        "status": "True",
        "reason": "ConstraintsNotSatisfiable",
        "message": "no operators found in channel nowhere",
    }

    def refuses() -> None:
        asked = kept.get(Ref(SUBSCRIPTION, "ns", "op"))
        assert asked is not None
        asked["status"]["conditions"] = [failed]
        kept.put(SUBSCRIPTION, asked)

    steps = (lambda: None, lambda: None, refuses)
    answer = everpath(kept, *ASKED, "--channel", "nowhere", "--force", steps=steps)
    assert "no operators found in channel nowhere" in answer.out
    assert "to go on: everpath why CATALOG -p op --live -n ns explains" in answer.out
    assert answer.code == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--channel", "fast"), "spec.channel is stable, not fast"),
        (("--approval", "Manual"), "spec.installPlanApproval is Automatic, not Manual"),
        (("--starting-csv", "0.9.0"), "spec.startingCSV is not set, not op.v0.9.0"),
    ],
)
def test_another_subscription_for_the_package_is_refused(
    everpath: Call, options: tuple[str, ...], said: str
) -> None:
    kept = installed(everpath)
    answer = everpath(kept, *ASKED, *options)
    assert answer.code == 2
    assert said in answer.err
    assert "hint: " in answer.err
    assert kept.log == []


def test_another_catalog_of_that_name_is_refused_and_nothing_is_made(everpath: Call) -> None:
    kept = world(catalog=catalog(address="10.0.0.8:50051"))
    answer = everpath(kept, *ASKED)
    assert answer.code == 2
    assert "spec.address is 10.0.0.8:50051, not 10.0.0.7:50051" in answer.err
    assert kept.log == []


def test_an_operator_group_that_is_there_is_used(everpath: Call) -> None:
    kept = world(group=group("own", "ns"))
    everpath(kept, *ASKED, "--no-wait")
    assert [ref.name for ref in kept.things if ref.kind == OPERATOR_GROUP] == ["own"]


@pytest.mark.parametrize(
    ("groups", "options", "said"),
    [
        (
            [group("own", "ns")],
            ("--watch-namespaces", "other"),
            "OperatorGroup own of namespace ns watches ns, not other",
        ),
        ([group("all")], ("--install-mode", "OwnNamespace"), "OperatorGroup all of namespace ns watches all"),
        ([group("a"), group("b")], (), "namespace ns has several OperatorGroups: a, b"),
    ],
)
def test_an_operator_group_that_does_not_fit_is_refused(
    everpath: Call, groups: list[dict[str, object]], options: tuple[str, ...], said: str
) -> None:
    kept = world(group=groups)
    answer = everpath(kept, *ASKED, *options)
    assert answer.code == 2
    assert said in answer.err
    assert kept.log == []


def test_with_manual_approval_it_stops_at_the_plan_and_says_how_to_go_on(everpath: Call) -> None:
    kept = empty()
    steps = (connects(kept), plans(kept, "install-1", "op.v1.0.0", manual=True))
    answer = everpath(kept, *ASKED, "--approval", "Manual", steps=steps)
    assert answer.out.splitlines()[-2:] == [
        "Waits for InstallPlan install-1 to be approved: it installs op.v1.0.0",
        "  to go on: everpath upgrade op -n ns",
    ]
    assert answer.code == 0


def test_with_approve_the_first_plan_is_approved_and_no_other(everpath: Call) -> None:
    kept = empty()
    steps = (
        plans(kept, "install-1", "op.v1.0.0", manual=True),
        installs(kept, "install-1", "op.v1.0.0"),
        plans(kept, "install-2", "op.v1.1.0", manual=True),
        succeeds(kept, "op.v1.0.0"),
    )
    answer = everpath(kept, *ASKED, "--approval", "Manual", "--approve", steps=steps)
    assert "Approved InstallPlan install-1" in answer.out
    assert "Approved InstallPlan install-2" not in answer.out
    assert answer.out.splitlines()[-2:] == [
        'OLM has successfully installed "op.v1.0.0"',
        "InstallPlan install-2 waits for approval of the next step: everpath upgrade op -n ns",
    ]
    assert answer.code == 0


def test_at_the_deadline_it_says_what_it_waits_for(everpath: Call) -> None:
    answer = everpath(empty(), *ASKED, "--timeout", "10s")
    assert answer.out.splitlines()[-5:-3] == [
        "The time is up: nothing is installed",
        "Waits for an answer from the registry server at 10.0.0.7:50051, which OLM cannot reach",
    ]
    assert answer.code == 1


def test_what_can_never_succeed_is_not_waited_for_till_the_end(everpath: Call) -> None:
    kept = empty()

    def fails() -> None:
        kept.put(
            SUBSCRIPTION,
            subscription("", "op.v1.0.0", state="UpgradePending", plan="install-1", channel="stable"),
        )
        kept.put(INSTALL_PLAN, plan("Failed", "op.v1.0.0", message="too large"))

    answer = everpath(kept, *ASKED, "--timeout", "1h", steps=(connects(kept), fails))
    assert "Waits for InstallPlan install-1, which failed: too large" in answer.out
    assert "The time is up" not in answer.out
    assert answer.code == 1


def test_a_catalog_source_that_is_there_can_be_named(everpath: Call) -> None:
    kept = world(catalog=catalog())
    named = ("install", "op", "--catalog-name", "op-catalog", "-n", "ns", "--no-wait")
    assert everpath(kept, *named).code == 0
    assert kept.things[Ref(SUBSCRIPTION, "ns", "op")]["spec"]["source"] == "op-catalog"
    answer = everpath(world(catalog=catalog()), "install", "op", "--catalog-name", "op-catalg", "-n", "ns")
    assert answer.code == 2
    assert "did you mean 'op-catalog'?" in answer.err


def test_whoever_may_not_do_all_of_it_does_nothing(everpath: Call) -> None:
    kept = empty()
    kept.put(NAMESPACE, {"metadata": {"name": "ns"}})
    kept.forbidden = {SUBSCRIPTION}
    answer = everpath(kept, *ASKED)
    assert (answer.code, kept.log, answer.out) == (4, [], "")
    assert "may not patch Subscription op" in answer.err


def test_a_namespace_on_its_way_out_is_refused(everpath: Call) -> None:
    kept = empty()
    kept.put(NAMESPACE, {"metadata": {"name": "ns", "deletionTimestamp": "2026-01-01T00:00:00Z"}})
    answer = everpath(kept, *ASKED)
    assert answer.code == 2
    assert "namespace ns is being deleted" in answer.err


def test_a_cluster_without_olm_is_told_from_one_without_the_package(everpath: Call) -> None:
    answer = everpath(Kept(served=False), *ASKED)
    assert answer.code == 4
    assert "the cluster has no OLM" in answer.err


def test_the_namespace_is_that_of_the_context(everpath: Call) -> None:
    kept = Kept(namespace="mine")
    everpath(kept, "install", "op", "--catalog", "10.0.0.7:50051", "--no-wait")
    assert Ref(SUBSCRIPTION, "mine", "op") in kept.things


def test_the_json_is_the_contract(everpath: Call) -> None:
    kept = empty()
    steps = (
        connects(kept),
        plans(kept, "install-1", "op.v1.0.0"),
        installs(kept, "install-1", "op.v1.0.0"),
        succeeds(kept, "op.v1.0.0"),
    )
    answer = everpath(kept, *ASKED, "-o", "json", steps=steps)
    made = json.loads(answer.out)
    conforms("install", made)
    assert made["outcome"] == "done"
    assert made["running"] == "op.v1.0.0"
    assert [change["did"] for change in made["changes"]] == ["created"] * 4
    assert "Created Subscription op" in answer.err
    late = json.loads(everpath(empty(), *ASKED, "-o", "json", "--timeout", "5s").out)
    conforms("install", late)
    assert late["outcome"] == "deadline"
    unfollowed = json.loads(everpath(empty(), *ASKED, "-o", "json", "--no-wait").out)
    conforms("install", unfollowed)
    assert unfollowed["outcome"] == "not-followed"


def spec(answer: Answer, kind: str) -> dict[str, object]:
    (found,) = [one for one in yaml.safe_load_all(answer.out) if one["kind"] == kind]
    made: dict[str, object] = found["spec"]
    return made


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ("--catalog", "q.io/a/c:1"),
            {
                "image": "q.io/a/c:1",
                "grpcPodConfig": {
                    "securityContextConfig": "restricted",
                    "extractContent": {"catalogDir": "/configs"},
                },
            },
        ),
        (
            ("--catalog", "docker://q.io/a/c:1", "--serves-itself", "--poll", "10m"),
            {
                "image": "q.io/a/c:1",
                "grpcPodConfig": {"securityContextConfig": "restricted"},
                "updateStrategy": {"registryPoll": {"interval": "10m"}},
            },
        ),
        (("--catalog", "registry.olm.svc:50051"), {"address": "registry.olm.svc:50051"}),
        (("--catalog", "[::1]:50051"), {"address": "[::1]:50051"}),
    ],
)
def test_which_catalog_source_goes_with_what(
    everpath: Call, options: tuple[str, ...], expected: dict[str, object]
) -> None:
    answer = everpath(empty(), "install", "op", *options, "-n", "ns", "--dry-run")
    made = spec(answer, "CatalogSource")
    assert {
        key: made[key] for key in made if key not in ("displayName", "publisher", "sourceType")
    } == expected


def test_a_dry_run_prints_json_where_that_is_wanted(everpath: Call) -> None:
    options = ("--catalog", "q.io/a/c:1", "-n", "ns", "--dry-run")
    plain = everpath(empty(), "install", "op", *options)
    answer = everpath(empty(), "install", "op", *options, "-o", "json")
    assert (answer.code, answer.err) == (0, "")
    document = json.loads(answer.out)
    assert (document["apiVersion"], document["kind"]) == ("v1", "List")
    assert document["items"] == list(yaml.safe_load_all(plain.out))


def test_a_dry_run_asks_no_cluster(everpath: Call) -> None:
    kept = Kept(served=False)
    answer = everpath(kept, *ASKED, "--dry-run", "--starting-csv", "v1.0.0", "--watch-namespaces", "a,b")
    assert answer.code == 0
    assert spec(answer, "OperatorGroup") == {"targetNamespaces": ["a", "b"]}
    assert spec(answer, "Subscription")["startingCSV"] == "op.v1.0.0"
    assert kept.log == []


def test_a_dry_run_for_olm_v1(everpath: Call) -> None:
    answer = everpath(
        empty(), "install", "op", "--catalog", "q.io/a/c:1", "-n", "ns", "--dry-run", "--olm", "v1",
        "--channel", "stable", "--poll", "90s", "--starting-csv", "op.v1.0.0",
    )  # fmt: skip
    assert spec(answer, "ClusterCatalog")["source"] == {
        "type": "Image",
        "image": {"ref": "q.io/a/c:1", "pollIntervalMinutes": 1},
    }
    assert spec(answer, "ClusterExtension")["source"] == {
        "sourceType": "Catalog",
        "catalog": {"packageName": "op", "channels": ["stable"], "version": "1.0.0"},
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-n", "ns"), "say where OLM finds the package"),
        (("-n", "ns", "--catalog", "oci:folder"), "a cluster cannot read oci:folder"),
        (("-n", "ns", "--catalog", "q.io/A/c"), "is no repository"),
        (("-n", "ns", "--catalog", "a:1", "--approve", "--approval", "Automatic"), "--approve goes with"),
        (("-n", "ns", "--catalog", "a:1", "--poll", "5m"), "--poll looks for a new image"),
        (("-n", "ns", "--catalog", "q.io/a/c", "--poll", "soon"), "--poll 'soon' is no time"),
        (("-n", "ns", "--catalog", "a:1", "--serves-itself"), "--serves-itself is about an image"),
        (("-n", "ns", "--catalog", "a:1", "--install-mode", "SingleNamespace"), "--install-mode"),
        (("-n", "ns", "--catalog", "a:1", "--install-mode", "Own"), "--install-mode 'Own' is none"),
        (
            ("-n", "ns", "--catalog", "a:1", "--install-mode", "OwnNamespace", "--watch-namespaces", "b"),
            "exclude each other",
        ),
        (("-n", "Ns", "--catalog", "a:1"), "namespace 'Ns' is no name"),
        (("-n", "ns", "--catalog", "a:1", "--timeout", "soon"), "--timeout 'soon' is no time"),
        (("-n", "ns", "--catalog", "a:1", "--olm", "v1"), "only OLM v0"),
        (
            ("-n", "ns", "--catalog", "a:1", "--olm", "v1", "--dry-run"),
            "OLM v1 reads catalogs of images only",
        ),
        (("--catalog", "a:1", "--dry-run"), "--dry-run asks no cluster for a namespace"),
    ],
)
def test_what_cannot_be_meant_is_refused(everpath: Call, options: tuple[str, ...], said: str) -> None:
    kept = empty()
    answer = everpath(kept, "install", "op", *options)
    assert answer.code == 2
    assert said in answer.err
    assert kept.log == []
