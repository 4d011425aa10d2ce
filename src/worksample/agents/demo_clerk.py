"""Agent for demos and tests that uses no model. It leaves out lines that the brief requires, and adds a missing line if
feedback names it.
"""

from __future__ import annotations

import re
from hashlib import sha256

from .python_agent_assignment import Assignment

FACT = re.compile(r"^- (\w+: .+)$", re.MULTILINE)
ASKED = re.compile(r'Add the line "([^"]+)"')
AGAIN = "# Your earlier work"


async def clerk(work: Assignment) -> None:
    """Write an offer with the facts of the brief, and leave out none, one or two of them. The brief determines how
    many.

    In a re-attempt, add a line that the feedback names. If the feedback names no line, add a missing line in every
    fourth case.
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
