"""The command line. Each command or group of commands has a module, which is imported when the command is called."""

from __future__ import annotations


def main() -> None:
    """Run the `worksample` command and exit the process."""
    import sys

    try:
        from .utf8_streams import use_utf8

        use_utf8()
        from .command_line import run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted while starting: nothing was started\n  next: run the same command again\n")
        sys.exit(130)
    run()
