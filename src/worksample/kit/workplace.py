"""The final state of a workplace's services: messages, issues, pages, documents, repositories, events, requests.

    office = Workplace(case.folder("exports") / "workplace")

The class `Workplace` reads databases and folders that were exported from the services, so no service has to run. The
state is the agent's work: a missing or malformed part raises DeliverableError.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from worksample.errors import DeliverableError

from .calendar import CalendarEvent, read_event
from .git_repository import Repository
from .source import LIVE, FileOwner, UnreadableSource, deliverable, file_in, files_below, reference
from .table import Table
from .workbook import read_table

MOST = 100_000
"""Maximum number of rows that are read of one kind, such as messages or issues. Further rows are ignored."""
FILE_LIMIT = 64 << 20
QUESTION, ADDRESSED = 1_200, 6
"""Maximum characters of a question, and maximum number of people who are asked the same, word by word."""
SIGN_IN_PROGRAM = "worksample-sign-in"
"""The `program` of requests by which the platform signed the agent's browser in."""
DOMAIN, ROOMS = "workplace", "rooms.workplace"
_SENTENCES = re.compile(r"(?<=[.!?])(?=\s)|(?<=\n)")
"""Pattern of the places where a sentence stops, as far as punctuation shows them. The point in `12.50` does not
match.
"""
_USER = "{http://jabber.org/protocol/muc#user}"


@dataclass(frozen=True, slots=True)
class Message:
    """A chat message. `by` is the account that sent the message, whatever display name the sender chose."""

    at: datetime
    by: str
    text: str

    @property
    def stated(self) -> str:
        """The text of the message without its questions. To ask whether something is true is not to state that it is
        true.
        """
        return "".join(piece for piece in _SENTENCES.split(self.text) if not piece.endswith("?"))


@dataclass(frozen=True, slots=True)
class Note:
    """A comment on an issue."""

    at: datetime
    by: str
    text: str


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue of the tracker. Times are UTC; `due` is `YYYY-MM-DD` or empty."""

    id: int
    project: str
    subject: str
    text: str
    tracker: str
    status: str
    priority: str
    by: str
    assigned: str
    sprint: str
    due: str
    at: datetime
    changed: datetime
    notes: tuple[Note, ...]


_ISSUES = """
SELECT i.id, p.identifier, i.subject, coalesce(i.description, ''), t.name, s.name, coalesce(e.name, ''),
  coalesce(a.login, ''), coalesce(u.login, ''), coalesce(v.name, ''), coalesce(i.due_date, ''),
  i.created_on, i.updated_on
