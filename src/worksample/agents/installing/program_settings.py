"""Settings of a command-line agent: the user's settings, completed by those of the agent's harness."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from worksample.errors import PlanError

from .agent_program import NODE, PROGRAM
from .installed_programs import Installed, find_installed
from .program_registry import find_program

ARCHITECTURES = {"x86_64": "x64", "aarch64": "arm64"}


def resolve_settings(harness: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the harness's settings with the given settings, which take precedence. Add the version and the digest of
    the installed program.

    Raises PlanError if the program is not installed.
    """
    program = find_program(harness)
    assert program is not None
    here = require_installed(harness, str(given.get("version", "")), str(given.get("program", "")))
    words = {
        "program": PROGRAM,
        "node": f"{NODE}/bin/node",
        "machine": platform.machine(),
        "arch": ARCHITECTURES.get(platform.machine(), platform.machine()),
    }
    base: dict[str, Any] = {
        "argv": [_fill(part, words) for part in program.argv],
        "env": {key: _fill(value, words) for key, value in program.env.items()},
        "files": {path: _fill(text, words) for path, text in program.files.items()},
        "brief": program.brief,
        "mcp": program.mcp,
        "logs": list(program.logs),
        "memory": program.memory,
    }
    env = given.get("env", {})
    over = {**given, "env": {**base["env"], **env}} if isinstance(env, Mapping) else dict(given)
    return {**base, **over, "version": here.version, "program": here.digest, "runtime": here.runtime}


def require_installed(harness: str, version: str = "", digest: str = "") -> Installed:
    """Return an installed program. If it is not installed, raises PlanError with the command that installs it."""
    found = find_installed(harness, version, digest)
    if found is not None:
        return found
    wanted = f"{harness}@{version}" if version else harness
    other = find_installed(harness, version) is not None
    raise PlanError(
        f"{wanted} is installed with different files than in the agent's record (digest {digest[:16]})"
        if other
        else f"{wanted} is not installed on this machine",
        where=f"agent with harness {harness}",
        next=f"worksample agent install {wanted}",
    )


def _fill(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace("{" + word + "}", value)
    return text
