"""An experiment in which people work beside an agent, and the browsers of these people."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from worksample.app import AppConfig, create_app
from worksample.experiments.config import AgentConfig, ArmConfig, ExperimentConfig, PeopleConfig
from worksample.experiments.experiment_runner import RunOptions, RunResult, run_experiment
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.people import People, Profile
from worksample.records import Experiment
from worksample.store import Store

API = "/api/v1"
TASK = "incident-report"
PACKAGE = Path(__file__).parents[3] / "src/worksample/suites/starter/tasks" / TASK
REPORT = (PACKAGE / "cases/another-hand/output/report.md").read_text(encoding="utf-8")
"""What the task's program gives full points for."""
POOR = "Nothing was found.\n"
START = 1_750_000_000_000_000


@dataclass
class Clock:
    """Microseconds; moves by `pass_` alone."""

    now: int = START

    def __call__(self) -> int:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += int(seconds * 1e6)


@dataclass
class Workroom:
    """An experiment with an agent that does poor work, and arms of people; run until it waits for them."""

    folder: Path
    arms: tuple[ArmConfig, ...] = (ArmConfig(name="plain"), ArmConfig(name="by-hand", worker="human"))
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        scripts = self.folder / "scripts"
        scripts.mkdir(parents=True)
        (scripts / f"{TASK}.toml").write_text(
            f"[[step]]\nrun = '''printf '{POOR.strip()}\\n' > {{output}}/report.md'''\n"
        )
        self.store = Store.open(self.folder / "store", create=True)
        config = ExperimentConfig(
            name="beside",
            suite="starter",
            only=(f"{TASK}/checkout",),
            agents=(AgentConfig(name="poor", harness="scripted", script=str(scripts)),),
            arms=self.arms,
            people=PeopleConfig(pay=40),
        )
        plan = prepare(config, self.store.blobs)
        commit_plan(self.store, plan)
        self.plan = plan
        self.experiment: Experiment = plan.experiment
        self.people = People(self.store, clock=self.clock)
        self.start_server()

    def start_server(self) -> None:
        """One that knows nothing of an earlier one."""
        self.app = create_app(self.store, AppConfig(static=self.folder / "static"), clock=self.clock)
        self.workstations = self.app.services.workstations

    def run(self) -> RunResult:
        return run_experiment(self.store, self.experiment, RunOptions(parallel=2))

    def hire(self, name: str, *, rate: float | None = None) -> None:
        account = self.people.accounts.accept(self.people.accounts.invite(("worker",)), name, None)
        self.people.accounts.set_profile(account, Profile(pay_rate=rate))

    @asynccontextmanager
    async def browser(self, name: str) -> AsyncIterator[Browser]:
        """Somebody's, signed in."""
        config = AppConfig()
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=config.app_origin, timeout=60) as client:
            browser = Browser(client, {"Sec-Fetch-Site": "same-origin", "Origin": config.app_origin})
            token = self.people.accounts.one_time_link(name)
            browser.headers["X-CSRF-Token"] = (await browser.post("/session/link", {"token": token}))["csrf"]
            yield browser


@dataclass
class Browser:
    client: httpx.AsyncClient
    headers: dict[str, str]
    place: str = ""

    async def send(self, method: str, route: str, body: Any = None, **params: Any) -> httpx.Response:
        given = {"json": body} if body is not None else {}
        return await self.client.request(method, API + route, headers=self.headers, params=params, **given)

    async def get(self, path: str, **params: Any) -> Any:
        return ok(await self.send("GET", path, **params))

    async def post(self, path: str, body: Any = None) -> Any:
        return ok(await self.send("POST", path, body))

    async def sit(self) -> dict[str, Any]:
        """Take the first place there is."""
        self.place = f"/places/{(await self.get('/places'))[0]['slot']}"
        view: dict[str, Any] = await self.post(f"{self.place}/take")
        return view

    async def do(self, act: str, body: Any = None) -> Any:
        return await self.post(f"{self.place}/{act}", body)

    async def upload(self, path: str, data: bytes, size: int = 1 << 20) -> httpx.Response:
        """In pieces; the last answer."""
        pieces = [data[n : n + size] for n in range(0, len(data), size)] or [b""]
        for n, piece in enumerate(pieces):
            coded = base64.b64encode(piece).decode()
            body = {"path": path, "offset": n * size, "data": coded, "last": n == len(pieces) - 1}
            answer = await self.send("POST", f"{self.place}/files", body)
        return answer

    async def type(self, line: str, until: str) -> str:
        """Type a line into the terminal, and read until it shows something."""
        await self.do("keys", {"text": line + "\r"})
        shown, at = b"", 0
        while until not in shown.decode("utf-8", "replace"):
            screen = await self.get(f"{self.place}/screen", after=at, wait=5)
            shown, at = shown + base64.b64decode(screen["data"]), screen["at"]
        return shown.decode("utf-8", "replace")


def ok(answer: httpx.Response) -> Any:
    assert answer.status_code < 300, f"{answer.status_code}: {answer.text[:600]}"
    return answer.json() if answer.content else None
