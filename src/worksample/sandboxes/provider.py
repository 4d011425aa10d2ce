"""Boxes as sandboxes of Inspect: the sandbox type "worksample", a thin layer over `Box`.

The type is registered as an entry point, so that every `inspect eval --sandbox worksample` can use it. The config of a
sample (`SandboxEnvironmentSpec("worksample", BoxSpec(...))`) is written to Inspect's logs. So it must hold nothing that
agents may not see, especially not the path of a reference.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any, Literal, overload

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUserUnsupportedError,
    sandboxenv,
)
from inspect_ai.util._sandbox.environment import SandboxUnavailableError
from pydantic import BaseModel, ConfigDict, ValidationError

from worksample.box import Box, BoxConfig
from worksample.errors import SandboxError
from worksample.files.config_files import load
from worksample.sandboxes import start_box
from worksample.sandboxes.bubblewrap_layout import USER
from worksample.sandboxes.desktop import Display, DisplayConfig, start_box_with_display
from worksample.sandboxes.orphan_sweeper import sweep


class BoxSpec(BaseModel):
    """The box of a sample: its config, and its kind (see `open_box`). A BoxSpec is hashable and can be restored from
    Inspect's logs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    box: BoxConfig = BoxConfig()
    kind: str = "bubblewrap"
    display: DisplayConfig | None = None
    """A screen on which programs in the box can draw; None for a box without a screen."""


def read_spec(path: str) -> BoxSpec:
    """Return the spec in a TOML, YAML or JSON file with the fields of BoxSpec. Raises SandboxError with the file and
    the key that is wrong.
    """
    try:
        return BoxSpec.model_validate(load(Path(path)) or {})
    except ValueError as failure:
        said = failure.errors()[0] if isinstance(failure, ValidationError) else failure
        raise SandboxError(
            f"not a valid box config: {said}",
            where=path,
            next="correct the file by docs/reference/boxes.md, 'In Python'",
        ) from None


@sandboxenv(name="worksample")
class WorksampleSandbox(SandboxEnvironment):
    """A box as a sandbox environment of Inspect. The attribute `box` is the box."""

    def __init__(self, box: Box, display: Display | None = None) -> None:
        super().__init__()
        self.box, self.display = box, display
        self.memory_kills = 0
        """Number of commands during which a process of the box was killed for lack of memory."""

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Start a box for a sample. Raises SandboxUnavailable if this machine cannot start the box; SandboxError for
        other failures.
        """
        spec = read_spec(config) if isinstance(config, str) else config or BoxSpec()
        if not isinstance(spec, BoxSpec):
            raise SandboxError(
                f"{type(spec).__name__} is not a box config",
                where="sandbox worksample",
                next="give a BoxSpec of worksample.sandboxes.provider, or a file",
            )
        if spec.display is None:
            return {"default": cls(await start_box(spec.box, spec.kind))}
        return {"default": cls(*await start_box_with_display(spec.box, spec.display, spec.kind))}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Close the sample's box."""
        for environment in environments.values():
            own = environment.as_type(cls)
            await own.box.close()
            if own.display is not None:
                await own.display.close()

    @classmethod
    async def cli_cleanup(cls, id: str | None) -> None:
        """Remove what killed runs left on this machine. Boxes of living runs are not touched."""
        for line in sweep():
            print(f"removed {line}")  # noqa: T201 - the answer of `inspect sandbox cleanup worksample`

    @classmethod
    def default_concurrency(cls) -> int | None:
        """Return None, which stands for no limit. With a limit, Inspect would delay samples by random times."""
        return None

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        """Return the BoxSpec that was stored in one of Inspect's logs."""
        return BoxSpec.model_validate(config)

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command in the box, as Inspect's documentation describes. A box has only one user, and commands are
        never retried.
        """
        if user not in (None, USER):
            raise SandboxUserUnsupportedError(f"a box has one user, {USER}; {user!r} cannot run commands in it")
        data = input.encode() if isinstance(input, str) else input or b""
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        try:
            done = await self.box.run(cmd, input=data, cwd=cwd, env=env, timeout=timeout, output_limit=limit)
        except SandboxError as failure:
            raise SandboxUnavailableError(str(failure)) from failure
        self.memory_kills += done.oom
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        if done.timed_out:
            raise TimeoutError(f"Command timed out after {timeout} seconds")
        if done.truncated:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, out + err)
        if done.returncode == 126 and not out and os.strerror(errno.EACCES) in err:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), cmd[0])
        code = done.returncode if done.returncode >= 0 else 128 - done.returncode
        return ExecResult(success=code == 0, returncode=code, stdout=out, stderr=err)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file in the box. Raises the errors that Inspect's documentation lists."""
        await self.box.write(file, contents.encode() if isinstance(contents, str) else contents)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Return the content of a file in the box. Raises the errors that Inspect's documentation lists."""
        try:
            data = await self.box.read(file, SandboxEnvironmentLimits.MAX_READ_FILE_SIZE)
        except OSError as failure:
            if failure.errno == errno.EFBIG:
                raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None) from None
            raise
        return data.decode() if text else data


def box_of(environment: SandboxEnvironment) -> Box:
    """Return the box behind Inspect's `sandbox()`. Raises TypeError if the environment belongs to another provider."""
    return environment.as_type(WorksampleSandbox).box


def display_of(environment: SandboxEnvironment) -> Display | None:
    """Return the screen of Inspect's `sandbox()`; None if its box has no screen. Raises TypeError if the environment
    belongs to another provider.
    """
    return environment.as_type(WorksampleSandbox).display


def memory_kills(environment: SandboxEnvironment) -> int:
    """Return the number of commands during which a process of the sandbox was killed for lack of memory. Return 0 for
    the environment of another provider.
    """
    try:
        return environment.as_type(WorksampleSandbox).memory_kills
    except TypeError:
        return 0
