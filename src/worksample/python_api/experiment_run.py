"""`run` and `resume`: run experiments and grade each trial as it closes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from .event_loops import call, call_async
from .keyword_arguments import ResumeOptions, RunSettings, refuse_unknown
from .stores_and_packages import use_store

if TYPE_CHECKING:
    from worksample.experiments.config import ExperimentConfig
    from worksample.experiments.experiment_runner import RunOptions
    from worksample.experiments.model_check import ModelCheckResult
    from worksample.experiments.planning.experiment_plan import Plan
    from worksample.experiments.run_interruption import Stop
    from worksample.records import Agent, Experiment
    from worksample.store import Store
    from worksample.tasks import Package

    from .run_results import Run
    from .stores_and_packages import Where


_TURN = threading.Lock()
"""Inspect allows one eval at a time in a process, so simultaneous runs take turns."""


def run(
    tasks: str | Path | Package | Sequence[str | Path | Package] | None = None, agent: Any = None, *,
    file: str | Path | None = None, progress: bool = True, **settings: Unpack[RunSettings],
) -> Run:  # fmt: skip
    """Run agents on tasks in sandboxes, grade their deliverables, and return the experiment.

    If you call it again with the same arguments, it continues: nothing that is finished runs twice. Ctrl-C, or the
    interrupt of a notebook, closes the trials in progress and returns the results so far. Raises ManifestError,
    PlanError or UsageError, before anything runs, if the experiment cannot be run as asked.

    Tasks and agents:

    - `tasks="starter"`: a suite's name or file, the folder of a task package, a `worksample.task`, or a list of folders
      and packages.
    - `agent="worker"`: a harness or preset by name, a table of settings, a file with one, an async function of one
      `Assignment`, a solver or agent of Inspect's, or a list of these.
    - `model="anthropic/claude-sonnet-4-5"`: the model of every agent; a list runs each agent with each model.
    - `script="scripts/good"`: the folder of scripts of every `scripted` agent.
    - `file="study.toml"`: an experiment file; the other arguments override its keys.
    - `suite="starter"`: the same as `tasks` with a suite's name or file.
    - `agents=[{"harness": "worker", "model": "openai/gpt-5"}]`: a table per agent, instead of `agent`.
    - `only=["sums/small"]`: keep only the instances that match one of these patterns.
    - `repeats=3`: independent trials per agent and instance.
    - `arms=[{"name": "short", "limits": {"time": "10m"}}]`: conditions under which every agent works.
    - `chain={"reattempts": 2}`: attempts that may follow a failed one, in arms with feedback.
    - `roles={"judge": "openai/gpt-5"}`: models that belong to the environment, by role.

    Who judges:

    - `protocol="program"`: how submissions are judged; default: the first protocol that all instances have.
    - `protocols=["program", "rubric"]`: several protocols; boards show the first.
    - `judges={"judge": {"model": "openai/gpt-5"}}`: models that judge, a table each.
    - `people={"pay": 40}`: what people's hours cost, and how many judge each submission.
    - `calibration={"share": 0.1}`: have people label some of the judges' answers.
    - `judged_by="people"`: whose answers make the verdicts in reports.

    How it runs:

    - `store="results"`: the store's folder or URL, or an open `Store`; default: `$WORKSAMPLE_STORE`, else
      `./.worksample`.
    - `name="first"`: the experiment's name.
    - `limits={"time": "30m", "cost": 2.0, "tokens": 500_000, "steps": 50}`: ceilings of each trial.
    - `parallel=4`: trials at once. `graders=2`: submissions graded at once.
    - `tries=1`: tries per slot if the platform, the sandbox or a model's service fails.
    - `seed=7`: decides the order in which slots run.
    - `sandbox="docker"`: `bubblewrap` (default), `docker` or `none`.
    - `allow_hosts=["api.example.com:443"]`: hosts that tasks' endpoints may reach.
    - `prices={"openai/gpt-5": {"input": 1.25, "output": 10}}`: US dollars per million tokens.
    - `services={"*": {"retries": 2}}`: how models' services are reached, by model, provider or `*`.
    - `check_models=False`: do not ask each model once before the first trial.
    - `author="ann"`: who runs it; default: `$WORKSAMPLE_AUTHOR`, else the account's name.
    - `progress=False`: print nothing while it runs.
    """
    from .run_config import config_of

    config = config_of(tasks, agent, file, settings)
    return call(lambda stop: _run(config, progress, stop))


async def run_async(
    tasks: str | Path | Package | Sequence[str | Path | Package] | None = None, agent: Any = None, *,
    file: str | Path | None = None, progress: bool = True, **settings: Unpack[RunSettings],
) -> Run:  # fmt: skip
    """Run as `run` does, with the same arguments; for code that runs in an event loop.

    If you cancel it, it closes the trials in progress and keeps what is done.
    """
    from .run_config import config_of

    config = config_of(tasks, agent, file, settings)
    return await call_async(lambda stop: _run(config, progress, stop))


def resume(
    experiment: str | Run = "", *, store: Where = None, progress: bool = True, **options: Unpack[ResumeOptions]
) -> Run:
    """Continue an experiment that was stopped, and return it.

    - `experiment="first"`: its name or id, or the `Run`; default: the store's latest.
    - `store="results"`: the store's folder or URL, or an open `Store`; default: the store of the `Run`, else as for
      `run`.
    - `progress=False`: print nothing while it runs.
    - `parallel=4`, `graders=2`, `tries=1`: as for `run`; default: as planned.
    - `judges={"judge": {"model": "openai/gpt-5"}}`: other judges than planned.
    - `prices={"openai/gpt-5": {"input": 1.25, "output": 10}}`: prices, over those planned.
    - `services={"*": {"retries": 2}}`: how models' services are reached, over what was planned.
    """
    refuse_unknown("resume", options, ResumeOptions)
    return call(lambda stop: _resume(experiment, store, progress, options, stop))


async def resume_async(
    experiment: str | Run = "", *, store: Where = None, progress: bool = True, **options: Unpack[ResumeOptions]
) -> Run:
    """Continue as `resume` does, with the same arguments; for code that runs in an event loop."""
    refuse_unknown("resume", options, ResumeOptions)
    return await call_async(lambda stop: _resume(experiment, store, progress, options, stop))


@dataclass(frozen=True)
class StoredPlan:
    """A plan in an open store. `known`: whether the experiment was planned before."""

    store: Store
    plan: Plan
    known: bool
    models: tuple[ModelCheckResult, ...] = ()
    """The results of one call to each model with open work."""


@contextmanager
def plan_into_store(config: ExperimentConfig, note: Callable[[str], None]) -> Iterator[StoredPlan]:
    """Refuse an experiment that cannot run before a store is created, then plan it there; for a `with`. `note` receives
    messages about long waits.
    """
    from worksample.experiments.experiment_runner import wants_libraries
    from worksample.experiments.model_check import need_models, prove_models
    from worksample.experiments.planning.plan_preparation import commit_plan, prepare
    from worksample.sandboxes import require_kind
    from worksample.sandboxes.python_toolbox import ensure_libraries

    require_kind(config.sandbox)
    ahead = prepare(config)
    need_models(ahead.inputs.agents, config)
    at_work = _with_work(ahead, config.store)
    if at_work and wants_libraries(config.sandbox, ahead.inputs.instances):
        ensure_libraries(note)
    models = prove_models(at_work, config) if config.check_models else ()
    with use_store(config.store, create=True) as store:
        plan = prepare(config, store.blobs)
        yield StoredPlan(store, plan, commit_plan(store, plan), models)


def _with_work(plan: Plan, where: str | None) -> list[Agent]:
    """Return the agents with open trials; models of the others need no check."""
    from worksample.experiments.planning.plan_progress import progress_of
    from worksample.store.location import is_store

    if is_store(where):
        with use_store(where) as store:
            plan = progress_of(plan, store)[1]
    wanted = {slot.agent for slot in plan.attemptable}
    return [agent for agent in plan.inputs.agents if agent.id in wanted]


def prove_rest(store: Store, experiment: Experiment, config: ExperimentConfig) -> tuple[ModelCheckResult, ...]:
    """Check the models of agents with open slots, if the experiment had been planned before."""
    from worksample.experiments.model_check import prove_models
    from worksample.records import Agent

    if not config.check_models:
        return ()
    wanted = dict.fromkeys(slot.agent for slot in store.open_slots(experiment.id))
    return prove_models([store.get(Agent, id) for id in wanted], config)


def options_of(
    config: ExperimentConfig, *, parallel: int | None = None, graders: int | None = None, tries: int | None = None
) -> RunOptions:
    """Return the options of a run: those of the configuration, unless a number is given."""
    from worksample.experiments.experiment_runner import RunOptions
    from worksample.people.rounds.experiment_rounds import ExperimentRounds

    return RunOptions(
        parallel=parallel or config.parallel,
        graders=graders or config.graders,
        tries=tries or config.tries,
        prices=config.prices,
        services=config.services,
        judges=config.judges,
        people=ExperimentRounds(config.people.overlap).fill,
    )


def _run(config: ExperimentConfig, progress: bool, stop: Stop) -> Run:
    from worksample.experiments.experiment_runner import run_experiment
    from worksample.experiments.run_progress import watcher

    from .run_results import Run

    watch = watcher(silent=not progress)
    with _TURN, plan_into_store(config, watch.note) as ready:
        options = replace(options_of(config), stop=stop)
        done = run_experiment(ready.store, ready.plan.experiment, options, watch)
        return Run(ready.store.name, done.status, done.interrupted)


def _resume(experiment: str | Run, store: Where, progress: bool, given: ResumeOptions, stop: Stop) -> Run:
    from worksample.experiments.config_file import config_of_experiment
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.experiments.experiment_runner import run_experiment
    from worksample.experiments.run_progress import watcher

    from .run_results import Run, name_of

    with _TURN, use_store(experiment.store if store is None and isinstance(experiment, Run) else store) as open_:
        found = find_experiment(open_, name_of(experiment), planned=True)
        options: dict[str, Any] = {**given}
        flags: dict[str, Any] = {key: options.pop(key) for key in ("judges", "prices", "services") if key in options}
        config = config_of_experiment(found, flags)
        prove_rest(open_, found, config)
        how = replace(options_of(config, **options), stop=stop)
        done = run_experiment(open_, found, how, watcher(silent=not progress))
        return Run(open_.name, done.status, done.interrupted)
