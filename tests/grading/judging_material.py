"""A task with criteria of all kinds, judged by a model on loopback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from grading.helpers_grading import Bench
from openai_server import Served
from tasks.helpers_package import small, write
from worksample.files import Sink
from worksample.grading.judges import judges_for
from worksample.models import Exhibit, JudgeConfig, ModelService, Price, Roles, judges_of
from worksample.records import EntryKind
from worksample.store import Store
from worksample.tasks import ingest, read_package

MODEL, OTHER = "openai-api/local/judge-1", "openai-api/local/judge-2"
PRICES = {MODEL: Price(input=10, output=10), OTHER: Price(input=10, output=10)}
CRITERIA = """
[[criterion]]
id = "right"
text = "The answer is right."
points = 2

[[criterion]]
id = "polite"
text = "The answer greets its reader."
importance = "critical"
by = "judge"

[[criterion]]
id = "rude"
text = "The answer insults its reader."
importance = "pitfall"
by = "judge"

[[criterion]]
id = "style"
text = "The answer is well put."
importance = "optional"
by = "person"
"""


def judged_bench(folder: Path) -> Bench:
    package = small(folder)
    manifest = (package / "task.toml").read_text()
    manifest = manifest.replace(
        "[[instance]]", "[grading.rubric]\n[grading.holistic]\n[grading.pairwise]\n[[instance]]", 1
    )
    write(package, {"task.toml": manifest, "criteria.toml": CRITERIA})
    store = Store.open(folder / "store", create=True)
    taken = ingest(read_package(package), store.blobs)
    store.commit(taken.task, *taken.instances)
    return Bench(folder, store, package, taken.instances[0])


def roles(served: Served, sink: Sink, judges: dict[str, JudgeConfig] | None = None, **config: Any) -> Roles:
    service = ModelService(args=served.args, retries=0, prices=PRICES)
    return judges_of(judges or {"judge": JudgeConfig(model=MODEL, **config)}, {}, service, sink)


async def as_text(store: Store, manifest: str) -> tuple[Exhibit, ...]:
    """All files as text: what `viewing.exhibits` gives for them, without a box."""
    files = [e for e in store.manifest(manifest).entries if e.kind is EntryKind.FILE]
    return tuple(Exhibit.of_text(store.blobs.read(e.blob or "").decode(), e.path) for e in files)


def judges(found: Roles) -> Callable[..., Any]:
    return judges_for(found, as_text)
