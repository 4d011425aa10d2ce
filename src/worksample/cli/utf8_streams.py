"""Use of UTF-8 in every locale: for file names, for the output of programs, and for files that are written without an
explicit encoding.
"""

from __future__ import annotations

import codecs
import locale
import os
import sys


def use_utf8() -> None:
    """Restart this command in Python's UTF-8 mode if the locale has another encoding. The function does not return
    after a restart.

    A restart is needed because Python fixes the encoding of file names when the interpreter starts.
    """
    if sys.flags.utf8_mode or _is_utf8(locale.getencoding()) or not sys.executable:
        return
    os.environ["PYTHONUTF8"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def settle_streams() -> None:
    """Make standard output and standard error escape characters that the terminal's encoding lacks. Otherwise such a
    character would end the command with an error.
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
