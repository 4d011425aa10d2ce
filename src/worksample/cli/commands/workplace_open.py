"""`worksample workplace open`."""

from __future__ import annotations

import click

from worksample.cli.output import json_option, printable, say_json


@click.command("open")
@click.argument("service", required=False)
@click.option("--name", default=None, metavar="NAME", help="The workplace's name; default: company.")
@click.option(
    "--as", "person", default=None, metavar="PERSON", help="Whose account to use; default: the first person's."
)
@click.option(
    "--open/--no-open", "browser", default=None, help="Open the browser, or only print the address; default: open it."
)
@json_option
def command(
    service: str | None, name: str | None, person: str | None, browser: bool | None, as_json: bool | None
) -> int:
    """Open a service of a running workplace in the browser, and say which account to use."""
    from worksample.app.server.http_server import browse
    from worksample.errors import UsageError
    from worksample.workplace.running_workplaces import USUAL, send_command

    name, service = name or USUAL, service or "chat"
    addresses = send_command(name, "status")["addresses"]
    accounts = send_command(name, "accounts")["accounts"]
    if service not in addresses:
        raise UsageError(
            f"there is no service {service!r}; there are: {', '.join(addresses)}", where=name,
            next=f"worksample workplace open {next(iter(addresses))} --name {name}",
        )  # fmt: skip
    who = person or next(iter(accounts))
    if who not in accounts:
        raise UsageError(
            f"there is no account {who!r}; there are: {', '.join(accounts)}", where=name,
            next=f"worksample workplace open {service} --name {name} --as {next(iter(accounts))}",
        )  # fmt: skip
    if as_json:
        say_json({"address": addresses[service], "account": who, "password": accounts[who]})
        return 0
    click.echo(printable(f"{addresses[service]}   account {who}, password {accounts[who]}"))
    if browser is not False:
        browse(addresses[service])
    return 0
