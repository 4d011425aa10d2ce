"""Count what tasks of a copy of TheAgentCompany's repository need, and what runs of them.

    python tools/tac_original.py COPY FOLDER [--task NAME ...]   import into FOLDER, let an agent that does nothing and
                                                                 scripted right ones run, grade; write ROWS
    python tools/tac_original.py COPY FOLDER --table             write ROWS from what FOLDER's stores hold

ROWS is docs/reference/tac-original.csv. A run that was ended goes on where it was. Judge and colleagues are models on
the loopback. Right work is that of tests/formats/tac_original_work.py, on projects that stand in for those of the
images.
"""

from __future__ import annotations

import argparse
import ast
import csv
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from formats.tac_original_work import (  # noqa: E402
    answer_as_company,
    half_work,
    no_work,
    right_work,
    write_stand_ins,
)
from formats.tac_port_runs import Outcome, outcomes, run_work  # noqa: E402
from worksample.errors import ImportFailed  # noqa: E402
from worksample.formats.tac.conversation import TrajectoryUse, use_of_conversation  # noqa: E402
from worksample.formats.tac.original_import import (  # noqa: E402
    TASKS,
    OriginalTask,
    import_original,
    read_dependencies,
    read_originals,
)
from worksample.store import Store  # noqa: E402
from worksample.workplace.in_box.dialects.gitlab import api, routing  # noqa: E402, F401 - one marks what the other finds
from worksample.workplace.in_box.dialects.http_messages import DialectRefused  # noqa: E402
from worksample.workplace.in_box.dialects.plane.api import ROUTES  # noqa: E402

ROWS = ROOT / "docs/reference/tac-original.csv"
NEEDS = {"gitlab": "GitLab", "plane": "Plane", "owncloud": "ownCloud", "rocketchat": "Rocket.Chat", "": "no service"}
USES = {TrajectoryUse.NONE: "not used", TrajectoryUse.SEARCH: "only searched", TrajectoryUse.READ: "read"}
Done = Mapping[str, Mapping[str, Outcome]]
Row = tuple[str, str, str, str | int]


@dataclass(frozen=True)
class Copy:
    """A copy as it was read. `written`: what each task's dependencies.yml names."""

    tasks: Sequence[OriginalTask]
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
        write(counts(found, idle, worked))
    return 0


def read(copy: Path) -> Copy:
    refused: dict[str, ImportFailed] = {}
    tasks = read_originals(copy, refused)
    folders = [path for path in (copy / TASKS).iterdir() if path.is_dir()]
    return Copy(tasks, refused, {path.name: read_dependencies(path / "dependencies.yml") for path in folders})


def run(copy: Path, folder: Path, tasks: Sequence[str]) -> None:
    """Import and let both kinds of agents run."""
    scripted = [work for work in (*right_work(), *half_work()) if work.task in tasks]
    done = {work.task for work in scripted}
    for name, works in (
        ("scripted", [*scripted, *(no_work(task) for task in sorted(done))]),
        ("idle", [no_work(task) for task in tasks if task not in done]),
    ):
        names = list(dict.fromkeys(work.task for work in works))
        more = write_stand_ins(folder / "projects")
        if names:
            roots = import_original(copy, folder / name / "tac", tasks=names, overwrite=True, more=more)
            run_work(
                folder / name, dict(zip(names, roots, strict=True)), works, goes_on=True, answers=answer_as_company
            )


def results(folder: Path, found: Copy) -> dict[str, dict[str, Outcome]]:
    if not (folder / "store").is_dir():
        return {}
    with Store.open(folder / "store") as store:
        return outcomes(store, {task.id: task.name for task in found.tasks})


def _score(one: Outcome) -> str:
    return f"ungraded ({one.cause})" if one.score is None else f"{one.score:.2f}"


