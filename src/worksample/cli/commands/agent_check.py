"""`worksample agent check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from worksample.cli.exit_codes import FAILED
from worksample.cli.output import duration, json_option, say_json, table
from worksample.cli.service_options import service_options

if TYPE_CHECKING:
    from worksample.experiments.agent_check import AgentCheckResult


@click.command("check")
@click.argument("names", nargs=-1, required=True, metavar="NAME[@VERSION]...")
@click.option(
    "--model", default=None, metavar="PROVIDER/MODEL", help="The model that answers; default: a scripted one."
)
@service_options
@json_option
def command(names: tuple[str, ...], model: str | None, as_json: bool | None, **values: Any) -> int:
    """Let installed agents answer with one line from inside a sandbox, over its connection to a model.

    An agent passes if the line that its model was asked for is in its output or its log. Without --model this costs
    nothing: a scripted model on this machine answers. Also says whether the program's files are unchanged since it was
    installed. Exit code 1 if an agent does not work.
    """
    from worksample.cli.run_options import flags_of
    from worksample.experiments.agent_check import check_agents
    from worksample.experiments.config_file import load

    flags = flags_of({k: v for k, v in values.items() if v is not None})
    config = load(None, {"suite": "starter", "agents": [{"harness": "worker"}], **flags})
    found = check_agents(names, model, config)
    if as_json:
        say_json([one.plain() for one in found])
    else:
        _show(found)
    return 0 if all(one.sound for one in found) else FAILED


def _show(found: tuple[AgentCheckResult, ...]) -> None:
    sound = {True: "ok", False: "FAULT"}
    rows = [
        (one.agent, one.version, sound[one.sound], one.fault or one.said, one.calls, duration(one.seconds))
        for one in found
    ]  # fmt: skip
    table("", ("agent", "version", "", "what it said", "calls", "time"), rows)
