"""The command line: one file per command or noun, imported when it is called."""

from __future__ import annotations


def main() -> None:
    """Entry point of the `worksample` command."""
    import sys

    try:
        from .utf8_streams import use_utf8

        use_utf8()
        from .command_line import run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted while starting: nothing was started\n  next: run the same command again\n")
        sys.exit(130)
    run()
