"""What `python -c` does, for a program that is forked: `forking.code CODE ARGUMENT...`."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    text = sys.argv.pop(1)
    exec(compile(text, "<code>", "exec"), {"__name__": "__main__"})
