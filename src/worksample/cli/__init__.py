"""The command line: one file per verb, imported when it is called."""

from __future__ import annotations


def main() -> None:
    """Entry point of the `worksample` command."""
    from .locale import use_utf8

    use_utf8()
    from .exit_codes import run

    run()
