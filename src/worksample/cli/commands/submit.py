"""`worksample submit`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from worksample.cli.exit_codes import INCOMPLETE
from worksample.cli.output import (
    dates_option,
    decimal_option,
    json_option,
    open_store,
    printable,
    say_json,
    sheet_option,
    store_option,
)
from worksample.errors import UsageError
from worksample.files.tables.numbers import readings, two_readings

if TYPE_CHECKING:
    from worksample.experiments.hand_in import HandedIn


class Amount(click.ParamType[float | str]):
    """Parameter type of the command line: a number that is not negative, or the word "unknown"."""

    name = "NUMBER|unknown"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        if value == "unknown" or isinstance(value, float):
            return value
        found = readings(str(value))
        if found.unclear:
            self.fail(f"{two_readings(str(value))}; write it without a thousands separator", param, ctx)
        number = -1.0 if found.only is None else found.only
        if not 0 <= number < float("inf"):
            self.fail(f"{value!r} is neither a number of 0 or more, nor the word unknown", param, ctx)
        return number


@click.command("submit")
@click.argument("path", required=False, type=click.Path(exists=True))
@click.option(
    "--table",
    default=None,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="A table of finished work (.csv, .jsonl, .parquet), a row for each piece;"
    " see docs/how-to/run-an-experiment.md.",
)
@click.option(
    "--experiment",
    default=None,
    metavar="NAME",
    help="Judge it in this experiment's rounds, once you resume the experiment.",
)
@click.option("--encoding", metavar="NAME", default=None, help="The table's encoding, if not UTF-8, such as cp1252.")
@decimal_option
@dates_option
@sheet_option
@click.option("--task", default=None, metavar="DIR", help="The task's package.")
@click.option("--instance", default=None, metavar="NAME", help="The task's instance; needed if the task has several.")
@click.option("--entrant", default=None, help="Who made it: the name of a person or of an agent.")
@click.option(
    "--origin",
    type=click.Choice(["person", "agent", "external"]),
    default=None,
    help="Who made it: a person, or an agent elsewhere; external means agent.",
)
@click.option(
    "--date", type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]), default=None, help="When; default: now."
)
@click.option("--minutes", type=Amount(), default=None, help="How long it took; default: unknown.")
@click.option("--cost", type=Amount(), default=None, help="What it cost, in US dollars; default: unknown.")
@click.option(
    "--repeat",
    type=click.IntRange(1),
    default=None,
    help="With --experiment: tells several pieces by one entrant on one instance apart; default: 1.",
)
@click.option("--grade/--no-grade", "graded", default=None, help="Grade it right away, or not; default: grade it.")
@click.option("--sandbox", default=None, metavar="KIND", help="The kind of sandbox of its grader; default: bubblewrap.")
@click.option("--author", default=None, help="Who hands it in; default: $WORKSAMPLE_AUTHOR, else the account's name.")
@store_option
@json_option
def command(
    as_json: bool | None, store: str | None, path: str | None, table: str | None, experiment: str | None,
    graded: bool | None, **given: object,
) -> int:  # fmt: skip
    """Hand in work that was made elsewhere: PATH is a folder or a zip with deliverables, --table a list of many.

    The whole table is checked before its first row is stored; the same command again stores missing rows. With
    --experiment, programs, judges and people judge the work together with the experiment's own, once you resume it.

    A cost or time that you leave out stays "unknown" and is never counted as 0. Files are treated as untrusted: links
    are not followed, and a zip that would fill the disk or leave its folder is refused.
    """
    _check_arguments(path, table, experiment, given)
    if table is not None:
        return _many(Path(table), store, experiment, given, graded=graded is not False, as_json=bool(as_json))
    return _submit_one(Path(str(path)), store, experiment, given, graded=graded is not False, as_json=bool(as_json))


def _submit_one(
    path: Path, store: str | None, experiment: str | None, given: dict[str, object], *, graded: bool, as_json: bool
) -> int:
    from worksample.experiments.experiment_lookup import find_experiment, short_name
    from worksample.experiments.hand_in import HandInRequest, hand_in_and_grade

    with open_store(store, create=experiment is None) as opened:
        found = find_experiment(opened, experiment, planned=True) if experiment else None
        what = HandInRequest(
            path=path,
            task=Path(str(given["task"])),
            instance=_text(given["instance"]),
            entrant=str(given["entrant"]),
            origin=str(given["origin"]),
            at=given["date"],  # type: ignore[arg-type]
            minutes=_known_facts(given["minutes"]),
            cost=_known_facts(given["cost"]),
            author=_text(given["author"]),
            experiment=found,
            repeat=int(str(given["repeat"] or 1)),
        )
        done = hand_in_and_grade(opened, what, grade_now=graded, sandbox=_text(given["sandbox"]) or "bubblewrap")
        name = short_name(opened, found) if found else ""
    if as_json:
        evaluation = done.evaluation.plain() if done.evaluation else None
        say_json({"submission": done.submission.plain(), "evaluation": evaluation, "taken": done.taken})
    else:
        _say(done)
        if found:
            _say_next(name, store)
        else:
            _print_next_for_lone_work(done, str(given["task"]), store, graded=graded)
    return INCOMPLETE if done.evaluation is not None and done.evaluation.payload is None else 0


def _say(done: HandedIn) -> None:
    from worksample.experiments.run_progress import grade_of

    part = done.submission.parts["output"]
    before = "" if done.taken else ", handed in before"
    click.echo(f"submission {done.submission.id}: {part.files} files, {part.size} bytes, {part.status}{before}")
    if part.reason:
        click.echo(f"  {part.reason}")
    if done.submission.note:
        click.echo(printable(f"  {done.submission.note}"))
    if done.evaluation:
        click.echo(f"  {grade_of(done.evaluation)}")


def _say_next(name: str, store: str | None) -> None:
    click.echo(f"  next: worksample resume {name}" + (f" --store {shlex.quote(store)}" if store else ""))


def _print_next_for_lone_work(done: HandedIn, task: str, store: str | None, *, graded: bool) -> None:
    """Print the next command for work that belongs to no experiment. The command shows the score of the work, or grades
    the work if it has no score.
    """
    place = f" --store {shlex.quote(store)}" if store else ""
    if done.evaluation is None and graded:
        click.echo("  no program grades this work: people or judges grade it in an experiment, and you named none")
        click.echo(f"  next: worksample run --task {shlex.quote(task)} --agent none --name NAME{place}")
        click.echo("        then this command again, with --experiment NAME")
    elif done.evaluation is None:
        click.echo(f"  next: worksample grade --submission {done.submission.id}{place}")
    else:
        click.echo(f"  next: worksample list --handed-in{place}")


def _check_arguments(path: str | None, table: str | None, experiment: str | None, given: dict[str, object]) -> None:
    """Check that the arguments describe either one submission or a table of many. Raises UsageError if they describe
    both or neither.
    """
    of_one = ("task", "instance", "entrant", "origin", "date", "minutes", "cost", "repeat")
    said = [f"--{name}" for name in of_one if given[name] is not None]
    if (path is None) == (table is None):
        raise UsageError(
            "give either PATH or --table",
            next="worksample submit --table FILE, or worksample submit PATH --task DIR --entrant NAME --origin ...",
        )
    if table is not None and said:
        raise UsageError(
            f"with --table, give these as columns of the table: {', '.join(said)}",
            next="worksample submit --table FILE",
        )
    of_many = [f"--{name}" for name in ("encoding", "decimal", "dates", "sheet") if given[name] is not None]
    if path is not None and of_many:
        raise UsageError(
            f"these options work only with --table: {', '.join(of_many)}", next="worksample submit --table FILE"
        )
    lacking = [f"--{name}" for name in ("task", "entrant", "origin") if given[name] is None]
    if path is not None and lacking:
        raise UsageError(
            f"PATH also needs {', '.join(lacking)}",
            next="worksample submit PATH --task FOLDER --entrant NAME --origin agent",
        )
    if path is not None and not str(given["entrant"]).strip():
        raise UsageError("--entrant is empty", next="--entrant NAME")
    if given["repeat"] is not None and experiment is None:
        raise UsageError(
            "--repeat works only with --experiment", next="worksample submit PATH --experiment NAME --repeat 2"
        )


def _many(
    table: Path, store: str | None, experiment: str | None, given: dict[str, object], *, graded: bool, as_json: bool
) -> int:
    from worksample.experiments.config import default_author
    from worksample.experiments.experiment_lookup import find_experiment, short_name
    from worksample.experiments.hand_in_from_table import HandInMany, hand_in_many
    from worksample.sandboxes import require_kind

    sandbox = _text(given["sandbox"]) or "bubblewrap"
    if graded and experiment is None:
        require_kind(sandbox)
    with open_store(store, create=experiment is None) as opened:
        found = find_experiment(opened, experiment, planned=True) if experiment else None
        author = _text(given["author"]) or default_author()
        what = HandInMany(
            table, found, author, sandbox=sandbox, encoding=_text(given["encoding"]) or "",
            decimal=_text(given["decimal"]) or "", dates=_text(given["dates"]) or "", sheet=_text(given["sheet"]) or "",
        )  # fmt: skip
        done = hand_in_many(opened, what, grade_now=graded)
        name = short_name(opened, found) if found else ""
    if as_json:
        counts = {"rows": len(done.submissions), "taken": done.taken, "graded": done.graded, "ungraded": done.ungraded}
        say_json({**counts, "submissions": [s.id for s in done.submissions], "rounds": [r.id for r in done.rounds]})
    else:
        click.echo(f"{len(done.submissions)} rows: {done.taken} taken in, {len(done.submissions) - done.taken} before")
        if done.rounds:
            click.echo(f"{done.graded} graded, {done.ungraded} ungraded")
        if found:
            _say_next(name, store)
    return INCOMPLETE if done.ungraded else 0


def _known_facts(value: object) -> float | None:
    return value if isinstance(value, float) else None


def _text(value: object) -> str | None:
    return None if value is None else str(value)
