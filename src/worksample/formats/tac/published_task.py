"""Reader of a task in the installed port: prompt, image, services, checkpoints, and the needs of its evaluator.

Nothing is executed: YAML is loaded safely, and Python is parsed only.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worksample.errors import ImportFailed, MissingExtra
from worksample.extras import install_command
from worksample.files.config_files import UnreadableFile, load

from .evaluator_analysis import DATA, UTILS, WORKSPACE, EvaluatorNeeds, analyse_evaluator

_FILE = re.compile(r"[\w-]+\.(?:txt|csv|xlsx|docx|pdf|md|db|py|pt|jpg|png|ods|pptx|sh|json)\b")
_CHECKPOINT = re.compile(
    r"^#{2,3}\s+Checkpo?int\s+(\d+)\s*[^(\n]*\((\d+)\s*(?:pts?|points?)\)\s*$(.*?)(?=^#|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_LISTED_CHECKPOINT = re.compile(r"^(\d+)\.\s*[\[(](\d+)\s*(?:pts?|points?)[\])]\s*(.+)$", re.MULTILINE | re.IGNORECASE)

REINSTALL = "pip install --force-reinstall inspect_evals"
"""Next command if the installed port differs from the published one."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint as published."""

    number: int
    points: int
    text: str


@dataclass(frozen=True, slots=True)
class ImageFile:
    """A file that the published image contains at `target`."""

    source: Path
    target: str


@dataclass(frozen=True, slots=True)
class PublishedTask:
    """A task as published."""

    name: str
    folder: Path
    version: str
    prompt: str
    services: tuple[str, ...]
    colleagues: tuple[Mapping[str, Any], ...]
    """Simulated colleagues as published: user name and instructions, including secrets."""
    checkpoints: tuple[Checkpoint, ...]
    copied: tuple[ImageFile, ...]
    builds: tuple[str, ...]
    """Commands of the image that create data: `RUN sqlite3 ...`."""
    evaluator_needs: EvaluatorNeeds
    """Needs of the evaluator."""

    @property
    def id(self) -> str:
        """The id of the task's package."""
        return "tac-" + self.name.replace("_", "-")

    @property
    def workspace_files(self) -> tuple[str, ...]:
        """Files in the agent's folder at the start, as paths relative to it."""
        inside = (c.target for c in self.copied if c.target.startswith(f"{WORKSPACE}/"))
        return tuple(target.removeprefix(f"{WORKSPACE}/") for target in inside)

    @property
    def is_local(self) -> bool:
        """True if deliverables belong in the agent's folder: the prompt names it, or the evaluator uses no service."""
        return "workspace" in self.prompt.casefold() or not self.evaluator_needs.services

    @property
    def expected_files(self) -> tuple[str, ...]:
        """Files in the agent's folder that the prompt asks for or the evaluator reads.

        Provided files are left out, unless the prompt asks to complete one. `*` means any file: prompt and evaluator
        name no file, and the evaluator uses no service.
        """
        if not self.is_local:
            return ()
        given = set() if "complete it" in " ".join(self.prompt.split()) else set(self.workspace_files)
        found = tuple(dict.fromkeys(n for n in (*self.evaluator_needs.files, *self._files_by_path) if n not in given))
        # An evaluator without named files examines any file in the folder.
        return found or (() if self.evaluator_needs.services else ("*",))

    @property
    def prompted_files(self) -> tuple[str, ...]:
        """Files of `expected_files` that the prompt names, in the prompt's spelling."""
        if not self.is_local or "*" in self.expected_files:
            return self.expected_files
        names = dict.fromkeys((*self._files_by_path, *(n for n in _FILE.findall(self.prompt) if not self._is_given(n))))
        # The prompt may name a file with another suffix than the evaluator reads.
        others = {_stem(n) for n in self.expected_files if n not in names}
        return tuple(n for n in names if n in self.expected_files or _stem(n) in others)

    @property
    def _files_by_path(self) -> tuple[str, ...]:
        """Files that the prompt names by their path in the agent's folder."""
        found = re.findall(rf"{WORKSPACE}/[\w./ -]*?\.\w{{2,5}}\b", self.prompt)
        sentences = re.split(r"(?<=[.!?])\s|\n", self.prompt)
        quoted = (n for s in sentences if WORKSPACE in s for n in re.findall(r'"([\w-]+\.\w{2,5})"', s))
        names = (*(path.rsplit("/", 1)[-1] for path in found), *quoted)
        return tuple(dict.fromkeys(n for n in names if not self._is_given(n)))

    def _is_given(self, name: str) -> bool:
        """Return whether the task provides a file of this name that the agent does not have to complete."""
        given = {c.target.rsplit("/", 1)[-1] for c in self.copied if not c.target.startswith(f"{UTILS}/")}
        return name in given and name not in (
            self.workspace_files if "complete it" in " ".join(self.prompt.split()) else ()
        )

    @property
    def needs(self) -> tuple[str, ...]:
        """Needs of a run beyond the package: a model for each colleague, writable folders, a cluster."""
        return (
            *(f"a model for {c.get('username', '')}" for c in self.colleagues),
            *(f"a writable {DATA} for {name}" for name in self.evaluator_needs.outside),
            *(("a cluster",) if self.name in _TASKS_WITH_CLUSTER else ()),
        )

    @property
    def grading_needs(self) -> tuple[str, ...]:
        """Needs of grading besides files: services and a judge model."""
        return (*self.evaluator_needs.services, *(("a judge model",) if self.evaluator_needs.judge else ()))


