"""The real services of a workplace: work, resets, attacks, their end, and later grading."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from worksample.background_services import supervise
from worksample.box import Box, BoxConfig, Endpoint
from worksample.errors import Cause, SandboxError
from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.experiments.experiment_runner import run_experiment
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.experiments.regrade_pipeline import Regrading, regrade
from worksample.kit.workplace import Workplace as Left
from worksample.models import ModelService
from worksample.python_api.experiment_run import options_of
from worksample.records import Evaluation, Experiment, GradePayload, Protocol, Submission
from worksample.sandboxes import open_box
from worksample.sandboxes.endpoints import serve_endpoints
from worksample.sandboxes.services import TrialServices, open_services
from worksample.store import Store, check
from worksample.tasks.workplace_settings import PORTS, WORKPLACE
from worksample.workplace.colleagues.chat import WorkplaceChat
from worksample.workplace.colleagues.colleague_runner import ColleagueRunner, choose_responders
from worksample.workplace.company_reader import read_company
from worksample.workplace.seeds import Seed, ensure_seed
from worksample.workplace.workplace import (
    LiveWorkplace,
    reset_services,
    seed_of_folder,
    services_box,
    workplace_over_state,
)

QUICK = "workplace/test_company_reader.py::test_example_is_read_completely"
pytestmark = [
    pytest.mark.box,
    pytest.mark.workplace,
    pytest.mark.thorough(quick=QUICK),
    pytest.mark.long(seconds=30),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
EXAMPLES = Path(__file__).parents[2] / "examples"
COMPANY = EXAMPLES / "invoice-1043/company"
ME = "assistant:paddle-and-float-26"


def seed(names: tuple[str, ...] = tuple(PORTS)) -> Seed:
    return seed_of_folder(COMPANY, names)


@asynccontextmanager
async def opened(names: tuple[str, ...] = tuple(PORTS)) -> AsyncIterator[tuple[TrialServices, LiveWorkplace, Box]]:
    """The services, and an agent's box that reaches them by name."""
    begun = await asyncio.to_thread(seed, names)
    workplace = workplace_over_state(names, begun.state, "test", accounts=begun.accounts)
    places = {Endpoint(name, PORTS[name]): f"service:{WORKPLACE}:{PORTS[name]}" for name in names}
    async with (
        open_services((workplace.box,), "bubblewrap") as services,
        open_box(BoxConfig(network="endpoints", endpoints=tuple(places))) as box,
        serve_endpoints(box, {place: services.target(to) for place, to in places.items()}),
    ):
        yield services, workplace, box


ASK = """
import base64, json, sys, urllib.error, urllib.request
for method, url, who, body, kind in json.loads(sys.argv[1]):
    head = {"Content-Type": kind}
    if who.startswith("key "): head["X-Redmine-API-Key"] = who[4:]
    elif who.startswith("cookie "): head["Cookie"] = who[7:]
    elif who: head["Authorization"] = "Basic " + base64.b64encode(who.encode()).decode()
    request = urllib.request.Request(url, body.encode() or None, head, method=method)
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            found = [answer.status, answer.read().decode("utf-8", "replace")]
    except urllib.error.HTTPError as error: found = [error.code, error.read().decode("utf-8", "replace")]
    except OSError as error: found = [0, str(error)]
    print(json.dumps(found))
"""


async def ask(box: Box, *requests: tuple[str, ...]) -> list[tuple[int, str]]:
    """(method, url, who, body, kind) each -> status and text; 0 where nothing answered."""
    full = [(*one, *("", "application/json")[len(one) - 3 :]) for one in requests]
    done = await box.run(["python3", "-c", ASK, json.dumps(full)])
    assert done.returncode == 0, done.stderr.decode()
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


