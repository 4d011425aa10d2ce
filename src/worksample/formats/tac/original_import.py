"""Import of TheAgentCompany's tasks from a copy of its own repository.

workspaces/tasks/TASK/      task.md, checkpoints.md, evaluator.py, dependencies.yml, scenarios.json, Dockerfile
workspaces/base_image/      common.py, config.py, scoring.py: modules that evaluators import

The import executes nothing of the copy, and Worksample does not ship any of it. Evaluators run unmodified in the
grading box (`original_evaluate.py`).
"""

from __future__ import annotations

import base64
import importlib.util
import json
import shutil
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from worksample.errors import ImportFailed, ManifestError, UsageError
from worksample.extras import package_command
from worksample.files.config_files import UnreadableFile, load
from worksample.formats.package_writer import Packages, PendingPackage, write_packages
from worksample.tasks.workplace_settings import PORTS
from worksample.workplace.colleagues.colleague_profile import Colleague
from worksample.workplace.colleagues.the_agent_company import read_scenarios

from .company import AGENT, SERVICES, read_people, services_for, write_company_folder
from .evaluator_analysis import DATA, UTILS, WORKSPACE, EvaluatorNeeds, analyse_evaluator
from .original_company import NEXT_COMMAND, agent_keys, missing_contents, notes_text, write_wiki
from .original_world import World, impossible, needs_of
from .published_task import ImageFile, image_of

TASKS, BASE = Path("workspaces/tasks"), Path("workspaces/base_image")
SHARED = ("common.py", "config.py", "scoring.py")
KNOWN_SERVICES = ("gitlab", "owncloud", "plane", "rocketchat", "sotopia")
"""Names that dependencies.yml may contain. Sotopia plays the colleagues in the original; here, the workplace does."""
PREPARATION_PROGRAMS = ("pre_init.py", "populate_data.py", "post_init.py", "post_init.sh")
HOST = "the-agent-company.com"
ADDRESSES = ((8092, "files"), (3000, "chat"), (3002, "chat"), (8929, "git"), (8091, "tracker"))
"""(port under the original host name, the service behind it). Rocket.Chat had two ports in different versions."""
SIGN_IN = {
    "owncloud": ("ownCloud", "8092", AGENT),
    "rocketchat": ("Rocket.Chat", "3000", AGENT),
    "gitlab": ("GitLab", "8929/users/sign_in", "root"),
    "plane": ("Plane", "8091", AGENT),
}
"""Product -> (name, port and page at which its browser signs in, account), in the original's order."""
STEPS = 100
"""Maximum steps of an agent: `max_iterations` in the original's evaluation/run_eval.py. It sets no limit to the time of
a trial; its 4 US dollars for model calls (`max_budget_per_task`) are a setting of the preset `tac`, since a limit of
the task would demand a price of every model.
"""


@dataclass(frozen=True, slots=True)
class OriginalTask:
    """A task of a copy."""

    name: str
    folder: Path
    prompt: str
    dependencies: tuple[str, ...]
    colleagues: tuple[Colleague, ...]
    copied: tuple[ImageFile, ...]
    evaluator_needs: EvaluatorNeeds
    source: str
    """Source of the evaluator."""

    @property
    def id(self) -> str:
        """The id of the task's package."""
        return f"tac-{self.name}"

    @property
    def services(self) -> tuple[str, ...]:
        """Products that its dependencies name, its evaluator calls, or its colleagues use."""
        found = {*self.dependencies, *self.evaluator_needs.services, *(("rocketchat",) if self.colleagues else ())}
        return tuple(sorted(found - {"sotopia"}))

    @property
    def initial_files(self) -> tuple[ImageFile, ...]:
        """Files that the original's image gives to the agent, in /workspace or /data."""
        return tuple(
            sorted(
                (c for c in self.copied if c.target.startswith((f"{WORKSPACE}/", f"{DATA}/"))), key=lambda c: c.target
            )
        )

    @property
    def lacks(self) -> tuple[str, ...]:
        """Products whose services no workplace offers."""
        return tuple(name for name in self.services if name not in SERVICES)

    @property
    def unrun_programs(self) -> tuple[str, ...]:
        """Programs that would fill the services before the agent begins. The import does not run them."""
        return tuple(name for name in PREPARATION_PROGRAMS if (self.folder / name).is_file())

    def missing_contents(self, documents: Path | None = None, more: Path | None = None) -> tuple[str, ...]:
        """Return the contents of services that the task needs and neither the copy nor the given folders provide."""
        listed = needs_of(self.name)
        if listed is None:
            return missing_contents(self.services, (self.prompt, self.source), documents, more)
        world = World.read(more, documents)
        return tuple(need for need in listed if world.lacks(need))

    def obstacles(self, documents: Path | None = None, more: Path | None = None) -> dict[str, str]:
        """Return obstacle -> details, for names of OBSTACLES. With any of them, the task cannot be attempted."""
        found = {
            "tac-impossible": impossible(self.name),
            "tac-contents": "; ".join(self.missing_contents(documents, more)),
            "tac-service": ", ".join(self.lacks),
        }
        return {name: details for name, details in found.items() if details}


