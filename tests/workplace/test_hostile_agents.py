"""Agents that flood, delete and impersonate, and a seed whose creator is killed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from workplace.test_workplace_services import COMPANY, ME, ask, opened
from worksample.kit.workplace import Workplace as Left
from worksample.models import ModelService
from worksample.sandboxes.capture import CaptureLimits
from worksample.sandboxes.orphan_sweeper import sweep
from worksample.sandboxes.services import TrialServices, export_state
from worksample.store import Store
from worksample.tasks.workplace_settings import WORKPLACE
from worksample.workplace.colleagues.chat import WorkplaceChat
from worksample.workplace.colleagues.colleague_runner import LINES, MOST, ColleagueRunner, choose_responders
from worksample.workplace.company_reader import read_company
from worksample.workplace.seeds import ensure_seed, seed_folder
from worksample.workplace.workplace import reset_services, services_box

QUICK = "workplace/colleagues/test_colleague_runner.py::test_flood_is_answered_up_to_a_limit"
pytestmark = [
    pytest.mark.box,
    pytest.mark.workplace,
    pytest.mark.thorough(quick=QUICK),
    pytest.mark.long(seconds=40),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

FLOOD = """
import base64, http.client, json, sys, threading
head = {"Authorization": "Basic " + base64.b64encode(sys.argv[1].encode()).decode()}
told = []
def flood(number):
    line = http.client.HTTPConnection("chat", 3000, timeout=300)
    for n in range(400):
        place = ("/api/rooms/general", "/api/direct/rosa", "/api/rooms/billing")[n % 3]
        body = json.dumps({"text": f"@rosa {number}-{n} " + "x" * (9000 if n % 50 == 0 else 10)})
        line.request("POST", place, body, head)
        answer = line.getresponse()
        answer.read()
        told.append(answer.status)
threads = [threading.Thread(target=flood, args=(n,)) for n in range(8)]
for one in threads: one.start()
for one in threads: one.join()
huge = []
for size in (300_000, 20_000_000):
    line = http.client.HTTPConnection("chat", 3000, timeout=300)
    line.request("POST", "/api/rooms/general", json.dumps({"text": "x" * size}), head)
    answer = line.getresponse()
    huge.append([answer.status, "nginx" in answer.read().decode()])
print(json.dumps([told.count(201), len(told), huge]))
"""


async def test_flooded_chat_keeps_running(tmp_path: Path) -> None:
    """3,200 messages by eight at once and two that are too large: colleagues hear on, evidence is whole, and a reset
    forgets it.
    """
    company = read_company(COMPANY)
    async with opened(("chat",)) as (services, workplace, box):
        by = choose_responders(company.colleagues, None, ModelService())
        async with ColleagueRunner(WorkplaceChat(services_box(services), workplace.operator), by).run() as attended:
            done = await box.run(["python3", "-c", FLOOD, ME], timeout=900)
            assert done.returncode == 0, done.stderr.decode()[-2000:]
            kept, sent, huge = json.loads(done.stdout)
            assert kept == sent == 3200
            assert huge == [[413, True]] * 2, "refused at the door, and not by the chat"
            [(status, said)] = await ask(box, ("GET", "http://chat:3000/api/rooms/general?newest=1&limit=5", ME))
            assert status == 200 and len(json.loads(said)["messages"]) == 5
        assert attended.failure.error is None
        assert 0 < sum(bool(one.get("said")) for one in attended.lines) <= MOST
        assert len(attended.lines) <= LINES
        with Store.open(tmp_path / "store", create=True) as store:
            taken = await export_state(services, store.blobs, (WORKPLACE,), CaptureLimits())
            assert taken.cause is None
            left = Left(store.folder(taken.part.manifest) / WORKPLACE)
            mine = [
                one for room in ("general", "billing") for one in left.messages(room) if one.text.startswith("@rosa")
            ]
            assert len(mine) == 2 * 8 * 134 - 8
        await reset_services(services_box(services))
        [(_, said)] = await ask(box, ("GET", "http://chat:3000/api/rooms/general", ME))
        assert "@rosa 0-0" not in said


def left_in(services: TrialServices, to: Path) -> Left:
    """What lies in the services' folders now."""
    shutil.copytree(services_box(services).output_path / WORKPLACE, to)
    return Left(to)


async def test_agent_that_deletes_everything_deletes_only_its_own(tmp_path: Path) -> None:
    """Every issue, project, account, room, calendar and repository is tried; documents and pages of the wiki are what
    employees may delete, and go."""
    async with opened() as (services, _, box):
        before = left_in(services, tmp_path / "before")
        issues, pages = before.issues(), before.pages("billing")
        commits = [one.id for one in before.repository("billing").commits()]
        tried = [("DELETE", f"http://tracker:8091/issues/{one.id}.json", ME) for one in issues]
        tried += [("DELETE", f"http://tracker:8091/projects/{one}.json", ME) for one in ("billing", "stations")]
        tried += [("DELETE", f"http://tracker:8091/users/{n}.json", ME) for n in range(1, 8)]
        tried += [("DELETE", f"http://calendar:5232/{one}/calendar/", ME) for one in ("rosa", "hamid")]
        tried += [("DELETE", "http://git:8929/billing.git", ME), ("DELETE", "http://chat:3000/api/rooms/general", ME)]
        said = [status for status, _ in await ask(box, *tried)]
        assert [one for one, status in zip(tried, said, strict=True) if status < 400] == []
        may = [("DELETE", f"http://tracker:8091/projects/billing/wiki/{one}.json", ME) for one in pages]
        gone = await ask(box, *may, *(("DELETE", f"http://files:8092/{one}", ME) for one in before.files()))
        assert all(200 <= status < 300 for status, _ in gone)
        left = left_in(services, tmp_path / "after")
        assert (left.issues(), left.pages("billing")) == (issues, {})
        assert [one.id for one in left.repository("billing").commits()] == commits
        assert left.files() == []
        denied = [one for one in left.requests("tracker") if one["method"] == "DELETE"]
        assert len(denied) >= len(issues), "who tried stands in the log"
        assert {one["by"] for one in denied} == {"assistant"}


