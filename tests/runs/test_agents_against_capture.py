"""Agents that try to prevent the capture of their work: the result counts as their own outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runs.material import Setting, setting
from worksample.errors import Cause
from worksample.records import CaptureStatus, Limits, Submission, SubmissionPart, Trial

pytestmark = pytest.mark.box

HELLO = {"run": "echo hello > {output}/hello.txt"}
SMALL = Limits(time=120, memory=512 << 20, disk=64 << 20, processes=128)

LEASE = """
import fcntl, os, signal, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
fd = os.open("{output}/held.txt", os.O_RDWR | os.O_CREAT, 0o600)
os.write(fd, b"held")
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("on", flush=True)
time.sleep(600)
"""
GROW = """
print("on", flush=True)
f = open("{output}/grow", "w")
while True:
    f.write("x" * 1000)
    f.flush()
"""
FORKS = """
import os
print("on", flush=True)
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
EATS = "print('on', flush=True)\nkept = []\nwhile True:\n    kept.append(bytearray(10_000_000))"


def behind(code: str) -> dict[str, str]:
    """A program that goes on when the agent has ended; the step waits until it has begun."""
    return {
        "run": f"cat > /tmp/on.py <<'END'\n{code}\nEND\n"
        "setsid python /tmp/on.py > /tmp/log 2>&1 < /dev/null &\n"
        "for i in $(seq 600); do grep -q on /tmp/log && break; sleep 0.1; done; cat /tmp/log"
    }


def python(code: str) -> dict[str, str]:
    return {"python": code}


COMPLETE, PARTIAL = CaptureStatus.COMPLETE, CaptureStatus.PARTIAL
ENDS: dict[str, tuple[dict[str, str], CaptureStatus]] = {
    "a write lease": (behind(LEASE), COMPLETE),
    "a lease among forks": (behind(LEASE.replace("print", "os.fork() or os.fork(); print")), COMPLETE),
    "sparse files of eight exabytes": (
        {"run": "truncate -s 9223372036854775807 {output}/a {output}/b; truncate -s 4T {output}/c"},
        PARTIAL,
    ),
    "a sparse file of a gigabyte": ({"run": "truncate -s 1G {output}/a"}, COMPLETE),
    "shut": ({"run": "mkdir {output}/d; touch {output}/d/x; chmod 0 {output}/d/x {output}/d {output}"}, COMPLETE),
    "links, pipes and sockets": (
        {"run": "cd {output}; ln -s /etc/shadow s; ln -s . loop; mkfifo p; ln hello.txt hard; mknod n p"},
        COMPLETE,
    ),
    "deep": (
        python("import os\nos.chdir('{output}')\nfor _ in range(1500):\n    os.mkdir('d')\n    os.chdir('d')"),
        PARTIAL,
    ),
    "long names": (
        python(
            "import os\nos.chdir('{output}')\n"
            "for _ in range(20):\n    os.mkdir(b'\\xff' * 255)\n    os.chdir(b'\\xff' * 255)"
        ),
        PARTIAL,
    ),
    "many hard links": (
        python(
            "import os\nopen('{output}/big', 'wb').write(b'x' * (50 << 20))\n"
            "for i in range(100):\n    os.link('{output}/big', '{output}/%d' % i)"
        ),
        PARTIAL,
    ),
    "growing": (behind(GROW), COMPLETE),
    "a full disk": ({"run": "yes | head -c 200000000 > {output}/full; yes > /tmp/full; true"}, COMPLETE),
    "forks without end": (behind(FORKS), COMPLETE),
    "memory without end": (behind(EATS), COMPLETE),
    "attributes": (
        python(
            "import os\nfor i in range(2000):\n    try:\n"
            "        os.setxattr('{output}/hello.txt', f'user.{i}', b'x' * 60000)\n"
            "    except OSError:\n        break\nos.system('chattr +i {output}/hello.txt; chattr +a {output}')"
        ),
        COMPLETE,
    ),
}


def output(at: Setting, trial: Trial) -> SubmissionPart:
    return at.store.get(Submission, trial.id).parts["output"]


