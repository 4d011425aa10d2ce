"""Commands in README and docs for newcomers work as described."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from cli.run_cli import argv_of, clean_environment, cli

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/tutorials/own-task.md")
NEEDS_A_KEY = "--model"
SERVERS = ("review", "serve")


def commands(page: str) -> list[list[str]]:
    """Every `$ worksample ...` line of a page that needs no model, in order, without its comment."""
    lines = re.findall(r"^\$ worksample (.+?)(?:\s+#.*)?$", (ROOT / page).read_text(), re.MULTILINE)
    return [shlex.split(line) for line in lines if NEEDS_A_KEY not in line]


def started(words: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command that serves until it is told to stop: it is, once it has said where."""
    process = subprocess.Popen(
        argv_of(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd,
        env=clean_environment(BROWSER="true", PYTHONUNBUFFERED="1"),
    )  # fmt: skip
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if "http://" in line:
            process.send_signal(signal.SIGINT)
            break
    return subprocess.CompletedProcess(words, process.wait(120), said + process.stdout.read(), "")


@pytest.mark.quick("docs/tutorials/own-task.md")
@pytest.mark.box
@pytest.mark.long(seconds=50)
@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page_can_be_typed(page: str, tmp_path: Path) -> None:
    said = commands(page)
    first = next(i for i, words in enumerate(said) if words[:2] == ["task", "new"])
    said = said[first:]
    assert any(words[:2] == ["task", "check"] for words in said)
    for words in said:
        done = started(words, tmp_path) if words[0] in SERVERS else cli(*words, cwd=tmp_path)
        assert done.returncode == 0, f"worksample {shlex.join(words)}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
    assert (tmp_path / "report" / "index.html").is_file()