def counts(found: Copy, idle: Done, worked: Done) -> Iterator[Row]:
    """Yield the counts by what tasks need, and what single tasks show."""
    for need, title in [*NEEDS.items(), ("all", "all")]:
        yield from (("need", title, figure, value) for figure, value in _counts(need, found, idle).items())
    for task in found.tasks:
        yield from (("not served", task.name, "request", one) for one in dict.fromkeys(unserved(task.source)))
    uses = Counter(use_of_conversation(task.source) for task in found.tasks)
    yield from (("conversation", title, "tasks", uses[use]) for use, title in USES.items())
    for name, both in sorted(worked.items()):
        yield "right work", name, "score", _score(both["right"])
    done = {name: both["nothing"] for name, both in idle.items()}
    why = Counter(_reason(one) for one in done.values() if one.score is None)
    yield from (("ungraded with nothing done", reason, "tasks", count) for reason, count in why.most_common())
    above = sorted(name for name, one in done.items() if (one.score or 0) > 0)
    yield from (("points for nothing done", name, "", "") for name in above)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    yield from (("not readable", name, "Python", version) for name in sorted(found.refused))


def _counts(need: str, found: Copy, idle: Done) -> dict[str, int]:
    def needed(services: Sequence[str]) -> bool:
        return need == "all" or (need in services if need else not services)

    own = [task for task in found.tasks if needed(task.services)]
    refused = [name for name in found.refused if needed(found.written[name])]
    written = [name for name, services in found.written.items() if needed([s for s in services if s != "sotopia"])]
    figures = {
        "tasks": len(own) + len(refused),
        "named": len(written),
        "imported": len(own),
        "contents": sum(not task.missing_contents() for task in own),
        "answered": sum(not unserved(task.source) for task in own),
    }
    if idle:
        done = [idle[task.name]["nothing"] for task in own if task.name in idle]
        graded = [one.score for one in done if one.score is not None]
        figures |= {"run": len(done), "0": sum(score == 0 for score in graded)}
        figures |= {"above 0": sum(score > 0 for score in graded), "ungraded": len(done) - len(graded)}
    return figures


def unserved(source: str) -> list[str]:
    """What an evaluator asks of GitLab and Plane that no dialect answers; `common.py` by itself asks nothing such."""
    return [asked for asked in _asked(ast.parse(source)) if not _served(asked)]


def _asked(tree: ast.Module) -> Iterator[str]:
    """`METHOD PATH` of each request, with `x` for what is only known when it runs."""
    known: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = node.value
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        words = {key.arg: key.value for key in node.keywords}
        if name == "make_gitlab_request":
            given = dict(zip(("project_identifier", "additional_path", "method"), node.args, strict=False)) | words
            project, path = (_text(given.get(key), known) for key in ("project_identifier", "additional_path"))
            place = "/".join(
                part for part in ("projects/x" if project else "projects" if not path else "", path) if part
            )
            yield f"{_text(given.get('method'), known) or 'GET'} {place.partition('?')[0]}"
        elif name in ("get", "post") and node.args and "/" in (text := _text(node.args[0], known)):
            for part in (re.search(r"/api/v1/workspaces/\w+/(.*)", text), re.search(r":8929/(root/\w+/-/.*)", text)):
                if part is not None:
                    yield f"{name.upper()} plane:{part[1]}" if "/api/v1/" in text else f"{name.upper()} page:{part[1]}"


def _text(node: ast.expr | None, known: Mapping[str, ast.expr], depth: int = 3) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, known) for part in node.values)
    if isinstance(node, ast.Name) and node.id in known and depth:
        return _text(known[node.id], known, depth - 1)
    return "" if node is None else "x"


def _served(asked: str) -> bool:
    method, _, path = asked.partition(" ")
    if path.startswith("page:"):
        return False
    if path.startswith("plane:"):
        words = re.sub("/+", "/", path.removeprefix("plane:")).strip("/").split("/")
        return any(
            m == method and len(p) == len(words) and all(a in ("*", b) for a, b in zip(p, words, strict=True))
            for m, p, _ in ROUTES
        )
    if path == "projects/x/x":
        # Quoted when it runs: nothing is known of it.
        return True
    try:
        routing.find_route(method, path)
    except DialectRefused:
        return False
    return True


def _reason(one: Outcome) -> str:
    first = one.reason.splitlines()[0] if one.reason else one.cause
    return first.partition(":")[0][:120] if "does not support here" in first else first[:120]


def write(rows: Iterable[Row]) -> None:
    with ROWS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("about", "name", "figure", "value"), *rows])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
