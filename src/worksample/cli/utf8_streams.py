"""Text is UTF-8 in every locale: names of files, what programs say, and what is written without an encoding."""

from __future__ import annotations

import codecs
import locale
import os
import sys


def use_utf8() -> None:
    """Start this command again in Python's UTF-8 mode where the locale has another encoding; then never again.

    Only the interpreter's start can choose how names of files are decoded. Does not return where it starts again.
    """
    if sys.flags.utf8_mode or _is_utf8(locale.getencoding()) or not sys.executable:
        return
    os.environ["PYTHONUTF8"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def settle_streams() -> None:
    """Let no character end a command: a terminal is written to in its own encoding, other letters as escapes."""
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
