"""Many of Harbor's tasks executed: every RUN line, then tests/test.sh to a reward; a line of JSON for each.

    python tools/harbor_many.py FOLDER RESULTS.jsonl [--most 100] [--any] [--solve] [--part 1/2]
    python tools/harbor_many.py --table RESULTS.jsonl

Each task is imported, built and graded as it is (with nothing done), and with --solve after its own solution, too. What
RESULTS has is passed over, so that a run goes on where another ended. Those that ask least of registries come first;
with --any they come as they fall, for a sample of all. Images are removed after each task; what they
begin with alike stays in RESULTS.cache. What builds reach is said by the file that `WORKSAMPLE_BUILDS` names.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from worksample.audit.control_submissions import control
from worksample.errors import WorksampleError
from worksample.formats.harbor import ImportHarbor, import_harbor
from worksample.grading import grade, has_solution, open_round, run_solution
from worksample.records import GradePayload, Instance, Protocol
from worksample.sandboxes.images import task_image
from worksample.sandboxes.images.image_cache import remove_cached
from worksample.store import Store
from worksample.tasks import ingest, read_package

CAUSES = (
    ("a host that was not allowed", r"\(refused: "),
    ("a package that Debian has not", r"Unable to locate package|couldn't find any package|has no installation cand"),
    ("a version that Debian has not", r"Version '.*' for '.*' was not found"),
    ("a package that PyPI has not for this Python", r"No matching distribution|Could not find a version|ResolutionImp"),
    ("a host that was not allowed", r"[Cc]ould not resolve|Name or service not known|refused: |name resolution"),
    ("a build that lasted too long", r"did not end within"),
    ("a file that the task lacks", r"no such file or directory|no items matching glob|failed to get build context"),
)
"""Of builds that fail, by what they said; the first that fits."""
ASKING = (
    r"\b(apt-get|apt|pip3?|uv|npm|npx|yarn|curl|wget|git|gem|cargo|go|cpanm?|conda|mvn|gradle|composer|R|Rscript)\s"
)


def cause_of(said: str) -> str:
    """A failure of a build as a short stable text."""
    return next((name for name, text in CAUSES if re.search(text, said)), "another failure of a RUN line")


async def reward(store: Store, instance: Instance, submission: Any) -> tuple[float | None, str]:
    """The score, or why there is none."""
    round = open_round(
        store, subjects=(submission.id,), protocol=Protocol.PROGRAM, author="harbor_many", reason="harbor_many"
    )
    found = await grade(store, round, submission, instance)
    if isinstance(found.payload, GradePayload):
        return found.payload.score, ""
    return None, f"{found.cause}: {found.reason[:300]}"


async def executed(folder: Path, work: Path, solving: bool) -> dict[str, Any]:
    """What became of one task."""
    (made,) = import_harbor(folder, work / "packages", ImportHarbor(without_internet=True))
    line: dict[str, Any] = {"needs": list(made.needs), "substituted": list(made.substituted)}
    if made.needs:
        return {**line, "state": "not attemptable"}
    package = read_package(Path(made.package))
    store = Store.open(work / "store", create=True)
    try:
        taken = ingest(package, store.blobs)
        store.commit(taken.task, *taken.instances)
        (instance,) = taken.instances
        try:
            image = await asyncio.to_thread(task_image, instance.work.environment, store.folder)
        except WorksampleError as error:
            said = str(error)
            return {**line, "state": "not built", "cause": cause_of(said), "said": said[:200] + " ... " + said[-800:]}
        line["bases"] = [name for name, _ in image.substituted] if image else []
        line["nothing"], why = await reward(store, instance, control(store, instance, "nothing"))
        if solving and has_solution(instance, Protocol.PROGRAM):
            left = await run_solution(store, instance, Protocol.PROGRAM)
            line["solved"], note = await reward(store, instance, left)
            line["note"] = f"{left.note}; {note}".strip("; ")
        if image:
            remove_cached(image.digest)
        return {**line, "state": "reward" if line["nothing"] is not None else "no reward", "said": why}
    finally:
        store.close()


def asks(task: Path) -> int:
    """How many of a task's RUN lines ask a registry or another host for something."""
    try:
        text = (task / "environment" / "Dockerfile").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return 0
    lines = re.sub(r"\\\n", " ", text).splitlines()
    return sum(line.startswith("RUN") and re.search(ASKING, line) is not None for line in lines)


def run(folder: Path, results: Path, most: int, solving: bool, drawn: bool, part: tuple[int, int]) -> None:
    """Execute tasks that were not yet: unless `drawn`, those first that ask least of registries, and else in an order
    that is the same each time and follows no name.
    """
    tasks = sorted({path.parent for path in folder.rglob("task.toml")}, key=lambda path: path.name)
    random.Random(0).shuffle(tasks)
    tasks = (tasks if drawn else sorted(tasks, key=asks))[part[0] - 1 :: part[1]]
    done = (
        {json.loads(line)["task"] for line in results.read_text(encoding="utf-8").splitlines()}
        if results.exists()
        else set()
    )
    cache = results.with_suffix(".cache").absolute()
    cache.mkdir(exist_ok=True)
    os.environ["XDG_CACHE_HOME"] = str(cache)
    for task in [one for one in tasks if one.name not in done][:most]:
        with tempfile.TemporaryDirectory(prefix="harbor-many-") as work:
            begun = time.monotonic()
            try:
                line = asyncio.run(executed(task, Path(work), solving))
            except WorksampleError as error:
                line = {"state": "failed here", "cause": type(error).__name__, "said": str(error)[-800:]}
            line = {"task": task.name, **line, "seconds": round(time.monotonic() - begun, 1)}
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(
                line["task"], line["state"], line.get("cause", ""), line.get("nothing"), line.get("solved"), flush=True
            )
            shutil.rmtree(work, ignore_errors=True)


def table(results: Path) -> None:
    """Counts by state and cause, as a table of Markdown, and what was exchanged."""
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    rows = Counter((one["state"], one.get("cause", "")) for one in lines)
    print(f"{len(lines)} tasks tried\n\n| | cause | tasks |\n|---|---|---|")
    for (state, cause), count in rows.most_common():
        print(f"| {state} | {cause} | {count} |")
    reached = [one for one in lines if one["state"] == "reward"]
    print(
        f"\nOf {len(reached)} with a reward {sum(one['nothing'] > 0 for one in reached)} had more than 0 for no work."
    )
    solved = [one for one in lines if "solved" in one]
    if solved:
        print(f"Of {len(solved)} with a solution {sum(one['solved'] == 1 for one in solved)} scored full with it.")
    exchanged = Counter(name for one in reached for name in [*one["bases"], *one["substituted"]])
    for name, count in exchanged.most_common():
        print(f"Substituted in {count}: {name}")


def main() -> None:
    """The two ways above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=10**9)
    parser.add_argument("--solve", action="store_true")
    parser.add_argument("--any", action="store_true", help="as they fall, not those first that ask least of registries")
    parser.add_argument("--part", default="1/1", help="2/3: the second third, beside two others that run")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.table:
        table(given.paths[0])
    else:
        part, of = map(int, given.part.split("/"))
        run(given.paths[0], given.paths[1], given.most, given.solve, given.any, (part, of))


if __name__ == "__main__":
    main()
