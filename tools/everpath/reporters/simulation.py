"""Reports of `everpath simulate` for programs: JSON and CSV, and the data that all its reports get.

The JSON is a contract: docs/schemas/simulate.schema.json. `simulation_text` is the report for people.
"""

from __future__ import annotations

__all__ = ["VERSION", "Simulation", "csv", "document"]

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from everpath.model import OpmError
from everpath.simulate import ChannelResult, Scenario, all_paths
from everpath.upgrade_paths import UpgradePath

#: Raised when a field changes its meaning or is removed; new fields may be added at any time.
VERSION: Final = 2

_CRLF: Final = "\r\n"

_FIELDS: Final = ("package", "channel", "installed", "policy", "next", "hops", "end", "reason")


class Simulation(NamedTuple):
    """The results of one command. `catalogs` are their names if there are several.

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
        """The fields of the contract, and those that only some scenarios have."""
        more = (
            *(("from",) if self.scenario.is_switch else ()),
            *(("catalog", "sources") if self.catalogs else ()),
            *(("plans",) if self.is_manual else ()),
        )
        return (*_FIELDS, *more)


def document(simulation: Simulation) -> Iterator[str]:
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
    refused = ",\n  ".join(errors)
    refused = f',\n "refused": [\n  {refused}\n ]' if refused else ""
    yield f'{{"version": {VERSION}{warnings}{refused},\n "paths": ['
    separator = "\n  "
    for path in simulation.paths:
        yield separator + encode({field: _value(path, field) for field in fields})
        separator = ",\n  "
    yield "\n ]}\n"


def csv(simulation: Simulation) -> Iterator[str]:
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
        write([_cell(_value(path, field)) for field in fields])
    yield f"{line.getvalue().removesuffix(_CRLF)}\n"


def _value(path: UpgradePath, field: str) -> Any:
    if field == "policy":
        return path.resolver
    if field == "hops":
        return tuple(path.hops)
    if field == "end":
        return path.end.value
    if field == "from":
        return path.origins
    if field == "plans":
        # An InstallPlan for each hop. OLM v1 has none.
        before = (path.installed, *path.hops) if path.resolver == "v0" else ()
        return [{"replaces": old, "installs": new} for old, new in zip(before, path.hops, strict=False)]
    return getattr(path, field)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else " ".join(value)
    # A spreadsheet would evaluate a cell that starts like a formula.
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
