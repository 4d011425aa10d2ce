"""As much of Markdown as a report from a template needs: sections by heading, and tables."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    level: int
    heading: str
    body: str

    @property
    def tables(self) -> list[list[dict[str, str]]]:
        """The tables of the section, each a list of rows by column name."""
        found: list[list[dict[str, str]]] = []
        lines = [line.strip() for line in self.body.splitlines()]
        place = 0
        while place + 1 < len(lines):
            if lines[place].startswith("|") and re.fullmatch(r"\|?(\s*:?-+:?\s*\|)+\s*(:?-+:?\s*)?", lines[place + 1]):
                header = cells(lines[place])
                rows = []
                place += 2
                while place < len(lines) and lines[place].startswith("|"):
                    values = cells(lines[place])
                    rows.append({name: values[n] if n < len(values) else "" for n, name in enumerate(header)})
                    place += 1
                found.append(rows)
            else:
                place += 1
        return found

    @property
    def prose(self) -> str:
        """The body without its tables."""
        return "\n".join(line for line in self.body.splitlines() if not line.strip().startswith("|"))


def cells(line: str) -> list[str]:
    """Cells of a table's line, without marks of emphasis and code."""
    parts = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return [plain(p) for p in parts]


def plain(text: str) -> str:
    """Text without marks of emphasis and code, spaces collapsed."""
    text = re.sub(r"\*\*|__|`", "", text.replace("\\|", "|"))
    return " ".join(re.sub(r"(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)", "", text).split())


def sections(source: str) -> list[Section]:
    """All sections in order; what stands before the first heading is left out. Fenced code holds no headings."""
    found: list[Section] = []
    body: list[str] = []
    fence = False
    for line in source.splitlines():
        fence ^= line.strip().startswith("```")
        match = None if fence else re.match(r"(#{1,6})\s+(.*)", line)
        if match is None:
            body.append(line)
            continue
        if found:
            found[-1] = Section(found[-1].level, found[-1].heading, "\n".join(body))
        found.append(Section(len(match.group(1)), plain(match.group(2).rstrip().rstrip("#")), ""))
        body = []
    if found:
        found[-1] = Section(found[-1].level, found[-1].heading, "\n".join(body))
    return found
