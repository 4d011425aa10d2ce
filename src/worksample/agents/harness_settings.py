"""Settings of each harness. Unknown keys are rejected, so that a typo never means a default."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from worksample.records import Frozen
from worksample.records.base import omittable
from worksample.records.task import Observation


class LimitSettings(Frozen):
    """Limits of the agent. They apply unless the arm or the experiment sets others."""

    time: float | None = Field(default=None, gt=0)
    """Wall-clock time in seconds."""
    cost: float | None = Field(default=None, gt=0)
    """Cost in US dollars."""
    tokens: int | None = Field(default=None, gt=0)
    turns: int | None = Field(default=None, gt=0)
    """Number of model calls."""


class Settings(Frozen):
    """Settings that every harness has."""

    limits: LimitSettings = LimitSettings()
    observe: tuple[Observation, ...] = omittable(())
    """What the agent sees of browser pages, whatever the task says. Omitted if not set."""


class HumanSettings(Settings):
    """Settings of `person`, a person in an arm with `worker = "human"`: none."""


class ScriptedSettings(Settings):
    """Settings of `scripted`, filled in by `define` from the folder of scripts."""

    script: dict[str, Any] = {}
    """Steps by task and instance, as read; part of the agent's identity."""
    tool_output: int = Field(default=16_000, ge=200)


class WorkerSettings(Settings):
    """Settings of `worker`."""

    tools: tuple[Literal["bash", "python", "files", "image"], ...] = ("bash", "python", "files", "image")
    """Tools of the agent. `image` is given only to an agent that declares the capability `vision`."""
    attachments: Literal["folder", "inline"] = "folder"
    """`inline`: the first message contains the text of the input files (UpBench 5.1)."""
    attachment_characters: int = Field(default=60_000, ge=0)
    """Characters of all inlined files together. Files that do not fit are only named."""
    auxiliary: bool = False
    """True if the prompt names the scratch folder as the place for intermediate files (RLI B.6)."""
    self_check: Literal["none", "read", "look"] = "read"
    """What the prompt asks the agent to do with its deliverables before it submits. `look`: render and view them (RLI
    B.6).
    """
    instructions: str = ""
    """Appended to the system message."""
    generation: dict[str, Any] = {}
    """Generation settings by their names in Inspect: temperature, max_tokens, reasoning_effort, ..."""
    tool_output: int = Field(default=16_000, ge=200)
    """Characters of a tool result that the model sees. The middle of a longer one is left out."""
    command_time: float = Field(default=180, gt=0)
    """Time limit of a command or cell in seconds, unless the model asks for more."""
    command_time_most: float = Field(default=1800, gt=0)
    """Longest time limit that the model may ask for, in seconds."""
    compact_at: float = Field(default=0.8, gt=0)
    """When to compact the conversation: a share of the model's context, or tokens if above 1."""
    nudges: int = Field(default=3, ge=0)
    """Number of consecutive answers without a tool call that get a reminder. The next one ends the work."""
    malformed: int = Field(default=5, ge=1)
    """Number of consecutive unintelligible tool calls after which the agent has failed."""


class ReflectSettings(WorkerSettings):
    """Settings of `plan-act-reflect`."""

    attachments: Literal["folder", "inline"] = "inline"
    rounds: int = Field(default=3, ge=1)
    """Maximum number of rounds of acting and reflecting."""


class CommandSettings(Settings):
    """Settings of `command`."""

    argv: tuple[str, ...] = Field(min_length=1)
    """Command in the box. `{brief}` is the path of the brief; `{input}`, `{output}`, `{software}` and `{scratch}` are
    the folders; `{agent}` is the agent's own folder.
    """
    brief: Literal["file", "stdin", "env"] = "file"
    """How the program gets the brief: always as a file, optionally also on standard input or as `$WORKSAMPLE_BRIEF`."""
    env: dict[str, str] = {}
    """More environment variables."""
    output_characters: int = Field(default=1_000_000, ge=0)
    """Characters of the program's output that the trajectory keeps."""
    folder: str = omittable("")
    """Name of the folder with the agent's program, filled in by `define`. Omitted if there is none."""
    folder_digest: str = omittable("")
    """SHA-256 of that folder's files, filled in by `define`: another program is another agent."""


class ObjectSettings(Settings):
    """Settings of `object`: a solver or an agent of Inspect, or an async function."""

    object: str
    """`module:name` of the object, or of a function that makes it."""
    source: str = ""
    """Digest of the object's source, filled in by `define`: other code is another agent."""
    args: dict[str, Any] = {}
    """Arguments of the function that makes the object."""


class ProgramSettings(CommandSettings):
    """Settings of a command-line agent, with everything from its harness written out for the record."""

    argv: tuple[str, ...] = Field(default=(), min_length=1)
    version: str = ""
    """Version of the program; by default the latest installation."""
    program: str = ""
    """SHA-256 of the program's files, as `worksample agent list` shows it."""
    runtime: str = ""
    """Runtime of the program, such as `node 24.19.0`."""
    files: dict[str, str] = {}
    """Configuration files: path below the home folder -> text."""
    mcp: str = ""
    """Format in which the configuration names MCP servers, at `{mcp}` in `files`; "" if the program takes none."""
    logs: tuple[str, ...] = ()
    """Paths of the program's log below the home folder."""
    args: tuple[str, ...] = ()
    """Additional arguments, after `argv`."""
    instructions: str = ""
    """Instructions appended to the prompt's folders and rules."""
