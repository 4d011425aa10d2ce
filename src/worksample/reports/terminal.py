"""The leaderboard in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from .figures import figure, with_interval
from .leaderboard import Leaderboard


def print_board(board: Leaderboard, console: Console) -> None:
    """Print the table, its counts and notes."""
    if board.unsandboxed:
        console.print("Ran without a sandbox, by explicit request.", style="bold red")
    names = ", ".join(e.name for e in board.experiments)
    table = Table(title=f"Leaderboard: {names}", title_justify="left", header_style="bold")
    table.add_column("agent")
    for head in ("pass", "mean score", "S_partial", "earned", "cost", "time", "tokens", "steps", "graded"):
        table.add_column(head, justify="right")
    for row in board.rows:
        table.add_row(
            row.name,
            with_interval(row.passed, "rate"),
            with_interval(row.score, "score"),
            figure(row.s_partial.value, "score"),
            figure(row.earned.value, "dollars"),
            figure(row.cost.value, "dollars"),
            figure(row.seconds.value, "seconds"),
            figure(row.tokens.value, "count"),
            figure(row.steps.value, "count"),
            f"{row.valid}/{row.planned}",
        )
    console.print(table)
    for row in board.rows:
        if row.rest:
            console.print(f"{row.name}: {row.rest}; none of it counts as 0.")
    for note in board.notes:
        console.print(note, style="dim")
