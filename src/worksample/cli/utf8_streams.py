"""UTF-8 in every locale: for file names, output of programs, and files written without an encoding."""

from __future__ import annotations

import codecs
import locale
import os
import sys


def use_utf8() -> None:
    """Restart this command in Python's UTF-8 mode if the locale has another encoding.

    The decoding of file names is fixed when the interpreter starts. Does not return if it restarts.
    """
    if sys.flags.utf8_mode or _is_utf8(locale.getencoding()) or not sys.executable:
        return
    os.environ["PYTHONUTF8"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def settle_streams() -> None:
    """Make stdout and stderr escape characters that the terminal's encoding lacks, so that no character ends a
    command.
    """
    own = locale.getencoding()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            terminal = stream.isatty() and not _is_utf8(own) and "PYTHONIOENCODING" not in os.environ
            stream.reconfigure(errors="backslashreplace", **({"encoding": own} if terminal else {}))


def _is_utf8(name: str) -> bool:
    try:
        return codecs.lookup(name).name == "utf-8"
    except LookupError:
        return False
