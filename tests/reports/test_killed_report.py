"""A report killed while written leaves the old or the new one complete."""

from __future__ import annotations

import hashlib
import os
import re
import signal
from pathlib import Path

import pytest

from cli.run_cli import cli
from reports.test_leaderboard_and_site import run
from store import worlds
from worksample.files.swap_folder import replace_folder
from worksample.store import Store

MADE = rb"\d{4}-\d\d-\d\d \d\d:\d\d UTC"


@pytest.fixture
def where(tmp_path: Path) -> Path:
    store = worlds.planted(Store.open(tmp_path / "store", create=True), worlds.World())
    run(store, worlds.World(), 0, 1.0, report__txt=b"done")
    store.close()
    return tmp_path / "store"


def digest(folder: Path) -> dict[str, str]:
    """Of every file, but for the minute in which it was made."""
    files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    return {name: hashlib.sha256(re.sub(MADE, b"", data)).hexdigest() for name, data in files.items()}


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def write(store: Path, out: Path, fault: str = "") -> int:
    done = cli("report", "--store", store, "--out", out, env={"WORKSAMPLE_FAULT": fault} if fault else None)
    return done.returncode


@pytest.mark.quick("report.page:kill:4-old")
@pytest.mark.parametrize(
    ("fault", "stands"),
    [
        ("report.page:kill:1", "old"), ("report.page:kill:4", "old"), ("folder.written:kill", "old"),
        ("folder.swapped:kill", "new"),
    ],
)  # fmt: skip
def test_kill_leaves_the_old_or_the_new_report(where: Path, tmp_path: Path, fault: str, stands: str) -> None:
    out, fresh = tmp_path / "out", tmp_path / "fresh"
    assert write(where, out) == 0
    (out / "mine.txt").write_text("kept")
    old = digest(out)
    with Store.open(where) as store:
        run(store, worlds.World(), 1, 0.0, report__txt=b"worse")
    assert write(where, fresh) == 0
    new = digest(fresh)
    assert new.keys() - old.keys()
    assert write(where, out, fault) == -signal.SIGKILL
    killed = digest(out)
    assert killed == (old if stands == "old" else new)
    assert write(where, out) == 0
    assert digest(out) == {**new, "mine.txt": old["mine.txt"]}
    assert not [name for name in names(tmp_path) if name.startswith(".")]


@pytest.mark.quick("folder.written:kill")
@pytest.mark.parametrize("fault", ["report.page:kill:2", "folder.written:kill"])
def test_kill_of_the_first_report_leaves_none(where: Path, tmp_path: Path, fault: str) -> None:
    out = tmp_path / "out"
    assert write(where, out, fault) == -signal.SIGKILL
    assert not out.exists()
    assert write(where, out) == 0
    assert (out / "index.html").exists()
    assert not [name for name in names(tmp_path) if name.startswith(".")]


def test_failure_leaves_the_existing_report(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir(mode=0o750)
    (out / "old").write_text("old")
    with pytest.raises(KeyError), replace_folder(out) as folder:
        (folder / "new").write_text("new")
        raise KeyError
    assert names(out) == ["old"]
    assert names(tmp_path) == ["out"]


def test_files_missing_in_the_new_folder_are_carried_over(tmp_path: Path) -> None:
    out, kept = tmp_path / "out", tmp_path / "kept"
    kept.mkdir()
    (out / "sub").mkdir(parents=True)
    (out / "sub/mine").write_text("mine")
    (out / "sub/page").write_text("old")
    (out / "link").symlink_to(kept)
    out.chmod(0o750)
    with replace_folder(out) as folder:
        (folder / "sub").mkdir()
        (folder / "sub/page").write_text("new")
    assert {p: (out / p).read_text() for p in ("sub/mine", "sub/page")} == {"sub/mine": "mine", "sub/page": "new"}
    assert (out / "link").readlink() == kept
    assert out.stat().st_mode & 0o777 == 0o750
    assert names(tmp_path) == ["kept", "out"]


def test_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    with replace_folder(tmp_path / "out") as folder:
        (folder / "page").write_text("new")
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "real/page").read_text() == "new"


def test_current_folder_is_written_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inode = tmp_path.stat().st_ino
    with replace_folder(Path()) as folder:
        assert folder == tmp_path.resolve()
    assert tmp_path.stat().st_ino == inode


def test_two_processes_do_not_share_drafts(tmp_path: Path) -> None:
    """A child holds its draft while the parent writes: the parent's report stands, then the child's."""
    out = tmp_path / "out"
    told, tell = os.pipe()
    with replace_folder(out) as folder:
        (folder / "page").write_text("parent")
        child = os.fork()
        if child == 0:
            try:
                with replace_folder(out) as mine:
                    (mine / "page").write_text("child")
                    os.write(tell, b"1")
            finally:
                os._exit(0)
        assert os.read(told, 1) == b"1"
        assert os.waitpid(child, 0)[1] == 0
        assert (out / "page").read_text() == "child"
    assert (out / "page").read_text() == "parent"
    assert names(tmp_path) == ["out"]
