"""`worksample workplace audit`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from worksample.cli.output import bounded, console, json_option, price_option, say_json, table

if TYPE_CHECKING:
    from worksample.workplace.colleagues.colleague_audit import ColleagueAudit
    from worksample.workplace.colleagues.profile import Colleague
    from worksample.workplace.colleagues.responders import ColleagueResponder


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
def command(
    folder: Path, model: str | None, repeats: int | None, prices: tuple[str, ...] | None, as_json: bool | None
) -> int:
    """Check that a company's colleagues tell what they should, only when asked, and keep their secrets.

    FOLDER holds company.toml and colleagues/. Exit code 1 if a fault is found.
    """
    from worksample.cli.service_options import price_of
    from worksample.errors import UsageError
    from worksample.models import ModelService, read_prices
    from worksample.workplace.colleagues.responders import ModelResponder, RuleResponder
    from worksample.workplace.company_reader import read_company

    company = read_company(folder)
    paid = read_prices(dict(price_of(text) for text in prices or ()), "--price")
    by: ColleagueResponder = ModelResponder(model, ModelService(prices=paid)) if model else RuleResponder()
    asked = [one for one in company.colleagues if model or one.backing == "rules"]
    if not asked:
        left = f"; {len(company.colleagues)} need --model" if company.colleagues else ""
        raise UsageError(
            f"no colleague here answers by rules{left}", where=str(folder),
            next="worksample workplace audit FOLDER --model PROVIDER/MODEL",
        )  # fmt: skip
    done = asyncio.run(_audited(asked, by, repeats or 3))
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
            cost = bounded(used.cost, int(used.without_price), most, full_price=used.cached_as_input > 0)
            took = f"; {used.calls} model calls, {cost}"
        click.echo(f"{done.asked} questions to {len(asked)} colleagues: {len(rows)} faults{took}")
    return 1 if done.findings else 0


async def _audited(colleagues: list[Colleague], by: ColleagueResponder, repeats: int) -> ColleagueAudit:
    from rich.progress import Progress

    from worksample.workplace.colleagues.colleague_audit import audit

    with Progress(console=console(err=True), transient=True) as shown:
        task = shown.add_task("asking", total=len(colleagues))
        return await audit(colleagues, lambda _: by, repeats=repeats, on_done=lambda _: shown.advance(task))