def _stem(name: str) -> str:
    return name.rsplit(".", 1)[0].casefold()


_TASKS_WITH_CLUSTER = frozenset({"sde_run_rising_wave_locally"})


def find_source() -> tuple[Path, str]:
    """Return the folder of the installed tasks, and the version. Raises MissingExtra if `inspect_evals` is not
    installed.
    """
    spec = importlib.util.find_spec("inspect_evals")
    places = list(spec.submodule_search_locations or []) if spec else []
    for place in places:
        folder = Path(place) / "theagentcompany" / "tasks"
        if folder.is_dir():
            return folder, importlib.metadata.version("inspect_evals")
    raise MissingExtra(
        "TheAgentCompany's tasks need the extra 'tac', which is not installed (inspect_evals)",
        next=install_command("tac"),
    )


def read_all(folder: Path, version: str) -> list[PublishedTask]:
    """Read all tasks, sorted by name, without the port's own test tasks (`test_*`)."""
    names = sorted(p.parent.name for p in folder.glob("*/eval.yaml") if not p.parent.name.startswith("test_"))
    return [read_one(folder / name, version) for name in names]


def read_one(folder: Path, version: str) -> PublishedTask:
    """Read the folder of a task. Raises ImportFailed if it has an unknown form."""
    spec = _yaml(folder / "eval.yaml")
    variants = spec.get("variants")
    if not isinstance(variants, dict) or not variants:
        raise ImportFailed("the task has no prompt variants", where=str(folder / "eval.yaml"), next=REINSTALL)
    variant = next(iter(variants.values()))
    copied, builds = image_of(folder)
    source = (folder / "evaluator.py").read_text(encoding="utf-8")
    return PublishedTask(
        name=folder.name,
        folder=folder,
        version=version,
        prompt=str(variant["prompt"]).strip(),
        services=_services(folder),
        colleagues=tuple(npc for npc in spec.get("npcs") or [] if isinstance(npc, dict)),
        checkpoints=_checkpoints(folder),
        copied=copied,
        builds=builds,
        evaluator_needs=_analyse(source, folder),
    )


def _analyse(source: str, folder: Path) -> EvaluatorNeeds:
    try:
        return analyse_evaluator(source)
    except SyntaxError as fault:
        raise ImportFailed(f"cannot be read: {fault}", where=str(folder / "evaluator.py"), next=REINSTALL) from fault


def _yaml(path: Path) -> dict[str, Any]:
    try:
        value = load(path)
    except UnreadableFile as fault:
        raise ImportFailed(f"cannot be read: {fault}", where=str(path), next=REINSTALL) from fault
    return value if isinstance(value, dict) else {}


def _services(folder: Path) -> tuple[str, ...]:
    """Return the products that the compose file includes."""
    text = (folder / "compose.yaml").read_text(encoding="utf-8")
    known = ("owncloud", "rocketchat", "gitlab", "plane")
    return tuple(name for name in known if f"servers/{name}/" in text or f"\n  {name}:" in text)


def image_of(folder: Path) -> tuple[tuple[ImageFile, ...], tuple[str, ...]]:
    """Return the files that a Dockerfile copies into the task's image, and its commands that create data."""
    copied: list[ImageFile] = []
    builds: list[str] = []
    text = (folder / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        words = line.split()
        if line.startswith("COPY ") and len(words) == 3:
            copied.extend(_copied_files(folder, words[1], words[2]))
        elif line.startswith("RUN sqlite3 "):
            builds.append(line.removeprefix("RUN ").strip())
    return tuple(copied), tuple(builds)


def _copied_files(folder: Path, name: str, target: str) -> list[ImageFile]:
    if name == ".":
        own = {"Dockerfile", "compose.yaml", "eval.yaml", "evaluator.py", "checkpoints.md", "__init__.py"}
        files = [p for p in sorted(folder.iterdir()) if p.is_file() and p.name not in own]
        return [ImageFile(p, f"{target.rstrip('/')}/{p.name}") for p in files]
    source = folder / name
    if target.endswith("/") or "." not in target.rsplit("/", 1)[-1]:
        target = f"{target.rstrip('/')}/{source.name}"
    return [ImageFile(source, target)] if source.is_file() else []


def _checkpoints(folder: Path) -> tuple[Checkpoint, ...]:
    path = folder / "checkpoints.md"
    if not path.is_file():
        return ()
    text = path.read_text(encoding="utf-8").split("## Improved implementation")[0]
    found = _CHECKPOINT.findall(text) or _LISTED_CHECKPOINT.findall(text)
    return tuple(Checkpoint(int(n), int(p), " ".join(body.split())) for n, p, body in found)
