"""`make bench`: measure everpath and opm in one run on one machine, and print a table.

    python -m tests.bench.run [--only NAME] [--repeat 5]

Commands are installed as users install them (`bench.installed`). Functions without a command are measured in
this process. The corpus is EVERPATH_CORPUS; opm is EVERPATH_OPM, or is built from its Go module if Go is
installed. A row that cannot be measured says why.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import which

from everpath.comparison import compare
from everpath.graph import PackageGraph
from everpath.loaders.catalog_loader import load
from everpath.loaders.source_positions import locate
from everpath.model import Catalog, Channel, Package
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.rules.lint import lint
from everpath.simulate import Scenario, all_paths, simulate_package
from tests.bench.installed import ROOT, Installed, Interpreter, installed, interpreters, quickest
from tests.bench.make_catalog import OPENSHIFT_SIZE, Format, make_catalog
from tests.bench.measure import Cost, Run, best_in_turns, best_of
from tests.bench.serving import Costs, Server, serving_costs
from tests.bench.shapes import many_channels, many_heads, many_packages, one_channel, wrong_values


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    work: str
    ours: str
    peer: str
    ratio: str
    goal: str
    met: bool | None


@dataclass(frozen=True)
class Bench:
    """The paths of the benchmark, and the number of repetitions."""

    folder: Path
    corpus: Path | None
    opm: str | None
    repeat: int

    @cached_property
    def ranked(self) -> Sequence[tuple[float, Interpreter]]:
        """The Pythons of the machine, fastest first."""
        return quickest(interpreters())

    @cached_property
    def installed(self) -> Installed:
        """Everpath without extras."""
        return installed(self.folder / "installed", self.ranked)

    @cached_property
    def serving(self) -> Installed:
        """Everpath with the extra `serve`."""
        return installed(self.folder / "installed-to-serve", self.ranked, "serve")

    def validate(self, path: Path) -> tuple[str, ...]:
        command = ("validate-graph", "--no-config", "--output", "concise", str(path))
        return (*self.installed.command, *command)


def _surroundings(cache: str = "off") -> dict[str, str]:
    """Return the environment without the developer's settings of everpath."""
    return {
        "EVERPATH_CACHE": cache,
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPATH": "",
        "PYTHONPYCACHEPREFIX": "",
    }


def _shown(cost: Cost) -> str:
    return f"{cost.wall:.2f} s, {cost.megabytes:.0f} MB"


def rendered(bench: Bench) -> Iterator[Row]:
    """A rendered catalog of 20 MB in both formats, compared with opm."""
    formats: tuple[Format, ...] = ("yaml", "json")
    for fmt in formats:
        work = f"20 MB of {fmt.upper()}"
        if bench.corpus is None or bench.opm is None:
            yield Row(work, "-", "-", "-", "1/8 of opm's time", None)
            continue
        folder = bench.folder / fmt
        figures = make_catalog(bench.corpus, folder, 20, fmt, OPENSHIFT_SIZE)
        ours, peer = best_in_turns(
            bench.repeat,
            Run(bench.validate(folder), _surroundings()),
            Run((bench.opm, "validate", str(folder))),
        )
        factor = peer.wall / ours.wall
        yield Row(
            f"{figures.size / 1e6:.0f} MB of {fmt.upper()}, {figures.bundles} bundles",
            _shown(ours),
            _shown(peer),
            f"1/{factor:.1f}",
            "1/8 of opm's time",
            factor >= 8,
        )
        # The system reports only the largest of several processes, so memory is measured with one process.
        alone = best_of(1, (*bench.validate(folder), "--jobs", "1"), _surroundings())
        yield Row(
            "the same with --jobs 1, memory",
            f"{alone.megabytes:.0f} MB",
            f"{peer.megabytes:.0f} MB",
            f"1/{peer.megabytes / alone.megabytes:.1f}",
            "1/4 of opm's memory",
            alone.megabytes * 4 <= peer.megabytes,
        )


