"""Harbor's `task.toml`, schema 1.4 and older: the keys that a package can express. Other keys are ignored."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from worksample.errors import ImportFailed
from worksample.files.config_files import Faults, read_toml, validate

FILE = "task.toml"
NEXT_COMMAND = "correct the task, then worksample import harbor --overwrite FOLDER OUT"
"""Next command after a fault. It replaces the package that the failed import left."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
Mode = Literal["public", "no-network", "allowlist"]


class _Table(BaseModel):
    """Base of all tables. Unknown keys are ignored, because Harbor may add some."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class HarborAbout(_Table):
    """The table `[task]`."""

    name: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()


class Artifact(_Table):
    """An item of `artifacts`."""

    source: str
    destination: str = ""
    exclude: tuple[str, ...] = ()
    service: str = ""


class HarborMcpServer(_Table):
    """An item of `mcp_servers`."""

    name: str
    transport: str = "sse"
    url: str = ""
    command: str = ""
    args: tuple[str, ...] = ()


class HealthCheck(_Table):
    """The table `healthcheck`."""

    command: str
    interval_sec: float = 5.0
    timeout_sec: float = 30.0
    start_period_sec: float = 0.0
    start_interval_sec: float = 5.0
    retries: int = 3


class HarborEnvironment(_Table):
    """The table `[environment]` or `[verifier.environment]`."""

    docker_image: str = ""
    os: str = "linux"
    cpus: float = 1
    memory_mb: int | None = None
    storage_mb: int | None = None
    memory: str = ""
    """A size such as `2G`, as used before schema 1.0. `storage` has the same form."""
    storage: str = ""
    gpus: int = 0
    tpu: Any = None
    network_mode: Mode | None = None
    allow_internet: bool | None = None
    allowed_hosts: tuple[str, ...] = ()
    env: dict[str, str] = {}
    mcp_servers: tuple[HarborMcpServer, ...] = ()
    skills_dir: str | None = None
    healthcheck: HealthCheck | None = None
    workdir: str | None = None


class PhaseTable(_Table):
    """Keys that `[agent]` and `[verifier]` share."""

    timeout_sec: float | None = None
    user: str | int | None = None
    network_mode: Mode | None = None
    allowed_hosts: tuple[str, ...] = ()
    env: dict[str, str] = {}


class CollectHook(_Table):
    """An item of `[[verifier.collect]]`: a command that runs when the agent is done."""

    command: str
    service: str = "main"
    timeout_sec: float = 60.0


class HarborVerifier(PhaseTable):
    """The table `[verifier]`."""

    environment_mode: Literal["shared", "separate"] | None = None
    environment: HarborEnvironment | None = None
    collect: tuple[CollectHook, ...] = ()

    @property
    def separate(self) -> bool | None:
        """True if the verifier has its own container; None if the table does not say."""
        if self.environment_mode is not None:
            return self.environment_mode == "separate"
        return None if self.environment is None else True


class HarborStep(_Table):
    """An item of `[[steps]]`."""

    name: str
    agent: PhaseTable = PhaseTable()
    verifier: HarborVerifier = HarborVerifier()
    min_reward: float | dict[str, float] | None = None
    healthcheck: HealthCheck | None = None
    artifacts: tuple[str | Artifact, ...] = ()


class HarborTask(_Table):
    """The whole file."""

    task: HarborAbout = HarborAbout()
    metadata: dict[str, Any] = {}
    environment: HarborEnvironment = HarborEnvironment()
    agent: PhaseTable = PhaseTable()
    verifier: HarborVerifier = HarborVerifier()
    solution: PhaseTable = PhaseTable()
    artifacts: tuple[str | Artifact, ...] = ()
    steps: tuple[HarborStep, ...] = ()
    multi_step_reward_strategy: Literal["mean", "final"] | None = None

    def sources(self, step: HarborStep | None = None) -> tuple[str, ...]:
        """Return the paths of the artifacts: the task's, then the step's."""
        given = (*self.artifacts, *(step.artifacts if step is not None else ()))
        return tuple(one if isinstance(one, str) else one.source for one in given)

    def separate(self, step: HarborStep | None = None) -> bool:
        """Return whether the verifier has its own container. The step's setting overrides the task's."""
        own = step.verifier.separate if step is not None else None
        return bool(self.verifier.separate if own is None else own)

    def verifier_environment(self, step: HarborStep | None = None) -> HarborEnvironment | None:
        """Return the settings of the verifier's own container. The step's settings override the task's."""
        return (step.verifier.environment if step is not None else None) or self.verifier.environment

    def hooks(self, step: HarborStep | None = None) -> tuple[CollectHook, ...]:
        """Return the commands that run when the agent is done: the task's, then the step's."""
        return (*self.verifier.collect, *(step.verifier.collect if step is not None else ()))

    @property
    def agent_network(self) -> tuple[Mode, tuple[str, ...]]:
        """The network mode and allowed hosts of the agent: those of `[agent]`, else of `[environment]`; public by
        default.
        """
        return self.network_of(self.agent)

    def verifier_network(self, step: HarborStep | None = None) -> tuple[Mode, tuple[str, ...]]:
        """Return the verifier's network mode and allowed hosts: the step's, else its container's, else the task's."""
        if step is not None and step.verifier.network_mode is not None:
            return self.network_of(step.verifier)
        own = self.verifier_environment(step)
        if self.separate(step) and own is not None and (own.network_mode or own.allow_internet is not None):
            return _network_mode(own), own.allowed_hosts
        return self.network_of(self.verifier)

    def verifier_env(self, step: HarborStep | None = None) -> dict[str, str]:
        """Return the verifier's environment variables. The step's override the task's."""
        return {**self.verifier.env, **(step.verifier.env if step is not None else {})}

    def network_of(self, phase: PhaseTable) -> tuple[Mode, tuple[str, ...]]:
        """Return the network mode and allowed hosts of a phase; by default those of `[environment]`."""
        if phase.network_mode is not None:
            return phase.network_mode, phase.allowed_hosts or self.environment.allowed_hosts
        return _network_mode(self.environment), self.environment.allowed_hosts


def _network_mode(table: HarborEnvironment) -> Mode:
    if table.network_mode is not None:
        return table.network_mode
    return "no-network" if table.allow_internet is False else "public"


def parse_size(text: str, usual: int) -> int:
    """Return the bytes of a size such as `2G`; `usual` for an empty text. Raises ImportFailed for any other text."""
    if not text:
        return usual
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ImportFailed(f"{text[:40]!r} is not a size such as 2G or 512M", where=FILE, next=NEXT_COMMAND)
    return int(float(found[1]) * 1024 ** _UNITS[found[2].upper()])


def read_task(folder: Path) -> HarborTask:
    """Read the task in a folder. Raises ImportFailed with the first five faults."""
    faults = Faults()
    document = read_toml(folder / FILE, FILE, faults)
    found = None if document.broken else validate(HarborTask, document.data, faults, file=FILE)
    if found is None or faults.found:
        raise ImportFailed("; ".join(map(str, faults.found[:5])), where=str(folder), next=NEXT_COMMAND)
    return found
