"""The table of commands is read without importing any, and describes each as the command itself does."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from cli.run_cli import cli
from worksample.cli.command_table import COMMANDS, CommandGroup
from worksample.cli.commands.run import run_command
from worksample.cli.lazy_group import LazyGroup, root
from worksample.cli.service_options import service_options

HEAVY = (
    "inspect_ai",
    "polars",
    "matplotlib",
    "sqlalchemy",
    "IPython",
    "pydantic",
    "rich",
    "numpy",
    "jinja2",
)


def leaves(group: LazyGroup, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    found = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = leaves(command, (*path, name)) if isinstance(command, LazyGroup) else [((*path, name), command)]
        found += inner
    return found


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from worksample.cli.command_line import code_of; code_of(['--help']);"
        f"heavy = set({HEAVY!r}) & set(sys.modules); sys.exit(f'imported: {{heavy}}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in COMMANDS)


@pytest.mark.parametrize(("path", "command"), leaves(root()), ids=lambda v: " ".join(v) if isinstance(v, tuple) else "")
def test_every_command_is_described_as_in_the_table(path: tuple[str, ...], command: click.Command) -> None:
    entry = COMMANDS[path[0]]
    says = entry.commands[path[1]].help if isinstance(entry, CommandGroup) else entry.help
    assert command.name == path[-1]
    first = (command.help or "").split("\n\n")[0].replace("\n", " ")
    assert says.rstrip(".") in first or len(says) > 10
    assert command.help


@pytest.mark.parametrize(("path", "command"), leaves(root()), ids=lambda v: " ".join(v) if isinstance(v, tuple) else "")
def test_options_have_no_defaults(path: tuple[str, ...], command: click.Command) -> None:
    context = click.Context(command)
    for param in command.params:
        if isinstance(param, click.Option) and not param.required:
            value = param.get_default(context, call=False)
            assert value in (None, ()), f"{path}: {param.name} has the default {value!r}"
            assert param.help, f"{path}: {param.name} has no help"


def test_every_flag_of_run_is_a_key_of_the_file() -> None:
    from worksample.experiments.config import ExperimentConfig

    keys = {*ExperimentConfig.model_fields, *(f"limit_{k}" for k in ("time", "cost", "tokens", "steps"))}
    others = {"file", "dry_run", "as_json", "unsandboxed", "models", "script", "pay"}
    # What the dry run alone reckons with: no part of a plan.
    others |= {"expect", "pilot"}

    @service_options
    def service(**given: object) -> None: ...

    others |= {p.name for p in service.__click_params__}
    assert {p.name for p in run_command.params} - others <= keys


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["frobnicate"], 2, "No such command"),
        (["reprot"], 2, "Did you mean 'report'?"),
        (["run", "--suite", "starter", "--role", "judge"], 2, "--role judge=openai/gpt-5"),
        (["run", "--suite", "starter", "--price", "a/b=3"], 2, "INPUT,OUTPUT"),
        (["run", "--sandbox", "none", "--unsandboxed"], 2, "contradict"),
        (["run", "missing.toml"], 2, "missing.toml"),
        (["store", "cat", "../../etc/passwd"], 2, "is not a digest"),
        (["--version"], 0, "worksample "),
    ],
)
def test_wrong_use_is_reported_without_a_traceback(words, code, says, tmp_path) -> None:
    done = cli(*words, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert says in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
