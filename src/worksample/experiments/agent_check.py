"""An installed agent proven before work is given to it: one answer, in a box of its own, through the gateway.

The brief holds two words, and only their joined form counts: a program that prints its prompt, or anything else, does
not pass, and one that keeps its model's answer in its log without printing it does.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.agents import define
from worksample.agents.installing import named
from worksample.agents.installing.folder import digest_of_tree
from worksample.agents.installing.install import split
from worksample.agents.installing.resolve_settings import need
from worksample.agents.workspace import clipped
from worksample.files import put_canonical
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
    TaskWork,
    Trial,
    now,
)  # fmt: skip
from worksample.runs import RunConfig, run_slots
from worksample.steady_loop import run_steadily
from worksample.store import Store

if TYPE_CHECKING:
    from inspect_ai.tool import ToolInfo

    from .config import ExperimentConfig

BRIEF = (
    "This is a check and no work. Answer with one line: the words {first} and {second}, joined by a hyphen. Write no "
    "file. Use no tool, unless you cannot end your work without one; then let that tool print the line."
)
LOG_BYTES = 64 << 20
"""Of the program's log, looked through for the answer."""
DOUBLE = "mockllm/model"
"""Inspect's double of a model."""
LIMITS = Limits(time=180, memory=2 << 30, disk=512 << 20)


@dataclass(frozen=True)
class Spoken:
    """What came of an agent's answer. `fault`: why it cannot work."""

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
    words = f"left{secrets.token_hex(3)}", f"right{secrets.token_hex(3)}"
    with scratch("check") as folder:
        trial, printed, log = run_steadily(_trial(folder, agent, config, words))
    answer = "-".join(words)
    said = find_answer(answer, printed, log)
    calls = trial.usage["agent"].calls if "agent" in trial.usage else 0
    fault = ""
    if trial.outcome.ending is not Ending.DONE:
        fault = trial.outcome.reason or str(trial.outcome.cause)
    elif not calls:
        fault = "it ended without a call of its model"
    elif not said:
        last = clipped((printed.strip().splitlines() or ["nothing"])[-1], 200)
        fault = f"the answer that its model was asked for is neither in its output nor in its log; it printed: {last}"
    return Spoken(*_first(found), said=said, fault=fault, calls=calls, seconds=trial.working_seconds)


def find_answer(answer: str, printed: str, log: str) -> str:
    """Return the line of a program's output that holds the answer of its model, or where else it stands; "" if it is
    neither in the output nor in the log."""
    line = next((line.strip() for line in printed.splitlines() if answer in line), "")
    return clipped(line, 200) or (f"{answer} (in its log)" if answer in log else "")


def _first(found: Spoken) -> tuple[str, str, str]:
    return found.agent, found.version, found.model


async def _trial(
    folder: Path, agent: Agent, config: ExperimentConfig, words: tuple[str, str]
) -> tuple[Trial, str, str]:
    """Run one trial in a store of its own; return it with what the program printed and what it wrote into its log."""
    store = await asyncio.to_thread(Store.open, folder / "store", create=True)
    try:
        experiment, slot = await asyncio.to_thread(_plan, store, agent, words)
        run = RunConfig(
            parallel=1,
            tries=1,
            prices=config.prices,
            services=config.services,
            model_retries=0,
            model_args=_args(agent, words),
        )
        closed: list[tuple[Trial, Submission | None]] = []
        await run_slots(store, experiment, [slot], run, lambda trial, handed: closed.append((trial, handed)))
        (trial, submission) = closed[0]
        if submission is None:
            return trial, "", ""
        printed = await asyncio.to_thread(_printed, store, submission)
        return trial, printed, await asyncio.to_thread(_log, store, submission)
    finally:
        await asyncio.to_thread(store.close)


def _args(agent: Agent, words: tuple[str, str]) -> dict[str, Any]:
    """Return the arguments of the double, which answers every request alike; nothing for another model."""
    if agent.model != DOUBLE:
        return {}
    from inspect_ai.model import ModelOutput

    answer, program = "-".join(words), named(agent.harness)

    def reply(_: Any, tools: list[ToolInfo], *more: Any) -> ModelOutput:
        shells = [tool.name for tool in tools if "command" in tool.parameters.properties]
        if program is None or not program.ends_by or not shells:
            return ModelOutput.from_content(DOUBLE, answer)
        call = {"command": f"{program.ends_by}; echo {answer}"}
        return ModelOutput.for_tool_call(DOUBLE, shells[0], call, content=answer)

    return {"custom_outputs": reply}


def _plan(store: Store, agent: Agent, words: tuple[str, str]) -> tuple[Experiment, Slot]:
    empty = put_canonical(store.blobs, Manifest(entries=()).plain())
    brief = BRIEF.format(first=words[0], second=words[1])
    work = TaskWork(brief=brief, inputs=empty, software=empty, environment=Environment(limits=LIMITS))
    capture = Capture(probes=empty)
    instance = Instance(
        id=Instance.identify("check", "one", {"work": work.plain(), "capture": capture.plain()}),
        task="check",
        name="one",
        title="One answer",
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


def _log(store: Store, submission: Submission) -> str:
    """Return the text of the program's log files, of the first 64 MiB."""
    part = submission.parts.get("agent_log")
    if part is None:
        return ""
    text, left = [], LOG_BYTES
    for entry in store.manifest(part.manifest).files:
        if entry.blob is not None and entry.size <= left:
            left -= entry.size
            text.append(store.blobs.read(entry.blob).decode(errors="replace"))
    return "\n".join(text)
