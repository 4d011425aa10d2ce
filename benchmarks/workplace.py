"""What a workplace costs, beside what a first try of the same services took that had no boxes (`PEER`).

    python benchmarks/workplace.py [--rounds 5] [--company FOLDER] [--parts start,spare,six,chat,growth]

Wall-clock time says nothing on a busy machine: beside it stands the processor time of all that ran in the box.
docs/reference/workplace.md has some figures of a run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections import defaultdict
from contextlib import AsyncExitStack, closing
from pathlib import Path

from worksample.box import Box
from worksample.files import materialise
from worksample.sandboxes.capture import CaptureLimits
from worksample.sandboxes.services import TrialServices, export_state, open_services
from worksample.store import Store
from worksample.tasks.workplace_settings import PORTS, WORKPLACE
from worksample.workplace.company_reader import read_company
from worksample.workplace.seeds import Seed, seed_folder
from worksample.workplace.warm_pool import LABEL, current_pool, load_workplace, warm_pool
from worksample.workplace.workplace import (
    LiveWorkplace,
    reset_services,
    seed_of_folder,
    services_box,
    workplace_over_state,
)

COMPANY = Path(__file__).parent.parent / "examples/invoice-1043/company"
NAMES = tuple(PORTS)
PEER = {
    "start": "0.3 to 1.5 s",
    "start, warm": "0.3 to 1.5 s (its Redmine was forked from a process that was loaded before)",
    "reset": "0.08 to 0.21 s",
    "memory, MiB": "about 260 MB of RSS",
    "six at once: all stand": "six without clashes, no time given",
}
"""On an idle machine; the agent stood in the services' own network there."""

LOOK = """
import glob, json, os
ticks, pages, private = 0, 0, 0
mine = ("/proc/1/stat", f"/proc/{os.getpid()}/stat")  # what the looking itself takes is not the services'
for path in set(glob.glob("/proc/[0-9]*/stat")) - set(mine):
    try:
        fields = open(path).read().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
        lines = open(path.replace("stat", "status")).read().splitlines()
        private += sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
        smaps = open(path.replace("stat", "smaps_rollup")).read().splitlines()
        pages += sum(int(line.split()[1]) for line in smaps if line.startswith("Pss:"))
    except (OSError, IndexError):
        continue
print(json.dumps([ticks, private, pages]))
"""
Found = defaultdict[str, list[float]]


async def look(box: Box) -> tuple[float, float, float]:
    """Processor seconds of a box's services so far; MiB of their own pages; MiB with shared pages counted in parts."""
    ticks, private, pages = json.loads((await box.run(["python3", "-c", LOOK])).stdout)
    return ticks / os.sysconf("SC_CLK_TCK"), private / 1024, pages / 1024


