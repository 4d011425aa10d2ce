"""`worksample review`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from worksample.cli.next_step import count_of
from worksample.cli.output import json_option, open_store, say_json, store_option

if TYPE_CHECKING:
    from worksample.app.judging.answers_since_start import AnswerCounter
    from worksample.app.judging.personal_review import Review
    from worksample.people import People


@click.command("review")
@click.option("--experiment", default=None, metavar="NAME", help="Name or id; default: the newest.")
@click.option("--host", default=None, metavar="NAME", help="The host name in the browser; default: ws.localhost.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=None, help="Default: 8765, or a free one if that is in use."
)
@click.option(
    "--open/--no-open", "browser", default=None, help="Open the browser, or only print the link; default: open it."
)
@click.option("--name", default=None, metavar="NAME", help="The name you judge under; default: the account's.")
@click.option(
    "--alone", is_flag=True, default=None, help="Your vote alone decides; rounds that need more votes are left out."
)
@store_option
@json_option
def command(
    experiment: str | None,
    host: str | None,
    port: int | None,
    browser: bool | None,
    name: str | None,
    alone: bool | None,
    store: str | None,
    as_json: bool | None,
) -> None:
    """Judge an experiment's deliverables yourself, in the browser.

    Opens a round with one vote per deliverable if the experiment has none, prints a link that works once, and serves
    only this machine until Ctrl-C. You can invite others from the app; for a team, use worksample serve.
    """
    from worksample.extras import need

    need("review")
    from worksample.app import AppConfig, create_app
    from worksample.app.judging.answers_since_start import AnswerCounter
    from worksample.app.judging.personal_review import open_review
    from worksample.app.server.http_server import listen, open_browser, serve
    from worksample.experiments.config import default_author
    from worksample.people import People

    usual = AppConfig()
    config = AppConfig(host=host or usual.host, port=usual.port if port is None else port)
    with open_store(store) as opened:
        people = People(opened)
        review = open_review(people, name or default_author(), experiment, alone=bool(alone))
        listening = listen(config, free=port is None)
        link = listening.url(f"/link?round={review.round}#{people.accounts.one_time_link(review.account.name)}")

        def ready() -> None:
            if as_json:
                said = {"url": listening.url(), "link": link, "round": review.round, "left": review.left}
                said["votes"] = review.votes
                say_json({**said, "experiment": review.experiment.id})
            else:
                each = f", each by {review.votes} people (with --alone your vote decides)" * (review.votes > 1)
                click.echo(f"{count_of(review.left, 'deliverable')} of {review.experiment.name} to judge{each}")
                click.echo(f"  open {link}   (works once, for 15 minutes)")
                click.echo("  stop with Ctrl-C")
            if browser is not False and not as_json:
                open_browser(link)

        sitting = AnswerCounter.begin(opened, review.account)
        serve(create_app(opened, listening.config), listening, ready)
        if not as_json:
            _tell(people, review, sitting, store)


def _tell(people: People, review: Review, sitting: AnswerCounter, store: str | None) -> None:
    """Print what the person did in this session, what is left in the round, and the command to type next."""
    from worksample.app.judging.personal_review import items_left, items_left_elsewhere, items_wanting_votes
    from worksample.experiments.experiment_lookup import short_name

    left = items_left(people, review.account, review.round)
    skipped = f", {sitting.skips} skipped" if sitting.skips else ""
    asked = shlex.join([short_name(people.store, review.experiment), *(["--store", store] if store else [])])
    click.echo(f"{sitting.answers} {'answer' if sitting.answers == 1 else 'answers'} given{skipped}; {left} left")
    besides, of_others = items_left_elsewhere(people, review)
    if besides:
        what = "criteria that a judge may not decide, or labels of the judge's answers"
        click.echo(f"{besides} more in another round of the experiment: {what}")
    if left or besides:
        click.echo(f"  next: worksample review --experiment {asked}   (continues here)")
    others = items_wanting_votes(people, review.round)
    if not left and others and review.votes > 1:
        click.echo(f"{others} still wait for other people's votes; each needs {review.votes}")
        click.echo(f"  next: worksample review --experiment {asked} --alone   (your vote alone decides)")
        click.echo("  or invite others: worksample serve, then People in the app")
        return
    if of_others and not left:
        click.echo(f"{of_others} wait for somebody who has not yet judged them")
        click.echo(f"  next: worksample review --experiment {asked} --name SOMEBODY, or worksample serve")
    first = not (left or besides or of_others)
    click.echo(f"  {'next' if first else 'or'}: worksample metrics {asked}, worksample report {asked} --out report")