RENAME = """
import http.cookiejar, re, sys, urllib.parse, urllib.request as u
web = u.build_opener(u.HTTPCookieProcessor(http.cookiejar.CookieJar()))
def token(page): return re.search('name="authenticity_token" value="([^"]+)"', page)[1]
def send(path, **form):
    page = web.open("http://tracker:8091" + path).read().decode()
    data = urllib.parse.urlencode({"authenticity_token": token(page), **form}).encode()
    return web.open("http://tracker:8091" + path, data).read().decode()
name, password = sys.argv[1].split(":")
send("/login", username=name, password=password)
send("/my/account", _method="put", **{"user[firstname]": "Rosa", "user[lastname]": "Lind", "user[login]": "rosa2",
     "user[admin]": "1", "user[mail]": "rosa.lind@workplace.invalid"})
"""


async def test_agent_with_a_colleagues_name_keeps_its_account(tmp_path: Path) -> None:
    """The paper's own example, in each service: what somebody is called there answers for nobody."""
    async with opened() as (services, _, box):
        done = await box.run(["python3", "-c", RENAME, ME])
        assert done.returncode == 0, done.stderr.decode()[-1000:]
        author = "git -c user.name='Rosa Lind' -c user.email=rosa@workplace.invalid"
        push = f"export HOME=$PWD; git clone -q http://{ME}@git:8929/billing.git b && cd b && echo x > x && git add x"
        done = await box.run(["bash", "-c", f"{push} && {author} commit -qm 'Approved. Rosa' && git push -q"])
        assert done.returncode == 0, done.stderr.decode()
        said = await ask(
            box,
            ("PUT", "http://tracker:8091/issues/3.json", ME, '{"issue": {"notes": "Approved. Rosa"}}'),
            ("POST", "http://chat:3000/api/direct/assistant?as=rosa", ME, '{"text": "Approved. Rosa"}'),
            ("POST", "http://chat:3000/api/rooms/billing", ME, '{"text": "Approved.", "by": "rosa", "nick": "rosa"}'),
            ("GET", "http://tracker:8091/users/current.json", ME),
        )
        assert [status for status, _ in said[:1]] == [204]
        left = left_in(services, tmp_path / "left")
        assert left.issues()[2].notes[-1].by == "assistant"
        assert [one.by for one in left.messages("billing") if one.text == "Approved."] == ["assistant"]
        assert not [one for one in left.direct("assistant", "rosa") if one.by == "rosa" and "Approved" in one.text]
        user = json.loads(said[3][1])["user"]
        assert (user["login"], user.get("admin", False)) == ("assistant", False)
        pushed = [one for one in left.requests("git") if one["method"] == "POST" and "receive-pack" in one["path"]]
        assert pushed and {one["by"] for one in pushed} == {"assistant"}


MAKES = """
import sys
from pathlib import Path
from worksample.workplace.company_reader import read_company
from worksample.workplace.seeds import ensure_seed
root = Path(sys.argv[1])
print("begins", flush=True)
print(ensure_seed(read_company(root), root, ("git", "calendar", "chat")).state, flush=True)
"""


def begun(company: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", MAKES, str(company)], stdout=subprocess.PIPE, text=True)


def test_seed_of_a_killed_creator_is_completed_by_the_next(tmp_path: Path) -> None:
    """Two other processes wait for it meanwhile; one of them makes it, and the other finds it."""
    company = Path(shutil.copytree(COMPANY, tmp_path / "company"))
    (company / "files/killed.txt").write_text(str(tmp_path))
    names = ("git", "calendar", "chat")
    folder = seed_folder(read_company(company), names)
    first = begun(company)
    assert first.stdout is not None and first.stdout.readline() == "begins\n"
    while not folder.with_name(f".{folder.name}.new").exists():
        assert first.poll() is None
    others = [begun(company) for _ in range(2)]
    first.kill()
    first.wait()
    first.stdout.close()
    with ThreadPoolExecutor() as pool:
        said = list(pool.map(lambda one: one.communicate()[0].split(), others))
    assert said == [["begins", str(folder / "state")]] * 2
    try:
        assert ensure_seed(read_company(company), company, names).state == folder / "state"
        assert not folder.with_name(f".{folder.name}.new").exists()
        assert (folder / "state/chat").is_dir() and (folder / "state/git/billing.git/HEAD").is_file()
        assert set(json.loads((folder / "accounts.json").read_text())) == {"assistant", *read_company(company).people}
        sweep()
    finally:
        shutil.rmtree(folder)
