"""Run attacks on demand in one process: a name per line in, a verdict as JSON per line out.

Started by the tests once as root and once as an ordinary user, so that both ways of making boxes are attacked.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import tempfile
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from attacks.world import ATTACKS, World, make_world
from worksample.box import Endpoint
from worksample.sandboxes import open_box
from worksample.sandboxes.endpoints import AllowedHost, ConnectProxy, HostAllowance, HostRule, serve_endpoints

for name in ("files", "network", "processes", "kernel", "resources"):
    importlib.import_module(f"attacks.{name}")


async def verdict(world: World, name: str) -> dict[str, Any]:
    """Whether the attack succeeded in a box, and whether it succeeded without one (None where that is not tried)."""
    attack = ATTACKS[name]
    control: bool | None = None
    if attack.control == "plain" or (attack.control == "root" and world.root):
        async with open_box(replace(world.config(), root=None), kind="none") as plain:
            control = await attack.run(world, plain)
    inside = Endpoint("inside.example.com", 80)  # a name that was allowed, and that leads to this machine
    proxy = Endpoint("proxy.internal", 3128)
    below = (HostRule("*.example.com", int(world.env["TCP"])),)
    targets = {
        inside: AllowedHost(HostRule("localhost", int(world.env["TCP"]))),
        proxy: ConnectProxy(below, HostAllowance(below)),
    }
    config = world.config(network="endpoints", endpoints=(inside, proxy))
    async with open_box(config, kind=world.kind) as box, serve_endpoints(box, targets):
        succeeded = await attack.run(world, box)
        alive = (await box.run(["echo", "alive"])).stdout == b"alive\n"
    return {"succeeded": succeeded, "control": control, "alive": alive}


async def main() -> None:
    """Serve until the input ends."""
    loop = asyncio.get_running_loop()
    with tempfile.TemporaryDirectory(dir=os.environ.get("ATTACK_DIR")) as folder:
        Path(folder).chmod(0o755)
        os.environ["WORKSAMPLE_RUNTIME_DIR"] = f"{folder}/runtime"
        async with make_world(Path(folder)) as world:
            print("ready", flush=True)
            while line := await loop.run_in_executor(None, sys.stdin.readline):
                try:
                    answer = await verdict(world, line.strip())
                except Exception:  # noqa: BLE001 - whatever went wrong is the answer, the next attack follows
                    answer = {"error": traceback.format_exc()}
                print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
