"""Files: reading what lies outside, writing what is read-only, links that lead the platform's own reader astray."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from pathlib import Path

from worksample.box import Box, Mount
from worksample.sandboxes import open_box

from .world import World, attack


@attack()
async def reads_a_host_file_by_its_path(world: World, box: Box) -> bool:
    return world.found(await world.shell(box, 'cat "$SECRET"; cd /task/scratch; cat "../../../../../..$SECRET"'))


@attack(control="root")
async def reads_the_hosts_passwords(world: World, box: Box) -> bool:
    done = await world.shell(box, "cat /etc/shadow /etc/gshadow /etc/ssh/*_key")
    return b"root:" in done.stdout or b"PRIVATE" in done.stdout


@attack()
async def reads_the_reference_beside_its_inputs(world: World, box: Box) -> bool:
    done = await world.shell(
        box, 'cat "$REFERENCE"; cat /task/input/../reference/answer.txt /task/reference/answer.txt'
    )
    return world.found(done)


@attack()
async def finds_the_platform_or_its_environment(world: World, box: Box) -> bool:
    """The suites inside hold the references; other benchmarks in the environment hold theirs."""
    code = """
import importlib.util
hits = []
for name in ("worksample", "inspect_evals", "inspect_ai"):
    if importlib.util.find_spec(name):
        hits.append(name)
for place in (os.environ["SOURCE"] + "/src", os.environ["PREFIX"] + "/pyvenv.cfg"):
    if os.path.exists(place):
        hits.append(place)
print(hits, T if hits else "")
"""
    done = await world.python(box, code)
    everywhere = "find / -xdev \\( -name 'worksample*' -o -name 'inspect_evals*' -o -name inspect_ai \\) 2>/dev/null"
    mounts = "find /usr /opt /root /home /var /etc /srv /mnt /task 2>/dev/null"
    mounts += " | grep -E '/(worksample|inspect_evals|inspect_ai)/'"
    names = (
        (await box.run(["bash", "-c", f"{everywhere}; {mounts}"])).stdout.decode().split() if box_is_real(box) else []
    )
    own = ("/opt/worksample", "/run/worksample")
    return world.env["TOKEN"].encode() in done.stdout or any(not name.startswith(own) for name in names)


@attack()
async def reads_through_the_links_of_proc(world: World, box: Box) -> bool:
    code = """
