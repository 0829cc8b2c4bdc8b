"""`everpath uninstall`: the order in which things go, what stays, and what others need."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from clusters import Kept, catalog, crd, csv, deployment, group, plan, subscription, world
from commandline import Answer
from everpath.olm.objects import (
    CATALOG_SOURCE,
    CRD,
    CSV,
    OPERATOR_GROUP,
    SUBSCRIPTION,
    VOLUME_CLAIM,
    Kind,
    Object,
    Ref,
)
from olm_moves import removes
from schemas import conforms

Call = Callable[..., Answer]
ASKED = ("uninstall", "op", "-n", "ns", "--yes")
OP = Kind("example.com/v1", "Op", "ops")


def resource(name: str, namespace: str = "ns", *finalizers: str) -> Object:
    return {"metadata": {"name": name, "namespace": namespace, "finalizers": list(finalizers)}}


def running(*watched: str) -> Kept:
    ours = group("og", *watched)
    ours["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "everpath"}
    kept = world(
        catalog=catalog(),
        group=ours,
        subscription=subscription("op.v1.0.0", "op.v1.0.0", state="AtLatestKnown", plan="install-1"),
        plan=plan("Complete", "op.v1.0.0"),
        csv=csv("op.v1.0.0"),
        deployment=deployment(),
        crd=crd(),
    )
    kept.put(OP, resource("first"))
    kept.put(OP, resource("far", "other"))
    kept.put(VOLUME_CLAIM, {"metadata": {"name": "data-0", "namespace": "ns"}})
    return kept


def test_custom_resources_go_first_and_the_operator_after_them(everpath: Call) -> None:
    kept = running()
    answer = everpath(kept, *ASKED)
    assert kept.log == [
        "delete Op first",
        "delete Op far",
        "delete Subscription op",
        "delete ClusterServiceVersion op.v1.0.0",
        "delete OperatorGroup og",
    ]
    assert answer.out.splitlines()[-2:] == [
        "Operator op uninstalled",
        "Volumes were left: they hold data, and only you know whether it may go",
    ]
    assert "Stays: PersistentVolumeClaim data-0" in answer.out
    assert "Stays: CustomResourceDefinition ops.example.com" in answer.out
    assert "Stays: CatalogSource op-catalog" in answer.out
    assert answer.code == 0


def test_the_operator_stays_until_finalizers_are_released(everpath: Call) -> None:
    kept = running()
    kept.put(OP, resource("slow", "ns", "example.com/backup"))
    ref = Ref(OP, "ns", "slow")
    still: list[bool] = []
    steps = (lambda: still.append(Ref(CSV, "ns", "op.v1.0.0") in kept.things), removes(kept, ref))
    answer = everpath(kept, *ASKED, steps=steps)
    assert still == [True]
    assert "Waiting for Op slow to be gone" in answer.out
    assert answer.code == 0


@pytest.mark.parametrize(("silence", "code"), [(3, 0), (400, 4)])
def test_a_cluster_that_is_silent_for_a_while_is_asked_again(everpath: Call, silence: int, code: int) -> None:
    kept = running()
    kept.put(OP, resource("slow", "ns", "example.com/backup"))

    def speaks(is_silent: bool) -> Callable[[], None]:
        return lambda: setattr(kept, "is_silent", is_silent)

    nothing = (lambda: None,) * silence
    steps = (speaks(True), *nothing, speaks(False), removes(kept, Ref(OP, "ns", "slow")))
    answer = everpath(kept, *ASKED, steps=steps)
    assert answer.out.count("it does not answer; asking again") == 1
    assert answer.code == code


def test_what_does_not_go_keeps_the_operator_and_is_told(everpath: Call) -> None:
    kept = running()
    kept.put(OP, resource("stuck", "ns", "example.com/backup"))
    answer = everpath(kept, *ASKED, "--timeout", "10s")
    assert "Still there: Op stuck, kept by its finalizers example.com/backup" in answer.out
    assert "delete Subscription op" not in kept.log
    assert Ref(CSV, "ns", "op.v1.0.0") in kept.things
    assert answer.code == 1


def test_custom_resources_of_namespaces_it_does_not_watch_are_not_its_own(everpath: Call) -> None:
    kept = running("ns")
    everpath(kept, *ASKED)
    assert Ref(OP, "other", "far") in kept.things
    assert Ref(OP, "ns", "first") not in kept.things


def test_custom_resources_can_be_kept(everpath: Call) -> None:
    kept = running()
    answer = everpath(kept, *ASKED, "--keep-custom-resources")
    assert Ref(OP, "ns", "first") in kept.things
    assert "Stays: Op first" in answer.out


def test_an_operator_group_that_somebody_else_made_stays(everpath: Call) -> None:
    kept = running()
    kept.put(*next((ref.kind, group("og")) for ref in kept.things if ref.name == "og"))
    everpath(kept, *ASKED)
    assert "delete OperatorGroup og" not in kept.log


def test_an_operator_group_that_others_need_stays(everpath: Call) -> None:
    kept = running()
    other = subscription(name="other")
    other["spec"]["name"] = "other"
    kept.put(SUBSCRIPTION, other)
    everpath(kept, *ASKED)
    assert "delete OperatorGroup og" not in kept.log
    assert "delete Subscription other" not in kept.log


def test_definitions_and_catalog_go_if_it_is_said(everpath: Call) -> None:
    kept = running()
    everpath(kept, *ASKED, "--delete-crds", "--delete-catalog")
    assert kept.log[-2:] == [
        "delete CatalogSource op-catalog",
        "delete CustomResourceDefinition ops.example.com",
    ]


def test_definitions_that_another_operator_needs_stay(everpath: Call) -> None:
    kept = running()
    other = csv("rival.v1")
    other["metadata"]["namespace"] = "other"
    kept.put(CSV, other)
    answer = everpath(kept, *ASKED, "--delete-crds")
    assert answer.code == 2
    assert "others need the CustomResourceDefinitions: rival.v1 in namespace other" in answer.err
    assert kept.log == []


def test_a_catalog_that_others_follow_stays(everpath: Call) -> None:
    kept = running()
    other = subscription(name="other")
    other["metadata"]["namespace"] = "other"
    kept.put(SUBSCRIPTION, other)
    answer = everpath(kept, *ASKED, "--delete-catalog")
    assert answer.code == 2
    assert "Subscriptions other/other" in answer.err
    assert kept.log == []


@pytest.mark.parametrize("options", [("--dry-run",), ()])
def test_without_a_yes_nothing_goes(everpath: Call, options: tuple[str, ...]) -> None:
    kept = running()
    answer = everpath(kept, "uninstall", "op", "-n", "ns", *options)
    assert "Goes: ClusterServiceVersion op.v1.0.0" in answer.out
    assert answer.code == (0 if options else 2)
    assert kept.log == []


def test_what_is_not_there_is_gone(everpath: Call) -> None:
    answer = everpath(world(), *ASKED)
    assert answer.out == "Nothing to uninstall: op is not in namespace ns\n"
    assert answer.code == 0


def test_another_object_that_took_the_name_is_not_waited_for(everpath: Call) -> None:
    kept = running()
    kept.put(OP, resource("slow", "ns", "example.com/backup"))

    def reborn() -> None:
        kept.things.pop(Ref(OP, "ns", "slow"))
        kept.put(OP, resource("slow", "ns", "example.com/backup"))

    assert everpath(kept, *ASKED, "--timeout", "10s", steps=(reborn,)).code == 0


def test_definitions_cannot_go_without_what_they_define(everpath: Call) -> None:
    answer = everpath(running(), *ASKED, "--delete-crds", "--keep-custom-resources")
    assert answer.code == 2


def test_who_removes_an_operator_that_does_not_run_is_warned(everpath: Call) -> None:
    kept = running()
    kept.put(CSV, csv("op.v1.0.0", "Failed"))
    assert "nobody sees to the finalizers" in everpath(kept, *ASKED).out


@pytest.mark.parametrize(
    ("options", "outcome"), [((), "done"), (("--dry-run",), "planned"), (("--timeout", "5s"), "deadline")]
)
def test_the_json_is_the_contract(everpath: Call, options: tuple[str, ...], outcome: str) -> None:
    kept = running()
    if outcome == "deadline":
        kept.put(OP, resource("stuck", "ns", "example.com/backup"))
    made = json.loads(everpath(kept, *ASKED, "-o", "json", *options).out)
    conforms("uninstall", made)
    assert made["outcome"] == outcome
    assert bool(made["left"]) == (outcome == "deadline")


def test_an_uninstall_that_was_interrupted_goes_on(everpath: Call) -> None:
    kept = running()
    marked = csv("op.v1.0.0")
    marked["metadata"]["labels"] = {"operators.coreos.com/op.ns": ""}
    kept.put(CSV, marked)
    ours = catalog()
    ours["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "everpath"}
    kept.put(CATALOG_SOURCE, ours)
    del kept.things[Ref(SUBSCRIPTION, "ns", "op")]
    answer = everpath(kept, *ASKED, "--delete-catalog")
    assert "delete ClusterServiceVersion op.v1.0.0" in kept.log
    assert "delete CatalogSource op-catalog" in kept.log
    assert answer.code == 0


def test_csvs_of_other_packages_stay(everpath: Call) -> None:
    kept = running()
    kept.put(CSV, csv("other.v1"))
    everpath(kept, *ASKED)
    assert Ref(CSV, "ns", "other.v1") in kept.things
    assert "delete OperatorGroup og" not in kept.log


def test_definitions_go_also_after_the_operator_has_gone(everpath: Call) -> None:
    """OLM's mark is all that is left to know them by."""
    kept = running("ns")
    marked = crd()
    marked["metadata"]["labels"] = {"operators.coreos.com/op.ns": ""}
    kept.put(CRD, marked)
    for kind, name in ((SUBSCRIPTION, "op"), (CSV, "op.v1.0.0")):
        del kept.things[Ref(kind, "ns", name)]
    assert "delete CustomResourceDefinition ops.example.com" not in kept.log
    answer = everpath(kept, *ASKED, "--delete-crds")
    assert kept.log[-1] == "delete CustomResourceDefinition ops.example.com"
    assert answer.code == 0


