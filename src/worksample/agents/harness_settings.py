"""Settings of each harness. An unknown key is rejected, so that a misspelt setting is not silently replaced by its
default.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import Field

from worksample.records import Frozen
from worksample.records.base import omittable
from worksample.records.task import Observation

PromptPart = Literal["role", "folders", "runtime", "company", "tools", "formats", "skills", "check"]
PROMPT_PARTS: tuple[PromptPart, ...] = get_args(PromptPart)


CompactionTier = Literal["auto", "clear", "summarise", "truncate"]
WorkerTool = Literal["bash", "python", "files", "image", "search", "plan", "memory", "fetch", "web_search"]


class LimitSettings(Frozen):
    """Limits of the agent. A limit of the arm or of the experiment replaces the same limit here."""

    time: float | None = Field(default=None, gt=0)
    """Maximum wall-clock time of a trial in seconds."""
    cost: float | None = Field(default=None, gt=0)
    """Maximum cost of a trial in US dollars."""
    tokens: int | None = Field(default=None, gt=0)
    turns: int | None = Field(default=None, gt=0)
    """Maximum number of model calls in a trial."""


class Settings(Frozen):
    """Settings that every harness has."""

    limits: LimitSettings = LimitSettings()
    observe: tuple[Observation, ...] = omittable(())
    """Kinds of observation of browser pages that the agent gets. They replace the task's choice. Omitted from the
    record if not set.
    """


class HumanSettings(Settings):
    """Settings of the harness `person`, for people in an arm with `worker = "human"`. It has no settings of its own."""


class ScriptedSettings(Settings):
    """Settings of the harness `scripted`. `define` reads them from the folder of scripts."""

    script: dict[str, Any] = {}
    """Steps of the script by task and instance. They are part of the agent's identity."""
    tool_output: int = Field(default=16_000, ge=200)


class MediaSettings(Frozen):
    """Models for media, as `openai/NAME` or `google/NAME`. Without a model, the agent has no tool of this kind."""

    image: str = ""
    """Model that makes and edits pictures, such as `openai/gpt-image-1`."""
    speech: str = ""
    """Model that speaks, such as `openai/tts-1`; or `local`: the program espeak-ng in the box."""
    video: str = ""
    """Model that makes films, such as `google/veo-3.0-generate-preview`."""
    calls: int = Field(default=50, ge=1)
    """Maximum number of calls of media models in a trial."""


class WorkerSettings(Settings):
    """Settings of the harness `worker`."""

    tools: tuple[WorkerTool, ...] = ("bash", "python", "files", "image")
    """Tools of the agent. An agent gets `image` only if it declares the capability `vision`, and `fetch` and
    `web_search` only if the task's endpoints lead to a host or a service.
    """
    search_url: str = omittable("")
    """Address of a search service that answers `?q=WORDS&format=json` as SearXNG does, for the tool `web_search`. The
    box must reach it through an endpoint of the task. Omitted from the record if empty.
    """
    subagents: tuple[Literal["general", "explore"], ...] = omittable(())
    """Kinds of sub-agents to which the agent can delegate: `general` has the agent's own tools, `explore` only tools
    that read. Omitted from the record if empty.
    """
    gui: Literal["tool", "subagent"] = omittable("tool")
    """Who uses the browser and the desktop: the agent itself, or a sub-agent `gui`, whose pictures the agent does not
    see (ALE 3.2). Omitted from the record if the agent itself does.
    """
    subagents_at_once: int = omittable(3, ge=1, le=20)
    """Maximum number of sub-agents that work at the same time (ALE C.4). Omitted from the record if 3."""
    subagent_turns: int = omittable(50, ge=1)
    """Maximum number of model calls of a sub-agent. Omitted from the record if 50."""
    gui_turns: int = omittable(15, ge=1)
    """Maximum number of model calls of the sub-agent `gui` (ALE C.4). Omitted from the record if 15."""
    compaction: tuple[CompactionTier, ...] = omittable(("auto",))
    """How a long conversation is compacted. `auto`: by the model's service, else by a summary. Otherwise tiers, which
    are applied in this order until enough is free: `clear` old tool results, `summarise`, `truncate`. Empty: never.
    Omitted from the record if `auto`.
    """
    keep_turns: int = omittable(3, ge=0)
    """Number of newest answers whose tool results the tier `clear` keeps. Omitted from the record if 3."""
    media: MediaSettings = omittable(MediaSettings())
    """Models for pictures, speech and films (RLI B.6). Omitted from the record if none is named."""
    repeats: int = omittable(0, ge=0)
    """Number of consecutive identical tool calls with identical results after which the agent gets a note. Three times
    as many end the work. 0 means never. Omitted from the record if 0.
    """
    interfaces: tuple[Literal["browser", "desktop"], ...] = omittable(("browser", "desktop"))
    """Interfaces that the agent uses if the task has them. Omitted from the record if it uses all."""
    attachments: Literal["folder", "inline"] = "folder"
    """How the agent gets the input files: `folder`, only as files in the box, or `inline`, with their text also in the
    first message (UpBench 5.1).
    """
    attachment_characters: int = Field(default=60_000, ge=0)
    """Maximum number of characters of all inlined files together. Of files that do not fit, only the names are
    given.
    """
    auxiliary: bool = False
    """True if the prompt names the scratch folder as the place for intermediate files (RLI B.6)."""
    self_check: Literal["none", "read", "look"] = "read"
    """How the prompt asks the agent to check its deliverables before it submits: `none`, not at all; `read`, read them;
    or `look`, render and view them (RLI B.6).
    """
    prompt: tuple[PromptPart, ...] = omittable(PROMPT_PARTS)
    """Parts of the system message. A part says nothing if the task has nothing of its kind. Omitted from the record if
    all parts are used.
    """
    tell_limits: bool = omittable(False)
    """True if the prompt tells the limits of time, cost, tokens and steps. Omitted if false."""
    instructions: str = ""
    """Text that is appended to the system message."""
    generation: dict[str, Any] = {}
    """Generation settings of the model by their names in Inspect, such as `temperature`, `max_tokens` or
    `reasoning_effort`.
    """
    tool_output: int = Field(default=16_000, ge=200)
    """Maximum number of characters of a tool result that the model sees. The middle of a longer result is left out."""
    command_time: float = Field(default=180, gt=0)
    """Default time limit of a shell command or a Python cell in seconds. The model may request another limit."""
    command_time_most: float = Field(default=1800, gt=0)
    """Longest time limit in seconds that the model may request for a shell command or a Python cell."""
    compact_at: float = Field(default=0.8, gt=0)
    """Size at which the conversation is compacted: a share of the model's context size, or a number of tokens if
    greater than 1.
    """
    nudges: int = Field(default=3, ge=0)
    """Number of consecutive answers without a tool call that get a reminder. The next answer without a tool call ends
    the work.
    """
    malformed: int = Field(default=5, ge=1)
    """Number of consecutive tool calls that cannot be parsed after which the agent has failed."""


