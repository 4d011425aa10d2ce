"""Boxes with an image as root fulfil the interface and follow the image's settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandboxes.images import machine
from worksample.box import BoxConfig, BoxLimits, Mount, Root
from worksample.errors import SandboxError
from worksample.sandboxes import conformance, open_box
from worksample.sandboxes.conformance.assertions import wait_until

pytestmark = pytest.mark.box

NOT_QUICK = 4
"""The quick profile has one check in so many."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return machine.make(tmp_path_factory.mktemp("image") / "root")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[]
            if number % NOT_QUICK == 0
            else [
                pytest.mark.thorough(
                    quick=f"sandboxes/test_box_interface.py::test_box_fulfils_the_interface[bubblewrap-{name}]"
                )
            ],
        )
        for number, name in enumerate(conformance.CHECKS)
    ],
)
async def test_image_box_fulfils_the_interface(name: str, folder: Path, tmp_path: Path) -> None:
    async with conformance.open_conformance_box("bubblewrap", tmp_path, Root(str(folder))) as box:
        await conformance.CHECKS[name](box)


async def test_user_workdir_environment_and_entrypoint_come_from_the_image(folder: Path) -> None:
    script = ["sh", "-c", 'echo "$0 $*" > /tmp/began; exec "$@"', "entry"]
    env = (("COLOUR", "green"), ("SHAPE", "round"))
    root = Root(str(folder), (), 1234, "/home/app", "/srv/work/new", env, tuple(script))
    async with open_box(BoxConfig(root=root, python="none", env=(("SHAPE", "square"),))) as box:
        done = await box.run(["sh", "-c", "id -u; id -un; pwd; echo $HOME $COLOUR $SHAPE; cat /etc/note; hostname"])
        assert done.stdout.decode().split("\n")[:-1] == [
            "1234", "app", "/srv/work/new", "/home/app green square", "of the image", "worksample",
        ]  # fmt: skip
        await box.write("made", b"here")
        assert await box.read("/srv/work/new/made", 10) == b"here"
        await wait_until(box, "test -s /tmp/began")
        assert await box.read("/tmp/began", 99) == b"entry sleep infinity\n"


@pytest.mark.parametrize("user", [0, 1234])
async def test_box_may_change_everything_and_the_image_stays(user: int, folder: Path) -> None:
    before = {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}
    code = "rm -rf /usr/lib/python3* /home && echo mine > /etc/note && echo x > /new && cat /etc/note && ls /home"
    for _ in range(2):  # the second finds nothing of the first
        async with open_box(BoxConfig(root=Root(str(folder), user=user), python="none")) as box:
            assert (await box.run(["test", "-e", "/new"])).returncode
            done = await box.run(["sh", "-c", code])
            assert done.stdout == b"mine\n" and b"/home" in done.stderr
    assert {path: path.lstat().st_mtime_ns for path in folder.rglob("*")} == before


async def test_all_writes_count_against_one_limit(folder: Path) -> None:
    config = BoxConfig(root=Root(str(folder)), python="none", limits=BoxLimits(disk=32 << 20))
    async with open_box(config) as box:
        places = "/ /usr/bin /etc /tmp /task/output /root"
        done = await box.run(
            ["sh", "-c", f"for p in {places}; do head -c 8M /dev/zero > $p/fill; done; du -bc /fill /*/fill"]
        )
        assert b"No space left" in done.stderr
        assert (await box.run(["sh", "-c", "echo more >> /usr/bin/env"])).returncode  # a copy of a file of the image's


async def test_mounts_in_the_image_cannot_be_moved_away(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "brief.md").write_text("brief")
    mounts = (
        Mount(str(tmp_path / "in"), "/srv/work/in"),
        Mount(str(tmp_path / "in" / "brief.md"), "/usr/share/one.md"),
    )
    async with open_box(BoxConfig(root=Root(str(folder)), python="none", mounts=mounts)) as box:
        done = await box.run(
            ["sh", "-c", "mv /srv /x; mv /srv/work /x; echo no > /srv/work/in/brief.md; rm -rf /usr/share"]
        )
        assert (await box.read("/srv/work/in/brief.md", 10), await box.read("/usr/share/one.md", 10)) == (b"brief",) * 2
        assert b"busy" in done.stderr and b"Read-only" in done.stderr


@pytest.mark.parametrize("place", ["/tmp", "/task", "/etc/hosts", "/proc", "/dev", "/task/output"])
async def test_links_of_an_image_lead_nowhere_outside(place: str, folder: Path, tmp_path: Path) -> None:
    """What an image has where the box puts its own: the box starts, or says that it does not."""
    own, host = tmp_path / "root", tmp_path / "host"
    host.mkdir()
    for path in folder.rglob("*"):  # hard links, which take no time
        target = own / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            target.symlink_to(path.readlink())
        elif path.is_dir():
            target.mkdir(exist_ok=True)
        else:
            os.link(path, target)
    link = own / place.lstrip("/")
    if link.is_dir():
        link.rmdir()
    link.unlink(missing_ok=True)
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(host)
    try:
        async with open_box(BoxConfig(root=Root(str(own)), python="none")) as box:
            await box.run(["sh", "-c", f"echo planted > {place}/planted; echo planted > /etc/hosts"])
    except SandboxError as failure:
        assert "did not start" in str(failure)
    assert not list(host.iterdir())


def test_image_uses_its_own_python(folder: Path) -> None:
    with pytest.raises(SandboxError, match="Python"):
        open_box(BoxConfig(root=Root(str(folder))))
    with pytest.raises(SandboxError, match="plain absolute path"):
        open_box(BoxConfig(root=Root(str(folder), workdir="../x"), python="none"))
