"""Agent for demos and tests: it forgets lines of a brief and adds one when feedback names it. It uses no model."""

from __future__ import annotations

import re
from hashlib import sha256

from .python_agent_assignment import Assignment

FACT = re.compile(r"^- (\w+: .+)$", re.MULTILINE)
ASKED = re.compile(r'Add the line "([^"]+)"')
AGAIN = "# Your earlier work"


async def clerk(work: Assignment) -> None:
    """Write an offer with the brief's facts, with none, one or two left out (derived from the brief).

    In a re-attempt, add a line that the feedback names; without such feedback, find a missing line every fourth time.
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
