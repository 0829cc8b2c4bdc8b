"""`everpath upgrade`: the step that waits, the road behind it, and a yes to just that."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from catalogs import write_fbc
from clusters import NS, Kept, Time, catalog, csv, deployment, group, plan, pod, subscription, world
from commandline import Answer
from everpath.olm.follow import Outcome, follow
from everpath.olm.install import approve
from everpath.olm.objects import INSTALL_PLAN, SUBSCRIPTION, ConflictError, Object, Ref
from everpath.olm.snapshot import observe
from everpath.olm.upgrade import Step, Target, passes, pursuit_judge, stated_version
from olm_moves import installs, plans, succeeds
from schemas import conforms

Call = Callable[..., Answer]
ASKED = ("upgrade", "op", "-n", "ns")

ROAD = "op.v1.2.0: op.v1.1.0\nop.v1.1.0: op.v1.0.0\nop.v1.0.0"


def waiting(approval: str = "Manual") -> Kept:
    """op.v1.0.0 runs, and a plan for op.v1.1.0 waits."""
    return world(
        catalog=catalog(),
        group=group(),
        subscription=subscription(
            "op.v1.0.0",
            "op.v1.1.0",
            state="UpgradePending",
            plan="install-2",
            approval=approval,
            channel="stable",
        ),
        plan=[
            plan("Complete", "op.v1.0.0"),
            plan("RequiresApproval", "op.v1.1.0", "dep.v2", name="install-2", approved=False),
        ],
        csv=csv("op.v1.0.0"),
        deployment=deployment(),
        pod=pod(),
    )


def to_110(kept: Kept) -> tuple[Callable[[], None], ...]:
    return (
        installs(kept, "install-2", "op.v1.1.0", "op.v1.0.0"),
        succeeds(kept, "op.v1.1.0", "op.v1.0.0"),
    )


def test_the_step_is_shown_approved_and_followed(everpath: Call) -> None:
    kept = waiting()
    answer = everpath(kept, *ASKED, "--yes", steps=to_110(kept))
    lines = answer.out.splitlines()
    assert "InstallPlan install-2 installs op.v1.1.0 in the place of op.v1.0.0, and dep.v2" in lines
    assert "Approved InstallPlan install-2" in lines
    assert lines[-1] == '"op.v1.1.0" runs'
    assert answer.code == 0


def test_without_somebody_to_ask_nothing_is_approved(everpath: Call) -> None:
    kept = waiting()
    answer = everpath(kept, *ASKED)
    assert answer.code == 2
    assert "nobody at the terminal to ask" in answer.err
    assert kept.log == []


@pytest.mark.parametrize(
    ("typed", "code", "log"), [("y\n", 0, ["merge InstallPlan install-2"]), ("n\n", 130, [])]
)
def test_somebody_at_the_terminal_is_asked(everpath: Call, typed: str, code: int, log: list[str]) -> None:
    kept = waiting()
    answer = everpath(kept, *ASKED, steps=to_110(kept) if code == 0 else (), typed=typed)
    assert "Approve it? [y/N]" in answer.err + answer.out
    assert (answer.code, kept.log) == (code, log)


def test_the_road_ahead_is_told_from_the_catalog(everpath: Call, tmp_path: Path) -> None:
    write_fbc(tmp_path, f"[stable]\n{ROAD}", "op")
    kept = waiting()
    answer = everpath(kept, *ASKED, "--yes", "--catalog", str(tmp_path), steps=to_110(kept))
    assert answer.out.splitlines()[0] == (
        "The road ahead in channel stable: op.v1.0.0 → op.v1.1.0 → op.v1.2.0 (reaches the head in 2 hops)"
    )


@pytest.mark.parametrize(
    ("starting", "road"), [({}, "op.v1.2.0"), ({"startingCSV": "op.v1.1.0"}, "op.v1.1.0 → op.v1.2.0")]
)
def test_the_road_of_a_first_install_begins_where_the_subscription_says(
    everpath: Call, tmp_path: Path, starting: dict[str, str], road: str
) -> None:
    write_fbc(tmp_path, f"[stable]\n{ROAD}", "op")
    kept = world(catalog=catalog(), group=group(), subscription=subscription(channel="stable", **starting))
    answer = everpath(kept, *ASKED, "--catalog", str(tmp_path), "--timeout", "3s")
    assert answer.out.splitlines()[0].startswith(f"The road ahead in channel stable: {road} (")


def test_a_target_is_reached_step_by_step(everpath: Call) -> None:
    kept = waiting()
    steps = (
        *to_110(kept),
        plans(kept, "install-3", "op.v1.2.0", manual=True),
        installs(kept, "install-3", "op.v1.2.0", "op.v1.1.0"),
        succeeds(kept, "op.v1.2.0", "op.v1.1.0"),
    )
    answer = everpath(kept, *ASKED, "--yes", "--to", "1.2.0", steps=steps)
    assert [line for line in answer.out.splitlines() if line.startswith("Approved")] == [
        "Approved InstallPlan install-2",
        "Approved InstallPlan install-3",
    ]
    assert answer.out.splitlines()[-1] == '"op.v1.2.0" runs'
    assert answer.out.count("Found CatalogSource") == 1
    assert answer.code == 0


def test_a_target_that_is_reached_already_needs_no_yes(everpath: Call) -> None:
    kept = waiting()
    answer = everpath(kept, *ASKED, "--to", "v1.0.0")
    assert (answer.code, kept.log) == (0, [])


@pytest.mark.parametrize("target", ["1.0.5", "op.v1.0.5"])
def test_a_step_past_the_target_is_not_taken(everpath: Call, target: str) -> None:
    kept = waiting()
    answer = everpath(kept, *ASKED, "--yes", "--to", target)
    assert answer.code == 2
    assert f"the next step, to op.v1.1.0, goes past {target}" in answer.err
    assert kept.log == []


def test_a_target_that_no_road_leads_to_is_not_tried(everpath: Call, tmp_path: Path) -> None:
    write_fbc(tmp_path, f"[stable]\n{ROAD}", "op")
    kept = waiting()
    answer = everpath(kept, *ASKED, "--yes", "--to", "1.1.7", "--catalog", str(tmp_path))
    assert answer.code == 2
    assert "the road leads op.v1.1.0 → op.v1.2.0, and not over 1.1.7 after op.v1.1.0" in answer.err
    assert kept.log == []


def test_a_target_that_olm_offers_no_step_to_is_given_up_in_time(everpath: Call) -> None:
    kept = waiting()
    answer = everpath(kept, *ASKED, "--yes", "--to", "1.9.0", "--timeout", "1h", steps=to_110(kept))
    assert answer.out.splitlines()[-2:] == [
        '"op.v1.1.0" runs, and OLM offers no step to 1.9.0',
        "everpath why CATALOG -p op --live -n ns tells why",
    ]
    assert answer.code == 1


def test_with_nothing_newer_there_is_nothing_to_do(everpath: Call) -> None:
    kept = waiting()
    kept.put(SUBSCRIPTION, subscription("op.v1.0.0", "op.v1.0.0", state="AtLatestKnown", plan="install-1"))
    answer = everpath(kept, *ASKED)
    assert answer.out.splitlines()[-1] == '"op.v1.0.0" runs, and OLM knows of nothing newer'
    assert (answer.code, kept.log) == (0, [])


def resting() -> Kept:
    """op.v1.0.0 runs, and OLM has not looked for what is next."""
    kept = waiting()
    kept.put(
        SUBSCRIPTION,
        subscription(
            "op.v1.0.0",
            "op.v1.0.0",
            state="AtLatestKnown",
            plan="install-1",
            approval="Manual",
            channel="stable",
        ),
    )
    return kept


def test_olm_is_given_a_moment_to_plan_the_next_step(everpath: Call) -> None:
    kept = resting()
    steps = (
        *(lambda: None,) * 6,
        plans(kept, "install-2", "op.v1.1.0", manual=True),
        *to_110(kept),
    )
    answer = everpath(kept, *ASKED, "--yes", steps=steps)
    assert answer.out.splitlines()[-1] == '"op.v1.1.0" runs'
    assert answer.code == 0


def test_a_step_that_the_catalog_has_and_olm_does_not_offer_is_told(everpath: Call, tmp_path: Path) -> None:
    write_fbc(tmp_path, f"[stable]\n{ROAD}", "op")
    answer = everpath(resting(), *ASKED, "--yes", "--catalog", str(tmp_path))
    assert answer.out.splitlines()[-3:] == [
        '"op.v1.0.0" runs, and OLM offers no step to op.v1.1.0',
        f"Does the cluster have the catalog {tmp_path} as it is here?",
        f"everpath why {tmp_path} -p op --live -n ns tells why",
    ]
    assert answer.code == 1


def test_at_the_head_nobody_is_waited_for(everpath: Call, tmp_path: Path) -> None:
    write_fbc(tmp_path, "[stable]\nop.v1.0.0", "op")
    slept: list[None] = []
    answer = everpath(resting(), *ASKED, "--catalog", str(tmp_path), steps=(lambda: slept.append(None),) * 3)
    assert answer.out.splitlines()[-1] == '"op.v1.0.0" runs, and OLM knows of nothing newer'
    assert (answer.code, slept) == (0, [])


def overtaken(kept: Kept) -> Callable[[], None]:
    """OLM holds to what it said while the old release was there."""

    def step() -> None:
        asked = kept.get(Ref(SUBSCRIPTION, NS, "op"))
        assert asked is not None
        message = (
            "constraints not satisfiable: @existing/ns//op.v1.0.0 and @existing/ns//op.v1.1.0 provide Op"
        )
        failed = {
            "type": "ResolutionFailed",
            "status": "True",
            "reason": "ConstraintsNotSatisfiable",
            "message": message,
        }
        asked["status"]["conditions"] = [failed]
        kept.put(SUBSCRIPTION, asked)

    return step


def test_an_upgrade_does_not_leave_olm_with_an_answer_that_is_overtaken(everpath: Call) -> None:
    kept = waiting()
    first, second = to_110(kept)

    def succeed() -> None:
        second()
        overtaken(kept)()

    answer = everpath(kept, *ASKED, "--yes", steps=(first, succeed))
    assert "Asked OLM to decide again: it keeps an answer until something changes" in answer.out
    assert answer.out.splitlines()[-1] == '"op.v1.1.0" runs'
    assert answer.code == 0


def test_an_upgrade_that_hangs_is_told_at_the_deadline(everpath: Call) -> None:
    kept = waiting()
    answer = everpath(
        kept,
        *ASKED,
        "--yes",
        "--timeout",
        "10s",
        steps=(installs(kept, "install-2", "op.v1.1.0", "op.v1.0.0"),),
    )
    assert "The time is up: op.v1.0.0 runs, and is to become op.v1.1.0" in answer.out
    assert "Waits for Deployment op-controller to be available: pod op-1: is not started yet" in answer.out
    assert answer.code == 1


def test_who_never_asked_is_told_to_install(everpath: Call) -> None:
    answer = everpath(world(), *ASKED)
    assert answer.code == 2
    assert "everpath install op -n ns" in answer.err


def test_the_json_is_the_contract(everpath: Call, tmp_path: Path) -> None:
    write_fbc(tmp_path, f"[stable]\n{ROAD}", "op")
    kept = waiting()
    answer = everpath(kept, *ASKED, "--yes", "-o", "json", "--catalog", str(tmp_path), steps=to_110(kept))
    made = json.loads(answer.out)
    conforms("install", made)
    assert (made["from"], made["running"]) == ("op.v1.0.0", "op.v1.1.0")
    assert made["road"] == ["op.v1.1.0", "op.v1.2.0"]


class Hasty(Kept):
    """Somebody changes the plan between the look and the yes, as often as `changes` says."""

    changes: list[Callable[[Object], None]]

    def merge(self, ref: Ref, changes: Object) -> Object:
        if self.changes:
            there = self.things[ref]
            self.changes.pop(0)(there)
            self.put(ref.kind, there)
        return super().merge(ref, changes)


def hasty(*changes: Callable[[Object], None]) -> tuple[Hasty, Object]:
    kept = Hasty((INSTALL_PLAN, plan("RequiresApproval", "op.v1.1.0", approved=False)))
    kept.changes = list(changes)
    (found,) = kept.find(INSTALL_PLAN, NS)
    return kept, found


def test_a_plan_whose_status_changes_meanwhile_is_approved_all_the_same() -> None:
    kept, seen = hasty(lambda there: there["status"].update(startTime="now"))
    approve(kept, seen)
    assert kept.find(INSTALL_PLAN, NS)[0]["spec"]["approved"] is True


def test_a_plan_that_becomes_another_is_not_approved() -> None:
    kept, seen = hasty(lambda there: there["spec"].update(clusterServiceVersionNames=["op.v2.0.0"]))
    with pytest.raises(ConflictError, match="has changed since it was shown"):
        approve(kept, seen)
    assert kept.find(INSTALL_PLAN, NS)[0]["spec"]["approved"] is False


def test_a_plan_that_somebody_else_approves_is_approved() -> None:
    kept, seen = hasty(lambda there: there["spec"].update(approved=True))
    approve(kept, seen)


@pytest.mark.parametrize(
    ("name", "version"),
    [("op.v1.2.3", "1.2.3"), ("op.v1.2.3-rc.1+b", "1.2.3-rc.1+b"), ("op-1.2.3", ""), ("op.vnext", "")],
)
def test_the_version_in_a_name(name: str, version: str) -> None:
    assert stated_version(name) == version


def test_where_nobody_can_tell_what_comes_first_no_step_is_taken() -> None:
    step = Step({}, "", "op-next", ())
    assert "nobody can tell" in passes(step, Target("1.0.0"), "op", ())


def test_pursuit_waits_for_the_plan_that_comes_a_moment_later() -> None:
    kept = waiting()
    kept.put(SUBSCRIPTION, subscription("op.v1.0.0", "op.v1.0.0", state="AtLatestKnown", plan="install-1"))
    time = Time(*[lambda: None] * 9, plans(kept, "install-2", "op.v1.1.0", manual=True))
    judge = pursuit_judge(Target("1.1.0"), "op", time.monotonic)
    done = follow(lambda: observe(kept, "op", NS), judge, time.clock, lambda _: None)
    assert (done.outcome, time.now) == (Outcome.APPROVAL, 10)
