"""The complete output of commands.

Each transcript of tests/everpath/golden/transcripts starts with a folder and the command that was run in it.
`EVERPATH_UPDATE_GOLDEN=1 pytest tests/everpath/golden/test_golden.py` updates them; check the difference.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from tests.support.commandline import Everpath

GOLDEN = Path(__file__).parent / "transcripts"
TRANSCRIPTS = sorted(GOLDEN.glob("*.txt"))


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_output_is_that_of_the_transcript(
    everpath: Everpath, monkeypatch: pytest.MonkeyPatch, transcript: Path
) -> None:
    written = transcript.read_text()
    command = written.partition("\n")[0]
    where, _, typed = command.partition("$ everpath ")
    monkeypatch.chdir(GOLDEN / where.strip())
    answer = everpath(*shlex.split(typed))
    parts = [command, answer.out.rstrip("\n"), *(f"2> {line}" for line in answer.err.splitlines())]
    said = "\n".join([*parts, f"exit {answer.code}", ""])
    if os.environ.get("EVERPATH_UPDATE_GOLDEN"):
        transcript.write_text(said)
    assert said == transcript.read_text()


def test_there_are_transcripts() -> None:
    assert len(TRANSCRIPTS) > 10
