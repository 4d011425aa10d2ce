"""The owner of a lease, and whether its process is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from worksample.store.lease_owner import is_dead, new_owner

SAY = "from worksample.store.lease_owner import new_owner; print(new_owner(), flush=True); import sys; sys.stdin.read()"
ASK = """
import os, sys
from worksample.store.lease_owner import is_dead, new_owner
new_owner()
os.setuid(65534)
print(is_dead(sys.argv[1]))
"""


def changed(owner: str, **parts: str) -> str:
    names = ("host", "kernel", "pid", "start", "random")
    return ":".join(parts.get(name, value) for name, value in zip(names, owner.split(":"), strict=True))


def speaker() -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen([sys.executable, "-c", SAY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    return process, process.stdout.readline().strip()


def test_this_process_is_alive() -> None:
    owner = new_owner()
    assert not is_dead(owner)
    assert owner != new_owner()


def test_killed_process_is_dead_before_and_after_reaping() -> None:
    process, owner = speaker()
    assert not is_dead(owner)
    process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_dead(owner)
    process.communicate()
    assert is_dead(owner)


def test_reused_process_id_is_no_sign_of_life() -> None:
    assert is_dead(changed(new_owner(), start="1"))


def test_process_elsewhere_or_before_the_boot_is_unknown() -> None:
    gone = changed(new_owner(), pid="4194304")
    assert is_dead(gone)
    boot, space = gone.split(":")[1].split("/")
    assert not is_dead(changed(gone, kernel=f"{'0' * len(boot)}/{space}"))
    assert not is_dead(changed(gone, kernel=f"{boot}/1"))


@pytest.mark.parametrize("text", ["", "me", "host:1:abc", "a:b:c:d:e", f"{'x' * 9}:1:2:3", ":::::"])
def test_invalid_owner_name_is_not_dead(text: str) -> None:
    assert not is_dead(text)
    assert not is_dead(changed(new_owner(), pid="-1"))
    assert not is_dead(changed(new_owner(), pid="²"))
    assert not is_dead(changed(new_owner(), pid="9" * 30))


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user, which only root may")
def test_process_of_another_user_is_alive() -> None:
    asked = [sys.executable, "-c", ASK]
    nobody = subprocess.run([*asked, new_owner()], capture_output=True, text=True, check=True)
    assert nobody.stdout == "False\n"
    gone = subprocess.run([*asked, changed(new_owner(), start="1")], capture_output=True, text=True, check=True)
    assert gone.stdout == "True\n"
