"""The documents service: the program copyparty, which is loaded once and then forked."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import CodeType
from typing import Any

from .company_time import shift_process
from .ports import BEHIND, RUN

HEAD = '<script nonce="{{ js_nonce }}" src="/company-clock.js"></script>'
"""What every page of the documents has in its head."""


def load_documents() -> None:
    """Load copyparty's modules and compile its page templates. This takes four fifths of copyparty's start time."""
    for module in ("copyparty.__main__", "copyparty.svchub", "copyparty.broker_thr"):
        importlib.import_module(module)
    environment: Any = importlib.import_module("jinja2").Environment
    make, made = environment.compile, dict[tuple[object, ...], CodeType]()

    def once(self: Any, source: object, *rest: object, **named: object) -> CodeType:
        key = (source, *rest, *sorted(named.items()))
        if key not in made:
            made[key] = make(self, source, *rest, **named)
        return made[key]

    environment.compile = once  # all pages share one environment with these settings
    pages = Path(str(importlib.import_module("copyparty").__file__)).parent / "web"
    for page in sorted(pages.glob("*.html")) + sorted(pages.glob("*.xml")):
        environment().compile(page.read_text(encoding="utf-8"), page.name, None)


def serve_documents(state: Path, accounts: dict[str, str]) -> None:
    """Run copyparty with the folder of documents. Everybody with an account can use it."""
    main = importlib.import_module("copyparty.__main__").main
    lines = (RUN / "accounts.plain").read_text(encoding="utf-8").splitlines()
    people = ",".join([*accounts, "operator"])
    argv = [
        "copyparty",
        "-q",
        "--wram",
        "-i",
        "127.0.0.1",
        "-p",
        str(BEHIND["files"]),
        "-j",
        "1",
        "--http-only",
        "--daw",
    ]
    argv += ["--usernames", "--no-thumb", "--no-robots", "--no-db-ip", "--hist", str(RUN / "files"), "--no-crt"]
    argv += ["--rproxy", "1", "--xff-src", "127.0.0.1", "--no-ansi", "--ban-pw", "no"]
    argv += ["--ban-404", "no", "--ban-403", "no", "--ban-422", "no", "--ban-url", "no"]
    for line in lines:
        argv += ["-a", line]
    argv += ["-v", f"{state}/files::rwmd,{people}"]
    # A browser of today would drop a cookie that ends in the company's past; file times need `os.stat`.
    argv += ["--logout", "876000", "--no-scandir", "--html-head", f"%{HEAD}"]
    argv += ["--theme", "1", "-nih", "-nid", "--name", "Files", "--doctitle", "Files"]
    shift_process()
    sys.argv = argv
    os.environ["XDG_CONFIG_HOME"] = str(RUN / "config")
    os.environ["PRTY_CONFIG"] = ""
    main(argv)
