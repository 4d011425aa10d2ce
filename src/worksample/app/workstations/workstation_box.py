"""The box for a person's task: configured like an agent's, with the person's files so far."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from worksample.agents.workspace import SCRATCH
from worksample.box import Box, BoxConfig, BoxLimits, Mount
from worksample.errors import SandboxError
from worksample.records import Agent, Entry, EntryKind, Experiment, Instance, Manifest, Slot, Worker, unquote_path
from worksample.results.assignments.shared_slot_turns import arm_of, store_manifest, work_so_far
from worksample.runs.trial_limits import limits_of
from worksample.sandboxes import start_box
from worksample.sandboxes.images.image_source import image_root
from worksample.store import Store


@dataclass(frozen=True)
class WorkstationTask:
    """A slot that a person works on, with its experiment, instance and agent."""

    slot: Slot
    experiment: Experiment
    instance: Instance
    agent: Agent

    @classmethod
    def of(cls, store: Store, slot: Slot) -> WorkstationTask:
        """Load the task of a slot. Raises RecordMissing."""
        experiment = store.get(Experiment, slot.experiment)
        return cls(slot, experiment, store.get(Instance, slot.instance), store.get(Agent, slot.agent))

    @property
    def worker(self) -> Worker:
        return arm_of(self.experiment, self.slot).worker

    @property
    def seconds(self) -> float | None:
        """Seconds that a person may work; None for no limit."""
        limits = arm_of(self.experiment, self.slot).limits
        return limits.time if limits is not None and self.worker is Worker.HUMAN else None


def _config(store: Store, task: WorkstationTask) -> BoxConfig:
    work = task.instance.work
    paths, limits = work.environment.paths, limits_of(task.instance, arm_of(task.experiment, task.slot))
    root = image_root(work.environment, store.folder)
    return BoxConfig(
        mounts=(
            Mount(str(store.folder(work.inputs)), paths.input),
            Mount(str(store.folder(work.software)), paths.software),
        ),
        python="toolbox" if root is None else "none",
        root=root,
        output=paths.output,
        scratch=SCRATCH,
        limits=BoxLimits(memory=limits.memory, processes=limits.processes, disk=limits.disk),
        label=f"seat-{task.slot.id}",
    )


async def open_box_of(store: Store, task: WorkstationTask) -> tuple[Box, str]:
    """Open a box with the work so far in its output. Also return the digest of that manifest.

    Raises SandboxError, StoreError.
    """
    config = await asyncio.to_thread(_config, store, task)
    manifest = await asyncio.to_thread(work_so_far, store, task.slot.id)
    box = await start_box(config, task.experiment.lock.sandbox)
    try:
        await _put_back(store, box, manifest)
    except BaseException:
        await box.close()
        raise
    return box, await asyncio.to_thread(store_manifest, store, manifest)


async def _put_back(store: Store, box: Box, manifest: Manifest) -> None:
    """Restore the files by commands inside the box, so that no path can lead outside."""
    top = box.config.output
    for entry in manifest.entries:
        path = f"{top}/{_name(entry)}"
        if entry.kind is EntryKind.FOLDER:
            await box.run(["mkdir", "-p", "--", path])
        elif entry.kind is EntryKind.LINK and entry.target is not None:
            await box.run(["ln", "-sfn", "--", entry.target, path])
        elif entry.kind is EntryKind.FILE and entry.blob is not None:
            data = await asyncio.to_thread(store.blobs.read, entry.blob)
            try:
                await box.write(path, data, 0o755 if entry.executable else 0o644)
            except OSError as error:
                raise SandboxError(
                    f"{entry.path} could not be restored in the box: {error.strerror}",
                    next="free disk space on the server, then start the timer again",
                ) from error


def _name(entry: Entry) -> str:
    return unquote_path(entry.path).decode("utf-8", "surrogateescape")
