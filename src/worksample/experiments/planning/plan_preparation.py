"""Preparation of a plan from a configuration. It reads packages and agents, checks that they are compatible, commits
the records and writes the lock.
"""

from __future__ import annotations

import shutil
from dataclasses import replace

from worksample.agents import check_agent, define
from worksample.agents.agent_builder import check_program
from worksample.agents.agent_definition import person_agent
from worksample.errors import PlanError
from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.experiments.config_file import check_names
from worksample.experiments.package_intake import commit_new, store_holds
from worksample.experiments.rounds import required_evaluators
from worksample.files import HashSink, Sink
from worksample.models import require_price
from worksample.records import Agent, EvaluatorKind, Experiment, Worker, now
from worksample.runs.trial_limits import limits_of
from worksample.store import Store

from .agent_compatibility import required_commands, works_under
from .calibration_settings import require_earlier_labels, require_same_calibration, with_calibrated_protocols
from .experiment_plan import Plan, PlanInputs, plan
from .instance_selection import Selection, select
from .lock_file import installed_versions, write_lock
from .plan_forecast import Forecast, beyond_budget, forecast, prices_with_scripts
from .protocol_choice import default_protocol

SANDBOX_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Value of PATH in a box. A box without an image uses the programs in this machine's /usr."""


def prepare(config: ExperimentConfig, sink: Sink | None = None) -> Plan:
    """Read all tasks, suites and agents that `config` names, and plan the experiment. The content of files is written
    to `sink`; if `sink` is None, only digests are computed.

    Raises ManifestError if a package, a suite or a script is invalid. Raises PlanError if the plan cannot run: an agent
    is incompatible with all instances, a script has no steps for a task, or a budget is set for a model without a
    price.
    """
    people = any(arm.worker is Worker.HUMAN for arm in config.arms)
    check_names(config)
    selection = select(config, sink or HashSink())
    agents = (*(agent_of(agent) for agent in config.agents), *((person_agent(),) if people else ()))
    material = PlanInputs(
        name=config.name,
        agents=agents,
        instances=selection.instances,
        arms=config.arm_records(),
        chain=config.chain_record(),
        repeats=config.repeats,
        seed=config.seed,
        protocols=config.chosen_protocols or default_protocol(selection.instances),
        sandbox=config.sandbox,
        suite=selection.suite,
        tasks=selection.tasks,
        others=selection.others,
        roles={**selection.roles, **config.roles},
        allow_hosts=tuple(map(str, config.hosts)),
        hosts=selection.suite.hosts if selection.suite else None,
        judged_by=config.judged_by,
        lacking=_missing_commands(selection) if config.sandbox != "none" else frozenset(),
    )
    config = with_calibrated_protocols(config, material.instances, material.protocols)
    planned = plan(
        material, author=config.author, at=now(), versions=installed_versions(config.sandbox), settings=config.plain()
    )
    _check(planned, config)
    return planned


def agent_of(config: AgentConfig) -> Agent:
    """Return the record of an agent. Raises PlanError if its harness does not support a setting."""
    return define(
        config.name,
        harness=config.harness,
        model=config.model,
        preset=config.preset,
        settings=config.settings,
        script=config.script,
        folder=config.folder,
        files=config.files,
        capabilities=config.capabilities or (),
        release_date=config.release_date,
    )


def _missing_commands(selection: Selection) -> frozenset[str]:
    wanted = {command for i in selection.instances for command in required_commands(i.work.environment)}
    return frozenset(command for command in wanted if shutil.which(command, path=SANDBOX_PATH) is None)


def _check(planned: Plan, config: ExperimentConfig) -> None:
    """Raise PlanError for faults of a plan that would otherwise stop the experiment while it runs."""
    m = planned.inputs
    prices = prices_with_scripts(config.prices, m.agents)
    agents, instances, arms = ({a.id: a for a in m.agents}, {i.id: i for i in m.instances}, {a.name: a for a in m.arms})
    _check_budget(planned, config)
    if config.sandbox != "none":
        for agent in m.agents:
            check_program(agent, SANDBOX_PATH, images=any(i.work.environment.image for i in instances.values()))
    for agent_id, instance_id in sorted({(s.agent, s.instance) for s in planned.attemptable}):
        agent, instance = agents[agent_id], instances[instance_id]
        check_agent(agent, instance)
        for arm in arms.values():
            if works_under(agent, arm) and limits_of(instance, arm, agent).cost is not None:
                require_price(agent.model, prices)


def _check_budget(planned: Plan, config: ExperimentConfig) -> None:
    """Raise PlanError if chains have a budget in US dollars and a cost that counts against the budget has no price."""
    m = planned.inputs
    if m.chain is None or m.chain.dollars is None:
        return
    people = any(by is EvaluatorKind.PERSON for _, by in required_evaluators(m.instances, m.protocols))
    if people and m.chain.pay is None:
        raise PlanError(
            "the budget of the chains is in dollars, but people's hours of work have no price",
            next="give people.pay in the experiment file (--pay), or chain.hours instead of chain.dollars",
        )
    judging = {model for judge in config.judges.values() for model in judge.models}
    for model in sorted({a.model for a in m.agents if a.model} | judging):
        require_price(model, prices_with_scripts(config.prices, m.agents))


def forecast_of(planned: Plan, config: ExperimentConfig) -> Forecast:
    """Compute the upper bounds of a plan. Scripted agents and programs without a model cost nothing."""
    most = forecast(planned, config.parallel, lambda agent: agent.harness != "scripted" and agent.model is not None)
    return replace(most, beyond_budget=beyond_budget(planned, config.prices) if most.cost else 0.0)


def commit_plan(store: Store, planned: Plan) -> bool:
    """Commit all records of the plan that the store lacks, and write the lock. Return True if the experiment was
    already planned.
    """
    known = store_holds(store, planned.experiment)
    require_unchanged(store, planned)
    commit_new(store, planned.records)
    write_lock(planned, store.logs.parent / "experiments" / planned.experiment.id)
    return known


def require_unchanged(store: Store, planned: Plan) -> None:
    """Raise PlanError if the experiment was already planned and its plan had different calibration settings."""
    for kept in store.find(Experiment, id=planned.experiment.id):
        require_same_calibration(kept, planned.experiment)
    require_earlier_labels(store, planned.experiment)