def read_originals(copy: Path, refused: dict[str, ImportFailed] | None = None) -> list[OriginalTask]:
    """Read all tasks of a copy, sorted by name. Raises UsageError if the folder is not a copy.

    refused: receives unreadable tasks with their errors. Without it, the first such error is raised.
    """
    if not (copy / TASKS).is_dir() or not all((copy / BASE / name).is_file() for name in SHARED):
        wanted = f"{TASKS} and {BASE} with {', '.join(SHARED)}"
        what = f"this is not a copy of TheAgentCompany's repository, which contains {wanted}"
        raise UsageError(what, where=str(copy), next=CLONE_COMMAND)
    folders = sorted(path for path in (copy / TASKS).iterdir() if (path / "task.md").is_file())
    found = []
    for folder in folders:
        try:
            found.append(read_original(folder))
        except ImportFailed as fault:
            if refused is None:
                raise
            refused[folder.name] = fault
    return found


def read_original(folder: Path) -> OriginalTask:
    """Read the folder of a task. Raises ImportFailed if a file is unreadable."""
    evaluator, sealed = folder / "evaluator.py", folder / ENCRYPTED_EVALUATOR
    if not evaluator.is_file() and not sealed.is_file():
        raise ImportFailed("the task has no evaluator", where=str(evaluator), next=CLONE_COMMAND)
    try:
        source = evaluator.read_text(encoding="utf-8") if evaluator.is_file() else decrypt_evaluator(sealed)
        found = analyse_evaluator(source, start="grade_checkpoints")
        scenarios = folder / "scenarios.json"
        played = read_scenarios(scenarios.read_bytes(), where=str(scenarios)) if scenarios.is_file() else ()
        prompt = (folder / "task.md").read_text(encoding="utf-8").strip()
    except (SyntaxError, UnicodeDecodeError) as fault:
        raise ImportFailed(f"cannot be read: {fault}", where=str(folder), next=NEXT_COMMAND) from fault
    except ManifestError as fault:
        raise ImportFailed(fault.what, where=fault.where, next=NEXT_COMMAND) from fault
    copied = image_of(folder)[0] if (folder / "Dockerfile").is_file() else ()
    return OriginalTask(
        folder.name, folder, prompt, read_dependencies(folder / "dependencies.yml"), played, copied, found, source
    )


def read_dependencies(path: Path) -> tuple[str, ...]:
    """Return the names in a list file; no names if the file does not exist. Raises ImportFailed for any other
    contents.
    """
    if not path.is_file():
        return ()
    try:
        found: Any = load(path)
    except UnreadableFile as fault:
        raise ImportFailed(f"cannot be read: {fault}", where=str(path), next=NEXT_COMMAND) from fault
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ImportFailed("the file is not a list of services", where=str(path), next=NEXT_COMMAND)
    if strange := sorted(set(found) - set(KNOWN_SERVICES)):
        what = f"names the unknown service {strange[0]!r}; known are {', '.join(KNOWN_SERVICES)}"
        raise ImportFailed(what, where=str(path), next=NEXT_COMMAND)
    return tuple(dict.fromkeys(found))


def count_needs(
    tasks: Sequence[OriginalTask], documents: Path | None = None, more: Path | None = None
) -> dict[str, tuple[int, int]]:
    """Return product -> (tasks that need it, those of them that run here); `all` comes last."""
    need, run = Counter[str](), Counter[str]()
    for task in tasks:
        for name in (*(task.services or ("no service",)), "all"):
            need[name] += 1
            run[name] += not task.obstacles(documents, more)
    return {name: (need[name], run[name]) for name in sorted(need, key=lambda name: (name == "all", name))}


