"""What a workplace costs: making its seed, starting it, resetting it, its memory, taking its state, starting from that.

python benchmarks/workplace.py [--rounds 5] [--company FOLDER]; docs/workplace.md has figures of a run.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from worksample.box import Box
from worksample.files import materialise
from worksample.services import export, open_services
from worksample.store import Store
from worksample.submissions import CaptureLimits
from worksample.tasks.workplace import PORTS, WORKPLACE
from worksample.workplace.reading import read_company
from worksample.workplace.seeding import seed_folder
from worksample.workplace.workplace import over_state, own_box, reset, seed_at

COMPANY = Path(__file__).parent.parent / "examples/invoice-1043/company"
MEMORY = """
import glob
print(sum(int(line.split()[1]) for path in glob.glob("/proc/[0-9]*/status")
    for line in open(path) if line.startswith(("RssAnon:", "RssShmem:"))))
"""


async def measure(root: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds and MiB of each."""
    names, found = tuple(PORTS), dict[str, list[float]]()
    kept = seed_folder(read_company(root), names).exists()
    begun = time.monotonic()
    seed = await asyncio.to_thread(seed_at, root, names)
    found["seed, kept from before" if kept else "seed"] = [time.monotonic() - begun]
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store", create=True) as store:
        for n in range(rounds):
            begun = time.monotonic()
            workplace = over_state(names, seed.state, "bench", accounts=seed.accounts)
            async with open_services((workplace.box,), "bubblewrap") as services:
                found.setdefault("start", []).append(time.monotonic() - begun)
                for _ in range(3):
                    begun = time.monotonic()
                    await reset(own_box(services))
                    found.setdefault("reset", []).append(time.monotonic() - begun)
                found.setdefault("memory, MiB", []).append(await memory(own_box(services)))
                begun = time.monotonic()
                taken = await export(services, store.blobs, (WORKPLACE,), CaptureLimits())
                found.setdefault("export", []).append(time.monotonic() - begun)
            state = Path(folder) / str(n)
            begun = time.monotonic()
            materialise(store.manifest(taken.part.manifest), store.blobs.path, state)
            again = over_state(names, state / WORKPLACE, "bench", accounts=seed.accounts)
            async with open_services((again.box,), "bubblewrap"):
                found.setdefault("start from an export", []).append(time.monotonic() - begun)
    return found


async def memory(box: Box) -> float:
    """Of all processes of the box, shared pages counted once."""
    done = await box.run(["python3", "-c", MEMORY])
    return int(done.stdout or b"0") / 1024


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--company", type=Path, default=COMPANY)
    given = parser.parse_args()
    for name, values in asyncio.run(measure(given.company, given.rounds)).items():
        middle = statistics.median(values)
        print(f"{name:25} median {middle:8.3f}  least {min(values):8.3f}  most {max(values):8.3f}  of {len(values)}")


if __name__ == "__main__":
    main()
