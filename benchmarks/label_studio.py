"""The review app beside Label Studio: install, start, the weight of a page, requests per second. In one run.

    python benchmarks/label_studio.py [--evaluators 50] [--seconds 15] [--reuse FOLDER]

Both are installed from the package index into environments of their own (`--reuse` keeps them for the next run),
started on a free port with a new database, and given the same work: a text to judge, with a choice and a
line of reason. Load: as many signed-in people as `--evaluators`, each asking for the next item and handing in an answer
over one connection, from the same client. Label Studio runs as `label-studio start` does, and Worksample as `worksample
serve`: both one process, both on SQLite. Seconds depend on the machine; the ratios are the result.

Needs the network for the installation, and Chromium for the page.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

# In place of this folder, where `store` would be a benchmark.
sys.path.remove(str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.parts.servers import (
    Client,
    Figures,
    answers,
    free_port,
    install,
    load,
    memory_of,
    running,
    size_of,
    weigh,
)

from people.worlds import Office

ROOT = Path(__file__).parents[1]
PEER = "label-studio==1.23.2"
SECRET = "a password of some words"
REASON = "the sums are right and every room of the brief is there"


# -- Label Studio


LABELS = (
    '<View><Text name="brief" value="$brief"/><Choices name="score" toName="brief" choice="single">'
    '<Choice value="1"/><Choice value="2"/><Choice value="3"/></Choices><TextArea name="why" toName="brief"/></View>'
)


def label_studio(folder: Path, data: Path, options: argparse.Namespace) -> Figures:
    out = Figures()
    out.install = install(folder, PEER)
    out.size = size_of(folder)
    port, token = free_port(), "0123456789" * 4
    host = f"127.0.0.1:{port}"
    command = [
        str(folder / "bin/label-studio"), "start", "judged", "--init", "--no-browser", "--port", str(port),
        "--internal-host", "127.0.0.1", "--username", "owner@example.org", "--password", SECRET, "--user-token", token,
        "--enable-legacy-api-token", "--data-dir", str(data),
    ]  # fmt: skip
    env = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "COLLECT_ANALYTICS": "False",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
    }
    up = answers(Client(port, host), "/health")
    with running(command, env, up) as (_, seconds):
        out.first_start = seconds
    starts = []
    for _ in range(2):
        with running(command, env, up) as (_, seconds):
            starts.append(seconds)
    with running(command, env, up) as (pid, seconds):
        out.warm_start = statistics.median([*starts, seconds])
        out.memory = memory_of(pid)
        owner = Client(port, host, {"Authorization": f"Token {token}"})
        project = owner.json(
            "POST", "/api/projects/", {"title": "judged", "label_config": LABELS, "maximum_annotations": 1}
        )
        tasks = [{"brief": f"Deliverable {n}: a plan of a house with four rooms."} for n in range(options.items)]
        for at in range(0, len(tasks), 1000):
            owner.json("POST", f"/api/projects/{project['id']}/import", tasks[at : at + 1000])
        people = [_signed_up(port, host, n) for n in range(options.evaluators)]
        page = f"http://{host}/projects/{project['id']}/data?task=1&labeling=1"
        weigh(page, people[0].cookies, host, "text=Submit", out)
        load(people, lambda person: _label(person, project["id"]), options.seconds, out)
    return out


def _signed_up(port: int, host: str, n: int) -> Client:
    client = Client(port, host, {"Referer": f"http://{host}/"})
    client.ask("GET", "/user/signup/")
    form = {
        "email": f"e{n}@example.org", "password": SECRET, "csrfmiddlewaretoken": client.cookies["csrftoken"],
        "how_find_us": "other", "allow_newsletters": "false",
    }  # fmt: skip
    client.ask("POST", "/user/signup/", form, form=True)
    client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
    return client


def _label(person: Client, project: int) -> tuple[float, float] | None:
    start = time.perf_counter()
    status, content = person.ask("GET", f"/api/projects/{project}/next")
    if status == 404:
        return None
    task = json.loads(content)["id"]
    half = time.perf_counter()
    result = [
        {"from_name": "score", "to_name": "brief", "type": "choices", "value": {"choices": ["2"]}},
        {"from_name": "why", "to_name": "brief", "type": "textarea", "value": {"text": [REASON]}},
    ]
    person.json("POST", f"/api/tasks/{task}/annotations/", {"result": result, "lead_time": 40, "project": project})
    return half - start, time.perf_counter() - half


# -- Worksample


def worksample(folder: Path, data: Path, options: argparse.Namespace) -> Figures:
    from worksample.people import People, PeopleRound, RoundKind
    from worksample.store import Store

    out = Figures()
    if not (folder / "done").is_file():
        wheels = data / "wheels"
        subprocess.run([ROOT / ".venv/bin/uv", "build", "-q", "--wheel", "-o", wheels, ROOT], check=True)
        out.install = install(folder, f"{next(wheels.glob('*.whl'))}[viewers]")
    else:
        out.install = install(folder, "")
    out.size = size_of(folder)
    port = free_port()
    host = f"ws.localhost:{port}"
    command = [str(folder / "bin/worksample"), "serve", "--store", str(data / "store"), "--port", str(port)]
    up = answers(Client(port, host), "/api/v1/openapi.json")
    Store.open(data / "store", create=True).close()
    with running(command, {}, up) as (_, seconds):
        out.first_start = seconds
    store = Store.open(data / "store")
    Office(store, agents=options.items // 50, projects=50)
    people = People(store)
    people.open_people_round(
        PeopleRound(kind=RoundKind.HOLISTIC, experiment="x1", overlap=1, waive_pilot="a benchmark", training=False)
    )
    links = []
    for n in range(options.evaluators):
        name = people.accounts.create(f"Evaluator {n}", ["evaluator"]).name
        links.append(people.accounts.one_time_link(name))
    store.close()
    starts = []
    for _ in range(2):
        with running(command, {}, up) as (_, seconds):
            starts.append(seconds)
    with running(command, {}, up) as (pid, seconds):
        out.warm_start = statistics.median([*starts, seconds])
        out.memory = memory_of(pid)
        crowd = [_linked(port, host, link) for link in links]
        weigh(f"http://{host}/work", crowd[0].cookies, host, "text=Hand in", out)
        load(crowd, _judge, options.seconds, out)
    return out


def _linked(port: int, host: str, link: str) -> Client:
    client = Client(port, host, {"Origin": f"http://{host}"})
    me = client.json("POST", "/api/v1/session/link", {"token": link})
    client.headers["X-CSRF-Token"] = me["csrf"]
    return client


def _judge(person: Client) -> tuple[float, float] | None:
    start = time.perf_counter()
    item = person.json("POST", "/api/v1/claims", {})
    if item is None:
        return None
    half = time.perf_counter()
    answer = {"payload": {"score": 2, "justification": REASON}, "key": item["id"], "active_seconds": 40}
    person.json("POST", f"/api/v1/items/{item['id']}/submit", answer)
    return half - start, time.perf_counter() - half


# -- both


def quantile(values: list[float], q: float) -> float:
    return statistics.quantiles(values, n=100)[round(q * 100) - 1] * 1000 if len(values) > 1 else float("nan")


def rows(ours: Figures, theirs: Figures) -> Iterator[tuple[str, float, float, str]]:
    """Name, ours, Label Studio's, unit; where more is better the unit begins with a plus."""
    yield "install", ours.install, theirs.install, "s"
    yield "installed size", ours.size / 1e6, theirs.size / 1e6, "MB"
    yield "first start", ours.first_start, theirs.first_start, "s"
    yield "warm start", ours.warm_start, theirs.warm_start, "s"
    yield "memory after the start", ours.memory / 1e6, theirs.memory / 1e6, "MB"
    yield "page: requests", ours.page_requests, theirs.page_requests, ""
    yield "page: transferred", ours.page_bytes / 1e3, theirs.page_bytes / 1e3, "kB"
    yield "page: first usable view", ours.page_ready * 1e3, theirs.page_ready * 1e3, "ms"
    yield "page: the same again", ours.page_again * 1e3, theirs.page_again * 1e3, "ms"
    yield "requests per second", ours.per_second, theirs.per_second, "+"
    yield "next item, median", quantile(ours.claim, 0.5), quantile(theirs.claim, 0.5), "ms"
    yield "next item, p95", quantile(ours.claim, 0.95), quantile(theirs.claim, 0.95), "ms"
    yield "hand in, median", quantile(ours.submit, 0.5), quantile(theirs.submit, 0.5), "ms"
    yield "hand in, p95", quantile(ours.submit, 0.95), quantile(theirs.submit, 0.95), "ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluators", type=int, default=50)
    parser.add_argument("--items", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--reuse", type=Path, default=None, help="keep the installed environments here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="worksample-bench-") as folder:
        base = Path(folder)
        venvs = options.reuse or base
        venvs.mkdir(parents=True, exist_ok=True)
        for name in ("ours", "theirs"):
            (base / f"{name}-data").mkdir()
        theirs = label_studio(venvs / "label-studio", base / "theirs-data", options)
        ours = worksample(venvs / "worksample", base / "ours-data", options)
    print(f"{'':26}{'worksample':>12}{re.sub('==', ' ', PEER):>22}{'ratio':>9}")
    for name, a, b, unit in rows(ours, theirs):
        better = a / b if unit == "+" else b / a
        print(f"{name:26}{a:>12,.1f}{b:>22,.1f}{better:>8.1f}x  {unit.strip('+')}")
    print(
        f"judged in {options.seconds:.0f} s: {ours.judged:,} and {theirs.judged:,}; ratios above 1 speak for Worksample"
    )


if __name__ == "__main__":
    main()
