"""Commands of `worksample import` and `worksample export`, one for each format. Each is built from the declaration of
the format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import click

    from worksample.formats.interface import FormatOption, Transfer, TransferReport
    from worksample.records import Experiment
    from worksample.store import Store

Direction = Literal["import", "export"]


@dataclass(frozen=True)
class FormatCommand:
    """Table entry for one command of `worksample import` or `worksample export`."""

    name: str
    transfer: Transfer

    @property
    def help(self) -> str:
        """Line of help that the list of formats shows."""
        return self.transfer.summary

    def load(self) -> click.Command:
        """Build the click command of this format."""
        return command_of(self.name, self.transfer)


@dataclass(frozen=True)
class FormatCommands(Mapping[str, FormatCommand]):
    """Mapping of the commands for importing or exporting, by name of the format. The formats are loaded on the first
    access.

    If the format of another package cannot be loaded, it is missing from the list, and access by its name raises its
    error.
    """

    direction: Direction

    def __getitem__(self, name: str) -> FormatCommand:
        from worksample.formats import find_format, format_names

        if name not in format_names():
            raise KeyError(name)
        found = find_format(name)
        transfer = found.importer if self.direction == "import" else found.exporter
        if transfer is None:
            raise KeyError(name)
        return FormatCommand(name, transfer)

    def __iter__(self) -> Iterator[str]:
        from worksample.errors import ImportFailed
        from worksample.formats import format_names

        for name in format_names():
            try:
                self[name]
            except (KeyError, ImportFailed):
                continue
            yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)


def command_of(name: str, transfer: Transfer) -> click.Command:
    """Build the click command of an import or export."""
    import inspect

    import click

    def callback(out: str | None, as_json: bool | None, what_to_read: str | None = None, **given: Any) -> int:
        options = {key: value for key, value in given.items() if value not in (None, False, ())}
        return run_transfer(transfer, what_to_read, out, options, as_json=bool(as_json))

    params: list[click.Parameter] = []
    if transfer.source:
        kind = click.Path(exists=True, file_okay=not transfer.source_is_folder)
        params.append(click.Argument(["what_to_read"], metavar=transfer.source, type=kind))
    params.append(click.Argument(["out"], required=transfer.out_required, type=click.Path(file_okay=False)))
    params += [_click_option(option) for option in transfer.options]
    params.append(
        click.Option(["--json", "as_json"], is_flag=True, default=None, help="Print one JSON document for machines.")
    )
    return click.Command(name, params=params, callback=callback, help=inspect.cleandoc(transfer.help))


def _click_option(option: FormatOption) -> click.Option:
    import click

    if option.is_flag:
        return click.Option([option.typed_name, option.name], is_flag=True, default=None, help=option.help)
    kind = click.Path(exists=True, file_okay=False) if option.folder else click.STRING
    return click.Option(
        [option.typed_name, option.name], metavar=option.value, type=kind, multiple=option.repeatable, default=None,
        help=option.help,
    )  # fmt: skip


def run_transfer(
    transfer: Transfer, source: str | None, out: str | None, options: Mapping[str, Any], *, as_json: bool
) -> int:
    """Run an import or export, print its report, and return the exit code."""
    from worksample.formats import TransferRequest

    from .exit_codes import INCOMPLETE
    from .output import open_store

    with _row_counter(silent=as_json) as show:
        report = transfer.run(
            TransferRequest(
                source=Path(source) if source else None, out=Path(out) if out else None, options=options,
                open_store=open_store, find_experiment=_find_experiment, show_progress=show,
            )
        )  # fmt: skip
    _print_report(report, as_json=as_json)
    return 0 if report.complete else INCOMPLETE


def _find_experiment(store: Store, name: str) -> Experiment:
    from worksample.experiments.experiment_lookup import find_experiment

    return find_experiment(store, name)


def _print_report(report: TransferReport, *, as_json: bool) -> None:
    import click

    from worksample.formats import ReportTable

    from .output import printable, say_json, table

    if as_json:
        say_json(report.plain)
        return
    for part in report.parts:
        if isinstance(part, ReportTable):
            table("", part.columns, part.rows, right=part.right)
        else:
            click.echo(printable(part.text), err=part.error)


@contextmanager
def _row_counter(*, silent: bool) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how many rows of a table were read so far. The total is not shown, because it is unknown."""
    from .output import console

    shown = console(err=True)
    if silent or not shown.is_terminal:
        yield lambda rows: None
        return
    with shown.status("reading") as status:
        yield lambda rows: status.update(f"{rows:,} rows")
