"""`worksample workplace check`."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import click

from worksample.cli.output import printable


@click.command("check")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--start", is_flag=True, default=None, help="Also load the company into its services, start them and reset them."
)
def command(folder: Path, start: bool | None) -> int:
    """Read a company's folder, and list everything wrong with it.

    FOLDER holds company.toml; docs/workplace.md says what else it holds.
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
        for what, seconds in _tried(folder):
            click.echo(f"  {what:8} {seconds:6.2f} s")
    return 0


def _tried(folder: Path) -> list[tuple[str, float]]:
    """What making its seed, starting and a reset took, in seconds."""
    from worksample.sandboxes.services import open_services
    from worksample.tasks.workplace import PORTS
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
