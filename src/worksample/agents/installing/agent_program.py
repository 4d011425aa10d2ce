"""Description of a command-line agent: its source, its call and its log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

PROGRAM = "/opt/worksample/agent"
"""Path of the installed program in a box: `{program}`."""
NODE = "/opt/worksample/node"
"""Path of Node in a box, for programs that need it. `{node}` is the executable."""
INTERPRETER = "/opt/worksample/interpreter"
"""Path of Python in a box, for programs from PyPI."""
LIBRARIES = "/opt/worksample/lib"
"""Path of glibc's loader and the installed libraries in a box."""


@dataclass(frozen=True, slots=True)
class Npm:
    """Package of the npm registry. Its install scripts are not run."""

    package: str
    node: bool = False
    """True if the program runs on Node; others have an executable."""


@dataclass(frozen=True, slots=True)
class PyPI:
    """Package of PyPI, installed into its own virtual environment."""

    package: str
    python: tuple[int, int] = (3, 11)
    """Oldest supported Python version."""
    also: tuple[str, ...] = ()
    """Packages that it needs without declaring them."""


@dataclass(frozen=True, slots=True)
class Program:
    """Command-line agent.

    Texts may contain these placeholders: `{program}`, `{node}`, `{arch}` and `{machine}` (`x64` and `x86_64`), `{door}`
    (the base URL of the model gateway, without a path), `{model}`, `{brief}` (the path of the prompt's file), and the
    folders `{input}`, `{output}`, `{software}`, `{scratch}`. Other braces are left alone.
    """

    name: str
    about: str
    source: Npm | PyPI
    tried: str
    """Version that this harness was written for; installed by default."""
    argv: tuple[str, ...]
    """Command for one prompt, without a person. The program's own sandbox is off, since it runs in a box."""
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Configuration files: path below the home folder -> text. They turn updates, telemetry and questions off."""
    brief: Literal["file", "stdin"] = "stdin"
    """How the program gets the prompt: always in the file `{brief}`, optionally also on standard input."""
    logs: tuple[str, ...] = ()
    """Files and folders below the home folder with the program's log, which becomes a part of the submission."""
    mcp: str = ""
    """The format in which its configuration names MCP servers (see `worksample.agents.mcp.config_formats`), which
    replace `{mcp}` in one of `files`. Empty if the program takes none.
    """
    ends_by: str = ""
    """Shell command with which the model ends the work, for programs that otherwise go on. Used by `agent check`."""


QUIET: Mapping[str, str] = {"DO_NOT_TRACK": "1", "NO_COLOR": "1", "NO_UPDATE_NOTIFIER": "1", "CI": "1"}
"""Variables that many programs understand: no telemetry, no colours, no updates, no questions."""