secret = os.environ["SECRET"]
for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    for link in ("root", "cwd"):
        try:
            print(open(f"/proc/{pid}/{link}/../../../../../..{secret}").read())
        except OSError:
            pass
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        continue
    for name in descriptors if pid == "1" or pid == os.environ["PLATFORM_PID"] else ():
        for tail in ("", secret, "/../../../.." + secret):
            try:
                with open(os.open(f"/proc/{pid}/fd/{name}{tail}", os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
                    print(file.read(100))
            except OSError:
                pass
"""
    return world.found(await world.python(box, code))


@attack()
async def leaves_a_link_for_the_platform_to_follow(world: World, box: Box) -> bool:
    """`read` must not follow a link out, whether the box runs, is frozen or is dead."""
    await world.shell(box, 'ln -s "$SECRET" /task/output/link; ln -s / /task/output/top')
    seen = b""
    for frozen in (False, True):
        if frozen:
            await box.freeze()
        for path in ("/task/output/link", f"/task/output/top{world.secret}", f"/task/output/../../..{world.secret}"):
            try:
                seen += await box.read(path, 1000)
            except OSError:
                continue
    await box.thaw()
    return world.token.encode() in seen


@attack(control="", why="shown by the naive reader inside the test itself")
async def makes_a_naive_reader_follow_but_not_ours(world: World, box: Box) -> bool:
    """The danger is real: open() on the same folder from the host does follow the link."""
    await world.shell(box, 'ln -s "$SECRET" /task/output/link')
    naive = (box.output_path / "link").read_text()
    if world.token not in naive:
        raise AssertionError("the control did not follow the link")
    await box.freeze()
    try:
        return world.token.encode() in await box.read("/task/output/link", 1000)
    except OSError:
        return False
    finally:
        await box.thaw()


@attack()
async def swaps_a_file_for_a_link_while_it_is_read(world: World, box: Box) -> bool:
    code = """
import threading
os.chdir("/task/output".replace("/task/output", os.environ.get("OUT", "/task/output")))
open("plain", "w").write("plain")
end = time.time() + 3
while time.time() < end:
    for source in (os.environ["SECRET"], "plain"):
        os.symlink(source, "new"); os.rename("new", "f")
"""
    racing = asyncio.create_task(world.python(box, code, env={"OUT": "/task/output"}))
    seen = set()
    turn = 0
    while not racing.done():
        turn += 1
        try:
            if turn % 10 == 9:
                await box.freeze()
            seen.add(await box.read("/task/output/f", 1000))
        except OSError:
            continue
        finally:
            if turn % 10 == 9:
                await box.thaw()
        await asyncio.sleep(0.001)
    await racing
    if b"plain" not in seen:
        raise AssertionError("the file was never read in its harmless form")
    return world.token.encode() in seen


@attack()
async def has_the_platform_write_through_a_link(world: World, box: Box) -> bool:
    target = world.folder / "store" / "writable.txt"
    target.write_text("untouched")
    target.chmod(0o666)
    await box.run(["ln", "-s", str(target), "/task/output/link"])
    with contextlib.suppress(OSError):
        await box.write("/task/output/link", b"overwritten")
    return target.read_text() != "untouched"


@attack(control="root", only="root")
async def has_the_platform_write_to_the_kernel(world: World, box: Box) -> bool:
    """A tool's path comes from the agent: written by root from outside, it would set the kernel's switches."""
    path = "/proc/sys/vm/drop_caches"
    await box.run(["ln", "-s", path, "/task/output/link"])
    for target in (path, "/task/output/link"):
        try:
            await box.write(target, b"0")
        except OSError as failure:
            if failure.errno in (1, 22):  # it was opened for writing, and the kernel disliked what came next
                return True
            continue
        return True
    return False


@attack()
async def links_a_host_file_into_its_output(world: World, box: Box) -> bool:
    done = await world.shell(box, 'cd /task/output; ln "$SECRET" hard; ln /task/input/brief.md hard2; cat hard')
    return world.found(done)


@attack()
async def changes_its_inputs(world: World, box: Box) -> bool:
    inputs = world.folder / "task" / "inputs"
    code = "cd /task/input && chmod -R u+w . ; echo changed > brief.md; touch new; mv brief.md moved; rm -f moved"
    await world.shell(box, f"mount -o remount,rw /task/input; mount -o remount,rw,bind /task/input; {code}")
    intact = (inputs / "brief.md").exists() and (inputs / "brief.md").read_text() == "brief"
    changed = not intact or (inputs / "new").exists()
    (inputs / "brief.md").write_text("brief")
    (inputs / "new").unlink(missing_ok=True)
    return changed


@attack(control="root", image="the image is the agent's own, and the platform trusts no program of it")
async def replaces_programs_the_platform_uses(world: World, box: Box) -> bool:
    code = """
places = [sys.executable, os.path.realpath(sys.executable), "/usr/bin/env", "/bin/sh", os.__file__, json.__file__,
          "/etc/ld.so.preload", "/etc/ld.so.cache", "/etc/profile", "/usr/local/bin/ls", "/run/worksample/server",
          "/run/worksample/passwd", "/etc/passwd"]
places += [entry + "/cat" for entry in os.environ["PATH"].split(":")]
for place in places:
    place = place if os.path.exists(place) else os.path.dirname(place)
    if os.access(place, os.W_OK):
        print(place, T)
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="", why="the same call with the agent's folder put first on PATH shows the fake being run")
async def plants_a_program_under_a_known_name(world: World, box: Box) -> bool:
    fake = "#!/bin/sh\necho PLANTED\n"
    for place in ("/home/agent/bin", "/task/scratch", "/home/agent/.local/bin", "/tmp"):
        await box.write(f"{place}/sha256sum", fake.encode(), 0o755)
    await box.write("/home/agent/.bashrc", b"sha256sum() { echo PLANTED; }\n")
    await box.write("/task/scratch/json.py", b"print('PLANTED')\n")
    control = await box.run(["sha256sum", "/dev/null"], env={"PATH": "/task/scratch:/usr/bin"})
    if b"PLANTED" not in control.stdout:
        raise AssertionError("the planted program does not run when it is found")
    done = [await box.run(["sha256sum", "/dev/null"]), await box.run(["sh", "-c", "sha256sum /dev/null"])]
    done += [await box.run(["python3", "-I", "-c", "import json"])]
    return any(b"PLANTED" in one.stdout for one in done)


@attack(
    control="", why="the naive listing of every folder that can be written is the control: it finds the allowed ones"
)
async def writes_outside_the_limited_folders(world: World, box: Box) -> bool:
    """Every folder that can be written lies on the one limited file system."""
    done = await box.run(["bash", "-c", "find / -path /proc -prune -o -type d -writable -print 2>/dev/null"])
    folders = done.stdout.decode().split("\n")[:-1]
    if "/task/output" not in folders:
        raise AssertionError("the listing does not find the output folder")
    code = """
import os, sys
devices = set()
for line in sys.stdin:
    try:
        os.close(os.open(line[:-1] + "/new", os.O_CREAT))
    except OSError:
        continue  # the folder of terminals, in which nothing can be made
    whole = os.statvfs(line[:-1])  # an overlay has its upper side's, and a device of its own
    devices.add(whole.f_blocks * whole.f_frsize if sys.argv[1] == "image" else os.stat(line[:-1]).st_dev)
print(*devices)
"""
    kind = "image" if world.image else "plain"
    devices = (await box.run(["python3", "-I", "-c", code, kind], input=done.stdout)).stdout.split()
    return len(devices) != 1 or (kind == "image" and int(devices[0]) != box.config.limits.disk)


@attack(control="", why="the folders themselves are what is attacked")
async def removes_or_moves_its_own_folders(world: World, box: Box) -> bool:
    code = "rm -rf /task/output; mv /task/output /task/x; rmdir /task/scratch; mv /task /y; mv /opt/worksample /opt/z"
    await box.run(["bash", "-c", f"{code}; ln -sfn / /task/output; echo kept > /task/output/kept"])
    return not (box.output_path / "kept").exists() or Path("/kept").exists()


@attack(control="", why="a folder that holds no mount is moved as the control")
async def moves_what_its_mounts_lie_in(world: World, box: Box) -> bool:
    """A mount cannot be moved, but the folder above it can: then another could take its place."""
    mounts = (Mount(str(world.folder / "task" / "inputs"), "/task/scratch/data/deep/in"),)
    async with open_box(world.config(mounts=mounts, writable=("/root",))) as own:
        free = "/srv" if world.image else "/opt"
        code = f"mkdir {free}/free && mv {free}/free {free}/moved && echo CONTROL"
        code += """
for place in /task /etc /opt/worksample{,/python} /root/.pyenv{,/versions} /task/scratch/data{/deep,}
do mv $place $place.old; rmdir $place; mkdir -p $place && touch $place/new
done
mkdir -p /opt/worksample/python/bin
printf '#!/bin/sh\\necho PLANTED' > /opt/worksample/python/bin/python3; chmod +x /opt/worksample/python/bin/python3
"""
        done = await own.run(["bash", "-c", code])
        if b"CONTROL" not in done.stdout:
            raise AssertionError(done.stderr)
        kept = (await own.run(["cat", "/task/scratch/data/deep/in/brief.md"])).stdout == b"brief"
        ran = await own.run(["python3", "-I", "-c", "print('ours')"])
        return not kept or ran.stdout != b"ours\n"


@attack(control="", why="closing is what is attacked: it must end however deep and strange the tree is")
async def leaves_a_tree_that_cannot_be_removed(world: World, box: Box) -> bool:
    code = """
os.chdir("/task/output")
for depth in range(1500):
    try:
        os.mkdir("d"); os.chdir("d")
    except OSError:
        break
os.chmod(".", 0)
os.chmod("/task/output", 0)
"""
    async with open_box(world.config()) as own:
        await world.python(own, code)
        folder = own._holder.folder.path  # type: ignore[attr-defined]
    return folder.exists()


@attack(control="root", only="root")
async def gains_rights_from_a_setuid_program(world: World, box: Box) -> bool:
    """A program of mode 4755 that belongs to root, in a mounted folder: outside it gives root to anyone."""
    tools = world.folder / "tools"
    tools.mkdir(exist_ok=True)
    program = tools / "id"
    shutil.copyfile("/usr/bin/cat" if world.image and box_is_real(box) else "/usr/bin/id", program)
    program.chmod(0o4755)
    if not box_is_real(box):
        words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(program), "-u"]
        return (await box.run(words)).stdout.strip() == b"0"
    async with open_box(world.config(mounts=(Mount(str(tools), "/task/software"),))) as own:
        # An image's user may be called 0 in its box: there a right is a capability.
        done = await own.run(["/task/software/id", "/proc/self/status" if world.image else "-u"])
        if done.returncode:
            raise AssertionError(done.stderr)
        if world.image:
            return b"CapEff:\t0000000000000000\n" not in done.stdout
        return done.stdout.strip() == b"0"


@attack()
async def reads_another_boxs_output(world: World, box: Box) -> bool:
    neighbour = world.neighbour
    assert neighbour is not None
    path = str(neighbour.output_path)
    done = await world.shell(
        box, f"cat {path}/answer.txt; cat /proc/*/root/task/output/answer.txt /tmp/worksample*/*/*"
    )
    return world.found(done)


def box_is_real(box: Box) -> bool:
    """Whether it is a sandbox, and not the control."""
    return type(box).__name__ != "PlainBox" and box.output_path.is_dir()
