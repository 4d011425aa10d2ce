"""An agent for demos and tests: it forgets lines of a brief, and puts in one that it is told of. It asks no model."""

from __future__ import annotations

import re
from hashlib import sha256

from .assignment import Assignment

FACT = re.compile(r"^- (\w+: .+)$", re.MULTILINE)
ASKED = re.compile(r'Add the line "([^"]+)"')
AGAIN = "# Your earlier work"


async def clerk(work: Assignment) -> None:
    """Of the brief's facts it leaves out none, one or two, by the brief. Working again it adds one that it is told of;
    without being told, every fourth time one that it finds by itself.
    """
    brief, _, again = work.brief.partition(AGAIN)
    facts = FACT.findall(brief)
    chance = sha256(brief.encode()).digest()
    if not again:
        lines = facts[: len(facts) - chance[0] % 3]
    else:
        lines = (await work.read(f"{work.previous}/offer.txt")).decode().splitlines()
        asked = [fact for fact in ASKED.findall(again) if fact not in lines]
        if not asked and chance[1] % 4 == 0:
            asked = [fact for fact in facts if fact not in lines]
        lines += asked[:1]
    await work.write(f"{work.output}/offer.txt", "\n".join(lines) + "\n")
