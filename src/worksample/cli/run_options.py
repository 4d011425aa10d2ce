"""Options of `worksample run`. No option has a default value, so an option that is left out does not replace a value in
the experiment file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from worksample.errors import UsageError

from .output import price_option
from .service_options import pair_of, price_of, service_options, take_services

NOBODY = "none"
"""Value of `--agent` for an experiment without agents, in which all work is handed in."""
F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = (
    click.option("--suite", default=None, metavar="NAME|FILE", help="A shipped suite, or a suite file."),
    click.option(
        "--task", "tasks", multiple=True, default=None, metavar="DIR", help="A task package's folder. Repeatable."
    ),
    click.option(
        "--only",
        multiple=True,
        default=None,
        metavar="PATTERN",
        help="Use only the instances TASK or TASK/INSTANCE that match; * matches anything. Repeatable.",
    ),
    click.option(
        "--agent",
        "agents",
        multiple=True,
        default=None,
        metavar="NAME|FILE",
        help="A harness (scripted, worker, plan-act-reflect, command, or one of `worksample agent list`), a preset "
        "(rli, upbench, ale, tac), or a file with one agent's table. Repeatable. none: no agent works; you hand "
        "in all work.",
    ),
    click.option(
        "--model",
        "models",
        multiple=True,
        default=None,
        metavar="PROVIDER/MODEL",
        help="The model of every agent, as Inspect names it. Repeatable: every agent with every model.",
    ),
    click.option("--script", default=None, metavar="DIR", help="The folder with the scripted agents' scripts."),
    click.option("--name", default=None, help="The experiment's name."),
    click.option("--repeats", type=int, default=None, help="Independent trials per agent and instance."),
    click.option("--limit-time", default=None, metavar="TIME", help="Per trial: seconds, or as in 30m or 1h30m."),
    click.option("--limit-cost", type=float, default=None, metavar="USD", help="Per trial; the model needs a price."),
    click.option("--limit-tokens", type=int, default=None, help="Per trial."),
    click.option("--limit-steps", type=int, default=None, help="Per trial: calls of the model."),
    click.option("--parallel", type=int, default=None, help="Trials at once."),
    click.option("--graders", type=int, default=None, help="Submissions graded at once."),
    click.option(
        "--tries", type=int, default=None, help="Tries per slot if the platform, the sandbox or a service fails."
    ),
    click.option("--seed", type=int, default=None, help="Decides the order in which slots run."),
    click.option(
        "--protocol",
        "protocols",
        multiple=True,
        default=None,
        metavar="PROTOCOL",
        help="program, checkpoints, rubric, holistic or pairwise; default: the packages' own. Repeatable: lists "
        "and leaderboards show the first.",
    ),
    click.option(
        "--pay",
        type=float,
        default=None,
        metavar="USD",
        help="US dollars per hour of people who judge; used by --dry-run.",
    ),
    click.option(
        "--role",
        "roles",
        multiple=True,
        default=None,
        metavar="ROLE=MODEL",
        help="A model that belongs to the environment. Repeatable.",
    ),
    price_option(),
    click.option(
        "--check-models/--no-check-models",
        default=None,
        help="Ask each agent's model once before the first trial, or skip that; default: ask.",
    ),
    click.option("--sandbox", default=None, metavar="KIND", help="The kind of sandbox: bubblewrap, docker or none."),
    click.option(
        "--unsandboxed",
        is_flag=True,
        default=None,
        help="Run without any isolation: agents act on this machine as you. Every report says so.",
    ),
    click.option(
        "--allow-host",
        "allow_hosts",
        multiple=True,
        default=None,
        metavar="NAME[:PORT]",
        help="A host that tasks' endpoints may reach; *.NAME for all names below it. Repeatable.",
    ),
    click.option("--author", default=None, help="Who runs it; default: $WORKSAMPLE_AUTHOR, else the account's name."),
)


def run_options(function: F) -> F:
    """Add all options of `worksample run` to a command."""
    function = service_options(function)
    for option in reversed(OPTIONS):
        function = option(function)
    return function


def flags_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the given options to keys of an experiment file. Raises UsageError if the options contradict each
    other.
    """
    from worksample.experiments.config_file import agent_from_flag

    given = {k: v for k, v in values.items() if v is not None and v != ()}
    if given.pop("unsandboxed", None):
        if "sandbox" in given:
            raise UsageError("--sandbox and --unsandboxed contradict each other", next="leave out one of them")
        given["sandbox"] = "none"
    limits = {k: given.pop(f"limit_{k}") for k in ("time", "cost", "tokens", "steps") if f"limit_{k}" in given}
    if limits:
        given["limits"] = limits
    take_services(given)
    if "pay" in given:
        given["people"] = {"pay": given.pop("pay")}
    if "agents" in given:
        if NOBODY in given["agents"] and (len(given["agents"]) > 1 or "models" in given):
            raise UsageError(
                "--agent none means that no agent works, so other agents and --model contradict it",
                next="leave out --agent none, or the other agents and --model",
            )
        given["agents"] = [agent_from_flag(text) for text in given["agents"] if text != NOBODY]
    if "roles" in given:
        given["roles"] = dict(pair_of(text, "--role", "judge=openai/gpt-5") for text in given["roles"])
    if "prices" in given:
        given["prices"] = dict(price_of(text) for text in given["prices"])
    return given
