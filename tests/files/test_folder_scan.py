"""Scans of hostile folders."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample.errors import CaptureError, Cause
from worksample.files import HashSink, Scan, ScanLimits, read_manifest, scan
from worksample.files.folder_scanner import cause_of_unreadable
from worksample.records import CaptureStatus, Entry, EntryKind, canonical, unquote_path


class Shelf(HashSink):
    """Keeps everything in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        digest = super().put(data)
        self.kept[digest] = data
        return digest

    def put_file(self, fd: int, size: int) -> str:
        with os.fdopen(os.dup(fd), "rb", buffering=0) as f:
            return self.put(f.read(size))


def entry(found: Scan, path: str) -> Entry:
    got = found.manifest.find(path)
    assert got is not None, [e.path for e in found.manifest.entries]
    return got


def test_plain_folder_is_scanned(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_bytes(b"hello")
    (tmp_path / "run.sh").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "run.sh").chmod(0o755)
    shelf = Shelf()
    found = scan(tmp_path, shelf)
    assert (found.status, found.reason, found.cause) == (CaptureStatus.COMPLETE, "", None)
    assert [(e.path, e.kind, e.size) for e in found.manifest.entries] == [
        ("a", EntryKind.FOLDER, 0),
        ("a/b.txt", EntryKind.FILE, 5),
        ("run.sh", EntryKind.FILE, 10),
    ]
    assert entry(found, "a/b.txt").blob == hashlib.sha256(b"hello").hexdigest()
    assert entry(found, "run.sh").executable
    assert shelf.kept[found.manifest_digest] == canonical(found.manifest.plain())
    assert read_manifest(shelf.kept[found.manifest_digest]) == found.manifest
    assert found.manifest.digest == found.manifest_digest


def test_missing_folder_and_plain_file_are_handled(tmp_path: Path) -> None:
    missing = scan(tmp_path / "none", HashSink())
    assert (missing.status, missing.cause, missing.manifest.entries) == (CaptureStatus.ABSENT, None, ())
    assert "no such folder" in missing.reason
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        found = scan(tmp_path / name, HashSink())
        assert (found.status, found.cause) == (CaptureStatus.ABSENT, Cause.CAPTURE_UNREADABLE)
        assert found.reason


def test_links_are_text_and_never_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("do not take me")
    out = tmp_path / "out"
    out.mkdir()
    (out / "to-file").symlink_to(secret / "key")
    (out / "to-folder").symlink_to("../secret")
    (out / "loop").symlink_to("loop")
    (out / "odd").symlink_to(os.fsdecode(b"\xff\n"))
    shelf = Shelf()
    found = scan(out, shelf)
    assert found.status is CaptureStatus.COMPLETE
    assert {e.path: e.target for e in found.manifest.entries} == {
        "loop": "loop",
        "odd": "%FF%0A",
        "to-file": str(secret / "key"),
        "to-folder": "../secret",
    }
    assert not any(b"do not take me" in data for data in shelf.kept.values())


def test_pipes_sockets_and_devices_are_listed_by_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    here = socket.socket(socket.AF_UNIX)
    here.bind(str(tmp_path / "sock"))
    expected = {"pipe": "a pipe", "sock": "a socket"}
    if os.geteuid() == 0:
        os.mknod(tmp_path / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        expected["null"] = "a character device"
    found = scan(tmp_path, HashSink())
    here.close()
    assert {e.path: e.note for e in found.manifest.entries} == expected
    assert all(e.kind is EntryKind.OTHER and e.blob is None for e in found.manifest.entries)
    assert found.status is CaptureStatus.COMPLETE


_name = st.binary(min_size=1, max_size=40).filter(lambda n: b"/" not in n and b"\0" not in n and n not in (b".", b".."))


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(_name, st.binary(max_size=20), max_size=8))
def test_any_name_is_kept(tmp_path_factory: pytest.TempPathFactory, files: dict[bytes, bytes]) -> None:
    folder = tmp_path_factory.mktemp("names")
    for name, data in files.items():
        (folder / os.fsdecode(name)).write_bytes(data)
    shelf = Shelf()
    found = scan(folder, shelf)
    assert {unquote_path(e.path): shelf.kept[str(e.blob)] for e in found.manifest.entries} == files


