"""Blinding: removes names of agents, models and people from texts that evaluators see."""

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
"""Common words that are not removed from texts, because they identify nobody."""


def giveaways(store: Store, submission: Submission) -> tuple[str, ...]:
    """Return the words that identify a submission's maker: names of agent, model and person."""
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
    """Remove these words from a text, ignoring case, blanks, dashes and underscores."""
    pattern = _pattern(tuple(words)) if text else None
    return text if pattern is None else pattern.sub(BLOT, text)


@lru_cache(maxsize=512)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str] | None:
    """Compile the words to a pattern; None if there are no words. The result is cached, because the items of a round
    share the names of a few agents.
    """
    patterns = []
    for word in sorted(words, key=lambda w: (-len(w), w)):
        parts = [re.escape(p) for p in re.split(r"[\s_.-]+", word) if p]
        if parts:
            patterns.append(r"[\s_.-]*".join(parts))
    if not patterns:
        return None
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(patterns)})(?![^\W_])", re.IGNORECASE)
