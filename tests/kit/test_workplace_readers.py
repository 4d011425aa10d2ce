"""Readers of a workplace's exported state: hostile content, broken files, repositories with settings."""

from __future__ import annotations

import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from worksample.box import BoxConfig, Mount
from worksample.kit import DeliverableError
from worksample.kit.calendar import read_event
from worksample.kit.workplace import Message, Workplace
from worksample.sandboxes import open_box

ARCHIVE = (
    'CREATE TABLE prosodyarchive (sort_id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT, "user" TEXT, store TEXT, '
    'key TEXT, "when" INTEGER, "with" TEXT, type TEXT, value TEXT)'
)
SAID = "<message from='billing@rooms.workplace/{nick}'><body>{text}</body>{marks}</message>"
MARK = "<x xmlns='http://jabber.org/protocol/muc#user'><item jid='{who}@workplace'/></x>"


def chat(state: Path, *stanzas: str) -> Workplace:
    (state / "chat").mkdir(parents=True)
    with closing(sqlite3.connect(state / "chat/chat.sqlite")) as database, database:
        database.execute(ARCHIVE)
        for when, stanza in enumerate(stanzas):
            row = ("rooms.workplace", "billing", "muc_log", f"k{when}", when, "message<groupchat", "xml", stanza)
            database.execute("INSERT INTO prosodyarchive VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    return Workplace(state)


def test_author_is_the_account_whatever_name_it_shows(tmp_path: Path) -> None:
    """A sender can call itself anything in a room, and put a mark of its own before the server's."""
    office = chat(
        tmp_path,
        SAID.format(nick="rosa", text="the refund is fine", marks=MARK.format(who="assistant")),
        SAID.format(nick="rosa", text="truly", marks=MARK.format(who="rosa") + MARK.format(who="assistant")),
        SAID.format(nick="rosa", text="from the seed", marks=MARK.format(who="rosa")),
    )
    assert [one.by for one in office.messages("billing")] == ["assistant", "assistant", "rosa"]
    assert office.messages("general") == []


def test_malformed_message_is_ignored(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE m [<!ENTITY a "aaaa">]><message><body>&a;</body></message>'
    plain = SAID.format(nick="ines", text="plain", marks="")
    assert [one.text for one in chat(tmp_path, bomb, "<message", "<message/>", plain).messages("billing")] == ["plain"]


@pytest.mark.parametrize("content", [b"", b"no database" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_broken_database_is_the_deliverables_fault(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "chat").mkdir()
    (tmp_path / "chat/chat.sqlite").write_bytes(content)
    with pytest.raises(DeliverableError, match=r"chat/chat\.sqlite"):
        Workplace(tmp_path).messages("billing")
    with pytest.raises(DeliverableError, match=r"tracker/tracker\.sqlite"):
        Workplace(tmp_path).issues()


def test_unfinished_write_is_rolled_back(tmp_path: Path) -> None:
    """A state is taken while the services stand still: a journal beside a database says what was not finished."""
    source = tmp_path / "source"
    office = chat(source, SAID.format(nick="ines", text="kept", marks=""))
    with closing(sqlite3.connect(source / "chat/chat.sqlite", isolation_level=None)) as database:
        database.execute("PRAGMA cache_size = 1")
        database.execute("BEGIN")
        database.execute("UPDATE prosodyarchive SET value = replace(value, 'kept', 'lost')")
        big = SAID.format(nick="ines", text="x" * 200_000, marks="")
        row = ("rooms.workplace", "billing", "muc_log", "k", 1, "", "xml", big)
        database.execute("INSERT INTO prosodyarchive VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        assert (source / "chat/chat.sqlite-journal").stat().st_size > 0
        assert [one.text for one in office.messages("billing")] == ["kept"]
        database.execute("ROLLBACK")


def git(folder: Path, *words: str) -> None:
    author = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def office(tmp_path: Path) -> Workplace:
    work, bare = tmp_path / "work", tmp_path / "git/billing.git"
    work.mkdir()
    (tmp_path / "git").mkdir()
    git(work, "init", "-q", "-b", "main")
    (work / "rates.py").write_text("RATES = 9\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "First\n\nwith a body")
    (work / "odd\nname").write_text("x")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "Second")
    git(tmp_path, "clone", "-q", "--bare", str(work), str(bare))
    return Workplace(tmp_path)


def test_repository_is_read(office: Workplace) -> None:
    repository = office.repository("billing")
    assert [one.message for one in repository.commits()] == ["Second", "First\n\nwith a body"]
    assert repository.files() == ["odd\nname", "rates.py"]
    assert repository.file("rates.py") == b"RATES = 9\n"
    assert repository.branches() == ["main"]


READS = "from worksample.kit.workplace import Workplace as W; print(W('/state').repository('billing').files())"


@pytest.mark.box
async def test_repository_is_read_in_a_box(office: Workplace, tmp_path: Path) -> None:
    """Programs of a box may not set limits of other processes."""
    config = BoxConfig(mounts=(Mount(str(tmp_path), "/state"),), python="platform")
    async with open_box(config) as box:
        done = await box.run(["python3", "-c", READS], timeout=60)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    assert b"rates.py" in done.stdout


def test_settings_of_a_repository_have_no_effect(office: Workplace, tmp_path: Path) -> None:
    """With them git does not even read it; without them everything is there."""
    bare = tmp_path / "git/billing.git"
    git(bare, "config", "core.repositoryformatversion", "99")
    with pytest.raises(subprocess.CalledProcessError):
        git(bare, "log")
    assert len(office.repository("billing").commits()) == 2
    assert office.repository("billing").file("rates.py") == b"RATES = 9\n"


def test_missing_part_of_a_repository_is_the_deliverables_fault(office: Workplace) -> None:
    for ask in (
        lambda: office.repository("orders").commits(),
        lambda: office.repository("billing").file("gone.py"),
        lambda: office.repository("billing").commits("release"),
        lambda: office.repository("billing").file("rates.py", "--help"),
    ):
        with pytest.raises(DeliverableError):
            ask()


def test_documents_and_requests_are_read(tmp_path: Path) -> None:
    (tmp_path / "files/a").mkdir(parents=True)
    (tmp_path / "files/a/b.csv").write_text("x")
    (tmp_path / "files/out").symlink_to("/etc/passwd")
    (tmp_path / "log").mkdir()
    (tmp_path / "log/access.jsonl").write_text('{"service":"files","status":200}\n[1]\n{"service":"chat"}\n{"serv')
    office = Workplace(tmp_path)
    assert office.files() == ["a/b.csv"]
    assert office.file("a/b.csv") == b"x"
    assert [one["service"] for one in office.requests()] == ["files", "chat"]
    assert len(office.requests("chat")) == 1
    for name in ("out", "../log/access.jsonl", "gone"):
        with pytest.raises(DeliverableError):
            office.file(name)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("It is 12.50 EUR. Is that right?", "It is 12.50 EUR."),
        ("Is it 12.50 EUR? Nobody knows!", " Nobody knows!"),
        ("Are 12.50 EUR on the bill, as in E-0201.pdf?", ""),
        ("Done.\nAnything else?\nBye.", "Done.\n\nBye."),
        ("Nothing asked", "Nothing asked"),
    ],
)
def test_question_is_not_a_statement(text: str, stated: str) -> None:
    assert Message(datetime(2026, 3, 16, 9, tzinfo=UTC), "jules", text).stated == stated


@pytest.mark.parametrize("text", ["who,days\nada,1.5\n", "who;days\nada;1.5\n", "\ufeffwho\tdays\r\nada\t1.5\r\n"])
def test_document_is_read_as_a_table(text: str, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files/leave.csv").write_text(text)
    [row] = Workplace(tmp_path).rows("leave.csv").rows
    assert dict(row) == {"who": "ada", "days": "1.5"}
    with pytest.raises(DeliverableError, match="has no 'left'"):
        row["left"]


@pytest.mark.parametrize("content", ["", "who,who\nada,bob\n", 'who\n"ada', "who\nada,1\n", None])
def test_invalid_table_is_the_deliverables_fault(content: str | None, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    if content is not None:
        (tmp_path / "files/leave.csv").write_text(content)
    with pytest.raises(DeliverableError, match=r"leave\.csv"):
        Workplace(tmp_path).rows("leave.csv")


def test_events_of_other_programs_are_read() -> None:
    """RFC 5545's own examples (3.6.1), with parameters, folded lines and a whole day."""
    text = (
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:20070423T123432Z-541111@example.com\nDTSTAMP:20070423T123432Z\n"
        "DTSTART;VALUE=DATE:20070628\nDTEND;VALUE=DATE:20070709\nSUMMARY:Festival International de Jazz de Mont\n"
        " real\nTRANSP:TRANSPARENT\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    found = read_event(text)
    assert found is not None
    assert found.title == "Festival International de Jazz de Montreal"
    assert (found.ends - found.begins).days == 11
    assert read_event("BEGIN:VEVENT\nDTSTART:99999999T999999Z\nEND:VEVENT") is None
    assert read_event("") is None


@pytest.mark.parametrize(
    ("conversation", "counts"),
    [
        (("jules: when?", "rosa: at 9"), True),
        (("jules: it is so", "rosa: at 9"), False),
        (("rosa: at 9",), False),
        (("jules: when?", "rosa: which day?", "jules: it is so", "rosa: at 9"), False),
        (("jules: when?", "jules: it is so", "rosa: at 9"), True),
        (("jules: it is so", "rosa: at 9", "jules: when?", "rosa: at 9"), True),
        (("jules: when?", "rosa: hello", "rosa: at 9"), True),
    ],
)
def test_colleague_who_hears_news_and_objects_was_not_asked(
    tmp_path: Path, conversation: tuple[str, ...], counts: bool
) -> None:
    """All within one second."""
    (tmp_path / "chat").mkdir()
    with closing(sqlite3.connect(tmp_path / "chat/chat.sqlite")) as database, database:
        database.execute(ARCHIVE)
        for key, line in enumerate(conversation):
            by, _, text = line.partition(": ")
            stanza = f"<message from='{by}@workplace'><body>{text}</body></message>"
            row = ("workplace", "jules", "archive", f"k{key}", 7, "rosa@workplace", "xml", stanza)
            database.execute("INSERT INTO prosodyarchive VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    found = Workplace(tmp_path).answered("jules", "rosa", "at 9", news=lambda one: "?" not in one.text)
    assert (found is not None) is counts
