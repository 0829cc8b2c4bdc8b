"""Compare catalogs: find the installed versions that lose their upgrade path."""

from __future__ import annotations

__all__ = [
    "FAIL_ON",
    "compare_catalogs",
    "compare_input_sequence",
    "compare_inputs",
    "is_failure",
    "with_positions",
]

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from everpath.app.inputs.inputs import Inputs, unreadable_parts
from everpath.comparison.catalogs import EVERYTHING, Comparison, ComparisonScope, compare
from everpath.comparison.changes import with_positions
from everpath.comparison.matrix import Matrix, compare_sequence
from everpath.errors import UsageError
from everpath.model import Catalog, Place, SourcePosition
from everpath.model.progress import Progress
from everpath.reporters.comparison.report import ComparisonReport, MatrixReport, UnreadPart
from everpath.rules.findings import Severity

#: Values of `--fail-on`, the default first.
FAIL_ON: Final = ("stranded", "different-path", "never")


def compare_inputs(
    inputs: Inputs,
    scope: ComparisonScope = EVERYTHING,
    *,
    progress: Progress | None = None,
    lowest: Severity = Severity.NOTE,
) -> ComparisonReport:
    """Load two catalogs, the old and the new one, and compare them.

    Changes that have at least the severity `lowest` get their position. Raises UsageError for the
    folder of a single bundle, and for a package or channel of the scope that neither catalog has.
    """
    old, new = catalogs = _load(inputs, scope, progress)
    old_name, new_name = inputs.chosen_paths()
    return ComparisonReport(
        comparison=compare_catalogs(old, new, scope, locate=inputs.locate, lowest=lowest),
        old=old_name,
        new=new_name,
        resolvers=scope.resolvers,
        unread_parts=_unread_parts(inputs, inputs.chosen_paths(), catalogs),
        warnings=tuple(_only_in_new(old, scope)),
    )


def compare_input_sequence(
    inputs: Inputs,
    names: Sequence[str],
    scope: ComparisonScope = EVERYTHING,
    *,
    progress: Progress | None = None,
    lowest: Severity = Severity.NOTE,
    report_different_paths: bool = False,
) -> MatrixReport:
    """Load a sequence of catalogs and compare each with the next. `names` are those in the report.

    Otherwise like `compare_inputs`.
    """
    catalogs = _load(inputs, scope, progress)
    matrix = compare_sequence(catalogs, scope, report_different_paths=report_different_paths)
    updates = tuple(
        update._replace(changes=with_positions(update.changes, inputs.locate, lowest))
        for update in matrix.updates
    )
    return MatrixReport(
        matrix=replace(matrix, updates=updates),
        catalogs=tuple(names),
        resolvers=scope.resolvers,
        unread_parts=_unread_parts(inputs, names, catalogs),
    )


def compare_catalogs(
    old: Catalog,
    new: Catalog,
    scope: ComparisonScope = EVERYTHING,
    *,
    locate: Callable[[Place], SourcePosition],
    lowest: Severity = Severity.NOTE,
) -> Comparison:
    """Compare two loaded catalogs, and locate the changes that have at least the severity `lowest`.

    Raises UsageError for the folder of a single bundle.
    """
    _reject_single_bundles((old, new))
    comparison = compare(old, new, scope)
    return replace(comparison, changes=with_positions(comparison.changes, locate, lowest))


def is_failure(comparison: Comparison | Matrix, fail_on: str) -> bool:
    """True if a comparison has changes that `--fail-on` selects."""
    if fail_on == "never":
        return False
    if comparison.regression_count or comparison.errors:
        return True
    return fail_on == "different-path" and comparison.changed_path_count > 0


def _load(inputs: Inputs, scope: ComparisonScope, progress: Progress | None) -> list[Catalog]:
    catalogs = list(inputs.catalogs(progress))
    _reject_single_bundles(catalogs)
    inputs.verify_names(scope.packages, scope.channels)
    return catalogs


def _reject_single_bundles(catalogs: Iterable[Catalog]) -> None:
    """Raise UsageError for the folder of one bundle: everything else would seem to be removed."""
    for catalog in catalogs:
        if any(package.is_single_bundle for package in catalog.packages):
            raise UsageError(
                f"{catalog.name} is the folder of one bundle and does not say what else its package has",
                hint="compare two catalogs, or two operators repositories",
            )


def _only_in_new(old: Catalog, scope: ComparisonScope) -> Iterator[str]:
    """Yield a warning for each selected name that the old catalog does not have."""
    packages = [package for package in old.packages if scope.has_package(package.name)]
    channels = {channel.name for package in packages for channel in package.channels}
    for name in sorted(scope.packages - old.by_name.keys()):
        yield f"the old catalog has no package {name}, so no installed version of it is compared"
    for name in sorted(scope.channels - channels):
        yield f"the old catalog has no channel {name}, so no installed version of it is compared"


def _unread_parts(
    inputs: Inputs, names: Iterable[str], catalogs: Iterable[Catalog]
) -> tuple[UnreadPart, ...]:
    return tuple(
        UnreadPart(name, inputs.locate(problem.place), problem.message)
        for name, catalog in zip(names, catalogs, strict=True)
        for problem in unreadable_parts(catalog)
    )
