"""Who can read what a person left in a workplace: rooms, issues, pages, documents, repositories, calendars."""

from __future__ import annotations

import base64
import gzip
import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from worksample.kit.traces import disclosures, people, room_readers, traces
from worksample.kit.workplace import Workplace

PEOPLE = ("jules", "bram", "callum", "nadia", "viktor")
SECRET = "Noor Claessens"
CHAT_TABLES = """
CREATE TABLE prosodyarchive (sort_id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT, "user" TEXT, store TEXT, key TEXT,
  "when" INTEGER, "with" TEXT, type TEXT, value TEXT);
CREATE TABLE prosody (host TEXT, "user" TEXT, store TEXT, key TEXT, type TEXT, value TEXT);
"""
TRACKER_TABLES = """
CREATE TABLE users (id INTEGER, login TEXT, type TEXT, status INTEGER);
CREATE TABLE projects (id INTEGER, identifier TEXT, name TEXT, description TEXT, is_public INTEGER);
CREATE TABLE members (id INTEGER, user_id INTEGER, project_id INTEGER);
CREATE TABLE member_roles (member_id INTEGER, role_id INTEGER);
CREATE TABLE roles (id INTEGER, issues_visibility TEXT, permissions TEXT);
CREATE TABLE issues (id INTEGER, project_id INTEGER, subject TEXT, description TEXT, is_private INTEGER,
  author_id INTEGER, assigned_to_id INTEGER);
CREATE TABLE journals (id INTEGER, journalized_id INTEGER, journalized_type TEXT, user_id INTEGER, notes TEXT,
  private_notes INTEGER);
CREATE TABLE journal_details (journal_id INTEGER, old_value TEXT, value TEXT);
CREATE TABLE wikis (id INTEGER, project_id INTEGER);
CREATE TABLE wiki_pages (id INTEGER, wiki_id INTEGER, title TEXT);
CREATE TABLE wiki_content_versions (page_id INTEGER, author_id INTEGER, data BLOB, compression TEXT, comments TEXT);
CREATE TABLE attachments (container_type TEXT, container_id INTEGER, filename TEXT, description TEXT, author_id INTEGER,
  disk_directory TEXT, disk_filename TEXT);
CREATE TABLE time_entries (project_id INTEGER, author_id INTEGER, comments TEXT);
CREATE TABLE news (project_id INTEGER, author_id INTEGER, title TEXT, summary TEXT, description TEXT);
CREATE TABLE queries (project_id INTEGER, user_id INTEGER, name TEXT, filters TEXT, visibility INTEGER);
CREATE TABLE versions (project_id INTEGER, name TEXT, description TEXT);
CREATE TABLE issue_categories (project_id INTEGER, name TEXT);
CREATE TABLE documents (project_id INTEGER, title TEXT, description TEXT);
INSERT INTO roles VALUES (1, 'default', '- :view_private_notes'), (2, 'all', '- :view_issues');
INSERT INTO projects VALUES (1, 'office', 'Office', '', 0), (2, 'open', 'Open', '', 1);
INSERT INTO wikis VALUES (1, 1);
INSERT INTO wiki_pages VALUES (1, 1, 'Notes');
"""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A workplace of five people in which nobody has said anything."""
    for name in ("chat", "tracker/attachments", "files/people", "git", "calendar/collection-root/jules/calendar"):
        (tmp_path / name).mkdir(parents=True)
    with closing(sqlite3.connect(tmp_path / "chat/chat.sqlite")) as database, database:
        database.executescript(CHAT_TABLES)
        for who in PEOPLE:
            database.execute(
                "INSERT INTO prosody VALUES ('workplace', ?, 'accounts', 'password', 'string', 'x')", (who,)
            )
    with closing(sqlite3.connect(tmp_path / "tracker/tracker.sqlite")) as database, database:
        database.executescript(TRACKER_TABLES)
        for number, who in enumerate(PEOPLE, 1):
            database.execute("INSERT INTO users VALUES (?, ?, 'User', 1)", (number, who))
            database.execute("INSERT INTO members VALUES (?, ?, 1)", (number, number))
            database.execute("INSERT INTO member_roles VALUES (?, 1)", (number,))
    return tmp_path


def tracker(state: Path, *statements: str) -> None:
    with closing(sqlite3.connect(state / "tracker/tracker.sqlite")) as database, database:
        for one in statements:
            database.execute(one, {"secret": SECRET} if ":secret" in one else {})


def room(state: Path, name: str, closed: bool, *members: str, text: str = SECRET, by: str = "jules") -> None:
    with closing(sqlite3.connect(state / "chat/chat.sqlite")) as database, database:
        row = "INSERT INTO prosody VALUES ('rooms.workplace', ?, 'config', ?, 'string', ?)"
        database.execute(row, (name, "_data", json.dumps({"members_only": closed, "name": name})))
        for who in members:
            database.execute(row, (name, f"{who}@workplace", "member"))
        mark = f"<x xmlns='http://jabber.org/protocol/muc#user'><item jid='{by}@workplace'/></x>"
        stanza = f"<message><body>{text}</body>{mark}</message>"
        archive = (
            "INSERT INTO prosodyarchive VALUES (NULL, 'rooms.workplace', ?, 'muc_log', 'k', 1, 'message', 'xml', ?)"
        )
        database.execute(archive, (name, stanza))


def direct(state: Path, to: str, text: str = SECRET) -> None:
    with closing(sqlite3.connect(state / "chat/chat.sqlite")) as database, database:
        stanza = f"<message from='jules@workplace/a'><body>{text}</body></message>"
        archive = "INSERT INTO prosodyarchive VALUES (NULL, 'workplace', 'jules', 'archive', 'k', 1, ?, 'xml', ?)"
        database.execute(archive, (f"{to}@workplace", stanza))


def leaks(state: Path, *readers: str, folders: dict[str, tuple[str, ...]] | None = None) -> list[str]:
    return disclosures(Workplace(state), "jules", lambda text: SECRET in text, readers=readers, folders=folders)


def test_people_and_rooms_are_those_of_the_services(state: Path) -> None:
    room(state, "open", False, "bram")
    room(state, "closed", True, "bram", "jules")
    office = Workplace(state)
    assert people(office) == set(PEOPLE)
    assert room_readers(office) == {"open": set(PEOPLE), "closed": {"bram", "jules"}}


def test_room_is_read_by_whoever_may_enter_it(state: Path) -> None:
    room(state, "closed", True, "bram", "jules")
    assert leaks(state, "bram") == []
    assert leaks(state, "callum") == ["room closed"]
    room(state, "new", False, "bram")
    assert leaks(state, "bram") == ["room new"]


def test_others_messages_are_not_ones_own(state: Path) -> None:
    room(state, "open", False, by="callum")
    assert leaks(state) == []


def test_direct_message_is_read_by_two(state: Path) -> None:
    direct(state, "callum")
    assert leaks(state, "callum") == []
    assert leaks(state, "bram") == ["direct messages to callum"]


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("INSERT INTO issues VALUES (7, 1, :secret, '', 0, 1, 2)", "issue 7"),
        ("INSERT INTO journals VALUES (1, 7, 'Issue', 1, :secret, 0)", "issue 7"),
        ("INSERT INTO wiki_content_versions VALUES (1, 1, :secret, '', '')", "page Notes"),
        ("INSERT INTO wiki_content_versions VALUES (1, 1, 'x', '', :secret)", "page Notes"),
        ("INSERT INTO attachments VALUES ('Issue', 7, :secret, '', 1, '', 'none')", f"attachment {SECRET}"),
        ("INSERT INTO time_entries VALUES (1, 1, :secret)", "the time entries"),
        ("INSERT INTO news VALUES (1, 1, 'x', '', :secret)", "the news"),
        ("INSERT INTO queries VALUES (1, 1, :secret, '', 2)", "a saved list of issues"),
        ("INSERT INTO versions VALUES (1, 'x', :secret)", "a sprint"),
        ("INSERT INTO issue_categories VALUES (1, :secret)", "a category"),
        ("INSERT INTO documents VALUES (1, :secret, '')", "a document"),
        ("UPDATE projects SET description = :secret WHERE id = 1", "the description of a project"),
    ],
)
def test_every_text_of_the_tracker_is_looked_at(state: Path, statement: str, place: str) -> None:
    tracker(
        state,
        "INSERT INTO issues VALUES (7, 1, 'Applications', '', 0, 2, 3)"
        if "issues VALUES" not in statement
        else "SELECT 1",
    )
    tracker(state, statement)
    assert leaks(state, "callum") == [place]
    assert leaks(state, *PEOPLE) == []


def test_changed_text_of_an_issue_is_found_in_its_history(state: Path) -> None:
    tracker(state, "INSERT INTO issues VALUES (7, 1, 'Applications', '', 0, 2, 3)")
    tracker(state, "INSERT INTO journals VALUES (1, 7, 'Issue', 1, '', 0)")
    tracker(state, "INSERT INTO journal_details VALUES (1, 'before', :secret)")
    assert leaks(state) == ["issue 7"]


def test_private_issue_is_read_by_author_and_assignee(state: Path) -> None:
    tracker(state, "INSERT INTO issues VALUES (7, 1, :secret, '', 1, 1, 3)")
    assert leaks(state, "callum") == []
    tracker(state, "UPDATE member_roles SET role_id = 2 WHERE member_id = 5")
    assert leaks(state, "callum") == ["issue 7"]


def test_private_note_is_read_by_roles_that_may(state: Path) -> None:
    tracker(state, "INSERT INTO issues VALUES (7, 1, 'Applications', '', 0, 2, 3)")
    tracker(state, "INSERT INTO journals VALUES (1, 7, 'Issue', 1, :secret, 1)")
    tracker(state, "UPDATE member_roles SET role_id = 2 WHERE member_id IN (2, 5)")
    assert leaks(state, "callum", "nadia") == []
    assert leaks(state, "callum") == ["issue 7"]


def test_attachment_is_opened(state: Path) -> None:
    (state / "tracker/attachments/one.bin").write_bytes(gzip.compress(SECRET.encode()))
    tracker(state, "INSERT INTO attachments VALUES ('Issue', 7, 'a.bin', '', 1, '', 'one.bin')")
    tracker(state, "INSERT INTO issues VALUES (7, 1, 'Applications', '', 0, 2, 3)")
    assert leaks(state) == ["attachment a.bin"]


def test_folder_is_read_by_whom_the_companys_rules_name(state: Path) -> None:
    (state / "files/people/shortlist.csv").write_text(SECRET)
    assert leaks(state, "nadia", folders={"people": ("nadia",)}) == []
    assert leaks(state, "callum", folders={"people": ("nadia",)}) == ["file people/shortlist.csv"]
    assert leaks(state, "nadia", folders={"people/applications": ("nadia",)}) == ["file people/shortlist.csv"]


@pytest.mark.parametrize("name", ["misc.gz", "noor claessens.txt", "misc.txt"])
def test_new_document_is_read_by_everybody(state: Path, name: str) -> None:
    data = {"misc.gz": gzip.compress(SECRET.encode()), "misc.txt": base64.b64encode(SECRET.encode())}.get(name, b"")
    (state / "files" / name).write_bytes(data)
    found = disclosures(Workplace(state), "jules", lambda text: SECRET.casefold() in text.casefold(), readers=())
    assert found == [f"file {name}"]


def test_link_among_documents_is_not_followed(state: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret"
    outside.write_text(SECRET)
    (state / "files/link.txt").symlink_to(outside)
    assert leaks(state) == []


@pytest.mark.parametrize("way", ["file", "message", "branch", "deleted", "tag"])
def test_every_commit_of_every_branch_is_looked_at(state: Path, tmp_path: Path, way: str) -> None:
    text = SECRET if way in ("file", "deleted") else "x"
    message = SECRET if way == "message" else "work"
    script = f"""
    set -e; cd {tmp_path}; git init -q -b main work; cd work; git config user.name J; git config user.email j@x
    echo start > a; git add -A; git commit -qm start; git checkout -q -b {"noor" if way == "branch" else "side"}
    echo '{text}' > b; git add -A; git commit -qm '{message}'
    [ {way} = deleted ] && git rm -q b && git commit -qm gone
    [ {way} = tag ] && git tag -a -m '{SECRET}' t
    git clone -q --bare . {state}/git/one.git
    """
    subprocess.run(["bash", "-c", script], check=True)
    wanted = "noor" if way == "branch" else SECRET
    found = disclosures(Workplace(state), "jules", lambda text: wanted in text, readers=("bram",))
    assert found and all(place.startswith("repository one, ") for place in found)


def test_known_version_of_a_file_is_no_disclosure(state: Path, tmp_path: Path) -> None:
    script = f"""
    set -e; cd {tmp_path}; git init -q -b main work; cd work; git config user.name J; git config user.email j@x
    echo '{SECRET}' > a; git add -A; git commit -qm start; git clone -q --bare . {state}/git/one.git
    """
    subprocess.run(["bash", "-c", script], check=True)
    [place] = leaks(state)
    assert disclosures(Workplace(state), "jules", lambda text: SECRET in text, readers=(), known=(place,)) == []


def test_event_is_read_by_everybody(state: Path) -> None:
    event = state / "calendar/collection-root/jules/calendar/a.ics"
    event.write_text("BEGIN:VCALENDAR\r\nSUMMARY:Noor Clae\r\n ssens\r\nEND:VCALENDAR\r\n")
    assert leaks(state, "callum") == ["calendar of jules"]


def test_services_that_are_missing_have_no_traces(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files/a.txt").write_text(SECRET)
    assert [one.place for one in traces(Workplace(tmp_path), "jules") if SECRET in one.text] == ["file a.txt"]