class Bench:
    """The parts, and what they found."""

    def __init__(self, seed: Seed, rounds: int, folder: Path) -> None:
        self.seed, self.rounds, self.folder = seed, rounds, folder
        self.found: Found = defaultdict(list)

    def workplace(self, state: Path | None = None) -> LiveWorkplace:
        """One over the seed, or over another state."""
        return workplace_over_state(NAMES, state or self.seed.state, "bench", accounts=self.seed.accounts)

    async def timed(self, what: str, workplace: LiveWorkplace, stack: AsyncExitStack) -> TrialServices:
        """Start it."""
        begun = time.monotonic()
        services = await stack.enter_async_context(open_services((workplace.box,), "bubblewrap"))
        self.found[what].append(time.monotonic() - begun)
        return services

    async def start(self) -> None:
        """From nothing and loaded ahead; resets; taking the state, and starting over it."""
        with Store.open(self.folder / "store", create=True) as store:
            for n in range(self.rounds):
                async with AsyncExitStack() as stack:
                    box = services_box(await self.timed("start", self.workplace(), stack))
                    used, private, pages = await look(box)
                    self.found["start, processor"].append(used)
                    self.found["memory, MiB"].append(private)
                    self.found["memory, shared pages in parts, MiB"].append(pages)
                async with warm_pool(2), AsyncExitStack() as stack:
                    async with open_services((self.workplace().box,), "bubblewrap") as first:
                        await reset_services(services_box(first))
                        await _loaded()
                    services = await self.timed("start, warm", self.workplace(), stack)
                    assert services_box(services).config.label == LABEL, "the spare one was taken"
                    for _ in range(3):
                        used = (await look(services_box(services)))[0]
                        self.found["reset"].append(await reset_services(services_box(services)))
                        self.found["reset, processor"].append((await look(services_box(services)))[0] - used)
                    begun = time.monotonic()
                    taken = await export_state(services, store.blobs, (WORKPLACE,), CaptureLimits())
                    self.found["export"].append(time.monotonic() - begun)
                begun, state = time.monotonic(), self.folder / f"restored-{n}"
                materialise(store.manifest(taken.part.manifest), store.blobs.path, state)
                async with AsyncExitStack() as stack:
                    await self.timed("restore, from nothing", self.workplace(state / WORKPLACE), stack)
                self.found["restore, from nothing"][-1] = time.monotonic() - begun

    async def spare(self) -> None:
        """What one that waits costs."""
        one = await load_workplace("bubblewrap", frozenset(NAMES))
        try:
            used = -1.0
            while (now := await look(one.service.box))[0] - used > 0.02:  # until it has loaded
                used = now[0]
                await asyncio.sleep(5)
            self.found["spare: memory, MiB"].append(now[1])
            self.found["spare: processor to load"].append(now[0])
            begun = (await look(one.service.box))[0]
            await asyncio.sleep(60)
            own = (await look(one.service.box))[0] - begun
            self.found["spare: processor in a minute"].append(own)
        finally:
            await one.close()

    async def six(self) -> None:
        """Six at once."""
        async with AsyncExitStack() as stack:
            begun = time.monotonic()
            all_of_them = await asyncio.gather(
                *(stack.enter_async_context(open_services((self.workplace().box,), "bubblewrap")) for _ in range(6))
            )
            self.found["six at once: all stand"].append(time.monotonic() - begun)
            looks = [await look(services_box(one)) for one in all_of_them]
            self.found["six at once: processor"].append(sum(used for used, _, _ in looks))
            self.found["six at once: memory, MiB"].append(sum(pages for _, _, pages in looks))
            begun = time.monotonic()
            await asyncio.gather(*(reset_services(services_box(one)) for one in all_of_them))
            self.found["six at once: all are reset"].append(time.monotonic() - begun)

    async def chat(self) -> None:
        """Messages a second, by one who posts and by four at once."""
        async with AsyncExitStack() as stack:
            workplace = self.workplace()
            box = services_box(await stack.enter_async_context(open_services((workplace.box,), "bubblewrap")))
            for posters in (1, 4):
                used = (await look(box))[0]
                done = await box.run(["python3", "-c", POST, workplace.operator, str(posters)], timeout=900)
                count, seconds = json.loads(done.stdout)
                self.found[f"messages a second, {posters} who post"].append(count / seconds)
                spent = (await look(box))[0] - used
                self.found[f"messages per second of processor, {posters} who post"].append(count / spent)

    async def growth(self, sizes: list[int]) -> None:
        """With so many issues, and as many messages."""
        with Store.open(self.folder / "grown-store", create=True) as store:
            for size in sizes:
                state = Path(shutil.copytree(self.seed.state, self.folder / f"grown-{size}"))
                await asyncio.to_thread(grow, state, size)
                name = f"{size} issues and messages: "
                self.found[f"{name}state, MiB"].append(
                    sum(path.stat().st_size for path in state.rglob("*") if path.is_file()) / 2**20
                )
                async with AsyncExitStack() as stack:
                    workplace = self.workplace(state)
                    services = await self.timed(f"{name}start", workplace, stack)
                    box = services_box(services)
                    self.found[f"{name}memory, MiB"].append((await look(box))[1])
                    for _ in range(self.rounds):
                        used = (await look(box))[0]
                        self.found[f"{name}reset"].append(await reset_services(box))
                        self.found[f"{name}reset, processor"].append((await look(box))[0] - used)
                    done = await box.run(["python3", "-c", READ, workplace.operator], timeout=900)
                    for what, seconds in json.loads(done.stdout).items():
                        self.found[f"{name}{what}"].append(seconds)
                    begun, used = time.monotonic(), time.process_time()
                    taken = await export_state(services, store.blobs, (WORKPLACE,), CaptureLimits())
                    self.found[f"{name}export"].append(time.monotonic() - begun)
                    self.found[f"{name}export, processor"].append(time.process_time() - used)
                    assert taken.cause is None


async def _loaded() -> None:
    """Wait until the spare one has loaded."""
    own = current_pool()
    assert own is not None and own._next is not None
    box = (await asyncio.shield(own._next)).service.box
    used = -1.0
    while (now := (await look(box))[0]) - used > 0.02:
        used = now
        await asyncio.sleep(3)


