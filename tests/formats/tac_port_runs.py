"""Runs of the port's 39 tasks from import to grade, by an agent that works correctly and one that does not.

Both use the workplace as an agent would: by WebDAV, Rocket.Chat's REST API and files. Judge and colleagues are models
on the loopback.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from formats.tac_port_work import Work, works
from openai_server import Answer, judged, read, says, serving
from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.experiments.experiment_runner import run_experiment
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.formats.tac import import_tac
from worksample.models import JudgeConfig
from worksample.python_api.experiment_run import options_of
from worksample.records import Evaluation, Experiment, GradePayload, Instance, Submission
from worksample.store import Store

JUDGE, COLLEAGUE = "openai-api/local/judge-1", "openai-api/local/colleague-1"
WHO = ("right", "wrong")
OFFICE = """
import json, subprocess, sys, urllib.parse, urllib.request
ME = "theagentcompany"
CLOUD, CHAT = "http://owncloud", "http://rocketchat:3000/api/v1/"

def curl(*words):
    done = subprocess.run(["curl", "-sS", "-f", "-u", f"{ME}:{ME}", *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")

def look(url):
    subprocess.run(["curl", "-s", "-o", "/dev/null", "-u", f"{ME}:{ME}", url], check=True)

def put(source, place):
    steps = place.split("/")[:-1]
    for n in range(1, len(steps) + 1):
        folder = urllib.parse.quote("/".join(steps[:n]))
        subprocess.run(["curl", "-s", "-u", f"{ME}:{ME}", "-X", "MKCOL", f"{CLOUD}/remote.php/webdav/{folder}/"])
    curl("-T", source, f"{CLOUD}/remote.php/webdav/{urllib.parse.quote(place)}")

def api(name, head, body=None):
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(CHAT + name, data, {"Content-Type": "application/json", **head})
    with urllib.request.urlopen(asked, timeout=120) as answer:
        return json.load(answer)

def tell(*messages):
    data = api("login", {}, {"user": ME, "password": ME})["data"]
    head = {"X-Auth-Token": data["authToken"], "X-User-Id": data["userId"]}
    for user, text in messages:
        room = api("im.create", head, {"username": user})["room"]["_id"]
        api("chat.postMessage", head, {"roomId": room, "text": text})

def meet(*rooms):
    data = api("login", {}, {"user": ME, "password": ME})["data"]
    head = {"X-Auth-Token": data["authToken"], "X-User-Id": data["userId"]}
    for room, member, text in rooms:
        api("channels.create", head, {"name": room})
        if member:
            user = api("users.info?username=" + member, head)["user"]["_id"]
            api("channels.invite", head, {"roomName": room, "userId": user})
        api("chat.postMessage", head, {"channel": "#" + room, "text": text})

def share(place):
    said = curl("-d", f"shareType=3&path=/{place}", f"{CLOUD}/ocs/v1.php/apps/files_sharing/api/v1/shares?format=json")
    return json.loads(said)["ocs"]["data"]["url"]
"""


@dataclass(frozen=True)
class Outcome:
    """The result of an agent's work at a task: a score with its parts, or the reason why it has none."""

    score: float | None
    parts: tuple[tuple[float, float], ...] = ()
    cause: str = ""
    reason: str = ""


def run_port_tasks(
    folder: Path, tasks: tuple[str, ...] = (), parallel: int = 2, graders: int = 2
) -> dict[str, dict[str, Outcome]]:
    """Run tasks of the port, by default all 39; return task -> agent -> outcome."""
    made = {item.name: item.package for item in import_tac(folder / "tac", tasks=tasks)}
    return run_work(folder, made, [work for work in works() if work.task in made], parallel, graders)


def run_work(
    folder: Path, packages: Mapping[str, Path], given: Sequence[Work], parallel: int = 2, graders: int = 2,
    *, goes_on: bool = False, answers: Callable[[dict[str, Any], int], Answer] | None = None,
) -> dict[str, dict[str, Outcome]]:  # fmt: skip
    """Run the agents' work at these packages and grade it; return task -> agent -> outcome.

    goes_on: whether an interrupted run is continued. answers: how models on the loopback answer.
    """
    who = tuple(dict.fromkeys(work.name for work in given))
    for work in given:
        _write_script(folder / "scripts" / work.name, work, packages[work.task].name)
    config = ExperimentConfig(
        name="port",
        agents=tuple(AgentConfig(harness="scripted", name=n, script=str(folder / "scripts" / n)) for n in who),
        tasks=tuple(dict.fromkeys(str(packages[work.task]) for work in given)),
        judges={"judge": JudgeConfig(model=JUDGE)},
        roles={"colleague": COLLEAGUE},
        check_models=False,
        author="tester",
        parallel=parallel,
        graders=graders,
    )
    with _models(answers or answer_request), Store.open(folder / "store", create=True) as store:
        begun = store.find(Experiment) if goes_on else []
        if not begun:
            plan = prepare(config, store.blobs)
            commit_plan(store, plan)
            begun = [plan.experiment]
        run_experiment(store, begun[0], options_of(config))
        return outcomes(store, {root.name: name for name, root in packages.items()})


def outcomes(store: Store, names: Mapping[str, str]) -> dict[str, dict[str, Outcome]]:
    """Return task -> agent -> outcome. names: package -> task."""
    found: dict[str, dict[str, Outcome]] = {}
    for one in store.find(Evaluation):
        submission = store.get(Submission, one.subject)
        task = names[store.get(Instance, submission.instance).task]
        who = submission.entrant.partition("@")[0]
        if isinstance(one.payload, GradePayload):
            parts = tuple((leaf.points, (leaf.fraction or 0.0) * leaf.points) for leaf in one.payload.parts)
            made = Outcome(one.payload.score, parts, reason=one.payload.reason)
        else:
            made = Outcome(None, cause=str(one.cause), reason=one.reason)
        found.setdefault(task, {})[who] = made
    return found


def _write_script(folder: Path, work: Work, package: str) -> None:
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    steps: list[str] = []

    def bring(place: str, data: bytes) -> None:
        source = f"files/{package}-{len(steps)}"
        (folder / source).write_bytes(data)
        steps.append(f"[[step]]\nwrite = {json.dumps(place)}\nfrom = {json.dumps(source)}\n")

    if work.urls or work.cloud or work.told or work.shared or work.channels:
        bring("{scratch}/office.py", OFFICE.encode())
    for n, data in enumerate(work.cloud.values()):
        bring(f"{{scratch}}/cloud-{n}", data)
    lines = ["from office import look, meet, put, share, tell"]
    lines += [f"look({json.dumps(url)})" for url in work.urls]
    lines += [f"put({json.dumps(f'cloud-{n}')}, {json.dumps(place)})" for n, place in enumerate(work.cloud)]
    lines += [f"tell(*{json.dumps([list(one) for one in work.told])})"] if work.told else []
    lines += [f"meet(*{json.dumps([list(one) for one in work.channels])})"] if work.channels else []
    if work.shared:
        link = f"share({json.dumps(work.shared)}) + '/download'"
        lines.append(f"open('{{output}}/link.txt', 'w').write({link})")
    for name, data in work.files.items():
        bring(f"{{output}}/{name}", data)
    if len(lines) > 1:
        program = "\n".join(lines)
        steps.append(f"[[step]]\nrun = '''\ncd {{scratch}} && python3 - <<'PY'\n{program}\nPY\n'''\n")
    if work.program:
        bring("{scratch}/work.py", work.program.encode())
        steps.append("[[step]]\nrun = 'cd {scratch} && cat work.py && python3 work.py'\n")
    steps.append("[[step]]\nsubmit = true\n")
    (folder / f"{package}.toml").write_text("\n".join(steps))


@contextmanager
def _models(answers: Callable[[dict[str, Any], int], Answer]) -> Iterator[None]:
    with serving(answers) as served:
        told = {"LOCAL_BASE_URL": served.base_url, "LOCAL_API_KEY": "none"}
        before = {name: os.environ.get(name) for name in told}
        os.environ.update(told)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def answer_request(request: dict[str, Any], count: int) -> Answer:
    """Answer as a colleague who thanks, or as a judge who searches the work for the subject of the question."""
    if "colleague" in request["model"]:
        return says("Thank you, that helps.")
    seen = read(request)
    if seen.pictures:
        red, _, blue = _colour(seen.pictures[0])
        return judged("yes", "", 1) if red > blue else judged("no", "", None)
    lines = [line.removeprefix("| ") for line in "\n".join(seen.exhibits).splitlines()]
    work = "\n".join(lines)
    if all(word in work for word in _wanted(seen.words)):
        return judged("yes", next(line.strip() for line in lines if line.strip())[:300])
    return judged("no", "", None)


def _colour(data: bytes) -> tuple[int, int, int]:
    pixel = Image.open(BytesIO(data)).convert("RGB").getpixel((0, 0))
    assert isinstance(pixel, tuple)
    return int(pixel[0]), int(pixel[1]), int(pixel[2])


SUBJECTS = {
    "the budget was asked for": ["What is the budget"],
    "280C": ["280C", "prior 3 tax years"],
    "/workspace/net_income_report.csv": ["/workspace/net_income_report.csv", "Meta Platforms"],
    "01AUG23": ["01AUG23"],
    "clear introductions": ["Good morning", "Thank you"],
    "correspondence for each slide": [f"Slide {n}" for n in range(1, 6)],
    "successful combination": ["New Grad Software Engineer", "Requirements"],
    "contributing to the project": ["Fork it, then ask"],
    "wiki page to a gitlab project": ["Agents who talk"],
    "Is the manual formatted": ["company values"],
}
"""Part of a question -> texts that the work must contain."""


def _wanted(words: str) -> list[str]:
    for about, wanted in SUBJECTS.items():
        if about in words:
            return wanted
    quoted = re.findall(r"indicate ['\"](.*)['\"]\?", words) or re.findall(r"answer `(.*?)`", words)
    return quoted[:1] or ["nothing that anybody would write"]
