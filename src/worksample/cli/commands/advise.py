"""`worksample advise`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from worksample.cli.output import (
    dates_option,
    decimal_option,
    dollars,
    json_option,
    open_store,
    printable,
    say_json,
    sheet_option,
    store_option,
    table,
)

if TYPE_CHECKING:
    from worksample.reports.job_advice import ListAdvice

SHOWN = 10
"""Maximum number of printed lines about what to measure next. The JSON output has all lines."""


@click.command("advise")
@click.argument("jobs", type=click.Path(exists=True))
@click.argument("experiments", nargs=-1)
@click.option(
    "--agent", default=None, metavar="NAME", help="The agent to advise on; default: the one that passes most often."
)
@click.option("--wage", type=float, default=None, help="US dollars per hour of people who do such jobs.")
@click.option("--hourly", type=float, default=None, help="US dollars per hour of the expert who gives feedback.")
@click.option(
    "--people",
    type=click.Choice(("measured", "assumed")),
    default=None,
    help="Assume that people succeed as often as they did on similar jobs (default, if they did enough), or always.",
)
@click.option(
    "--sure", type=float, default=None, help="Least probability that an answer needs to be given; default: 0.8."
)
@click.option(
    "--by", default=None, metavar="NAME", help="How texts are compared: tfidf (default), minilm, or provider/model."
)
@click.option("--base-url", default=None, metavar="URL", help="The provider's address; default: PROVIDER_BASE_URL.")
@click.option("--map", "mapping", metavar="FILE", default=None, help="A TOML file that names the columns.")
@click.option("--monthly", default=None, metavar="COLUMN", help="The column that says how often a month a job comes.")
@click.option(
    "--encoding", metavar="NAME", default=None, help="The encoding of a CSV that is not UTF-8, such as cp1252."
)
@decimal_option
@dates_option
@sheet_option
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    default=None,
    help="Write advice.html into this folder, such as a report's.",
)
@store_option
@json_option
def command(
    jobs: str,
    experiments: tuple[str, ...],
    agent: str | None,
    wage: float | None,
    hourly: float | None,
    people: str | None,
    sure: float | None,
    by: str | None,
    base_url: str | None,
    mapping: str | None,
    monthly: str | None,
    encoding: str | None,
    decimal: str | None,
    dates: str | None,
    sheet: str | None,
    out: str | None,
    store: str | None,
    as_json: bool | None,
) -> None:
    """Advise who should do each job on a firm's list: AI, AI with people, people, or not enough data.

    JOBS is a .csv, .tsv, .xlsx, .json, .jsonl or .parquet with title, description, category, value, hours, how often
    a month, files (docs/tutorials/firm.md). EXPERIMENTS are names or ids, by default the latest; their tasks may
    differ.
    """
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.extras import need
    from worksample.reports.job_advice import AdviceConfig, advise, evidence_of, read_list

    need("report")
    notes: list[str] = []
    listed = read_list(
        Path(jobs), mapping=Path(mapping) if mapping else None, encoding=encoding or "", monthly=monthly or "",
        decimal=decimal or "", dates=dates or "", sheet=sheet or "", told=notes.append,
    )  # fmt: skip
    config = AdviceConfig(
        sure=sure or 0.8, wage=wage, people=people or "measured", embedding=by or "tfidf", base_url=base_url or ""
    )
    with open_store(store) as opened:
        chosen = [find_experiment(opened, name) for name in experiments or ("",)]
        found = advise(evidence_of(opened, chosen, agent=agent or "", hourly=hourly), listed, config)
    found = replace(found, notes=(*notes, *found.notes))
    page = _write(found, Path(out)) if out else None
    if as_json:
        say_json({**found.plain(), "page": page})
        return
    print_advice(found)
    if page:
        click.echo(f"page: {page}")


def _write(found: ListAdvice, out: Path) -> str:
    from worksample.reports.job_advice.advice import write_page

    return str(write_page(found, out).resolve())


def print_advice(found: ListAdvice) -> None:
    """Print the advice for a firm's jobs as a table, and the tasks that should be measured next."""
    from worksample.cli.commands.metrics import figure_text

    columns = ("job", "who", "sure", "a month", "over people", "rests on", "near")
    rows = [
        (
            printable(a.job.title or a.job.row), a.answer, a.sure,
            figure_text(a.dollars).rpartition(" ")[0] if a.dollars else "–",
            figure_text(a.over_people).rpartition(" ")[0] if a.over_people else "–",
            f"{a.weight:.1f} jobs", printable(", ".join(a.near[:2])),
        )
        for a in found.each
    ]  # fmt: skip
    table("", columns, rows, right=columns[2:6])
    for a in found.measure_next[:SHOWN]:
        worth = "" if a.stake is None else f" (knowing is worth at most {dollars(a.stake)} a month)"
        click.echo(printable(f"  next, for {a.job.title or a.job.row}: {a.next}{worth}"))
    click.echo(printable(f"  {found.agent} on {found.jobs} jobs; texts by {found.by}"))
    for note in found.notes:
        click.echo(printable(f"  {note}"))
