"""`run` and `resume`: agents on tasks, each trial graded as it closes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .event_loops import call, call_async
from .stores_and_packages import opened

if TYPE_CHECKING:
    from worksample.experiments.config import ExperimentConfig
    from worksample.experiments.model_check import Checked
    from worksample.experiments.planning import Plan
    from worksample.experiments.run import RunOptions
    from worksample.experiments.stop import Stop
    from worksample.records import Agent, Experiment
    from worksample.store import Store

    from .run_results import Run
    from .stores_and_packages import Where


_TURN = threading.Lock()
"""Inspect allows one eval at a time in a process: runs that are called side by side take turns."""


def run(
    tasks: Any = None, agent: Any = None, *, file: str | Path | None = None, progress: bool = True, **settings: Any
) -> Run:
    """Let agents work on tasks in sandboxes, grade what they deliver, and return what came of it.

    `tasks`: a suite's name or file, a folder of a task package, a `worksample.task`, or a list of such.
    `agent`: a harness or preset by name, a table of its settings, a file with one; a solver or agent of Inspect's; an
    async function of one `Assignment`; or a list of such. `model` (in `settings`): a name, or a list for each agent
    with each model. All other `settings` are keys of an experiment file (docs/settings.md), and go over `file`.

    The same call again goes on where it stopped: what is finished is never run twice. Ctrl-C, or the interrupt of a
    notebook, closes the trials in work and returns what there is. ManifestError, PlanError and UsageError say what
    cannot be run before anything is.
    """
    from .run_config import configured

    config = configured(tasks, agent, file, settings)
    return call(lambda stop: _run(config, progress, stop))


async def run_async(
    tasks: Any = None, agent: Any = None, *, file: str | Path | None = None, progress: bool = True, **settings: Any
) -> Run:
    """As `run`. Cancelling it closes the trials in work; what is done is kept."""
    from .run_config import configured

    config = configured(tasks, agent, file, settings)
    return await call_async(lambda stop: _run(config, progress, stop))


def resume(experiment: str | Run = "", *, store: Where = None, progress: bool = True, **options: Any) -> Run:
    """Go on with an experiment that was stopped: by name or id, by default the latest.

    `options`: parallel, graders, tries, judges, prices, services; by default as it was planned.
    """
    return call(lambda stop: _resume(experiment, store, progress, options, stop))


async def resume_async(
    experiment: str | Run = "", *, store: Where = None, progress: bool = True, **options: Any
) -> Run:
    """As `resume`."""
    return await call_async(lambda stop: _resume(experiment, store, progress, options, stop))


@dataclass(frozen=True)
class Planned:
    """A plan that is kept in an open store. `known`: it was planned before."""

    store: Store
    plan: Plan
    known: bool
    models: tuple[Checked, ...] = ()
    """What one call to each model that has something to do showed."""


@contextmanager
def planned(config: ExperimentConfig, note: Callable[[str], None]) -> Iterator[Planned]:
    """Refuse what cannot be run before a store is made, then plan into it; for a `with`. `note` hears of long waits."""
    from worksample.experiments.model_check import need_models, prove_models
    from worksample.experiments.preparing import commit_plan, prepare
    from worksample.experiments.run import want_libraries
    from worksample.sandboxes import require_kind
    from worksample.sandboxes.toolbox import ensure_libraries

    require_kind(config.sandbox)
    ahead = prepare(config)
    need_models(ahead.material.agents, config)
    at_work = _with_work(ahead, config.store)
    if at_work and want_libraries(config.sandbox, ahead.material.instances):
        ensure_libraries(note)
    models = prove_models(at_work, config) if config.check_models else ()
    with opened(config.store, create=True) as store:
        plan = prepare(config, store.blobs)
        yield Planned(store, plan, commit_plan(store, plan), models)


def _with_work(plan: Plan, where: str | None) -> list[Agent]:
    """Agents that have a trial to do: where all is done, nobody is asked."""
    from worksample.experiments.plan_progress import progress_of
    from worksample.store.location import is_store

    if is_store(where):
        with opened(where) as store:
            plan = progress_of(plan, store)[1]
    wanted = {slot.agent for slot in plan.attemptable}
    return [agent for agent in plan.material.agents if agent.id in wanted]


def prove_rest(store: Store, experiment: Experiment, config: ExperimentConfig) -> tuple[Checked, ...]:
    """The same for what is left of an experiment that was planned before."""
    from worksample.experiments.model_check import prove_models
    from worksample.records import Agent

    if not config.check_models:
        return ()
    wanted = dict.fromkeys(slot.agent for slot in store.open_slots(experiment.id))
    return prove_models([store.get(Agent, id) for id in wanted], config)


def options_of(
    config: ExperimentConfig, *, parallel: int | None = None, graders: int | None = None, tries: int | None = None
) -> RunOptions:
    """How an experiment is run as it was asked for, or otherwise where a figure is given."""
    from worksample.experiments.run import RunOptions
    from worksample.people.rounds.experiment_rounds import OwnRounds

    return RunOptions(
        parallel=parallel or config.parallel,
        graders=graders or config.graders,
        tries=tries or config.tries,
        prices=config.prices,
        services=config.services,
        judges=config.judges,
        people=OwnRounds(config.people.overlap).fill,
    )


def _run(config: ExperimentConfig, progress: bool, stop: Stop) -> Run:
    from worksample.experiments.run import run_experiment

    from .progress import watcher
    from .run_results import Run

    watch = watcher(silent=not progress)
    with _TURN, planned(config, watch.note) as ready:
        options = replace(options_of(config), stop=stop)
        done = run_experiment(ready.store, ready.plan.experiment, options, watch)
        return Run(ready.store.name, done.status, done.interrupted)


def _resume(experiment: str | Run, store: Where, progress: bool, options: dict[str, Any], stop: Stop) -> Run:
    from worksample.experiments.find import find_experiment
    from worksample.experiments.loading import replanned
    from worksample.experiments.run import run_experiment

    from .progress import watcher
    from .run_results import Run, named

    with _TURN, opened(experiment.store if store is None and isinstance(experiment, Run) else store) as open_:
        found = find_experiment(open_, named(experiment), planned=True)
        flags: dict[str, Any] = {key: options.pop(key) for key in ("judges", "prices", "services") if key in options}
        config = replanned(found, flags)
        prove_rest(open_, found, config)
        how = replace(options_of(config, **options), stop=stop)
        done = run_experiment(open_, found, how, watcher(silent=not progress))
        return Run(open_.name, done.status, done.interrupted)
