"""Seeds in the cache: listed, kept while a box uses them, removed when unused."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from cli.run_cli import cli, cli_json
from worksample.box import BoxConfig, Mount
from worksample.errors import UsageError
from worksample.files.machine import machine_id
from worksample.sandboxes import open_box
from worksample.workplace.seed_cache import DAY, find_seed, list_seeds, remove_seed, unused_seeds
from worksample.workplace.seeds import ABOUT, programs_digest, seeds_folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    return seeds_folder()


def put(name: str, *, days: float = 0, programs: str | None = None, about: bool = True) -> Path:
    """A seed that was last used so many days ago."""
    folder = seeds_folder() / name
    (folder / "state/chat").mkdir(parents=True)
    (folder / "state/chat/chat.sqlite").write_bytes(b"x" * 10_000)
    folder.chmod(0o755)
    at = time.time() - days * DAY
    if about:
        own = programs_digest(("files",)) if programs is None else programs
        (folder / ABOUT).write_text(json.dumps({"company": "Quaymark", "services": ["files"], "programs": own}))
        os.utime(folder / ABOUT, (at, at))
    os.utime(folder, (at, at))
    return folder


def test_unused_seeds_are_removed_and_others_stay(cache: Path) -> None:
    put("a1", days=40)
    put("a2", days=2)
    put("b1", days=3, programs="other")
    put("b2", days=50, about=False)
    (cache / ".c1.new").mkdir()
    (cache / ".c1.lock").write_text(machine_id())
    assert [(one.id, one.outdated) for one in list_seeds()] == [
        ("a2", False), ("b1", True), ("a1", False), ("b2", True)
    ]  # fmt: skip
    assert all(one.bytes >= 10_000 and not one.in_use for one in list_seeds())
    assert [one["id"] for one in cli_json("workplace", "prune", "--dry-run")] == ["a1", "b2"]
    assert len(list_seeds()) == 4
    assert "removed a1 (Quaymark)" in cli("workplace", "prune").stdout
    assert [one["id"] for one in cli_json("workplace", "seeds")] == ["a2", "b1"]
    assert not (cache / ".c1.new").exists()
    assert [one["id"] for one in cli_json("workplace", "prune", "--outdated")] == ["b1"]
    assert "nothing to remove" in cli("workplace", "prune").stdout
    assert [one["id"] for one in cli_json("workplace", "prune", "a")] == ["a2"]
    assert list_seeds() == ()


def test_unknown_or_ambiguous_id_is_reported() -> None:
    put("a1")
    put("a2")
    for prefix, why in (("a", "2 seeds begin"), ("x", "no seed begins"), ("", "no seed begins")):
        with pytest.raises(UsageError, match=why):
            find_seed(prefix)


def test_seed_used_during_removal_stays() -> None:
    """Between the look and the removal somebody begins with it, or has removed it."""
    folder = put("a1", days=40)
    [one] = unused_seeds(30)
    os.utime(folder / ABOUT)
    assert not remove_seed(one, unless_used_after=one.used)
    assert remove_seed(one)
    assert not remove_seed(one)


@pytest.mark.box
async def test_seed_of_a_box_stays() -> None:
    folder = put("a1", days=40)
    async with open_box(BoxConfig(mounts=(Mount(str(folder / "state"), "/task/seed"),))) as box:
        assert (await box.run(["ls", "/task/seed/chat/chat.sqlite"])).returncode == 0
        [one] = list_seeds()
        assert one.in_use and unused_seeds(0) == () and not remove_seed(one)
        refused = cli("workplace", "prune", "a1")
        assert refused.returncode == 2 and "a running workplace uses the seed a1" in refused.stderr
        assert (await box.run(["ls", "/task/seed/chat/chat.sqlite"])).returncode == 0
    assert [one.id for one in unused_seeds(30)] == ["a1"]
