"""`worksample submit`."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.exit_codes import INCOMPLETE
from worksample.cli.output import json_option, open_store, say_json, store_option
from worksample.errors import UsageError


class Amount(click.ParamType[float | str]):
    """A number of 0 or more, or the word "unknown"."""

    name = "NUMBER|unknown"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        if value == "unknown" or isinstance(value, float):
            return value
        try:
            number = float(str(value))
        except ValueError:
            number = -1.0
        if not 0 <= number < float("inf"):
            self.fail(f"{value!r} is neither a number of 0 or more nor the word unknown", param, ctx)
        return number


@click.command("submit")
@click.argument("path", type=click.Path(exists=True))
@click.option("--task", required=True, metavar="DIR", help="The task's package.")
@click.option("--instance", default=None, metavar="NAME", help="Its instance; needed where it has several.")
@click.option("--entrant", required=True, help="Who made it: the name of a person or of an agent.")
@click.option(
    "--origin", type=click.Choice(["person", "external"]), required=True, help="A person, or an agent elsewhere."
)
@click.option(
    "--date", type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]), default=None, help="When; default: now."
)
@click.option("--minutes", type=Amount(), default=None, help="How long it took; default: unknown.")
@click.option("--cost", type=Amount(), default=None, help="What it cost, in US dollars; default: unknown.")
@click.option("--grade/--no-grade", "graded", default=None, help="Grade it right away; by default it is.")
@click.option("--sandbox", default=None, metavar="KIND", help="Where it is graded; default: bubblewrap.")
@click.option("--author", default=None, help="Who hands it in; default: $WORKSAMPLE_AUTHOR, else the account's name.")
@store_option
@json_option
def command(as_json: bool | None, store: str | None, path: str, graded: bool | None, **given: object) -> int:
    """Hand in work made elsewhere: PATH is a folder or a zip with the deliverables.

    What is not known about it stays "unknown" and is never counted as 0. Files are taken in as hostile ones: links are
    not followed, and a zip that would fill the disk or leave its folder is refused.
    """
    from worksample.experiments.hand_in import HandIn, hand_in_and_grade

    what = HandIn(
        path=Path(path),
        task=Path(str(given["task"])),
        instance=_text(given["instance"]),
        entrant=str(given["entrant"]),
        origin=str(given["origin"]),
        at=given["date"],  # type: ignore[arg-type]
        minutes=_known(given["minutes"]),
        cost=_known(given["cost"]),
        author=_text(given["author"]),
    )
    if not what.entrant.strip():
        raise UsageError("--entrant is empty", next="--entrant NAME")
    with open_store(store, create=True) as opened:
        done = hand_in_and_grade(
            opened, what, grade_now=graded is not False, sandbox=_text(given["sandbox"]) or "bubblewrap"
        )
    if as_json:
        evaluation = done.evaluation.plain() if done.evaluation else None
        say_json({"submission": done.submission.plain(), "evaluation": evaluation})
    else:
        from worksample.cli.progress import grade_of

        part = done.submission.parts["output"]
        click.echo(f"submission {done.submission.id}: {part.files} files, {part.size} bytes, {part.status}")
        if part.reason:
            click.echo(f"  {part.reason}")
        if done.evaluation:
            click.echo(f"  {grade_of(done.evaluation)}")
    return INCOMPLETE if done.evaluation is not None and done.evaluation.payload is None else 0


def _known(value: object) -> float | None:
    return value if isinstance(value, float) else None


def _text(value: object) -> str | None:
    return None if value is None else str(value)
