"""The leaderboard in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from .chosen_experiments import heading_of
from .leaderboard_frame import HEADS, Leaderboard, cells_of

BETWEEN = 3
"""Number of spaces between two columns of a table."""
EDGES = 2


def print_board(board: Leaderboard, console: Console) -> None:
    """Print the table, its counts and notes. Columns that do not fit into the width are printed in further blocks
    below.
    """
    if board.unsandboxed:
        console.print("Ran without a sandbox, by explicit request.", style="bold red")
    rows = [cells_of(row) for row in board.rows]
    title = f"Leaderboard: {heading_of(board.experiments)}"
    for places in column_blocks(HEADS, rows, console.width):
        table = Table(
            title=title or None, title_justify="left", header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
        )
        for place in places:
            table.add_column(HEADS[place], justify="right" if place else "left", overflow="fold")
        for cells in rows:
            table.add_row(*(cells[place] for place in places))
        console.print(table)
        title = ""
    for row in board.rows:
        if row.rest:
            console.print(f"{row.label}: {row.rest}; none of it counts as 0.")
    for note in board.notes:
        console.print(note, style="dim")


def column_blocks(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """Return the columns in blocks that fit the width without being cut. The first column is in every block, every
    other column in one.
    """
    needed = [
        max(cell_len(line) for text in (head, *(row[place] for row in rows)) for line in text.splitlines() or [""])
        for place, head in enumerate(heads)
    ]
    blocks: list[list[int]] = [[0]]
    used = EDGES + needed[0]
    for place in range(1, len(heads)):
        if len(blocks[-1]) > 1 and used + BETWEEN + needed[place] > width:
            blocks.append([0])
            used = EDGES + needed[0]
        blocks[-1].append(place)
        used += BETWEEN + needed[place]
    return blocks
