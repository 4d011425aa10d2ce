"""Commands `worksample workplace ...`: a simulated company for people: install, check, start, reset and stop it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from worksample.cli.output import console, cost_range, duration, json_option, price_option, printable, say_json, table

if TYPE_CHECKING:
    from worksample.workplace.colleagues.colleague_audit import ColleagueAudit
    from worksample.workplace.colleagues.colleague_profile import Colleague
    from worksample.workplace.colleagues.responders import ColleagueResponder


@click.command("install")
def install_command() -> int:
    """Install the programs of a workplace's services on this machine.

    Installs Debian packages with apt-get, as root or by sudo without a password. Redmine's files are taken from its
    package, which is not itself installed. Needs the extra `workplace`.
    """
    from worksample.workplace.install import install_programs
    from worksample.workplace.service_programs import SERVICES

    brought = install_programs(SERVICES)
    click.echo(printable(f"installed {', '.join(brought)}" if brought else "everything is here"))
    return 0


@click.command("check")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--start", is_flag=True, default=None, help="Also load the company into its services, start them and reset them."
)
def check_command(folder: Path, start: bool | None) -> int:
    """Read a company's folder, and list everything wrong with it.

    FOLDER holds company.toml; docs/reference/workplace.md says what else it holds.
    """
    from worksample.workplace.company_reader import read_company

    company = read_company(folder)
    issues = sum(len(project.issue) for project in company.projects)
    messages = sum(len(channel.message) for channel in company.channels.values())
    click.echo(
        printable(
            f"{company.name}: {len(company.person)} people, {messages} messages in {len(company.channels)} channels, "
            f"{issues} issues in {len(company.projects)} projects, {len(company.repositories)} repositories"
        )
    )
    if start:
        for what, seconds in _time_start(folder):
            click.echo(f"  {what:8} {seconds:6.2f} s")
    return 0


def _time_start(folder: Path) -> list[tuple[str, float]]:
    """Return the names and the durations in seconds of the steps of a start: making the seed, starting, and
    resetting.
    """
    from worksample.sandboxes.services import open_services
    from worksample.tasks.workplace_settings import PORTS
    from worksample.workplace.workplace import reset_services, seed_of_folder, services_box, workplace_over_state

    begun = time.monotonic()
    seed = seed_of_folder(folder, tuple(PORTS))
    took = [("seed", time.monotonic() - begun)]

    async def stand() -> None:
        begun = time.monotonic()
        workplace = workplace_over_state(tuple(PORTS), seed.state, "check", accounts=seed.accounts)
        async with open_services((workplace.box,), "bubblewrap") as services:
            took.append(("start", time.monotonic() - begun))
            took.append(("reset", await reset_services(services_box(services))))

    asyncio.run(stand())
    return took


@click.command("audit")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--model", default=None, metavar="NAME", help="Let this model play all colleagues, whatever their files say."
)
@click.option(
    "--repeats", type=click.IntRange(1, 100), default=None, help="How often each question is asked; default: 3."
)
@price_option()
@json_option
def audit_command(
    folder: Path, model: str | None, repeats: int | None, prices: tuple[str, ...] | None, as_json: bool | None
) -> int:
    """Check that a company's colleagues tell what they should, only if asked, and keep their secrets.

    FOLDER holds company.toml and colleagues/. Exit code 1 if a fault is found.
    """
    from worksample.cli.service_options import price_of
    from worksample.errors import UsageError
    from worksample.models import ModelService, read_prices
    from worksample.workplace.colleagues.responders import ModelResponder, RuleResponder
    from worksample.workplace.company_reader import read_company

    company = read_company(folder)
    paid = read_prices(dict(price_of(text) for text in prices or ()), "--price")
    by: ColleagueResponder = ModelResponder(model, ModelService(prices=paid, retries=0)) if model else RuleResponder()
    asked = [one for one in company.colleagues if model or one.backing == "rules"]
    if not asked:
        left = f"; {len(company.colleagues)} need --model" if company.colleagues else ""
        raise UsageError(
            f"this company has no colleague that answers by rules, without a model{left}", where=str(folder),
            next="worksample workplace audit FOLDER --model PROVIDER/MODEL",
        )  # fmt: skip
    done = asyncio.run(_audit_colleagues(asked, by, repeats or 3))
    if as_json:
        say_json(
            {
                "colleagues": [one.id for one in asked],
                "questions": done.asked,
                "faults": [
                    {"colleague": f.colleague, "fault": f.fault.value, "about": f.about, "asked": f.asked,
                     "answered": f.answered} for f in done.findings
                ],
                "usage": done.usage.plain() if done.usage else None,
            }
        )  # fmt: skip
    else:
        rows = [(f.colleague, f.fault.value, f.about, f.asked, f.answered[:200]) for f in done.findings]
        if rows:
            table("", ("colleague", "fault", "about", "asked", "answered"), rows)
        took = ""
        if (used := done.usage) is not None:
            most = None if used.priced else used.cost_at_most
            cost = cost_range(used.cost, int(used.without_price), most, full_price=used.cached_as_input > 0)
            took = f"; {used.calls} model calls, {cost}"
        click.echo(f"{done.asked} questions to {len(asked)} colleagues: {len(rows)} faults{took}")
    return 1 if done.findings else 0


async def _audit_colleagues(colleagues: list[Colleague], by: ColleagueResponder, repeats: int) -> ColleagueAudit:
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from worksample.workplace.colleagues.colleague_audit import AuditProgress, audit

    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console(err=True), transient=True) as shown:
        task = shown.add_task("asking colleagues", total=len(colleagues))

        def on_wait(fault: str, seconds: float) -> None:
            shown.console.print(printable(f"the service does not answer ({fault[:120]}): next try in {seconds:.0f} s"))

        progress = AuditProgress(
            on_done=lambda _: shown.advance(task),
            on_asked=lambda one, asked: shown.update(task, description=f"asking {one.id}: question {asked}"),
            on_wait=on_wait,
        )
        return await audit(colleagues, lambda _: by, repeats=repeats, progress=progress)


@click.command("up")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", default=None, metavar="NAME", help="A name for this workplace; default: company.")
@click.option("--services", metavar="A,B", default=None, help="The services to start; default: all.")
@click.option(
    "--colleagues",
    metavar="MODEL",
    default=None,
    help="Let this model play the colleagues, so that they answer in the chat; `rules`: those who answer by rules.",
)
@json_option
def up_command(
    folder: Path, name: str | None, services: str | None, colleagues: str | None, as_json: bool | None
) -> int:
    """Start a company's services and keep them running, for people and their browsers.

    FOLDER holds company.toml, or was written by worksample workplace export. Only this machine can reach the services.
    """
    from worksample.errors import UsageError
    from worksample.tasks.workplace_settings import PORTS
    from worksample.workplace.running_workplaces import USUAL, start

    name = name or USUAL
    names = tuple(dict.fromkeys((services or ",".join(PORTS)).split(",")))
    if strange := [one for one in names if one not in PORTS]:
        raise UsageError(
            f"there is no service {strange[0]!r}; there are: {', '.join(PORTS)}", where="--services",
            next=f"--services {','.join(PORTS)}",
        )  # fmt: skip
    said = start(folder, names, name, colleagues or "")
    if as_json:
        say_json(said)
        return 0
    for service, address in said["addresses"].items():
        click.echo(f"{service:9} {address}")
    if "chat" in said["addresses"]:
        answer = said.get("colleagues")
        how = f"{len(answer['people'])} answer, played by {answer['by']}" if answer else (
            "nobody answers (--colleagues rules, or --colleagues PROVIDER/MODEL, lets them)"
        )  # fmt: skip
        click.echo(printable(f"{'people':9} {how}"))
    click.echo(printable(f"next: worksample workplace open --name {name}"))
    return 0


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
def open_command(
    service: str | None, name: str | None, person: str | None, browser: bool | None, as_json: bool | None
) -> int:
    """Open a service of a running workplace in the browser, and say which account to use."""
    from worksample.app.server.http_server import open_browser
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
        open_browser(addresses[service])
    return 0


@click.command("status")
@json_option
def status_command(as_json: bool | None) -> int:
    """List the workplaces that are running on this machine, with their addresses."""
    from worksample.workplace.running_workplaces import list_running

    found = list(list_running())
    if as_json:
        say_json(found)
        return 0
    rows = [
        (one["name"], one["from"], duration(time.time() - one["since"]), " ".join(one["addresses"].values()),
         _colleagues_text(one.get("colleagues")))
        for one in found
    ]  # fmt: skip
    table("", ("name", "from", "running for", "addresses", "colleagues"), rows)
    return 0


def _colleagues_text(status: dict[str, Any] | None) -> str:
    """Return what a workplace's colleagues have done, as text."""
    if status is None:
        return "do not answer"
    fault = f", {status['failed']} failed: {status['last_fault'][:100]}" if status["failed"] else ""
    return f"{status['by']}: {status['answered']} answers{fault}"


