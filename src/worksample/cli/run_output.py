"""Output of `run`, `resume` and `demo`. It prints the plan, runs the experiment, and prints what is left and the next
command.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from worksample.experiments.run_progress import watcher
from worksample.extras import install_command
from worksample.python_api.experiment_run import options_of, plan_into_store

from .ambiguous_experiments import print_namesakes
from .exit_codes import INCOMPLETE, INTERRUPTED
from .human_slots_text import hours_text, paid_for
from .judging_forecast import judging_of, show_calibration, show_judging
from .next_step import count_of, next_step, typeable
from .output import console, dollars, duration, open_store, printable, say_json, table
from .startup_phase import KEPT, begin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from worksample.errors import WorksampleError
    from worksample.experiments.config import ExperimentConfig
    from worksample.experiments.experiment_runner import RunOptions, RunResult
    from worksample.experiments.model_check import ModelCheckResult
    from worksample.experiments.planning.experiment_plan import Plan
    from worksample.experiments.planning.plan_forecast import Forecast
    from worksample.experiments.planning.plan_progress import PlanProgress
    from worksample.experiments.power_basis import Basis
    from worksample.experiments.statistical_power import PowerOutlook
    from worksample.records import Experiment
    from worksample.store import Store

WARNING = "UNSANDBOXED: agents act on this machine as you, without any isolation. Every report says so."


def print_dry_run(
    config: ExperimentConfig, *, as_json: bool, expect: float | None = None, pilot: str | None = None
) -> int:
    """Print what would run, and what the store already has. No record is written, and a store is not required."""
    from worksample.experiments.planning.plan_preparation import forecast_of, prepare, require_unchanged
    from worksample.experiments.planning.plan_progress import progress_of
    from worksample.experiments.statistical_power import power_outlook
    from worksample.extras import lacks
    from worksample.store.location import is_store

    plan = prepare(config)
    with ExitStack() as opened:
        store = opened.enter_context(open_store(config.store)) if is_store(config.store) else None
        progress, rest = progress_of(plan, store)
        if store is not None:
            require_unchanged(store, plan)
            print_namesakes(store, plan.experiment)
        basis = _basis(store, config, expect, pilot)
    expected = forecast_of(rest, config)
    power = None if lacks("report") else power_outlook(plan, basis=basis)
    judging = judging_of(plan, config)
    refused = _refusal_of(plan, config)
    if as_json:
        told = [asdict(one) for one in judging]
        say_json(
            {
                **_plan_table(plan, expected),
                "judging": told,
                "standing": progress.plain(),
                "power": power and power.plain(),
                "refused": refused and {"what": refused.what, "next": refused.next},
            }
        )
        return 0
    _show_plan(plan, expected)
    show_judging(judging)
    show_calibration(plan)
    _show_progress(progress)
    if power is None:
        click.echo(f"power is not computed without the extra `report`\n  next: {install_command('report')}", err=True)
    else:
        _show_power(power)
    if refused:
        click.echo(printable(f"the run would be refused: {refused.what}\n  next: {refused.next}"), err=True)
    click.echo("dry run: nothing was run or written")
    return 0


def _refusal_of(plan: Plan, config: ExperimentConfig) -> WorksampleError | None:
    """Return the error with which the run would be refused because of a model: a missing package of the provider, a
    missing key, or wrong settings. Return None if no model is refused.
    """
    from worksample.errors import WorksampleError
    from worksample.experiments.model_check import need_models

    try:
        need_models(plan.inputs.agents, config)
    except WorksampleError as error:
        return error
    return None


def _basis(store: Store | None, config: ExperimentConfig, expect: float | None, pilot: str | None) -> Basis:
    """Return the basis of power calculations: the data of a pilot, or an assumed pass rate."""
    from worksample.errors import UsageError
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.experiments.power_basis import RATE, from_pilot, guessed_basis

    if not pilot:
        return guessed_basis(RATE if expect is None else expect)
    if store is None:
        raise UsageError(
            f"there is no store at {config.store} to read {pilot!r} from", next="worksample run ... --store DIR"
        )
    return from_pilot(store, find_experiment(store, pilot))


@dataclass(frozen=True)
class OutputMode:
    """Form of a run's output: JSON, text for people, or no output (`quiet`)."""

    as_json: bool = False
    quiet: bool = False
    hints: bool = True
    """If True, the output ends with the command to type next."""
    store: str | None = None
    """Value of `--store` as the user typed it. Printed commands repeat it."""

    @property
    def silent(self) -> bool:
        return self.as_json or self.quiet


