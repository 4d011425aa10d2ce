"""Runs as an ordinary user: a seed, two starts (the second one loaded ahead), work in all services, a reset, an export.

python3 rootless_driver.py COMPANY WORK ACCOUNT:PASSWORD FOLDER
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from worksample.box import BoxConfig, Endpoint
from worksample.sandboxes import open_box
from worksample.sandboxes.capture import CaptureLimits
from worksample.sandboxes.endpoints import serve_endpoints
from worksample.sandboxes.services import export_state, open_services
from worksample.store import Store
from worksample.tasks.workplace_settings import PORTS, WORKPLACE
from worksample.workplace.warm_pool import warm_pool
from worksample.workplace.workplace import reset_services, seed_of_folder, services_box, workplace_over_state


async def main() -> None:
    company, work, me, folder = Path(sys.argv[1]), Path(sys.argv[2]).read_text(), sys.argv[3], Path(sys.argv[4])
    names, said = tuple(PORTS), {"user": os.getuid(), "boxes": []}
    seed = await asyncio.to_thread(seed_of_folder, company, names)
    async with warm_pool(2):
        for number in range(2):
            workplace = workplace_over_state(names, seed.state, f"rootless-{number}", accounts=seed.accounts)
            places = {Endpoint(name, PORTS[name]): f"service:{WORKPLACE}:{PORTS[name]}" for name in names}
            async with (
                open_services((workplace.box,), "bubblewrap") as services,
                open_box(BoxConfig(network="endpoints", endpoints=tuple(places))) as box,
                serve_endpoints(box, {place: services.target(to) for place, to in places.items()}),
            ):
                own = services_box(services)
                said["boxes"].append(own.config.label)
                if not number:
                    continue
                done = await box.run(["python3", "-c", work, "7", me, workplace.operator], timeout=900)
                said["work"] = [done.returncode, (done.stdout + done.stderr).decode()[-500:]]
                with Store.open(folder / "store", create=True) as store:
                    taken = await export_state(services, store.blobs, (WORKPLACE,), CaptureLimits())
                    said["export"] = [str(taken.part.status), taken.part.files]
                await reset_services(own)
                state = own.output_path / WORKPLACE
                ours = {p.relative_to(seed.state): p for p in seed.state.rglob("*") if p.is_file()}
                equal = [state.joinpath(name).read_bytes() == path.read_bytes() for name, path in ours.items()]
                said["unequal after the reset"] = equal.count(False)
                said["files"] = len(equal)
    print(json.dumps(said))


asyncio.run(main())
