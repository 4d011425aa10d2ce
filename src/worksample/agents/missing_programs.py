"""Detection of missing programs: which programs a command calls, and whether the box has them.

The check runs before the agent's program. Otherwise the program's output or exit status could imitate a missing
program.
"""

from __future__ import annotations

import itertools
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

SHELLS = frozenset({"sh", "bash", "dash", "/bin/sh", "/bin/bash", "/usr/bin/bash", "/bin/dash"})
_CODE = ("-c", "-lc", "-ec", "-euc")
BUILTIN = frozenset(
    re.findall(
        r"\S+",
        ". : [ alias bg break case cd command continue echo eval exec exit export false fg for function getopts hash "
        "if jobs kill let local printf pwd read readonly return select set shift source test time times trap true type "
        "ulimit umask unalias unset until wait while",
    )
)
"""Built-in commands and keywords of shells, which are not programs."""
LOOK = 'case $1 in */*) [ -f "$1" ] && [ -x "$1" ];; *) command -v -- "$1" > /dev/null;; esac'
"""Script for `sh -c` that tests whether `$1` is a program that can be executed."""
LOOK_SCRIPT = '[ -f "$1" ] && [ -r "$1" ]'
"""Script for `sh -c` that tests whether `$1`, the script of an interpreter, can be read."""
_INTERPRETER = re.compile(r"(python[0-9.]*|node|bun|deno|bash|sh|dash|perl|ruby|php|Rscript)")
_SCRIPT = re.compile(r".*/.*|.*\.(py|js|mjs|cjs|ts|sh|pl|rb|php|R|r)")
_SHOWN = ("/usr/", "/bin/", "/sbin/", "/lib", "/etc/", "/opt/worksample/", "/task/", "/workspace/")
"""Starts of paths that a box may share with the host, or that contain files of the work."""
_WRAPPERS = frozenset({"env", "exec", "nice", "nohup", "setsid", "stdbuf", "time", "timeout"})
"""Programs that run another program, which their first plain argument names."""
_SET_BEFORE = re.compile(r"-.*|[A-Za-z_]\w*=.*|[0-9.]+[smhd]?")
"""Pattern of the options, variables and times that may precede the wrapped program in a call of a wrapper."""
_FLAGS = re.compile(r"-[uBIsSEOqvbdexl]+")
"""Pattern of options of Python and shells that have no value."""
_PLAIN = re.compile(r"[A-Za-z0-9_./+-]+")


def programs_of(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the programs that a command needs. These are the program itself and, for a shell script, the script's
    first command if it is simple.
    """
    first = argv[0]
    if first not in SHELLS or len(argv) < 3 or argv[1] not in _CODE:
        return (first,)
    try:
        words = shlex.split(argv[2], comments=True)
    except ValueError:
        return (first,)
    word = words[0].rstrip(";") if words else ""
    return (first, word) if _PLAIN.fullmatch(word) and word not in BUILTIN else (first,)


def missing_program(argv: Sequence[str], path: str) -> str:
    """Return the program that no box on this machine has, as far as the host can know. Return "" if no program is known
    to be missing.
    """
    for program in programs_of(argv):
        if "{" in program or program.startswith((".", "python")):
            continue
        if "/" not in program and shutil.which(program, path=path) is None:
            return program
        if program.startswith(("/usr/", "/bin/", "/sbin/")) and not Path(program).exists():
            return program
    return ""


def script_of(argv: Sequence[str]) -> str:
    """Return the script that a command passes to an interpreter, as in `python3 agent.py`. Return "" if the command
    does not have this form.
    """
    call = _call(argv)
    name = PurePosixPath(call[0]).name if call else ""
    if not _INTERPRETER.fullmatch(name):
        return ""
    plain = name.startswith("python") or name in SHELLS
    words = itertools.dropwhile(lambda word: plain and _FLAGS.fullmatch(word), call[1:])
    first = next(words, "")
    return first if _SCRIPT.fullmatch(first) and not first.startswith("-") else ""


def only_on_host(argv: Sequence[str]) -> str:
    """Return the program or script of a command that is a file of this machine but not of a box without an image.
    Return "" if there is none.

    A relative path counts, too, because a box starts in an empty folder. In a shell script, a path counts only if it is
    absolute and occurs once, because the script may create other files itself.
    """
    for path in _own_files(_call(argv)):
        if _is_hidden(path):
            return path
    code = _shell_code(_call(argv))
    for call in _commands(code):
        for path in _own_files(_call(call)):
            if path.startswith("/") and code.count(path) == 1 and _is_hidden(path):
                return path
    return ""


def _own_files(call: Sequence[str]) -> Iterator[str]:
    if call and "/" in call[0]:
        yield call[0]
    if script := script_of(call):
        yield script


def _is_hidden(path: str) -> bool:
    """Return whether a path is a file of this machine that boxes do not contain."""
    return "{" not in path and not path.startswith(_SHOWN) and Path(path).is_file()


def _call(argv: Sequence[str]) -> list[str]:
    """Return the call without wrappers such as `env A=1`, `nice -n 5` or `exec`."""
    rest = list(argv)
    wrapped = True
    while rest and wrapped:
        wrapped = PurePosixPath(rest[0]).name in _WRAPPERS
        if wrapped or re.match(r"[A-Za-z_]\w*=", rest[0]):
            rest = list(itertools.dropwhile(_SET_BEFORE.fullmatch, rest[1:]))
    return rest


def _shell_code(call: Sequence[str]) -> str:
    return call[2] if len(call) > 2 and call[0] in SHELLS and call[1] in _CODE else ""


def _commands(code: str) -> list[list[str]]:
    """Split a shell script into commands, each a list of words. Return an empty list if the script cannot be parsed."""
    lexer = shlex.shlex(code, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split = " \t\r", True
    try:
        words = list(lexer)
    except ValueError:
        return []
    ends = itertools.groupby(words, key=lambda word: set(word) <= set(";|&\n()"))
    return [list(group) for end, group in ends if not end]
