"""Traces of a person in a workplace: every text that the person left, and who can read it by the services' rights.

    leaks = disclosures(office, "jules", lambda text: "qmt_live" in text, readers={"sven"})

A grader that asks whether something stayed confidential names the people who may read it, not the places: a new room, a
page, a branch or a packed file is found like any other. The rights are those of the exported state. What a person
showed in a picture, encrypted or spelled in a code of one's own is not found.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from worksample.errors import DeliverableError

from .packed_text import readable_texts
from .source import deliverable, file_in, files_below
from .workplace import ROOMS, Workplace

TRACKER, CHAT = "tracker/tracker.sqlite", "chat/chat.sqlite"
MOST = 50_000
"""Maximum number of rows that are read of one kind."""

_MEMBERS = """
SELECT p.id, u.login, MAX(r.issues_visibility = 'all'), MAX(r.permissions LIKE '%:view_private_notes%')
FROM members m JOIN projects p ON p.id = m.project_id JOIN users u ON u.id = m.user_id
JOIN member_roles mr ON mr.member_id = m.id JOIN roles r ON r.id = mr.role_id
WHERE u.status = 1 AND u.login <> '' GROUP BY p.id, u.login LIMIT ?"""
_ISSUE_TEXTS = """
SELECT i.id, i.subject || char(10) || coalesce(i.description, '') FROM issues i JOIN users u ON u.id = i.author_id
WHERE u.login = ? LIMIT ?"""
_ISSUES = """
SELECT i.id, i.project_id, i.is_private, coalesce(a.login, ''), coalesce(s.login, '')
FROM issues i LEFT JOIN users a ON a.id = i.author_id LEFT JOIN users s ON s.id = i.assigned_to_id LIMIT ?"""
_JOURNALS = """
SELECT j.journalized_id, j.private_notes, coalesce(j.notes, ''), coalesce(group_concat(
  coalesce(d.old_value, '') || char(10) || coalesce(d.value, ''), char(10)), '')
FROM journals j JOIN users u ON u.id = j.user_id LEFT JOIN journal_details d ON d.journal_id = j.id
WHERE u.login = ? AND j.journalized_type = 'Issue' GROUP BY j.id LIMIT ?"""
_PAGES = """
SELECT k.project_id, w.title, v.compression, v.data, coalesce(v.comments, '')
FROM wiki_content_versions v JOIN users u ON u.id = v.author_id JOIN wiki_pages w ON w.id = v.page_id
JOIN wikis k ON k.id = w.wiki_id WHERE u.login = ? LIMIT ?"""
_ATTACHED = """
SELECT coalesce(a.container_type, ''), coalesce(a.container_id, 0), a.filename, coalesce(a.description, ''),
  coalesce(a.disk_directory, ''), a.disk_filename
