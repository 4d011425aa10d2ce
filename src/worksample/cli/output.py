"""Output of commands: one JSON document for programs, and tables and lines for people."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from worksample.terminal_text import cost_range, dollars, duration, printable

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from worksample.store import Store

__all__ = [
    "console",
    "cost_range",
    "dates_option",
    "decimal_option",
    "dollars",
    "duration",
    "json_option",
    "open_store",
    "price_option",
    "printable",
    "say_json",
    "sheet_option",
    "store_option",
    "table",
]  # fmt: skip

FILE_WIDTH = 160
"""Width in characters of a table that is written to a file or a pipe instead of a terminal."""
F = TypeVar("F", bound=Callable[..., Any])


def json_option(function: F) -> F:
    """Add the option `--json` to a command. With it, the command prints one JSON document on standard output, and
    nothing else.
    """
    return click.option("--json", "as_json", is_flag=True, default=None, help="Print one JSON document for machines.")(
        function
    )


def store_option(function: F) -> F:
    """Add the option `--store` to a command: the folder or URL of the store."""
    return click.option(
        "--store", metavar="DIR", default=None, help="The store; default: $WORKSAMPLE_STORE, else ./.worksample."
    )(function)


def decimal_option(function: F) -> F:
    """Add the option `--decimal` to a command: the decimal mark of a table's numbers."""
    return click.option(
        "--decimal", metavar="MARK", default=None,
        help="The decimal mark of all numbers, `,` or `.`; default: inferred from each column's numbers.",
    )(function)  # fmt: skip


def dates_option(function: F) -> F:
    """Add the option `--dates` to a command: the order of day, month and year in a table's dates."""
    return click.option(
        "--dates", metavar="ORDER", default=None,
        help="The order in all dates: DMY, MDY or YMD; default: inferred from each column's dates.",
    )(function)  # fmt: skip


def sheet_option(function: F) -> F:
    """Add the option `--sheet` to a command: the name of the sheet of a workbook."""
    return click.option(
        "--sheet", metavar="NAME", default=None,
        help="The sheet of a workbook; default: the only visible one with rows.",
    )(function)  # fmt: skip


PRICES = (
    "US dollars per million tokens: input, output, and those read from and written to the service's cache (default: "
    "as input). Repeatable."
)


def price_option(says: str = PRICES) -> Callable[[F], F]:
    """Add the repeatable option `--price` to a command: the prices of a model's tokens."""
    form = "MODEL=IN,OUT[,CACHE_READ[,CACHE_WRITE]]"
    return click.option("--price", "prices", multiple=True, default=None, metavar=form, help=says)


def open_store(where: str | Path | None, *, create: bool = False) -> Store:
    """Open the store of a command. Use the store in a `with` statement."""
    from worksample.store import Store

    return Store.open(where, create=create)


def console(*, err: bool = False) -> Console:
    """Return a Rich console that does not interpret markup and emoji codes, because printed names come from files and
    agents.
    """
    from rich.console import Console

    made = Console(stderr=err, markup=False, emoji=False, highlight=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = FILE_WIDTH
    return made


def say_json(value: Any) -> None:
    """Print one JSON document on standard output. If standard output is not UTF-8, non-ASCII characters are escaped."""
    plain = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") not in ("utf8", "utf8sig")
    click.echo(json.dumps(value, indent=2, default=str, ensure_ascii=plain))


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()) -> None:
    """Print a table; `right` names the columns that are aligned to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in columns:
        shown.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    console().print(shown)
