"""`worksample import jobs | gdpval | rli`, and a table of `upbench`: one way in, with other names for the columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from worksample.cli.output import console, decimal_option, json_option, printable, say_json, table

if TYPE_CHECKING:
    from worksample.formats.jobs import ImportedJobs
    from worksample.records import Source

_SAYS = {
    "jobs": """Turn a table of jobs into a suite of task packages below the folder OUT.

    TABLE is a .csv, .tsv, .json, .jsonl or .parquet with one job per row; --map names its columns (docs/jobs.md).
    If a row has errors, nothing is written, unless --skip-faulty leaves such rows out.
    """,
    "gdpval": """Turn GDPval's table (.parquet, .jsonl) into a suite of task packages below the folder OUT.

    --files is the folder that holds `reference_files/` and `deliverable_files/`; default: the table's own. The rubrics
    become criteria for people to judge, and the expert's files become the reference.
    """,
    "rli": """Turn a folder of projects, laid out as RLI describes them, into a suite of packages below the folder OUT.

    Each project's folder has a brief (brief.md), inputs/, human_deliverable/ and may have a metadata.json with price,
    hours and category (docs/jobs.md).
    """,
}


def command_for(preset: str) -> click.Command:
    """The verb for a preset of column names."""

    @click.command(preset, help=_SAYS[preset])
    @click.argument("table_", metavar="FOLDER" if preset == "rli" else "TABLE", type=click.Path(exists=True))
    @click.argument("out", type=click.Path(file_okay=False))
    @job_options
    @json_option
    def command(table_: str, out: str, as_json: bool | None, **given: Any) -> None:
        run_import(preset, table_, out, bool(as_json), given)

    return command


def job_options(function: Callable[..., None]) -> Callable[..., None]:
    """The options of a table of jobs."""
    for option in reversed(
        (
            click.option("--map", "mapping", metavar="FILE", default=None, help="A TOML file that names the columns."),
            click.option(
                "--encoding", metavar="NAME", default=None,
                help="The encoding of a CSV that is not UTF-8, such as cp1252.",
            ),
            decimal_option,
            click.option(
                "--files", metavar="DIR", default=None,
                help="The folder with the attachments; default: the table's own.",
            ),
            click.option(
                "--filter", "filters", multiple=True, default=None, metavar="NAME",
                help="Keep only jobs that are completed, payment-verified, fixed-price or single-milestone. "
                "Repeatable.",
            ),
            click.option(
                "--source", default=None, metavar="NAME",
                help="Where prices come from: paid (default), self_reported, estimated or illustrative.",
            ),
            click.option("--public", is_flag=True, default=None, help="Mark the suite as public; else it is private."),
            click.option(
                "--skip-faulty", is_flag=True, default=None, help="Leave out rows with errors, and count them."
            ),
            click.option(
                "--missing", is_flag=True, default=None,
                help="Import jobs whose attachments are missing or too large, too; their qualification names those "
                "files.",
            ),
            click.option("--overwrite", is_flag=True, default=None, help="Replace packages that exist already."),
        )
    ):  # fmt: skip
        function = option(function)
    return function


def run_import(preset: str, source: str, out: str, as_json: bool, given: dict[str, Any]) -> None:
    """Take a table in and say what became of its rows."""
    from worksample.formats.jobs import ImportJobs, import_jobs

    origin = source_named(given["source"])
    config = ImportJobs(
        preset="jobs" if preset == "rli" else preset,
        mapping=Path(given["mapping"]) if given["mapping"] else None,
        encoding=given["encoding"] or "", decimal=given["decimal"] or "",
        files=Path(given["files"]) if given["files"] else None,
        filters=tuple(given["filters"] or ()), source=origin,
        visibility="public" if given["public"] else "private",
        skip_faulty=bool(given["skip_faulty"]), overwrite=bool(given["overwrite"]),
        missing=bool(given["missing"]),
    )  # fmt: skip
    with _counting(silent=as_json) as told:
        made = import_jobs(Path(source), Path(out), config, told=told)
    if as_json:
        say_json({**{k: getattr(made, k) for k in made.__slots__}, "out": out})
    else:
        _show(made, out)


def source_named(name: str | None) -> Source:
    """Of `--source`. UsageError."""
    from worksample.errors import UsageError
    from worksample.records import Source

    if name is not None and name not in set(Source):
        raise UsageError(
            f"there is no source {name!r}; there are {', '.join(Source)}", where="--source", next="--source paid"
        )
    return Source(name or Source.PAID)


@contextmanager
def _counting(*, silent: bool) -> Iterator[Callable[[int], None]]:
    """How many rows were read, on a terminal: a table does not say beforehand how many it has."""
    shown = console(err=True)
    if silent or not shown.is_terminal:
        yield lambda rows: None
        return
    with shown.status("reading") as status:
        yield lambda rows: status.update(f"{rows:,} rows")


def _show(made: ImportedJobs, out: str) -> None:
    """The funnel, and what to know of the jobs that came through."""
    rows = [("rows", made.rows), *((f"left out: not {name}", n) for name, n in made.left_out.items())]
    rows += [("at fault", len(made.faults)), ("there before", made.there), ("written", len(made.written))]
    table("", ("jobs", "count"), [r for r in rows if r[1] or r[0] in ("rows", "written")], right=("count",))
    for where, what in list(made.faults.items())[:20]:
        click.echo(printable(f"  {where}: {what}"))
    if made.unread:
        click.echo(printable(f"  not read: {', '.join(made.unread)}"))
    for note in made.numbers:
        click.echo(printable(f"  {note}"))
    if made.without_price:
        click.echo(f"  without a price: {made.without_price}; they are left out of figures in dollars")
    if made.foreign:
        priced = ", ".join(f"{n} in {currency}" for currency, n in made.foreign.items())
        click.echo(f"  priced in a currency other than US dollars: {priced}; they are left out of figures in dollars")
    if made.without_category:
        click.echo(f"  in no category of Upwork's: {made.without_category}")
    if not made.written and not made.there:
        click.echo(printable(f"no job came through: {out} was not written"))
        return
    click.echo(f"suite: {out}\n  next: worksample suite describe {out}")
    click.echo(f"        worksample jobs qualify {out}, and experts say which are fit")


command = command_for("jobs")
