"""`make mutation`: mutation testing of everpath and searchkeeper.

    python -m tests.mutation.run [--module heads]... [--sample 200 --seed 1]
    python -m tests.mutation.run --again            run only the survivors of the last run
    python -m tests.mutation.run --list-survivors   print the survivors of the last run, as in equivalent.txt
    python -m tests.mutation.run --equivalents      print mutants of equivalent.txt that a test detects

A mutant that no test detects shows behaviour without a test, or code without an effect. Mutants that behave
like the original code cannot be detected; `equivalent.txt` lists them with the reason.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

# Test this checkout, not an installed package.
sys.path[:0] = [str(Path(__file__).resolve().parents[2] / folder) for folder in ("operator", "tools", "")]

from tests.mutation import equivalents  # noqa: E402
from tests.mutation.baseline import Baseline, measure_baseline  # noqa: E402
from tests.mutation.mutant_runner import SURVIVING, Outcome, run_mutants  # noqa: E402
from tests.mutation.mutants import Mutant  # noqa: E402
from tests.mutation.targets import ALL, GROUPS, ROOT, mutants_of, name_of, path_of  # noqa: E402

_LAST_SURVIVORS: Final = ROOT / ".cache" / "mutation.json"


@dataclass(slots=True)
class Row:
    """A row of the table: the mutants of one module."""

    module: str
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    equivalent: int = 0
    survivors: list[Mutant] = field(default_factory=list)

    @property
    def killed(self) -> int:
        return self.outcomes[Outcome.KILLED] + self.outcomes[Outcome.TIMEOUT]

    def __str__(self) -> str:
        total = self.outcomes.total()
        score = f"{100 * self.killed / total:.1f} %" if total else "-"
        return (
            f"| {self.module} | {total + self.equivalent} | {self.killed} | {len(self.survivors)} "
            f"| {self.equivalent} | {score} |"
        )


def _select_mutants(options: argparse.Namespace, module: str) -> list[Mutant]:
    """Return the mutants of a module for the options of this run."""
    found = mutants_of(module)
    if options.again:
        found = [m for m in found if m.key in options.last]
    if options.equivalents:
        found = [m for m in found if m.key in equivalents.read()]
    if options.sample:
        generator = random.Random(f"{options.seed} {module}")
        found = sorted(generator.sample(found, min(options.sample, len(found))), key=lambda m: m.line)
    return found


def _is_wanted(options: argparse.Namespace, module: str) -> bool:
    return not options.module or module in options.module or module.rpartition(".")[2] in options.module


def _groups(options: argparse.Namespace) -> Iterator[tuple[dict[str, list[Mutant]], Baseline]]:
    """Yield for each group the mutants of this run by module, and the baseline of its tests."""
    for group in GROUPS:
        modules = [m for m in group.modules if _is_wanted(options, m)]
        selected = {module: _select_mutants(options, module) for module in modules}
        if any(selected.values()):
            yield (
                selected,
                measure_baseline(group.tests, {name_of(module): str(path_of(module)) for module in ALL}),
            )


def _rows(options: argparse.Namespace) -> Iterator[Row]:
    equivalent_keys = equivalents.read()
    for selected, baseline in _groups(options):
        for module, found in selected.items():
            row = Row(module, equivalent=sum(m.key in equivalent_keys for m in found))
            for mutant, outcome in run_mutants(
                [m for m in found if m.key not in equivalent_keys], path_of(module), baseline
            ):
                row.outcomes[outcome] += 1
                if outcome in SURVIVING:
                    row.survivors.append(mutant)
            yield row


def _detected(options: argparse.Namespace) -> Iterator[Mutant]:
    """Yield mutants of equivalent.txt that a test detects."""
    for selected, baseline in _groups(options):
        for module, found in selected.items():
            yield from (
                m for m, outcome in run_mutants(found, path_of(module), baseline) if outcome not in SURVIVING
            )


def _stale_equivalents(options: argparse.Namespace) -> list[str]:
    """Return keys of equivalent.txt, for the modules of this run, that match no mutant."""
    modules = [m for m in ALL if _is_wanted(options, m)]
    keys = {mutant.key for module in modules for mutant in mutants_of(module)}
    return [key for key in equivalents.read() if key.partition(" ")[0] in modules and key not in keys]


def _print(text: str = "") -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _report(rows: Iterator[Row]) -> list[Mutant]:
    """Print the table row by row, then the survivors, and save them for the next run."""
    total = Row("all")
    _print("| module | mutants | killed | survived | equivalent | score |")
    _print("|---|---|---|---|---|---|")
    for row in rows:
        _print(str(row))
        total.outcomes += row.outcomes
        total.equivalent += row.equivalent
        total.survivors += sorted(row.survivors, key=lambda m: m.line)
        _LAST_SURVIVORS.parent.mkdir(exist_ok=True)
        _LAST_SURVIVORS.write_text(json.dumps([mutant.key for mutant in total.survivors], indent=1))
    _print(str(total))
    for mutant in total.survivors:
        where = path_of(mutant.module).relative_to(ROOT)
        _print(
            f"\n{where}:{mutant.line} {mutant.owner}: {mutant.change}\n- {mutant.before}\n+ {mutant.after}"
        )
    return total.survivors


def _report_detected(mutants: Iterator[Mutant]) -> bool:
    """Print detected mutants of equivalent.txt as they are found; return whether there are any."""
    is_any = False
    for mutant in mutants:
        is_any = True
        _print(f"\ndetected by a test, remove it from equivalent.txt:\n{mutant.key}")
    return is_any


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--module",
        action="append",
        help="module (rules.graph.heads) or the last part of its name; can be repeated",
    )
    parser.add_argument("--sample", type=int, help="number of random mutants per module")
    parser.add_argument("--seed", type=int, default=1, help="seed of --sample")
    parser.add_argument("--again", action="store_true", help="run only the survivors of the last run")
    parser.add_argument("--list-survivors", action="store_true", help="print the survivors of the last run")
    parser.add_argument("--equivalents", action="store_true", help="run only the mutants of equivalent.txt")
    options = parser.parse_args()
    os.chdir(ROOT)
    # Before this run overwrites the file.
    options.last = frozenset(json.loads(_LAST_SURVIVORS.read_text())) if options.again else frozenset()
    if options.list_survivors:
        _print("\n\n".join(json.loads(_LAST_SURVIVORS.read_text())))
        return
    # Thousands of child processes import the same modules: compile them once.
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(_LAST_SURVIVORS.with_name("bytecode"))
    os.nice(10)
    gc.freeze()
    if options.equivalents:
        sys.exit(_report_detected(_detected(options)))
    survivors = _report(_rows(options))
    stale = _stale_equivalents(options)
    for key in stale:
        _print(f"\nno such mutant, remove it from equivalent.txt:\n{key}")
    sys.exit(bool(survivors or stale))


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of sets must be the same in each run.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
    main()
