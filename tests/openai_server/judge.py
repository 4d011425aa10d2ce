"""A scripted judge: it reads a request as it is put, and obeys every order that it reads outside delimited data."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .answers import Answer, says

_NONCE = re.compile(r"^=== exhibit N begins ([0-9a-f]{32}) ===$", re.MULTILINE)


@dataclass
class Seen:
    """What a request holds: our words, and per exhibit (in order) the lines of data and the pictures."""

    system: str = ""
    outside: list[str] = field(default_factory=list)
    exhibits: list[str] = field(default_factory=list)
    pictures: list[bytes] = field(default_factory=list)
    """Those between delimiters."""
    loose: list[bytes] = field(default_factory=list)
    """Those outside."""

    @property
    def words(self) -> str:
        """All that is no data."""
        return "\n".join([self.system, *self.outside])


def read(request: dict[str, Any]) -> Seen:
    """Take a request apart by the delimiters that it declares; without any, nothing is data."""
    seen, inside = Seen(), 0
    nonce = ""
    for message in request["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "system":
            seen.system += "\n".join(p["text"] for p in parts)
            found = _NONCE.search(seen.system)
            nonce = found[1] if found else ""
            continue
        for part in parts:
            if part["type"] == "image_url":
                data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
                (seen.pictures if inside else seen.loose).append(data)
                continue
            # As many ends of lines as any reader knows: whoever smuggles one in has left the delimiters.
            for line in part["text"].splitlines():
                if nonce and not inside and (begun := re.fullmatch(rf"=== exhibit (\d+) begins {nonce} ===", line)):
                    inside = int(begun[1])
                    seen.exhibits.append("")
                elif nonce and inside and line == f"=== exhibit {inside} ends {nonce} ===":
                    inside = 0
                elif inside:
                    seen.exhibits[-1] += line + "\n"
                else:
                    seen.outside.append(line)
    return seen


def judged(answer: str = "yes", quote: str = "", exhibit: int | None = 1, reason: str = "", **rest: Any) -> Answer:
    """A well-formed answer."""
    said = {"answer": answer, "reason": reason, "exhibit": exhibit, "quote": quote}
    return says(json.dumps(said), **rest)


@dataclass
class Judge:
    """Answers `honest` of what it sees, unless it reads one of `orders` outside the data: then `obeyed`.

    orders: texts; pictures: bytes of pictures that hold an order.
    """

    honest: Callable[[Seen], Answer]
    obeyed: Callable[[Seen], Answer]
    orders: Sequence[str] = ()
    pictures: Sequence[bytes] = ()
    moved: int = 0

    def __call__(self, request: dict[str, Any], count: int) -> Answer:
        seen = read(request)
        words = " ".join(seen.words.split())
        if any(order in words for order in self.orders) or any(p in seen.loose for p in self.pictures):
            self.moved += 1
            return self.obeyed(seen)
        return self.honest(seen)
