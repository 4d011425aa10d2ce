"""Harbor's `task.toml`, schema 1.4 and older, as far as a package has a place for it; the rest is passed over."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from worksample.errors import ImportFailed
from worksample.files.config_files import Faults, read_toml, validate

FILE = "task.toml"
AGAIN = "correct the task, then worksample import harbor --overwrite FOLDER OUT"
"""Over what the import that stopped has left."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
Mode = Literal["public", "no-network", "allowlist"]


class _Table(BaseModel):
    """Keys that Harbor may add are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class HarborAbout(_Table):
    """`[task]`."""

    name: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()


class Artifact(_Table):
    """One of `artifacts`."""

    source: str
    destination: str = ""
    exclude: tuple[str, ...] = ()
    service: str = ""


class HarborMcpServer(_Table):
    """One of `mcp_servers`."""

    name: str
    transport: str = "sse"
    url: str = ""
    command: str = ""
    args: tuple[str, ...] = ()


class HealthCheck(_Table):
    """`healthcheck`."""

    command: str
    interval_sec: float = 5.0
    timeout_sec: float = 30.0
    start_period_sec: float = 0.0
    start_interval_sec: float = 5.0
    retries: int = 3


class HarborEnvironment(_Table):
    """`[environment]`, also as `[verifier.environment]`."""

    docker_image: str = ""
    os: str = "linux"
    cpus: float = 1
    memory_mb: int | None = None
    storage_mb: int | None = None
    memory: str = ""
    """Before schema 1.0: text such as `2G`; so `storage`."""
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
    """What `[agent]` and `[verifier]` share."""

    timeout_sec: float | None = None
    user: str | int | None = None
    network_mode: Mode | None = None
    allowed_hosts: tuple[str, ...] = ()
    env: dict[str, str] = {}


class Collect(_Table):
    """One of `[[verifier.collect]]`: a command once the agent is done."""

    command: str
    service: str = "main"
    timeout_sec: float = 60.0


class HarborVerifier(PhaseTable):
    """`[verifier]`."""

    environment_mode: Literal["shared", "separate"] | None = None
    environment: HarborEnvironment | None = None
    collect: tuple[Collect, ...] = ()

    @property
    def separate(self) -> bool | None:
        """Whether it has a box of its own; None where nothing is said of it."""
        if self.environment_mode is not None:
            return self.environment_mode == "separate"
        return None if self.environment is None else True


class HarborStep(_Table):
    """One of `[[steps]]`."""

    name: str
    agent: PhaseTable = PhaseTable()
    verifier: HarborVerifier = HarborVerifier()
    min_reward: float | dict[str, float] | None = None
    healthcheck: HealthCheck | None = None
    artifacts: tuple[str | Artifact, ...] = ()


class HarborTask(_Table):
    """The file as a whole."""

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
        """Where the artifacts lie, a step's own too."""
        given = (*self.artifacts, *(step.artifacts if step is not None else ()))
        return tuple(one if isinstance(one, str) else one.source for one in given)

    def separate(self, step: HarborStep | None = None) -> bool:
        """Whether the verifier has a box of its own: by the step's word, else the task's."""
        own = step.verifier.separate if step is not None else None
        return bool(self.verifier.separate if own is None else own)

    def verifier_environment(self, step: HarborStep | None = None) -> HarborEnvironment | None:
        """What is said of that box: the step's before the task's."""
        return (step.verifier.environment if step is not None else None) or self.verifier.environment

    def hooks(self, step: HarborStep | None = None) -> tuple[Collect, ...]:
        """What is run once the agent is done: the task's, then the step's."""
        return (*self.verifier.collect, *(step.verifier.collect if step is not None else ()))

    @property
    def agent_network(self) -> tuple[Mode, tuple[str, ...]]:
        """What the agent may reach: its phase's word before the environment's; unset is public."""
        return self.network_of(self.agent)

    def verifier_network(self, step: HarborStep | None = None) -> tuple[Mode, tuple[str, ...]]:
        """What the verifier may reach, likewise: by the step's word, else its own box's, else the task's."""
        if step is not None and step.verifier.network_mode is not None:
            return self.network_of(step.verifier)
        own = self.verifier_environment(step)
        if self.separate(step) and own is not None and (own.network_mode or own.allow_internet is not None):
            return _mode(own), own.allowed_hosts
        return self.network_of(self.verifier)

    def verifier_env(self, step: HarborStep | None = None) -> dict[str, str]:
        """Its variables, the step's before the task's."""
        return {**self.verifier.env, **(step.verifier.env if step is not None else {})}

    def network_of(self, phase: PhaseTable) -> tuple[Mode, tuple[str, ...]]:
        if phase.network_mode is not None:
            return phase.network_mode, phase.allowed_hosts or self.environment.allowed_hosts
        return _mode(self.environment), self.environment.allowed_hosts


def _mode(table: HarborEnvironment) -> Mode:
    if table.network_mode is not None:
        return table.network_mode
    return "no-network" if table.allow_internet is False else "public"


def size_of(text: str, usual: int) -> int:
    """Bytes of a text such as `2G`; `usual` for none. ImportFailed."""
    if not text:
        return usual
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ImportFailed(f"{text[:40]!r} is not a size", where=FILE, next=AGAIN)
    return int(float(found[1]) * 1024 ** _UNITS[found[2].upper()])


def read_task(folder: Path) -> HarborTask:
    """The task of a folder. Raises ImportFailed with every fault."""
    faults = Faults()
    document = read_toml(folder / FILE, FILE, faults)
    found = None if document.broken else validate(HarborTask, document.data, faults, file=FILE)
    if found is None or faults.found:
        raise ImportFailed("; ".join(map(str, faults.found[:5])), where=str(folder), next=AGAIN)
    return found