EVENT = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VEVENT\r\nUID:u\r\nDTSTAMP:20260309T090000Z\r\n"
EVENT += "DTSTART:20260312T140000Z\r\nDTEND:20260312T143000Z\r\nSUMMARY:T\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
PUSH = """
export HOME=$PWD && rm -rf billing
git clone -q http://assistant:paddle-and-float-26@git:8929/billing.git && cd billing
echo x > more && git rm -q README.md && git add -A
git -c user.name=a -c user.email=a@b.c commit -qm more && git push -q origin main HEAD:refs/heads/other
"""
EDITS = (
    ("POST", "http://chat:3000/api/rooms/general", ME, '{"text": "hello"}'),
    ("POST", "http://chat:3000/api/direct/rosa", ME, '{"text": "hello you"}'),
    ("PUT", "http://tracker:8091/issues/3.json", ME, '{"issue": {"notes": "a note", "subject": "Renamed"}}'),
    ("POST", "http://tracker:8091/issues.json", ME, '{"issue": {"project_id": "billing", "subject": "New one"}}'),
    ("PUT", "http://tracker:8091/projects/billing/wiki/Tax_rates.json", ME, '{"wiki_page": {"text": "changed"}}'),
    ("PUT", "http://files:8092/finance/new.txt", ME, "new"),
    ("PUT", "http://files:8092/boats/stock.csv", ME, "changed"),
    ("DELETE", "http://files:8092/people/handbook.md", ME, ""),
    ("PUT", "http://calendar:5232/assistant/calendar/u.ics", ME, EVENT, "text/calendar"),
)


ATTACH = """
import base64, json, urllib.request
def ask(path, data, kind, method):
    head = {"Content-Type": kind, "Authorization": "Basic " + base64.b64encode(b"USER").decode()}
    asked = urllib.request.Request("http://tracker:8091" + path, data, head, method=method)
    with urllib.request.urlopen(asked, timeout=300) as answer: return answer.read()
found = ask("/uploads.json?filename=a.txt", b"attached", "application/octet-stream", "POST")
token = json.loads(found)["upload"]["token"]
attached = {"issue": {"uploads": [{"token": token, "filename": "a.txt", "content_type": "text/plain"}]}}
ask("/issues/3.json", json.dumps(attached).encode(), "application/json", "PUT")
""".replace("USER", ME)


async def edited(box: Box) -> None:
    """Edits, deletes and adds in every service."""
    for (method, url, *_), (status, said) in zip(EDITS, await ask(box, *EDITS), strict=True):
        assert 200 <= status < 300, f"{method} {url}: {status} {said}"
    for argv in (["bash", "-c", PUSH], ["python3", "-c", ATTACH]):
        done = await box.run(argv)
        assert done.returncode == 0, done.stderr.decode()


async def test_work_is_read_from_the_state(tmp_path: Path) -> None:
    async with opened() as (services, _, box):
        await edited(box)
        shutil.copytree(services_box(services).output_path / WORKPLACE, tmp_path / "edited")
    left = Left(tmp_path / "edited")
    assert [one.text for one in left.messages("general")][-1] == "hello"
    assert [(one.by, one.text) for one in left.direct("assistant", "rosa")] == [("assistant", "hello you")]
    assert [one.text for one in left.direct("rosa", "assistant")] == ["hello you"]
    issues = left.issues()
    assert (issues[2].subject, issues[-1].subject, issues[-1].by) == ("Renamed", "New one", "assistant")
    assert left.pages("billing")["Tax_rates"] == "changed"
    assert "finance/new.txt" in left.files()
    assert "people/handbook.md" not in left.files()
    assert left.file("boats/stock.csv") == b"changed"
    assert [one.title for one in left.events("assistant")] == ["T"]
    assert left.repository("billing").branches() == ["main", "other"]
    assert len(left.requests()) >= len(EDITS)
    assert [path.read_bytes() for path in (tmp_path / "edited/tracker").rglob("*_a.txt")] == [b"attached"]


async def test_colleagues_answer_in_the_chat() -> None:
    """Over the real chat: written to and named in a room; nobody else hears what the operator hears."""
    company = read_company(COMPANY)
    direct, room = "http://chat:3000/api/direct/rosa", "http://chat:3000/api/rooms/billing"
    async with opened(("chat",)) as (services, workplace, box):
        chat = WorkplaceChat(services_box(services), workplace.operator)
        by = choose_responders(company.colleagues, None, ModelService())
        [(status, _)] = await ask(box, ("GET", "http://chat:3000/api/heard?after=0", ME))
        assert status == 404
        async with ColleagueRunner(chat, by).run() as attended:
            asked = '{"text": "By when do they want the corrected invoice, @rosa: when?"}'
            await ask(box, ("POST", direct, ME, asked), ("POST", room, ME, asked))
            heard: list[str] = []
            while sum("11 March" in one for one in heard) < 2:
                heard = [text for _, text in await ask(box, ("GET", direct, ME), ("GET", room, ME))]
        assert all(json.loads(one)["messages"][-1]["by"] == "rosa" for one in heard)
        assert [(one["colleague"], one["by"], one["room"]) for one in attended.lines] == [
            ("rosa", "assistant", ""),
            ("rosa", "assistant", "billing"),
        ]