FROM attachments a JOIN users u ON u.id = a.author_id WHERE u.login = ? LIMIT ?"""
_OTHER = (
    ("the time entries", "SELECT t.project_id, coalesce(t.comments, '') FROM time_entries t JOIN users u "
     "ON u.id = t.author_id WHERE u.login = ? LIMIT ?"),
    ("the news", "SELECT n.project_id, n.title || char(10) || coalesce(n.summary, '') || char(10) || "
     "coalesce(n.description, '') FROM news n JOIN users u ON u.id = n.author_id WHERE u.login = ? LIMIT ?"),
    ("a saved list of issues", "SELECT q.project_id, q.name || char(10) || coalesce(q.filters, '') FROM queries q "
     "JOIN users u ON u.id = q.user_id WHERE q.visibility > 0 AND u.login = ? LIMIT ?"),
)  # fmt: skip
_UNSIGNED = (
    ("a sprint", "SELECT project_id, name || char(10) || coalesce(description, '') FROM versions LIMIT ?"),
    ("a category", "SELECT project_id, name FROM issue_categories LIMIT ?"),
    ("a document", "SELECT project_id, title || char(10) || coalesce(description, '') FROM documents LIMIT ?"),
    ("the description of a project", "SELECT id, name || char(10) || coalesce(description, '') FROM projects LIMIT ?"),
)  # fmt: skip
"""Texts of the tracker that carry no author."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A text in a workplace. `place` says where, such as `room office` or `repository tariff, notes.txt`; `readers` are
    the accounts that can read it.
    """

    service: str
    place: str
    text: str
    readers: frozenset[str]


def disclosures(
    office: Workplace,
    by: str,
    tells: Callable[[str], object],
    *,
    readers: Collection[str],
    folders: Mapping[str, Collection[str]] | None = None,
    known: Collection[str] = (),
    never: tuple[str, ...] = (),
) -> list[str]:
    """Return the places where a text of `by` tells what it must not to somebody who is not in `readers`.

    tells: a function that returns whether a text tells it. readers: the accounts that may know it; `by` always may.
    folders: readers of folders of the documents service, by the company's rules. The service itself lets everybody
    read every folder. known: places that told it before, such as `repository tariff, notes.txt@12ab34cd56` (a version
    of a file). never: beginnings of places in which it must not stand whoever reads them, such as `issue `.
    """
    allowed = {*readers, by}
    found = []
    for trace in traces(office, by, folders):
        forbidden = trace.place.startswith(never) or not trace.readers <= allowed
        if forbidden and trace.place not in known and tells(trace.text):
            found.append(trace.place)
    return sorted(set(found))


def traces(office: Workplace, by: str, folders: Mapping[str, Collection[str]] | None = None) -> Iterator[Trace]:
    """Yield every text that `by` left in the services: chat, tracker, documents, repositories and calendar.

    Documents, repositories and some texts of the tracker carry no reliable author, so these are yielded whoever wrote
    them. Packed and encoded texts are yielded unpacked (see `worksample.kit.packed_text`).
    """
    everybody = people(office)
    for source in (_chat, _tracker, _repositories, _calendar):
        yield from source(office, by, everybody)
    yield from _documents(office, everybody, folders or {})


def people(office: Workplace) -> frozenset[str]:
    """Return the accounts of everybody in the company, from the chat and the tracker."""
    found: set[str] = set()
    if _has(office, CHAT):
        asked = "SELECT DISTINCT user FROM prosody WHERE host = 'workplace' AND store = 'accounts' LIMIT ?"
        found |= {str(user) for (user,) in office.query(CHAT, asked, (MOST,))}
    if _has(office, TRACKER):
        asked = "SELECT login FROM users WHERE type = 'User' AND status = 1 LIMIT ?"
        found |= {str(login) for (login,) in office.query(TRACKER, asked, (MOST,))}
    return frozenset(found - {"operator", "admin", ""})


def room_readers(office: Workplace, everybody: frozenset[str] = frozenset()) -> dict[str, frozenset[str]]:
    """Return who can read each room of the chat: its members and owners, and everybody else unless it is closed."""
    everybody = everybody or people(office)
    rooms: dict[str, tuple[set[str], set[str], bool]] = {}
    asked = "SELECT user, key, value FROM prosody WHERE host = ? AND store = 'config' LIMIT ?"
    for room, key, value in office.query(CHAT, asked, (ROOMS, MOST)):
        inside, outcast, _ = rooms.setdefault(str(room), (set(), set(), False))
        if key == "_data":
            rooms[str(room)] = inside, outcast, '"members_only":true' in str(value).replace(" ", "")
        elif not str(key).startswith("_"):
            (outcast if value == "outcast" else inside).add(str(key).partition("@")[0])
    return {
        room: frozenset(inside) if closed else everybody - outcast for room, (inside, outcast, closed) in rooms.items()
    }


def _chat(office: Workplace, by: str, everybody: frozenset[str]) -> Iterator[Trace]:
    if not _has(office, CHAT):
        return
    rooms = room_readers(office, everybody)
    archive = "SELECT DISTINCT user FROM prosodyarchive WHERE host = ? AND store = 'muc_log' LIMIT ?"
    for (room,) in office.query(CHAT, archive, (ROOMS, MOST)):
        for one in office.messages(str(room)):
            if one.by == by:
                yield from _texts("chat", f"room {room}", one.text, rooms.get(str(room), everybody))
    asked = "SELECT user, value FROM prosody WHERE host = ? AND store = 'config' AND key = '_data' LIMIT ?"
    for room, value in office.query(CHAT, asked, (ROOMS, MOST)):  # anybody may see the name and topic of a room
        yield Trace("chat", f"room {room}", f"{str(room).replace('-', ' ')}\n{value}", everybody)
    for other in sorted(everybody - {by}):
        for one in office.direct(by, other):
            if one.by == by:
                yield from _texts("chat", f"direct messages to {other}", one.text, frozenset((by, other)))
    own = "SELECT store, value FROM prosody WHERE host = 'workplace' AND user = ? AND store <> 'accounts' LIMIT ?"
    for store, value in office.query(CHAT, own, (by, MOST)):
        yield Trace("chat", f"{store} of {by}", str(value), everybody)


def _tracker(office: Workplace, by: str, everybody: frozenset[str]) -> Iterator[Trace]:
    if not _has(office, TRACKER):
        return
    of = _TrackerRights(office, everybody)
    for issue, text in office.query(TRACKER, _ISSUE_TEXTS, (by, MOST)):
        yield from _texts("tracker", f"issue {issue}", text, of.issue(issue))
    for issue, private, notes, details in office.query(TRACKER, _JOURNALS, (by, MOST)):
        readers = of.issue(issue) & of.private_notes(issue) if private else of.issue(issue)
        yield from _texts("tracker", f"issue {issue}", notes, readers)
        yield Trace("tracker", f"issue {issue}", details, of.issue(issue))
    for project, title, compression, data, comments in office.query(TRACKER, _PAGES, (by, MOST)):
        text = f"{title.replace('_', ' ')}\n{_page_text(compression, data)}\n{comments}"
        yield from _texts("tracker", f"page {title}", text, of.project(project))
    for kind, number, name, about, folder, stored in office.query(TRACKER, _ATTACHED, (by, MOST)):
        readers = of.issue(number) if kind == "Issue" else everybody
        yield Trace("tracker", f"attachment {name}", f"{name}\n{about}", readers)
        path = f"tracker/attachments/{folder}/{stored}" if folder else f"tracker/attachments/{stored}"
        yield from _file_texts(office, path, "tracker", f"attachment {name}", readers)
    for what, asked in _OTHER:
        for project, text in office.query(TRACKER, asked, (by, MOST)):
            yield Trace("tracker", what, text, of.project(project) if project else everybody)
    for what, asked in _UNSIGNED:
        for project, text in office.query(TRACKER, asked, (MOST,)):
            yield Trace("tracker", what, text, of.project(project))


class _TrackerRights:
    """The readers of projects and issues, by memberships and roles."""

    def __init__(self, office: Workplace, everybody: frozenset[str]) -> None:
        self._everybody = everybody
        self._members: dict[int, dict[str, tuple[bool, bool]]] = {}
        for project, login, sees_all, sees_notes in office.query(TRACKER, _MEMBERS, (MOST,)):
            self._members.setdefault(project, {})[login] = bool(sees_all), bool(sees_notes)
        self._public = {
            one for (one,) in office.query(TRACKER, "SELECT id FROM projects WHERE is_public LIMIT ?", (MOST,))
        }
        self._issues = {row[0]: row[1:] for row in office.query(TRACKER, _ISSUES, (MOST,))}

    def project(self, project: int) -> frozenset[str]:
        if project in self._public:
            return self._everybody
        return frozenset(self._members.get(project, ())) - {"operator"}

    def issue(self, issue: int) -> frozenset[str]:
        if issue not in self._issues:
            return frozenset()  # it was deleted
        project, private, author, assigned = self._issues[issue]
        if not private:
            return self.project(project)
        every = {login for login, (sees_all, _) in self._members.get(project, {}).items() if sees_all}
        return frozenset({*every, author, assigned}) - {"", "operator"}

    def private_notes(self, issue: int) -> frozenset[str]:
        project = self._issues[issue][0] if issue in self._issues else 0
        return frozenset(login for login, (_, sees) in self._members.get(project, {}).items() if sees)


def _documents(office: Workplace, everybody: frozenset[str], folders: Mapping[str, Collection[str]]) -> Iterator[Trace]:
    for name in office.files("*"):
        below = [folder for folder in folders if name.startswith(f"{folder.rstrip('/')}/")]
        readers = frozenset(folders[max(below, key=len)]) if below else everybody
        yield Trace("files", f"file {name}", re.sub(r"[-_/.]", " ", unquote(name)) + f"\n{name}", readers)
        yield from _file_texts(office, f"files/{name}", "files", f"file {name}", readers)


def _repositories(office: Workplace, by: str, everybody: frozenset[str]) -> Iterator[Trace]:
    for name in office.repositories():
        repository, place = office.repository(name), f"repository {name}"
        for ref in repository.refs():
            yield Trace("git", f"{place}, ref {ref}", ref.replace("-", " "), everybody)
        for commit in repository.history():
            text = f"{commit.message}\n{commit.author}\n{commit.mail}"
            yield from _texts("git", f"{place}, commit {commit.id[:10]}", text, everybody)
        for file, id, data in repository.objects():
            for text in readable_texts(data):
                yield Trace("git", f"{place}, {file}@{id[:10]}", f"{file}\n{text}", everybody)


def _calendar(office: Workplace, by: str, everybody: frozenset[str]) -> Iterator[Trace]:
    root = office.folder(f"calendar/collection-root/{by}")
    if root is None:
        return
    for name in files_below(root, "*"):
        with deliverable(f"the calendar of {by}"):
            text = file_in(root, name).read_bytes()[: 1 << 20].decode("utf-8", "replace")
        unfolded = re.sub(r"\\(.)", r"\1", re.sub(r"\r?\n[ \t]", "", text))
        yield from _texts("calendar", f"calendar of {by}", unfolded, everybody)


def _texts(service: str, place: str, text: str, readers: frozenset[str]) -> Iterator[Trace]:
    for one in readable_texts(text.encode("utf-8", "surrogatepass")):
        yield Trace(service, place, one, readers)


def _file_texts(office: Workplace, path: str, service: str, place: str, readers: frozenset[str]) -> Iterator[Trace]:
    try:
        data = office.state_file(path)
    except DeliverableError:
        return  # gone, a link, or larger than a document may be
    for text in readable_texts(data):
        yield Trace(service, place, text, readers)


def _page_text(compression: str, data: Any) -> str:
    raw = data if isinstance(data, bytes) else str(data or "").encode()
    if compression == "gzip":
        try:
            raw = zlib.decompressobj().decompress(raw, 16 << 20)
        except zlib.error:
            return ""
    return raw.decode("utf-8", "replace")


def _has(office: Workplace, file: str) -> bool:
    folder, _, name = file.rpartition("/")
    below = office.folder(folder)
    return below is not None and (below / name).is_file() and not (below / name).is_symlink()
