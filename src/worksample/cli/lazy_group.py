"""A group of commands that imports a verb's module only when it is called or its own help is read."""

from __future__ import annotations

from collections.abc import Mapping

import click

from .command_table import VERBS, Family, Verb
from .format_verbs import FormatVerb
from .startup_phase import begin


class LazyGroup(click.Group):
    """Lists its verbs from a table; loads one on use."""

    def __init__(
        self, *, verbs: Mapping[str, Verb | FormatVerb | Family], name: str, help: str, **rest: object
    ) -> None:
        super().__init__(name=name, help=help, no_args_is_help=True, **rest)  # type: ignore[arg-type]
        self.verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the table's order: what comes first is used first."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a verb, or None where there is none of that name."""
        entry = self.verbs.get(cmd_name)
        if entry is None:
            return None
        if isinstance(entry, Family):
            return LazyGroup(verbs=entry.verbs, name=cmd_name, help=entry.says)
        command = entry.load()
        begin("")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.says) for name, entry in self.verbs.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, with a guess where the name is close to a verb's."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], self.verbs, n=1) if args else []
            if near:
                raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx=ctx) from None
            raise


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from worksample import __version__

        click.echo(f"worksample {__version__}")
        ctx.exit()


def root() -> LazyGroup:
    """The `worksample` command."""
    version = click.Option(
        ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version."
    )
    return LazyGroup(
        verbs=VERBS,
        name="worksample",
        help="Give AI agents real, paid work and measure what they deliver.",
        params=[version],
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