def packages(bench: Bench) -> Iterator[Row]:
    """One file with 20,000 packages. Processor time counts, so that a busy machine does not."""
    cost = best_of(1, bench.validate(many_packages(bench.folder, 20_000)), _surroundings())
    ours = f"{cost.cpu:.1f} s of processor time, {cost.megabytes:.0f} MB"
    yield Row("20,000 packages in one catalog", ours, "-", "-", "20 s", cost.cpu <= 20)


def building(bench: Bench) -> Iterator[Row]:
    """The image of 20 MB of YAML, checked and compressed. No peer builds one without a container engine."""
    work, goal = "an image of 20 MB of YAML", "1 s"
    if bench.corpus is None:
        yield Row(work, "-", "-", "-", goal, None)
        return
    folder = bench.folder / "built"
    make_catalog(bench.corpus, folder, 20, "yaml", OPENSHIFT_SIZE)
    command = (
        *bench.installed.command,
        "catalog",
        "build",
        str(folder),
        "-o",
        f"oci-archive:{bench.folder / 'built.tar'}",
    )
    cost = best_of(bench.repeat, command, _surroundings())
    yield Row(work, _shown(cost), "-", "-", goal, cost.wall <= 1)


def serving(bench: Bench) -> Iterator[Row]:
    """20 MB of YAML over gRPC, compared with opm."""
    work = "20 MB of YAML over gRPC"
    if bench.corpus is None or bench.opm is None:
        yield Row(work, "-", "-", "-", "1/3 of opm's time to the first answer", None)
        return
    folder = bench.folder / "served"
    make_catalog(bench.corpus, folder, 20, "yaml", OPENSHIFT_SIZE)
    repeat, crowd, seconds = min(3, bench.repeat), 200, 60.0
    command = (
        *bench.serving.command,
        "catalog",
        "serve",
        str(folder),
        "--address",
        "127.0.0.1",
        "--port",
        "{port}",
    )
    ours = serving_costs(
        Server(command, _surroundings()),
        Server(command, _surroundings(str(bench.folder / "kept"))),
        repeat,
        crowd,
        seconds,
    )
    opm = (bench.opm, "serve", str(folder), "-p", "{port}", "--pprof-addr", "", "-t", os.devnull)
    cache = ("--cache-dir", str(bench.folder / "opm-cache"))
    subprocess.run([*opm, *cache, "--cache-only"], check=True, capture_output=True)
    peer = serving_costs(Server(opm), Server((*opm, *cache)), repeat, crowd, seconds)
    for what, mine, theirs in (("cold", ours.cold, peer.cold), ("warm", ours.warm, peer.warm)):
        factor = theirs / mine
        yield Row(
            f"{work}, first answer, {what}",
            f"{mine:.2f} s",
            f"{theirs:.2f} s",
            f"1/{factor:.1f}",
            "1/3 of opm's time",
            factor >= 3,
        )
    yield Row(
        "the same, most memory",
        f"{ours.megabytes:.0f} MB",
        f"{peer.megabytes:.0f} MB",
        f"×{ours.megabytes / peer.megabytes:.1f}",
        "×1.2 of opm's memory",
        ours.megabytes <= 1.2 * peer.megabytes,
    )
    mine, theirs = (costs.one.messages / costs.one.seconds for costs in (ours, peer))
    yield Row(
        "ListBundles, one client",
        f"{mine:,.0f} bundles/s",
        f"{theirs:,.0f} bundles/s",
        f"×{mine / theirs:.1f}",
        "at least opm's",
        mine >= theirs,
    )
    yield Row(
        f"ListBundles, {crowd} clients for {seconds:.0f} s",
        _crowded(ours),
        _crowded(peer),
        f"×{ours.many.messages / max(1, peer.many.messages):.1f}",
        "no error, no growth over 10 MB",
        ours.many.errors == 0 and ours.growth < 10,
    )


def _crowded(costs: Costs) -> str:
    rate = costs.many.messages / costs.many.seconds
    return f"{rate:,.0f} bundles/s, {costs.many.errors} errors, {costs.growth:+.0f} MB"


