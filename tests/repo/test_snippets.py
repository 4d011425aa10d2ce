"""The commands that README and docs tell a newcomer to type do what they say."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from cli.run_cli import argv_of, clean_environment, cli

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/own-task.md")
NEEDS_A_KEY = "--model"
SERVERS = ("review", "serve")
GENERATED = ("api.md", "api-kit.md", "api-box.md", "cli.md")
"""Pages that docs/generate.py writes."""
EVERY_PAGE = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]


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


@pytest.mark.quick("docs/own-task.md")
@pytest.mark.box
@pytest.mark.long(seconds=50)
@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_says_can_be_typed(page: str, tmp_path: Path) -> None:
    said = commands(page)
    first = next(i for i, words in enumerate(said) if words[:2] == ["task", "new"])
    said = said[first:]
    assert any(words[:2] == ["task", "check"] for words in said)
    for words in said:
        done = started(words, tmp_path) if words[0] in SERVERS else cli(*words, cwd=tmp_path)
        assert done.returncode == 0, f"worksample {shlex.join(words)}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
    assert (tmp_path / "report" / "index.html").is_file()


@pytest.mark.parametrize(
    "page", ["README.md", *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").glob("*.md")))]
)
def test_links_and_pictures_of_a_page_exist(page: str) -> None:
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target and not target.startswith("mailto:") and target not in GENERATED:
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page}: {target}"


@pytest.mark.parametrize(
    "page", ["README.md", *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").glob("*.md")))]
)
def test_verbs_that_a_page_names_exist(page: str) -> None:
    """`worksample VERB ...` in code is a verb of the command line."""
    from worksample.cli.command_table import VERBS

    known = {name.split()[0] for name in VERBS}
    text = (ROOT / page).read_text()
    for verb in re.findall(r"(?:^\$ |`|^)worksample ([a-z]+)\b", text, re.MULTILINE):
        assert verb in known, f"{page}: worksample {verb}"


@pytest.mark.parametrize("page", EVERY_PAGE)
def test_every_command_of_a_page_parses(page: str) -> None:
    """Its verb and its options are those of the command line; nothing is run."""
    import click

    from worksample.cli.lazy_group import LazyGroup, root

    blocks = re.findall(r"^```console\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    for line in lines:
        if not line.startswith("$ worksample ") or "|" in line:
            continue
        words = [word for word in shlex.split(line[2:], comments=True)[1:] if word != "..."]
        command: click.Command | None = root()
        context = click.Context(root(), info_name="worksample")
        while isinstance(command, LazyGroup) and words and not words[0].startswith("-"):
            word = words.pop(0)
            command = command.get_command(context, word)
            assert command is not None, f"{page}: {line}: there is no verb {word}"
        if command is None or isinstance(command, LazyGroup):
            continue
        options = {
            name: o for o in command.params if isinstance(o, click.Option) for name in (*o.opts, *o.secondary_opts)
        }
        for word in words:
            name = word.partition("=")[0]
            if name.startswith("--"):
                assert name in options or name in ("--help", "--version"), f"{page}: {line}: there is no {name}"