@click.command("reset")
@click.option("--name", default=None, metavar="NAME", help="The workplace's name; default: company.")
def reset_command(name: str | None) -> int:
    """Reset every service of a running workplace to the state it began with."""
    from worksample.workplace.running_workplaces import USUAL, send_command

    name = name or USUAL
    click.echo(f"{name} was reset in {send_command(name, 'reset')['seconds']:.2f} s")
    return 0


@click.command("export")
@click.argument("to", type=click.Path(path_type=Path))
@click.option("--name", default=None, metavar="NAME", help="The workplace's name; default: company.")
def export_command(to: Path, name: str | None) -> int:
    """Write the state of a running workplace to a folder, from which another workplace can start.

    TO also holds everybody's password; only you can read it.
    """
    from worksample.workplace.running_workplaces import USUAL, send_command

    done = send_command(name or USUAL, "export", to=str(to.absolute()))
    click.echo(printable(f"{done['files']} files in {to}"))
    return 0


@click.command("down")
@click.option("--name", default=None, metavar="NAME", help="The workplace's name; default: company.")
def down_command(name: str | None) -> int:
    """Stop a running workplace. Everything done in it is lost unless you exported it."""
    from worksample.workplace.running_workplaces import USUAL, stop

    name = name or USUAL
    stop(name)
    click.echo(f"{name} is down")
    return 0


