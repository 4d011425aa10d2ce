"""Whether a command's program is there at all: looked for before anything of the agent runs, so that nothing it prints
or exits with can pass for it."""

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
"""Of shells: words that are no programs."""
LOOK = 'case $1 in */*) [ -f "$1" ] && [ -x "$1" ];; *) command -v -- "$1" > /dev/null;; esac'
"""For `sh -c`: whether `$1` can be run."""
LOOK_SCRIPT = '[ -f "$1" ] && [ -r "$1" ]'
"""For `sh -c`: whether an interpreter can read the script `$1`."""
_INTERPRETER = re.compile(r"(python[0-9.]*|node|bun|deno|bash|sh|dash|perl|ruby|php|Rscript)")
_SCRIPT = re.compile(r".*/.*|.*\.(py|js|mjs|cjs|ts|sh|pl|rb|php|R|r)")
_SHOWN = ("/usr/", "/bin/", "/sbin/", "/lib", "/etc/", "/opt/worksample/", "/task/", "/workspace/")
"""Where a box may show what the host has at the same path, or the work has files of its own."""
_WRAPPERS = frozenset({"env", "exec", "nice", "nohup", "setsid", "stdbuf", "time", "timeout"})
"""Programs that call the one which their first plain word names."""
_SET_BEFORE = re.compile(r"-.*|[A-Za-z_]\w*=.*|[0-9.]+[smhd]?")
"""Options and variables that stand before such a word."""
_FLAGS = re.compile(r"-[uBIsSEOqvbdexl]+")
"""Of Python and of shells: options without a value of their own."""
_PLAIN = re.compile(r"[A-Za-z0-9_./+-]+")


def programs_of(argv: Sequence[str]) -> tuple[str, ...]:
    """What has to be there: the program, and where it is a shell with a script the script's first command, if plain."""
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
    call = _call(argv)
    name = PurePosixPath(call[0]).name if call else ""
    if not _INTERPRETER.fullmatch(name):
        return ""
    plain = name.startswith("python") or name in SHELLS
    words = itertools.dropwhile(lambda word: plain and _FLAGS.fullmatch(word), call[1:])
    first = next(words, "")
    return first if _SCRIPT.fullmatch(first) and not first.startswith("-") else ""


def only_on_host(argv: Sequence[str]) -> str:
    """Return the program or script that is a file of this machine and of no box without an image; "" if there is none.

    A relative path counts too, since a box begins its work in an empty folder. In a shell's script only an absolute
    path that occurs once counts: the script may make the others.
    """
    for path in _own_files(_call(argv)):
        if _why_hidden(path):
            return path
    code = _shell_code(_call(argv))
    for call in _commands(code):
        for path in _own_files(_call(call)):
            if path.startswith("/") and code.count(path) == 1 and _why_hidden(path):
                return path
    return ""


def _own_files(call: Sequence[str]) -> Iterator[str]:
    if call and "/" in call[0]:
        yield call[0]
    if script := script_of(call):
        yield script


def _why_hidden(path: str) -> bool:
    return "{" not in path and not path.startswith(_SHOWN) and Path(path).is_file()


def _call(argv: Sequence[str]) -> list[str]:
    """The call behind `env A=1`, `nice -n 5`, `exec` and the like."""
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
    """The commands of a shell's script as words; none if it cannot be read so."""
    lexer = shlex.shlex(code, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split = " \t\r", True
    try:
        words = list(lexer)
    except ValueError:
        return []
    ends = itertools.groupby(words, key=lambda word: set(word) <= set(";|&\n()"))
    return [list(group) for end, group in ends if not end]
