"""Capture of an agent's result from its box."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxes.capture.boxes import FolderBox
from sandboxes.capture.material import instance, write
from worksample.errors import POLICY, Cause
from worksample.files import ScanLimits
from worksample.records import CaptureStatus, SubmissionPart
from worksample.sandboxes.capture import CaptureLimits, capture_box, capture_parts
from worksample.sandboxes.capture.probes import ProbeLimits
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store", create=True) as opened:
        yield opened


def contents(store: Store, part: SubmissionPart) -> dict[str, str]:
    return {e.path: store.blobs.read(str(e.blob)).decode() for e in store.manifest(part.manifest).files}


async def test_output_is_captured_from_the_frozen_box(store: Store, tmp_path: Path) -> None:
    box = FolderBox(write(tmp_path / "out", {"report.csv": "a,b\n", "d/x": "1"}))
    parts = await capture_parts(box, store.blobs, instance(store, tmp_path))
    assert box.calls == ["freeze", "output_path", "thaw"]
    assert set(parts) == {"output"}
    assert contents(store, parts["output"]) == {"report.csv": "a,b\n", "d/x": "1"}
    assert (parts["output"].status, parts["output"].files, parts["output"].size) == (CaptureStatus.COMPLETE, 2, 5)


async def test_descriptor_path_is_followed_to_the_folder(store: Store, tmp_path: Path) -> None:
    out = write(tmp_path / "out", {"report.csv": "x"})
    fd = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    try:
        found = await capture_box(
            FolderBox(Path(f"/proc/{os.getpid()}/fd/{fd}")), store.blobs, instance(store, tmp_path)
        )
    finally:
        os.close(fd)
    assert contents(store, found.parts["output"]) == {"report.csv": "x"}
    (tmp_path / "link").symlink_to(out)
    linked = await capture_box(FolderBox(tmp_path / "link"), store.blobs, instance(store, tmp_path))
    assert (linked.parts["output"].status, linked.parts["output"].files) == (CaptureStatus.PARTIAL, 0)


async def test_probe_results_are_recorded(store: Store, tmp_path: Path) -> None:
    probes = {
        "state.py": "import json, os; print(json.dumps(sorted(os.listdir('.'))))",
        "words.sh": "echo plain words; pwd >/dev/null",
    }
    made = instance(store, tmp_path, probes=probes, names=("state", "words.sh"))
    box = FolderBox(write(tmp_path / "out", {"report.csv": "x", "json.py": "raise SystemExit('not this one')"}))
    found = await capture_box(box, store.blobs, made)
    assert box.calls == ["freeze", "output_path", "thaw", "run", "run"]
    assert found.parts["probes"].status is CaptureStatus.COMPLETE
    got = contents(store, found.parts["probes"])
    assert json.loads(got["state.json"]) == ["json.py", "report.csv"]
    assert got["words.txt"] == "plain words\n"
    assert set(found.seconds) == {"snapshot", "probes"}


async def test_probes_know_the_paths_of_the_box(store: Store, tmp_path: Path) -> None:
    code = "import os; print(os.environ['WORKSAMPLE_OUTPUT'], os.environ['WORKSAMPLE_INPUT'])"
    made = instance(store, tmp_path, probes={"p.py": code}, names=("p",))
    parts = await capture_parts(FolderBox(write(tmp_path / "out", {})), store.blobs, made)
    assert contents(store, parts["probes"]) == {"p.txt": "/task/output /task/input\n"}


async def test_endless_probe_is_ended(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path, probes={"slow.py": "import time; time.sleep(600)"}, names=("slow",))
    limits = CaptureLimits(probe=ProbeLimits(seconds=0.3))
    found = await capture_box(FolderBox(write(tmp_path / "out", {"a": "1"})), store.blobs, made, limits=limits)
    assert found.parts["output"].status is CaptureStatus.COMPLETE and found.cause is None
    assert "slow: the probe did not end within 0.3 seconds" in found.parts["probes"].reason


async def test_failing_probe_costs_only_itself(store: Store, tmp_path: Path) -> None:
    probes = {
        "good.py": "print(1)",
        "crash.py": "raise ValueError('b\\x07oom')",
        "chatty.py": "print('x' * 10_000)",
        "odd.txt": "not a script",
        "big.py": "#" * 5000,
    }
    names = ("good", "crash", "chatty", "odd.txt", "big", "missing")
    made = instance(store, tmp_path, probes=probes, names=names)
    limits = CaptureLimits(probe=ProbeLimits(seconds=120, output=5_000, script=4_000))
    found = await capture_box(FolderBox(write(tmp_path / "out", {"a": "1"})), store.blobs, made, limits=limits)
    assert found.parts["output"].status is CaptureStatus.COMPLETE
    assert found.cause is None
    part = found.parts["probes"]
    assert part.status is CaptureStatus.PARTIAL
    assert contents(store, part) == {"good.json": "1\n"}
    for text in (
        "crash: the probe ended with exit code 1",
        "chatty: the probe printed more than 5,000 bytes",
        "odd.txt: a probe must be a .py or .sh file",
        "big: the probe's script is larger than 4,000 bytes",
        "missing: there is no such script",
    ):
        assert text in part.reason
    assert part.reason.isprintable()


async def test_dead_box_is_still_scanned(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path, probes={"p.py": "print(1)"}, names=("p",))
    out = write(tmp_path / "out", {"report.csv": "x"})
    found = await capture_box(FolderBox(out, lost=("freeze", "thaw", "clear", "run")), store.blobs, made)
    output, probes = found.parts["output"], found.parts["probes"]
    assert contents(store, output) == {"report.csv": "x"}
    assert output.status is CaptureStatus.PARTIAL
    assert "could not be frozen" in output.reason
    assert (probes.status, probes.files) == (CaptureStatus.ABSENT, 0)
    assert "the box is gone" in probes.reason

    plain = instance(store, tmp_path / "plain")
    thawed = await capture_box(FolderBox(out, lost=("thaw",)), store.blobs, plain)
    assert thawed.parts["output"].status is CaptureStatus.COMPLETE

    gone = await capture_box(FolderBox(out, lost=("output_path",)), store.blobs, plain)
    assert gone.parts["output"].status is CaptureStatus.ABSENT
    assert gone.cause is Cause.SANDBOX_LOST


HOLD = """
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("held", flush=True)
signal.pause()
"""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """An output of two files, and a program with a write lease on one of them."""
    out = write(tmp_path / "out", {"free.txt": "f", "held.txt": "h"})
    program = subprocess.Popen([sys.executable, "-c", HOLD, out / "held.txt"], stdout=subprocess.PIPE)
    with program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"held\n"
        yield out, program
        program.kill()


async def test_processes_that_block_reading_are_killed_first(
    store: Store, tmp_path: Path, held: tuple[Path, subprocess.Popen[bytes]]
) -> None:
    box = FolderBox(held[0], holding=[held[1]])
    found = await capture_box(box, store.blobs, instance(store, tmp_path))
    assert box.calls == ["freeze", "output_path", "thaw", "clear", "output_path"]
    assert (found.cause, found.parts["output"].status) == (None, CaptureStatus.COMPLETE)
    assert contents(store, found.parts["output"]) == {"free.txt": "f", "held.txt": "h"}


async def test_unreadable_files_are_named_and_the_rest_captured(
    store: Store, tmp_path: Path, held: tuple[Path, subprocess.Popen[bytes]]
) -> None:
    found = await capture_box(FolderBox(held[0], lost=("clear",)), store.blobs, instance(store, tmp_path))
    part = found.parts["output"]
    assert (found.cause, part.status) == (Cause.CAPTURE_UNREADABLE, CaptureStatus.PARTIAL)
    assert contents(store, part) == {"free.txt": "f"}
    assert "cannot be read" in part.reason


async def test_missing_output_is_empty(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path)
    (tmp_path / "link").symlink_to("/etc")
    for path in (tmp_path / "gone", tmp_path / "link", Path("/etc/passwd")):
        found = await capture_box(FolderBox(path), store.blobs, made)
        part = found.parts["output"]
        assert (part.status, part.files, part.size) == (CaptureStatus.PARTIAL, 0, 0), path
        assert part.reason


async def test_expired_time_stops_the_capture(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path, probes={"p.py": "print(1)"}, names=("p",))
    box = FolderBox(write(tmp_path / "out", {"a": "1"}))
    found = await capture_box(box, store.blobs, made, limits=CaptureLimits(seconds=0))
    assert (found.cause, found.parts["output"].status) == (Cause.CAPTURE_TIME, CaptureStatus.PARTIAL)


async def test_busy_machine_fails_the_capture_and_not_the_agent(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path, probes={"p.py": "print(1)"}, names=("p",))
    box = FolderBox(write(tmp_path / "out", {"a": "1"}))
    found = await capture_box(box, store.blobs, made, limits=CaptureLimits(backstop=0))
    assert found.cause is Cause.CAPTURE_FAILED and not POLICY[found.cause].graded
    assert "too busy" in found.parts["output"].reason and "no time was left" in found.parts["probes"].reason
    assert "run" not in box.calls
    starved = await capture_box(FolderBox(tmp_path / "out", starving=True), store.blobs, made)
    assert "too busy" in starved.parts["probes"].reason and starved.cause is None


async def test_probe_finds_room_in_a_crowded_box(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path, probes={"p.py": "print(1)"}, names=("p",))
    box = FolderBox(write(tmp_path / "out", {"a": "1"}), crowded=True)
    found = await capture_box(box, store.blobs, made)
    assert box.calls == ["freeze", "output_path", "thaw", "run", "clear", "run"]
    assert contents(store, found.parts["probes"]) == {"p.json": "1\n"}


def test_output_closed_by_its_owner_is_opened(tmp_path: Path) -> None:
    """As an ordinary user: root may read everything anyway."""
    out = write(tmp_path / "out", {"a": "1"})
    for path in (out, out / "a"):
        path.chmod(0)
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)
    if os.geteuid() == 0:
        for parent in (tmp_path, *tmp_path.parents):
            if parent == Path(tempfile.gettempdir()):
                break
            parent.chmod(parent.stat().st_mode | 0o755)
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from worksample.sandboxes.capture.box_capture import _scan_folder\n"
        "from worksample.files import HashSink, ScanLimits\n"
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "fd = os.open(sys.argv[1], os.O_PATH)\n"
        "for way in (sys.argv[1], f'/proc/{os.getpid()}/fd/{fd}'):\n"
        "    os.chmod(sys.argv[1], 0)\n"
        "    found = _scan_folder(Path(way), HashSink(), ScanLimits())\n"
        "    print(found.status.value, [(e.path, e.size) for e in found.manifest.entries])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, out], capture_output=True, text=True, check=True)
    assert done.stdout == "complete [('a', 1)]\n" * 2


async def test_exceeded_limit_has_its_cause(store: Store, tmp_path: Path) -> None:
    box = FolderBox(write(tmp_path / "out", {f"{n}": "x" for n in range(9)}))
    limits = CaptureLimits(scan=ScanLimits(files=5))
    found = await capture_box(box, store.blobs, instance(store, tmp_path), limits=limits)
    assert (found.cause, found.parts["output"].files) == (Cause.CAPTURE_TOO_MANY, 5)
    assert found.parts["output"].status is CaptureStatus.PARTIAL


@pytest.mark.box
async def test_real_box_is_captured(store: Store, tmp_path: Path) -> None:
    """Probes see the box's own processes and paths, and the interpreter is one that the agent cannot replace."""
    from worksample.box import BoxConfig
    from worksample.sandboxes import open_box

    probes = {
        "state.py": "import json, os, sys\n"
        "names = sorted(os.listdir(os.environ['WORKSAMPLE_OUTPUT']))\n"
        "print(json.dumps({'names': names, 'writable': os.access(sys.executable, os.W_OK)}))\n",
        "left.sh": "cat /task/scratch/left-behind",
    }
    made = instance(store, tmp_path, probes=probes, names=("state", "left"))
    async with open_box(BoxConfig()) as box:
        await box.write("/task/output/report.csv", b"a,b")
        left = "echo still here > /task/scratch/left-behind; ln -s /etc/passwd /task/output/link; mkfifo /task/output/p"
        await box.run(["/bin/sh", "-c", left])
        found = await capture_box(box, store.blobs, made)
        assert (await box.run(["/bin/true"])).returncode == 0, "the box goes on"
    output = found.parts["output"]
    assert output.status is CaptureStatus.COMPLETE
    assert contents(store, output) == {"report.csv": "a,b"}
    assert [e.kind.value for e in store.manifest(output.manifest).entries] == ["link", "other", "file"]
    got = contents(store, found.parts["probes"])
    assert json.loads(got["state.json"]) == {"names": ["link", "p", "report.csv"], "writable": False}
    assert got["left.txt"] == "still here\n"