async def test_rooms_are_read_after_each_start() -> None:
    """Which of the chat's hosts comes up first is drawn at each start; both orders have to do."""
    async with opened(("chat",)) as (services, workplace, box):
        chat = WorkplaceChat(services_box(services), workplace.operator)
        for number in range(6):
            after = await chat.position()
            await ask(box, ("POST", "http://chat:3000/api/rooms/billing", ME, f'{{"text": "{number}"}}'))
            heard, _ = await chat.messages_since(after)
            assert [(one.by, one.text, one.room) for one in heard] == [("assistant", str(number), "billing")]
            await reset_services(services_box(services))


async def test_agent_cannot_reach_what_is_not_its_own() -> None:
    """Without an account, with forged ones, in others' rooms and calendars, at administration, out of folders."""
    forged = base64.b64encode(b'{"user_id":1,"sk":"0"}').decode() + "--" + "0" * 40
    closed = {
        ("GET", "http://chat:3000/api/people", ""): (401,),
        ("GET", "http://chat:3000/api/people", "operator:"): (401,),
        ("GET", "http://chat:3000/api/people", "operator:operator"): (401,),
        ("GET", "http://chat:3000/api/rooms/stations", ME): (404,),
        ("POST", "http://chat:3000/api/rooms/stations", ME, '{"text": "x"}'): (404,),
        ("GET", "http://chat:3000/api/../admin", ME): (404,),
        ("GET", "http://chat:3000/admin_shell", ME): (404,),
        ("GET", "http://tracker:8091/issues.json", ""): (401,),
        ("GET", "http://tracker:8091/users.json", ME): (403,),
        ("GET", "http://tracker:8091/users.json", "admin:admin"): (401,),
        ("GET", "http://tracker:8091/users.json", "operator:operator"): (401,),
        ("GET", "http://tracker:8091/users.json", "key "): (401,),
        ("GET", "http://tracker:8091/users.json", "key " + "0" * 40): (401,),
        ("GET", "http://tracker:8091/users.json", f"cookie default={forged}"): (401,),
        ("DELETE", "http://tracker:8091/issues/3.json", ME): (403,),
        ("DELETE", "http://tracker:8091/projects/billing.json", ME): (403, 404),
        ("PUT", "http://tracker:8091/issues/7.json", ME, '{"issue": {"author_id": 5, "status_id": "x"}}'): (204, 422),
        ("GET", "http://files:8092/finance/payroll.csv", ""): (401, 403),
        ("GET", "http://files:8092/finance/payroll.csv", "assistant:wrong-password"): (401, 403),
        ("GET", "http://files:8092/..%2f..%2fchat/chat.sqlite", ME): (400, 403, 404, 422),
        ("PUT", "http://calendar:5232/rosa/calendar/u.ics", ME, EVENT, "text/calendar"): (403,),
        ("DELETE", "http://calendar:5232/rosa/calendar/", ME): (403,),
        ("GET", "http://calendar:5232/rosa/calendar/", ""): (401,),
        ("GET", "http://git:8929/billing.git/info/refs?service=git-upload-pack", ""): (401,),
        ("GET", "http://git:8929/billing.git/../../chat/chat.sqlite", ME): (400, 403, 404),
        ("GET", "http://git:8929/billing.git/config", ME): (403, 404),
    }
    async with opened() as (services, workplace, box):
        for request, (status, said) in zip(closed, await ask(box, *closed), strict=True):
            assert status in closed[request], f"{request[:3]}: {status} {said[:300]}"
            assert workplace.operator not in said
        [(status, said)] = await ask(box, ("GET", "http://chat:3000/api/me?as=rosa", ME))
        assert (status, json.loads(said)["id"]) == (200, "assistant")
        places = " ".join(str(port) for port in (5280, 3923, 15232, 8091, 3000))
        scan = f"for p in {places}; do (echo > /dev/tcp/127.0.0.1/$p) 2>/dev/null && echo open $p; done; true"
        assert (await box.run(["bash", "-c", scan])).stdout == b""
        issue = Left(services_box(services).output_path / WORKPLACE).issues()[6]
        assert issue.by == "ines"


