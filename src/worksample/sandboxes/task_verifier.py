"""A task's own verifier, which runs in a fresh box with the root file system that the agent left.

The verifier is external code that reads untrusted work. It therefore runs in its own box, and its result is a file that
the platform reads from outside the box. The verifier sees either the agent's root file system (the image with the
agent's changes), or its own root file system with copied artifacts.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from worksample.box import Box, BoxConfig, BoxLimits, Completed, FairTimeout, Mount, Root
from worksample.files.scratch_folder import scratch_folder
from worksample.records import Limits

from .box_files_on_host import open_contained
from .box_registry import open_box
from .capture import add_to_layer
from .endpoints import serve_endpoints
from .images import BuildNetwork, image_user, load_build_settings, root_with_layers
from .live_ports import LivePorts
from .starved_programs import require_time

SAID, TESTS, SOLUTION = "/logs/verifier", "/tests", "/solution"
PLACES = (SAID, "/logs/agent", "/logs/artifacts")
REWARDS = ("reward.json", "reward.txt")
REWARD_LIMIT = 1 << 20
"""Maximum size of a reward file, in bytes."""
OUTPUT = 8 << 20
"""Maximum number of bytes that a verifier may print."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """The verifier settings of a grading, with the files that the verifier needs."""

    settings: Mapping[str, Any]
    root: Root
    """The root file system of the agent's image."""
    layers: tuple[Path, ...]
    """Archives with the agent's changes to the root file system."""
    grader: Path
    """The grader's folder, which contains the verifier's tests."""
    output: str
    """Path of the agent's output in the box."""
    delivered: Path
    own: Root | None = None
    """The verifier's own root file system; None if the verifier uses the agent's."""
    limits: Limits = field(default_factory=Limits)
    substituted: tuple[tuple[str, str], ...] = ()
    steps: Mapping[str, Verifier | str] = field(default_factory=dict)
    """The verifiers of a task with steps, by name of the step. A text instead of a verifier says why the step was not
    started.
    """

    @contextmanager
    def place(self) -> Iterator[Root]:
        """Prepare the root file system that the verifier sees. It exists until the end of the `with` block. Raises
        ImageError if it cannot be prepared.
        """
        with ExitStack() as held:
            work = held.enter_context(scratch_folder("verifier"))
            layers = list(self.layers)
            tests = self.settings.get("tests")
            given = [_layer(work / "tests.tar", lambda tar: _tests(tar, self.grader / str(tests)))] if tests else []
            if self.own is None:
                yield held.enter_context(root_with_layers(self.root, [*layers, *given]))
                return
            left = held.enter_context(root_with_layers(self.root, layers, whole=True))
            brought = _layer(work / "artifacts.tar", lambda tar: _artifacts(tar, left, self.settings["artifacts"]))
            yield held.enter_context(root_with_layers(self.own, [brought, *given]))


def _layer(path: Path, fill: Callable[[tarfile.TarFile], None]) -> Path:
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        fill(tar)
    return path


def _tests(tar: tarfile.TarFile, folder: Path) -> None:
    tar.add(folder, TESTS.lstrip("/"))


def _artifacts(tar: tarfile.TarFile, root: Root, sources: list[str]) -> None:
    """Add the artifacts that exist to the archive. Missing artifacts are left out: the verifier itself reports them."""
    top = os.open(root.folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for source in sources:
            above, _, name = source.lstrip("/").rpartition("/")
            try:
                descriptor = open_contained(top, above or "/", os.O_PATH | os.O_DIRECTORY)
            except OSError:
                continue
            try:
                add_to_layer(tar, descriptor, name, source.lstrip("/"))
            except OSError:
                continue
            finally:
                os.close(descriptor)
    finally:
        os.close(top)


@dataclass(frozen=True, slots=True)
class VerifierRun:
    """The result of a verifier's run."""

    done: Completed
    files: Mapping[str, bytes]
    """Contents of the reward files, by name."""
    contacts: list[dict[str, Any]]
    """Records of the verifier's connections."""


async def run_verifier(
    verifier: Verifier, root: Root, sandbox: str, seconds: float, live: LivePorts | None = None
) -> VerifierRun:
    """Run a verifier in a box of its own. live: ports of the agent's box, which the verifier finds at its own loopback.

    Raises SandboxError if no box can be started or the machine is too busy.
    """
    config, network = box_for(verifier, root)
    targets = dict(network.targets()) if network else {}
    if live is not None and live.ports:
        targets |= live.targets()
        config = replace(config, network="endpoints", endpoints=(*config.endpoints, *live.targets()))
    async with open_box(config, kind=sandbox) as box, serve_endpoints(box, targets) as ledger:
        done = await box.run(list(verifier.settings["command"]), timeout=FairTimeout(seconds))
        require_time(done, "verifier")
        files = {name: data for name in REWARDS if (data := await _read_reward_file(box, f"{SAID}/{name}")) is not None}
    return VerifierRun(done, files, ledger.plain())


def box_for(verifier: Verifier, root: Root, *, said: str = SAID) -> tuple[BoxConfig, BuildNetwork | None]:
    """Return the configuration of a verifier's box, and the network for its endpoints or None. Raises ImageError if the
    image lacks the user in the settings.
    """
    settings, limits = verifier.settings, verifier.limits
    user = str(settings.get("user") or "")
    number, home = image_user(verifier.own or verifier.root, user) if user else (root.user, root.home)
    root = replace(root, user=number, home=home, workdir=settings.get("workdir") or root.workdir, entrypoint=())
    env, mounts, network = dict(settings.get("env") or {}), [], None
    if verifier.own is None and verifier.delivered.is_dir() and verifier.output != said:
        mounts.append(Mount(str(verifier.delivered), verifier.output))
    if settings.get("network") == "registries":
        operators = load_build_settings()
        network = BuildNetwork(operators)
        env = {**operators.env, **network.env, **env}
        mounts += [Mount(source, place) for place, source in operators.files.items()]
    return BoxConfig(
        mounts=tuple(mounts),
        output=said,
        scratch="/logs/scratch",
        env=tuple(env.items()),
        limits=BoxLimits(memory=limits.memory, processes=limits.processes, disk=limits.disk, output=OUTPUT),
        network="endpoints" if network and network.endpoints else "none",
        endpoints=network.endpoints if network else (),
        python="none",
        root=root,
        label="verify",
    ), network


async def _read_reward_file(box: Box, path: str) -> bytes | None:
    try:
        return await box.read(path, REWARD_LIMIT)
    except OSError:
        return None
