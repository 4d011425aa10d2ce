"""A store with one instance and a submission, graded by one of `graders/`."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tasks.helpers_package import small, write
from worksample.files import scan
from worksample.records import Instance, Origin, Submission, SubmissionPart, now
from worksample.store import Store
from worksample.tasks import ingest, read_package

GRADERS = Path(__file__).parent / "graders"


@dataclass
class Bench:
    folder: Path
    store: Store
    package: Path
    instance: Instance

    def submit(self, files: Mapping[str, str | bytes], **changes: object) -> Submission:
        folder = self.folder / uuid.uuid4().hex
        folder.mkdir()
        for name, data in files.items():
            (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        found = scan(folder, self.store.blobs)
        submission = Submission(
            id=uuid.uuid4().hex,
            instance=self.instance.id,
            work=self.instance.work_digest,
            capture=self.instance.capture_digest,
            origin=Origin.CONTROL,
            entrant="someone",
            at=now(),
            parts={"output": SubmissionPart(manifest=found.manifest_digest)},
        )
        submission = submission.replaced(**changes) if changes else submission
        self.store.commit(submission)
        return submission

    def newer(self, **files: str) -> Instance:
        """The instance as it is after some files of the package changed."""
        write(self.package, files)
        return ingest(read_package(self.package), self.store.blobs).instances[0]


def bench(
    folder: Path, grader: str, timeout: float = 10.0, memory: str = "512MiB", criteria: str | None = None
) -> Bench:
    package = small(folder)
    if criteria is not None:
        write(package, {"criteria.toml": criteria})
    (package / "grade.py").write_text((GRADERS / f"{grader}.py").read_text())
    manifest = (package / "task.toml").read_text()
    manifest = manifest.replace("timeout = 10", f"timeout = {timeout}").replace("512MiB", memory)
    (package / "task.toml").write_text(manifest)
    store = Store.open(folder / "store", create=True)
    taken = ingest(read_package(package), store.blobs)
    store.commit(taken.task, *taken.instances)
    return Bench(folder, store, package, taken.instances[0])
