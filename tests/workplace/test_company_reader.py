"""A company's folder: its content, its faults, and the plan and key of its seed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.errors import ManifestError
from worksample.files.config_files import FaultyManifest
from worksample.kit.calendar import read_event
from worksample.workplace.company import Calendar, SeedEvent
from worksample.workplace.company_reader import folder_digest, read_company
from worksample.workplace.seed_plan import MAIL, build_plan, choose_passwords, event_ics
from worksample.workplace.seeds import seed_folder

EXAMPLE = Path(__file__).parents[2] / "examples/invoice-1043/company"


@pytest.fixture
def company(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "company"))


def test_example_is_read_completely() -> None:
    found = read_company(EXAMPLE)
    assert found.people == ("rosa", "tomasz", "ines", "hamid", "assistant")
    assert {name: len(channel.message) for name, channel in found.channels.items()} == {
        "billing": 4, "general": 4, "stations": 2,
    }  # fmt: skip
    assert [(project.id, len(project.issue), len(project.pages)) for project in found.projects] == [
        ("billing", 6, 2),
        ("stations", 4, 0),
    ]
    assert [len(one.commit) for one in found.repositories.values()] == [3]
    assert found.today == datetime(2026, 3, 9, 8, tzinfo=UTC)


def written(name: str, text: str) -> Callable[[Path], object]:
    return lambda root: (root / name).write_text(text)


def replaced(name: str, old: str, new: str) -> Callable[[Path], object]:
    def change(root: Path) -> None:
        text = (root / name).read_text()
        assert old in text
        (root / name).write_text(text.replace(old, new, 1))

    return change


FAULTS: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "nobody of that name": (
        replaced("channels/billing.toml", '"hamid"', '"hamed"'),
        ("channels/billing.toml: ", "'hamed'", "did you mean 'hamid'?"),
    ),
    "an owner that nobody is": (
        replaced("channels/billing.toml", "members = ", 'owners = ["rosita"]\nmembers = '),
        ("channels/billing.toml: owners", "'rosita'", "did you mean 'rosa'?"),
    ),
    "a room that nobody could read": (
        written("channels/void.toml", "members = []\n"), ("channels/void.toml: members", "no members (for everybody)"),
    ),
    "a room that is neither open nor closed": (
        replaced("channels/billing.toml", "members = ", 'open = "yes"\nmembers = '), ("channels/billing.toml: open",),
    ),
    "a sprint that is not there": (
        replaced("projects/billing.toml", 'sprint = "March"', 'sprint = "Marsh"'),
        ("projects/billing.toml: issue[", "did you mean 'March'?"),
    ),
    "a folder that nobody reads": (lambda root: (root / "chanels").mkdir(), ("chanels: ", "did you mean 'channels'?")),
    "two of one id": (replaced("company.toml", 'id = "ines"', 'id = "rosa"'), ("two people have the id 'rosa'",)),
    "the operator's name": (replaced("company.toml", 'id = "ines"', 'id = "operator"'), ("the workplace itself uses",)),
    "a commit without its files": (
        lambda root: shutil.rmtree(root / "repositories/billing/rates"),
        ("repositories/billing.toml: commit[1].files: there is no folder repositories/billing/rates",),
    ),
    "a file that was never there": (
        replaced("repositories/billing.toml", 'files = "report"', 'files = "report"\nremove = ["rate.py"]'),
        ("commit[2].remove", "did you mean 'rates.py'?"),
    ),
    "wiki of no project": (lambda root: (root / "wiki/station").mkdir(), ("did you mean 'stations'?",)),
    "a calendar of nobody": (
        written("calendars/erik.toml", "event = []"), ("calendars/erik.toml: there is no person 'erik'",),
    ),
    "a link": (lambda root: (root / "files/passwd").symlink_to("/etc/passwd"), ("files/passwd: is a link",)),
    "a pipe": (lambda root: os.mkfifo(root / "channels/pipe.toml"), ("channels/pipe.toml: is not a regular file",)),
    "a moment that is none": (
        replaced("channels/general.toml", "at = 2026-02-23T07:55:00", 'at = "monday"'), ("message[0].at", "UTC"),
    ),
    "a status that is none": (
        replaced("projects/billing.toml", 'status = "New"', 'status = "Opened"'), ("[2].status", "New, In Progress"),
    ),
    "a password with a colon": (replaced("company.toml", "paddle-and", "paddle:and"), ("person[4].password",)),
    "broken TOML": (written("projects/stations.toml", "title = "), ("projects/stations.toml: is not TOML",)),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_fault_names_its_place(company: Path, name: str) -> None:
    change, said = FAULTS[name]
    change(company)
    with pytest.raises(FaultyManifest) as caught:
        read_company(company)
    assert all(word in str(caught.value) for word in said), str(caught.value)


def test_all_faults_are_reported_at_once(company: Path) -> None:
    for name in ("a status that is none", "a commit without its files", "a folder that nobody reads"):
        FAULTS[name][0](company)
    with pytest.raises(FaultyManifest) as caught:
        read_company(company)
    assert len(caught.value.faults) == 3


def test_folder_without_a_company_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"no company\.toml"):
        read_company(tmp_path)


def test_seed_key_covers_everything_that_decides_it(company: Path, tmp_path: Path) -> None:
    """Any byte of the folder, the services; where the folder lies and what an editor left in it does not count."""
    names = ("files", "calendar")
    before = seed_folder(read_company(company), names)
    moved = Path(shutil.copytree(company, tmp_path / "elsewhere"))
    (moved / "__pycache__").mkdir()
    (moved / "__pycache__/x.pyc").write_bytes(b"x")
    assert seed_folder(read_company(moved), names) == before
    assert seed_folder(read_company(moved), ("calendar", "files")) == before
    assert seed_folder(read_company(moved), ("files",)) != before
    with (moved / "files/boats/safety.md").open("a") as file:
        file.write(" ")
    assert folder_digest(moved) != folder_digest(company)
    assert seed_folder(read_company(moved), names) != before


def test_passwords_are_the_companys_or_random() -> None:
    company = read_company(EXAMPLE)
    one, other = choose_passwords(company), choose_passwords(company)
    assert one["assistant"] == other["assistant"] == "paddle-and-float-26"
    assert all(one[who] != other[who] and len(one[who]) >= 32 for who in company.people if who != "assistant")


def test_plan_names_everybody_if_nobody_is_named() -> None:
    company = read_company(EXAMPLE)
    plan = build_plan(company, choose_passwords(company))
    rooms = {one["id"]: one for one in plan["channels"]}
    assert rooms["general"]["members"] == sorted(company.people)
    assert not rooms["general"]["closed"]
    assert rooms["stations"]["closed"]
    assert plan["projects"][0]["repository"] == "/task/state/workplace/git/billing.git"
    assert plan["projects"][1]["repository"] is None
    assert len({event["uid"] for one in plan["calendars"] for event in one["events"]}) == 5


@pytest.mark.parametrize(
    ("written", "closed", "members", "owners"),
    [
        ('members = ["rosa", "ines"]', True, ["ines", "rosa"], []),
        ('members = ["rosa", "ines"]\nopen = true', False, ["ines", "rosa"], []),
        ('members = ["rosa"]\nowners = ["assistant"]', True, ["rosa"], ["assistant"]),
        ('members = []\nowners = ["assistant"]', True, [], ["assistant"]),
        ("members = []\nopen = true", False, [], []),
        ('members = ["rosa"]\nowners = ["rosa"]\nopen = true', False, ["rosa"], ["rosa"]),
        ('owners = ["ines"]', False, ["assistant", "hamid", "ines", "rosa", "tomasz"], ["ines"]),
    ],
)
def test_plan_names_members_and_owners_of_a_room(
    company: Path, written: str, closed: bool, members: list[str], owners: list[str]
) -> None:
    (company / "channels/berths.toml").write_text(written + "\n")
    found = read_company(company)
    [room] = [one for one in build_plan(found, choose_passwords(found))["channels"] if one["id"] == "berths"]
    assert (room["closed"], room["members"], room["owners"]) == (closed, members, owners)


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=200)


@given(
    title=TEXT.filter(str.strip),
    text=st.lists(TEXT, max_size=3).map("\n".join),
    place=TEXT | st.just(""),
    begins=st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)),
    minutes=st.integers(1, 10_000),
)
def test_event_is_read_as_written(title: str, text: str, place: str, begins: datetime, minutes: int) -> None:
    begins = begins.replace(microsecond=0)
    ends = begins + timedelta(minutes=minutes)
    event = SeedEvent(title=title, begins=begins, ends=ends, place=place, text=text, **{"with": ("ines",)})
    calendar = event_ics("u1", "rosa", Calendar(event=(event,)).event[0], begins)
    assert all(len(line.encode()) <= 75 for line in calendar.split("\r\n"))
    found = read_event(calendar)
    assert found is not None
    assert (found.uid, found.title, found.text, found.place) == ("u1", title, text, place)
    assert (found.begins, found.ends, found.with_) == (begins, ends, (f"ines@{MAIL}",))