def run_config(config: ExperimentConfig, mode: OutputMode) -> int:
    """Plan an experiment into its store, run it, and return the exit code."""
    from worksample.experiments.planning.plan_preparation import forecast_of
    from worksample.experiments.planning.plan_progress import progress_of

    begin("planning the trials", "no trial was started\n  next: run the same command again", silent=mode.silent)
    with plan_into_store(config, watcher(silent=mode.silent).note) as ready:
        if not mode.silent:
            progress, rest = progress_of(ready.plan, ready.store)
            _show_plan(ready.plan, forecast_of(rest, config))
            if ready.known:
                click.echo(f"{ready.plan.experiment.id} was planned before: continuing with its open slots", err=True)
                _show_progress(progress)
            print_model_warnings(ready.models)
        if not mode.quiet:
            print_namesakes(ready.store, ready.plan.experiment)
        return run_and_tell(ready.store, ready.plan.experiment, options_of(config), mode)


ESTIMATED = (
    "its service reports no usage, so tokens, costs, budgets and token limits are estimated from the text\n"
    "  next: let the service report usage (docs/how-to/choose-an-agent.md), then worksample model check"
)


def print_model_warnings(found: Sequence[ModelCheckResult]) -> None:
    """Print a warning for each checked model with a property that may harm the run."""
    for one in found:
        if one.estimated:
            click.echo(printable(f"{one.model}: {ESTIMATED}"), err=True)
        if one.fault:
            say = f"{one.model} did not answer; the run will try it again: {one.fault}"
        elif not one.answered.startswith("calls tools"):
            say = f"{one.model} {one.answered}: an agent that needs tools may fail (docs/how-to/choose-an-agent.md)"
        else:
            continue
        click.echo(printable(say), err=True)


def run_and_tell(store: Store, experiment: Experiment, options: RunOptions, mode: OutputMode) -> int:
    """Run an experiment, print its result, and return the exit code."""
    begin("starting the trials", KEPT, silent=mode.silent)
    from worksample.experiments.experiment_runner import run_experiment

    if experiment.lock.sandbox == "none" and not mode.quiet:
        console(err=True).print(WARNING, style="bold red")
    done = run_experiment(store, experiment, options, watcher(silent=mode.silent))
    begin("showing the results", "all results are in the store\n  next: worksample report", silent=True)
    if mode.as_json:
        say_json({**done.status.plain(), "interrupted": done.interrupted})
    elif not mode.quiet:
        _print_result(done, store, mode)
    begin("")
    if done.interrupted:
        return INTERRUPTED
    return 0 if done.status.complete else INCOMPLETE


def _print_result(done: RunResult, store: Store, mode: OutputMode) -> None:
    from worksample.extras import lacks
    from worksample.records import Experiment
    from worksample.reports import leaderboard, print_board
    from worksample.reports.open_slots import open_slot_reasons

    status = done.status
    if status.finished and lacks("report"):
        _show_counts(store, status.experiment)
    elif status.finished or (status.handed_in and not lacks("report")):
        print_board(leaderboard(store, [status.experiment]), console())
    said, next = next_step(done, store, mode.store)
    if said:
        click.echo(said)
    unrun = status.open > status.places and not status.finished
    reasons = open_slot_reasons(store, [store.get(Experiment, status.experiment)]) if unrun else ()
    for reason in reasons:
        click.echo(f"  {reason}")
    if mode.hints:
        click.echo(f"  next: {typeable(next)}")


def _show_counts(store: Store, experiment: str) -> None:
    """Print the counts of each agent. Used instead of the leaderboard if the extra `report` is not installed."""
    import polars as pl

    from worksample.results.slot_results import slots_df

    graded = pl.col("standing") == "decided"
    counts = (pl.len(), graded.sum().alias("graded"), (graded & pl.col("passed")).sum().alias("passed"))
    agents = slots_df(store, experiment).group_by("agent_name").agg(*counts, pl.col("score").mean()).sort("agent_name")
    rows = [
        (name, planned, graded_, passed, "none" if score is None else f"{score:.3f}")
        for name, planned, graded_, passed, score in agents.iter_rows()
    ]
    table("", ("agent", "planned", "graded", "passed", "mean score of graded"), rows)


