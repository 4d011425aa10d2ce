"""Count what tasks of a copy of TheAgentCompany's repository need, and what runs of them; the tables in docs/tac.md.

    python tools/tac_original.py COPY FOLDER [--task NAME ...]   import into FOLDER, let an agent that does nothing and
                                                                 scripted right ones run, grade; write the table
    python tools/tac_original.py COPY FOLDER --table             write the table from what FOLDER's stores hold

A run that was ended goes on where it was. Judge and colleagues are models on the loopback. Right work is that of
tests/formats/tac_original_work.py, on projects that stand in for those of the images.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from formats.tac_original_work import nothing, right, stand_ins  # noqa: E402
from formats.tac_port import Outcome, outcomes, performed  # noqa: E402
from worksample.errors import ImportFailed  # noqa: E402
from worksample.formats.tac.original import (  # noqa: E402
    TASKS,
    Original,
    dependencies,
    import_original,
    read_originals,
)
from worksample.store import Store  # noqa: E402

PAGE = ROOT / "docs/tac.md"
BEGIN, END = "<!-- originals: written by tools/tac_original.py -->", "<!-- end of originals -->"
NEEDS = {"gitlab": "GitLab", "plane": "Plane", "owncloud": "ownCloud", "rocketchat": "Rocket.Chat", "": "no service"}
Done = Mapping[str, Mapping[str, Outcome]]


@dataclass(frozen=True)
class Copy:
    """A copy as it was read. `written`: what each task's dependencies.yml names."""

    tasks: Sequence[Original]
    refused: Mapping[str, ImportFailed]
    written: Mapping[str, Sequence[str]]


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__ or "", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("copy", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", dest="tasks", action="append", default=[])
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args(words)
    found = read(given.copy)
    if not given.table:
        run(given.copy, given.folder, given.tasks or [task.name for task in found.tasks])
    idle, worked = (results(given.folder / name, found) for name in ("idle", "right"))
    for name in sorted({*worked, *idle}):
        told = {**idle.get(name, {}), **worked.get(name, {})}
        sys.stdout.write(f"{name}: {'; '.join(f'{who} {_score(one)}' for who, one in told.items())}\n")
    if not given.tasks:
        write(table(found, idle, worked))
    return 0


def read(copy: Path) -> Copy:
    refused: dict[str, ImportFailed] = {}
    tasks = read_originals(copy, refused)
    folders = [path for path in (copy / TASKS).iterdir() if path.is_dir()]
    return Copy(tasks, refused, {path.name: dependencies(path / "dependencies.yml") for path in folders})


def run(copy: Path, folder: Path, tasks: Sequence[str]) -> None:
    """Import and let both kinds of agents run."""
    for name, works in (("right", right()), ("idle", [nothing(task) for task in tasks])):
        works = [work for work in works if work.task in tasks]
        names = [work.task for work in works]
        more = stand_ins(folder / "projects") if name == "right" else None
        if not names:
            continue
        roots = import_original(copy, folder / name / "tac", tasks=names, overwrite=True, more=more)
        performed(folder / name, dict(zip(names, roots, strict=True)), works, goes_on=True)


def results(folder: Path, found: Copy) -> dict[str, dict[str, Outcome]]:
    if not (folder / "store").is_dir():
        return {}
    with Store.open(folder / "store") as store:
        return outcomes(store, {task.id: task.name for task in found.tasks})


def _score(one: Outcome) -> str:
    return f"ungraded ({one.cause})" if one.score is None else f"{one.score:.2f}"


def table(found: Copy, idle: Done, worked: Done) -> str:
    """The counts by what tasks need, and what they say of single tasks."""
    heads = ("need", "tasks", "named", "imported", "contents", "run", "served", "0", "above 0", "ungraded")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for need, title in [*NEEDS.items(), ("all", "all")]:
        lines.append(_row(need, title, found, idle))
    lines += ["", "| task | right work, on stand-ins | nothing done, without them |", "|---|---|---|"]
    for name, both in sorted(worked.items()):
        lines.append(
            f"| `{name}` | {_score(both['right'])} | {_score(idle[name]['nothing']) if name in idle else ''} |"
        )
    lines += ["", "| ungraded with nothing done, because | tasks |", "|---|---|"]
    why = Counter(_reason(both["nothing"]) for both in idle.values() if both["nothing"].score is None)
    lines += [f"| {reason.replace('|', '/')} | {count} |" for reason, count in why.most_common()]
    above = sorted(name for name, both in idle.items() if (both["nothing"].score or 0) > 0)
    lines += ["", f"Nothing done earns points in {len(above)}: " + ", ".join(f"`{name}`" for name in above) + "."]
    refused = ", ".join(f"`{name}`" for name in sorted(found.refused))
    lines += ["", f"Not read by Python {sys.version_info[0]}.{sys.version_info[1]}: {refused or 'none'}."]
    return "\n".join(lines)


def _row(need: str, title: str, found: Copy, idle: Done) -> str:
    def counts(services: Sequence[str]) -> bool:
        return need == "all" or (need in services if need else not services)

    own = [task for task in found.tasks if counts(task.services)]
    refused = [name for name in found.refused if counts(found.written[name])]
    written = [name for name, services in found.written.items() if counts([s for s in services if s != "sotopia"])]
    done = [idle[task.name]["nothing"] for task in own if task.name in idle]
    unserved = sum("has not here" in one.reason for one in done if one.score is None)
    graded = [one.score for one in done if one.score is not None]
    whole = sum(not task.missing() for task in own)
    cells = [len(own) + len(refused), len(written), len(own), whole, len(done), len(done) - unserved]
    cells += [sum(score == 0 for score in graded), sum(score > 0 for score in graded), len(done) - len(graded)]
    return f"| {title} | " + " | ".join(str(cell) for cell in cells) + " |"


def _reason(one: Outcome) -> str:
    first = one.reason.splitlines()[0] if one.reason else one.cause
    return first.partition(":")[0][:120] if "has not here" in first else first[:120]


def write(text: str) -> None:
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
