"""`worksample report`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from worksample.cli.ambiguous_experiments import print_chosen_experiments
from worksample.cli.figure_options import (
    interval_options,
    judged_by_option,
    money_options,
    money_settings,
    resampling,
    where_option,
)
from worksample.cli.output import console, json_option, open_store, say_json, store_option

if TYPE_CHECKING:
    from worksample.records import JudgedBy
    from worksample.results.subset import Subset


@click.command("report")
@click.argument("experiments", nargs=-1)
@click.option("--out", type=click.Path(file_okay=False), default=None, help="Write the site into this folder.")
@click.option("--illustrative", is_flag=True, default=None, help="Also count prices that are only illustrative.")
@click.option(
    "--pages/--no-pages", default=None, help="Write a page per trial, or leave these pages out; default: write them."
)
@click.option(
    "--app", default=None, envvar="WORKSAMPLE_APP", metavar="URL",
    help="The review app's address, for links to the work in it; default: $WORKSAMPLE_APP, else no links.",
)  # fmt: skip
@judged_by_option
@click.option(
    "--by",
    type=click.Choice(["category", "tier", "platform", "domain", "cohort", "agent"]),
    default=None,
    help="Break every agent's figures down by this, with --out.",
)
@where_option
@interval_options
@money_options
@store_option
@json_option
def command(
    experiments: tuple[str, ...],
    out: str | None,
    illustrative: bool | None,
    pages: bool | None,
    app: str | None,
    judged_by: JudgedBy | None,
    store: str | None,
    as_json: bool | None,
    where: Subset,
    by: str | None,
    **given: Any,
) -> None:
    """Print the leaderboard and, with --out, write the report as a static site.

    EXPERIMENTS are names or ids, by default the latest. Several are shown side by side if their locks agree: the
    same instances, environment models and protocol.
    """
    from worksample.python_api.run_results import board_and_site
    from worksample.reports import ReportConfig, print_board
    from worksample.reports.sections import MeasureConfig

    how = resampling(given)
    with open_store(store) as opened:
        print_chosen_experiments(opened, experiments)
        measures = MeasureConfig(by=by or "", judged_by=judged_by, where=where, how=how, **money_settings(given))
        config = ReportConfig(
            illustrative=bool(illustrative), pages=pages is not False, measures=measures, app=app or ""
        )
        board = board_and_site(opened, experiments, Path(out) if out else None, config)
    index = str(Path(out).resolve() / "index.html") if out else None
    if as_json:
        say_json({**board.plain(), "report": index})
        return
    print_board(board, console())
    if index:
        click.echo(f"report: {index}\n  next: open it in a browser, as in xdg-open {shlex.quote(str(index))}")
    else:
        asked = shlex.join([*experiments, *(["--store", store] if store else [])])
        click.echo(f"  next: {' '.join(filter(None, ['worksample report', asked]))} --out report   (writes the site)")
