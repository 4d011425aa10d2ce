"""A process that commits trials: `worker.py STORE NAME COUNT`; each id is printed once it is committed."""

from __future__ import annotations

import sys

from store.worlds import World
from worksample.records import SubmissionPart
from worksample.store import Store


def main(where: str, name: str, count: int) -> None:
    world = World()
    with Store.open(where, create=True) as store:
        sys.stdin.readline()
        for n in range(count):
            trial = world.trial(n % len(world.slots), f"{name}{n}", ended=n // len(world.slots))
            part = SubmissionPart(manifest=store.blobs.put(b'{"entries":[]}'), files=0)
            store.blobs.put(f"{name}{n}".encode() * 1000)
            store.commit(trial, world.submission(trial).replaced(parts={"output": part}))
            print(trial.id, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