FROM issues i JOIN projects p ON p.id = i.project_id JOIN trackers t ON t.id = i.tracker_id
JOIN issue_statuses s ON s.id = i.status_id LEFT JOIN enumerations e ON e.id = i.priority_id
LEFT JOIN users a ON a.id = i.author_id LEFT JOIN users u ON u.id = i.assigned_to_id
LEFT JOIN versions v ON v.id = i.fixed_version_id ORDER BY i.id LIMIT ?"""
_NOTES = """
SELECT j.journalized_id, j.created_on, coalesce(u.login, ''), j.notes
FROM journals j LEFT JOIN users u ON u.id = j.user_id
WHERE j.journalized_type = 'Issue' AND coalesce(j.notes, '') <> '' ORDER BY j.id LIMIT ?"""
_PAGES = """
SELECT w.title, c.text FROM wiki_pages w JOIN wiki_contents c ON c.page_id = w.id JOIN wikis k ON k.id = w.wiki_id
JOIN projects p ON p.id = k.project_id WHERE p.identifier = ? ORDER BY w.id LIMIT ?"""


class Workplace:
    """The exported state of all services of a workplace."""

    def __init__(self, state: Path) -> None:
        """Create a reader. state: the folder of the exported state, with subfolders such as `chat/` and `tracker/`."""
        self._state = Path(state)
        self._addressed: dict[str, set[str]] = {}

    # chat

    def messages(self, room: str) -> list[Message]:
        """Return the messages in a chat room, oldest first."""
        return self._read_messages(ROOMS, room, "muc_log", None)

    def direct(self, owner: str, other: str) -> list[Message]:
        """Return the direct messages between two people, oldest first. The messages are read from the chat archive of
        `owner`.
        """
        return self._read_messages(DOMAIN, owner, "archive", f"{other}@{DOMAIN}")

    def told(self, to: str, by: str, *marks: str) -> datetime | None:
        """Return the time of the first direct message from `by` to `to` that contains all `marks`, in any case. Returns
        None if no message does.

        An answer to an announcement does not count: to a text that is longer than a question, or that `to` has sent
        to more than six people word by word.
        """
        for one, announced in self._conversation(to, by):
            if one.by == by and not announced and all(mark.casefold() in one.text.casefold() for mark in marks):
                return one.at
        return None

    def _conversation(self, owner: str, other: str) -> Iterator[tuple[Message, bool]]:
        """Yield the direct messages of two people, each with whether it announces or answers an announcement of
        `owner`. Messages of a conversation are answered in their order.
        """
        waiting, announced = list[bool](), False
        for one in self.direct(owner, other):
            if one.by == owner:
                waiting.append(self._is_announcement(owner, one.text))
                yield one, waiting[-1]
            else:
                announced = waiting.pop(0) if waiting else announced
                yield one, announced

    def _is_announcement(self, by: str, text: str) -> bool:
        if len(text) > QUESTION:
            return True
        if by not in self._addressed:
            asked = 'SELECT "with", value FROM prosodyarchive WHERE host = ? AND user = ? AND store = ? LIMIT ?'
            counts: dict[str, set[str]] = {}
            for other, value in self._rows("chat/chat.sqlite", asked, (DOMAIN, by, "archive", MOST)):
                message = _message(0, str(value))
                if message is not None and message.by == by:
                    counts.setdefault(" ".join(message.text.split()), set()).add(str(other))
            self._addressed[by] = {words for words, people in counts.items() if len(people) > ADDRESSED}
        return " ".join(text.split()) in self._addressed[by]

    def answered(self, owner: str, other: str, *marks: str, news: Callable[[Message], bool]) -> datetime | None:
        """Return the time of the first direct message in which `other` answered a question of `owner` with a text that
        contains all `marks`. Returns None if no message does.

        news: a function that returns whether a message of `owner` only gives news and asks nothing. A reply to such
        messages alone does not count, because a colleague may object to a decision without being asked. Announcements
        are no questions (see `told`). The order of
        messages is that of the conversation, which is exact even for messages of the same second.
        """
        asked = heard = False
        for one, announced in self._conversation(owner, other):
            if one.by == owner:
                asked, heard = (asked and not heard) or not (news(one) or announced), False
            elif one.by == other:
                if asked and not announced and all(mark.casefold() in one.text.casefold() for mark in marks):
                    return one.at
                heard = True
        return None

    def _read_messages(self, host: str, user: str, store: str, other: str | None) -> list[Message]:
        asked = 'SELECT "when", value FROM prosodyarchive WHERE host = ? AND user = ? AND store = ?'
        given: list[object] = [host, user, store]
        if other is not None:
            asked, given = f'{asked} AND "with" = ?', [*given, other]
        rows = self._rows("chat/chat.sqlite", f"{asked} ORDER BY sort_id LIMIT ?", (*given, MOST))
        found = (_message(int(when), str(value)) for when, value in rows)
        return [one for one in found if one is not None]

    # tracker

    def issues(self, project: str = "") -> list[Issue]:
        """Return all issues of the tracker, or only those of `project`, by increasing number."""
        file = "tracker/tracker.sqlite"
        notes: dict[int, list[Note]] = {}
        for issue, at, by, text in self._rows(file, _NOTES, (MOST,)):
            notes.setdefault(issue, []).append(Note(_moment(at), by, text))
        issues = []
        for *words, at, changed in self._rows(file, _ISSUES, (MOST,)):
            fields: list[Any] = [*words, _moment(at), _moment(changed), tuple(notes.get(words[0], ()))]
            issues.append(Issue(*fields))
        return [one for one in issues if project in ("", one.project)]

    def pages(self, project: str) -> dict[str, str]:
        """Return the wiki pages of a project: title -> text."""
        return {title: text or "" for title, text in self._rows("tracker/tracker.sqlite", _PAGES, (project, MOST))}

    # documents, repositories, calendars, requests

    def files(self, pattern: str = "*") -> list[str]:
        """Return the names of all documents that match a glob, sorted."""
        with deliverable("the documents"):
            return files_below(self._state / "files", pattern)

    def file(self, name: str) -> bytes:
        """Return the content of a document. Raises DeliverableError if the document is missing or larger than 64
        MiB.
        """
        return self._read(f"files/{name}", name)

    def rows(self, name: str) -> Table:
        """Return a document as a table: a CSV file of any common dialect, or the first sheet of a workbook. The size
        limits of `worksample.kit.table` and `worksample.kit.workbook` apply.
        """
        with deliverable(name):
            return read_table(file_in(self._state / "files", name)).with_owner(FileOwner(DeliverableError, name))

    def repository(self, name: str) -> Repository:
        """Return a reader of a Git repository. The repository's settings and hooks are ignored."""
        return Repository(self._state / "git" / f"{name}.git", name)

    def events(self, owner: str) -> list[CalendarEvent]:
        """Return the events in all calendars of a person, earliest start first."""
        with deliverable(f"the calendar of {owner}"):
            root = self._state / "calendar" / "collection-root" / owner
            names = [name for name in files_below(root, "*") if name.endswith(".ics")][:MOST]
            texts = [file_in(root, name).read_bytes()[: 1 << 20] for name in names]
        found = (read_event(text.decode("utf-8", "replace")) for text in texts)
        return sorted((one for one in found if one is not None), key=lambda one: (one.begins, one.uid))

    def live(self, name: str) -> Any:
        """Return a named result of the task's `live.py`, which checked the services when the agent was done.

        The part of the grade that uses the result is marked as not regradable, because the check cannot be repeated.
        Raises ReferenceUnreadable if `live.py` stored no result of that name.
        """
        with reference(f"live check {name}"):
            LIVE.set(True)
            try:
                kept = json.loads(file_in(self._state.parent, "live.json").read_bytes())
            except (OSError, ValueError, RecursionError):
                raise UnreadableSource("live.py stored no result for this submission") from None
            if "found" not in kept:
                raise UnreadableSource(str(kept.get("failed") or "live.py found nothing")[:1000])
            if name not in kept["found"]:
                raise UnreadableSource(f"live.py has no such result; it has {', '.join(kept['found'])[:200]}")
            return kept["found"][name]

    def requests(self, service: str = "") -> list[dict[str, Any]]:
        """Return the HTTP requests to the services, oldest first, as dicts with the keys at, service, by, method, path,
        status, bytes and program.

        service: only requests to this service; empty for all services.
        """
        with deliverable("the log of requests"):
            path = file_in(self._state, "log/access.jsonl")
            with path.open("rb") as file:
                data = file.read(FILE_LIMIT)
        found = []
        for line in data.splitlines()[:MOST]:
            try:
                one = json.loads(line)
            except (ValueError, RecursionError):
                continue  # the last line of a log can be cut off
            if isinstance(one, dict) and service in ("", one.get("service")):
                found.append(one)
        return found

    def requested(self, service: str, method: str, path: str, by: str = "") -> datetime | None:
        """Return the time of the first successful request with these properties, to the second. Returns None if no
        request matches. path: a glob.
        """
        for one in self.requests(service):
            told = (str(one.get(name, "")) for name in ("method", "path", "by"))
            asked, where, who = told
            well = isinstance(one.get("status"), int) and 200 <= one["status"] < 400
            if well and asked == method and fnmatchcase(where.partition("?")[0], path) and by in ("", who):
                return _moment(one.get("at"))
        return None

    def repositories(self) -> list[str]:
        """Return the names of all Git repositories, sorted."""
        root = self.folder("git")
        return sorted(path.stem for path in root.glob("*.git") if path.is_dir()) if root is not None else []

    def folder(self, name: str) -> Path | None:
        """Return a folder of the exported state, or None if there is none (or only a link)."""
        path = self._state / name
        return path if path.is_dir() and not path.is_symlink() else None

    def state_file(self, name: str) -> bytes:
        """Return a file of the exported state, such as an attachment of the tracker. Raises DeliverableError if the
        file is missing, a link, or larger than 64 MiB.
        """
        return self._read(name, name)

    def _read(self, path: str, name: str) -> bytes:
        with deliverable(name):
            file = file_in(self._state, path)
            if file.stat().st_size > FILE_LIMIT:
                raise UnreadableSource("is larger than 64 MiB")
            return file.read_bytes()

    def query(self, file: str, asked: str, given: Sequence[object] = ()) -> list[Any]:
        """Return the rows of a query of a service's database, such as `tracker/tracker.sqlite`. Raises DeliverableError
        if the database cannot be read.
        """
        return self._rows(file, asked, given)

    def _rows(self, file: str, asked: str, given: Sequence[object]) -> list[Any]:
        with deliverable(file), self._database(file) as database:
            try:
                return database.execute(asked, given).fetchall()
            except sqlite3.Error as error:
                raise UnreadableSource(f"cannot be read as a database: {error}") from error

    @contextmanager
    def _database(self, file: str) -> Iterator[sqlite3.Connection]:
        """Yield a connection to a copy of a database. SQLite rolls back an unfinished transaction in the copy, as the
        service itself would do.
        """
        path = file_in(self._state, file)
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("", "-journal", "-wal"):
                beside = path.with_name(path.name + ending)
                if beside.is_file() and not beside.is_symlink():
                    shutil.copyfile(beside, Path(folder) / beside.name)
            with closing(sqlite3.connect(Path(folder) / path.name)) as database:
                database.execute("PRAGMA trusted_schema = OFF")
                yield database


def _moment(text: object) -> datetime:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        raise UnreadableSource(f"{str(text)[:40]!r} is not a time") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _message(when: int, value: str) -> Message | None:
    """Parse a chat message (an XMPP stanza). Returns None if the stanza has no text.

    The sender is the last address in the stanza. The server adds this address after everything that the sender wrote.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        stanza = fromstring(value)
    except (ParseError, DefusedXmlException, ValueError):
        return None
    body = next((tag.text for tag in stanza if tag.tag.rpartition("}")[2] == "body" and tag.text), None)
    if body is None:
        return None
    jids = [item.get("jid") for x in stanza.findall(f"{_USER}x") for item in x if item.get("jid")]
    by = (jids[-1] if jids else stanza.get("from", "")) or ""
    return Message(datetime.fromtimestamp(when, UTC), by.partition("@")[0], body)
