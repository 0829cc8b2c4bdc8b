"""What `everpath validate-graph` does once its command line is read."""

from __future__ import annotations

__all__ = ["validate"]

import sys
import time

from everpath.app.config import Config, load
from everpath.app.inputs import Inputs
from everpath.app.lint import judgements
from everpath.cli.plain_calls import Request
from everpath.cli.report_output import build_lint_report, output_format, select_rules, today, write_report
from everpath.cli.terminal import ProgressLine
from everpath.rules.lint import GRAPH, DefinitionsOf, Selection, concluded
from everpath.rules.registry import find_rules


def validate(request: Request) -> int:
    """Judge, report, and give the exit code."""
    began = time.perf_counter()
    config = load(request.config_file, wanted=not request.no_config)
    selection = _selection(request, config)
    inputs = Inputs(request.paths, config, request.default_update_mode, request.thorough)
    output = output_format(request, config)
    with ProgressLine(sys.stderr, wanted=not (request.no_progress or request.quiet)) as progress:
        judged = judgements(inputs, selection, request.jobs, progress, _definitions(request))
        report = concluded(judged, selection, waivers=config.waivers, today=today())
    inputs.raise_failed(only_if_all=True)
    # What was asked for may be in what could not be read, which is told anyway.
    if not report.unreadable and not inputs.failed:
        inputs.verify_names(selection.packages, selection.channels)
    outcome = build_lint_report(request, config, report, inputs.locate, selection.subjects, "validate-graph")
    code = write_report(request, config, outcome, output, began)
    inputs.raise_failed()
    return code


def _selection(request: Request, config: Config) -> Selection:
    policy = request.policy or config.policy
    subjects = GRAPH | {"upgrade"} if request.bundles else GRAPH
    return Selection(
        rules=select_rules(request.select, config.select, subjects),
        ignored=find_rules(request.ignore or config.ignore),
        packages=frozenset(request.packages or config.packages),
        channels=frozenset(request.channels or config.channels),
        policy="v0" if policy == "v0" else "v1" if policy == "v1" else None,
        subjects=subjects,
    )


def _definitions(request: Request) -> DefinitionsOf | None:
    if not request.bundles:
        return None
    from everpath.loaders.bundle.crds import bundle_crds_loader  # noqa: PLC0415 - rarely asked for

    return bundle_crds_loader(request.bundles)