@pytest.mark.quick(
    "a full disk",
    "a lease among forks",
    "a write lease",
    "attributes",
    "deep",
    "forks without end",
    "growing",
    "links, pipes and sockets",
    "long names",
    "many hard links",
    "memory without end",
    "shut",
    "sparse files of eight exabytes",
)
@pytest.mark.parametrize("name", sorted(ENDS))
async def test_obstruction_at_the_end_is_the_agents_outcome(tmp_path: Path, name: str) -> None:
    step, status = ENDS[name]
    at = setting(tmp_path, [HELLO, step], limits=SMALL)
    (trial,) = await at.run(tries=2)
    assert trial.outcome.finished, trial.outcome
    part = output(at, trial)
    assert part.status is status, part.reason
    assert bool(part.reason) == (status is PARTIAL)
    assert at.output(trial)["hello.txt"] == b"hello\n"
    if "lease" in name:
        assert at.output(trial)["held.txt"].startswith(b"held")


async def test_output_folder_cannot_be_removed(tmp_path: Path) -> None:
    step = {"run": "rm -rf {output}; mv {output} /tmp/o; ln -s /etc {output}; umount {output}; true"}
    at = setting(tmp_path, [HELLO, step], limits=SMALL)
    (trial,) = await at.run(tries=2)
    assert trial.outcome.finished
    assert (output(at, trial).status, at.output(trial)) == (COMPLETE, {})


FORGED = """
import os, subprocess, sys, time
at = "{scratch}/.kernel/socket"
forger = '''
import os, socket, sys
os.rename(sys.argv[1], sys.argv[1] + ".old")
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
while True:
    peer, _ = listener.accept()
    peer.recv(1 << 20)
    peer.sendall(b"[" * 100_000 + bytes([10]))
    peer.close()
'''
subprocess.Popen([sys.executable, "-c", forger, at])
while not (os.path.exists(at + ".old") and os.path.exists(at)):
    time.sleep(0.01)
"""


async def test_nonsense_from_a_kernel_is_a_failed_tool(tmp_path: Path) -> None:
    """The agent owns the kernel that answers its cells: 100,000 brackets are more than a parser of JSON can take."""
    at = setting(tmp_path, [HELLO, python(FORGED), python("1 + 1"), {"view": "{output}/a.png"}], limits=SMALL)
    (trial,) = await at.run(tries=2)
    assert trial.outcome.finished, trial.outcome
    assert at.output(trial) == {"hello.txt": b"hello\n"}
    part = at.store.get(Submission, trial.id).parts["trajectory"]
    entry = at.store.manifest(part.manifest).find("trajectory.json")
    assert entry is not None
    assert b"RecursionError" in at.store.blobs.read(str(entry.blob)), "the forgery took effect"


@pytest.mark.parametrize(
    "step", [{"run": "rm -rf {output}"}, {"run": "rm -rf {output}; ln -s /etc {output}"}, {"run": "chmod 0 {output}"}]
)
async def test_vanished_unsandboxed_output_is_graded_as_empty(tmp_path: Path, step: dict[str, Any]) -> None:
    at = setting(tmp_path, [step])
    (trial,) = await at.run(sandbox="none", tries=2)
    assert trial.outcome.finished, trial.outcome
    assert at.output(trial) == {}
    assert output(at, trial).status is not CaptureStatus.ABSENT


async def test_box_with_many_files_is_captured_within_its_time(tmp_path: Path) -> None:
    from worksample.sandboxes.capture import CaptureLimits

    at = setting(tmp_path, [python("for i in range(3000):\n    open('{output}/%04d' % i, 'w').write(str(i))")])
    (trial,) = await at.run(tries=2, capture=CaptureLimits(seconds=0.05))
    part = output(at, trial)
    assert trial.outcome.finished
    assert (part.status, "not done after" in part.reason) == (PARTIAL, True)
    assert 0 < part.files < 3000


def test_capture_causes_are_the_agents_except_the_machines_own() -> None:
    from worksample.errors import POLICY

    capture = {cause: POLICY[cause] for cause in Cause if cause.startswith("capture.")}
    assert [cause for cause, policy in capture.items() if not policy.graded] == [Cause.CAPTURE_FAILED]
    assert [cause for cause, policy in capture.items() if policy.retry] == [Cause.CAPTURE_FAILED]
