"""Import of ALE's packages: one task for each package, one instance for each element of its `load()`."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from worksample.errors import ImportFailed
from worksample.formats.package_writer import Packages, PendingPackage, package_names, write_packages
from worksample.tasks import read_package
from worksample.tasks.brief_settings import setting_names

from .evaluate import CODE
from .listing import AleInstance, AleListing
from .obstacles import OBSTACLES, data_folder, obstacles_of

AGENT_SECONDS = 18_000.0
"""ALE's time for an agent, if the card names none."""
GRADER_SECONDS = 1_800
NEXT_COMMAND = "run the same command with --skip-faulty, which leaves them out"
_NAMESPACE = uuid.UUID("0c9d2a53-64e2-5f0c-9b0e-7a0f3f0a7d18")
_SHARED = ("common_config.py", "common_setup.py", "linux_runtime.py")
_GRADE = '''"""Grades with the package's own evaluate(), whose code lies beside this file."""

from worksample.formats.ale.evaluate import evaluate
from worksample.kit import Case, Grade


def grade(case: Case) -> Grade:
    return evaluate(case)
'''


@dataclass(frozen=True, slots=True)
class ImportedAleTask:
    """A package that was written."""

    name: str
    package: str
    """The package in the checkout: `DOMAIN/TASK`."""
    needs: Mapping[str, tuple[str, ...]]
    """Instance -> the names of its obstacles."""

    @property
    def runnable(self) -> int:
        """The number of instances that can be attempted."""
        return sum(not needs for needs in self.needs.values())


def import_ale(
    listings: Sequence[AleListing], checkout: Path, out: Path, *, data: Path | None = None, overwrite: bool = False,
    skip_faulty: bool = False,
) -> Packages[ImportedAleTask]:  # fmt: skip
    """Write a package below `out` for each listed package. Existing packages are kept, unless `overwrite`.

    Raises FaultyPackages, after all others are written, if some have no instances, unless `skip_faulty`.
    """
    names = package_names([f"{one.package.domain}/ale-{one.package.name}" for one in listings])
    pending = [
        PendingPackage(
            one.package.place, names[f"{one.package.domain}/ale-{one.package.name}"],
            partial(_write_task, one, checkout, data),
        )
        for one in listings
    ]  # fmt: skip
    return write_packages(pending, out, overwrite=overwrite, skip_faulty=skip_faulty, next=NEXT_COMMAND)


def _write_task(listing: AleListing, checkout: Path, data: Path | None, root: Path) -> ImportedAleTask:
    package = listing.package
    if not listing.instances:
        raise ImportFailed(listing.fault, where=package.place, next=NEXT_COMMAND)
    root.mkdir(parents=True)
    _copy_code(listing, checkout, root / CODE / "tasks")
    needs = {one.name: tuple(obstacles_of(listing, one, data)) for one in listing.instances}
    if fault := _copy_data(listing, data, root):
        needs = {name: (*words, *(() if "ale-data" in words else (fault,))) for name, words in needs.items()}
    for one in listing.instances:
        (root / f"brief-{one.name}.md").write_text(_brief(one), encoding="utf-8")
    (root / "task.toml").write_text(_manifest(listing, root.name, needs), encoding="utf-8")
    (root / "grade.py").write_text(_GRADE, encoding="utf-8")
    (root / "notes.md").write_text(_notes(listing, needs), encoding="utf-8")
    read_package(root)
    return ImportedAleTask(root.name, package.place, needs)


def _copy_code(listing: AleListing, checkout: Path, target: Path) -> None:
    """Copy the package and the modules that packages share, without links."""
    package, tasks = listing.package, checkout / "tasks"
    folders = [package.folder, tasks / "utils", *sorted(tasks.glob("*/_*"))]
    for folder in folders:
        if folder.is_dir():
            _copy_folder(folder, target / folder.relative_to(tasks))
    for name in _SHARED:
        if (tasks / name).is_file():
            shutil.copyfile(tasks / name, target / name)


def _copy_folder(source: Path, target: Path) -> None:
    """Copy a folder. Raises ImportFailed for links: what they lead to may lie anywhere."""
    links = [path for path in source.rglob("*") if path.is_symlink()]
    if links:
        what = "is a link; put the file itself there"
        raise ImportFailed(what, where=str(links[0]), next=NEXT_COMMAND)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)


