"""The map that a table without usual names of columns is answered with: guesses to confirm, in a file for `--map`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from worksample.errors import ImportFailed

from .column_guesses import ColumnGuess, guess_columns

SHOWN = 30
"""Maximum number of columns that the message shows."""


class UnclearColumns(ImportFailed):
    """A table whose columns cannot be told by their names. `guesses`: what each column may hold; `map`: the file with
    these guesses, which the user confirms.
    """

    def __init__(self, what: str, guesses: tuple[ColumnGuess, ...], map: Path, *, where: str, next: str) -> None:
        super().__init__(what, where=where, next=next)
        self.guesses = guesses
        self.map = map


def refuse_unclear_columns(
    table: Path, header: Sequence[str], rows: Iterable[tuple[int, Mapping[str, Any]]],
    lacking: Mapping[str, str], command: str,
) -> None:  # fmt: skip
    """Raise UnclearColumns with guesses about all columns, after writing them as a map beside the table.

    lacking: field without a column -> its meaning. command: the command to type again, without `--map`. A map that
    exists already is kept.
    """
    guesses = guess_columns(header, rows)
    folder = table.parent if os.access(table.parent, os.W_OK) else Path()
    path = folder / f"{table.stem}.columns.toml"
    kept = path.exists()
    if not kept:
        path.write_text(_map_text(table.name, guesses, lacking), encoding="utf-8")
    names = " and ".join(f"`{name}` ({meaning})" for name, meaning in lacking.items())
    lines = [f"no column is named as one for {names}. The columns may be:", *_rows(guesses)]
    lines.append(f"{'an older map stands in' if kept else 'these guesses are written as a map:'} {path}")
    step = f"read and correct {path.name}, then {command} --map {path}"
    raise UnclearColumns("\n".join(lines), guesses, path, where=str(table), next=step)


def _rows(guesses: Sequence[ColumnGuess]) -> list[str]:
    width = max((len(guess.column) for guess in guesses[:SHOWN]), default=0)
    shown = [
        f"  {guess.column:<{width}}  {guess.field or '-':<15}  {' | '.join(guess.examples) or '(empty)'}"
        for guess in guesses[:SHOWN]
    ]
    return [*shown, f"  and {len(guesses) - SHOWN} more columns"] if len(guesses) > SHOWN else shown


def _map_text(name: str, guesses: Sequence[ColumnGuess], lacking: Mapping[str, str]) -> str:
    guessed = {guess.field: guess for guess in guesses if guess.field}
    lines = [
        f"# Columns of {_comment(name)}, guessed from their names and cells. Correct this map, then pass it as --map.",
        "# All fields: docs/reference/formats.md, lists of jobs.",
    ]
    if "contract" in lacking and "contract" not in guessed:
        lines += ["", "# No column holds unique ids, so each job is named by its line in the table.", 'ids = "line"']
    lines += ["", "[columns]"]
    for field, guess in guessed.items():
        examples = _comment(" | ".join(guess.examples))
        lines.append(f"{field} = {json.dumps(guess.column, ensure_ascii=False)}  # {guess.why}: {examples}")
    for field, meaning in lacking.items():
        if field not in guessed and field != "contract":
            lines.append(f'# {field} = "?"  # {meaning}: no column looks like it')
    unused = [guess for guess in guesses if not guess.field]
    if unused:
        lines += ["", "# Not used:"]
        lines += [f"# {_comment(guess.column)}: {_comment(' | '.join(guess.examples))}" for guess in unused]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    """Return a text that can stand in a comment of a TOML file: one line without control characters."""
    return "".join(c if c.isprintable() else " " for c in text)
