"""TheAgentCompany's own layout: reading, import, and grading by unmodified evaluators over restored services."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from cli.run_cli import cli_json
from formats.tac_port_runs import Outcome, run_work
from formats.tac_port_work import Work
from formats.tac_small_repository import CHANNEL_MOVE, TASKS, write_repository
from worksample.errors import ImportFailed, UsageError
from worksample.files import HashSink
from worksample.formats.tac.original_import import count_needs, import_original, read_originals
from worksample.formats.tac.original_world import World, _table
from worksample.tasks import ingest, read_package
from worksample.workplace.company_reader import read_company

pytestmark = pytest.mark.tac


def test_copy_of_the_repository_is_read_and_counted(tmp_path: Path) -> None:
    found = {task.name: task for task in read_originals(write_repository(tmp_path))}
    assert {name: task.services for name, task in found.items()} == {
        "finance-report": ("owncloud",),
        "hr-emoji": ("rocketchat",),
        "pm-greet": ("rocketchat",),
        "sde-issue": ("gitlab",),
    }
    assert {name: task.missing_contents() for name, task in found.items() if task.missing_contents()} == {
        "finance-report": ("ownCloud's documents",), "sde-issue": ("GitLab's project rates",),
    }  # fmt: skip
    assert found["sde-issue"].unrun_programs == ("populate_data.py",)
    assert [one.id for one in found["pm-greet"].colleagues] == ["david_wong"]
    assert (found["pm-greet"].evaluator_needs.judge, found["finance-report"].evaluator_needs.judge) == (True, False)
    assert count_needs(list(found.values()))["all"] == (4, 2)
    said = cli_json("import", "tac", "--original", tmp_path, "--list")
    assert [one["name"] for one in said if one["contents"]] == ["finance-report", "sde-issue"]
    assert [one["name"] for one in said if one["obstacles"]] == ["finance-report", "sde-issue"]
    given = write_world(tmp_path / "world")
    assert count_needs(list(found.values()), **given)["all"] == (4, 4)


def write_world(folder: Path) -> dict[str, Path]:
    """Write the project that a task asks for, and an empty folder of documents."""
    for name, text in {
        "more/projects/rates.toml": 'title = "Rates"\n[[issue]]\nsubject = "The rate is wrong"\n'
        'by = "theagentcompany"\nat = 2024-11-01T09:00:00\n',
        "more/repositories/rates.toml": '[[commit]]\nat = 2024-11-01T09:00:00\nby = "theagentcompany"\nmessage = "x"\n',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "documents").mkdir()
    return {"more": folder / "more", "documents": folder / "documents"}


def test_task_whose_world_is_missing_cannot_be_attempted(tmp_path: Path) -> None:
    for root in import_original(write_repository(tmp_path / "copy"), tmp_path / "tac"):
        [instance] = ingest(read_package(root), HashSink()).instances
        lacks = root.name in ("tac-finance-report", "tac-sde-issue")
        assert (instance.work.environment.services == ("tac-contents",)) is lacks
        assert ("GitLab's project rates" in (root / "notes.md").read_text()) is (root.name == "tac-sde-issue")


@pytest.mark.parametrize(
    ("need", "lacks"),
    [
        ("gitlab rates", False), ("gitlab rates: issue The rate is wrong", False), ("gitlab *: issue *", False),
        ("gitlab rates: issue 7", True), ("gitlab rates: branch feature/ssl", True), ("gitlab rates: label bug", True),
        ("gitlab rates: file README.md", True), ("gitlab other", True), ("plane Rates", False), ("plane rates", True),
        ("plane Rates: cycle *", True), ("gitlab *: merge request", True), ("document Documents/x.pdf", True),
    ],
)  # fmt: skip
def test_needs_are_held_against_the_given_world(need: str, lacks: bool, tmp_path: Path) -> None:
    given = write_world(tmp_path)
    assert World.read(given["more"], given["documents"]).lacks(need) is lacks


def test_listed_needs_are_readable() -> None:
    table = _table()
    assert not table["cannot"].keys() & table["needs"].keys()
    for needs in table["needs"].values():
        assert all(World().lacks(need) for need in needs)


def test_packages_of_a_copy_are_valid_and_keep_tokens(tmp_path: Path) -> None:
    made = import_original(write_repository(tmp_path / "copy"), tmp_path / "tac", **write_world(tmp_path / "world"))
    assert [root.name for root in made] == ["tac-finance-report", "tac-hr-emoji", "tac-pm-greet", "tac-sde-issue"]
    packages = {root.name: read_package(root) for root in made}
    greet = packages["tac-pm-greet"].instances[0].environment
    assert [(one.name, one.port, one.to) for one in greet.endpoints if one.name.startswith("the-")] == [
        ("the-agent-company.com", 3000, "service:workplace:3000"),
        ("the-agent-company.com", 3002, "service:workplace:3000"),
    ]
    issue = packages["tac-sde-issue"].instances[0].environment
    assert issue.services == ("git", "tracker")
    assert ("the-agent-company.com", 8929) in [(one.name, one.port) for one in issue.endpoints]
    agent = read_company(tmp_path / "tac/tac-sde-issue/company").person[0]
    assert (agent.tokens, agent.also) == (("root-token", "plane-api-key"), ("root",))
    report = tmp_path / "tac/tac-finance-report"
    assert (report / "inputs/numbers.csv").is_file()
    assert not list((report / "inputs").rglob("answer.txt"))
    assert (report / "reference/answer.txt").read_text() == "42\n"
    written = (report / "reference/evaluator.py").read_text()
    assert written == TASKS["finance-report"]["evaluator.py"]
    again = import_original(tmp_path / "copy", tmp_path / "tac")
    assert (len(again), len(again.there)) == (0, len(made))


def test_channels_of_a_copy_have_their_published_members(tmp_path: Path) -> None:
    """Members who are not people of the copy are left out, and an empty channel is not open to all. The agent owns
    none of them, and administers all.
    """
    [root] = import_original(write_repository(tmp_path / "copy", CHANNEL_MOVE), tmp_path / "tac")
    company = read_company(root / "company")
    assert company.people == ("theagentcompany", "li_ming")
    rooms = company.channels
    assert len(rooms) == 15
    assert {name for name, room in rooms.items() if room.members == ("li_ming",)} == {"project-graphdb", "tech-talk"}
    assert rooms["kudos"].members == ("li_ming", "theagentcompany")
    assert rooms["general"].members is None
    assert rooms["project-ai"].members == ()
    assert {(room.open, room.owners) for name, room in rooms.items() if name != "general"} == {(True, ())}
    assert rooms["general"].owners == ()
    assert [person.admin for person in company.person] == [True, False]


@pytest.mark.parametrize("name", ["sde-install", "example"])
def test_task_without_services_has_files_as_deliverables(name: str, tmp_path: Path) -> None:
    """The copy's own example has a category, although its name contains no department."""
    folder = write_repository(tmp_path / "copy") / "workspaces/tasks" / name
    folder.mkdir()
    (folder / "task.md").write_text("Write /workspace/answer.txt.")
    (folder / "evaluator.py").write_text("def grade_checkpoints(trajectory=''):\n    return None\n")
    [root] = import_original(tmp_path / "copy", tmp_path / "tac", tasks=(name,))
    instance = read_package(root).instances[0]
    assert [one.name for one in instance.deliverables] == ["*"]


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("dependencies.yml", "gitlab: 1\n", "not a list of services"),
        ("dependencies.yml", "- gitlabb\n", "gitlabb"),
        ("dependencies.yml", "- [\n", "cannot be read"),
        ("dependencies.yml", "- 1\n", "not a list of services"),
        ("scenarios.json", "[]", "not an object with an entry per person"),
        ("scenarios.json", "{", "not JSON"),
        ("scenarios.json", json.dumps({"Li Ming": {"secret": "x"}}), "neither extra_info"),
        ("scenarios.json", json.dumps({"Li Ming": "x"}), "not an object of texts"),
        ("evaluator.py", "def (", "cannot be read"),
        ("evaluator.py", "", ""),
    ],
)
def test_malformed_file_is_named(file: str, text: str, fault: str, tmp_path: Path) -> None:
    copy = write_repository(tmp_path)
    place = copy / "workspaces/tasks/pm-greet" / file
    if text:
        place.write_text(text)
        with pytest.raises(ImportFailed, match=fault) as raised:
            read_originals(copy)
        assert raised.value.next == "correct the file, then worksample import tac --original COPY --overwrite OUT"
        return
    place.unlink()
    with pytest.raises(ImportFailed, match=r"(?s)no evaluator.*next: git clone "):
        read_originals(copy)
    refused: dict[str, ImportFailed] = {}
    assert len(read_originals(copy, refused)) == 3
    assert list(refused) == ["pm-greet"]


