"""Generated pages cover every public name, command and setting, and shown output equals a command's output."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.run_cli import cli
from worksample.cli.lazy_group import LazyGroup, root
from worksample.experiments.config import AgentConfig, ArmConfig, ChainConfig, ExperimentConfig, LimitsConfig
from worksample.models import Price
from worksample.models.service_config import ServiceConfig

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def generate():
    """docs/generate.py."""
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages(generate) -> dict[str, str]:
    return generate.pages()


@pytest.mark.parametrize("name", ["worksample", "worksample.kit", "worksample.box", "worksample.sandboxes"])
def test_every_public_name_has_a_docstring_and_a_reference_entry(name: str, generate, pages) -> None:
    module = importlib.import_module(name)
    page = pages[generate.API[name][0]]
    public = [public for public in module.__all__ if not public.startswith("_")]
    assert public
    assert [public for public in public if f"heading: {public}\n" not in page] == []
    without = [public for public in public if callable(v := getattr(module, public)) and not v.__doc__]
    assert without == []


def commands(command: click.Command, path: str) -> Iterator[str]:
    yield path
    if isinstance(command, LazyGroup):
        context = click.Context(command, info_name=path)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, f"{path} {name}")


def test_every_command_has_a_reference_section(pages) -> None:
    found = list(commands(root(), "worksample"))
    assert len(found) > 50
    assert [path for path in found if f"## {path}\n" not in pages["reference/cli.md"]] == []


TABLES = (ExperimentConfig, AgentConfig, ArmConfig, ChainConfig, LimitsConfig, Price, ServiceConfig)


@pytest.mark.parametrize("model", TABLES)
def test_every_key_is_documented(model, pages) -> None:
    assert [key for key in model.model_fields if f"| `{key}` |" not in pages["reference/settings.md"]] == []


def test_every_variable_is_documented(pages) -> None:
    source = "".join(p.read_text() for p in (ROOT / "src" / "worksample").rglob("*.py"))
    used = set(re.findall(r"[\"'$](WORKSAMPLE_[A-Z_]+)", source))
    assert used and [name for name in sorted(used) if name not in pages["reference/settings.md"]] == []


def test_tutorial_shows_the_printed_plan(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tutorials/first-run.md").read_text()
    command = re.search(r"^\$ worksample (run .+?--dry-run)", page, re.MULTILINE | re.DOTALL)
    shown = re.search(r"<!-- walk -->\n```text\n(.+?)\n```", page, re.DOTALL)
    assert command and shown
    words = shlex.split(command[1].replace("\\\n", " "))
    said = cli(*words, "--store", tmp_path / "none")
    assert said.returncode == 0, said.stderr
    assert [line for line in shown[1].splitlines() if line not in said.stderr.splitlines()] == []
