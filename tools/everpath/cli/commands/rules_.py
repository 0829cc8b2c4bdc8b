"""`everpath rules`: list the rules, or describe one."""

from __future__ import annotations

__all__ = ["rules"]

from collections.abc import Iterator
from textwrap import fill
from typing import Final

import click

from everpath.cli import completion
from everpath.cli.output import write_output
from everpath.reporters.formatting import columns
from everpath.reporters.lint.lint_report import rule_url
from everpath.rules.registry import Rule, all_rules, find_rules

_WIDTH: Final = 96
_HURT: Final = {None: "users of OLM v0 and v1", "v0": "users of OLM v0", "v1": "users of OLM v1"}


@click.command(short_help="List the rules, or describe one.")
@click.argument("rule", required=False, shell_complete=completion.rules)
def rules(rule: str | None) -> None:
    """List the rules, or explain one, named by id or name; the beginning of ids lists those rules.

    \b
    $ everpath rules EP9
    EP901  warning  unused-waiver   Every waiver matches a finding.
    EP902  error    expired-waiver  No waiver has expired.
    $ everpath rules fork
    EP203 fork (error)
    ...
    """
    chosen = find_rules([rule]) if rule else frozenset(r.id for r in all_rules())
    found = [r for r in all_rules() if r.id in chosen]
    if rule and len(found) == 1:
        lines = _describe(found[0])
    else:
        lines = columns([(r.id, r.severity.word, r.name, r.summary) for r in found])
    write_output(lines, None, machine=False)


def _describe(rule: Rule) -> Iterator[str]:
    """Yield the description of a rule, the resolvers that it is about, and how to waive it."""
    yield f"{rule.id} {rule.name} ({rule.severity.word})\n\n"
    yield from (f"{fill(text, _WIDTH)}\n\n" for text in rule.description)
    yield f"Protects {_HURT[rule.resolver]}; asked of each {rule.subject}.\n"
    if rule.is_optional:
        yield f"Optional: asked with --select-optional {rule.validators[0]}, or --select {rule.name}.\n"
    if rule.subject != "waiver":
        yield "To accept a finding, write why into everpath.yaml:\n\n"
        yield f"    waivers:\n      - rule: {rule.name}\n"
        if rule.subject != "catalog":
            yield "        package: NAME\n"
        yield "        reason: ...\n\n"
    yield f"{rule_url(rule.id)}\n"
