"""The command line: one file per verb, imported when it is called."""

from __future__ import annotations


def main() -> None:
    """Entry point of the `worksample` command."""
    from .exit_codes import run

    run()
