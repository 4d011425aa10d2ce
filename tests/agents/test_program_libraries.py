"""Libraries of installed programs: read from their headers, mounted with them, and found before those of the box's
root.
"""

from __future__ import annotations

import os
import platform
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from running.profiles import examples
from sandboxes.images import machine
from worksample.agents.installing import elf_header as elf
from worksample.agents.installing import shared_libraries as libraries
from worksample.agents.installing.agent_program import LIBRARIES
from worksample.box import BoxConfig, Mount, Root
from worksample.sandboxes import open_box

SHELL = Path("/usr/bin/bash").read_bytes()


def test_headers_agree_with_the_loader() -> None:
    """Against the loader's own listing, for programs of this machine."""
    for name in ("bash", "ls", "grep", "tar", "env"):
        path = Path(shutil.which(name) or "").resolve()
        found = elf.read_elf(path)
        assert found is not None and found.loader in {usual for usual, _ in libraries._USUAL.values()}
        told = subprocess.run([found.loader, "--list", path], capture_output=True, text=True, check=True).stdout
        assert all(f"{needed} =>" in told for needed in found.needed) and "libc.so.6" in found.needed


@given(st.data())
def test_hostile_header_is_read_or_ignored(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """No change to a real program's file makes reading it fail, or take more than the file has."""
    content = bytearray(SHELL[: data.draw(st.sampled_from((0, 5, 63, 64, 200, 4096, len(SHELL))))])
    for _ in range(data.draw(st.integers(1, examples(20)))):
        if len(content) >= 8:
            place = data.draw(st.integers(0, min(len(content), 2048) - 8))
            number = data.draw(st.sampled_from((0, 1, 3, 2**16, 2**31, 2**63 - 1, 2**64 - 1)))
            content[place : place + 8] = struct.pack("<Q", number)
    path = tmp_path_factory.getbasetemp() / "hostile"
    path.write_bytes(content)
    found = elf.read_elf(path)
    assert found is None or isinstance(found.needed, tuple)


def test_file_that_is_no_program_stays_unchanged(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("#!/bin/sh\n")
    (tmp_path / "link").symlink_to(sys.executable)
    (tmp_path / "short").write_bytes(b"\x7fELF")
    assert not libraries.relink(tmp_path)
    assert (tmp_path / "text").read_text() == "#!/bin/sh\n" and (tmp_path / "short").read_bytes() == b"\x7fELF"


@pytest.mark.box
async def test_program_finds_its_own_libraries_and_its_children_the_roots(tmp_path: Path) -> None:
    """The image has no library that the program needs but for its shell's, and another file of the same name."""
    if platform.freedesktop_os_release().get("ID") in ("debian", "ubuntu"):
        assert libraries.loader(), "this machine's loader is one that can be brought"
    if not libraries.loader():
        pytest.skip("the loader of this machine is not like Debian's")
    root = machine.make(tmp_path / "root")
    programs = tmp_path / "programs"
    programs.mkdir()
    shutil.copy2("/usr/bin/bash", programs / "own")
    os.link(programs / "own", tmp_path / "cached")  # as installers do it with their caches
    for library in [*root.glob("**/libtinfo*")]:
        library.unlink()
        library.write_bytes(b"no library")
    assert libraries.relink(programs)
    assert (tmp_path / "cached").read_bytes() == SHELL
    libraries.gather(tmp_path / "libraries", programs)
    mounts = (Mount(str(programs), "/opt/worksample/agent"), Mount(str(tmp_path / "libraries"), LIBRARIES))
    async with open_box(BoxConfig(root=Root(str(root)), python="none", mounts=mounts)) as box:
        assert (await box.run(["bash", "-c", "true"])).returncode
        own = 'readlink /proc/$$/exe; grep -o "/opt/worksample/lib/lib[a-z]*" /proc/$$/maps | sort -u'
        code = f'{own}; sh -c "cat /proc/self/maps"'
        done = await box.run(["/opt/worksample/agent/own", "-c", code])
        lines = done.stdout.decode().splitlines()
        assert lines[:3] == ["/opt/worksample/agent/own", f"{LIBRARIES}/libc", f"{LIBRARIES}/libtinfo"], done
        assert any("libc.so" in line for line in lines[3:])
        assert not any(LIBRARIES in line for line in lines[3:])
