"""Check of an installed agent before it gets work. The agent runs in its own box and must get one answer from its
model.

The brief contains two words, and the expected answer joins the two words. So a program that only prints its prompt does
not pass. A program passes if it prints its model's answer, or writes the answer into its log.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.agents import define
from worksample.agents.installing import find_program
from worksample.agents.installing.installed_programs import digest_of_tree
from worksample.agents.installing.installer import parse_name
from worksample.agents.installing.program_settings import require_installed
from worksample.agents.workspace import clip_middle
from worksample.files.scratch_folder import scratch_folder
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
from worksample.stall_tolerant_loop import run_steadily
from worksample.store import Store, put_canonical

if TYPE_CHECKING:
    from inspect_ai.tool import ToolInfo

    from .config import ExperimentConfig

BRIEF = (
    "This is only a check. Answer with one line: the words {first} and {second}, joined by a hyphen. Write no "
    "file. Use no tool unless you need one to end your work; in that case let the tool print the line."
)
LOG_BYTES = 64 << 20
"""Maximum number of bytes of the agent's log files that are searched for the model's answer."""
DOUBLE = "mockllm/model"
"""Name of Inspect's mock model, which sends no requests to a service."""
LIMITS = Limits(time=180, memory=2 << 30, disk=512 << 20)


@dataclass(frozen=True)
class AgentCheckResult:
    """Result of an agent's check. `fault` is the reason why the agent cannot work, or "" if the agent passed the
    check.
    """

    agent: str
    version: str
    model: str
    said: str = ""
    fault: str = ""
    calls: int = 0
    """Number of calls that the agent made to its model during the check."""
    seconds: float = 0.0

    @property
    def sound(self) -> bool:
        return not self.fault

    def plain(self) -> dict[str, Any]:
        """Return the fields as JSON types."""
        return {**asdict(self), "sound": self.sound}


def check_agents(names: Iterable[str], model: str | None, config: ExperimentConfig) -> tuple[AgentCheckResult, ...]:
    """Check agents one after another. Each name has the form `NAME` or `NAME@VERSION`.

    Raises UsageError if a name is unknown. Raises PlanError if an agent is not installed or if its model cannot be
    used.
    """
    agents = []
    for name in names:
        program, version = parse_name(name)
        given = {"version": version} if "@" in name else {}
        agents.append(define(program.name, harness=program.name, model=model or DOUBLE, settings=given))
    return tuple(_check_one(agent, config) for agent in agents)


def _check_one(agent: Agent, config: ExperimentConfig) -> AgentCheckResult:
    here = require_installed(agent.harness, agent.settings["version"], agent.settings["program"])
    found = AgentCheckResult(agent.name, here.version, agent.model or "")
    if digest_of_tree(Path(here.folder)) != here.digest:
        return AgentCheckResult(
            *_first(found), fault=f"its files have changed since the installation: remove {here.folder}"
        )
    words = f"left{secrets.token_hex(3)}", f"right{secrets.token_hex(3)}"
    with scratch_folder("check") as folder:
        trial, printed, log = run_steadily(_trial(folder, agent, config, words))
    answer = "-".join(words)
    said = find_answer(answer, printed, log)
    calls = trial.usage["agent"].calls if "agent" in trial.usage else 0
    fault = ""
    if trial.outcome.ending is not Ending.DONE:
        fault = trial.outcome.reason or str(trial.outcome.cause)
    elif not calls:
        fault = "it ended without calling its model"
    elif not said:
        last = clip_middle((printed.strip().splitlines() or ["nothing"])[-1], 200)
        fault = f"its model's answer is neither in its output nor in its log; it printed: {last}"
    return AgentCheckResult(*_first(found), said=said, fault=fault, calls=calls, seconds=trial.working_seconds)


def find_answer(answer: str, printed: str, log: str) -> str:
    """Return the line of a program's standard output that contains the answer of its model.

    If only the program's log contains the answer, return the answer with the remark "(in its log)". Return "" if the
    answer is in neither text.
    """
    line = next((line.strip() for line in printed.splitlines() if answer in line), "")
    return clip_middle(line, 200) or (f"{answer} (in its log)" if answer in log else "")


def _first(found: AgentCheckResult) -> tuple[str, str, str]:
    return found.agent, found.version, found.model


async def _trial(
    folder: Path, agent: Agent, config: ExperimentConfig, words: tuple[str, str]
) -> tuple[Trial, str, str]:
    """Run one trial in a temporary store. Return the trial, the program's standard output and the text of its log."""
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
        printed = await asyncio.to_thread(_printed_lines, store, submission)
        return trial, printed, await asyncio.to_thread(_log, store, submission)
    finally:
        await asyncio.to_thread(store.close)


def _args(agent: Agent, words: tuple[str, str]) -> dict[str, Any]:
    """Return the arguments of the mock model, so that it gives the expected answer to every request. Return no
    arguments for any other model.
    """
    if agent.model != DOUBLE:
        return {}
    from inspect_ai.model import ModelOutput

    answer, program = "-".join(words), find_program(agent.harness)

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


def _printed_lines(store: Store, submission: Submission) -> str:
    """Return the program's standard output, which is stored in the last step of the trajectory."""
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
    """Return the text of the program's log files. Files that would exceed `LOG_BYTES` in total are left out."""
    part = submission.parts.get("agent_log")
    if part is None:
        return ""
    text, left = [], LOG_BYTES
    for entry in store.manifest(part.manifest).files:
        if entry.blob is not None and entry.size <= left:
            left -= entry.size
            text.append(store.blobs.read(entry.blob).decode(errors="replace"))
    return "\n".join(text)
