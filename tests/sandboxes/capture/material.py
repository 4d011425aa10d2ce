"""An instance with probes, and a store to take things into."""

from __future__ import annotations

from pathlib import Path

from worksample.files import scan
from worksample.records import (
    About,
    Capture,
    Deliverable,
    Grading,
    Instance,
    Protocol,
    TaskWork,
)
from worksample.store import Store


def write(root: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def instance(
    store: Store,
    scratch: Path,
    *,
    inputs: dict[str, str] | None = None,
    reference: dict[str, str] | None = None,
    probes: dict[str, str] | None = None,
    names: tuple[str, ...] = (),
    deliverables: tuple[str, ...] = ("report.csv", "notes/read.me"),
) -> Instance:
    """Committed; the probes' names are `names`."""

    def taken(name: str, files: dict[str, str] | None) -> str:
        return scan(write(scratch / name, files or {}), store.blobs).manifest_digest

    work = TaskWork(
        brief="Do it",
        inputs=taken("inputs", inputs),
        software=taken("software", None),
        deliverables=tuple(Deliverable(name=n, format="csv") for n in deliverables),
    )
    grading = Grading(
        protocol=Protocol.PROGRAM, reference=taken("reference", reference), grader=taken("grader", {"grade.py": "#"})
    )
    capture = Capture(probes=taken("probes", probes), probe_names=names)
    parts = {"work": work.plain(), "capture": capture.plain(), "grading": grading.plain()}
    made = Instance(
        id=Instance.identify("task", "one", parts),
        task="task",
        name="one",
        title="One",
        version="1",
        canary="c",
        work=work,
        capture=capture,
        grading={Protocol.PROGRAM: grading},
        about=About(),
    )
    store.commit(made)
    return made