def test_encrypted_evaluator_is_decrypted_with_the_published_key(tmp_path: Path) -> None:
    copy = write_repository(tmp_path)
    place = copy / "workspaces/tasks/pm-greet/evaluator.py"
    source, key = place.read_text(), base64.urlsafe_b64encode(b"theagentcompany is all you need\0")
    place.unlink()
    sealed = place.with_name("evaluator.py.enc")
    sealed.write_bytes(Fernet(key).encrypt(source.encode()))
    [root] = import_original(copy, tmp_path / "tac", tasks=["pm-greet"])
    assert (root / "reference/evaluator.py").read_text() == source
    sealed.write_bytes(Fernet(Fernet.generate_key()).encrypt(source.encode()))
    with pytest.raises(ImportFailed, match=r"(?s)cannot be decrypted with the published key.*next: git clone "):
        read_originals(copy)


def test_folder_without_a_copy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a copy"):
        read_originals(tmp_path)
    with pytest.raises(UsageError, match="no such task"):
        import_original(write_repository(tmp_path / "copy"), tmp_path / "tac", tasks=["nonesuch"])


CLOSE = """
import json, urllib.request
root, head = "http://the-agent-company.com:8929/api/v4/projects/root%2Frates", {"PRIVATE-TOKEN": "root-token"}
asked = urllib.request.Request(root + "/issues?search=rate", headers=head)
[issue] = json.load(urllib.request.urlopen(asked, timeout=120))
change = urllib.request.Request(root + "/issues/%d?state_event=close" % issue["iid"], b"", head, method="PUT")
urllib.request.urlopen(change, timeout=120)
"""
HOME = "http://the-agent-company.com:3000/home"
WORKS = [
    Work(
        "pm-greet", "right", urls=(f"{HOME}?",), told=(("david_wong", "What is the budget?"),),
        channels=(("finance-talk", "david_wong", "Welcome!"),),
    ),
    Work("pm-greet", "wrong", told=(("david_wong", "Hello."),), channels=(("finance-talk", "", "Welcome"),)),
    Work("finance-report", "right", {"total.txt": b"42\n"}, {"Documents/Financials/total.txt": b"42"}),
    Work("finance-report", "wrong", {"total.txt": b"42\n"}),
    Work("hr-emoji", "right"),
    Work("hr-emoji", "wrong"),
    Work("sde-issue", "right", program=CLOSE),
    Work("sde-issue", "wrong"),
]  # fmt: skip