def test_files_beyond_the_limit_are_left_out(tmp_path: Path) -> None:
    for i in range(30):
        (tmp_path / f"{i:02}").write_bytes(b"x")
    found = scan(tmp_path, HashSink(), ScanLimits(files=10))
    assert len(found.manifest.entries) == 10
    assert (found.status, found.cause) == (CaptureStatus.PARTIAL, Cause.CAPTURE_TOO_MANY)
    assert "more than 10 entries" in found.reason
    assert scan(tmp_path, HashSink(), ScanLimits(files=30)).status is CaptureStatus.COMPLETE


def test_names_unfit_for_a_manifest_are_quoted(tmp_path: Path) -> None:
    """A hundred thousand names of 3,000 characters would be a manifest of 300 MB, and several times that in memory."""
    for i in range(30):
        (tmp_path / f"{i:0200}").write_bytes(b"x")
        (tmp_path / f"link-{i:02}").symlink_to("y" * 1000)
    found = scan(tmp_path, HashSink(), ScanLimits(names=10_000))
    assert sum(len(e.path) + len(e.target or "") for e in found.manifest.entries) <= 10_000 + 1_200
    assert (found.status, found.cause) == (CaptureStatus.PARTIAL, Cause.CAPTURE_TOO_MANY)
    assert "characters of names" in found.reason
    assert scan(tmp_path, HashSink()).status is CaptureStatus.COMPLETE


def test_scan_ends_when_its_time_is_over(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    found = scan(tmp_path, HashSink(), ScanLimits(seconds=0))
    assert (found.status, found.cause, found.manifest.entries) == (CaptureStatus.PARTIAL, Cause.CAPTURE_TIME, ())


def test_machine_short_of_resources_is_to_blame() -> None:
    assert cause_of_unreadable(OSError(errno.EMFILE, "")) is Cause.CAPTURE_FAILED
    assert cause_of_unreadable(OSError(errno.EAGAIN, "")) is Cause.CAPTURE_UNREADABLE
    assert cause_of_unreadable(OSError(0, "it changed its kind")) is Cause.CAPTURE_UNREADABLE


def test_bytes_beyond_the_limit_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 60)
    (tmp_path / "b").write_bytes(b"x" * 60)
    (tmp_path / "c").write_bytes(b"x" * 30)
    found = scan(tmp_path, HashSink(), ScanLimits(bytes=100))
    assert [(e.path, e.blob is not None) for e in found.manifest.entries] == [("a", True), ("b", False), ("c", True)]
    assert entry(found, "b").size == 60
    assert "exceeds" in entry(found, "b").note
    assert (found.status, found.cause) == (CaptureStatus.PARTIAL, Cause.CAPTURE_TOO_LARGE)


def test_file_with_many_names_is_read_once_and_counted_each_time(tmp_path: Path) -> None:
    reads: list[int] = []

    class Reading(HashSink):
        def put_file(self, fd: int, size: int) -> str:
            reads.append(size)
            return super().put_file(fd, size)

    (tmp_path / "a").write_bytes(b"x" * 100)
    for name in "bcdef":
        os.link(tmp_path / "a", tmp_path / name)
    (tmp_path / "z").write_bytes(b"y" * 100)
    found = scan(tmp_path, Reading(), ScanLimits(bytes=450))
    assert reads == [100]
    assert [(e.size, e.blob) for e in found.manifest.files if e.blob] == [
        (100, hashlib.sha256(b"x" * 100).hexdigest())
    ] * 4
    assert (found.status, found.cause) == (CaptureStatus.PARTIAL, Cause.CAPTURE_TOO_LARGE)


