"""Delimiters around the exhibits in a judge's prompt. No exhibit can imitate them.

The method is spotlighting by delimiters and data marking (Hines et al. 2024). Delimiters contain a random nonce, which
is drawn for each call after the work was submitted. Every line of an exhibit begins with a mark, so no line can be a
delimiter, even if the author of the exhibit knew the nonce.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

from .invisible_characters import spell_out_invisible
from .judge_exhibit import Exhibit, Look

MARK = "| "
_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
"""All character sequences that a reader may treat as the end of a line."""


def make_visible(text: str) -> str:
    """Return the text with uniform line ends and spaces, and with invisible characters replaced by their code
    points.
    """
    return spell_out_invisible("\n".join(_BREAKS.split(text)))


@dataclass(frozen=True, slots=True)
class ExhibitDelimiters:
    """The delimiters of one call to a judge."""

    nonce: str = field(default_factory=lambda: secrets.token_hex(16))

    def head(self, number: int) -> str:
        return f"=== exhibit {number} begins {self.nonce} ==="

    def tail(self, number: int) -> str:
        return f"=== exhibit {number} ends {self.nonce} ==="

    def enclose(self, number: int, exhibit: Exhibit) -> list[str | Exhibit]:
        """Return an exhibit between its delimiters: its text, followed by its picture if it has a picture."""
        name = [f"name: {exhibit.name}"] if exhibit.name else []
        if exhibit.look is Look.PICTURE:
            opening = "\n".join([self.head(number), *self._mark_lines("\n".join(name))])
            return [opening, exhibit, self.tail(number)]
        body = "\n".join([*name, exhibit.text])
        return ["\n".join([self.head(number), *self._mark_lines(body), self.tail(number)])]

    def _mark_lines(self, text: str) -> list[str]:
        return [MARK + line for line in make_visible(text).split("\n")] if text else []