TRANSFER = """
import json, urllib.request
me = "theagentcompany"

def ask(name, head={}, body=None):
    url = "http://the-agent-company.com:3000/api/v1/" + name
    asked = urllib.request.Request(
        url, json.dumps(body).encode() if body else None, {"Content-Type": "application/json", **head}
    )
    return json.load(urllib.request.urlopen(asked, timeout=120))

data = ask("login", body={"user": me, "password": me})["data"]
head = {"X-Auth-Token": data["authToken"], "X-User-Id": data["userId"]}
li = ask("users.info?username=li_ming", head)["user"]["_id"]
ask("channels.kick", head, {"roomName": "project-graphdb", "userId": li})
ask("channels.invite", head, {"roomName": "project-ai", "userId": li})
"""


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.long(seconds=60)
@pytest.mark.thorough(quick="formats/test_tac_original.py::test_channels_of_a_copy_have_their_published_members")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_move_between_channels_scores_only_when_done(tmp_path: Path) -> None:
    works = [Work("hr-move", "right", program=TRANSFER), Work("hr-move", "nothing")]
    [root] = import_original(write_repository(tmp_path / "copy", CHANNEL_MOVE), tmp_path / "tac")
    found = run_work(tmp_path, {"hr-move": root}, works)
    assert (found["hr-move"]["right"].score, found["hr-move"]["nothing"].score) == (1.0, 0.0), found


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.long(seconds=90)
@pytest.mark.thorough(quick="formats/test_tac_original.py::test_copy_of_the_repository_is_read_and_counted")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_evaluators_of_a_copy_grade_right_and_wrong_work(tmp_path: Path) -> None:
    """The real client of Rocket.Chat is used, and a judge answers. A request that the chat does not support leaves the
    work
    ungraded.
    """
    names = tuple(dict.fromkeys(work.task for work in WORKS))
    given = write_world(tmp_path / "world")
    roots = import_original(write_repository(tmp_path / "copy"), tmp_path / "tac", tasks=names, **given)
    found = run_work(tmp_path, dict(zip(names, roots, strict=True)), WORKS)
    assert found["pm-greet"]["right"].score == 1.0, found
    assert found["pm-greet"]["wrong"] == Outcome(
        0.0, ((1.0, 0.0), (1.0, 0.0), (2.0, 0.0), (1.0, 0.0)), reason="0 of 5 points"
    )
    assert (found["finance-report"]["right"].score, found["finance-report"]["wrong"].score) == (1.0, 0.5)
    assert (found["sde-issue"]["right"].score, found["sde-issue"]["wrong"].score) == (1.0, 0.0)
    for who in ("right", "wrong"):
        assert found["hr-emoji"][who].cause == "grader.lacks"
        assert "emoji-custom.list" in found["hr-emoji"][who].reason
