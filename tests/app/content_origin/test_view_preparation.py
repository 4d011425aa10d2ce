"""Background preparation of views: each view is made once, requested views come first, and nothing is left behind."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import uvloop

from people.worlds import Office, office
from viewing import material
from worksample.app.config import AppConfig
from worksample.app.prerendering.box_limit import BoxGate
from worksample.app.prerendering.view_preparer import ViewPending, ViewPreparer, manifests_to_prepare
from worksample.errors import UsageError
from worksample.models import Visibility
from worksample.people import set_state
from worksample.records import Manifest
from worksample.store import Store, put_canonical
from worksample.viewing import Converter, View, view


async def test_requested_views_come_first_and_get_an_extra_place() -> None:
    gate, order = BoxGate(1), list[str]()

    async def work(name: str, urgent: bool) -> None:
        async with gate.urgent if urgent else gate.patient:
            order.append(name)
            await asyncio.sleep(0.01)

    async with gate.patient:
        async with asyncio.timeout(300):
            await work("beside", True)
        async with gate.urgent:
            tasks = [asyncio.create_task(work(name, name[0] == "u")) for name in ("p1", "u1", "p2", "u2")]
            await asyncio.sleep(0.01)
            assert order == ["beside"] and gate.used == 2
    await asyncio.gather(*tasks)
    assert order == ["beside", "u1", "u2", "p1", "p2"] and gate.used == 0


async def test_cancelled_wait_frees_its_place() -> None:
    gate = BoxGate(1)
    async with gate.patient:
        waiting = asyncio.create_task(gate.enter(False))
        await asyncio.sleep(0)
    # The place was handed over in this very moment.
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert gate.used == 0
    async with asyncio.timeout(300), gate.patient:
        pass


def taken(store: Store, folder: Path, files: dict[str, bytes | str]) -> str:
    return put_canonical(store.blobs, material.take(store, folder, files).plain())


async def settled(preparing: ViewPreparer, manifest: str, path: str, seconds: float = 600) -> View:
    async with asyncio.timeout(seconds):
        while isinstance(found := await preparing.view(manifest, path), ViewPending):
            await asyncio.sleep(0.02)
    return found


def test_open_rounds_list_their_manifests(tmp_path: Path) -> None:
    world = office(tmp_path)
    known: set[str] = set()
    assert manifests_to_prepare(world.store, known) == []
    world.open()
    found = manifests_to_prepare(world.store, known)
    # Twelve deliverables and the one reference that all instances have.
    assert len(found) == len(set(found)) == 13 and len(known) == 12
    assert manifests_to_prepare(world.store, known) == []
    paused = world.open()
    set_state(world.people.store, paused.id, "closed")
    assert manifests_to_prepare(world.store, known) == [] and len(known) == 12


@pytest.mark.box
async def test_concurrent_requests_share_one_box(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    manifest = taken(store, tmp_path / "w", {"a.md": "# Hello", "b.xyz": b"\0\1\2", "gone": "x"})
    preparing = ViewPreparer(store, AppConfig())
    first = await asyncio.gather(*(preparing.view(manifest, "a.md", wait=0) for _ in range(20)))
    assert all(isinstance(one, ViewPending) for one in first)
    assert preparing.progress()["asked"] == 1
    assert (await settled(preparing, manifest, "a.md")).kind == "markdown"
    # Kept now: no box, no wait.
    assert isinstance(await ViewPreparer(store, AppConfig()).view(manifest, "a.md", wait=0), View)
    with pytest.raises(UsageError, match="the submission has no file"):
        await preparing.view(manifest, "../a.md")
    await preparing.stop()
    store.close()


@pytest.mark.box
async def test_unstored_view_is_still_returned(tmp_path: Path) -> None:
    """Where a converter is missing its card is made anew each time; who polls must get it all the same."""
    store = Store.open(tmp_path / "s", create=True)
    manifest = taken(store, tmp_path / "w", {"a.txt": "x"})
    preparing = ViewPreparer(store, AppConfig())
    made = await settled(preparing, manifest, "a.txt")
    for path in (tmp_path / "s" / "views").rglob("*.json"):
        path.unlink()
    # What was kept is found before the task that made it has ended: who asks then waits for that.
    assert await settled(preparing, manifest, "a.txt") == made
    await preparing.stop()
    store.close()


@pytest.mark.box
async def test_round_is_prepared_including_archives(tmp_path: Path) -> None:
    world = office(tmp_path, agents=2, projects=1)
    store = world.store
    world.open()
    preparing = ViewPreparer(store, AppConfig())
    archive = taken(store, tmp_path / "w", {"all.zip": material.packed({"in/b.md": "# In"})})
    preparing.add([archive])
    await preparing.start()
    async with asyncio.timeout(300):
        while (now := preparing.progress())["done"] < 5:
            assert not now["faults"]
            await asyncio.sleep(0.1)
    assert now["waiting"] == now["failed"] == 0 and now["boxes"] == 0
    shown = await preparing.view(archive, "all.zip", wait=0)
    assert isinstance(shown, View) and shown.kind == "archive"
    inner = await preparing.view(shown.files["unpacked"], "in/b.md", wait=0)
    assert isinstance(inner, View) and inner.kind == "markdown"
    await preparing.stop()
    store.close()


@pytest.mark.box
async def test_two_processes_do_not_prepare_the_same_view(tmp_path: Path) -> None:
    store, other = Store.open(tmp_path / "s", create=True), Store.open(tmp_path / "s")
    manifest = taken(store, tmp_path / "w", {"book.xlsx": material.workbook(a=[[1, 2]])})
    one, two = ViewPreparer(store, AppConfig()), ViewPreparer(other, AppConfig())
    boxes = [0, 0]

    async def watch() -> None:
        while True:
            for number, preparing in enumerate((one, two)):
                boxes[number] = max(boxes[number], preparing.progress()["boxes"])
            await asyncio.sleep(0.005)

    watching = asyncio.create_task(watch())
    found = await asyncio.gather(settled(one, manifest, "book.xlsx"), settled(two, manifest, "book.xlsx"))
    watching.cancel()
    assert found[0] == found[1] and found[0].kind == "workbook"
    assert sorted(boxes) == [0, 1]
    await asyncio.gather(one.stop(), two.stop(), watching, return_exceptions=True)
    store.close()
    other.close()


@pytest.mark.box
async def test_starved_background_view_is_tried_again(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    manifest = taken(store, tmp_path / "w", {"song.mid": material.song()})
    limits: list[tuple[float | None, float]] = [(1000.0, 0.05), (None, 0.0)]

    def converter(store: Store, manifest: Manifest) -> Converter:
        seconds, backstop = limits.pop(0)
        return Converter(store, manifest, background=True, seconds=seconds, backstop=backstop)

    preparing = ViewPreparer(store, AppConfig(), converter=converter)
    preparing.add([manifest])
    await preparing.start()
    async with asyncio.timeout(600):
        while not preparing.progress()["failed"]:
            await asyncio.sleep(0.02)
        assert not preparing.progress()["done"]
        while not preparing.progress()["done"]:
            preparing.refresh()
            await asyncio.sleep(0.02)
    assert not limits
    shown = await settled(preparing, manifest, "song.mid")
    assert (shown.kind, shown.visibility) == ("midi", Visibility.SHOWN)
    await preparing.stop()
    store.close()


@pytest.mark.thorough(
    quick="app/content_origin/test_view_preparation.py::test_requested_views_come_first_and_get_an_extra_place"
)
@pytest.mark.box
async def test_request_waits_for_view_in_preparation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path / "run"))
    store = Store.open(tmp_path / "s", create=True)
    manifest = taken(store, tmp_path / "w", {"book.xlsx": material.workbook(a=[[1, 2]]), "z.txt": "x"})
    preparing = ViewPreparer(store, AppConfig())
    preparing.add([manifest])
    await preparing.start()
    most = 0
    async with asyncio.timeout(300):
        while (manifest, "book.xlsx") not in preparing._busy:
            await asyncio.sleep(0.001)
        while isinstance(found := await preparing.view(manifest, "book.xlsx", wait=0.005), ViewPending):
            most = max(most, len(list((tmp_path / "run").glob("boxes/*"))))
    assert found.kind == "workbook" and most == 1
    await preparing.stop()
    store.close()


@pytest.mark.quick("new_event_loop1")
@pytest.mark.box
@pytest.mark.parametrize("factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_stop_leaves_no_box(tmp_path: Path, factory: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path / "run"))
    store = Store.open(tmp_path / "s", create=True)
    manifest = taken(
        store, tmp_path / "w", {"book.xlsx": material.workbook(a=[[1]]), "b.tif": material.picture("TIFF")}
    )

    async def work() -> None:
        preparing = ViewPreparer(store, AppConfig())
        preparing.add([manifest])
        await preparing.start()
        # A workbook takes LibreOffice seconds; a picture could be done by the time it is stopped.
        assert isinstance(await preparing.view(manifest, "book.xlsx", wait=0), ViewPending)
        async with asyncio.timeout(300):
            while preparing.progress()["boxes"] < 1 or not list((tmp_path / "run").glob("boxes/*")):
                await asyncio.sleep(0.01)
        await preparing.stop()
        assert preparing.progress()["boxes"] == 0 and not list((tmp_path / "run" / "boxes").iterdir())
        assert await preparing.view(manifest, "book.xlsx", wait=0) == ViewPending(0.0)

    with asyncio.Runner(loop_factory=factory) as runner:  # type: ignore[arg-type]
        runner.run(work())
    # Nothing is held any more: another process may begin at once.
    assert store.lease(f"prepare {manifest}", "another", 1)
    assert asyncio.run(view(store, store.manifest(manifest), "b.tif")).kind == "pages"
    store.close()


@pytest.mark.thorough(quick="app/content_origin/test_view_preparation.py::test_round_is_prepared_including_archives")
@pytest.mark.box
async def test_unreadable_files_are_reported_and_the_rest_is_prepared(tmp_path: Path) -> None:
    world: Office = office(tmp_path, agents=1, projects=1)
    preparing = ViewPreparer(world.store, AppConfig())
    good = taken(world.store, tmp_path / "w", {"a.txt": "x"})
    preparing.add(["0" * 64, good])
    await preparing.start()
    async with asyncio.timeout(300):
        while (now := preparing.progress())["done"] < 1 or not now["faults"]:
            await asyncio.sleep(0.05)
    assert now["failed"] == 1 and now["faults"][0]["what"] == "this blob is missing from the store"
    await preparing.stop()
    world.store.close()
