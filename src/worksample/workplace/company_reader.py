"""Reader of a company's folder. It checks every file and reports all faults of all files together."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from worksample.errors import CaptureError, ManifestError
from worksample.files import HashSink, scan
from worksample.files.config_files import Faults, nearest, read_toml, validate
from worksample.records import CaptureStatus, Frozen, Manifest, digest_of
from worksample.tasks.package_files import check_tree, is_folder, is_ignored, read_text

from .colleagues.colleague_profile import Colleague, ColleagueTable, tells
from .company import (
    STATUSES,
    Calendar,
    Channel,
    Company,
    CompanyTable,
    Person,
    ProjectTable,
    SeedPage,
    SeedProject,
    SeedRepository,
)

FILE = "company.toml"
FOLDERS = ("channels", "projects", "wiki", "repositories", "calendars", "colleagues", "files")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_PAGE = re.compile(r"[A-Za-z][A-Za-z0-9 _-]{0,80}")
T = TypeVar("T", bound=Frozen)


def read_company(root: Path) -> Company:
    """Return the company that a folder describes (docs/reference/workplace.md).

    Raises ManifestError; a `FaultyManifest` lists every fault of every file.
    """
    root = Path(root)
    if not is_folder(root) or not (root / FILE).is_file():
        raise ManifestError(
            f"this folder is not a company: it has no {FILE}", where=str(root), next="see docs/reference/workplace.md"
        )
    faults = Faults()
    check_tree(root, faults)
    faults.check(str(root), "put files and folders there")
    table = validate(CompanyTable, read_toml(root / FILE, FILE, faults).data, faults, file=FILE)
    channels = dict(_tables(root, "channels", Channel, faults))
    projects = _projects(root, faults)
    repositories = dict(_tables(root, "repositories", SeedRepository, faults))
    calendars = dict(_tables(root, "calendars", Calendar, faults))
    played = dict(_tables(root, "colleagues", ColleagueTable, faults))
    _check_strays(root, faults)
    if table is not None:
        ids = [person.id for person in table.person]
        for twice in sorted({one for one in ids if ids.count(one) > 1}):
            faults.add(FILE, "person", f"two people have the id {twice!r}")
        for file, key, who in _named_people(table, channels, projects, repositories, calendars):
            if who not in ids:
                faults.add(file, key, f"there is no person {who!r}{nearest(who, ids)}", ", ".join(sorted(ids)))
        _check_colleagues(played, ids, channels, faults)
        _check_rooms(channels, faults)
        _check_people(table, projects, faults)
        _check_numbers(projects, repositories, faults)
    _check_repositories(root, repositories, faults)
    faults.check(str(root), f"worksample workplace check {root}")
    assert table is not None
    return Company(
        **dict(table), channels=channels, projects=tuple(projects), repositories=repositories, calendars=calendars,
        colleagues=tuple(_colleague(one, played[one.id]) for one in table.person if one.id in played),
        folder=folder_digest(root),
    )  # fmt: skip


def _colleague(person: Person, table: ColleagueTable) -> Colleague:
    return Colleague(
        **dict(table), id=person.id, name=person.name, role=person.role, responsibilities=person.responsibilities
    )


def _check_colleagues(
    played: dict[str, ColleagueTable], ids: list[str], rooms: Collection[str], faults: Faults
) -> None:
    for name, table in played.items():
        file = f"colleagues/{name}.toml"
        if name not in ids:
            faults.add(file, "", f"there is no person {name!r}{nearest(name, ids)}", ", ".join(sorted(ids)))
        for number, one in enumerate(table.knows):
            if any(other.id == one.id for other in table.knows[:number]):
                faults.add(file, f"knows[{number}].id", f"two entries have the id {one.id!r}")
            if not tells(one.text, one):
                faults.add(file, f"knows[{number}].marks", "the text of this fact does not contain all of its marks")
        for key, what, said in _cross_references(table, ids, played, rooms):
            if said not in what:
                faults.add(file, key, f"there is no {said!r}{nearest(said, what)}", ", ".join(sorted(what)))
        for number, first in enumerate(table.begins):
            if bool(first.to) == bool(first.room) or (first.at is None) == (first.on is None):
                faults.add(file, f"begins[{number}]", "needs either to or room, and either at or on")
        for number, deed in enumerate(table.does):
            if not (deed.issue or deed.file or deed.event or deed.say):
                faults.add(file, f"does[{number}]", "this entry has no action", "add issue, file, event or say")


def _check_rooms(channels: dict[str, Channel], faults: Faults) -> None:
    for name, channel in channels.items():
        if channel.members == () and not (channel.owners or channel.open):
            faults.add(
                f"channels/{name}.toml", "members", "this channel has no members, so nobody could read it",
                "no members (for everybody), or owners, or open = true",
            )  # fmt: skip


def _cross_references(
    table: ColleagueTable, ids: Sequence[str], played: Collection[str], rooms: Collection[str]
) -> Iterator[tuple[str, Collection[str], str]]:
    """Yield (key, existing names, given name) for every name in a colleague's file that refers to something outside
    this file.
    """
    deeds = [one.id for one in table.does]
    for number, rule in enumerate(table.rule):
        yield from ((f"rule[{number}].does", deeds, id) for id in rule.does)
        if rule.asks is not None:
            yield f"rule[{number}].asks.who", played, rule.asks.who
    for number, first in enumerate(table.begins):
        yield from ((f"begins[{number}].does", deeds, id) for id in first.does)
        if first.to:
            yield f"begins[{number}].to", ids, first.to
        if first.room:
            yield f"begins[{number}].room", rooms, first.room
        if first.on is not None and first.on.room:
            yield f"begins[{number}].on.room", rooms, first.on.room
    for number, deed in enumerate(table.does):
        if deed.say is not None:
            yield f"does[{number}].say.room", rooms, deed.say.room
        if deed.issue is not None and deed.issue.status:
            yield f"does[{number}].issue.status", STATUSES, deed.issue.status
        if deed.issue is not None and deed.issue.assigned:
            yield f"does[{number}].issue.assigned", ids, deed.issue.assigned


def folder_digest(root: Path) -> str:
    """Return a digest of the paths, sizes and contents of all files of a company. Raises CaptureError if a file cannot
    be read.
    """
    found = scan(root, HashSink())
    if found.status is not CaptureStatus.COMPLETE:
        raise CaptureError(found.reason, where=str(root), next="remove foreign files, and make every file readable")
    kept = Manifest(entries=tuple(entry for entry in found.manifest.entries if not is_ignored(entry.path)))
    return digest_of(kept.plain())


def _named_files(root: Path, folder: str, ending: str, faults: Faults) -> Iterator[tuple[str, Path]]:
    """Yield (name, path) of the files in a folder that have this ending, sorted by name."""
    if not (root / folder).is_dir():
        return
    for path in sorted((root / folder).iterdir()):
        if path.suffix == ending and path.is_file():
            if _NAME.fullmatch(path.stem):
                yield path.stem, path
            else:
                faults.add(f"{folder}/{path.name}", "", "is not a valid name", "lower case letters, digits, _ and -")


def _tables(root: Path, folder: str, model: type[T], faults: Faults) -> Iterator[tuple[str, T]]:
    for name, path in _named_files(root, folder, ".toml", faults):
        file = f"{folder}/{path.name}"
        document = read_toml(path, file, faults)
        found = None if document.broken else validate(model, document.data, faults, file=file)
        if found is not None:
            yield name, found


def _projects(root: Path, faults: Faults) -> list[SeedProject]:
    pages: dict[str, list[SeedPage]] = {}
    found = []
    for folder in sorted((root / "wiki").iterdir()) if (root / "wiki").is_dir() else ():
        pages[folder.name] = []
        for path in sorted(folder.glob("*.md")) if folder.is_dir() else ():
            file = f"wiki/{folder.name}/{path.name}"
            if not _PAGE.fullmatch(path.stem):
                faults.add(file, "", "is not a valid page title", "letters, digits, blanks, _ and -")
            pages[folder.name].append(SeedPage(title=path.stem, text=read_text(root, file, faults)))
    for name, table in _tables(root, "projects", ProjectTable, faults):
        found.append(SeedProject(**dict(table), id=name, pages=tuple(pages.pop(name, ()))))
        sprints = {sprint.name for sprint in table.sprint}
        for number, issue in enumerate(table.issue):
            if issue.sprint and issue.sprint not in sprints:
                problem = f"there is no sprint {issue.sprint!r}{nearest(issue.sprint, sprints)}"
                faults.add(f"projects/{name}.toml", f"issue[{number}].sprint", problem, ", ".join(sorted(sprints)))
    for name in sorted(pages):
        names = sorted(project.id for project in found)
        faults.add(f"wiki/{name}", "", f"there is no project {name!r}{nearest(name, names)}", ", ".join(names))
    return found


def _check_strays(root: Path, faults: Faults) -> None:
    """Report files and folders that are not part of a company and would never be read, such as a misspelt folder."""
    for path in sorted(root.iterdir()):
        known = path.name in (*FOLDERS, FILE, "README.md", "LICENSE")
        if not known and not is_ignored(path.name) and not path.name.startswith("."):
            faults.add(path.name, "", f"is not part of a company{nearest(path.name, FOLDERS)}", ", ".join(FOLDERS))


def _named_people(
    table: CompanyTable,
    channels: dict[str, Channel],
    projects: Iterable[SeedProject],
    repositories: dict[str, SeedRepository],
    calendars: dict[str, Calendar],
) -> Iterator[tuple[str, str, str]]:
    """Yield (file, key, person) for every reference to a person in any file of the company."""
    for name, channel in channels.items():
        file = f"channels/{name}.toml"
        yield from ((file, "members", who) for who in channel.members or ())
        for key in ("owners", "moderators", "leaders"):
            yield from ((file, key, who) for who in getattr(channel, key))
        yield from ((file, f"message[{n}].by", one.by) for n, one in enumerate(channel.message))
    for project in projects:
        file = f"projects/{project.id}.toml"
        yield from ((file, "members", who) for who in project.members)
        yield from ((file, f"roles.{who}", who) for who in project.roles)
        for n, asked in enumerate(project.merge_request):
            yield from ((file, f"merge_request[{n}].by", who) for who in (asked.by, *filter(None, [asked.assigned])))
            yield from ((file, f"merge_request[{n}].comment[{m}].by", one.by) for m, one in enumerate(asked.comment))
        for n, issue in enumerate(project.issue):
            yield file, f"issue[{n}].by", issue.by
            if issue.assigned:
                yield file, f"issue[{n}].assigned", issue.assigned
            yield from ((file, f"issue[{n}].comment[{m}].by", one.by) for m, one in enumerate(issue.comment))
    for name, repository in repositories.items():
        file = f"repositories/{name}.toml"
        yield from ((file, f"commit[{n}].by", one.by) for n, one in enumerate(repository.commit))
    for name, calendar in calendars.items():
        file = f"calendars/{name}.toml"
        yield file, "", name
        yield from ((file, f"event[{n}].with", who) for n, one in enumerate(calendar.event) for who in one.with_)


def _check_numbers(projects: Iterable[SeedProject], repositories: dict[str, SeedRepository], faults: Faults) -> None:
    """Report numbers that two issues or merge requests of a project share, and merge requests of unknown branches."""
    for project in projects:
        file = f"projects/{project.id}.toml"
        for key, rows in (("issue", project.issue), ("merge_request", project.merge_request)):
            numbers = [row.number for row in rows if row.number is not None]
            for twice in sorted({one for one in numbers if numbers.count(one) > 1}):
                faults.add(file, key, f"two have the number {twice}")
        code = repositories.get(project.id)
        known = {code.default, *(one.branch for one in code.commit if one.branch)} if code is not None else set()
        for n, asked in enumerate(project.merge_request):
            for branch in (asked.source, asked.target):
                if branch not in known:
                    there = ", ".join(sorted(known)) or f"repositories/{project.id}.toml with branches"
                    faults.add(file, f"merge_request[{n}]", f"there is no branch {branch!r}", there)


def _check_people(table: CompanyTable, projects: Iterable[SeedProject], faults: Faults) -> None:
    names = sorted(project.id for project in projects)
    for number, person in enumerate(table.person):
        if person.project is not None and person.project not in names:
            problem = f"there is no project {person.project!r}{nearest(person.project, names)}"
            faults.add(FILE, f"person[{number}].project", problem, ", ".join(names))


def _check_repositories(root: Path, repositories: dict[str, SeedRepository], faults: Faults) -> None:
    for name, repository in repositories.items():
        there: set[str] = set()
        for number, commit in enumerate(repository.commit):
            file, key = f"repositories/{name}.toml", f"commit[{number}]"
            folder = root / "repositories" / name / commit.files
            if commit.files and not folder.is_dir():
                faults.add(file, f"{key}.files", f"there is no folder repositories/{name}/{commit.files}")
            elif commit.files:
                there |= {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
            for gone in commit.remove:
                if gone not in there:
                    faults.add(file, f"{key}.remove", f"{gone!r} is in no earlier commit{nearest(gone, there)}")
            there -= set(commit.remove)
