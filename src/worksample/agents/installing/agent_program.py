"""Description of a command-line agent: its source, its command, and where it writes its log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

PROGRAM = "/opt/worksample/agent"
"""Path of the installed program in a box, for the placeholder `{program}`."""
NODE = "/opt/worksample/node"
"""Folder of Node in a box, for programs that run on Node. The placeholder `{node}` is its executable."""
INTERPRETER = "/opt/worksample/interpreter"
"""Folder of Python in a box, for programs that are installed from PyPI."""
LIBRARIES = "/opt/worksample/lib"
"""Folder in a box with glibc's loader and the shared libraries that were installed with a program."""


@dataclass(frozen=True, slots=True)
class Npm:
    """Package of the npm registry from which a program is installed. The package's install scripts are not run."""

    package: str
    node: bool = False
    """True if the program runs on Node; False if the package contains an executable."""


@dataclass(frozen=True, slots=True)
class PyPI:
    """Package of PyPI from which a program is installed, in a virtual environment of its own."""

    package: str
    python: tuple[int, int] = (3, 11)
    """Oldest Python version that the program supports."""
    also: tuple[str, ...] = ()
    """Packages that the program needs but does not declare as dependencies."""


@dataclass(frozen=True, slots=True)
class Program:
    """Description of a command-line agent.

    Texts may contain placeholders: `{program}`, `{node}`, `{arch}` and `{machine}` (such as `x64` and `x86_64`),
    `{door}` (the base URL of the model gateway, without a path), `{model}`, `{brief}` (the path of the prompt's file),
    and the folders `{input}`, `{output}`, `{software}` and `{scratch}`. Other text in braces is not changed.
    """

    name: str
    about: str
    source: Npm | PyPI
    tried: str
    """Version of the program for which this harness was written. It is installed by default."""
    argv: tuple[str, ...]
    """Program and arguments that work on one prompt without asking a person. They switch the program's own sandbox off,
    because the program already runs in a box.
    """
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts of configuration files, by path relative to the home folder. They switch off updates, telemetry and
    questions.
    """
    brief: Literal["file", "stdin"] = "stdin"
    """How the program gets the prompt. The box always has the prompt as the file `{brief}`. With `stdin` the prompt is
    also written to standard input.
    """
    logs: tuple[str, ...] = ()
    """Paths of the program's log files and folders, relative to the home folder. They become a part of the
    submission.
    """
    mcp: str = ""
    """Format in which the program's configuration lists MCP servers, as named in
    `worksample.agents.mcp.config_formats`. The list replaces `{mcp}` in one of `files`. Empty if the program does
    not support MCP servers.
    """
    memory: int = 0
    """Number of bytes of memory that the program itself uses. The box gets them in addition to the task's memory."""
    tools: bool = True
    """False if the program calls no tools, and writes files from what its model answers. Used by `worksample agent
    check`.
    """
    ends_by: str = ""
    """Shell command with which the model ends the work, for programs that do not stop otherwise. Used by `worksample
    agent check`.
    """


QUIET: Mapping[str, str] = {"DO_NOT_TRACK": "1", "NO_COLOR": "1", "NO_UPDATE_NOTIFIER": "1", "CI": "1"}
"""Environment variables that many programs understand. They switch off telemetry, colours, updates and questions."""
