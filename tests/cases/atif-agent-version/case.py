"""A trajectory of an outside case named this package's version as that of the program that worked: what is written
names the program's own, and what an earlier release wrote is mended where it is exported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from store import worlds
from worksample import __version__
from worksample.agents import define
from worksample.agents.agent_definition import version_of
from worksample.formats.atif import export_trajectories, find_faults
from worksample.records import Agent, CaptureStatus, Entry, Manifest, SubmissionPart, canonical
from worksample.runs.atif_trajectory import NAME, TrajectoryWriter, write_trajectory
from worksample.store import Store, put_canonical

HERE = Path(__file__).parent
SCRIPTED = "openai-api/local/scripted"


def check(room: Path, request: pytest.FixtureRequest) -> None:
    codex = Agent.of("codex-scripted", "codex", model=SCRIPTED, settings={"version": "0.73.0"})
    assert version_of(codex) == "0.73.0"
    assert version_of(define("worker", harness="worker", model=SCRIPTED)) == __version__
    own = define("mine", harness="command", settings={"argv": ["sh", "-c", "true"]})
    assert version_of(own) == own.id.partition("@")[2] != __version__

    world = worlds.World()
    store = worlds.planted(Store.open(room / "store", create=True), world)
    old = json.loads((HERE / "codex.json").read_text(encoding="utf-8"))
    assert old["agent"]["version"] == "0.1.0"  # Worksample's own, then
    blob = put_canonical(store.blobs, old)
    entries = (Entry(path=NAME, size=len(canonical(old)), blob=blob),)
    part = SubmissionPart(
        manifest=put_canonical(store.blobs, Manifest(entries=entries).plain()), status=CaptureStatus.COMPLETE
    )
    trial = world.trial(0, "t1").replaced(agent=codex.id)
    made = world.submission(trial)
    fresh = write_trajectory(TrajectoryWriter({}), store.blobs, codex, {"trial": "t2"})
    other = world.trial(1, "t2").replaced(agent=codex.id)
    again = world.submission(other)
    store.commit(
        codex, trial, made.replaced(parts={**made.parts, "trajectory": part}),
        other, again.replaced(parts={**again.parts, "trajectory": fresh}),
    )  # fmt: skip
    found = [json.loads(path.read_bytes()) for path in export_trajectories(store, trial.experiment, room / "out")]
    assert [document["agent"]["version"] for document in found] == ["0.73.0"] * 2
    assert all(find_faults(document) == [] and document["steps"] for document in found)
    assert json.loads(store.blobs.read(blob)) == old  # evidence stays as it is
