"""Whether a command's program is there at all: looked for before anything of the agent runs, so that nothing it prints
or exits with can pass for it."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

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
LOOK_SCRIPT = '[ -f "$1" ] && [ -r "$1" ]'
"""For `sh -c`: whether an interpreter can read the script `$1`."""
_INTERPRETER = re.compile(r"(python[0-9.]*|node|bun|deno|bash|sh|dash|perl|ruby|php|Rscript)")
_SCRIPT = re.compile(r".*/.*|.*\.(py|js|mjs|cjs|ts|sh|pl|rb|php|R|r)")
_SHOWN = ("/usr/", "/bin/", "/sbin/", "/lib", "/etc/", "/opt/worksample/", "/task/", "/workspace/")
"""Where a box may show what the host has at the same path, or the work has files of its own."""
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


def script_of(argv: Sequence[str]) -> str:
    """Return the script that an interpreter is called with (`python3 agent.py`), or "" if it is not plainly one."""
    if not _INTERPRETER.fullmatch(PurePosixPath(argv[0]).name) or len(argv) < 2:
        return ""
    first = argv[1]
    return first if _SCRIPT.fullmatch(first) and not first.startswith("-") else ""


def only_on_host(argv: Sequence[str]) -> str:
    """Return the program or script that is a file of this machine and of no box without an image; "" if there is none.

    A relative path counts too, since a box begins its work in an empty folder.
    """
    for path in filter(None, (argv[0] if "/" in argv[0] else "", script_of(argv))):
        if "{" not in path and not path.startswith(_SHOWN) and Path(path).is_file():
            return path
    return ""