class ReflectSettings(WorkerSettings):
    """Settings of the harness `plan-act-reflect`."""

    attachments: Literal["folder", "inline"] = "inline"
    rounds: int = Field(default=3, ge=1)
    """Maximum number of rounds of acting and reflecting."""


class CommandSettings(Settings):
    """Settings of the harness `command`."""

    argv: tuple[str, ...] = Field(min_length=1)
    """Program and arguments to run in the box. `{brief}` is the path of the brief's file. `{input}`, `{output}`,
    `{software}` and `{scratch}` are the folders of the work. `{agent}` is the folder of the agent's program.
    """
    brief: Literal["file", "stdin", "env"] = "file"
    """How the program gets the brief. The box always has the brief as a file. With `stdin` the brief is also written to
    standard input, and with `env` it is also in `$WORKSAMPLE_BRIEF`.
    """
    env: dict[str, str] = {}
    """Additional environment variables of the program."""
    output_characters: int = Field(default=1_000_000, ge=0)
    """Maximum number of characters of the program's output that the trajectory stores."""
    memory: int = omittable(0, ge=0)
    """Number of bytes of memory that the program itself needs. The box gets them in addition to the task's memory.
    Omitted from the record if 0.
    """
    folder: str = omittable("")
    """Name of the folder with the agent's program, set by `define`. Omitted from the record if the agent has no
    folder.
    """
    folder_digest: str = omittable("")
    """SHA-256 of the files in the agent's folder, set by `define`. With it, an agent whose program changes gets another
    id.
    """


class ObjectSettings(Settings):
    """Settings of the harness `object`, for agents that are Python objects: a solver or agent of Inspect, or an async
    function.
    """

    object: str
    """Name `module:name` of the object, or of a function that creates the object."""
    source: str = ""
    """Digest of the object's source code, set by `define`. With it, an agent whose code changes gets another id."""
    args: dict[str, Any] = {}
    """Arguments of the function that creates the object."""


class ProgramSettings(CommandSettings):
    """Settings of a command-line agent. The record has all settings, including those from the agent's harness."""

    argv: tuple[str, ...] = Field(default=(), min_length=1)
    version: str = ""
    """Version of the program. The default is the version that was installed last."""
    program: str = ""
    """SHA-256 of the program's files, which `worksample agent list` shows."""
    runtime: str = ""
    """Runtime on which the program runs, such as `node 24.19.0`."""
    files: dict[str, str] = {}
    """Texts of the configuration files, by path relative to the home folder."""
    mcp: str = ""
    """Format in which the configuration lists MCP servers. The list replaces `{mcp}` in `files`. "" means that the
    program does not support MCP servers.
    """
    logs: tuple[str, ...] = ()
    """Paths of the program's log files, relative to the home folder."""
    args: tuple[str, ...] = ()
    """Additional arguments of the program. They follow those of `argv`."""
    instructions: str = ""
    """Text that is appended to the part of the prompt about folders and rules."""