def _copy_data(listing: AleListing, data: Path | None, root: Path) -> str:
    """Copy inputs, references and software; return an obstacle if the instances' software differs, else ""."""
    software: list[Path] = []
    for one in listing.instances:
        for name, folder in (("input", "inputs"), ("reference", "reference")):
            target = root / folder / one.name
            target.mkdir(parents=True, exist_ok=True)
            source = data_folder(listing, one, name, data) if data is not None else None
            if source is not None:
                _copy_folder(source, target)
        if data is not None and (given := data_folder(listing, one, "software", data)) is not None:
            software.append(given)
    if not software:
        return ""
    _copy_folder(software[0], root / "software")
    alike = all(_contents(other) == _contents(software[0]) for other in software[1:])
    return "" if alike else "ale-software"


def _contents(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_size, path.stat().st_mode & 0o111)
        for path in folder.rglob("*")
        if path.is_file()
    }


def _brief(one: AleInstance) -> str:
    """Return the unchanged description, wrapped in the sections of a brief."""
    paths = one.paths
    provided = "".join(f"- `{paths[name]}`\n" for name in ("input", "software") if name in paths)
    place = f" in `{paths['output']}`" if "output" in paths else ""
    return (
        f"## Work description\n\n{one.description}\n\n## Provided material\n\n{provided or 'What is named above.'}\n\n"
        f"## Deliverables\n\nWhat the description asks for{place}.\n"
    )


def _manifest(listing: AleListing, name: str, needs: Mapping[str, Sequence[str]]) -> str:
    package = listing.package
    tags = ["ale", f"ale-domain:{package.domain}", *(f"ale-tier:{tier}" for tier in package.tiers)]
    lines = [
        f"id = {_toml(name)}",
        f"title = {_toml(' '.join((package.text('title') or package.name).split())[:200])}",
        'version = "1"',
        f'canary = "worksample-canary-{uuid.uuid5(_NAMESPACE, package.place)}"', "",
        "[about]", 'licence = "CC-BY-4.0"',
        f"provenance = {_toml(f'Agents Last Exam, {package.place}, from a checkout of its repository')}",
        f"tags = {_toml(tags)}", "",
        "[environment]", f"limits = {{ time = {_seconds(listing):g}, memory = {_memory(listing)} }}", "",
        "[deliverables]", '"*" = { format = "files", required = false }', "",
        "[grading.program]", f"timeout = {GRADER_SECONDS}", 'memory = "8GiB"', "writable = true",
        f"settings = {{ package = {_toml(package.place)} }}",
    ]  # fmt: skip
    for one in listing.instances:
        lines += ["", *_instance_lines(one, needs[one.name])]
    return "\n".join(lines) + "\n"


def _instance_lines(one: AleInstance, needs: Sequence[str]) -> list[str]:
    lines = [
        "[[instance]]", f"name = {_toml(one.name)}", f"inputs = {_toml(f'inputs/{one.name}')}",
        f"reference = {_toml(f'reference/{one.name}')}", f"brief = {_toml(f'brief-{one.name}.md')}",
    ]  # fmt: skip
    if needs:
        lines += [f"services = {_toml(list(needs))}"]
    if "ale-paths" not in needs and "ale-system" not in needs:
        lines += [f"paths = {{ {', '.join(f'{key} = {_toml(path)}' for key, path in one.paths.items())} }}"]
    settings = {"ale_index": one.index, "ale_digest": one.digest}
    settings |= {name: "{{" + name + "}}" for name in setting_names(_brief(one))}  # ordinary text of the description
    return [*lines, "[instance.settings]", *(f"{_toml(key)} = {_toml(value)}" for key, value in settings.items())]


def _machine(listing: AleListing, name: str) -> float:
    machine = listing.package.card.get("vm")
    found = machine.get(name) if isinstance(machine, dict) else None
    return float(found) if isinstance(found, (int, float)) and found > 0 else 0.0


def _seconds(listing: AleListing) -> float:
    return _machine(listing, "timeout_s") or _machine(listing, "timeout") or AGENT_SECONDS


def _memory(listing: AleListing) -> int:
    return int(min(_machine(listing, "memory_gb") or 4, 64)) << 30


def _notes(listing: AleListing, needs: Mapping[str, Sequence[str]]) -> str:
    lines = [f"Imported from the package `{listing.package.place}` of Agents' Last Exam.", ""]
    for name, words in needs.items():
        lines += [
            f"`{name}` cannot be attempted here; it needs {', '.join(OBSTACLES[word] for word in words)}."
        ] * bool(words)
    return "\n".join(lines).strip() + "\n"


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
