"""What a trial costs beyond its work: five scripted tool calls, against Inspect's own `local` sandbox and the floor.

    python benchmarks/trial_overhead.py [--trials 60] [--parallel 10] [--rounds 3]

Three ways of doing the same five shell commands, interleaved in one run, each measured net of start-up (the time of a
large run less that of a small one, per trial):

- `worksample`: `run_slots`, with its box, snapshot, trajectory, and the commit of trial and submission
- `local`: the same agent as an ordinary Inspect eval in the `local` sandbox: no isolation, nothing kept but the log
- `floor`: a box opened, five commands run, closed; no agent, no Inspect, nothing kept

Seconds depend on the machine; the ratios are the result. Where processors are few, wall clock mostly shows what boxes
cost to start (the floor); own processor time is what this process does for a trial.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from runs.material import Setting, setting

COMMANDS = 5
STEPS = [{"run": f"echo {i} > {{output}}/{i}.txt"} for i in range(COMMANDS)]


async def worksample(trials: int, parallel: int, phases: dict[str, list[float]]) -> float:
    """Seconds of a whole run through `run_slots`."""
    with tempfile.TemporaryDirectory() as folder:
        at: Setting = setting(Path(folder), STEPS, repeats=trials)
        start = time.perf_counter()
        done = await at.run(parallel=parallel)
        seconds = time.perf_counter() - start
        assert len(done) == trials
        assert all(t.outcome.finished for t in done)
        for trial in done:
            for name, value in trial.phases.items():
                phases[name].append(value)
        phases["rows"] += rows(at)
        return seconds


def rows(at: Setting) -> list[float]:
    """Seconds that a commit of a trial and its submission takes, by doing some again in a store of their own."""
    from worksample.records import Submission
    from worksample.store import Store

    out = []
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "store", create=True)
        for trial in at.trials()[:20]:
            submission = at.store.get(Submission, trial.id)
            start = time.perf_counter()
            store.commit(trial, submission)
            out.append(time.perf_counter() - start)
    return out


async def local(trials: int, parallel: int) -> float:
    """Seconds of an ordinary eval of the same agent in Inspect's `local` sandbox."""
    from inspect_ai import Task, eval_async
    from inspect_ai.dataset import Sample
    from inspect_ai.util._display import init_display_type

    from agents.desk_material import instance_at
    from worksample.agents import build, define
    from worksample.agents.agent_builder import model_of
    from worksample.models import ModelService

    init_display_type("none")
    with tempfile.TemporaryDirectory() as folder:
        instance = instance_at(Path(folder))
        script = {"tasks": {"greeting": {"steps": STEPS}}}
        agent = define("tester", harness="scripted", settings={"script": script})
        model = model_of(agent, ModelService())
        solver = build(agent, instance, model=model, scratch=f"{folder}/scratch")
        samples = [Sample(input="-", id=str(i), sandbox="local") for i in range(trials)]
        start = time.perf_counter()
        logs = await eval_async(
            Task(dataset=samples, solver=solver, name="work"),
            model=model,
            log_dir=f"{folder}/logs",
            log_realtime=False,
            log_header_only=True,
            fail_on_error=False,
            score=False,
            max_samples=parallel,
            ctl_server=False,
            acp_server=False,
        )
        seconds = time.perf_counter() - start
        assert logs[0].status == "success"
        return seconds


async def floor(trials: int, parallel: int) -> float:
    """Seconds of boxes that run the commands, and nothing else."""
    from worksample.box import BoxConfig
    from worksample.sandboxes import open_box

    gate = asyncio.Semaphore(parallel)

    async def one() -> None:
        async with gate, open_box(BoxConfig()) as box:
            for i in range(COMMANDS):
                done = await box.run(["bash", "-c", f"echo {i} > /task/output/{i}.txt"])
                assert done.returncode == 0

    start = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(trials)))
    return time.perf_counter() - start


def processor() -> tuple[float, float]:
    """Seconds of processor time so far: this process, and its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time(), children.ru_utime + children.ru_stime


async def measure(trials: int, parallel: int, rounds: int) -> dict[str, Any]:
    """Net seconds per trial of each way, medians over rounds, and the phases of our own."""
    small = parallel
    phases: dict[str, list[float]] = defaultdict(list)
    ways: dict[str, Callable[[int], Awaitable[float]]] = {
        "worksample": lambda n: worksample(n, parallel, phases),
        "local": lambda n: local(n, parallel),
        "floor": lambda n: floor(n, parallel),
    }
    for way in ways.values():
        await way(2)
    phases.clear()
    net: dict[str, list[float]] = defaultdict(list)
    work: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for _ in range(rounds):
        for name, way in ways.items():
            before = processor()
            base = await way(small)
            between = processor()
            net[name].append((await way(trials + small) - base) / trials)
            after = processor()
            own, others = ((after[i] - between[i] - (between[i] - before[i])) / trials for i in (0, 1))
            work[name].append((own, others))
    return {
        "net": {name: statistics.median(values) for name, values in net.items()},
        "own": {name: statistics.median(own for own, _ in values) for name, values in work.items()},
        "others": {name: statistics.median(others for _, others in values) for name, values in work.items()},
        "phases": {name: statistics.median(values) for name, values in phases.items()},
        "ratios": {
            "worksample/local": statistics.median(a / b for a, b in zip(net["worksample"], net["local"], strict=True)),
            "worksample/local, own processor time": statistics.median(
                a[0] / b[0] for a, b in zip(work["worksample"], work["local"], strict=True)
            ),
            "worksample/floor": statistics.median(a / b for a, b in zip(net["worksample"], net["floor"], strict=True)),
        },
    }


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--parallel", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    found = asyncio.run(measure(given.trials, given.parallel, given.rounds))
    print(
        f"{given.trials} trials of {COMMANDS} tool calls, {given.parallel} at once, median of {given.rounds} rounds\n"
    )
    print("net per trial   wall clock   processor: own   its children")
    for name, seconds in found["net"].items():
        own, others = found["own"][name], found["others"][name]
        print(f"  {name:<12} {1000 * seconds:10.1f} ms {1000 * own:12.1f} ms {1000 * others:10.1f} ms")
    print("phases of a trial, while others run beside it (wall clock)")
    for name, seconds in sorted(found["phases"].items()):
        print(f"  {name:<12} {1000 * seconds:8.1f} ms")
    print("ratios")
    for name, value in found["ratios"].items():
        print(f"  {name:<38} {value:5.2f}")


if __name__ == "__main__":
    main()
