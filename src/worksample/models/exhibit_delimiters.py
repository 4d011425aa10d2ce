"""Delimiters that no exhibit can hold: a nonce drawn for each call, and a mark before every line of data.

Spotlighting by delimiters and data marking (Hines et al. 2024). The nonce is drawn after the work was handed in. A line
of data begins with the mark and so is never a delimiter, even for one who knew the nonce.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

from .exhibit import Exhibit, Look
from .invisible_characters import written_out

MARK = "| "
_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
"""Whatever some reader takes for the end of a line."""


def shown(text: str) -> str:
    """Text with line ends alike, spaces plain, and what nobody sees (see `unseen`) written out."""
    return written_out("\n".join(_BREAKS.split(text)))


@dataclass(frozen=True, slots=True)
class Fence:
    """The delimiters of one call."""

    nonce: str = field(default_factory=lambda: secrets.token_hex(16))

    def head(self, number: int) -> str:
        return f"=== exhibit {number} begins {self.nonce} ==="

    def tail(self, number: int) -> str:
        return f"=== exhibit {number} ends {self.nonce} ==="

    def enclosed(self, number: int, exhibit: Exhibit) -> list[str | Exhibit]:
        """The exhibit between its delimiters: text, and the picture where it is one."""
        name = [f"name: {exhibit.name}"] if exhibit.name else []
        if exhibit.look is Look.PICTURE:
            opening = "\n".join([self.head(number), *self._marked("\n".join(name))])
            return [opening, exhibit, self.tail(number)]
        body = "\n".join([*name, exhibit.text])
        return ["\n".join([self.head(number), *self._marked(body), self.tail(number)])]

    def _marked(self, text: str) -> list[str]:
        return [MARK + line for line in shown(text).split("\n")] if text else []
