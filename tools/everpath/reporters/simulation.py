"""What a simulation is given to a view with, and the views that programs read: JSON and CSV.

`simulation_text` is the one that people read. The JSON is a contract: docs/schemas/simulate.schema.json.
"""

from __future__ import annotations

__all__ = ["VERSION", "Simulation", "csv", "document"]

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from everpath.model import Package
from everpath.simulate import ChannelResult, Scenario, all_paths
from everpath.upgrade_paths import UpgradePath

if TYPE_CHECKING:
    from everpath.model import OpmError

#: Raised when a field changes its meaning or goes away; new fields may come at any time.
VERSION: Final = 1

_CRLF: Final = "\r\n"

_FIELDS: Final = ("package", "channel", "installed", "policy", "next", "path", "end", "reason")


class Simulation(NamedTuple):
    """The answers to one command. `catalogs`: their names, if there are several.

    `warnings`: what the answers as such do not show, for programs; people are told on standard error.
    `joint`: packages whose channels are answered for as one, each with its catalog.
    """

    sheets: Sequence[ChannelResult]
    scenario: Scenario
    catalogs: tuple[str, ...] = ()
    manual: bool = False
    whole: bool = False
    brief: bool = False
    colour: bool = False
    warnings: tuple[str, ...] = ()
    joint: tuple[tuple[str | None, Package], ...] = ()

    @property
    def refused(self) -> Iterator[tuple[str | None, OpmError]]:
        """What opm refuses of every package that is asked about, and in which catalog."""
        from everpath.rules.opm_errors import opm_errors  # noqa: PLC0415 - the rules take their time to load

        own = ((sheet.catalog, sheet.graph.package) for sheet in self.sheets if sheet.graph is not None)
        for (catalog, _), package in {(c, id(p)): p for c, p in (*own, *self.joint)}.items():
            yield from ((catalog, refusal) for refusal in opm_errors(package))

    @property
    def rows(self) -> Iterator[UpgradePath]:
        return all_paths(self.sheets)

    @property
    def fields(self) -> tuple[str, ...]:
        """The contract's, and those that only some questions give a meaning."""
        more = (
            *(("from",) if self.scenario.is_switch else ()),
            *(("catalog", "sources") if self.catalogs else ()),
            *(("plans",) if self.manual else ()),
        )
        return (*_FIELDS, *more)


def document(simulation: Simulation) -> Iterator[str]:
    """One JSON object, a line for each row."""
    import json  # noqa: PLC0415 - only who asks pays for it

    encode = json.JSONEncoder(ensure_ascii=False).encode
    fields = simulation.fields
    warnings = f',\n "warnings": {encode(simulation.warnings)}' if simulation.warnings else ""
    refused = ",\n  ".join(encode(_refusal(simulation, *each)) for each in simulation.refused)
    refused = f',\n "refused": [\n  {refused}\n ]' if refused else ""
    yield f'{{"version": {VERSION}{warnings}{refused},\n "rows": ['
    separator = "\n  "
    for row in simulation.rows:
        yield separator + encode({field: _value(row, field) for field in fields})
        separator = ",\n  "
    yield "\n ]}\n"


def _refusal(simulation: Simulation, catalog: str | None, refusal: OpmError) -> dict[str, str | None]:
    where = {"catalog": catalog} if simulation.catalogs else {}
    return {**where, "package": refusal.package, "channel": refusal.channel, "words": refusal.message}


def csv(simulation: Simulation) -> Iterator[str]:
    """A line for each row, with a heading. Lists are separated by blanks, as names have none."""
    import csv as writer  # noqa: PLC0415
    from io import StringIO  # noqa: PLC0415

    fields = [field for field in simulation.fields if field != "plans"]
    line = StringIO(newline="")
    # With that end of a line the writer quotes a carriage return too.
    write = writer.writer(line, lineterminator=_CRLF).writerow
    write(fields)
    for row in simulation.rows:
        yield f"{line.getvalue().removesuffix(_CRLF)}\n"
        line.seek(0)
        line.truncate()
        write([_cell(_value(row, field)) for field in fields])
    yield f"{line.getvalue().removesuffix(_CRLF)}\n"


def _value(row: UpgradePath, field: str) -> Any:
    if field == "path":
        return tuple(row.hops)
    if field == "end":
        return row.end.value
    if field == "from":
        return row.origins
    if field == "plans":
        return _plans(row) if row.resolver == "v0" else []
    if field == "policy":
        return row.resolver
    return getattr(row, field)


def _plans(row: UpgradePath) -> list[dict[str, str | None]]:
    """The InstallPlans of a walk: each installs one stop in the place of the one before."""
    before = (row.installed, *row.hops)
    return [{"replaces": old, "installs": new} for old, new in zip(before, row.hops, strict=False)]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else " ".join(value)
    # A spreadsheet would compute what begins like a formula.
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
