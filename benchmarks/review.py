"""Fifty evaluators on the review app: requests per second, latencies, and a server that is killed in the middle.

    python benchmarks/review.py [--evaluators 50] [--items 5000] [--workers 1] [--think 2] [--pace]

Each evaluator claims, loads the item, saves a draft and hands in over one keep-alive connection. `worksample serve`
is a process of its own, over a store on this machine's disk; it is killed with -9 when half of the answers are in, and
started again. At the end the store is read: one evaluation for each item, and each that was acknowledged.

First as fast as the server can, where latency is the queue's: people over requests per second. Then with one to three
seconds of thought before each item (`--think 2`: 25 items a second), where it is the server's own; `--pace` leaves out
all but that part, which takes a minute with `--items 1000`. Both are killed, and both are proven. Beside them, the
server's processor time and whether p95 is within its target; a request that met the outage is sent again and counts in
neither. Last the floor: FastAPI on uvicorn with one `def` endpoint that answers an item of the same size from memory,
asked by the same client. Client and server share the machine's cores. Seconds depend on the machine; the ratios are
the result.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# In place of this folder, where `store` would be a benchmark.
sys.path.remove(str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from app.load import Gone, Line, Server, Tally, free_port, proof, stock, work_off

FLOOR = """
import json, sys, uvicorn
from fastapi import FastAPI
app = FastAPI(openapi_url=None)
item = json.loads(sys.argv[2])
@app.post("/api/v1/claims")
def claim(body: dict) -> dict:
    return item
uvicorn.run(app, port=int(sys.argv[1]), loop="uvloop", http="httptools", access_log=False, log_level="error")
"""


TARGET = 100.0
"""Milliseconds within which 95 of 100 claims and submissions are to be answered."""


def say(
    title: str, took: dict[str, list[float]], seconds: float, busy: tuple[float, float] | None = None
) -> None:  # fmt: skip
    """Requests per second, quantiles in milliseconds, and whether p95 is met.

    `busy`: seconds of the processor for answering, and for making views of deliverables in the background.
    """
    count = sum(len(each) for each in took.values())
    print(f"\n{title}: {count} requests in {seconds:.1f} s, {count / seconds:.0f} a second")
    if busy is not None:
        answering, views = busy
        print(
            f"  the server's processor: {answering / count * 1e3:.2f} ms a request; {views:.1f} s for views beside it"
        )
    print(f"  {'':8} {'requests':>8} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8}")
    for name, each in took.items():
        cuts = [cut * 1e3 for cut in statistics.quantiles(each, n=100)]
        line = f"  {name:8} {len(each):8} {cuts[49]:8.1f} {cuts[94]:8.1f} {cuts[98]:8.1f}"
        if name in ("claim", "submit") and busy is not None:
            line += f"   p95 under {TARGET:g} ms: {'pass' if cuts[94] < TARGET else 'fail'}"
        print(line)


def since(server: Server, before: tuple[float, float]) -> tuple[float, float]:
    """Seconds of the processor since then."""
    answering, others = server.worked()
    return answering - before[0], others - before[1]


def warm(server: Server, tokens: list[str]) -> None:
    """Each evaluator's session is asked for once: what a process does once is not what is measured."""

    async def run() -> None:
        for token in tokens:
            line = Line(server.port, token)
            await line.ask("GET", "/api/v1/queues")
            await line.close()

    asyncio.run(run())


def ours(folder: Path, people: int, items: int, workers: int) -> Any:
    """Returns an item as the app answers it."""
    # Agents enough for one project each to be claimed many times, as in a real experiment.
    agents = 5
    wanted = items // agents * agents
    round, tokens = stock(folder, evaluators=people, agents=agents, projects=items // agents)
    server, tally = Server(folder, workers=workers), Tally()
    print(f"the server listens after {server.start():.1f} s")

    async def run() -> Any:
        line = Line(server.port, tokens[0])
        _, item = await line.ask("POST", "/api/v1/claims", {})
        await line.close()
        before = server.worked()
        seconds = await work_off(server, tokens, tally, kill_at=items // 2)
        say(f"{people} evaluators as fast as they can, killed once", tally.took, seconds, since(server, before))
        return item

    try:
        item = asyncio.run(run())
    finally:
        server.kill()
    proven(folder, round, tally, wanted)
    return item


def proven(folder: Path, round: str, tally: Tally, wanted: int) -> None:
    proof(folder, round, tally, wanted)
    print(f"  none doubled, none lost: {len(tally.acknowledged)} acknowledged; {tally.again} requests sent again")
    print(f"  refused: {sorted({(name, status) for name, status, _ in tally.refused}) or 'none'}")


def paced(folder: Path, people: int, items: int, workers: int, think: float) -> None:
    """The same work at the pace of people: each thinks before the next item, some longer than others.

    Nor do they start at once. Were each thought of one length, the outage would leave all of them in step for good.
    """
    agents = 5
    wanted = items // agents * agents
    round, tokens = stock(folder, evaluators=people, agents=agents, projects=items // agents)
    server, tally = Server(folder, workers=workers), Tally()
    server.start()
    first = iter(range(people))

    async def pause() -> None:
        turn = next(first, None)
        await asyncio.sleep(think * random.uniform(0.5, 1.5) if turn is None else think * turn / people)

    try:
        warm(server, tokens)
        before = server.worked()
        took = asyncio.run(work_off(server, tokens, tally, kill_at=wanted // 2, pause=pause))
        busy = since(server, before)
    finally:
        server.kill()
    pace = f"{think:g} s of thought each, {people / think:g} items a second"
    say(f"{people} evaluators, {pace}, killed once", tally.took, took, busy)
    proven(folder, round, tally, wanted)


def floor(people: int, requests: int, item: Any) -> None:
    """The same client against the least that FastAPI can do."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", FLOOR, str(port), json.dumps(item)])
    took: list[float] = []

    async def one(count: int) -> None:
        line = Line(port, "x" * 43)
        while count:
            start = time.perf_counter()
            try:
                await line.ask("POST", "/api/v1/claims", {})
            except Gone:
                await asyncio.sleep(0.1)
                continue
            took.append(time.perf_counter() - start)
            count -= 1
        await line.close()

    async def run() -> float:
        await one(1)
        took.clear()
        start = time.perf_counter()
        await asyncio.gather(*(one(requests // people) for _ in range(people)))
        return time.perf_counter() - start

    try:
        say("floor, FastAPI answering from memory", {"claim": took}, asyncio.run(run()))
    finally:
        process.kill()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluators", type=int, default=50)
    parser.add_argument("--items", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--think", type=float, default=2.0, help="seconds before each item; 0 leaves this part out")
    parser.add_argument("--pace", action="store_true", help="the part with thought only")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        if given.pace:
            paced(Path(place) / "paced", given.evaluators, given.items, given.workers, given.think)
            return
        item = ours(Path(place) / "store", given.evaluators, given.items, given.workers)
        if given.think:
            paced(Path(place) / "paced", given.evaluators, given.items, given.workers, given.think)
        floor(given.evaluators, 5000, item)


if __name__ == "__main__":
    main()
