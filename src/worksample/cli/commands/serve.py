"""`worksample serve`."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.output import json_option, open_store, say_json, store_option
from worksample.errors import UsageError


@click.command("serve")
@click.option(
    "--host", default=None, metavar="NAME",
    help="Name in the browser; v.NAME and *.c.NAME must lead to this server too. Default: ws.localhost.",
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(0, 65535), default=None,
    help="As the browser sees it; 0 takes a free one. Default: 8765, with https 443.",
)  # fmt: skip
@click.option(
    "--bind", default=None, metavar="ADDRESS[:PORT]",
    help="Where to listen; default: 127.0.0.1 and --port. 0.0.0.0 means all addresses.",
)  # fmt: skip
@click.option("--scheme", type=click.Choice(["http", "https"]), default=None, help="https behind a proxy with TLS.")
@click.option("--workers", type=click.IntRange(1, 64), default=None, help="Processes; default: 1.")
@click.option(
    "--judges", default=None, metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A TOML file with [judges.rubric], [prices], [services]: the model that suggests criteria to experts.",
)  # fmt: skip
@click.option("--create", is_flag=True, default=None, help="Create the store if it does not exist.")
@store_option
@json_option
def command(
    host: str | None,
    port: int | None,
    bind: str | None,
    scheme: str | None,
    workers: int | None,
    judges: Path | None,
    create: bool | None,
    store: str | None,
    as_json: bool | None,
) -> None:
    """Serve the review app to a team.

    If the store has no account yet, the command prints an invitation for an admin, who invites the others and opens
    rounds in the app. Several servers may share a store on PostgreSQL. docs/how-to/judge-with-people.md
    shows a proxy with TLS.
    """
    from worksample.extras import need

    need("review")
    from worksample.app import AppConfig, create_app
    from worksample.app.judging.answers_since_start import AnswerCounter
    from worksample.app.server.http_server import listen, serve, serve_many
    from worksample.people import People
    from worksample.people.access.account import Role

    usual = {"http": 8765, "https": 443}[scheme or "http"]
    config = AppConfig(
        host=host or AppConfig().host, port=usual if port is None else port, scheme=scheme or "http",
        judges=judges.resolve() if judges else None,
    )  # fmt: skip
    address, inner = _bind_of(bind, config.scheme)
    listening = listen(config, bind=address, port=inner)
    with open_store(store, create=bool(create)) as opened:
        people = People(opened)
        invitation = None
        if not people.accounts.all():
            invitation = listening.url(f"/invite#{people.accounts.invite([Role.ADMIN.value])}")

        def ready() -> None:
            if as_json:
                say_json({"url": listening.url(), "invitation": invitation})
                return
            click.echo(f"serving {opened.name} at {listening.url()}")
            if invitation:
                click.echo(f"  to become the admin, open {invitation}   (works once, for 7 days)")
            if listening.config.scheme == "http" and not listening.config.host.endswith(".localhost"):
                click.echo("  passwords and sessions cross the network in the clear: use --scheme https", err=True)
            click.echo("  stop with Ctrl-C")

        sitting = AnswerCounter.begin(opened)
        if (workers or 1) > 1:
            serve_many(opened.name, listening, workers or 1, ready)
        else:
            serve(create_app(opened, listening.config), listening, ready)
        if not as_json:
            given = f"{sitting.answers} {'answer' if sitting.answers == 1 else 'answers'}"
            click.echo(f"stopped: {given} handed in; worksample serve continues where people stopped")


def _bind_of(bind: str | None, scheme: str) -> tuple[str, int | None]:
    """Return the address and the port on which the server listens. The port is None if it is the port that browsers
    use.
    """
    if bind is None:
        # Behind a proxy, the port of the URL is the proxy's, so the server takes another one.
        return "127.0.0.1", 8765 if scheme == "https" else None
    address, colon, port = bind.rpartition(":")
    if not colon or (address.count(":") and not address.endswith("]")):
        return bind, 8765 if scheme == "https" else None
    if not port.isdigit() or int(port) > 65535:
        raise UsageError(
            f"the port in --bind {bind} is not a number from 0 to 65535", next="worksample serve --bind 127.0.0.1:8765"
        )
    return address.strip("[]") or "127.0.0.1", int(port)
