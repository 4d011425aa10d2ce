"""The warm pool: preloaded programs are taken once, only if they fit, and end with their owner."""

from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from worksample.errors import SandboxError
from worksample.records import ServiceSpec
from worksample.sandboxes.host_state import BoxFolder
from worksample.sandboxes.orphan_sweeper import sweep
from worksample.sandboxes.services import open_services
from worksample.sandboxes.services.task_service import ServiceEnd, TaskService
from worksample.tasks.workplace_settings import PORTS, WORKPLACE
from worksample.workplace.services_box import warm_spec
from worksample.workplace.warm_pool import OFF, WarmPool, WarmWorkplace, link_tree, load_workplace, warm_pool
from worksample.workplace.workplace import reset_services, run_setup, seed_of_folder, services_box, workplace_over_state

COMPANY = Path(__file__).parents[2] / "examples/invoice-1043/company"
ALL = frozenset(PORTS)
SPEC = warm_spec(tuple(PORTS))
TAKEN = "workplace/test_warm_pool.py::test_each_is_taken_once_and_the_next_is_loaded"


@dataclass
class Loading:
    """What loads: it counts, may wait, may fail, and its spares keep what became of them."""

    made: list[Fake] = field(default_factory=list)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    fails: bool = False

    async def __call__(self, kind: str, names: frozenset[str]) -> WarmWorkplace:
        await self.go.wait()
        if self.fails:
            raise SandboxError("no room", where="box")
        self.made.append(Fake(cast("TaskService", _Service()), names, kind, cast("BoxFolder", None)))
        return self.made[-1]


class _Service:
    def __init__(self) -> None:
        self.ended: asyncio.Future[ServiceEnd] = asyncio.get_running_loop().create_future()


@dataclass(frozen=True)
class Fake(WarmWorkplace):
    """A spare one that notes what is done with it."""

    done: list[str] = field(default_factory=list)

    async def begin(self, spec: ServiceSpec, given: Mapping[str, Path]) -> None:
        self.done.append("begun")

    async def close(self) -> None:
        self.done.append("closed")


def kept(expected: int) -> tuple[WarmPool, Loading, list[str]]:
    loading, notes = Loading(), list[str]()
    loading.go.set()
    return WarmPool(expected, notes.append, loading), loading, notes


async def test_each_is_taken_once_and_the_next_is_loaded() -> None:
    """The first start finds none; of so many expected ones nothing is loaded for nobody."""
    own, loading, notes = kept(4)
    taken = [await own.take("bubblewrap", ALL, SPEC, {}) for _ in range(6)]
    assert [one is not None for one in taken] == [False, True, True, True, False, False]
    assert len({id(one) for one in taken[1:4]}) == len(loading.made) == 3
    assert all(one.done == ["begun"] for one in loading.made)
    await own.close()
    assert all(one.done == ["begun"] for one in loading.made) and not notes


async def test_unfitting_workplace_is_not_taken() -> None:
    own, loading, _ = kept(9)
    few = frozenset({"tracker", "chat"})
    assert await own.take("bubblewrap", few, SPEC, {}) is None
    assert await own.take("bubblewrap", ALL, SPEC, {}) is None, "it has not the programs"
    assert loading.made[0].done == ["closed"]
    assert (await own.take("bubblewrap", few, SPEC, {})) is loading.made[1], "those of all serve for fewer"
    assert await own.take("docker", ALL, SPEC, {}) is None
    await own.close()
    assert [one.done[-1] for one in loading.made] == ["closed", "begun", "closed", "closed"]


async def test_taker_during_loading_waits_and_may_give_up() -> None:
    own, loading, _ = kept(9)
    await own.take("bubblewrap", ALL, SPEC, {})
    loading.go.clear()
    first = asyncio.create_task(own.take("bubblewrap", ALL, SPEC, {}))
    second = asyncio.create_task(own.take("bubblewrap", ALL, SPEC, {}))
    await asyncio.sleep(0)
    first.cancel()
    loading.go.set()
    assert (await asyncio.gather(first, second, return_exceptions=True))[1] in loading.made
    await own.close()
    assert sorted(one.done[-1] for one in loading.made) == ["begun", *["closed"] * (len(loading.made) - 1)]


async def test_failed_loading_is_reported_once_and_not_repeated() -> None:
    own, loading, notes = kept(9)
    loading.fails = True
    assert [await own.take("bubblewrap", ALL, SPEC, {}) for _ in range(4)] == [None] * 4
    assert ["no room" in one for one in notes] == [True] and not loading.made


async def test_ended_workplace_is_not_taken() -> None:
    own, loading, notes = kept(9)
    await own.take("bubblewrap", ALL, SPEC, {})
    await asyncio.sleep(0.01)
    loading.made[0].service.ended.set_result(ServiceEnd(WORKPLACE, "ended with exit status -9", asked=False))
    assert await own.take("bubblewrap", ALL, SPEC, {}) is None
    assert loading.made[0].done == ["closed"] and "exit status -9" in notes[0]