def operatorhub(bench: Bench) -> Iterator[Row]:
    """All of OperatorHub, without and with the cached index."""
    if bench.corpus is None:
        yield Row("validate OperatorHub, 7,722 bundles", "-", "-", "-", "4 s", None)
        return
    folder = _unpacked(bench)
    cold = best_of(bench.repeat, bench.validate(folder), _surroundings())
    yield Row(
        "OperatorHub, cold", _shown(cold), "-", "-", "4 s, 500 MB", cold.wall <= 4 and cold.megabytes < 500
    )
    cache = _surroundings(str(bench.folder / "cache"))
    best_of(1, bench.validate(folder), cache)
    warm = best_of(bench.repeat, bench.validate(folder), cache)
    yield Row(
        "OperatorHub, from its index",
        _shown(warm),
        "-",
        f"1/{cold.wall / warm.wall:.1f} of cold",
        "1 s, 500 MB",
        warm.wall <= 1 and warm.megabytes < 500,
    )


def simulating(bench: Bench) -> Iterator[Row]:
    """All upgrade paths of OperatorHub under both resolvers, after loading."""
    work, goal = "all upgrade paths of OperatorHub, OLM v0 and v1", "1 s"
    if bench.corpus is None:
        yield Row(work, "-", "-", "-", goal, None)
        return
    packages = load(str(_unpacked(bench))).catalog.packages
    figures = min((_simulated(packages) for _ in range(bench.repeat)), key=lambda figure: figure[0])
    seconds, paths, hops = figures
    yield Row(
        f"{paths:,} upgrade paths of OperatorHub, {hops:,} hops",
        f"{seconds:.2f} s",
        "-",
        "-",
        goal,
        seconds <= 1,
    )


def _simulated(packages: Sequence[Package]) -> tuple[float, int, int]:
    """Return processor time, paths and hops. Graphs are built again, as in a command."""
    start, paths, hops = time.process_time(), 0, 0
    for package in packages:
        source = ClusterCatalog("operatorhub", 0, PackageGraph(package))
        for row in all_paths(simulate_package([source], Scenario())):
            paths, hops = paths + 1, hops + len(row.hops)
    return time.process_time() - start, paths, hops


def comparing(bench: Bench) -> Iterator[Row]:
    """OperatorHub compared with itself, and with a catalog in which every channel lacks an entry."""
    if bench.corpus is None:
        yield Row("compare two OperatorHubs", "-", "-", "-", "2 s after loading", None)
        return
    catalog = load(str(_unpacked(bench))).catalog
    for what, other in (("as it is", catalog), ("every channel cut", _cut(catalog))):
        seconds = min(_compared(catalog, other) for _ in range(bench.repeat))
        work = f"compare OperatorHub with itself, {what}, v0 and v1"
        yield Row(work, f"{seconds:.2f} s", "-", "-", "2 s after loading", seconds <= 2)


def _cut(catalog: Catalog) -> Catalog:
    """Return the catalog without the entry in the middle of each channel."""
    packages = (
        package._replace(channels=tuple(map(_without_middle, package.channels)))
        for package in catalog.packages
    )
    return catalog._replace(packages=tuple(packages))


def _without_middle(channel: Channel) -> Channel:
    middle = len(channel.entries) // 2
    return channel._replace(entries=channel.entries[:middle] + channel.entries[middle + 1 :])


def _compared(old: Catalog, new: Catalog) -> float:
    """Return the processor time of a comparison."""
    start = time.process_time()
    compare(old, new)
    return time.process_time() - start


def _unpacked(bench: Bench) -> Path:
    assert bench.corpus is not None  # asked before
    folder = bench.folder / "operatorhub"
    if not folder.exists():
        with tarfile.open(bench.corpus / "corpus-k8s-allcsv.tar.xz") as tar:
            tar.extractall(folder, filter="data")
    return folder


