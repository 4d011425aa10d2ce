"""Copies of the input files in the output folder, for tasks whose agent finds them there."""

from __future__ import annotations

from worksample.box import Box, FairTimeout
from worksample.errors import SandboxError
from worksample.records import Environment

COPY_SECONDS = 120
"""Maximum seconds to copy the input files."""


async def copy_inputs(box: Box, environment: Environment) -> None:
    """Copy the input files into the output folder, writable for the agent, if the environment says so. Raises
    SandboxError.
    """
    if not environment.copied_inputs:
        return
    paths = environment.paths
    argv = ["sh", "-c", 'cp -RL -- "$0/." "$1" && chmod -R u+w -- "$1"', paths.input, paths.output]
    done = await box.run(argv, timeout=FairTimeout(COPY_SECONDS))
    if done.returncode:
        what = f"the input files cannot be copied into {paths.output}: {done.stderr.decode('utf-8', 'replace')[-300:]}"
        raise SandboxError(what, where="environment.copied_inputs", next="raise limits.disk in task.toml")