def test_what_goes_with_its_definition_is_told_wherever_it_is(everpath: Call) -> None:
    kept = running("ns")
    answer = everpath(kept, *ASKED, "--delete-crds")
    assert "Goes: Op far in namespace other" in answer.out
    assert kept.log[:2] == ["delete Op first", "delete Op far"]
    assert "Deleted Op far in namespace other" in answer.out


@pytest.mark.parametrize("names", [(), ("one", "two")])
def test_where_no_group_says_what_is_watched_only_its_own_namespace_is(
    everpath: Call, names: tuple[str, ...]
) -> None:
    kept = running()
    del kept.things[Ref(OPERATOR_GROUP, "ns", "og")]
    for name in names:
        kept.put(OPERATOR_GROUP, group(name))
    everpath(kept, *ASKED)
    assert Ref(OP, "other", "far") in kept.things
    assert Ref(OP, "ns", "first") not in kept.things


@pytest.mark.parametrize(("noted", "is_kept"), [("ns", True), ("ns,other", False), ("", False)])
def test_what_olm_noted_on_the_release_is_what_it_watches(everpath: Call, noted: str, is_kept: bool) -> None:
    kept = running("ns")
    one = csv("op.v1.0.0")
    one["metadata"]["annotations"] = {"olm.targetNamespaces": noted}
    kept.put(CSV, one)
    everpath(kept, *ASKED)
    assert (Ref(OP, "other", "far") in kept.things) == is_kept


def test_a_long_mark_is_cut_as_olm_cuts_it(everpath: Call) -> None:
    kept = running()
    long = "n" * 63
    marked = csv("op.v1.0.0")
    marked["metadata"] |= {"namespace": long, "labels": {f"operators.coreos.com/op.{'n' * 60}": ""}}
    kept.put(CSV, marked)
    everpath(kept, "uninstall", "op", "-n", long, "--yes", "--keep-custom-resources")
    assert Ref(CSV, long, "op.v1.0.0") not in kept.things
