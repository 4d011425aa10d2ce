"""`worksample grade`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from worksample.cli.ambiguous_experiments import print_latest_experiment
from worksample.cli.exit_codes import INCOMPLETE
from worksample.cli.output import json_option, open_store, say_json, store_option, table
from worksample.cli.service_options import judge_options, judging_flags
from worksample.experiments.run_progress import watcher

if TYPE_CHECKING:
    from worksample.experiments.regrade_pipeline import Regraded


@click.command("grade")
@click.argument("experiment", required=False, default=None)
@click.option(
    "--task", "tasks", multiple=True, default=None, metavar="DIR", type=click.Path(exists=True, file_okay=False),
    help="Grade this task only, with the package's grader as it is now. Repeatable.",
)  # fmt: skip
@click.option(
    "--submission", "submissions", multiple=True, default=None, metavar="ID", help="Grade this submission. Repeatable."
)
@click.option("--protocol", default=None, metavar="PROTOCOL", help="Default: the experiment's.")
@click.option(
    "--by",
    type=click.Choice(["program", "judge"]),
    default=None,
    help="The kind of evaluator that grades again; default: program.",
)
@click.option("--reason", default=None, help="Why you grade again; kept with the round.")
@click.option("--graders", type=click.IntRange(1), default=None, help="Submissions graded at once; default: 2.")
@click.option(
    "--sandbox", default=None, metavar="KIND", help="The kind of sandbox of graders; default: the experiment's."
)
@click.option("--author", default=None, help="Who grades; default: $WORKSAMPLE_AUTHOR, else the account's name.")
@judge_options
@store_option
@json_option
def command(experiment: str | None, store: str | None, as_json: bool | None, **given: Any) -> int:
    """Grade stored submissions again and show what changed.

    Opens a new round over the submissions of EXPERIMENT (name or id, by default the latest), or over those named with
    --submission. No agent runs again. At the end the new round takes effect, unless a submission would lose its
    verdict: then the earlier round stays in force. If it is killed, the same command continues its work.
    Graders ask the judges that the experiment was planned with, or those of --judge; with --by judge these judge again.
    Exit code 3 if a submission stays ungraded, or the earlier round stays in force.
    """
    from worksample.experiments.config import default_author
    from worksample.experiments.config_file import judging_of
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.experiments.experiment_runner import RunOptions
    from worksample.experiments.regrade_pipeline import Regrading, regrade
    from worksample.records import EvaluatorKind, Protocol

    flags = judging_flags(given)
    with open_store(store) as opened:
        named = given["submissions"]
        found = None if named else find_experiment(opened, experiment or "")
        if found is not None and not experiment:
            print_latest_experiment(found)
        asked = judging_of(found, flags)
        what = Regrading(
            experiment=found,
            submissions=tuple(named or ()),
            packages=tuple(Path(folder) for folder in given["tasks"] or ()),
            protocol=Protocol(given["protocol"])
            if given["protocol"]
            else found.lock.protocol
            if found
            else Protocol.PROGRAM,
            author=given["author"] or default_author(),
            reason=given["reason"] or "",
            by=EvaluatorKind(given["by"] or "program"),
            options=RunOptions(
                graders=given["graders"] or 2, judges=asked.judges, prices=asked.prices, services=asked.services
            ),
            sandbox=given["sandbox"] or (found.lock.sandbox if found else "bubblewrap"),
        )
        done = regrade(opened, what, watcher(silent=bool(as_json)))
    if as_json:
        before = done.before.id if done.before else None
        counts = {"graded": done.tally.graded, "ungraded": done.tally.ungraded}
        say_json(
            {
                "round": done.round.plain(),
                "before": before,
                "adopted": done.adopted,
                **counts,
                "changes": [asdict(c) for c in done.changes],
                "lost": list(done.lost),
            }
        )
    else:
        _show(done)
    return INCOMPLETE if done.tally.ungraded or not done.adopted else 0


def _show(done: Regraded) -> None:
    if done.changes:
        rows = [
            (
                c.entrant.partition("@")[0],
                c.instance.partition("@")[0],
                c.subject,
                _score(c.old),
                _score(c.new),
                first_lines(c.reasons),
            )
            for c in done.changes
        ]
        table("changed", ("entrant", "instance", "submission", "before", "after", "why"), rows)
    click.echo(
        f"round {done.round.id}: {done.tally.graded} graded, {done.tally.ungraded} ungraded, "
        f"{len(done.changes)} changed" + (f" compared with round {done.before.id}" if done.before else "")
    )
    if done.before is not None and not done.adopted:
        click.echo(
            f"not put in force: {len(done.lost)} submissions would lose their verdict, so round {done.before.id} still "
            "decides\n  next: fix what the reasons name and run the same command again; or put the round in force "
            f"anyway: worksample amend adopt round {done.round.id} --reason ..."
        )


def first_lines(reasons: Sequence[str]) -> str:
    """Return the first line of each reason. It says what failed and where. `--json` and the report have the whole
    traceback.
    """
    return "\n".join(reason.strip().partition("\n")[0] for reason in reasons)


def _score(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
