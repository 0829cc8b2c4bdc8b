"""The report of `everpath simulate` as data, as JSON (docs/schemas/simulate.schema.json) and as CSV.

`simulation_text` renders it for people.
"""

from __future__ import annotations

__all__ = ["FORMATS", "VERSION", "SimulationReport", "csv", "document", "render"]

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from everpath.model import OpmError
from everpath.simulate import ChannelResult, Scenario, all_paths
from everpath.upgrade_path.path import UpgradePath

FORMATS: Final = ("text", "json", "csv")

#: Raised when a field changes its meaning or is removed; new fields may be added at any time.
VERSION: Final = 2

_CRLF: Final = "\r\n"


class SimulationReport(NamedTuple):
    """The results of a simulation. `catalogs` has the names of the catalogs if there are several.

    `warnings` are also on standard error. `opm_errors` are the errors of opm in the simulated packages, each
    with the name of its catalog. `is_manual`: each InstallPlan needs approval. `with_full_paths` shows long
    paths in full if there is one channel. `is_brief` leaves the summary out.
    """

    results: Sequence[ChannelResult]
    scenario: Scenario
    catalogs: tuple[str, ...] = ()
    is_manual: bool = False
    with_full_paths: bool = False
    is_brief: bool = False
    colour: bool = False
    warnings: tuple[str, ...] = ()
    opm_errors: tuple[tuple[str | None, OpmError], ...] = ()

    @property
    def paths(self) -> Iterator[UpgradePath]:
        return all_paths(self.results)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a path in JSON. Some scenarios have more of them than others."""
        left_out = {
            *(() if self.scenario.is_switch else ("from",)),
            *(() if self.catalogs else ("catalog", "sources")),
            *(() if self.is_manual else ("plans",)),
        }
        return tuple(field for field in _VALUES if field not in left_out)


def _install_plans(path: UpgradePath) -> list[dict[str, str | None]]:
    """Return an InstallPlan for each hop. OLM v1 has none."""
    before = (path.installed, *path.hops) if path.resolver == "v0" else ()
    return [{"replaces": old, "installs": new} for old, new in zip(before, path.hops, strict=False)]


_VALUES: Final[Mapping[str, Callable[[UpgradePath], Any]]] = {
    "package": lambda path: path.package,
    "channel": lambda path: path.channel,
    "installed": lambda path: path.installed,
    "resolver": lambda path: path.resolver,
    "next": lambda path: path.next,
    "hops": lambda path: tuple(path.hops),
    "end": lambda path: path.end.value,
    "reason": lambda path: path.reason,
    "from": lambda path: path.origins,
    "catalog": lambda path: path.catalog,
    "sources": lambda path: path.sources,
    "plans": _install_plans,
}


def render(simulation: SimulationReport, output: str) -> Iterator[str]:
    """Yield the report in one of `FORMATS`."""
    if output == "text":
        from everpath.reporters.simulation.text import text  # noqa: PLC0415 - only for this format

        return text(simulation)
    return document(simulation) if output == "json" else csv(simulation)


def document(simulation: SimulationReport) -> Iterator[str]:
    """Yield one JSON object with a line for each path."""
    import json  # noqa: PLC0415 - the text report does not need it

    encode = json.JSONEncoder(ensure_ascii=False).encode
    fields = simulation.fields
    warnings = f',\n "warnings": {encode(simulation.warnings)}' if simulation.warnings else ""
    errors = []
    for catalog, error in simulation.opm_errors:
        where = {"catalog": catalog} if simulation.catalogs else {}
        message = {"package": error.package, "channel": error.channel, "message": error.message}
        errors.append(encode({**where, **message}))
    opm_errors = f',\n "opmErrors": [\n  {joined}\n ]' if (joined := ",\n  ".join(errors)) else ""
    yield f'{{"version": {VERSION}{warnings}{opm_errors},\n "paths": ['
    separator = "\n  "
    for path in simulation.paths:
        yield separator + encode({field: _VALUES[field](path) for field in fields})
        separator = ",\n  "
    yield "\n ]}\n"


def csv(simulation: SimulationReport) -> Iterator[str]:
    """Yield a header and a line for each path. Items of lists are separated by spaces."""
    import csv as writer  # noqa: PLC0415
    from io import StringIO  # noqa: PLC0415

    fields = [field for field in simulation.fields if field != "plans"]
    line = StringIO(newline="")
    # With this line terminator the writer also quotes carriage returns.
    write = writer.writer(line, lineterminator=_CRLF).writerow
    write(fields)
    for path in simulation.paths:
        yield f"{line.getvalue().removesuffix(_CRLF)}\n"
        line.seek(0)
        line.truncate()
        write([_cell(_VALUES[field](path)) for field in fields])
    yield f"{line.getvalue().removesuffix(_CRLF)}\n"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else " ".join(value)
    # A spreadsheet would evaluate a cell that starts like a formula.
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
