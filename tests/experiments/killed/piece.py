"""Pieces of the platform's work, to be killed in the middle. FOLDER has what they are about (`ground.py`)."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

Go = Callable[[], object]

CALL = """
import json, sys, urllib.request
asked = {"model": sys.argv[1], "messages": [{"role": "user", "content": "The note's command?"}]}
request = urllib.request.Request("http://model.internal/v1/chat/completions", json.dumps(asked).encode(),
                                 {"Content-Type": "application/json"})
said = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
open(sys.argv[2] + "/note.sh", "w").write(said)
"""


def experiment(kind: str, folder: Path, url: str, word: str, go: Go) -> None:
    """Trials with their boxes, services, gateways and grading."""
    from worksample.experiments.config import AgentConfig, ExperimentConfig
    from worksample.experiments.experiment_runner import run_experiment
    from worksample.experiments.planning.plan_preparation import commit_plan, prepare
    from worksample.models.service_config import ServiceConfig
    from worksample.python_api.experiment_run import options_of
    from worksample.store import Store

    if kind == "image":
        argv = ["python3", "-c", CALL, "{model}", "{output}"]
        agent = AgentConfig(name="asks", harness="command", model="openai-api/local/able", settings={"argv": argv})
    else:
        script = "posts" if kind in ("plain", "docker") else "leaves"
        agent = AgentConfig(name=script, harness="scripted", script=str(folder / script))
    task = {"image": "note", "none": "greeting"}.get(kind, "ticket")
    config = ExperimentConfig(
        name=f"{kind}-{word}",
        agents=(agent,),
        tasks=(str(folder / task),),
        author="tester",
        tries=1,
        parallel=2,
        repeats=2,
        sandbox={"docker": "docker", "none": "none"}.get(kind, "bubblewrap"),
        services={"openai-api/local": ServiceConfig(base_url=url, retries=0)},
    )
    go()
    with Store.open(folder / "store", create=True) as store:
        plan = prepare(config, store.blobs)
        commit_plan(store, plan)
        status = run_experiment(store, plan.experiment, options_of(config)).status
        assert status.finished == status.graded == status.planned, status


def build(folder: Path, word: str, go: Go) -> None:
    """An image from a Dockerfile; the second and every further one begins with what the first began with."""
    from worksample.sandboxes.images import prepare_image

    context = folder / "contexts" / word
    context.mkdir(parents=True)
    (context / "note").write_text(word)
    begins = f"FROM debian:12\nRUN sleep 0.2; echo {int(word, 16) // 8} > /begun\n"
    (context / "Dockerfile").write_text(
        f"{begins}COPY note /note\nRUN (setsid sleep 600 >/dev/null 2>&1 &) ; cat /note > /copied\n"
    )
    go()
    prepare_image(context)


def unpack(folder: Path, go: Go) -> None:
    """An image of the cache, removed, unpacked again and used."""
    import asyncio

    from worksample.box import BoxConfig
    from worksample.sandboxes import open_box
    from worksample.sandboxes.images import prepare_image
    from worksample.sandboxes.images.image_cache import remove_cached

    image = folder / "note" / "image.tar"

    async def used(root: Any) -> None:
        async with open_box(BoxConfig(root=root, python="none")) as box:
            await box.run(["sh", "-c", "(setsid sleep 600 >/dev/null 2>&1 &) ; sleep 0.2"])
            await box.freeze()
            await asyncio.sleep(0.1)

    go()
    found = prepare_image(image)
    remove_cached(found.digest)
    asyncio.run(used(prepare_image(image).root))


def agent(folder: Path, go: Go) -> None:
    """A program installed from source, whose build starts what outlives it."""
    from worksample.agents.installing import installer as install
    from worksample.sandboxes.host_state import cache_folder

    for made in (*cache_folder().glob("agents/small-*"), *cache_folder().glob("interpreter-*")):
        shutil.rmtree(made)
    shutil.rmtree(folder / "uv", ignore_errors=True)
    go()
    assert install.install("small").version == "1.0"


def audit(folder: Path, go: Go) -> None:
    """A task's check, which has a store of its own."""
    from worksample.cli import main

    sys.argv = ["worksample", "task", "check", str(folder / "greeting")]
    go()
    with suppress(SystemExit):  # what it found is no matter here
        main()


def work(kind: str, folder: Path, url: str, word: str, go: Go) -> None:
    """A piece of this kind. `url`: the model's service. `word`: new for every piece. `go`: says that kills count."""
    if kind == "build":
        build(folder, word, go)
    elif kind == "unpack":
        unpack(folder, go)
    elif kind == "agent":
        agent(folder, go)
    elif kind == "audit":
        audit(folder, go)
    elif kind == "nothing":
        go()
    else:
        experiment(kind, folder, url, word, go)