def _show_plan(plan: Plan, expected: Forecast) -> None:
    from worksample.results.assignments.human_slots import pay_of

    m = plan.inputs
    own = [arm for arm in m.arms if arm.continues is None]
    out = console(err=True)
    out.print(f"{plan.experiment.id}", style="bold")
    if not m.agents:
        out.print(f"{count_of(len(m.instances), 'instance')}; no agent works: all work is handed in")
        return
    out.print(
        f"{count_of(len(m.agents), 'agent')} x {count_of(len(m.instances), 'instance')} x "
        f"{count_of(len(own), 'arm')} x "
        f"{count_of(m.repeats, 'repeat')} = {count_of(len(plan.slots), 'slot')}; {expected.trials} to run, "
        f"{expected.not_attemptable} not attemptable"
    )
    if expected.reattempts:
        more = count_of(len(m.arms) - len(own), "arm")
        out.print(f"  of them at most {count_of(expected.reattempts, 're-attempt')} of failed work, in {more} more")
    cost = "no cost limit (--limit-cost)" if expected.cost is None else dollars(expected.cost)
    if expected.seats:
        said = hours_text(expected.hours, pay_of(plan.experiment))
        out.print(f"of them {count_of(expected.seats, 'slot')} for people who work: {said}")
    time = "no time limit (--limit-time)" if expected.seconds is None else f"{duration(expected.seconds)} of time"
    out.print(f"at most: {time}, {cost}")
    if expected.cost:
        more = "one call per trial" if expected.beyond_budget is None else f"up to {dollars(expected.beyond_budget)}"
        out.print(f"  and {more} more: the call that exceeds a trial's budget is also paid")
    reasons = {(s.agent.partition("@")[0], s.instance.partition("@")[0], s.not_attemptable) for s in plan.slots}
    for agent, instance, reason in sorted(reasons):
        if reason:
            out.print(printable(f"not attemptable: {agent} on {instance}: {reason}"))


def _show_progress(progress: PlanProgress) -> None:
    if not progress.planned:
        return
    states = {
        "waiting for people": progress.waits_for_people,
        "waiting for a judge": progress.waits_for_judge,
        "ungraded": progress.ungraded,
    }
    rest = "".join(f", {number} of them {state}" for state, number in states.items() if number)
    console(err=True).print(
        f"done already: {progress.done} of {count_of(progress.planned, 'slot')}{rest}; open: {progress.open}"
    )


def _show_power(ahead: PowerOutlook) -> None:
    """Print the smallest difference between two agents that this plan can show, and how many tasks a small difference
    needs.
    """
    out = console(err=True)
    share = f"{ahead.aim.power:.0%} of the time"
    plan = f"{count_of(ahead.tasks, 'task')} x {count_of(ahead.repeats, 'repeat')}"
    seen = f"{plan} cannot show any difference between two agents: too few tasks" if ahead.detectable is None else (
        f"{plan} detects a difference of {100 * ahead.detectable:.0f} points between two agents {share}"
    )  # fmt: skip
    out.print(f"power: {seen}")
    ways = ", ".join(f"{tasks:,} tasks x {count_of(repeats, 'repeat')}" for repeats, tasks in ahead.needed.items())
    out.print(f"  to detect {100 * ahead.aim.points:.0f} points you need {ways}")
    out.print(f"  assumed: {ahead.assumed}")


def _plan_table(plan: Plan, expected: Forecast) -> dict[str, Any]:
    from worksample.experiments.planning.lock_file import lock_table

    return {
        **lock_table(plan),
        "slots": [s.plain() for s in plan.slots],
        "forecast": {
            "trials": expected.trials,
            "reattempts": expected.reattempts,
            "not_attemptable": expected.not_attemptable,
            "seconds_at_most": expected.seconds,
            "cost_at_most": expected.cost,
            "beyond_budget_at_most": expected.beyond_budget,
            "places": expected.seats,
            "person_hours": expected.hours,
            "person_pay": paid_for(plan, expected),
        },
    }
