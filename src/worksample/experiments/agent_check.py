"""An installed agent proven before work is given to it: one sentence, in a box of its own, through the door."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.agents import define
from worksample.agents.installing import named
from worksample.agents.installing.folder import digest_of_tree
from worksample.agents.installing.install import split
from worksample.agents.installing.resolve_settings import need
from worksample.files.scratch import scratch
from worksample.records import (
    About,
    Agent,
    Arm,
    Capture,
    Ending,
    Entry,
    Environment,
    Experiment,
    Instance,
    Limits,
    Lock,
    Manifest,
    Protocol,
    Slot,
    Submission,
    Trial,
    Work,
    canonical,
    now,
)  # fmt: skip
from worksample.runs import RunConfig, run_slots
from worksample.steady_loop import run_steadily
from worksample.store import Store

if TYPE_CHECKING:
    from .config import ExperimentConfig

BRIEF = (
    "This is a check and no work. Use no tool and write no file. Answer with one short sentence that says who you are."
)
SENTENCE = "I am here, and the door works."
DOUBLE = "mockllm/model"
"""Inspect's double of a model."""
LIMITS = Limits(time=180, memory=2 << 30, disk=512 << 20)


@dataclass(frozen=True)
class Spoken:
    """What came of an agent's sentence. `fault`: why it cannot work."""

    agent: str
    version: str
    model: str
    said: str = ""
    fault: str = ""
    calls: int = 0
    """Of its model."""
    seconds: float = 0.0

    @property
    def sound(self) -> bool:
        return not self.fault

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {**asdict(self), "sound": self.sound}


def check_agents(names: Iterable[str], model: str | None, config: ExperimentConfig) -> tuple[Spoken, ...]:
    """Each agent `NAME[@VERSION]`, one after the other. UsageError for an unknown name, PlanError for one that is not
    installed or a model that cannot be had."""
    agents = []
    for name in names:
        program, version = split(name)
        given = {"version": version} if "@" in name else {}
        agents.append(define(program.name, harness=program.name, model=model or DOUBLE, settings=given))
    return tuple(_one(agent, config) for agent in agents)


def _one(agent: Agent, config: ExperimentConfig) -> Spoken:
    here = need(agent.harness, agent.settings["version"], agent.settings["program"])
    found = Spoken(agent.name, here.version, agent.model or "")
    if digest_of_tree(Path(here.folder)) != here.digest:
        return Spoken(*_first(found), fault=f"its files are not those that were installed: remove {here.folder}")
    with scratch("check") as folder:
        trial, printed = run_steadily(_trial(folder, agent, config))
    program = named(agent.harness)
    said = program.said(printed) if program is not None else printed
    if agent.model == DOUBLE:
        said = SENTENCE if SENTENCE in printed else ""
    calls = trial.usage["agent"].calls if "agent" in trial.usage else 0
    fault = ""
    if trial.outcome.ending is not Ending.DONE:
        fault = trial.outcome.reason or str(trial.outcome.cause)
    elif not calls:
        fault = "it ended without a call of its model"
    elif not said:
        fault = "it printed nothing of what its model said"
    return Spoken(*_first(found), said=said, fault=fault, calls=calls, seconds=trial.working_seconds)


def _first(found: Spoken) -> tuple[str, str, str]:
    return found.agent, found.version, found.model


async def _trial(folder: Path, agent: Agent, config: ExperimentConfig) -> tuple[Trial, str]:
    """One trial in a store of its own, and what the program printed."""
    store = await asyncio.to_thread(Store.open, folder / "store", create=True)
    try:
        experiment, slot = await asyncio.to_thread(_plan, store, agent)
        run = RunConfig(
            parallel=1,
            tries=1,
            prices=config.prices,
            services=config.services,
            model_retries=0,
            model_args=_args(agent),
        )
        closed: list[tuple[Trial, Submission | None]] = []
        await run_slots(store, experiment, [slot], run, lambda trial, handed: closed.append((trial, handed)))
        (trial, submission) = closed[0]
        printed = await asyncio.to_thread(_printed, store, submission) if submission is not None else ""
        return trial, printed
    finally:
        await asyncio.to_thread(store.close)


def _args(agent: Agent) -> dict[str, Any]:
    """For the double: it says the same sentence to every request."""
    if agent.model != DOUBLE:
        return {}
    from inspect_ai.model import ModelOutput

    def say(*_: Any) -> ModelOutput:
        return ModelOutput.from_content(DOUBLE, SENTENCE)

    return {"custom_outputs": say}


def _plan(store: Store, agent: Agent) -> tuple[Experiment, Slot]:
    empty = store.blobs.put(canonical(Manifest(entries=()).plain()))
    work = Work(brief=BRIEF, inputs=empty, software=empty, environment=Environment(limits=LIMITS))
    capture = Capture(probes=empty)
    instance = Instance(
        id=Instance.identify("check", "one", {"work": work.plain(), "capture": capture.plain()}),
        task="check",
        name="one",
        title="One sentence",
        version="1",
        canary="check",
        work=work,
        capture=capture,
        grading={},
        about=About(),
    )
    arm = Arm()
    lock = Lock(suite="0" * 64, instances=(instance.id,), protocols=(Protocol.PROGRAM,), sandbox="bubblewrap")
    experiment = Experiment(
        id="check@0000000000000000",
        name="check",
        agents=(agent.id,),
        arms=(arm,),
        repeats=1,
        lock=lock,
        author="check",
        at=now(),
    )
    slot = Slot(
        id=Slot.identify(experiment.id, agent.id, instance.id, arm.name, 1, 1),
        experiment=experiment.id,
        agent=agent.id,
        instance=instance.id,
        arm=arm.name,
        repeat=1,
    )
    store.commit(instance, agent, experiment, slot)
    return experiment, slot


def _printed(store: Store, submission: Submission) -> str:
    """The program's standard output, of the trajectory's last step."""
    import json

    entry: Entry | None = store.manifest(submission.parts["trajectory"].manifest).find("trajectory.json")
    if entry is None or entry.blob is None:
        return ""
    steps = json.loads(store.blobs.read(entry.blob)).get("steps", [])
    text = str(steps[-1].get("message", "")) if steps else ""
    return (
        text.partition("\n[standard error]\n")[0].rpartition("\n[exit status")[0]
        or text.partition("\n[standard error]\n")[0]
    )
