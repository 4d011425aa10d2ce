"""Runs what is open in a store, in a process of its own: `python -m runs.again STORE` with tests on the path."""

from __future__ import annotations

import asyncio
import os
import sys

from worksample.records import Experiment
from worksample.runs import RunConfig, run_slots
from worksample.store import Store


async def run(store: Store, **config: object) -> None:
    """Run every open slot of every experiment in the store."""
    for experiment in store.find(Experiment):
        slots = store.open_slots(experiment.id)
        await run_slots(store, experiment, slots, RunConfig(parallel=2, **config), lambda *_: None)  # type: ignore[arg-type]


def main(where: str, lease: float = 60.0) -> None:
    """Once; the exit status is that of a Python program, and 130 after Ctrl-C."""
    store = Store.open(where)
    try:
        asyncio.run(run(store, lease=lease))
    except KeyboardInterrupt:
        store.close()
        os._exit(130)  # as the command line: a thread that a second interrupt left waiting would be waited for


if __name__ == "__main__":
    main(*sys.argv[1:2], **({"lease": float(sys.argv[2])} if len(sys.argv) > 2 else {}))
