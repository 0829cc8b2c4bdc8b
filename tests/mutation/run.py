"""`make mutation`: small faults, put into the rules one at a time, that some test must notice.

    python tests/mutation/run.py [--module heads]... [--sample 200 --seed 1]
    python tests/mutation/run.py --again            only what survived the last run
    python tests/mutation/run.py --list-survivors   what survived the last run, ready for equivalent.txt
    python tests/mutation/run.py --equivalents      what equivalent.txt excuses, though some test notices it

A mutant that no test notices is a law that no test states, or code that does nothing. What cannot be
noticed, because the mutant says the same in other words, is listed in `equivalent.txt` with the reason.
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

# This checkout is what is tried, whatever is installed.
sys.path[:0] = [
    str(Path(__file__).resolve().parents[2] / folder) for folder in ("operator", "tools", "tests")
]

from mutation import equivalents  # noqa: E402
from mutation.baseline import Baseline, baseline  # noqa: E402
from mutation.mutants import Mutant  # noqa: E402
from mutation.targets import ALL, GROUPS, ROOT, mutants_of, name_of, path_of  # noqa: E402
from mutation.trial import UNNOTICED, Verdict, tried  # noqa: E402

_LAST: Final = ROOT / ".cache" / "mutation.json"


@dataclass(slots=True)
class Row:
    """One line of the table: the mutants of one module."""

    module: str
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    equivalent: int = 0
    survivors: list[Mutant] = field(default_factory=list)

    @property
    def killed(self) -> int:
        return self.verdicts[Verdict.KILLED] + self.verdicts[Verdict.TIMEOUT]

    def __str__(self) -> str:
        tried = self.verdicts.total()
        score = f"{100 * self.killed / tried:.1f} %" if tried else "-"
        return (
            f"| {self.module} | {tried + self.equivalent} | {self.killed} | {len(self.survivors)} "
            f"| {self.equivalent} | {score} |"
        )


def _chosen(options: argparse.Namespace, module: str) -> list[Mutant]:
    """The mutants of a module that this run is about."""
    found = mutants_of(module)
    if options.again:
        found = [m for m in found if m.key in options.last]
    if options.equivalents:
        found = [m for m in found if m.key in equivalents.read()]
    if options.sample:
        chance = random.Random(f"{options.seed} {module}")
        found = sorted(chance.sample(found, min(options.sample, len(found))), key=lambda m: m.line)
    return found


def _is_wanted(options: argparse.Namespace, module: str) -> bool:
    return not options.module or module in options.module or module.rpartition(".")[2] in options.module


def _groups(options: argparse.Namespace) -> Iterator[tuple[dict[str, list[Mutant]], Baseline]]:
    """The mutants of this run by module, and what the tests that they share do without them."""
    for group in GROUPS:
        modules = [m for m in group.modules if _is_wanted(options, m)]
        chosen = {module: _chosen(options, module) for module in modules}
        if any(chosen.values()):
            yield chosen, baseline(group.tests, {name_of(module): str(path_of(module)) for module in ALL})


def _rows(options: argparse.Namespace) -> Iterator[Row]:
    excused = equivalents.read()
    for chosen, known in _groups(options):
        for module, found in chosen.items():
            row = Row(module, equivalent=sum(m.key in excused for m in found))
            for mutant, end in tried([m for m in found if m.key not in excused], path_of(module), known):
                row.verdicts[end] += 1
                if end in UNNOTICED:
                    row.survivors.append(mutant)
            yield row


def _noticed(options: argparse.Namespace) -> Iterator[Mutant]:
    """Mutants that are excused though some test notices them."""
    for chosen, known in _groups(options):
        for module, found in chosen.items():
            yield from (m for m, end in tried(found, path_of(module), known) if end not in UNNOTICED)


def _stale(options: argparse.Namespace) -> list[str]:
    """Equivalents of the modules of this run that name no mutant any more."""
    modules = [m for m in ALL if _is_wanted(options, m)]
    keys = {mutant.key for module in modules for mutant in mutants_of(module)}
    return [key for key in equivalents.read() if key.partition(" ")[0] in modules and key not in keys]


def _say(text: str = "") -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _report(rows: Iterator[Row]) -> list[Mutant]:
    """Print the table as it grows, then the survivors; note them for the next run."""
    total = Row("all")
    _say("| module | mutants | killed | survived | equivalent | score |")
    _say("|---|---|---|---|---|---|")
    for row in rows:
        _say(str(row))
        total.verdicts += row.verdicts
        total.equivalent += row.equivalent
        total.survivors += sorted(row.survivors, key=lambda m: m.line)
        _LAST.parent.mkdir(exist_ok=True)
        _LAST.write_text(json.dumps([mutant.key for mutant in total.survivors], indent=1))
    _say(str(total))
    for mutant in total.survivors:
        where = path_of(mutant.module).relative_to(ROOT)
        _say(f"\n{where}:{mutant.line} {mutant.owner}: {mutant.change}\n- {mutant.before}\n+ {mutant.after}")
    return total.survivors


def _report_noticed(mutants: Iterator[Mutant]) -> bool:
    """Say which mutants are no equivalents after all, each as it is found; whether there are any."""
    is_any = False
    for mutant in mutants:
        is_any = True
        _say(f"\nnoticed by a test, see equivalent.txt:\n{mutant.key}")
    return is_any


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--module",
        action="append",
        help="a module (rules.heads), or the last part of its name; may be repeated",
    )
    parser.add_argument("--sample", type=int, help="so many mutants of each module, taken by chance")
    parser.add_argument("--seed", type=int, default=1, help="which chance")
    parser.add_argument("--again", action="store_true", help="try only what survived the last run")
    parser.add_argument("--list-survivors", action="store_true", help="say what survived the last run")
    parser.add_argument("--equivalents", action="store_true", help="try only what equivalent.txt excuses")
    options = parser.parse_args()
    os.chdir(ROOT)
    # Read before the first module of this run is noted there.
    options.last = frozenset(json.loads(_LAST.read_text())) if options.again else frozenset()
    if options.list_survivors:
        _say("\n\n".join(json.loads(_LAST.read_text())))
        return
    # A thousand children import the same modules: they are compiled once.
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(_LAST.with_name("bytecode"))
    os.nice(10)
    gc.freeze()
    if options.equivalents:
        sys.exit(_report_noticed(_noticed(options)))
    survivors = _report(_rows(options))
    stale = _stale(options)
    for key in stale:
        _say(f"\nno such mutant any more, see equivalent.txt:\n{key}")
    sys.exit(bool(survivors or stale))


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of a set must not decide who is noticed.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
    main()
