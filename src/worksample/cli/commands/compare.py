"""`worksample compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from worksample.cli.ambiguous_experiments import print_resolved_names
from worksample.cli.figure_options import interval_options, judged_by_option, resampling, where_option
from worksample.cli.output import json_option, open_store, printable, say_json, store_option, table

from .metrics import figure_text

if TYPE_CHECKING:
    from worksample.metrics import Estimate
    from worksample.records import JudgedBy
    from worksample.reports.sections import Comparison
    from worksample.results.subset import Subset

SHORT = 70


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option("--experiment", default=None, help="The experiment of both agents: name or id; default: the latest.")
@click.option("--all", "everything", is_flag=True, default=None, help="Also show the instances that did not change.")
@click.option(
    "--margin",
    type=float,
    default=None,
    metavar="POINTS",
    help="Say whether B passes less often by at most this many points (non-inferiority), such as 5.",
)
@click.option(
    "--by",
    type=click.Choice(["category", "tier", "platform", "domain", "cohort"]),
    default=None,
    help="Also show the difference by this, corrected for the number of parts.",
)
@click.option("--with-struck", is_flag=True, default=None, help="Also count records that an integrity review struck.")
@judged_by_option
@where_option
@interval_options
@store_option
@json_option
def command(
    a: str,
    b: str,
    experiment: str | None,
    everything: bool | None,
    margin: float | None,
    by: str | None,
    with_struck: bool | None,
    judged_by: JudgedBy | None,
    where: Subset,
    store: str | None,
    as_json: bool | None,
    **how: Any,
) -> None:
    """Compare two agents on the same work: the paired difference, and what changed task by task.

    A and B are agents of one experiment, or experiments with one agent each, or EXPERIMENT:AGENT. The
    difference is B minus A: above 0, B is better. --margin also says whether B is worse by no more than that.
    Experiments whose locks differ (instances, environment models, protocol) are refused.
    """
    from worksample.records import Experiment
    from worksample.reports.sections import MeasureConfig, compare

    config = MeasureConfig(by or "", struck=not with_struck, how=resampling(how), judged_by=judged_by, where=where)
    with open_store(store) as opened:
        share = None if margin is None else margin / 100
        found = compare(opened, a, b, config, experiment=experiment or "", margin=share)
        homes = [opened.get(Experiment, id) for id in dict.fromkeys(found.experiments)]
        print_resolved_names(opened, homes, [experiment or "", *(side.partition(":")[0] for side in (a, b))])
    say_json(found.plain()) if as_json else _show(found, everything=bool(everything))


def _show(found: Comparison, *, everything: bool) -> None:
    click.secho(printable(f"{found.second} minus {found.first}, protocol {found.protocol}"), bold=True)
    for name, estimate in (("score", found.score), ("full pass", found.passed)):
        click.echo(printable(f"  {name}: {figure_text(estimate)}{_in_brackets(estimate.reason)}"))
    if found.not_worse is not None:
        click.echo(printable(f"  {_not_worse(found.not_worse, 1 - (1 - (found.passed.level or 0.95)) / 2)}"))
    p = found.sign_test
    said = f"p = {p.value:.3g}" if p.value is not None else p.reason
    click.echo(f"  sign test over tasks: {said} ({p.counts.special.get('better', 0)} better, "
               f"{p.counts.special.get('worse', 0)} worse)")  # fmt: skip
    for note in (*found.notes, *found.score.notes):
        click.echo(printable(f"  {note}"))
    if found.parts:
        _parts(found)
    shown = [c for c in found.changes if everything or c.change != "same"]
    if shown:
        rows = [(c.instance, _score(c.first), _score(c.second), c.change, _short(c.first_why), _short(c.second_why))
                for c in shown]  # fmt: skip
        columns = ("instance", found.first, found.second, "change", f"why {found.first}", f"why {found.second}")
        table("", tuple(printable(c) for c in columns), rows, right=columns[1:3])
    same = len(found.changes) - len(shown)
    if same:
        click.echo(f"{same} instances did not change (--all shows them)")


def _parts(found: Comparison) -> None:
    rows = [
        (p.group, figure_text(p.score), figure_text(p.passed), "–" if p.holm is None else f"{p.holm:.3g}")
        for p in found.parts
    ]
    columns = ("part", "score", "full pass", "p (Holm)")
    table("", columns, [tuple(printable(cell) for cell in row) for row in rows], right=columns[1:])


def _not_worse(e: Estimate, needed: float) -> str:
    """Return a line that says whether B is not worse than A by more than the margin, such as `not worse by 5.0 points:
    shown (99.2 %, 97.5 % is needed)`.
    """
    if e.value is None:
        return f"{e.name}: {e.reason}"
    holds = "shown" if e.value >= needed else "not shown"
    return f"full pass {e.name}: {holds} (probability {100 * e.value:.1f} %, {100 * needed:.4g} % is needed)"


def _in_brackets(reason: str) -> str:
    return f" ({reason})" if reason else ""


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[: SHORT - 1]}…"
