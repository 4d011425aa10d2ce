"""Six concurrent workplaces of one company: each agent reaches only its own, under the same names."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from workplace.test_workplace_services import COMPANY, ME, ask
from worksample.box import Box, BoxConfig, Endpoint
from worksample.sandboxes import open_box
from worksample.sandboxes.endpoints import serve_endpoints
from worksample.sandboxes.host_state import runtime_folder
from worksample.sandboxes.services import TrialServices, open_services
from worksample.tasks.workplace_settings import PORTS, WORKPLACE
from worksample.workplace.workplace import (
    LiveWorkplace,
    reset_services,
    seed_of_folder,
    services_box,
    workplace_over_state,
)

pytestmark = [pytest.mark.box, pytest.mark.workplace, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
REACHING = (Path(__file__).parent / "reaching.py").read_text()
DIALECTS = ("rocketchat", "owncloud")


@dataclass
class Standing:
    """One workplace, its agent's box, and what only it has."""

    number: int
    services: TrialServices
    workplace: LiveWorkplace
    box: Box
    tokens: tuple[str, ...] = ()
    user: str = ""
    """Its agent's number in Rocket.Chat's dialect."""

    @property
    def word(self) -> str:
        return f"word-of-{self.number}-{self.workplace.operator[:6]}"


async def stood(stack: AsyncExitStack, number: int, names: tuple[str, ...]) -> Standing:
    begun = await asyncio.to_thread(seed_of_folder, COMPANY, names)
    dialects = tuple(one for one in DIALECTS if {"rocketchat": "chat", "owncloud": "files"}[one] in names)
    workplace = workplace_over_state(names, begun.state, f"six-{number}", accounts=begun.accounts, dialects=dialects)
    services = await stack.enter_async_context(open_services((workplace.box,), "bubblewrap"))
    places = {Endpoint(name, PORTS[name]): f"service:{WORKPLACE}:{PORTS[name]}" for name in names}
    places[Endpoint("rocketchat", 3000)] = f"service:{WORKPLACE}:3000"
    config = BoxConfig(network="endpoints", endpoints=tuple(places))
    box = await stack.enter_async_context(open_box(config))
    await stack.enter_async_context(serve_endpoints(box, {place: services.target(to) for place, to in places.items()}))
    return Standing(number, services, workplace, box)


async def marked(one: Standing, names: tuple[str, ...]) -> None:
    """Say a word of its own, and get tokens that are good here: the operator's word, a session, a dialect's token."""
    login = json.dumps({"user": ME.split(":")[0], "password": ME.split(":")[1]})
    said, token = await ask(
        one.box,
        ("POST", "http://chat:3000/api/rooms/general", ME, json.dumps({"text": one.word})),
        ("POST", "http://rocketchat:3000/api/v1/login", "", login),
    )
    assert said[0] == 201 and token[0] == 200, (said, token)
    tokens = [one.workplace.operator, json.loads(token[1])["data"]["authToken"]]
    if "tracker" in names:
        done = await one.box.run(["python3", "-c", SESSION, ME])
        assert done.returncode == 0, done.stderr.decode()
        tokens += json.loads(done.stdout)
    one.tokens, one.user = tuple(tokens), json.loads(token[1])["data"]["userId"]


SESSION = """
import http.cookiejar, json, re, sys, urllib.parse, urllib.request as u
jar = http.cookiejar.CookieJar()
web = u.build_opener(u.HTTPCookieProcessor(jar))
page = web.open("http://tracker:8091/login").read().decode()
token = re.search('name="authenticity_token" value="([^"]+)"', page)[1]
name, password = sys.argv[1].split(":")
form = urllib.parse.urlencode({"authenticity_token": token, "username": name, "password": password}).encode()
assert b"Logged in" in web.open("http://tracker:8091/login", form).read()
print(json.dumps(["; ".join(f"{one.name}={one.value}" for one in jar)]))
"""


def addresses() -> list[str]:
    """This machine's own."""
    found = {"127.0.0.1", "10.0.2.2", "169.254.169.254", "172.17.0.1"}
    for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with socket.socket(family, socket.SOCK_DGRAM) as one:
            try:
                one.connect((address, 9))
            except OSError:
                continue
            found.add(one.getsockname()[0])
    return sorted(found)


async def reached(one: Standing, others: list[Standing]) -> dict[str, list[str]]:
    """What its agent and, as if taken over, its services reach of the others."""
    said = {
        "own": f"{one.number}",
        "me": ME,
        "user": one.user,
        "words": [other.word for other in others],
        "tokens": [token for other in others for token in other.tokens],
        "paths": ["\0/tmp/workplace/tracker.sock", str(runtime_folder()), str(runtime_folder() / "boxes")],
        "addresses": addresses(),
    }  # fmt: skip
    inside = ["/tmp/workplace/tracker.sock", "/tmp/workplace/git.sock", "/task/scratch/control", "/task/service/seed"]
    found = {}
    for place, box, paths in (("agent", one.box, inside), ("services", services_box(one.services), [])):
        words = said if place == "agent" else {**said, "addresses": [a for a in addresses() if a != "127.0.0.1"]}
        told = json.dumps({**words, "paths": [*said["paths"], *paths]})
        done = await box.run(["python3", "-c", REACHING, told], timeout=900)
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        found[place] = json.loads(done.stdout)
    return found


async def ways_are_real(one: Standing, names: tuple[str, ...]) -> None:
    """The same ways find what is one's own: so it is not their fault where they find nothing."""
    found = (await reached(one, [one]))["agent"]
    for word in ("chat has the word", "rocketchat has the word", "opens chat/api/pe", "opens rocketchat/api/v1/me"):
        assert any(word in line for line in found), (word, found)
    for name in {"tracker", "git", "calendar", "files"} & set(names):
        assert any(f"opens {name}/" in line for line in found), (name, found)
    assert not any("interface" in line or "socket" in line for line in found)
    swept = "rm -f /dev/shm/left-by-* /tmp/left-by-* /var/tmp/left-by-*; ipcrm -M 0x5757"
    assert (await one.box.run(["bash", "-c", swept])).returncode == 0
    assert (await services_box(one.services).run(["bash", "-c", swept])).returncode == 0


async def apart(count: int, names: tuple[str, ...]) -> None:
    async with AsyncExitStack() as stack:
        all_of_them = list(await asyncio.gather(*(stood(stack, number, names) for number in range(count))))
        for one in all_of_them:
            await marked(one, names)
        await ways_are_real(all_of_them[0], names)
        for one in all_of_them:
            others = [other for other in all_of_them if other is not one]
            [(status, said)] = await ask(one.box, ("GET", "http://chat:3000/api/rooms/general", ME))
            assert status == 200 and one.word in said, "it finds its own"
            assert await reached(one, others) == {"agent": [], "services": []}, one.number
        await reset_services(services_box(all_of_them[0].services))
        for one in all_of_them:
            [(_, said)] = await ask(one.box, ("GET", "http://chat:3000/api/rooms/general", ME))
            assert (one.word in said) == (one.number > 0), "a reset is of one"


@pytest.mark.long(seconds=20)
async def test_two_workplaces_are_separate() -> None:
    await apart(2, ("chat", "files"))


@pytest.mark.thorough(quick="workplace/test_concurrent_workplaces.py::test_two_workplaces_are_separate")
@pytest.mark.long(seconds=90)
async def test_six_workplaces_are_separate() -> None:
    await apart(6, tuple(PORTS))
