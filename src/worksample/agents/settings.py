"""What can be set for each harness. Unknown keys are refused, so a typo never becomes a default."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from worksample.records import Frozen
from worksample.records.base import omittable
from worksample.records.task import Observation


class LimitSettings(Frozen):
    """Ceilings that belong to the agent. They hold where neither arm nor experiment says otherwise."""

    time: float | None = Field(default=None, gt=0)
    """Seconds of wall-clock time."""
    cost: float | None = Field(default=None, gt=0)
    """US dollars."""
    tokens: int | None = Field(default=None, gt=0)
    turns: int | None = Field(default=None, gt=0)
    """Model calls."""


class Settings(Frozen):
    """What every harness has."""

    limits: LimitSettings = LimitSettings()
    observe: tuple[Observation, ...] = omittable(())
    """What the agent is shown of its browser's pages, whatever the task says. Not written where it is not given."""


class HumanSettings(Settings):
    """`person`: a person, under an arm with `worker = "human"`. There is nothing to set."""


class ScriptedSettings(Settings):
    """`scripted`: filled by `define` from the folder of scripts."""

    script: dict[str, Any] = {}
    """Steps by task and instance, as read; part of the agent's identity."""
    tool_output: int = Field(default=16_000, ge=200)


class WorkerSettings(Settings):
    """`worker`."""

    tools: tuple[Literal["bash", "python", "files", "image"], ...] = ("bash", "python", "files", "image")
    """`image` is given only to an agent that declares the capability `vision`."""
    attachments: Literal["folder", "inline"] = "folder"
    """`inline`: the text of input files stands in the first message (UpBench 5.1)."""
    attachment_characters: int = Field(default=60_000, ge=0)
    """Of all inlined files together; what does not fit is named."""
    auxiliary: bool = False
    """Names the scratch folder as the place for intermediate files (RLI B.6)."""
    self_check: Literal["none", "read", "look"] = "read"
    """What the agent is asked to do with its deliverables before it submits; `look` renders and looks (RLI B.6)."""
    instructions: str = ""
    """Appended to the system message."""
    generation: dict[str, Any] = {}
    """Settings of generation as Inspect names them: temperature, max_tokens, reasoning_effort, ..."""
    tool_output: int = Field(default=16_000, ge=200)
    """Characters of a tool's result that the model sees; the middle of a longer one is left out."""
    command_time: float = Field(default=180, gt=0)
    """Seconds that a command or cell may take where the model does not ask for more."""
    command_time_most: float = Field(default=1800, gt=0)
    """The most that the model may ask for, in seconds."""
    compact_at: float = Field(default=0.8, gt=0)
    """When the conversation is compacted: a share of the model's context, or tokens where above 1."""
    nudges: int = Field(default=3, ge=0)
    """Answers in a row without a tool call that are met with a reminder; the next one ends the work."""
    malformed: int = Field(default=5, ge=1)
    """Answers in a row whose tool calls cannot be understood, after which the agent has failed."""


class ReflectSettings(WorkerSettings):
    """`plan-act-reflect`."""

    attachments: Literal["folder", "inline"] = "inline"
    rounds: int = Field(default=3, ge=1)
    """Of acting and reflecting, at most."""


class CommandSettings(Settings):
    """`command`."""

    argv: tuple[str, ...] = Field(min_length=1)
    """The program and its arguments, in the box. `{brief}` is the path of the brief, `{input}`, `{output}`,
    `{software}`, `{scratch}` the folders, `{agent}` the agent's own folder."""
    brief: Literal["file", "stdin", "env"] = "file"
    """How the program gets the brief: always as a file; also on standard input, or as `$WORKSAMPLE_BRIEF`."""
    env: dict[str, str] = {}
    """More environment variables."""
    output_characters: int = Field(default=1_000_000, ge=0)
    """Of its output, kept in the trajectory."""
    folder: str = omittable("")
    """The name of the folder with the agent's own program; `define` fills it in. Omitted if there is none."""
    folder_digest: str = omittable("")
    """SHA-256 of that folder's files; `define` fills it in, so that another program is another agent."""


class ObjectSettings(Settings):
    """`object`: a solver or an agent of Inspect's, or an async function over the box."""

    object: str
    """`module:name` of it, or of a function that makes it."""
    source: str = ""
    """The digest of its source, which `define` fills in: other code is another agent."""
    args: dict[str, Any] = {}
    """What the function that makes it is called with."""


class ProgramSettings(CommandSettings):
    """A command-line agent: what its harness gives stands here in full, so that the record says how it was called."""

    argv: tuple[str, ...] = Field(default=(), min_length=1)
    version: str = ""
    """Of the program; by default that which was installed last."""
    program: str = ""
    """SHA-256 of its files, as `worksample agent list` says it."""
    runtime: str = ""
    """What runs it, such as `node 24.19.0`."""
    files: dict[str, str] = {}
    """Its configuration: path below the home folder -> text."""
    mcp: str = ""
    """The form in which its configuration names MCP servers, where it takes any; they stand at `{mcp}` in `files`."""
    logs: tuple[str, ...] = ()
    """Where below the home folder it keeps its log."""
    args: tuple[str, ...] = ()
    """More arguments, after those of `argv`."""
    instructions: str = ""
    """Appended to what it is told of place and rules."""
