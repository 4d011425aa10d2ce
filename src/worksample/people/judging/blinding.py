"""Nothing that an evaluator sees says who made it: names of agents, models and people are blotted out of texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from worksample.errors import RecordMissing
from worksample.records import Agent, Origin, Submission

if TYPE_CHECKING:
    from worksample.store import Store

BLOT = "█████"
_SHORTEST = 3
_COMMON = frozenset(
    {"agent", "command", "external", "human", "person", "reference", "scripted", "test", "the", "worker"}
)
"""Words that say nothing of who it was, and would blot half of a text."""


def giveaways(store: Store, submission: Submission) -> tuple[str, ...]:
    """Words that would say who made a submission: its agent's name, model, the model's own name; a person's name."""
    words = {submission.entrant, submission.entrant.partition("@")[0]}
    if submission.origin is Origin.TRIAL:
        try:
            agent = store.get(Agent, submission.entrant)
        except RecordMissing:
            agent = None
        if agent is not None:
            model = agent.model or ""
            words |= {agent.name, model, *model.split("/")}
    words |= {submission.author}
    return tuple(sorted(w for w in words if len(w) >= _SHORTEST and w.casefold() not in _COMMON))


def scrub(text: str, words: Iterable[str]) -> str:
    """The text without these words, however they are written: case, blanks, dashes and underscores do not count."""
    pattern = _pattern(tuple(words)) if text else None
    return text if pattern is None else pattern.sub(BLOT, text)


@lru_cache(maxsize=512)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str] | None:
    """None where there is no word. A round has few agents and many items."""
    patterns = []
    for word in sorted(words, key=lambda w: (-len(w), w)):
        parts = [re.escape(p) for p in re.split(r"[\s_.-]+", word) if p]
        if parts:
            patterns.append(r"[\s_.-]*".join(parts))
    if not patterns:
        return None
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(patterns)})(?![^\W_])", re.IGNORECASE)