async def test_disabled_pool_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    async with warm_pool(5) as outer, warm_pool(5) as inner:
        assert outer is not None and inner is None
    async with warm_pool(1) as one:
        assert one is None
    monkeypatch.setenv(OFF, "0")
    async with warm_pool(5) as off:
        assert off is None


def test_given_folders_are_complete(tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    (source / "deep/er").mkdir(parents=True)
    target.mkdir()
    (source / "deep/er/one.txt").write_text("1")
    (source / "two").write_text("2")
    (source / "link").symlink_to("/etc/passwd")
    link_tree(source, target)
    assert {path.relative_to(target).as_posix() for path in target.rglob("*")} == {
        "deep", "deep/er", "deep/er/one.txt", "two",
    }  # fmt: skip
    assert (target / "deep/er/one.txt").read_text() == "1"


LOOK = """
import glob, json
found = {"files": glob.glob("/task/state/**", recursive=True) + glob.glob("/tmp/workplace/*"), "env": ""}
found["seed"] = glob.glob("/task/service/se*/**")
for path in glob.glob("/proc/[0-9]*/environ"):
    try: found["env"] += open(path).read()
    except OSError: pass
print(json.dumps(found))
"""


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.thorough(quick=TAKEN)
@pytest.mark.long(seconds=60)
async def test_preloaded_workplace_equals_one_from_scratch(tmp_path: Path) -> None:
    """Before it is taken it knows nothing; then it has the seed, the task's setup and an operator of its own."""
    names = tuple(PORTS)
    seed = await asyncio.to_thread(seed_of_folder, COMPANY, names)
    (tmp_path / "setup.py").write_text("open('/task/scratch/was-set-up', 'w').write('x')")
    (tmp_path / "setup.py").chmod(0o644)
    tmp_path.chmod(0o755)
    waiting = await load_workplace("bubblewrap", ALL)
    try:
        await asyncio.sleep(0)
        done = await waiting.service.box.run(["python3", "-c", LOOK])
        seen = json.loads(done.stdout)
        assert seen["seed"] == [], seen
        assert "WORKPLACE_" not in seen["env"] and not [one for one in seen["files"] if one.endswith("accounts")]
        assert set(seen["files"]) <= {"/task/state/", "/task/state/workplace"}, seen
    finally:
        await waiting.close()
    boxes, operators = [], []
    async with warm_pool(3) as own:
        assert own is not None
        for number in range(3):
            workplace = workplace_over_state(
                names, seed.state, f"trial-{number}", accounts=seed.accounts, setup=tmp_path
            )
            async with open_services((workplace.box,), "bubblewrap") as services:
                box = services_box(services)
                boxes.append(box.config.label)
                operators.append(workplace.operator)
                await run_setup(services, workplace)
                assert await box.read("/task/scratch/was-set-up", 9) == b"x"
                asked = [await _users(box, one) for one in operators]
                assert asked == [401] * number + [200], "the operator of an earlier one is nobody here"
                await reset_services(box)
                assert await _users(box, operators[-1]) == 200
    assert boxes == ["trial-0", "spare workplace", "spare workplace"]


async def _users(box: object, key: str) -> int:
    code = "import sys,urllib.request as u,urllib.error as e\n"
    code += "r=u.Request('http://127.0.0.1:8091/users.json',headers={'X-Redmine-API-Key':sys.argv[1]})\n"
    code += "try: print(u.urlopen(r).status)\nexcept e.HTTPError as x: print(x.code)"
    return int((await box.run(["python3", "-c", code, key])).stdout)  # type: ignore[attr-defined]


KEEPS = """
import asyncio, sys
from worksample.tasks.workplace_settings import PORTS
from worksample.workplace.warm_pool import load_workplace
async def main():
    spare = await load_workplace("bubblewrap", frozenset(PORTS))
    await spare.service.box.run(["true"])
    print(spare.folder.path, spare.service.box._holder._process.pid, flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.thorough(quick=TAKEN)
@pytest.mark.long(seconds=20)
def test_killed_keeper_leaves_nothing() -> None:
    """Its processes end with it, and what lies on the disk the next run's sweep takes."""
    keeper = subprocess.Popen([sys.executable, "-c", KEEPS], stdout=subprocess.PIPE, text=True)
    assert keeper.stdout is not None
    folder, _, holder = keeper.stdout.readline().strip().rpartition(" ")
    children = [os.pidfd_open(pid) for pid in _below(int(holder))]
    assert len(children) >= 2, "process 1 of the box, and what loads"
    keeper.kill()
    keeper.wait()
    keeper.stdout.close()
    for one in children:
        assert select.select([one], [], [], 300)[0], "it outlives its keeper"
        os.close(one)
    assert Path(folder).exists()
    assert any("spare workplace" in line for line in sweep())
    assert not Path(folder).exists()


def _below(pid: int) -> set[int]:
    """A process and all that descend from it."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {pid}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found
