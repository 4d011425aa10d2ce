"""Whether a command's program is there at all: looked for before anything of the agent runs, so that nothing it prints
or exits with can pass for it."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

SHELLS = frozenset({"sh", "bash", "dash", "/bin/sh", "/bin/bash", "/usr/bin/bash", "/bin/dash"})
BUILTIN = frozenset(
    re.findall(
        r"\S+",
        ". : [ alias bg break case cd command continue echo eval exec exit export false fg for function getopts hash "
        "if jobs kill let local printf pwd read readonly return select set shift source test time times trap true type "
        "ulimit umask unalias unset until wait while",
    )
)
"""Of shells: words that are no programs."""
LOOK = 'case $1 in */*) [ -f "$1" ] && [ -x "$1" ];; *) command -v -- "$1" > /dev/null;; esac'
"""For `sh -c`: whether `$1` can be run."""
_PLAIN = re.compile(r"[A-Za-z0-9_./+-]+")


def programs_of(argv: Sequence[str]) -> tuple[str, ...]:
    """What has to be there: the program, and where it is a shell with a script the script's first command, if plain."""
    first = argv[0]
    if first not in SHELLS or len(argv) < 3 or argv[1] not in ("-c", "-lc", "-ec", "-euc"):
        return (first,)
    try:
        words = shlex.split(argv[2], comments=True)
    except ValueError:
        return (first,)
    word = words[0].rstrip(";") if words else ""
    return (first, word) if _PLAIN.fullmatch(word) and word not in BUILTIN else (first,)


def absent_here(argv: Sequence[str], path: str) -> str:
    """The program that no box of this machine has, as far as it can be told from outside; "" where none is known."""
    for program in programs_of(argv):
        if "{" in program or program.startswith((".", "python")):
            continue
        if "/" not in program and shutil.which(program, path=path) is None:
            return program
        if program.startswith(("/usr/", "/bin/", "/sbin/")) and not Path(program).exists():
            return program
    return ""
