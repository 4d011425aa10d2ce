"""Write docs/cli.md from the help of every command. `--check` fails where the page is stale."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from worksample.cli.exit_codes import FAILED, INCOMPLETE, INTERRUPTED, USAGE
from worksample.cli.lazy_group import LazyGroup, root

PAGE = Path(__file__).resolve().parent / "cli.md"
HEAD = f"""# Command line

This page is made from `--help` by `docs/build_cli.py`.

Every verb that prints takes `--json`: one JSON document on standard output and nothing else; progress and errors go to
standard error. With `--json` an error is the document `{{"error": {{"kind", "what", "where", "next"}}}}`.

| exit code | meaning |
|---|---|
| 0 | done |
| {FAILED} | it failed; the message says what, where, and what to type next |
| {USAGE} | the command itself is wrong |
| {INCOMPLETE} | it ran, and something planned is not finished, not graded or not sound |
| {INTERRUPTED} | interrupted with Ctrl-C; what was done is kept |
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    _write(root(), "worksample", None, parts)
    return "\n".join(parts) + "\n"


def _write(command: click.Command, path: str, parent: click.Context | None, parts: list[str]) -> None:
    context = click.Context(
        command, info_name=path.rsplit(maxsplit=1)[-1], parent=parent, terminal_width=100, max_content_width=100
    )
    context.help_option_names = ["-h", "--help"]
    parts.append(f"## {path}\n\n```text\n{command.get_help(context)}\n```\n")
    if isinstance(command, LazyGroup):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            _write(inner, f"{path} {name}", context, parts)


def main() -> None:
    text = page()
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
            sys.exit("docs/cli.md is stale; type: ./dev docs")
        return
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