def import_original(
    copy: Path, target: Path, *, tasks: Sequence[str] = (), overwrite: bool = False, documents: Path | None = None,
    more: Path | None = None, skip_faulty: bool = False,
) -> Packages[Path]:  # fmt: skip
    """Write a package below `target` for each named task, by default for all. Existing packages are kept, unless
    `overwrite`.

    documents: files on ownCloud. more: see `write_company_folder`. Raises UsageError; FaultyPackages, after all others
    are written, if some are faulty, unless `skip_faulty`.
    """
    unreadable: dict[str, ImportFailed] = {}
    found = {task.name: task for task in read_originals(copy, unreadable)}
    if unknown := sorted(set(tasks) - found.keys() - unreadable.keys()):
        raise UsageError(f"no such task: {', '.join(unknown)}", next=f"worksample import tac --original {copy} --list")
    chosen = tasks or [*found, *unreadable]

    def write(name: str, root: Path) -> Path:
        if name in unreadable:
            raise unreadable[name]
        write_original(found[name], copy, root, documents=documents, more=more)
        return target / root.name

    coming = [PendingPackage(name, found[name].id if name in found else name, partial(write, name)) for name in chosen]
    return write_packages(coming, target, overwrite=overwrite, skip_faulty=skip_faulty, next=NEXT_COMMAND)


def write_original(
    task: OriginalTask, copy: Path, root: Path, *, documents: Path | None, more: Path | None = None
) -> None:
    """Write the package of a task into the new folder `root`. documents, more: see `write_company_folder`."""
    (root / "inputs").mkdir(parents=True)
    (root / "reference").mkdir()
    for name in SHARED:
        shutil.copyfile(copy / BASE / name, root / "reference" / name)
    for path in sorted(task.folder.glob("*.py")):
        shutil.copyfile(path, root / "reference" / path.name)
    (root / "reference" / "evaluator.py").write_text(task.source, encoding="utf-8")
    for item in task.copied:
        for place, folder in ((UTILS, "reference"), (WORKSPACE, "inputs"), (DATA, "inputs")):
            if item.target.startswith(f"{place}/"):
                target = root / folder / item.target.removeprefix(f"{place}/")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(item.source, target)
    obstacles = task.obstacles(documents, more)
    (root / "task.toml").write_text(_manifest(task, obstacles), encoding="utf-8")
    (root / "brief.md").write_text(_brief(task), encoding="utf-8")
    (root / "grade.py").write_text(_GRADE, encoding="utf-8")
    if task.services and not obstacles:
        found = next(iter(sorted(copy.rglob("npc_definition.json"))), None)
        people = read_people(found, NEXT_COMMAND) if found is not None else []
        keys = agent_keys(copy / BASE / "config.py")
        write_company_folder(root / "company", people, task.colleagues, {}, documents, agent=keys, more=more)
        if "gitlab" in task.services:
            write_wiki(copy, root / "company")
    lacks = {
        "cannot be attempted": [impossible(task.name)] if impossible(task.name) else [],
        "services": task.lacks,
        "contents": task.missing_contents(documents, more),
        "programs": task.unrun_programs,
    }
    (root / "notes.md").write_text(notes_text(task.name, lacks), encoding="utf-8")


def _brief(task: OriginalTask) -> str:
    provided = "\n".join(f"- `{one.target}`" for one in task.initial_files) or "What is named above."
    sections = {
        "Work description": task.prompt,
        "Provided material": provided,
        "Deliverables": "As described above, in the place that is named there; local files belong in `/workspace`.",
    }
    return "\n\n".join(f"## {name}\n\n{text}" for name, text in sections.items()) + "\n"


def _manifest(task: OriginalTask, obstacles: Collection[str]) -> str:
    from .port_import import canary_of

    department = task.name.split("-", 1)[0]
    others = {"bm": "admin", "ml": "ds", "qa": "pm", "research": "other", "example": "other"}
    judge = json.dumps(task.evaluator_needs.judge)
    lines = [
        f"id = {json.dumps(task.id)}",
        f"title = {json.dumps(task.name.replace('-', ' ').capitalize())}",
        'version = "1.0.0"',
        f'canary = "{canary_of(task.id)}"',
        "",
        "[about]",
        f'category = "tac:{others.get(department, department)}"',
        'licence = "MIT"',
        'provenance = "TheAgentCompany, from a copy of its repository"',
        "",
        "[environment]",
        *_environment(task, obstacles),
        f"limits = {{ turns = {STEPS} }}",
        *_folders(task),
        *(() if obstacles else _addresses(task)),
        *_accounts(task),
        "",
        "[deliverables]",
        # Without services, deliverables are files, and only the prompt knows their names.
        *(['"*" = { format = "files", required = false }'] if not task.services else []),
        "",
        "[grading.checkpoints]",
        "timeout = 300",
        "writable = true",
        *(["workplace = true"] if task.services and not obstacles else []),
        f"settings = {{ dependencies = {json.dumps(list(task.services))}, judge = {judge} }}",
        "",
        "[[instance]]",
        'name = "example"',
    ]
    return "\n".join(lines) + "\n"


