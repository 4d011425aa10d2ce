"""Exports: complete or absent whatever kills the writer, and refused if changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from worksample.errors import ExportError, UsageError
from worksample.workplace.export_folder import is_export, read_export, write_export
from worksample.workplace.state_compatibility import write_stamp

NAMES = ("files", "git")
ACCOUNTS = {"rosa": "a-password-of-rosa"}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    root = tmp_path / "workplace"
    (root / "files/deep").mkdir(parents=True)
    (root / "git").mkdir()
    (root / "git/HEAD").write_text("ref")
    (root / "files/deep/a.txt").write_bytes(b"a" * 3_000_000)
    (root / "files/passwd").symlink_to("/etc/passwd")
    write_stamp(root, "0" * 64, NAMES, datetime(2026, 3, 2, 9, tzinfo=UTC))
    return root


def test_written_export_is_read_back(state: Path, tmp_path: Path) -> None:
    """Links that an agent left lead nowhere: they are not taken along."""
    to = tmp_path / "export"
    assert write_export(state, ACCOUNTS, to) == 4
    assert is_export(to)
    seed, names = read_export(to)
    assert (seed.accounts, set(names)) == (ACCOUNTS, set(NAMES))
    assert (seed.state / "files/deep/a.txt").read_bytes() == b"a" * 3_000_000
    assert not (seed.state / "files/passwd").exists()
    assert (to / "accounts.json").stat().st_mode & 0o077 == 0
    with pytest.raises(UsageError, match="exists already"):
        write_export(state, ACCOUNTS, to)


def changed(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda root: (root / name).write_bytes(data)


def later(root: Path) -> None:
    said = json.loads((root / "export.json").read_text())
    (root / "export.json").write_text(json.dumps({**said, "format": 99}))


def linked(root: Path) -> None:
    (root / "state/git/HEAD").unlink()
    (root / "state/git/HEAD").symlink_to("/etc/passwd")


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "without its list": (lambda root: (root / "export.json").unlink(), "incomplete: export.json"),
    "half a list": (changed("export.json", b'{"format": 1, "fi'), "incomplete: export.json"),
    "a file is gone": (lambda root: (root / "state/git/HEAD").unlink(), "incomplete: state/git/HEAD is missing"),
    "half a file": (changed("state/files/deep/a.txt", b"a"), "was changed after the export"),
    "a file too many": (changed("state/files/new", b""), "state/files/new was changed after the export"),
    "a link for a file": (linked, "was changed after the export"),
    "of a later version": (later, "another version"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_changed_export_is_refused(state: Path, tmp_path: Path, fault: str) -> None:
    to = tmp_path / "export"
    write_export(state, ACCOUNTS, to)
    change, said = FAULTS[fault]
    change(to)
    assert is_export(to)
    with pytest.raises(ExportError, match=said) as told:
        read_export(to)
    assert told.value.next


WRITE = """
import json, sys
from pathlib import Path
from worksample.workplace.export_folder import write_export
write_export(Path(sys.argv[1]), {}, Path(sys.argv[2]))
"""


@pytest.mark.quick("export.state")
@pytest.mark.parametrize("point", ["export.state", "export.listed"])
def test_killed_export_is_no_export(state: Path, tmp_path: Path, point: str) -> None:
    to = tmp_path / "exports" / "one"
    to.parent.mkdir()
    killed = subprocess.run(
        [sys.executable, "-c", WRITE, str(state), str(to)],
        env={**os.environ, "WORKSAMPLE_FAULT": f"{point}:kill"}, capture_output=True, check=False,
    )  # fmt: skip
    assert killed.returncode == -9
    assert not to.exists()
    [left] = to.parent.iterdir()
    if point == "export.state":
        with pytest.raises(ExportError, match="incomplete"):
            read_export(left)
    write_export(state, ACCOUNTS, to)
    read_export(to)
