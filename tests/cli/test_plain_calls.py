"""Calls that are read without click: what is made of them is what click makes of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from catalogs import write_fbc
from commandline import ROOT, Answer, Everpath
from everpath.cli import entry_point, plain_calls
from everpath.cli.commands.validate_graph import validate_graph
from everpath.cli.plain_calls import Request, plain_request
from everpath.errors import UsageError
from everpath.signals import run_at_exit, signals_as_interrupt

_OPTIONS = [parameter for parameter in validate_graph.params if isinstance(parameter, click.Option)]
_SPELLINGS = sorted(spelling for option in _OPTIONS for spelling in option.opts)
_ABBREVIATED = sorted({spelling[:-1] for spelling in _SPELLINGS if len(spelling) > 4})
_VALUES = (
    *("json", "text", "yaml", "JSON", "error", "never", "note", "v0", "both", "v2", "semver-mode"),
    *("1", "2", "64", "65", "0", "-1", "+1", "01", "1_0", " 1", "²", "٣", "4.0", ""),
    *("a", "a,b", "a, b", "a,,b", ",", " ", "EP2", "fork", "-", "--", "---", "=", "a=b", "-x", "--nope"),
    *("quay.io/me/catalog:v1", "no/such/path", "validate-graph", "ä", "\udc80", "\n", "@file", "%PATH%", "~"),
)
_CLUSTERED = ("-qv", "-qo", "-ojson", "-o=json", "-j2", "-pa", "-vqj2", "-h", "--help", "-V", "--version")

_words = st.one_of(
    st.sampled_from(_SPELLINGS),
    st.sampled_from(_SPELLINGS),
    st.sampled_from(_VALUES),
    st.sampled_from(_ABBREVIATED),
    st.sampled_from(_CLUSTERED),
    st.builds("{}={}".format, st.sampled_from(_SPELLINGS), st.sampled_from(_VALUES)),
    st.text(max_size=4),
)


def as_click_reads(arguments: list[str]) -> Request | None:
    """What click makes of a call; None of one that is wrong, or asks for help."""
    try:
        return Request(**validate_graph.make_context("validate-graph", list(arguments)).params)
    except (click.ClickException, click.exceptions.Exit, UsageError):
        return None


@given(st.lists(_words, max_size=6))
@example(["--output-file=", "--config=", "--bundles="])
@example(["-o", "json", "-o", "text", "-p", "a", "-p", "b,c", "-q", "-q", "x", "y"])
@example(["--", "-o"])
@example(["-o"])
@example(["-o=json"])
@example(["--quiet=x"])
@example(["-qv"])
@example(["--output-file", "--no-config", "--config", "--", "--bundles", ""])
@example(["--select", "a,,b"])
@example(["-o", "yaml"])
@example(["-j", "٣"])
@example(["-j", "9" * 5000])
@example(["--jobs", "0" * 5000 + "1"])
@example(["-j", "65"])
@example(["-"])
@example([""])
def test_what_is_read_without_click_is_what_click_reads(arguments: list[str]) -> None:
    plain = plain_request(arguments)
    assert plain is None or plain == as_click_reads(arguments)


_plain_values = {
    "output": st.sampled_from(["json", "text", "sarif"]),
    "show": st.sampled_from(["error", "note"]),
    "fail_on": st.sampled_from(["never", "warning"]),
    "policy": st.sampled_from(["v0", "v1", "both"]),
    "default_update_mode": st.just("semver-mode"),
    "jobs": st.integers(1, 64).map(str),
}


@st.composite
def plain_arguments(draw: st.DrawFn) -> list[str]:
    """Options with values that suit them, in any spelling that needs no guessing, and paths."""
    arguments: list[str] = []
    for option in draw(st.lists(st.sampled_from(_OPTIONS), max_size=6)):
        spelling = draw(st.sampled_from(option.opts))
        value = draw(_plain_values.get(option.name or "", st.sampled_from(["a", "a,b", "x/y.z"])))
        if option.name == "help":
            continue
        if option.is_flag:
            arguments.append(spelling)
        elif spelling.startswith("--") and draw(st.booleans()):
            arguments.append(f"{spelling}={value}")
        else:
            arguments += [spelling, value]
    paths = draw(st.lists(st.sampled_from(["catalog", "-", "a:b", "", "no/such"]), max_size=3))
    return [*paths, *arguments]


@given(plain_arguments())
def test_a_plain_call_needs_no_click(arguments: list[str]) -> None:
    assert plain_request(arguments) == as_click_reads(arguments) is not None


def test_every_option_is_known_to_both() -> None:
    tables = (
        plain_calls.FLAGS,
        plain_calls.LISTS,
        plain_calls.REPEATED,
        plain_calls.CHOICES,
        plain_calls.TEXTS,
        plain_calls.NUMBERS,
    )
    assert sorted(spelling for table in tables for spelling in table) == _SPELLINGS
    choices = {
        spelling: (option.name, tuple(option.type.choices))
        for option in _OPTIONS
        if isinstance(option.type, click.Choice)
        for spelling in option.opts
    }
    assert choices == plain_calls.CHOICES


_RUN = """
import sys
from everpath.cli.entry_point import run
run(sys.argv[1:])
print('', *sys.modules, sep=chr(10))
"""

#: What a plain call has no use for: each of these costs milliseconds, and some bring others along.
_NEEDLESS = {"click", "inspect", "dataclasses", "dis", "tokenize", "gettext", "locale", "threading"}


def test_a_plain_call_imports_no_click(tmp_path: Path) -> None:
    write_fbc(tmp_path, "op.v2.0.0: op.v1.0.0\nop.v1.0.0", "op")
    done = subprocess.run(
        [sys.executable, "-S", "-c", _RUN, "validate-graph", "--no-config", "-o", "concise", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tools"), *sys.path])},
    )
    assert done.stdout.startswith("Nothing wrong"), done.stderr
    assert set(done.stdout.splitlines()) & _NEEDLESS == set()


#: Calls of every kind of output, and of every kind of ending.
_CALLS: tuple[list[str], ...] = (
    *(["catalog"], ["catalog", "-o", "json"], ["catalog", "-o", "github"], ["catalog", "--statistics"]),
    *(["catalog", "-o", "sarif", "--statistics"], ["no/such"], ["-"], ["catalog", "no/such"], ["-", "-"]),
    *(["catalog", "-p", "nobody"], ["catalog", "--select", "nope"], ["catalog", "--select", "EP2"]),
    *(["catalog", "--config", "nope.yaml"], ["catalog", "-v", "--no-config"], ["catalog", "--jobs", "2"]),
    *(["catalog", "--output-file", "no/such/file"], ["catalog", "--fail-on", "never", "--show", "note"]),
    *(["catalog", "--bundles", "bundles"], ["catalog", "-q"], ["no/such:v1"], ["Host.example/Op"]),
    *(["catalog", "--policy", "v1", "--thorough", "--no-progress", "--ignore", "fork"], [], [""]),
)


@pytest.mark.parametrize("name", ["", "GITHUB_ACTIONS", "FORCE_COLOR", "NO_COLOR"])
@pytest.mark.parametrize("arguments", _CALLS, ids=" ".join)
def test_both_ways_say_the_same(
    here: Path, everpath: Everpath, monkeypatch: pytest.MonkeyPatch, arguments: list[str], name: str
) -> None:
    write_fbc(here, "c: a\nb: a\na", "op")
    if name:
        monkeypatch.setenv(name, "true")
    assert plain_request(arguments) is not None
    plain = timeless(everpath("validate-graph", *arguments))
    monkeypatch.setattr(entry_point, "_plain_request", lambda _: None)
    assert plain == timeless(everpath("validate-graph", *arguments))


def timeless(answer: Answer) -> Answer:
    return replace(answer, err=re.sub(r"in \d+\.\d\d s", "in a while", answer.err))


def test_a_shell_that_asks_for_completions_is_answered_by_click(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(entry_point.COMPLETION, "bash_complete")
    assert entry_point._plain_request(["validate-graph"]) is None


def test_what_is_left_for_the_end_is_done_at_the_end_of_the_command_however_it_ends() -> None:
    done: list[str] = []

    def end() -> None:
        with signals_as_interrupt():
            run_at_exit(lambda: done.append("once"))
            assert done == []
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        end()
    assert done == ["once"]
