"""Group of commands that imports the module of a command only to run the command or to show its help."""

from __future__ import annotations

from collections.abc import Mapping

import click

from worksample.errors import UsageError

from .command_table import COMMANDS, CommandEntry, CommandGroup
from .format_commands import FormatCommand
from .startup_phase import begin


class LazyGroup(click.Group):
    """Group of click that lists its commands from a table. A command is imported only when it is used."""

    def __init__(
        self,
        *,
        entries: Mapping[str, CommandEntry | FormatCommand | CommandGroup],
        name: str,
        help: str,
        **rest: object,
    ) -> None:
        super().__init__(name=name, help=help, no_args_is_help=True, **rest)  # type: ignore[arg-type]
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the table."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None if the name is unknown."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        if isinstance(entry, CommandGroup):
            return LazyGroup(entries=entry.commands, name=cmd_name, help=entry.help)
        command = entry.load()
        begin("")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Print the list of commands. No command is imported."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.entries.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve the name of a command as click does. If the name is unknown, the error suggests a similar name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], self.entries, n=1) if args else []
            if near:
                raise UsageError(
                    f"{error.message} Did you mean {near[0]!r}?",
                    where=ctx.command_path,
                    next=f"{ctx.command_path} --help",
                ) from None
            raise


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from worksample import __version__

        click.echo(f"worksample {__version__}")
        ctx.exit()


def root() -> LazyGroup:
    """Return the click group of the `worksample` command."""
    version = click.Option(
        ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version."
    )
    return LazyGroup(
        entries=COMMANDS,
        name="worksample",
        help="Give AI agents real, paid work and measure what they deliver.",
        params=[version],
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
