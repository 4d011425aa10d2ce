"""Control submissions: what they are, and what each must score."""

from __future__ import annotations

import shutil
import tomllib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field, ValidationError

from worksample.errors import ManifestError
from worksample.files import lay, scan
from worksample.records import Frozen, Instance, Origin, Part, Submission, now
from worksample.store import Store

FULL = (1.0, 1.0)
NOTHING = (0.0, 0.0)
NOT_PASSED = (0.0, 1.0 - 1e-9)


class Range(Frozen):
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)


class Case(Frozen):
    """`cases/<name>/case.toml`."""

    about: str
    instance: str
    score: float | Range
    passes: dict[str, bool] = {}
    base: str = Field(default="nothing", pattern="^(nothing|reference)$")

    @property
    def bounds(self) -> tuple[float, float]:
        """The score it must get, as low and high."""
        if isinstance(self.score, Range):
            return self.score.low, self.score.high
        return self.score, self.score


@dataclass(frozen=True)
class Control:
    """One submission made for the audit, and the scores that are right for it."""

    name: str
    bounds: tuple[float, float]
    passes: dict[str, bool] = field(default_factory=dict)

    @property
    def expected(self) -> str:
        low, high = self.bounds
        if low == high:
            return f"{low:g}"
        return "no pass" if self.bounds == NOT_PASSED else f"{low:g} to {high:g}"


@dataclass(frozen=True)
class Bench:
    """Where controls are made: a store, a folder for drafts, and the package's cases."""

    store: Store
    drafts: Path
    cases: Path

    def reference(self, instance: Instance, digest: str) -> tuple[Control, Submission]:
        """The human's deliverable, or `cases/reference/` where the reference is not in the deliverables' form."""
        own = self.cases / "reference" / "output"
        folder = own if own.is_dir() else self.store.folder(digest)
        control = Control("reference", FULL)
        return control, self.submission(instance, control.name, folder)

    def plain(self, instance: Instance) -> Iterator[tuple[Control, Submission]]:
        """Nothing at all, empty files with the right names, and the inputs as they are."""
        empty = self.draft()
        yield Control("nothing", NOTHING), self.submission(instance, "nothing", empty)
        names = [d.name for d in instance.work.deliverables if not d.name.endswith("/") and "*" not in d.name]
        if names:
            hollow = self.draft()
            for name in names:
                (hollow / name).parent.mkdir(parents=True, exist_ok=True)
                (hollow / name).touch()
            yield Control("empty files", NOTHING), self.submission(instance, "empty", hollow)
        copied = self.copied(instance, names)
        yield Control("copied inputs", NOT_PASSED), self.submission(instance, "inputs", copied)

    def copied(self, instance: Instance, names: list[str]) -> Path:
        """The inputs as deliverables: under their own names, and as the files that are wanted where the type fits."""
        target = self.draft()
        shutil.copytree(self.store.folder(instance.work.inputs), target, dirs_exist_ok=True)
        files = [p for p in sorted(target.rglob("*")) if p.is_file()]
        for folder in [target, *(p for p in target.rglob("*") if p.is_dir())]:
            folder.chmod(0o755)
        for name in names:
            alike = [p for p in files if p.suffix == Path(name).suffix]
            if alike and not (target / name).exists():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(max(alike, key=lambda p: p.stat().st_size), target / name)
        return target

    def written(self, instance: Instance, reference: str) -> Iterator[tuple[Control, Submission]]:
        """The author's own cases for this instance."""
        for folder in sorted(p for p in self.cases.glob("*") if p.is_dir() and p.name != "reference"):
            case = read_case(folder)
            if case.instance != instance.name:
                continue
            target = self.draft()
            if case.base == "reference":
                own = self.cases / "reference" / "output"
                shutil.copytree(own if own.is_dir() else self.store.folder(reference), target, dirs_exist_ok=True)
                for path in [target, *target.rglob("*")]:
                    path.chmod(0o755 if path.is_dir() else 0o644)
            if (folder / "output").is_dir():
                shutil.copytree(folder / "output", target, dirs_exist_ok=True)
            control = Control(f"case {folder.name}", case.bounds, case.passes)
            yield control, self.submission(instance, folder.name, target)

    def draft(self) -> Path:
        target = self.drafts / uuid.uuid4().hex
        target.mkdir()
        return target

    def submission(self, instance: Instance, control: str, folder: Path) -> Submission:
        """Take a folder in as a control submission."""
        taken = scan(folder, self.store.blobs)
        part = Part(
            manifest=taken.manifest_digest,
            status=taken.status,
            reason=taken.reason,
            files=len(taken.manifest.files),
            size=taken.manifest.size,
        )
        submission = Submission(
            id=uuid.uuid4().hex,
            instance=instance.id,
            work=instance.work_digest,
            capture=instance.capture_digest,
            origin=Origin.CONTROL,
            entrant="control",
            at=now(),
            control=control,
            parts={"output": part},
            author="audit",
        )
        self.store.commit(submission)
        return submission

    def without_reference(self, instance: Instance) -> str:
        """Digest of an empty reference, for the question whether the grader notices."""
        return scan(self.draft(), self.store.blobs).manifest_digest

    def changed(self, digest: str, path: str, data: bytes) -> Path:
        """The reference laid out with one file replaced."""
        target = self.draft()
        lay(self.store.manifest(digest), self.store.blobs.path, target)
        file = target / path
        file.parent.chmod(0o755)
        file.unlink()
        file.write_bytes(data)
        return target


def read_case(folder: Path) -> Case:
    """Read `case.toml`. Raises ManifestError with the key."""
    file = folder / "case.toml"
    try:
        return Case.model_validate(tomllib.loads(file.read_text()))
    except FileNotFoundError:
        raise ManifestError(
            "a case needs its case.toml", where=str(file), next="see docs: the task package, cases/"
        ) from None
    except tomllib.TOMLDecodeError as fault:
        raise ManifestError(str(fault), where=str(file)) from fault
    except ValidationError as fault:
        first = fault.errors()[0]
        key = ".".join(str(step) for step in first["loc"])
        raise ManifestError(f"{key}: {first['msg']}", where=str(file)) from fault