def growth(bench: Bench) -> Iterator[Row]:
    """Ten times the input takes at most twelve times as long."""
    for what, make, small in (
        ("entries in one channel", one_channel, 1_000),
        ("packages in one catalog", many_packages, 2_000),
        ("heads with ranges in one channel", many_heads, 1_000),
        ("channels of one entry", many_channels, 1_000),
        ("entries of wrong types in one line", wrong_values, 1_000),
    ):
        little, much = (_seconds(make(bench.folder, n), bench.repeat) for n in (small, small * 10))
        yield Row(
            f"{small:,} → {small * 10:,} {what}",
            f"{little:.2f} s → {much:.2f} s",
            "-",
            f"×{much / little:.1f}",
            "×12 for ×10",
            much <= 12 * little,
        )


def _seconds(path: Path, repeat: int) -> float:
    """Return the processor time to load and lint a catalog and to locate the findings, in this process."""

    def once() -> float:
        start = time.process_time()
        reading = load(str(path))
        for finding in lint(reading.catalog).findings:
            locate(finding.place, reading.sources)
        return time.process_time() - start

    return min(once() for _ in range(repeat))


def starting(bench: Bench) -> Iterator[Row]:
    """The start of `everpath --help`."""
    around = _surroundings()
    ours, bare = best_in_turns(
        bench.repeat,
        Run((*bench.installed.command, "--help"), around),
        Run((bench.installed.python, "-c", "import click"), around),
    )
    yield Row(
        "everpath --help",
        f"{ours.wall * 1000:.0f} ms",
        f"{bare.wall * 1000:.0f} ms (import click)",
        f"×{ours.wall / bare.wall:.1f}",
        "×2",
        ours.wall <= 2 * bare.wall,
    )


PARTS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "rendered": rendered,
    "packages": packages,
    "building": building,
    "serving": serving,
    "operatorhub": operatorhub,
    "simulating": simulating,
    "comparing": comparing,
    "growth": growth,
    "starting": starting,
}


def _opm() -> str | None:
    """Return the path of opm, which is built if necessary; None without Go."""
    if named := os.environ.get("EVERPATH_OPM"):
        return named
    if which("go") is None:
        print(
            "opm is not measured: there is no Go to build it with (or name one in EVERPATH_OPM)",
            file=sys.stderr,
        )
        return None
    built = subprocess.run(
        [ROOT / "tests/support/peers/build.sh", "opm"], check=True, stdout=subprocess.PIPE, text=True
    )
    return built.stdout.strip().splitlines()[-1]


def _corpus() -> Path | None:
    if named := os.environ.get("EVERPATH_CORPUS"):
        return Path(named)
    print("OperatorHub is not measured: EVERPATH_CORPUS names no folder", file=sys.stderr)
    return None


def _table(rows: Iterator[Row]) -> Iterator[str]:
    yield "| work | everpath | peer (opm 1.73.0) | ratio | goal | |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        met = {True: "met", False: "MISSED", None: "not measured"}[row.met]
        yield f"| {row.work} | {row.ours} | {row.peer} | {row.ratio} | {row.goal} | {met} |"


def _notes(bench: Bench) -> Iterator[str]:
    """Return the lines below the table: the Pythons that were used."""
    made = {name: value for name, value in vars(bench).items() if isinstance(value, Installed)}
    for name, what in (("installed", "Commands"), ("serving", "`catalog serve`")):
        if name in made:
            yield f"{what}: {made[name].chosen}."
    version = sys.version.split()[0]
    yield f"Upgrade paths, comparisons and growth: in the process of the benchmark, Python {version}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=sorted(PARTS), help="one part of the table")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each command; the fastest counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="everpath-bench-") as folder:
        bench = Bench(Path(folder), _corpus(), _opm(), options.repeat)
        parts = [PARTS[options.only]] if options.only else list(PARTS.values())
        for line in _table(row for part in parts for row in part(bench)):
            print(line, flush=True)
        print("", *_notes(bench), sep="\n")


if __name__ == "__main__":
    main()