HEAD = """
import base64, http.client, json, sys, threading, time, urllib.request
word = {"Authorization": "Basic " + base64.b64encode(f"operator:{sys.argv[1]}".encode()).decode()}
"""
POST = (
    HEAD
    + """
each = 500 // int(sys.argv[2])
def post():
    line = http.client.HTTPConnection("127.0.0.1", 3000)
    for n in range(each):
        line.request("POST", "/api/rooms/general?as=rosa", json.dumps({"text": f"message {n}"}), word)
        answer = line.getresponse(); answer.read(); assert answer.status == 201, answer.status
begun = time.monotonic()
threads = [threading.Thread(target=post) for _ in range(int(sys.argv[2]))]
for one in threads: one.start()
for one in threads: one.join()
print(json.dumps([each * len(threads), time.monotonic() - begun]))
"""
)
READ = (
    HEAD
    + """
key, found = {"X-Redmine-API-Key": sys.argv[1]}, {}
for what, url, head in (
    ("100 newest messages", "http://127.0.0.1:3000/api/rooms/general?newest=1&limit=100", word),
    ("100 issues by REST", "http://127.0.0.1:8091/issues.json?limit=100&status_id=*", key),
    ("an issue found by its subject", "http://127.0.0.1:8091/issues.json?status_id=*&subject=~INV-1043&limit=1", key),
):
    times = []
    for _ in range(4):  # the first one of a fresh process has views and statements to make
        begun = time.monotonic()
        urllib.request.urlopen(urllib.request.Request(url, headers=head), timeout=600).read()
        times.append(time.monotonic() - begun)
    found[what] = min(times)
print(json.dumps(found))
"""
)


def grow(state: Path, size: int) -> None:
    """Copies of what is there, until there are so many issues, and messages in one room."""
    with closing(sqlite3.connect(state / "tracker/tracker.sqlite")) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(issues)")]
        new = {"id": "?1 + row_number() OVER ()", "root_id": "?1 + row_number() OVER ()", "lft": "1", "rgt": "2"}
        new |= {"parent_id": "NULL", "subject": "subject || ' copy ' || row_number() OVER ()"}
        picked = ", ".join(new.get(name, f'"{name}"') for name in columns)
        names = ", ".join(f'"{name}"' for name in columns)
        while (have := database.execute("SELECT count(*), max(id) FROM issues").fetchone())[0] < size:
            database.execute(
                f"INSERT INTO issues ({names}) SELECT {picked} FROM issues LIMIT ?2", (have[1], size - have[0])
            )
        database.commit()
    with closing(sqlite3.connect(state / "chat/chat.sqlite")) as database:
        room = "FROM prosodyarchive WHERE user = 'general'"
        names = '"host", "user", "store", "key", "when", "with", "type", "value"'
        picked = names.replace('"key"', """"key" || '-' || (?1 + row_number() OVER ())""")
        while (have := database.execute(f"SELECT count(*) {room}").fetchone()[0]) < size:
            database.execute(
                f"INSERT INTO prosodyarchive ({names}) SELECT {picked} {room} LIMIT ?2", (have, size - have)
            )
        database.commit()


async def measure(root: Path, rounds: int, parts: list[str], sizes: list[int]) -> Found:
    """Seconds and MiB of each."""
    kept = seed_folder(read_company(root), NAMES).exists()
    begun = time.monotonic()
    seed = await asyncio.to_thread(seed_of_folder, root, NAMES)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(seed, rounds, Path(folder))
        bench.found["seed, kept from before" if kept else "seed"].append(time.monotonic() - begun)
        for part in parts:
            await (bench.growth(sizes) if part == "growth" else getattr(bench, part)())
        return bench.found


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--company", type=Path, default=COMPANY)
    parser.add_argument("--parts", default="start,spare,six,chat,growth")
    parser.add_argument("--sizes", default="1000,50000")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    before = os.getloadavg()[0]
    found = asyncio.run(measure(given.company, given.rounds, given.parts.split(","), sizes))
    print(f"load {before:.1f} before, {os.getloadavg()[0]:.1f} after; {os.cpu_count()} cores")
    for name, values in found.items():
        spread = f"least {min(values):8.3f}  most {max(values):8.3f}  of {len(values)}"
        print(f"{name:60} median {statistics.median(values):9.3f}  {spread}  {PEER.get(name, '')}".rstrip())


if __name__ == "__main__":
    main()
