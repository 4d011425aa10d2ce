"""Check of an installed agent before it gets work. The agent runs in its own box and must prove a tool call.

The brief asks for a file whose content joins two words, and for an answer that joins them too. So a program that only
prints its prompt does not pass, and neither does one whose model cannot act in the box: the file must be among the
deliverables. A program without tools only has to write the file. The answer must be in the program's output or its log.
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
    Paths,
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
    from inspect_ai.model import ChatMessage
    from inspect_ai.tool import ToolInfo

    from .config import ExperimentConfig

BRIEF = (
    "This is only a check. With a tool, write one line into the file {output}/check.txt: the words {first} and "
    "{second}, joined by a hyphen. Then answer with the same line, and end your work."
)
PROOF = "check.txt"
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
        trial, seen = run_steadily(_trial(folder, agent, config, words))
    answer = "-".join(words)
    said = find_answer(answer, seen.printed, seen.log)
    calls = trial.usage["agent"].calls if "agent" in trial.usage else 0
    fault = ""
    if trial.outcome.ending is not Ending.DONE:
        fault = trial.outcome.reason or str(trial.outcome.cause)
    elif not calls:
        fault = "it ended without calling its model"
    elif answer not in seen.proof:
        last = clip_middle((seen.printed.strip().splitlines() or ["nothing"])[-1], 200)
        fault = f"it did not write the file that the check asks for, so no tool call is proven; it printed: {last}"
    elif not said:
        last = clip_middle((seen.printed.strip().splitlines() or ["nothing"])[-1], 200)
        fault = f"its model's answer is neither in its output nor in its log; it printed: {last}"
    return AgentCheckResult(*_first(found), said=said, fault=fault, calls=calls, seconds=trial.working_seconds)


@dataclass(frozen=True)
class CheckEvidence:
    """Evidence that the trial of a check left: the program's standard output, the text of its log, and the requested
    file.
    """

    printed: str = ""
    log: str = ""
    proof: str = ""


def find_answer(answer: str, printed: str, log: str) -> str:
    """Return the line of a program's standard output that contains the answer of its model.

    If only the program's log contains the answer, return the answer with the remark "(in its log)". Return "" if the
    answer is in neither text.
    """
    line = next((line.strip() for line in reversed(printed.splitlines()) if answer in line), "")
    return clip_middle(line, 200) or (f"{answer} (in its log)" if answer in log else "")


def _first(found: AgentCheckResult) -> tuple[str, str, str]:
    return found.agent, found.version, found.model


async def _trial(
    folder: Path, agent: Agent, config: ExperimentConfig, words: tuple[str, str]
) -> tuple[Trial, CheckEvidence]:
    """Run one trial in a temporary store. Return the trial and what it left."""
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
            return trial, CheckEvidence()
        return trial, await asyncio.to_thread(_evidence, store, submission)
    finally:
        await asyncio.to_thread(store.close)


def _args(agent: Agent, words: tuple[str, str]) -> dict[str, Any]:
    """Return the arguments of the mock model, so that it does what the brief asks for. Return no arguments for any
    other model.
    """
    if agent.model != DOUBLE:
        return {}
    from inspect_ai.model import ModelOutput

    answer, program = "-".join(words), find_program(agent.harness)
    path = f"{Paths().output}/{PROOF}"
    ends_by = program.ends_by if program is not None else ""

    def reply(messages: list[ChatMessage], tools: list[ToolInfo], *more: Any) -> ModelOutput:
        shell = next((one for one in tools if COMMANDS & set(one.parameters.properties)), None)
        if program is not None and not program.tools:
            return ModelOutput.from_content(DOUBLE, f"{answer}\n\n{path}\n```\n{answer}\n```\n")
        told = any(f"wrote {answer}" in one.text for one in messages if one.role != "assistant")
        if shell is None or (told and not ends_by):
            return ModelOutput.from_content(DOUBLE, answer)
        command = f"{ends_by}; echo {answer}" if told else f"echo {answer} > {path}; echo wrote {answer}"
        return ModelOutput.for_tool_call(DOUBLE, shell.name, arguments_of(shell, command), content=answer)

    return {"custom_outputs": reply}


COMMANDS = frozenset({"command", "cmd"})
"""Names of the parameter in which tools of programs take a shell command."""


def arguments_of(shell: ToolInfo, command: str) -> dict[str, Any]:
    """Return arguments for a program's shell tool: the command, and some value for each other required parameter."""
    given: dict[str, Any] = {}
    for name, schema in shell.parameters.properties.items():
        if name in COMMANDS:
            given[name] = ["sh", "-c", command] if schema.type == "array" else command
        elif name in shell.parameters.required:
            usual = {"boolean": False, "integer": 30, "number": 30, "array": [], "object": {}}
            given[name] = (schema.enum or [usual.get(str(schema.type), "check")])[0]
    return given


def _plan(store: Store, agent: Agent, words: tuple[str, str]) -> tuple[Experiment, Slot]:
    empty = put_canonical(store.blobs, Manifest(entries=()).plain())
    brief = BRIEF.format(first=words[0], second=words[1], output=Paths().output)
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


def _evidence(store: Store, submission: Submission) -> CheckEvidence:
    entry = store.manifest(submission.parts["output"].manifest).find(PROOF)
    proof = b"" if entry is None or entry.blob is None or entry.size > 10_000 else store.blobs.read(entry.blob)
    return CheckEvidence(
        _printed_lines(store, submission), _log(store, submission), proof.decode("utf-8", errors="replace")
    )


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
