"""The one place where failures become words and exit codes.

0 done; 1 a failure that is explained; 2 the command itself is wrong; 3 it ran, and something planned is not finished,
not graded or not sound; 130 interrupted.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

import click

from worksample.errors import UsageError, WorksampleError

from .lazy_group import root

FAILED, USAGE, INCOMPLETE, INTERRUPTED = 1, 2, 3, 130


def run(argv: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    sys.exit(code_of(list(sys.argv[1:] if argv is None else argv)))


def code_of(argv: list[str]) -> int:
    """Run the command line; returns the exit code. With `--json` a failure is a JSON object on stdout."""
    try:
        code = root().main(args=argv, prog_name="worksample", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except WorksampleError as error:
        _tell(error, as_json="--json" in argv)
        return USAGE if isinstance(error, UsageError) else FAILED
    except click.ClickException as error:
        if "--json" in argv:
            _tell(_usage(error), as_json=True)
        else:
            error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _usage(error: click.ClickException) -> UsageError:
    """A wrong call in our own words, with the help that would have told."""
    path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "worksample"
    return UsageError(error.format_message(), where=path, next=f"{path} --help")


def _tell(error: WorksampleError, *, as_json: bool) -> None:
    if as_json:
        said = {"kind": type(error).__name__, "what": error.what, "where": error.where, "next": error.next}
        click.echo(json.dumps({"error": said}))
        return
    from .output import printable

    where = f"{error.where}: " if error.where else ""
    click.echo(f"{click.style('error', fg='red', bold=True)}: {printable(where + error.what)}", err=True)
    if error.next:
        click.echo(printable(f"  next: {error.next}"), err=True)