@click.command("seeds")
@json_option
def seeds_command(as_json: bool | None) -> int:
    """List the seeds on this machine, with their size on disk and their last use.

    A seed is the state of services with a company loaded; workplaces start from it. An outdated seed was made by
    another version of the services or of worksample, so no workplace starts from it again.
    """
    from dataclasses import asdict

    from worksample.workplace.seed_cache import list_seeds

    found = list_seeds()
    if as_json:
        say_json([asdict(one) for one in found])
        return 0
    rows = [
        (
            one.id[:16],
            one.company or "-",
            " ".join(one.services) or "-",
            f"{one.bytes / 1e6:,.1f} MB",
            f"{duration(max(0.0, time.time() - one.used))} ago",
            "in use" if one.in_use else "outdated" if one.outdated else "",
        )
        for one in found
    ]
    table("", ("seed", "company", "services", "on disk", "last used", ""), rows)
    if rows:
        click.echo(f"together {sum(one.bytes for one in found) / 1e6:,.1f} MB")
    return 0


UNUSED_DAYS = 30.0
"""Default number of days after which a seed that was not used is removed."""


@click.command("prune")
@click.argument("seeds", nargs=-1, metavar="[SEED]...")
@click.option(
    "--unused-for", "days", type=click.FloatRange(min=0), default=None, metavar="DAYS",
    help="Remove seeds that no workplace started from for this many days; default: 30.",
)  # fmt: skip
@click.option(
    "--outdated",
    is_flag=True,
    default=None,
    help="Also remove seeds of other versions of the services or of worksample.",
)
@click.option("--dry-run", is_flag=True, default=None, help="Show what would be removed, and remove nothing.")
@json_option
def prune_command(
    seeds: tuple[str, ...], days: float | None, outdated: bool | None, dry_run: bool | None, as_json: bool | None
) -> int:
    """Remove seeds that no workplace used for 30 days, or those whose ids begin with SEED.

    A seed that a running workplace uses cannot be removed. If a removed seed is needed again, it is made again, which
    takes about half a minute.
    """
    from worksample.errors import UsageError
    from worksample.workplace.seed_cache import find_seed, remove_orphans, remove_seed, unused_seeds

    days = UNUSED_DAYS if days is None else days
    wanted = tuple(find_seed(one) for one in seeds) if seeds else unused_seeds(days, outdated=bool(outdated))
    if busy := [one for one in wanted if one.in_use]:
        raise UsageError(f"a running workplace uses the seed {busy[0].id[:16]}", next="worksample workplace status")
    gone = []
    for one in wanted:
        if dry_run or remove_seed(one, unless_used_after=None if seeds else one.used):
            gone.append(one)
            if not as_json:
                word = "would remove" if dry_run else "removed"
                click.echo(printable(f"{word} {one.id[:16]} ({one.company or '-'}), {one.bytes / 1e6:,.1f} MB"))
    if not dry_run:
        remove_orphans()
    if as_json:
        say_json([{"id": one.id, "company": one.company, "bytes": one.bytes} for one in gone])
    elif not gone:
        click.echo("nothing to remove")
    return 0