def _environment(task: OriginalTask, obstacles: Collection[str]) -> list[str]:
    if obstacles or not task.services:
        # Planning leaves an instance out that needs the service of an obstacle's name.
        return ['interfaces = ["terminal", "browser"]', f"services = {json.dumps(list(obstacles))}"]
    return [
        'interfaces = ["terminal", "browser"]',
        'network = "workplace"',
        'company = "company"',
        f"services = {json.dumps(services_for(task.services))}",
        f"dialects = {json.dumps(list(task.services))}",
    ]


def _folders(task: OriginalTask) -> list[str]:
    """Return the settings of the folders. Files that the original's image has in /workspace are there, writable."""
    reads_data = any(one.target.startswith(f"{DATA}/") for one in task.initial_files)
    if reads_data:
        return [f'paths = {{ input = "{DATA}", output = "{WORKSPACE}", reference = "{UTILS}" }}']
    return [
        *(["copied_inputs = true"] if task.initial_files else []),
        f'paths = {{ output = "{WORKSPACE}", reference = "{UTILS}" }}',
    ]


def _accounts(task: OriginalTask) -> list[str]:
    """Return the accounts with which the original signs its browser in, in its order (evaluation/browsing.py,
    `pre_login`). It tells the agent only GitLab's (evaluation/run_eval.py, `run_solver`).
    """
    if not task.services:
        return []
    lines = ["\n[environment.browser]", "signed_in = true"] if any(n in task.dependencies for n in SIGN_IN) else []
    for product, (title, page, name) in SIGN_IN.items():
        if product not in task.dependencies:
            continue
        places = [(f"http://{HOST}:{page}", name, product == "gitlab")]
        if product == "gitlab":
            # Its pages of issues are the tracker's, which knows the account by its own name.
            places.append((f"http://tracker:{PORTS['tracker']}/login", AGENT, False))
        for url, account, shown in places:
            lines += [
                "\n[[environment.account]]", f'service = "{title}"', f'url = "{url}"', f'name = "{account}"',
                f'password = "{AGENT}"', *(() if shown else ("shown = false",)),
            ]  # fmt: skip
    return lines


def _addresses(task: OriginalTask) -> list[str]:
    offered = {SERVICES[name] for name in task.services}
    return [
        f'\n[[environment.endpoint]]\nname = "{HOST}"\nport = {port}\nto = "service:workplace:{PORTS[service]}"'
        for port, service in ADDRESSES
        if service in offered
    ]


_GRADE = '''"""Grades with the task's own evaluator, which lies in the reference."""

from worksample.formats.tac.original_evaluate import evaluate
from worksample.kit import Case, Grade


def grade(case: Case) -> Grade:
    return evaluate(case)
'''


KEY = "theagentcompany is all you need"
"""The published key from https://github.com/TheAgentCompany/TheAgentCompany. It only keeps evaluators out of web
crawls.
"""
ENCRYPTED_EVALUATOR = "evaluator.py.enc"
CLONE_COMMAND = "git clone https://github.com/TheAgentCompany/TheAgentCompany"
"""Next command if the copy is incomplete."""


def decrypt_evaluator(path: Path) -> str:
    """Return the source of an encrypted evaluator. Raises ImportFailed."""
    if importlib.util.find_spec("cryptography") is None:
        what = "the evaluator is encrypted, and the package cryptography is not installed"
        raise ImportFailed(what, where=str(path), next=package_command("cryptography"))
    from cryptography.fernet import Fernet, InvalidToken

    padded = KEY.encode().ljust(32, b"\0")[:32]
    try:
        return Fernet(base64.urlsafe_b64encode(padded)).decrypt(path.read_bytes()).decode("utf-8")
    except (InvalidToken, UnicodeDecodeError, OSError) as fault:
        what = f"the evaluator cannot be decrypted with the published key: {type(fault).__name__}"
        raise ImportFailed(what, where=str(path), next=CLONE_COMMAND) from fault
