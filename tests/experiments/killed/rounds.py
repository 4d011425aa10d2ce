"""Kill after kill, at random moments. By hand, for as many as are wanted:

PYTHONPATH=tests python -m experiments.killed.rounds ROUNDS [SEED [KIND ...]]
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forking.child import Child
from openai_server import serving
from openai_server.answers import says

from .ground import Ground

KINDS = ("plain", "image", "build", "docker", "unpack", "none", "agent", "audit")


LONGEST = 15.0
"""Seconds after which a kill comes at the latest: an audit does the same again and again."""


class Left(AssertionError):
    """Something outlived a kill and the start of the next platform."""


def rounds(folder: Path, number: int, seed: int, docker: str, kinds: Sequence[str] = KINDS) -> Counter[str]:
    """So many kills, of each kind in turn; how many hit each. Raises Left."""
    ground, chance, hits = Ground(folder, docker), random.Random(seed), Counter[str]()
    ground.lay()
    kinds = [kind for kind in kinds if docker or kind != "docker"]
    try:
        with serving([says("cat /etc/note; ls")]) as served:
            whole = {kind: _whole(ground, kind, served.base_url) for kind in kinds}
            print(f"whole: { {kind: round(seconds, 2) for kind, seconds in whole.items()} }", flush=True)
            for count in range(number):
                kind = kinds[count % len(kinds)]
                delay = chance.uniform(0, min(whole[kind], LONGEST))
                said = _killed(ground, kind, served.base_url, f"{chance.getrandbits(64):016x}", delay)
                hits[kind if said["code"] < 0 else f"{kind}, which had ended"] += 1
                if wrong := [*said["left"], *_left(ground, kind, {said["pid"]}, served.base_url)]:
                    raise Left(f"round {count}, {kind} after {delay:.3f} of {whole[kind]:.3f} s (seed {seed}): {wrong}")
                if count % 20 == 19:
                    print(count + 1, dict(hits), flush=True)
        return hits
    finally:
        ground.remove()


def _whole(ground: Ground, kind: str, url: str) -> float:
    """Seconds that a piece of work takes where nobody kills it: the second one, since the first fills caches."""
    for word in ("0" * 16, "1" * 16):
        said = _killed(ground, kind, url, word, 600)
        assert said["code"] == 0, f"{kind} failed: {said}"
        if wrong := [*said["left"], *_left(ground, kind, {said["pid"]}, url)]:
            raise Left(f"{kind} left without a kill: {wrong}")
    return float(said["took"])


def _killed(ground: Ground, kind: str, url: str, word: str, delay: float) -> dict[str, Any]:
    child = Child("experiments.killed.supervisor", [kind, ground.folder, url, word, delay], ground.env)
    out, err = child.communicate(1800)
    assert child.returncode == 0, f"{kind}: {out[-2000:]} {err[-4000:]}"
    said: dict[str, Any] = json.loads(out.splitlines()[-1])
    return {**said, "printed": (out[-2000:] + err[-4000:]) if said["code"] > 0 else ""}


def _left(ground: Ground, kind: str, pids: set[int], url: str) -> list[str]:
    """What is left. A control group empties a moment after its last process died: there the one after next counts."""
    wrong = ground.left(pids)
    if any(one.startswith("control group") for one in wrong):
        _killed(ground, "nothing" if kind != "docker" else kind, url, "f" * 16, 0)
        wrong = ground.left(pids)
    return wrong


def main() -> None:
    """See the module."""
    from sandboxes import daemon

    number, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    kinds = tuple(sys.argv[3:]) or KINDS
    with tempfile.TemporaryDirectory(prefix="ws-killed-", dir="/var/tmp") as folder:
        if "docker" in kinds:
            with daemon.running() as url:
                print(rounds(Path(folder), number, seed, url, kinds))
        else:
            print(rounds(Path(folder), number, seed, "", kinds))


if __name__ == "__main__":
    main()