def test_huge_sparse_file_is_neither_read_nor_stored(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as f:
        f.truncate(1 << 42)
    (tmp_path / "small").write_bytes(b"x")
    found = scan(tmp_path, HashSink())
    assert (entry(found, "huge").blob, entry(found, "huge").size) == (None, 1 << 42)
    assert found.manifest.size == 1
    assert entry(found, "small").blob
    assert found.cause is Cause.CAPTURE_TOO_LARGE


def test_deep_nesting_and_long_paths_are_bounded(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(200):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    found = scan(tmp_path, HashSink())
    assert len(found.manifest.entries) == 64
    assert (found.status, found.cause) == (CaptureStatus.PARTIAL, Cause.CAPTURE_TOO_MANY)
    assert "deeper than 64" in found.reason
    wide = scan(tmp_path, HashSink(), ScanLimits(depth=1000, path=100))
    assert max(len(e.path) for e in wide.manifest.entries) <= 100
    assert "too long" in wide.reason


def test_unreadable_files_and_folders_are_read_and_restored(tmp_path: Path) -> None:
    """As an ordinary user: root may read everything anyway."""
    folder = tmp_path / "out"
    (folder / "shut").mkdir(parents=True)
    (folder / "shut" / "inner").write_bytes(b"in")
    (folder / "file").write_bytes(b"out")
    (folder / "file").chmod(0)
    (folder / "shut").chmod(0)
    if os.geteuid() == 0:
        for path in (folder, folder / "file", folder / "shut"):
            os.chown(path, 65534, 65534)
        for parent in [tmp_path, *tmp_path.parents]:
            if parent == Path(tempfile.gettempdir()):
                break
            parent.chmod(parent.stat().st_mode | 0o755)
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from worksample.files import HashSink, scan\n"
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "f = scan(Path(sys.argv[1]), HashSink())\n"
        "print(f.status.value, [(e.path, e.size, e.note) for e in f.manifest.entries])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert done.stdout == "complete [('file', 3, ''), ('shut', 0, ''), ('shut/inner', 2, '')]\n"
    assert stat.S_IMODE((folder / "file").stat().st_mode) == 0
    assert stat.S_IMODE((folder / "shut").stat().st_mode) == 0


def test_growing_file_is_bounded_and_marked(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * 1000)

    class Feeding(HashSink):
        def put_file(self, fd: int, size: int) -> str:
            with path.open("ab") as f:
                f.write(b"y" * 5000)
            return super().put_file(fd, size)

    found = scan(tmp_path, Feeding())
    assert entry(found, "log").size == 1000
    assert "changed" in entry(found, "log").note
    assert (found.status, found.cause) == (CaptureStatus.PARTIAL, None)


def test_names_swapped_during_the_scan_lead_nowhere(tmp_path: Path) -> None:
    """An agent that was not frozen swaps a file for a link over and over: its target is never read."""
    secret = tmp_path / "secret"
    secret.write_text("do not take me")
    out = tmp_path / "out"
    out.mkdir()
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (out / "new").write_text("plain")
            (out / "new").replace(out / "x")
            (out / "new").symlink_to(secret)
            (out / "new").replace(out / "x")

    thread = threading.Thread(target=swap)
    thread.start()
    shelf = Shelf()
    for _ in range(200):
        scan(out, shelf)
    stop.set()
    thread.join()
    assert not any(b"do not take me" in data for data in shelf.kept.values())


@pytest.mark.thorough(quick="files/test_folder_scan.py::test_files_beyond_the_limit_are_left_out")
@pytest.mark.long
def test_hundred_thousand_files_are_scanned(tmp_path: Path) -> None:
    for i in range(1000):
        (tmp_path / f"{i}").mkdir()
        for j in range(100):
            (tmp_path / f"{i}" / f"{j}").touch()
    found = scan(tmp_path, HashSink())
    assert len(found.manifest.entries) == 100_000
    assert found.cause is Cause.CAPTURE_TOO_MANY


def test_open_folder_can_be_scanned_twice(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert scan(fd, HashSink()) == scan(fd, HashSink()) == scan(tmp_path, HashSink())
    finally:
        os.close(fd)


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "f").write_bytes(b"x")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for limits in (ScanLimits(), ScanLimits(depth=1), ScanLimits(files=1), ScanLimits(bytes=0)):
        scan(tmp_path, HashSink(), limits)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("data", [b"", b"[]", b'{"entries": [{"path": "../x"}]}', b"\xff"])
def test_invalid_manifest_is_refused(data: bytes) -> None:
    with pytest.raises(CaptureError, match="not a valid manifest"):
        read_manifest(data)


def test_other_file_systems_are_not_entered() -> None:
    """`/dev` has file systems of its own below it on any machine that runs these tests: memory, terminals."""
    inner = Path("/dev/shm")
    if not inner.is_mount() or not os.access(inner, os.W_OK):
        pytest.skip("nothing is mounted at /dev/shm")
    with tempfile.TemporaryDirectory(dir=inner, prefix="worksample-scan-") as folder:
        file = Path(folder) / "file"
        file.write_text("here")
        found = scan(Path("/dev"), HashSink())
        names = {e.path for e in found.manifest.entries}
        assert "shm" in names
        assert not [n for n in names if n.startswith(("shm/", "pts/"))]
        assert entry(found, "shm").note == "another file system is mounted here, its contents are left out"
        inside = scan(Path(folder), HashSink())
        assert [e.path for e in inside.manifest.entries] == ["file"]