@pytest.mark.parametrize(
    ("word", "name", "names"),
    [
        ("nginx: master", "front door", ("chat", "git")),
        ("prosody", "chat", ("chat", "git")),
        ("fcgiwrap", "git", ("chat", "git")),
        (":15232", "calendar", ("chat", "calendar")),
        (":3923", "files", ("chat", "files")),
        ("redmine.rb", "tracker", ("chat", "tracker")),
    ],
)
async def test_ended_service_ends_the_work(word: str, name: str, names: tuple[str, ...]) -> None:
    """The keeper of all services says which, by the rules of every service of a task."""
    async with opened(names) as (services, _, _box):

        async def kill() -> None:
            done = await services_box(services).run(["python3", "-c", KILL, word])
            assert done.stdout.strip(), done.stderr
            await asyncio.Event().wait()

        with pytest.raises(SandboxError) as caught:
            await supervise(kill(), services.failure)
    assert caught.value.cause is Cause.SERVICE_LOST
    assert f"{name} ended with exit status -9" in str(caught.value)


KILL = """
import os, signal, sys
word = sys.argv[1]
holds = ""
if word.startswith(":"):  # who listens at a port of the loopback: forked from the keeper, it bears its name
    lines = [line.split() for line in open("/proc/net/tcp").readlines()[1:]]
    [holds] = [f"socket:[{one[9]}]" for one in lines if one[1].endswith(f":{int(word[1:]):04X}") and one[3] == "0A"]
for name in filter(str.isdigit, os.listdir("/proc")):
    try:
        words = open(f"/proc/{name}/cmdline").read().replace("\\0", " ")
        leads = os.getsid(int(name)) == int(name)
        files = {os.readlink(f"/proc/{name}/fd/{one}") for one in os.listdir(f"/proc/{name}/fd")} if holds else set()
    except OSError:
        continue
    if leads and (holds in files if holds else word in words and "python" not in words):
        os.kill(int(name), signal.SIGKILL)
        print(words)
"""


def test_concurrent_requests_for_one_seed_create_it_once(tmp_path: Path) -> None:
    company = Path(shutil.copytree(COMPANY, tmp_path / "company"))
    (company / "files/raced.txt").write_text(str(tmp_path))
    names: tuple[str, ...] = ("git", "calendar")
    found: list[Seed] = []
    read = read_company(company)
    racing = [threading.Thread(target=lambda: found.append(ensure_seed(read, company, names))) for _ in range(3)]
    for one in racing:
        one.start()
    for one in racing:
        one.join()
    assert len(found) == 3
    assert len({json.dumps(one.accounts) for one in found}) == 1
    assert (found[0].state / "git/billing.git/HEAD").is_file()
    shutil.rmtree(found[0].state.parent)


def test_work_in_services_is_graded_and_graded_again_elsewhere(tmp_path: Path) -> None:
    """One agent does the work, one only says so. Later the store lies elsewhere, and no service stands."""
    config = ExperimentConfig(
        name="office",
        agents=tuple(
            AgentConfig(harness="scripted", name=name, script=str(EXAMPLES / "invoice-1043-agents" / name))
            for name in ("right", "wrong")
        ),
        tasks=(str(EXAMPLES / "invoice-1043"),),
        author="tester",
        parallel=1,
    )
    with Store.open(tmp_path / "store", create=True) as store:
        plan = prepare(config, store.blobs)
        commit_plan(store, plan)
        status = run_experiment(store, plan.experiment, options_of(config)).status
        assert (status.finished, status.graded) == (2, 2)
        first = grades(store)
        assert {name: one.score for name, one in first.items()} == {"right": 1.0, "wrong": 0.0}
        assert not check(store, deep=True)
    shutil.move(tmp_path / "store", tmp_path / "elsewhere")
    with Store.open(tmp_path / "elsewhere") as store:
        [experiment] = store.find(Experiment)
        again = regrade(store, Regrading(experiment, protocol=Protocol.CHECKPOINTS, author="tester", reason="again"))
        assert again.adopted
        second = grades(store, again.round.id)
        assert {name: one.plain() for name, one in second.items()} == {name: one.plain() for name, one in first.items()}


def grades(store: Store, round: str = "") -> dict[str, GradePayload]:
    """By the agent's name."""
    found = {}
    for one in store.find(Evaluation):
        if round in ("", one.round):
            assert isinstance(one.payload, GradePayload), one
            found[store.get(Submission, one.subject).entrant.partition("@")[0]] = one.payload
    return found
