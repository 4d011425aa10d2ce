"""What a harness says of its program: where it comes from, how it is called, where it writes its log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

PROGRAM = "/opt/worksample/agent"
"""Where a box shows the installed program: `{program}`."""
NODE = "/opt/worksample/node"
"""Where a box shows Node, for programs that need it: `{node}` is the executable."""
INTERPRETER = "/opt/worksample/interpreter"
"""Where a box shows the Python of programs from PyPI."""
LIBRARIES = "/opt/worksample/lib"
"""Where a box shows glibc's loader and the libraries that programs were installed with."""


@dataclass(frozen=True, slots=True)
class Npm:
    """A package of the npm registry. Its install scripts are not run."""

    package: str
    node: bool = False
    """Whether the program itself runs on Node; others bring an executable."""


@dataclass(frozen=True, slots=True)
class PyPI:
    """A package of PyPI, installed into a virtual environment of its own."""

    package: str
    python: tuple[int, int] = (3, 11)
    """The oldest Python that it takes."""
    also: tuple[str, ...] = ()
    """Packages that it needs and does not say so."""


@dataclass(frozen=True, slots=True)
class Program:
    """A command-line agent. Texts may hold `{program}`, `{node}`, `{arch}` and `{machine}` (`x64` and `x86_64`),
    `{door}` (the address of its model, without a path), `{model}`, `{brief}` (the path of the prompt's file) and the
    folders `{input}`, `{output}`, `{software}`, `{scratch}`. Nothing else between braces is touched."""

    name: str
    about: str
    source: Npm | PyPI
    tried: str
    """The version that this harness was written against: what is installed where none is named."""
    argv: tuple[str, ...]
    """How it is called, for one prompt and without a person. Its own sandbox is off: the box is around it."""
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Its configuration: path below the home folder -> text. Updates, telemetry and questions are off."""
    brief: Literal["file", "stdin"] = "stdin"
    """How it gets the prompt: always in the file `{brief}`; also on standard input."""
    logs: tuple[str, ...] = ()
    """Files and folders below the home folder in which it keeps its log: a part of the submission."""
    mcp: str = ""
    """The format in which its configuration names MCP servers (see `worksample.agents.mcp.config_formats`), which
    replace `{mcp}` in one of `files`. Empty if the program takes none."""
    ends_by: str = ""
    """The shell command by which its model ends the work, for programs that go on until then. `agent check` uses it."""


QUIET: Mapping[str, str] = {"DO_NOT_TRACK": "1", "NO_COLOR": "1", "NO_UPDATE_NOTIFIER": "1", "CI": "1"}
"""What many programs understand: no telemetry, no colours, no updates, nobody there to answer."""
