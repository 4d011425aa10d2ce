"""An environment for Harbor that runs a task in a Worksample box.

Harbor loads it by the import path `worksample.formats.harbor.environment:WorksampleEnvironment`. No module of
Worksample imports it, because Harbor needs Python 3.12. Written against harbor 0.24.0
(`harbor.environments.base.BaseEnvironment`).
"""

from __future__ import annotations

import asyncio
import shlex
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from harbor.environments.base import BaseEnvironment, ExecResult, transfer_tar_filter
from harbor.environments.capabilities import EnvironmentCapabilities, EnvironmentResourceCapabilities
from harbor.models.task.config import NetworkMode, NetworkPolicy

from worksample.box import Box, BoxConfig, BoxLimits
from worksample.files.scratch_folder import scratch_folder
from worksample.sandboxes.box_registry import start_box
from worksample.sandboxes.images import CachedImage, prepare_image

MEMORY, DISK = 2 << 30, 10 << 30
"""Bytes of memory and of disk for a task that sets no limit."""
FILE_LIMIT = 1 << 30
"""The largest file, in bytes, that is downloaded from the box."""
OUTPUT_LIMIT = 64 << 20
_OUTPUT, _SCRATCH = "/worksample/output", "/worksample/scratch"
"""Folders that every box must have and no Harbor task uses. The box's user cannot write to their parent folder."""


class WorksampleEnvironment(BaseEnvironment):  # type: ignore[misc]
    """A box with the task's image, built without a container daemon. It has one user and no network.

    Harbor's option `--ek` sets `sandbox`, the kind of box (default: bubblewrap), and `without_internet=true`, which
    runs tasks that need the public internet without it.
    """

    def __init__(self, *args: Any, sandbox: str = "bubblewrap", without_internet: bool = False, **kwargs: Any) -> None:
        self._sandbox, self._without_internet = sandbox, str(without_internet).lower() == "true"
        self._box: Box | None = None
        self._shell = "sh"
        super().__init__(*args, **kwargs)

    @staticmethod
    def type() -> str:
        return "worksample"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(disable_internet=True)

    @classmethod
    def resource_capabilities(cls) -> EnvironmentResourceCapabilities:
        return EnvironmentResourceCapabilities(memory_limit=True)

    def _validate_definition(self) -> None:
        if not (self.environment_dir / "Dockerfile").is_file() and not self.task_env_config.docker_image:
            raise FileNotFoundError(f"{self.environment_dir} has no Dockerfile, and the task names no image")
        names = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml")
        if any((self.environment_dir / name).exists() for name in names):
            raise ValueError("a box runs one container, and this task has a compose file with several services")

    def validate_network_policy_support(self, network_policy: NetworkPolicy | None = None) -> None:
        policy = network_policy or self._network_policy
        if policy.network_mode == NetworkMode.PUBLIC and not self._without_internet:
            raise ValueError(
                "a box has no access to the internet; add --ek without_internet=true to run the task without internet"
            )
        super().validate_network_policy_support(policy)

    async def start(self, force_build: bool) -> None:
        """Build the image, or take it from the cache, and start the box. Raises ImageError, SandboxError."""
        image = await asyncio.to_thread(self._image)
        limits = BoxLimits(
            memory=(self._effective_memory_mb or MEMORY >> 20) << 20,
            disk=(self._effective_storage_mb or DISK >> 20) << 20,
            processes=1024,
            files=1_000_000,
            output=OUTPUT_LIMIT,
        )
        config = BoxConfig(
            root=image.root, python="none", limits=limits, output=_OUTPUT, scratch=_SCRATCH, label=self.session_id[:60]
        )
        self._box = await start_box(config, self._sandbox)
        self._shell = "bash" if (await self._box.run(["sh", "-c", "command -v bash"])).returncode == 0 else "sh"
        result = await self.ensure_dirs(self._mount_targets(writable_only=True))
        if result is not None and result.return_code:
            raise RuntimeError(f"cannot create Harbor's folders in the box: {result.stderr}")
        await self._upload_environment_dir_after_start()

    def _image(self) -> CachedImage:
        if (self.environment_dir / "Dockerfile").is_file():
            return prepare_image(self.environment_dir)
        with scratch_folder("harbor") as folder:
            (folder / "Dockerfile").write_text(f"FROM {self.task_env_config.docker_image}\n", encoding="utf-8")
            return prepare_image(folder)

    async def stop(self, delete: bool) -> None:
        """Close the box. All its files are deleted, even if `delete` is false."""
        box, self._box = self._box, None
        if box is not None:
            await box.close()

    @property
    def box(self) -> Box:
        """The running box. Raises RuntimeError if the environment is not running."""
        if self._box is None:
            raise RuntimeError("the environment is not running")
        return self._box

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """Run a shell command as the box's only user, who owns every file. `user` is ignored."""
        place = cwd or self.task_env_config.workdir or (self.box.config.root.workdir if self.box.config.root else "")
        done = await self.box.run(
            [self._shell, "-c", command], cwd=place or "/", env=self._merge_env(env), timeout=timeout_sec
        )
        if done.timed_out:
            raise RuntimeError(f"Command timed out after {timeout_sec} seconds")
        out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
        return ExecResult(stdout=out, stderr=err, return_code=done.returncode)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        """Create or replace a file in the box."""
        source = Path(source_path)
        data = await asyncio.to_thread(source.read_bytes)
        await self.box.write(target_path, data, source.stat().st_mode & 0o777)

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        """Copy the contents of a folder into a folder of the box."""
        with tempfile.TemporaryFile() as packed:
            await asyncio.to_thread(_pack, Path(source_dir), packed)
            packed.seek(0)
            words = f"mkdir -p {shlex.quote(target_dir)} && tar -x -o -f - -C {shlex.quote(target_dir)}"
            process = await self.box.start(["sh", "-c", words])
            while piece := packed.read(1 << 20):
                await process.stdin.write(piece)
            await process.stdin.close()
            errors = await _read_tail(process.stderr)
            if (await process.wait()).returncode:
                raise RuntimeError(f"cannot copy {source_dir} to {target_dir} in the box: {errors[-500:]!r}")

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        """Copy a file out of the box. Raises OSError if it is not a file, or is larger than FILE_LIMIT."""
        data = await self.box.read(source_path, FILE_LIMIT)
        target = Path(target_path)
        target.parent.mkdir(parents=True, exist_ok=True)
        await asyncio.to_thread(target.write_bytes, data)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        """Copy the contents of a folder out of the box: files, folders, and links that stay inside the folder."""
        with tempfile.TemporaryFile() as packed:
            process = await self.box.start(["tar", "-c", "-f", "-", "-C", source_dir, "."])
            await process.stdin.close()
            while piece := await process.stdout.read(1 << 18):
                packed.write(piece)
            errors = await _read_tail(process.stderr)
            if (await process.wait()).returncode:
                raise RuntimeError(f"cannot copy {source_dir} out of the box: {errors[-500:]!r}")
            packed.seek(0)
            Path(target_dir).mkdir(parents=True, exist_ok=True)
            with tarfile.open(fileobj=packed) as tar:
                await asyncio.to_thread(tar.extractall, target_dir, filter=transfer_tar_filter)


def _pack(source: Path, file: Any) -> None:
    with tarfile.open(fileobj=file, mode="w") as tar:
        tar.add(source, arcname=".")


async def _read_tail(reader: Any) -> bytes:
    found = b""
    while piece := await reader.read():
        found = (found + piece)[-4096:]
    return found
