"""Run of the command line: the exit code, and the messages for all failures. Only this module prints errors."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from worksample.errors import ImportFailed, UsageError, WorksampleError

from .command_table import COMMANDS, CommandEntry, CommandGroup
from .exit_codes import FAILED, INTERRUPTED, USAGE
from .format_commands import FormatCommand
from .lazy_group import root
from .startup_phase import STARTING, begin, interrupt_text
from .utf8_streams import settle_streams

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


def run(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit the process with its exit code."""
    settle_streams()
    sys.exit(code_of(list(sys.argv[1:] if argv is None else argv)))


def code_of(argv: list[str]) -> int:
    """Run the command line and return the exit code. With `--json`, a failure is printed as a JSON object on standard
    output.
    """
    begin(STARTING, silent=True)
    try:
        code = root().main(args=argv, prog_name="worksample", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except WorksampleError as error:
        if not error.next:
            error.next = f"{_command_of(argv)} --help"
        _print_error(error, as_json="--json" in argv)
        return USAGE if isinstance(error, UsageError) else FAILED
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        _print_error(_usage_error(error), as_json="--json" in argv)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo(interrupt_text(), err=True)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        if error.filename is None and error.errno not in FULL:
            raise  # no file that the user named is at fault
        _print_error(_file_error(error), as_json="--json" in argv)
        return FAILED


def _usage_error(error: click.ClickException) -> UsageError:
    """Convert click's error about a wrong command to a UsageError that suggests the `--help` command to type."""
    path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "worksample"
    said = error.format_message()
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter) and error.param:
        named = error.param.opts[0] if isinstance(error.param, click.Option) else error.param.human_readable_name
        said = f"{named}: {error.message}"
    return UsageError(said, where=path, next=f"{path} --help")


def _command_of(argv: Sequence[str]) -> str:
    """Return the command and the subcommand with which the arguments begin, such as `worksample task check`."""
    words: list[str] = []
    known: Mapping[str, CommandEntry | FormatCommand | CommandGroup] = COMMANDS
    for word in argv:
        if word not in known:
            break
        words.append(word)
        entry = known[word]
        known = entry.commands if isinstance(entry, CommandGroup) else {}
    return " ".join(["worksample", *words])


def _file_error(error: OSError) -> WorksampleError:
    """Return the error for a file that cannot be read or written, with the operating system's message."""
    what = error.strerror or str(error)
    if error.errno in FULL:
        step = "free some space there (df -h), then run the same command again"
    else:
        step = "give a path that can be read and written, then run the same command again"
    return WorksampleError(what, where=str(error.filename or ""), next=step)


def _print_error(error: WorksampleError, *, as_json: bool) -> None:
    if as_json:
        said: dict[str, Any] = {
            "kind": type(error).__name__, "what": error.what, "where": error.where, "next": error.next,
        }  # fmt: skip
        if isinstance(error, ImportFailed) and error.faults:
            said["faults"] = dict(error.faults)
        click.echo(json.dumps({"error": said}))
        return
    from .output import printable

    where = f"{error.where}: " if error.where else ""
    click.echo(f"{click.style('error', fg='red', bold=True)}: {printable(where + error.what)}", err=True)
    if error.next:
        click.echo(printable(f"  next: {error.next}"), err=True)
