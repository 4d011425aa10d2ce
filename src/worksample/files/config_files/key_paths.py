"""Paths of keys in a file: `instance[1].settings."a b"`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_BARE = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)
LONGEST = 100
"""Maximum characters of one step that are shown."""


def key_of(steps: Sequence[str | int], above: str = "") -> str:
    """Return the path of the key at `steps`, below the key `above`. Steps that are not bare keys are quoted."""
    text = above
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
            continue
        shown = step if _BARE.fullmatch(step) else json.dumps(step[:LONGEST], ensure_ascii=True)
        text += f".{shown}" if text else shown
    return text
