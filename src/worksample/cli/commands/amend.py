"""`worksample amend`: strike or restore a record, or adopt a round; the record itself does not change."""

from __future__ import annotations

import click

from worksample.cli.output import json_option, open_store, say_json, store_option

TARGETS = ("trial", "submission", "evaluation", "evaluator", "instance", "round")


@click.command("amend")
@click.argument("action", type=click.Choice(["strike", "restore", "adopt"]))
@click.argument("target", type=click.Choice(TARGETS))
@click.argument("id")
@click.option("--reason", required=True, help="Why you amend; kept with the amendment and shown in reports.")
@click.option("--author", default=None, help="Who amends; default: $WORKSAMPLE_AUTHOR, else the account's name.")
@store_option
@json_option
def command(
    action: str, target: str, id: str, reason: str, author: str | None, store: str | None, as_json: bool | None
) -> None:
    """Strike or restore a trial, submission, evaluation, evaluator, instance or round, or adopt a round.

    A struck record no longer counts in any figure or verdict, but nothing is deleted. If a record has several
    amendments, the latest one counts. If you strike a trial, its slot opens again; if you strike an evaluation,
    somebody else is asked.

    An adopted round decides the verdicts from now on. Adopt a round of `worksample grade` that was held back because it
    would take verdicts away, or adopt an earlier round to go back to it.
    """
    from worksample.experiments.strike_and_restore import amend
    from worksample.people.struck_records import update_queue

    with open_store(store) as opened:
        amendment = amend(opened, action=action, target=target, id=id, reason=reason, author=author)
        update_queue(opened, amendment)
    if as_json:
        say_json(amendment.plain())
    else:
        click.echo(f"{action} {target} {id}: {reason}")
