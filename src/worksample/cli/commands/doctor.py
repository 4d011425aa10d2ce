"""`worksample doctor`."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from worksample.cli.exit_codes import FAILED
from worksample.cli.output import json_option, say_json, store_option, table

SPACE = 2 << 30
"""Number of bytes of free disk space below which the check warns that a run may fail."""


@dataclass(frozen=True)
class Symptom:
    """Result of one check of this machine. If `ok` is False, no run can start until the user has typed the command
    `next`.
    """

    name: str
    ok: bool
    says: str
    next: str = ""


@click.command("doctor")
@store_option
@json_option
def command(store: str | None, as_json: bool | None) -> int:
    """Show what this machine has and what it lacks.

    If no sandbox is available, prints the command that installs one and exits with code 1.
    """
    found = [_python(), _inspect(), *_sandbox(), _space(store), _store(store), *_viewers()]
    healthy = all(s.ok for s in found)
    if as_json:
        say_json({"ok": healthy, "found": [asdict(s) for s in found]})
    else:
        table("", ("", "check", "result"), [("ok" if s.ok else "MISSING", s.name, s.says) for s in found])
        for symptom in found:
            if symptom.next:
                click.echo(f"{symptom.name}\n  next: {symptom.next}")
        if healthy:
            click.echo("ready\n  next: worksample demo")
    return 0 if healthy else FAILED


def _python() -> Symptom:
    return Symptom("python", True, f"{platform.python_version()} on {platform.system()} {platform.release()}")


def _inspect() -> Symptom:
    from importlib.metadata import version

    return Symptom("inspect_ai", True, version("inspect_ai"))


def _sandbox() -> list[Symptom]:
    from worksample.sandboxes import available

    here = available()
    if not here:
        return [Symptom("sandbox", False, here.reason, here.next)]
    how = "as root" if here.root else "rootless, in user namespaces"
    groups = f"cgroup v{here.cgroup}" if here.cgroup else "a watchdog (no control groups can be written)"
    return [
        Symptom("sandbox", True, f"bubblewrap {here.version}, {how}"),
        Symptom("memory and processes", True, f"limited by {groups}"),
        Symptom("freezing", True, here.freezer),
        Symptom("disk", True, here.disk),
        _libraries(),
    ]


def _libraries() -> Symptom:
    """Check whether the agents' Python libraries are installed. If not, the first run downloads them."""
    from worksample.errors import SandboxUnavailable
    from worksample.sandboxes.python_toolbox import DOWNLOAD_SIZE, needs_download
    from worksample.sandboxes.toolbox_download import installer

    if not needs_download():
        return Symptom("agents' Python", True, "its libraries are installed")
    try:
        by = installer()
    except SandboxUnavailable as error:
        return Symptom("agents' Python", False, error.what, error.next)
    return Symptom(
        "agents' Python", True, f"the first run fetches its libraries by {Path(by[0]).name}: {DOWNLOAD_SIZE}"
    )


def _viewers() -> list[Symptom]:
    """Check whether the converters of the review app are installed. The app shows a card instead of a file whose
    converter is missing.
    """
    from worksample.viewing import converter_requirements as needs
    from worksample.viewing.format_table import formats

    lacking = needs.missing(tuple(needs.NEEDS))
    if not lacking:
        return [Symptom("viewers", True, f"all {len(formats())} kinds of files can be shown")]
    titles = sorted({f.title for f in formats() if not f.here})
    says = f"{', '.join(needs.NEEDS[name].title for name in lacking)} missing"
    if titles:
        says += f"; not shown: {', '.join(titles)}"
    line = needs.install_line(lacking)
    return [Symptom("viewers", True, says, f"{line}  (only needed for judging by people)")]


def _space(store: str | None) -> Symptom:
    where = Path(store or os.environ.get("WORKSAMPLE_STORE") or ".")
    while not where.exists():
        where = where.parent
    free = shutil.disk_usage(where).free
    says = f"{free / (1 << 30):.1f} GiB free at {where.resolve()}"
    if free < SPACE:
        return Symptom("disk space", True, says, f"free some space: less than {SPACE >> 30} GiB may not be enough")
    return Symptom("disk space", True, says)


def _store(store: str | None) -> Symptom:
    from worksample.errors import StoreError
    from worksample.store import Store

    try:
        opened = Store.open(store)
    except StoreError as error:
        return Symptom("store", True, f"none yet ({error.what}); the first run creates it")
    from worksample.records import Experiment

    try:
        return Symptom("store", True, _count_files(len(opened.find(Experiment))))
    finally:
        opened.close()


def _count_files(experiments: int) -> str:
    return "1 experiment" if experiments == 1 else f"{experiments} experiments"
