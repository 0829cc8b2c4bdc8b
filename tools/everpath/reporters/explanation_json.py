"""An explanation as JSON, the contract (docs/schemas/why.schema.json); `explanation_text` is for people."""

from __future__ import annotations

__all__ = ["VERSION", "Told", "document"]

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from everpath.explain import Explanation, Look, Remedy, Story
from everpath.loaders.location import SourcePosition
from everpath.model import OpmError, Place
from everpath.resolvers.resolution import ResolutionFailure

#: Raised when a field changes its meaning or goes away; new fields may come at any time.
VERSION: Final = 1


class Told(NamedTuple):
    """An explanation, the way to find lines again, and whether the reader is a terminal.

    `warnings`: what it does not show, for programs; people are told on standard error.
    `brief`: without what to ask the cluster. `live`: what a cluster said, as the contract has it.
    """

    explanation: Explanation
    locate: Callable[[Place], SourcePosition]
    colour: bool = False
    warnings: tuple[str, ...] = ()
    brief: bool = False
    live: Mapping[str, Any] | None = None


def document(told: Told) -> Iterator[str]:
    """One JSON object."""
    import json  # noqa: PLC0415 - only who asks pays for it

    question = told.explanation.question
    asked = question.asked
    yield json.dumps(
        {
            "version": VERSION,
            **({"warnings": told.warnings} if told.warnings else {}),
            "package": question.package,
            "channel": question.channel,
            "installed": asked and {"name": asked.name, "version": asked.version, "known": asked.is_known},
            "whereabouts": told.explanation.whereabouts,
            **(
                {"refused": list(map(_refused, told.explanation.refused))} if told.explanation.refused else {}
            ),
            "answers": [_answer(story, told) for story in told.explanation.stories],
            "checks": [check._asdict() for check in told.explanation.checks],
            **({"live": told.live} if told.live is not None else {}),
        },
        ensure_ascii=False,
        indent=1,
    )
    yield "\n"


def _refused(each: tuple[str, OpmError]) -> dict[str, str | None]:
    catalog, refusal = each
    return {
        "catalog": catalog,
        "package": refusal.package,
        "channel": refusal.channel,
        "words": refusal.message,
    }


def _answer(story: Story, told: Told) -> dict[str, Any]:
    account = story.account
    return {
        "policy": account.policy,
        "asker": story.asker,
        "channels": account.channels,
        "catalog": account.catalog,
        "verdict": story.verdict,
        "next": account.decision.next,
        "failure": account.decision.failure and _failure(account.decision.failure),
        "path": account.path,
        "end": account.end.value,
        "road": story.road,
        "looked": [_look(look) for look in story.looked],
        "hints": story.hints,
        "remedies": [_remedy(remedy, told) for remedy in story.remedies],
        "elsewhere": story.elsewhere,
        "cautions": story.cautions,
    }


def _failure(failure: ResolutionFailure) -> dict[str, Any]:
    return {"kind": failure.kind.value, "names": failure.names, "words": failure.message or None}


def _look(look: Look) -> dict[str, Any]:
    edge = look.edge.kind.value if look.edge is not None else None
    return {
        "names": look.names,
        "verdict": look.verdict.value,
        "edge": edge,
        "reason": look.text,
        "catalog": look.catalog,
    }


def _remedy(remedy: Remedy, told: Told) -> dict[str, Any]:
    found = told.locate(remedy.place) if remedy.place is not None else None
    return {
        "fix": remedy.text,
        "rule": remedy.rule,
        "name": remedy.name,
        "severity": remedy.severity.word if remedy.severity is not None else None,
        "message": remedy.message or None,
        "file": (found.file or None) if found else None,
        "line": (found.line or None) if found else None,
        "column": (found.column or None) if found else None,
    }
